"""Modules: bays of new devices, modules in them, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, load_nautobot, named
from tests.support.inventory_service import InventoryService, serving
from tests.support.nautobot2_lists import everything

PATH = "/api/plugins/modules"
TYPES, TEMPLATES, BAYS, MODULES = (
    f"{PATH}/{name}/" for name in ("module-types", "module-bay-templates", "module-bays", "modules")
)
DEVICES = "/api/dcim/devices/"


@pytest.fixture
def make_devices(api: Api, service: Service) -> Any:
    """``make_devices(2, "Slot 1", "Slot 2")``: devices of a new type with these bays."""

    def make(count: int, *bays: str) -> Any:
        case = Case(service, "dcim.device")
        type_ = case.samples.make(service.registry["dcim.devicetype"])
        if bays:
            api.post(TEMPLATES, [{"device_type": type_["id"], "name": bay, "position": bay[-1:]} for bay in bays])
        return [api.post(DEVICES, case.body(device_type=type_["id"])) for _ in range(count)]

    return make


def bays_of(api: Api, device: Any) -> list[Any]:
    """The bays of a device, in the order of the list."""
    found: list[Any] = api.get(BAYS, {"device_id": device["id"]})["results"]
    return found


def test_new_devices_get_the_bays_of_their_type(api: Api, make_devices: Any) -> None:
    first, second = make_devices(2, "Slot 10", "Slot 9")
    assert [(bay["name"], bay["position"]) for bay in bays_of(api, first)] == [("Slot 9", "9"), ("Slot 10", "0")]
    assert len(bays_of(api, second)) == 2
    changes = api.get("/api/extras/object-changes/", {"changed_object_id": bays_of(api, first)[0]["id"]})["results"]
    assert [change["action"]["value"] for change in changes] == ["create"]


def test_bays_take_as_many_statements_for_many_devices_as_for_one(
    api: Api, service: Service, make_devices: Any, statements: Any
) -> None:
    (device,) = make_devices(1, "Slot 1")
    case = Case(service, "dcim.device")
    bodies = [case.body(device_type=device["device_type"]["id"]) for _ in range(6)]
    api.post(DEVICES, bodies[:1])
    with statements() as one:
        api.post(DEVICES, bodies[1:2])
    with statements() as many:
        api.post(DEVICES, bodies[2:])
    assert len(one) == len(many)


def test_users_without_a_permission_for_bays_create_devices_with_them(
    api: Api, service: Service, make_devices: Any, make_user: Any
) -> None:
    (device,) = make_devices(1, "Slot 1")
    labels = ("dcim.device", "dcim.devicetype", "dcim.devicerole", "dcim.site", "extras.status")
    user = make_user(("add view", "dcim.device"), *[("view", label) for label in labels])
    made = user.api.post(DEVICES, Case(service, "dcim.device").body(device_type=device["device_type"]["id"]))
    assert [bay["name"] for bay in bays_of(api, made)] == ["Slot 1"]


def test_a_module_is_in_a_bay_of_its_device(api: Api, service: Service, make_devices: Any) -> None:
    first, second = make_devices(2, "Slot 1")
    type_ = Case(service, "modules.moduletype").make()
    body = {"device": first["id"], "module_type": type_["id"], "status": "active"}
    refused = api.post(MODULES, {**body, "module_bay": bays_of(api, second)[0]["id"]}, status=400)
    assert refused == {"module_bay": ["The module bay must belong to the device."]}
    module = api.post(MODULES, {**body, "module_bay": bays_of(api, first)[0]["id"]})
    assert module["display"] == f"Slot 1: {type_['model']}"
    api.post(MODULES, {**body, "module_bay": bays_of(api, first)[0]["id"]}, status=400)
    api.patch(f"{BAYS}{module['module_bay']['id']}/", {"device": second["id"], "name": "Slot 2"}, status=400)
    api.delete(f"{TYPES}{type_['id']}/", status=409)
    api.delete(f"{DEVICES}{first['id']}/")
    api.get(f"{MODULES}{module['id']}/", status=404)


def test_devices_and_their_types_have_tabs(api: Api, service: Service, make_devices: Any) -> None:
    (device,) = make_devices(1, "Slot 1")
    browser = Browser(service, service.admin)
    assert "Slot 1" in browser.get(f"/dcim/devices/{device['id']}/module-bays/").text
    assert "Slot 1" in browser.get(f"/dcim/device-types/{device['device_type']['id']}/module-bay-templates/").text
    browser.get(f"/dcim/devices/{device['id']}/modules/")


def test_modules_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    report = load_dump(
        named("dcim.site", 1, name, status="active"),
        named("dcim.manufacturer", 1, name),
        item("dcim.devicetype", 1, manufacturer=1, model=name, slug=name.lower(), u_height=1),
        named("dcim.devicerole", 1, name, color="aa1409"),
        item("dcim.device", 1, name=name, site=1, device_type=1, device_role=1, status="active"),
        item("dcim.modulebaytemplate", 1, device_type=1, name="Slot 1", label="", position="1", description=""),
        item("dcim.moduletype", 1, manufacturer=1, model=name, part_number="4711", comments=""),
        item("dcim.modulebay", 1, device=1, name="Slot 1", label="", position="1", description=""),
        item("dcim.module", 1, device=1, module_bay=1, module_type=1, serial="123", asset_tag=None, status="active",
             comments="", local_context_data=None),
    )  # fmt: skip
    for label in ("moduletype", "modulebaytemplate", "modulebay", "module"):
        assert report.counts()[f"dcim.{label}"] == {"created": 1}, report.reasons
    (module,) = api.get(MODULES, {"serial": "123", "device": name})["results"]
    assert (module["module_bay"]["name"], module["module_type"]["model"]) == ("Slot 1", name)


def test_modules_of_a_nautobot_are_imported(api: Api, service: Service, unique: Unique) -> None:
    there = everything(unique(), devices=2)
    module, module_type, device_type = (
        {name: there.lists[f"dcim/{path}"][0][name] for name in ("id", "object_type", "url")}
        for path in ("modules", "module-types", "device-types")
    )
    of_type = {"device_type": device_type, "module_type": None}
    there.add("dcim/module-bay-templates", name="Slot 1", label="", position="1", description="", **of_type)
    common = {"module_type": module_type, "status": there.lists["dcim/modules"][0]["status"]}
    inner = there.add("dcim/module-bays", name="XFP 1", parent_device=None, parent_module=module)
    there.add("dcim/modules", parent_module_bay=inner, serial="S2", **common)
    there.add("dcim/modules", parent_module_bay=None, serial="S3", **common)
    with serving(InventoryService("nautobot", "2.4.0", there.lists, page_size=50)) as other:
        reports = [load_nautobot(service, other) for _ in range(2)]
    skipped = {"dcim.moduletype": 0, "dcim.modulebaytemplate": 0, "dcim.modulebay": 1, "dcim.module": 2}
    for report, outcome in zip(reports, ("created", "unchanged"), strict=True):
        for label, number in skipped.items():
            counts = {name: count for name, count in report.counts()[label].items() if count}
            assert counts == {outcome: 1} | ({"skipped": number} if number else {}), report.reasons
    device = f"{there.word} sw0"
    (made,) = api.get(MODULES, {"serial": "S1", "device": device})["results"]
    assert (made["module_bay"]["name"], made["module_type"]["model"]) == ("Slot 1", "LC-48")
    assert api.get(f"{DEVICES}?name={device}")["results"][0]["id"] == made["device"]["id"]
    (port,) = api.get("/api/dcim/interfaces/", {"name": "e1/1", "device": device})["results"]
    assert port["custom_fields"]["nautobot_module"]
    assert not api.get("/api/dcim/inventory-items/", {"device": device})["results"]
