"""Names of objects on pages that do not show what they belong to."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

ROLE_COLOR = "9e9e9e"


@pytest.fixture
def inventory(api: Any, unique: Any) -> dict[str, Any]:
    """Two devices at a site, with an interface each, a cable between them, an address and a VLAN."""
    word = unique()

    def post(path: str, **values: Any) -> Any:
        return api.post(f"/api/{path}/", values)

    site = post("dcim/sites", name=f"Lisbon {word}", slug=word, status="active")
    maker = post("dcim/manufacturers", name=f"Acme {word}", slug=word)
    kind = post("dcim/device-types", manufacturer=maker["id"], model=f"R1 {word}", slug=word)
    role = post("dcim/device-roles", name=f"Router {word}", slug=word, color=ROLE_COLOR)
    made: dict[str, Any] = {"word": word, "site": site, "type": kind}
    for name in ("one", "two"):
        device = post(
            "dcim/devices",
            name=f"{name}-{word}",
            site=site["id"],
            device_type=kind["id"],
            device_role=role["id"],
            status="active",
        )
        made[name] = device
        made[f"{name}_port"] = post(
            "dcim/interfaces", device=device["id"], name="eth1", type="1000base-t", status="active"
        )
    made["cable"] = post(
        "dcim/cables",
        termination_a_type="dcim.interface",
        termination_a_id=made["one_port"]["id"],
        termination_b_type="dcim.interface",
        termination_b_id=made["two_port"]["id"],
        status="connected",
    )
    made["vlan"] = post("ipam/vlans", vid=10, name=f"Management {word}", site=site["id"], status="active")
    made["address"] = post(
        "ipam/ip-addresses",
        address="192.0.2.1/24",
        status="active",
        assigned_object_type="dcim.interface",
        assigned_object_id=made["one_port"]["id"],
    )
    made["prefix"] = post("ipam/prefixes", prefix="192.0.2.0/24", status="active", vlan=made["vlan"]["id"])
    return made


def main_text(page: Any) -> str:
    """The text of the part of a page that is not its frame."""
    return " ".join(page.html.select_one("main").text.split())


def row_names(page: Any) -> list[str]:
    """The texts of the cells that name the rows of a list."""
    return [" ".join(cell.text.split()) for cell in page.html.select("table.list tbody th")]


def test_a_port_is_named_with_its_device_where_another_object_refers_to_it(
    browser: Browser, inventory: dict[str, Any]
) -> None:
    """Lists say both in one cell; the page of an address says the device, then the port."""
    shown = browser.get(f"/ipam/ip-addresses/?id={inventory['address']['id']}&_columns=assigned_object")
    assert f"one-{inventory['word']} › eth1" in main_text(shown)
    page = browser.get(f"/ipam/ip-addresses/{inventory['address']['id']}/")
    assert f"Deviceone-{inventory['word']} Interfaceeth1" in main_text(page)


def test_a_cable_without_a_label_is_named_by_its_ends(browser: Browser, inventory: dict[str, Any]) -> None:
    word, cable = inventory["word"], inventory["cable"]
    name = f"one-{word} eth1 ↔ two-{word} eth1"
    page = browser.get(f"/dcim/cables/{cable['id']}/")
    assert page.html.h1.text == name
    assert cable["display"] == f"#{cable['id']}"
    assert row_names(browser.get(f"/dcim/cables/?id={cable['id']}")) == [name]


def test_a_list_that_shows_the_device_names_ports_without_it(browser: Browser, inventory: dict[str, Any]) -> None:
    port, device = inventory["one_port"]["id"], inventory["one"]["id"]
    assert row_names(browser.get(f"/dcim/interfaces/?id={port}")) == ["eth1"]
    assert row_names(browser.get(f"/dcim/interfaces/?id={port}&_columns=status")) == [f"one-{inventory['word']} › eth1"]
    assert row_names(browser.get(f"/dcim/devices/{device}/interfaces/")) == ["eth1"]


def test_the_rows_of_a_grid_are_named_as_those_of_the_list(browser: Browser, inventory: dict[str, Any]) -> None:
    cable, port = inventory["cable"]["id"], inventory["one_port"]["id"]
    for path in (f"cables/{{}}?id={cable}", f"interfaces/{{}}?id={port}", f"interfaces/{{}}?id={port}&_columns=status"):
        listed = row_names(browser.get(f"/dcim/{path.format('')}"))
        assert row_names(browser.get(f"/dcim/{path.format('grid/')}")) == listed


def test_values_whose_label_says_more_than_they_do_have_it_on_a_phone(
    browser: Browser, inventory: dict[str, Any]
) -> None:
    """Style sheets show the attribute where rows are cards."""

    def labels(path: str) -> list[str]:
        cells = browser.get(path).html.select("table.list tbody td[data-label]")
        return [str(cell["data-label"]) for cell in cells]

    columns = "device,status,lag,untagged_vlan,far_end,mtu"
    assert labels(f"/dcim/interfaces/?id={inventory['one_port']['id']}&_columns={columns}") == [
        "LAG",
        "Untagged",
        "Connected to",
        "MTU",
    ]
    assert labels(f"/dcim/devices/?id={inventory['one']['id']}&_columns=site,device_role,device_type,status") == []


def test_parts_of_the_same_device_are_named_without_it(api: Any, browser: Browser, inventory: dict[str, Any]) -> None:
    port, device = inventory["one_port"]["id"], inventory["one"]["id"]
    lag = api.post("/api/dcim/interfaces/", {"device": device, "name": "ae0", "type": "lag", "status": "active"})
    api.patch(f"/api/dcim/interfaces/{port}/", {"lag": lag["id"]})
    page = browser.get(f"/dcim/interfaces/?id={port}&_columns=lag")
    (cell,) = page.html.select("table.list tbody a[href$='{}/']".format(lag["id"]))
    assert cell.text == "ae0"


def test_a_vlan_is_named_with_its_site(browser: Browser, inventory: dict[str, Any]) -> None:
    name = f"10 Management {inventory['word']} · Lisbon {inventory['word']}"
    assert name in main_text(browser.get(f"/ipam/prefixes/{inventory['prefix']['id']}/"))
    assert browser.get(f"/ipam/vlans/{inventory['vlan']['id']}/").html.h1.text == name


def test_a_user_sees_the_site_of_a_vlan_only_where_the_vlan_may_be_viewed(
    api: Any, service: Service, inventory: dict[str, Any]
) -> None:
    account = service.user(password=PASSWORD)
    api.post(
        "/api/users/permissions/",
        {
            "name": f"prefixes {inventory['word']}",
            "users": [account.id],
            "object_types": ["ipam.prefix"],
            "actions": ["view"],
        },
    )
    text = main_text(Browser(service, account).get(f"/ipam/prefixes/{inventory['prefix']['id']}/"))
    assert f"Management {inventory['word']} (10)" in text
    assert "Lisbon" not in text


def test_search_and_palette_name_ports_with_their_devices(
    browser: Browser, service: Service, inventory: dict[str, Any]
) -> None:
    word = inventory["word"]
    found = browser.get("/search/", {"q": inventory["one_port"]["id"]})
    assert f"one-{word} › eth1" in main_text(found)
    options = browser.get("/search/", {"q": inventory["one_port"]["id"], "_part": "palette"}).html.select("a")
    assert [option.text.strip() for option in options] == [f"one-{word} › eth1"]
    browser.get("/search/", {"q": "eth1"})
    with service.statements() as of_several:
        browser.get("/search/", {"q": "eth1"})
    with service.statements() as of_none:
        browser.get("/search/", {"q": f"nothing-{word}"})
    assert len(of_several) <= len(of_none) + 2  # representations and names in place of the search in other columns


def test_a_notice_names_what_was_written_in_context(browser: Browser, inventory: dict[str, Any]) -> None:
    form = browser.get(f"/dcim/interfaces/{inventory['one_port']['id']}/edit/").form()
    form["description"] = "uplink"
    page = form.submit().follow()
    assert f"Interface one-{inventory['word']} › eth1 was changed." in page.words


def test_the_deletion_of_a_device_names_what_goes_along(browser: Browser, inventory: dict[str, Any]) -> None:
    word = inventory["word"]
    text = main_text(browser.get(f"/dcim/interfaces/{inventory['one_port']['id']}/delete/"))
    assert f"one-{word} › eth1 will be deleted" in text
    assert f"one-{word} eth1 ↔ two-{word} eth1" in text
    refused = main_text(browser.get(f"/dcim/sites/{inventory['site']['id']}/delete/"))
    assert f"10 Management {word} · Lisbon {word}" in refused


def test_what_goes_along_with_a_deletion_is_in_the_order_of_names(
    browser: Browser, api: Any, inventory: dict[str, Any]
) -> None:
    device, shared = inventory["two"]["id"], {"type": "1000base-t", "status": "active"}
    api.post("/api/dcim/interfaces/", [{"device": device, "name": f"eth{n}", **shared} for n in range(12, 1, -1)])
    text = main_text(browser.get(f"/dcim/devices/{device}/delete/"))
    name = f"two-{inventory['word']} › eth"
    assert ", ".join(f"{name}{n}" for n in range(1, 11)) + " and 2 more" in text


def test_the_line_below_the_name_of_a_device_has_its_address(
    browser: Browser, api: Any, inventory: dict[str, Any]
) -> None:
    device, address = inventory["one"]["id"], inventory["address"]["id"]
    api.patch(f"/api/dcim/devices/{device}/", {"primary_ip4": address})
    for tab in ("", "interfaces/", "changelog/"):
        line = browser.get(f"/dcim/devices/{device}/{tab}").html.select_one(".summary")
        assert f"/ipam/ip-addresses/{address}/" in [link["href"] for link in line.select("a")], tab


def test_the_history_names_changed_and_deleted_parts_in_context(
    api: Any, browser: Browser, service: Service, inventory: dict[str, Any]
) -> None:
    word, port = inventory["word"], inventory["two_port"]["id"]
    address = {"changed_object_id": port}
    browser.get("/extras/changelog/", address)
    with service.statements() as of_one:
        assert f"Interface two-{word} › eth1 created" in browser.get("/extras/changelog/", address).words
    api.delete(f"/api/dcim/interfaces/{port}/")
    with service.statements() as of_two:
        assert f"Interface two-{word} › eth1 deleted" in browser.get("/extras/changelog/", address).words
    assert len(of_two) == len(of_one)
    assert f"created interface one-{word} › eth1" in browser.get("/").words
    change = api.get("/api/extras/object-changes/", {"changed_object_id": inventory["one_port"]["id"], "limit": 1})
    page = browser.get(f"/extras/object-changes/{change['results'][0]['id']}/")
    assert page.html.h1.text.startswith(f"Interface one-{word} › eth1 ")


def test_a_list_in_a_cell_names_objects_in_context(api: Any, browser: Browser, inventory: dict[str, Any]) -> None:
    port = inventory["one_port"]["id"]
    api.patch(f"/api/dcim/interfaces/{port}/", {"mode": "tagged", "tagged_vlans": [inventory["vlan"]["id"]]})
    name = f"10 Management {inventory['word']} · Lisbon {inventory['word']}"
    assert name in main_text(browser.get(f"/dcim/interfaces/{port}/"))


def test_undo_names_what_it_sets_back(browser: Browser, api: Any, inventory: dict[str, Any]) -> None:
    port = inventory["one_port"]["id"]
    api.patch(f"/api/dcim/interfaces/{port}/", {"description": "uplink"})
    page = browser.get(f"/dcim/interfaces/{port}/changelog/")
    undone = next(form for form in page.forms.values() if "change" in form.fields).submit().follow()
    assert f"one-{inventory['word']} › eth1 was set back." in undone.words
