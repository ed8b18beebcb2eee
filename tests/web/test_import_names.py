"""References in imported files by the names that people use, the nearest names, and columns as people call them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from netinv_tabular import named_references
from netinv_testing import Api, Service
from netinv_web.testing import Browser
from tests.support.importing import apply, preview

RACKS, DEVICES = "/dcim/racks/import/", "/dcim/devices/import/"
Unique = Callable[[], str]


@pytest.fixture
def word(unique: Unique) -> str:
    """A word that no other object has."""
    return unique().capitalize()


def site(api: Api, name: str) -> Any:
    """A site of a name, whose slug is another word."""
    return api.post(
        "/api/dcim/sites/", {"name": name, "slug": f"x-{name.lower().replace(' ', '-')}", "status": "active"}
    )


@pytest.mark.parametrize("written", ["{0} Office", "x-{0}-office", "{0} OFFICE", "{id}"])
def test_a_site_is_named_by_name_slug_or_id_in_any_case(browser: Browser, api: Api, word: str, written: str) -> None:
    made = site(api, f"{word} Office")
    text = written.format(word.lower() if written.startswith("x-") else word, id=made["id"])
    apply(browser, preview(browser, f"name,site,status\n{word},{text},Active\n", RACKS))
    (rack,) = api.get("/api/dcim/racks/", {"name": word})["results"]
    assert (rack["site"]["id"], rack["status"]["value"]) == (made["id"], "active")


def test_a_device_type_is_named_by_manufacturer_and_model(browser: Browser, api: Api, word: str) -> None:
    maker = api.post("/api/dcim/manufacturers/", {"name": word, "slug": word.lower()})
    kind = api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": "DCS-7050", "slug": "any"})
    role = api.post("/api/dcim/device-roles/", {"name": f"{word} Leaf", "slug": f"r-{word.lower()}"})
    place = site(api, word)
    rows = f"name,device_type,device_role,site,status\n{word},{word} DCS-7050,{word} leaf,{word},active\n"
    apply(browser, preview(browser, rows, DEVICES))
    (device,) = api.get("/api/dcim/devices/", {"name": word})["results"]
    assert (device["device_type"]["id"], device["site"]["id"]) == (kind["id"], place["id"])
    assert device["device_role"]["id"] == role["id"]


def test_a_wrong_name_suggests_the_nearest(browser: Browser, api: Api, word: str) -> None:
    site(api, f"{word} Office")
    page = preview(browser, f"name,site,status\n{word},{word} Ofice,active\n", RACKS, status=422)
    assert f"No site is called “{word} Ofice”. Did you mean {word} Office" in page.words


def test_the_nearest_names_are_looked_for_once_for_each_of_few_texts(
    browser: Browser, api: Api, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are compared with thousands of names: a file of many wrong rows would hold the process."""
    sought: list[str] = []
    nearest = named_references.nearest_names
    monkeypatch.setattr(
        named_references, "nearest_names", lambda text, names: sought.append(text) or nearest(text, names)
    )
    monkeypatch.setattr(named_references, "MAX_ADVISED", 2)
    site(api, f"{word} Office")
    wrong = [f"{word} Ofice"] * 3 + [f"{word} Offic"] * 2 + [f"{word} Offce"]
    rows = "".join(f"{word}{number},{text},active\n" for number, text in enumerate(wrong))
    page = preview(browser, f"name,site,status\n{rows}", RACKS, status=422)
    assert sought == [f"{word} Ofice", f"{word} Offic"]
    assert f"No site is called “{word} Offce”." in page.words
    assert f"No site is called “{word} Offce”. Did" not in page.words


def test_a_name_of_several_lists_them_and_the_row_narrows_it(browser: Browser, api: Api, word: str) -> None:
    first, second = site(api, f"{word} A"), site(api, f"{word} B")
    for place in (first, second):
        api.post("/api/dcim/racks/", {"name": word, "site": place["id"], "status": "active"})
    units = 'rack,units,user,description\n{0},"[1]",{1},x\n'
    user = api.get("/api/users/users/", {"limit": 1})["results"][0]["username"]
    page = preview(browser, units.format(word, user), "/dcim/rack-reservations/import/", status=422)
    assert f"Several racks are called “{word}”" in page.words
    maker = api.post("/api/dcim/manufacturers/", {"name": word, "slug": word.lower()})
    api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word, "slug": word.lower()})
    api.post("/api/dcim/device-roles/", {"name": word, "slug": word.lower()})
    rows = f"name,device_type,device_role,site,rack,status\n{word},{word},{word},{word} B,{word},active\n"
    apply(browser, preview(browser, rows, DEVICES))
    (device,) = api.get("/api/dcim/devices/", {"name": word})["results"]
    assert device["site"]["id"] == second["id"]


def test_names_take_as_many_statements_for_many_rows_as_for_few(
    service: Service, browser: Browser, api: Api, word: str
) -> None:
    browser.get("/")  # shows what earlier tests did
    counts = []
    for number in (2, 12):
        for place in range(number):
            site(api, f"{word} {number} {place}")
        rows = "".join(f"{word}{place},{word} {number} {place},Active\n" for place in range(number))
        with service.statements() as statements:
            preview(browser, f"name,site,status\n{rows}", RACKS)
        counts.append(len(statements))
    assert counts[0] == counts[1]


# -- columns


@pytest.mark.parametrize(
    "header",
    [
        "Name,Site,Status,Height (U),Asset tag",
        "NAME,site_name,status,u-height,Asset_Tag",
        "name,Site Slug,Status *,u_height,asset tag",
    ],
)
def test_columns_are_called_as_on_pages_in_any_case(browser: Browser, api: Api, word: str, header: str) -> None:
    place = site(api, f"{word} Office")
    named = place["slug"] if "Slug" in header else place["name"]
    apply(browser, preview(browser, f"{header}\n{word},{named},active,12,{word}\n", RACKS))
    (rack,) = api.get("/api/dcim/racks/", {"name": word})["results"]
    assert (rack["u_height"], rack["asset_tag"], rack["site"]["id"]) == (12, word, place["id"])


def test_columns_of_netbox_are_known(browser: Browser, api: Api, word: str) -> None:
    """Its devices have a role."""
    maker = api.post("/api/dcim/manufacturers/", {"name": word, "slug": word.lower()})
    api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word, "slug": word.lower()})
    api.post("/api/dcim/device-roles/", {"name": word, "slug": word.lower()})
    site(api, word)
    apply(
        browser, preview(browser, f"name,role,device_type,site,status\n{word},{word},{word},{word},active\n", DEVICES)
    )
    assert api.get("/api/dcim/devices/", {"name": word})["results"][0]["device_role"]["name"] == word


@pytest.fixture
def ports(api: Api, service: Service, word: str) -> list[Any]:
    """Interfaces ``e1`` of two devices, ``<word>-1`` and ``<word>-2``."""
    maker = api.post("/api/dcim/manufacturers/", {"name": word, "slug": word.lower()})
    kind = api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word, "slug": word.lower()})
    role = api.post("/api/dcim/device-roles/", {"name": word, "slug": word.lower()})
    common = {"device_type": kind["id"], "device_role": role["id"], "site": site(api, word)["id"], "status": "active"}
    devices = [api.post("/api/dcim/devices/", {"name": f"{word}-{n}", **common}) for n in (1, 2)]
    one = {"name": "e1", "type": "1000base-t", "status": "active"}
    return [api.post("/api/dcim/interfaces/", {"device": device["id"], **one}) for device in devices]


@pytest.mark.parametrize(
    "header",
    [
        "side_a_device,side_a_name,side_b_device,side_b_name",
        "termination_a_device,termination_a_name,Side B Device,Side B Name",
    ],
)
def test_a_cable_names_its_ports_by_device_and_name(
    browser: Browser, api: Api, word: str, ports: list[Any], header: str
) -> None:
    apply(browser, preview(browser, f"{header},status\n{word}-1,e1,{word}-2,e1,connected\n", "/dcim/cables/import/"))
    (cable,) = api.get("/api/dcim/cables/", {"device": f"{word}-1"})["results"]
    assert [cable["termination_a_id"], cable["termination_b_id"]] == [port["id"] for port in ports]


def test_an_address_names_its_interface_by_device_and_name(
    browser: Browser, api: Api, word: str, ports: list[Any]
) -> None:
    """One that names no interface of the device is an error at its cell."""
    path, address = "/ipam/ip-addresses/import/", "2001:db8::7/64"
    text = f"address,status,device,interface\n{address},active,{word}-1,{{}}\n"
    assert "e9" in preview(browser, text.format("e9"), path, status=422).words
    assert "An interface is named by" in preview(browser, text.format(""), path, status=422).words
    apply(browser, preview(browser, text.format("e1"), path))
    (made,) = api.get("/api/ipam/ip-addresses/", {"device": f"{word}-1"})["results"]
    assert made["assigned_object_id"] == ports[0]["id"]


def test_objects_of_a_document_name_a_port_by_the_same_members(
    browser: Browser, api: Api, word: str, ports: list[Any]
) -> None:
    path, item = "/ipam/ip-addresses/import/", {"address": "2001:db8::8/64", "Status": "Active"}
    named = {**item, "Device": f"{word}-1", "interface_name": "e1"}
    assert (
        "An interface is named by" in preview(browser, json.dumps([{**named, "Device": None}]), path, status=422).words
    )
    apply(browser, preview(browser, json.dumps([named]), path))
    (made,) = api.get("/api/ipam/ip-addresses/", {"device": f"{word}-1"})["results"]
    assert made["assigned_object_id"] == ports[0]["id"]


def test_a_prefix_names_its_vlan_by_group_and_number(browser: Browser, api: Api, word: str) -> None:
    group = api.post("/api/ipam/vlan-groups/", {"name": f"{word} G", "slug": word.lower()})
    vlan = api.post("/api/ipam/vlans/", {"name": word, "vid": 77, "group": group["id"], "status": "active"})
    for number, name in enumerate((f"{word} G", word.lower())):
        text = f"prefix,status,vlan_group,vid\n2001:db8:{number}::/64,active,{name},77\n"
        apply(browser, preview(browser, text, "/ipam/prefixes/import/"))
    assert api.get("/api/ipam/prefixes/", {"vlan_id": vlan["id"]})["count"] == 2


def test_the_api_takes_the_same_columns(api: Api, word: str, ports: list[Any]) -> None:
    text = f"Side A Device,side_a_name,side_b_device,side_b_name,Status\n{word}-1,e1,{word}-2,e1,connected\n"
    answer = api.send("POST", "/api/dcim/cables/", text.encode(), headers={"Content-Type": "text/csv"}, status=201)
    assert answer.json[0]["termination_a_id"] == ports[0]["id"]
    refused = api.send(
        "POST", "/api/dcim/racks/", b"nmae,site\na,b\n", headers={"Content-Type": "text/csv"}, status=400
    )
    assert "Did you mean name?" in refused.text


# -- objects of any model


def template(api: Api, name: str, content_type: str = "dcim.site") -> Any:
    """An export template."""
    body = {"name": name, "content_type": content_type, "template_code": "x"}
    return api.post("/api/extras/export-templates/", body)


def as_csv(*rows: list[str]) -> bytes:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def post_notes(api: Api, header: str, *rows: list[str], status: int = 201) -> Any:
    """Adds notes from a table."""
    content = as_csv(header.split(","), *rows)
    return api.send("POST", "/api/extras/notes/", content, headers={"Content-Type": "text/csv"}, status=status).json


GENERIC = "assigned_object_type,assigned_object_id,note"


@pytest.mark.parametrize(
    "written",
    ["{name}", "{upper}", "{id}", '{{"name": "{name}"}}', '{{"name": "{name}", "content_type": "dcim.site"}}'],
)
def test_an_object_of_any_model_is_named_by_its_name_or_attributes(api: Api, word: str, written: str) -> None:
    made = template(api, word)
    cell = written.format(name=word, upper=word.upper(), id=made["id"])
    (note,) = post_notes(api, GENERIC, ["extras.exporttemplate", cell, "n"])
    assert note["assigned_object_id"] == made["id"]


def test_names_of_several_models_in_one_table(browser: Browser, api: Api, word: str) -> None:
    objects = [template(api, word), site(api, f"{word} Office")]
    rows = [["extras.exporttemplate", word, f"{word} 0"], ["dcim.site", f"{word} Office", f"{word} 1"]]
    text = as_csv(GENERIC.split(","), *rows).decode()
    apply(browser, preview(browser, text, "/extras/notes/import/"))
    for number, made in enumerate(objects):
        (note,) = api.get("/api/extras/notes/", {"note": f"{word} {number}"})["results"]
        assert note["assigned_object_id"] == made["id"]


def test_one_of_several_of_a_name_is_named_by_more_columns(browser: Browser, api: Api, word: str) -> None:
    of_sites, of_racks = template(api, word), template(api, word, "dcim.rack")
    page = preview(browser, f"{GENERIC}\nextras.exporttemplate,{word},n\n", "/extras/notes/import/", status=422)
    assert f"Several export templates are called “{word}”" in page.words
    header = "assigned_object_type,assigned_object_id.name,assigned_object_id.content_type,note"
    rows = [["extras.exporttemplate", word, kind, "n"] for kind in ("dcim.site", "dcim.rack")]
    notes = post_notes(api, header, *rows)
    assert [note["assigned_object_id"] for note in notes] == [of_sites["id"], of_racks["id"]]


@pytest.mark.parametrize(
    ("label", "cell", "told"),
    [
        ("extras.exporttemplate", "{word} nowhere", "No export template with name {word} nowhere."),
        ("extras.exporttemplate", "{{", "not valid JSON"),
        ("extras.exporttemplate", '{{"colour": "x"}}', "Cannot resolve keyword 'colour' into field"),
        ("extras.nothing", "{word}", "assigned_object"),
        ("", "{word}", "assigned_object"),
    ],
)
def test_a_name_that_means_no_object_is_refused(api: Api, word: str, label: str, cell: str, told: str) -> None:
    template(api, word)
    (errors,) = post_notes(api, GENERIC, [label, cell.format(word=word), "n"], status=400)
    assert told.format(word=word) in str(errors) and set(errors) <= {"row", *GENERIC.split(",")}


def test_objects_that_the_user_may_not_view_have_no_name(service: Service, api: Api, word: str) -> None:
    made = template(api, word)
    user = service.user(("view add", "extras.note"))
    (errors,) = post_notes(user.api, GENERIC, ["extras.exporttemplate", word, "n"], status=400)
    assert list(errors) == ["row", "assigned_object_id"] and made["id"] not in str(errors)


def test_names_of_any_model_take_the_same_statements_for_each_number_of_rows(
    service: Service, api: Api, word: str
) -> None:
    names = [f"{word} {number}" for number in range(20)]
    for name in names:
        template(api, name)

    def statements(count: int) -> int:
        with service.statements() as found:
            post_notes(api, GENERIC, *(["extras.exporttemplate", name, "n"] for name in names[:count]))
        return len(found)

    statements(2)
    assert statements(2) == statements(20)
