"""Exchanges of unique values in one bulk PATCH: judged by the state after the batch, in any order of its items."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.endpoint import Endpoint
from netinv_core.fields import Value
from netinv_core.models.columns import column_info
from netinv_testing import Api, Case, Service, Unique
from netinv_testing.samples import as_written
from tests.support.registry import REGISTRY

TAKEN = ("already exists", "unique set", "already", "taken", "occupied", "duplicate", "must be unique")


def unique_fields(endpoint: Endpoint) -> list[tuple[str, ...]]:
    """The writable fields of each unique set of a resource; a set with a column that clients do not write is left out."""
    found = []
    for constraint in endpoint.table.constraints:
        if isinstance(constraint, sa.UniqueConstraint):
            copies = {column.name: column_info(column).copy_of for column in constraint.columns}
            names = tuple(copy[0] if copy else name for name, copy in copies.items())
            by_column = {field.attribute: field for field in endpoint.writable.values() if field.attribute}
            if all(name in by_column for name in names):
                found.append(tuple(by_column[name].name for name in names))
    return sorted(set(found))


SETS = [
    (endpoint.label, names)
    for endpoint in REGISTRY.endpoints.values()
    if endpoint.resource.writable
    for names in unique_fields(endpoint)
]


def values_of(endpoint: Endpoint, item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The values of an object, as they are written."""
    return {name: as_written(item.get(name)) for name in names}


def with_texts(case: Case, item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """An object with a text in each of these fields that has none."""
    fields = [case.endpoint.writable[name] for name in names if item.get(name) is None]
    texts = {
        f.name: case.unique() for f in fields if isinstance(f, Value) and f.python_type is str and not f.write_only
    }
    if texts:
        case.api.patch(case.at(item), texts, status=(200, 400))
    members: dict[str, Any] = case.read(item)
    return members


@pytest.mark.parametrize(("label", "names"), SETS, ids=str)
def test_unique_values_are_exchanged_and_shifted(label: str, names: tuple[str, ...], service: Service) -> None:
    case = Case(service, label)
    items = [with_texts(case, case.read(item), names) for item in case.make_many(3)]
    values = [values_of(case.endpoint, item, names) for item in items]
    if len({str(value) for value in values}) < 3:
        return
    for orders, moves in (((0, 1), (1, 0)), ((0, 1, 2), (1, 2, 0))):
        bodies = [{"id": items[place]["id"], **values[move]} for place, move in zip(orders, moves, strict=True)]
        for ordered in (bodies, bodies[::-1]):
            answer = case.api.send("PATCH", case.path, ordered, status=(200, 400))
            if answer.status_int == 400:
                assert not any(word in answer.text for word in TAKEN), answer.text
                continue
            now = {item["id"]: values_of(case.endpoint, case.read(item), names) for item in items}
            assert all(now[body["id"]].items() <= body.items() for body in bodies)
            case.api.patch(case.path, [{"id": item["id"], **values[n]} for n, item in enumerate(items)])


CIRCUITS, DCIM, IPAM = "/api/circuits/", "/api/dcim/", "/api/ipam/"


def exchanged(api: Api, path: str, items: list[Any], *names: str) -> None:
    """Exchanges values of two objects and shifts those of all, with the items in both orders."""
    values = [{name: as_written(item[name]) for name in names} for item in items]
    for count in (2, len(items)):
        for order in (1, -1):
            bodies = [{"id": items[n]["id"], **values[(n + 1) % count]} for n in range(count)][::order]
            answers = {item["id"]: item for item in api.patch(path, bodies)}
            for body in bodies:
                assert all(as_written(answers[body["id"]][name]) == body[name] for name in names)
            api.patch(path, [{"id": item["id"], **values[n]} for n, item in enumerate(items)])


def test_the_sides_of_a_circuit_are_exchanged(api: Api, unique: Unique) -> None:
    provider = api.post(f"{CIRCUITS}providers/", {"name": unique()})["id"]
    kind = api.post(f"{CIRCUITS}circuit-types/", {"name": unique()})["id"]
    body = {"cid": unique(), "provider": provider, "type": kind, "status": "active"}
    circuit = api.post(f"{CIRCUITS}circuits/", body)["id"]
    site = api.post(f"{DCIM}sites/", {"name": unique(), "status": "active"})["id"]
    path = f"{CIRCUITS}circuit-terminations/"
    sides = api.post(path, [{"circuit": circuit, "term_side": side, "site": site} for side in "AZ"])
    exchanged(api, path, sides, "term_side")
    shown = api.get(f"{CIRCUITS}circuits/{circuit}/")
    assert [shown[f"termination_{side}"]["id"] for side in "az"] == [side["id"] for side in sides]


@pytest.fixture
def devices(api: Api, unique: Unique) -> list[Any]:
    """Three devices, one above the other in a rack, in a virtual chassis, with an interface each."""
    maker = api.post(f"{DCIM}manufacturers/", {"name": unique()})["id"]
    kind = api.post(f"{DCIM}device-types/", {"manufacturer": maker, "model": unique(), "u_height": 2})["id"]
    api.post(f"{DCIM}interface-templates/", {"device_type": kind, "name": "eth0", "type": "1000base-t"})
    role = api.post(f"{DCIM}device-roles/", {"name": unique()})["id"]
    site = api.post(f"{DCIM}sites/", {"name": unique(), "status": "active"})["id"]
    rack = api.post(f"{DCIM}racks/", {"name": unique(), "site": site, "status": "active", "u_height": 12})["id"]
    chassis = api.post(f"{DCIM}virtual-chassis/", {"name": unique()})["id"]
    body = {"device_type": kind, "device_role": role, "site": site, "status": "active", "rack": rack, "face": "front"}
    places = [
        {"name": unique(), "position": 2 * n + 1, "virtual_chassis": chassis, "vc_position": n, "asset_tag": unique()}
        for n in range(3)
    ]
    return list(api.post(f"{DCIM}devices/", [{**body, **place} for place in places]))


@pytest.mark.parametrize(
    "names",
    [("position",), ("vc_position",), ("name",), ("asset_tag",), ("position", "vc_position", "name", "asset_tag")],
    ids=str,
)
def test_places_and_names_of_devices_are_exchanged(names: tuple[str, ...], devices: list[Any], api: Api) -> None:
    exchanged(api, f"{DCIM}devices/", devices, *names)


def test_a_place_is_free_when_its_holder_leaves_it_by_naming_a_part_of_its_place(devices: list[Any], api: Api) -> None:
    """The item of the holder has no face, so the unique set of rack, position and face is not checked for it."""
    path, (low, high, _) = f"{DCIM}devices/", devices
    free = max(item["position"] for item in devices) + 2
    for pair in ((low, high), (high, low)):
        leaving, coming = pair
        taken = api.get(f"{path}{leaving['id']}/")["position"]
        moves = [{"id": leaving["id"], "position": free}, {"id": coming["id"], "position": taken, "face": "front"}]
        api.patch(path, [{**item, "rack": low["rack"]["id"]} for item in moves])
        api.patch(path, [{"id": item["id"], "position": item["position"]} for item in (low, high)])


def test_the_master_of_a_chassis_is_exchanged_with_a_member(devices: list[Any], api: Api) -> None:
    api.patch(f"{DCIM}virtual-chassis/{devices[0]['virtual_chassis']['id']}/", {"master": devices[0]["id"]})
    exchanged(api, f"{DCIM}devices/", devices, "vc_position")


def test_interfaces_are_exchanged_between_devices(devices: list[Any], api: Api) -> None:
    interfaces = [api.get(f"{DCIM}interfaces/", {"device_id": device["id"]})["results"][0] for device in devices]
    exchanged(api, f"{DCIM}interfaces/", interfaces, "device")


def test_devices_are_exchanged_between_bays(devices: list[Any], api: Api, unique: Unique) -> None:
    maker = api.post(f"{DCIM}manufacturers/", {"name": unique()})["id"]
    kinds = [
        api.post(
            f"{DCIM}device-types/", {"manufacturer": maker, "model": unique(), "u_height": 0, "subdevice_role": role}
        )
        for role in ("parent", "child")
    ]
    body = {"device_role": devices[0]["device_role"]["id"], "site": devices[0]["site"]["id"], "status": "active"}
    parent = api.post(f"{DCIM}devices/", {**body, "device_type": kinds[0]["id"], "name": unique()})
    children = [api.post(f"{DCIM}devices/", {**body, "device_type": kinds[1]["id"], "name": unique()}) for _ in "abc"]
    path = f"{DCIM}device-bays/"
    bays = api.post(
        path, [{"device": parent["id"], "name": unique(), "installed_device": child["id"]} for child in children]
    )
    exchanged(api, path, bays, "installed_device")


def test_positions_of_front_ports_are_exchanged(devices: list[Any], api: Api, unique: Unique) -> None:
    rear = api.post(
        f"{DCIM}rear-ports/", {"device": devices[0]["id"], "name": unique(), "type": "8p8c", "positions": 3}
    )
    body = {"device": devices[0]["id"], "type": "8p8c", "rear_port": rear["id"]}
    path = f"{DCIM}front-ports/"
    ports = api.post(path, [{**body, "name": unique(), "rear_port_position": n} for n in (1, 2, 3)])
    exchanged(api, path, ports, "rear_port_position")
    exchanged(api, path, ports, "name", "rear_port_position")


def test_numbers_and_names_of_vlans_are_exchanged(api: Api, unique: Unique) -> None:
    group = api.post(f"{IPAM}vlan-groups/", {"name": unique()})["id"]
    path = f"{IPAM}vlans/"
    vlans = api.post(path, [{"vid": n, "name": unique(), "group": group, "status": "active"} for n in (1, 2, 3)])
    for names in (("vid",), ("name",), ("vid", "name")):
        exchanged(api, path, vlans, *names)


def test_unique_addresses_and_prefixes_are_exchanged(api: Api, unique: Unique) -> None:
    vrf = api.post(f"{IPAM}vrfs/", {"name": unique(), "enforce_unique": True})["id"]
    prefixes = [{"prefix": f"10.{n}.0.0/16", "vrf": vrf, "status": "active"} for n in range(3)]
    exchanged(api, f"{IPAM}prefixes/", list(api.post(f"{IPAM}prefixes/", prefixes)), "prefix")
    addresses = [{"address": f"10.0.0.{n}/24", "vrf": vrf, "status": "active"} for n in (1, 2, 3)]
    exchanged(api, f"{IPAM}ip-addresses/", list(api.post(f"{IPAM}ip-addresses/", addresses)), "address")


def test_exchanges_leave_no_trace_of_how_they_are_written(api: Api, unique: Unique, service: Service) -> None:
    path = "/api/tenancy/tenants/"
    names = [unique(), unique()]
    pair = api.post(path, [{"name": name, "slug": name} for name in names])
    api.patch(path, [{"id": pair[n]["id"], "name": names[1 - n], "slug": names[1 - n]} for n in (0, 1)])
    for n, item in enumerate(pair):
        query = {"changed_object_id": item["id"], "action": "update"}
        (change,) = api.get("/api/extras/object-changes/", query)["results"]
        assert change["object_data"]["name"] == change["object_data"]["slug"] == names[1 - n]


def test_an_exchange_is_undone_with_its_request(api: Api, unique: Unique) -> None:
    path, log = "/api/tenancy/tenants/", "/api/extras/object-changes/"
    pair = api.post(path, [{"name": unique()} for _ in "ab"])
    api.patch(path, [{"id": pair[n]["id"], "name": pair[1 - n]["name"]} for n in (0, 1)])
    (change,) = api.get(log, {"changed_object_id": pair[0]["id"], "action": "update"})["results"]
    api.post(f"{log}{change['id']}/revert/", query={"request": "true"}, status=200)
    assert [api.get(f"{path}{item['id']}/")["name"] for item in pair] == [item["name"] for item in pair]


def test_an_upsert_exchanges_values_and_gives_them_to_new_objects(api: Api, unique: Unique) -> None:
    path = "/api/tenancy/tenants/"
    pair, left = api.post(path, [{"name": unique(), "slug": unique()} for _ in "ab"]), unique()
    names = [item["name"] for item in pair]
    items = [
        {"slug": unique(), "name": names[0]},
        {"slug": pair[0]["slug"], "name": names[1]},
        {"slug": pair[1]["slug"], "name": left},
    ]
    results = api.send("PATCH", path, items, query={"match": "slug"}, status=200).json
    assert [result["object"]["name"] for result in results] == [names[0], names[1], left]


def test_usual_changes_cost_no_further_statements(api: Api, unique: Unique, service: Service) -> None:
    path = "/api/tenancy/tenants/"
    pair = api.post(path, [{"name": unique()} for _ in range(2)])

    def cost(*names: str) -> int:
        with service.statements() as statements:
            api.patch(path, [{"id": item["id"], "name": name} for item, name in zip(pair, names, strict=True)])
        return len(statements)

    cost(unique(), unique())  # fills caches, such as that of the content types
    names = unique(), unique()
    assert cost(unique(), unique()) == cost(*names) == cost(*names[::-1]) - 1
