"""Choices of pickers: searched across what objects belong to, named in context, narrowed by what the form says."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.lists.columns import presentation_of
from netinv_web.testing import Browser

STATEMENTS = 5  # identity, conditions, ids, recent ones, names


@pytest.fixture
def made(api: Any, unique: Any) -> dict[str, Any]:
    """Two devices at a site in Gdańsk, with two ports each, and a VLAN."""
    word = unique()

    def post(path: str, **values: Any) -> Any:
        return api.post(f"/api/{path}/", values)

    site = post("dcim/sites", name=f"Gdańsk {word}", slug=word, status="active")
    maker = post("dcim/manufacturers", name=f"Acme {word}", slug=word)
    kind = post("dcim/device-types", manufacturer=maker["id"], model=f"R1 {word}", slug=word)
    role = post("dcim/device-roles", name=f"Router {word}", slug=word)
    found: dict[str, Any] = {"word": word, "site": site}
    for name in ("acc01", "acc02"):
        values = {"site": site["id"], "device_type": kind["id"], "device_role": role["id"], "status": "active"}
        found[name] = post("dcim/devices", name=f"{name}-{word}", **values)
        for port in ("eth1", "eth2"):
            device = found[name]["id"]
            found[f"{name} {port}"] = post(
                "dcim/interfaces", device=device, name=port, type="1000base-t", status="active"
            )
    found["vlan"] = post("ipam/vlans", vid=10, name=f"Management {word}", site=site["id"], status="active")
    return found


def choices(browser: Browser, path: str, **query: Any) -> list[str]:
    """The names of the choices of a list."""
    return [item["name"] for item in browser.get(f"{path}_choices/", query).json["items"]]


def test_ports_are_found_by_the_names_of_their_devices(browser: Browser, made: dict[str, Any]) -> None:
    word = made["word"]
    for text in (f"acc01-{word} eth1", f"eth1 acc01-{word}"):
        assert choices(browser, "/dcim/interfaces/", _q=text) == [f"acc01-{word} › eth1"]


def test_a_vlan_is_found_by_its_site_whatever_the_accents(browser: Browser, made: dict[str, Any]) -> None:
    word = made["word"]
    name = f"10 Management {word} · Gdańsk {word}"
    for text in (f"gdansk management {word}", f"GDAŃSK {word} 10", f"mánagement {word}"):
        assert choices(browser, "/ipam/vlans/", _q=text) == [name]
    for text in (f"[{word}", f"{word}%", f"{word}*", f"{word}_"):
        assert choices(browser, "/ipam/vlans/", _q=text) == []


def test_choices_are_narrowed_by_filters_and_recent_ones_come_first(
    browser: Browser, service: Service, made: dict[str, Any]
) -> None:
    word, query = made["word"], {"device_id": made["acc02"]["id"]}
    names = [f"acc02-{word} › eth1", f"acc02-{word} › eth2"]
    recent = made["acc02 eth2"]["id"]
    assert choices(browser, "/dcim/interfaces/", **query) == names
    with service.statements() as statements:
        assert choices(browser, "/dcim/interfaces/", _recent=recent, **query) == names[::-1]
    assert len(statements) <= STATEMENTS, statements
    address = f"http://localhost/dcim/interfaces/{recent}/"
    assert choices(browser, "/dcim/interfaces/", _q=address) == [f"acc02-{word} › eth2"]
    assert choices(browser, "/dcim/interfaces/", _q=f"nothing {word}") == []


def test_choices_are_found_by_what_is_no_text(api: Any, browser: Browser, made: dict[str, Any]) -> None:
    """The id of what a note is about, and the document of a config context, as the filter ``q`` finds them."""
    word, site = made["word"], made["site"]
    api.post(f"/api/dcim/sites/{site['id']}/notes/", {"note": f"Call {word}"})
    part = site["id"][:20]
    assert len(choices(browser, "/extras/notes/", _q=part)) == 1
    assert len(choices(browser, "/extras/notes/", _q=f"call {word} {part}")) == 1
    assert choices(browser, "/extras/notes/", _q=f"nothing {part}") == []
    body = {"name": f"NTP {word}", "data": {"servers": [f"ntp-{word}"]}, "is_active": False}
    api.post("/api/extras/config-contexts/", body)
    assert choices(browser, "/extras/config-contexts/", _q=f"ntp-{word}") == [f"NTP {word}"]


def test_choices_take_the_permissions_of_the_list(service: Service, api: Any, made: dict[str, Any]) -> None:
    account = service.user(password=PASSWORD)
    reader = Browser(service, account)
    reader.get("/dcim/interfaces/_choices/", status=403)
    constraints = {"name": "eth2", "device__name": made["acc01"]["name"]}
    permission = {"name": f"ports {made['word']}", "users": [account.id], "object_types": ["dcim.interface"]}
    api.post("/api/users/permissions/", {**permission, "actions": ["view"], "constraints": constraints})
    assert choices(reader, "/dcim/interfaces/") == [f"{made['acc01']['name']} › eth2"]
    assert choices(reader, "/dcim/interfaces/", _q=made["acc01"]["name"]) == []  # no device may be viewed
    Browser(service).get("/dcim/interfaces/_choices/", status=303)


def test_a_form_without_scripts_offers_what_fits(api: Any, browser: Browser, made: dict[str, Any]) -> None:
    word, device, port = made["word"], made["acc01"]["id"], made["acc01 eth1"]["id"]
    lag = {"device": device, "name": "Po1", "type": "lag", "status": "active"}
    api.post("/api/dcim/interfaces/", lag)
    page = browser.get(f"/dcim/interfaces/{port}/edit/")
    names = ("–", *(f"acc01-{word} › {name}" for name in ("Po1", "eth1", "eth2")))
    for field, offered in (("lag", names[:2]), ("parent_interface", names)):
        assert {option.text for option in page.html.select(f"#field-{field} option")} == set(offered), field
    for number, name in ((1, "acc01"), (2, "acc02")):
        address = {"address": f"192.0.2.{number}/24", "status": "active", "assigned_object_type": "dcim.interface"}
        api.post("/api/ipam/ip-addresses/", {**address, "assigned_object_id": made[f"{name} eth1"]["id"]})
    page = browser.get(f"/dcim/devices/{device}/edit/")
    assert [option.text for option in page.html.select("#field-primary_ip4 option")] == ["–", "192.0.2.1/24"]
    assert (
        page.html.select_one("[data-picker]:has(#field-primary_ip4)")["data-parameters"]
        == f"device_id={device}&family=4"
    )
    assert page.html.select("[data-picker]:has(#field-primary_ip4) .picker-text input")


def test_a_reference_to_objects_of_several_types_is_one_field(browser: Browser, made: dict[str, Any]) -> None:
    page = browser.get("/ipam/ip-addresses/add/")
    (field,) = page.html.select(".field:has(#field-assigned_object_id)")
    assert field.select_one("#field-assigned_object_type")["aria-label"] == "Type of Assigned object"
    assert field.label.text.strip() == "Assigned object"
    form = page.form()
    form["address"], form["status"] = "192.0.2.9/24", "active"
    port = made["acc01 eth2"]["id"]
    form["assigned_object_type"], form["assigned_object_id"] = "dcim.interface", port
    assert f"/dcim/interfaces/{port}/" in form.submit().follow().links()


def test_what_narrows_choices_are_filters_of_their_lists(service: Service) -> None:
    for endpoint in service.registry.endpoints.values():
        presentation = presentation_of(endpoint)
        for declared in (presentation.depends_on, presentation.limits):
            for name, parameters in declared.items():
                target = getattr(endpoint.fields.get(name), "target", None)
                known = target.filters if target is not None else {}
                named = parameters.values() if declared is presentation.depends_on else parameters
                assert target is None or set(named) <= known.keys(), (endpoint.label, name)
