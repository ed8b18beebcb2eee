"""Rules that hold also when several clients break them at the same time: each test races requests, then looks at what
is stored.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.db.availability import is_busy
from netinv_core.db.engine import engine_from, lock_rows
from netinv_testing import Api, Service, Unique
from netinv_testing.checks.racing import CLIENTS, Call, race, statuses
from tests.support.cabling_fixtures import Plant

ADDRESSES, PREFIXES, VRFS = "/api/ipam/ip-addresses/", "/api/ipam/prefixes/", "/api/ipam/vrfs/"
DEVICES, RACKS, TYPES = "/api/dcim/devices/", "/api/dcim/racks/", "/api/dcim/device-types/"
RESERVATIONS = "/api/dcim/rack-reservations/"


def posting(path: str, *bodies: dict[str, Any]) -> list[Call]:
    """Calls that each POST one of the bodies."""
    return [lambda api, body=body: api.send("POST", path, body) for body in bodies]  # type: ignore[misc]


def patching(*changes: tuple[Any, dict[str, Any]]) -> list[Call]:
    """Calls that each PATCH an object."""
    return [lambda api, thing=thing, body=body: api.send("PATCH", thing["url"], body) for thing, body in changes]  # type: ignore[misc]


def one_succeeds(service: Service, calls: Sequence[Call]) -> None:
    """Races calls of which one is to succeed and the others are to be refused with 400."""
    responses = race(service, calls)
    found = statuses(responses)
    assert found[0] in (200, 201) and found[1:] == [400] * (len(calls) - 1), [response.text for response in responses]


@pytest.fixture
def hardware(make: Any, unique: Unique) -> dict[str, Any]:
    """The members that a device needs beside its name: its type is 2 units high."""
    maker = make("/api/dcim/manufacturers/")["id"]
    kind = make(TYPES, model=unique(), manufacturer=maker, u_height=2)["id"]
    role, site = make("/api/dcim/device-roles/")["id"], make("/api/dcim/sites/", status="active")["id"]
    return {"device_type": kind, "device_role": role, "site": site, "status": "active"}


@pytest.fixture
def rack(make: Any, hardware: dict[str, Any]) -> Any:
    """A rack at the site of the hardware."""
    return make(RACKS, site=hardware["site"], status="active", u_height=20)


# -- names among objects that lack a reference


def test_names_without_a_tenant_or_an_owner_are_given_once(
    service: Service, make: Any, unique: Unique, hardware: dict[str, Any]
) -> None:
    """In a UNIQUE constraint no null equals another, so these names have constraints of their own."""
    cluster = make("/api/virtualization/clusters/", type=make("/api/virtualization/cluster-types/")["id"])["id"]
    bodies: dict[str, dict[str, Any]] = {
        DEVICES: hardware,
        "/api/virtualization/virtual-machines/": {"cluster": cluster, "status": "active"},
        "/api/extras/config-contexts/": {"data": {"a": 1}},
        "/api/extras/config-context-schemas/": {"data_schema": {"type": "object", "properties": {}}},
        "/api/extras/export-templates/": {"content_type": "extras.tag", "template_code": "x"},
    }
    for path, body in bodies.items():
        name = unique()
        one_succeeds(service, posting(path, *[{**body, "name": name}] * CLIENTS))
        assert service.api.get(path, {"name": name})["count"] == 1


@pytest.mark.night
def test_names_are_given_once_to_those_who_lose_their_tenant(
    service: Service, make: Any, unique: Unique, hardware: dict[str, Any]
) -> None:
    name = unique()
    devices = [
        make(DEVICES, **{**hardware, "name": name}, tenant=make("/api/tenancy/tenants/")["id"]) for _ in range(4)
    ]
    one_succeeds(service, patching(*[(device, {"tenant": None}) for device in devices]))
    left = service.api.get(DEVICES, {"name": name})["results"]
    assert Counter(device["tenant"] is None for device in left) == {True: 1, False: 3}


# -- places in racks


def test_units_of_a_rack_are_taken_once(service: Service, unique: Unique, hardware: dict[str, Any], rack: Any) -> None:
    """Devices that overlap in one unit only, at different positions."""
    bodies = [
        {**hardware, "name": unique(), "rack": rack["id"], "face": "front", "position": 4 + number % 2}
        for number in range(CLIENTS)
    ]
    one_succeeds(service, posting(DEVICES, *bodies))


def test_a_rack_does_not_shrink_below_what_comes_into_it(
    service: Service, unique: Unique, hardware: dict[str, Any], rack: Any
) -> None:
    body = {**hardware, "name": unique(), "rack": rack["id"], "face": "front", "position": 19}
    one_succeeds(service, [*posting(DEVICES, body), *patching((rack, {"u_height": 10}))])


def test_a_device_type_does_not_grow_into_what_is_mounted_meanwhile(
    service: Service, unique: Unique, hardware: dict[str, Any], rack: Any
) -> None:
    """At the top of the rack there is room for a device of this height only."""
    body = {**hardware, "name": unique(), "rack": rack["id"], "face": "front", "position": 19}
    kind = service.api.get(f"{TYPES}{hardware['device_type']}/")
    one_succeeds(service, [*posting(DEVICES, body), *patching((kind, {"u_height": 4}))])


def test_units_of_a_rack_are_reserved_once(service: Service, rack: Any) -> None:
    bodies = [
        {"rack": rack["id"], "units": [number + 1, 12], "user": service.admin.id, "description": "x"}
        for number in range(CLIENTS)
    ]
    one_succeeds(service, posting(RESERVATIONS, *bodies))
    taken = [
        unit for shown in service.api.get(RESERVATIONS, {"rack_id": rack["id"]})["results"] for unit in shown["units"]
    ]
    assert len(taken) == len(set(taken))


def test_a_position_in_a_virtual_chassis_is_taken_once(service: Service, make: Any, hardware: dict[str, Any]) -> None:
    chassis = make("/api/dcim/virtual-chassis/")
    devices = [make(DEVICES, **hardware) for _ in range(4)]
    one_succeeds(
        service, patching(*[(device, {"virtual_chassis": chassis["id"], "vc_position": 3}) for device in devices])
    )


def test_a_device_is_installed_in_one_bay(
    service: Service, make: Any, unique: Unique, hardware: dict[str, Any]
) -> None:
    maker = make("/api/dcim/manufacturers/")["id"]
    parent, child = (
        make(TYPES, model=unique(), manufacturer=maker, u_height=0, subdevice_role=role)["id"]
        for role in ("parent", "child")
    )
    inner = make(DEVICES, **{**hardware, "device_type": child})
    hosts = [make(DEVICES, **{**hardware, "device_type": parent})["id"] for _ in range(4)]
    bays = [make("/api/dcim/device-bays/", device=host) for host in hosts]
    one_succeeds(service, patching(*[(bay, {"installed_device": inner["id"]}) for bay in bays]))


def test_the_master_of_a_chassis_is_a_device_that_there_is(
    service: Service, make: Any, hardware: dict[str, Any]
) -> None:
    """One client makes a member the master while another one deletes it."""
    chassis = make("/api/dcim/virtual-chassis/")
    member = make(DEVICES, **hardware, virtual_chassis=chassis["id"], vc_position=1)
    changed, deleted = race(
        service, [*patching((chassis, {"master": member["id"]})), lambda api: api.send("DELETE", member["url"])]
    )
    assert (changed.status_int, deleted.status_int) in {(200, 409), (400, 204)}, (changed.text, deleted.text)
    left = service.api.get(chassis["url"])["master"]
    assert (left is None) is (deleted.status_int == 204)


# -- ports, cables and circuits


def test_a_rear_port_does_not_lose_a_position_that_is_taken_meanwhile(service: Service, unique: Unique) -> None:
    plant = Plant(service.api, unique)
    device = plant.device()
    rear = plant.end("dcim.rearport", device, positions=2)
    bodies = [
        {"device": device, "name": unique(), "type": "lc", "rear_port": rear.id, "rear_port_position": number}
        for number in (1, 2)
    ]
    service.api.post("/api/dcim/front-ports/", bodies[0])
    one_succeeds(
        service, [*posting("/api/dcim/front-ports/", bodies[1]), *patching(({"url": rear.path}, {"positions": 1}))]
    )


def test_an_end_gets_one_cable_from_many_kinds_of_ends(service: Service, unique: Unique) -> None:
    plant = Plant(service.api, unique)
    port, others = plant.end(), plant.ends("dcim.interface", 4)
    one_succeeds(service, posting("/api/dcim/cables/", *[plant.body(port, other) for other in others]))
    assert len([other for other in others if service.api.get(other.path)["cable"]]) == 1


def test_a_circuit_knows_both_sides_that_are_added_at_the_same_time(service: Service, unique: Unique) -> None:
    plant = Plant(service.api, unique)
    body = {"cid": unique(), "provider": plant.provider, "type": plant.circuit_type, "status": "active"}
    circuit = service.api.post("/api/circuits/circuits/", body)
    sides = [{"circuit": circuit["id"], "term_side": side, "site": plant.site} for side in "AZ" * 4]
    responses = race(service, posting("/api/circuits/circuit-terminations/", *sides))
    assert statuses(responses) == [201] * 2 + [400] * 6, [response.text for response in responses]
    made = {response.json["term_side"]: response.json["id"] for response in responses if response.status_int == 201}
    shown = service.api.get(circuit["url"])
    assert {side: shown[f"termination_{side.lower()}"]["id"] for side in "AZ"} == made


# -- networks


@pytest.mark.parametrize("everywhere", [True, False], ids=["in the global table", "in a VRF"])
def test_addresses_and_prefixes_occur_once(service: Service, make: Any, configured: Any, *, everywhere: bool) -> None:
    """Where uniqueness is enforced, an address with another mask is the same host."""
    place = {"vrf": None if everywhere else make(VRFS, enforce_unique=True)["id"], "status": "active"}
    number = service.unique.number()
    net = f"100.{64 + number // 256 % 64}.{number % 256}"
    with configured(enforce_global_unique=everywhere):
        one_succeeds(
            service, posting(ADDRESSES, *[{**place, "address": f"{net}.9/{24 + mask}"} for mask in range(CLIENTS)])
        )
        one_succeeds(service, posting(PREFIXES, *[{**place, "prefix": f"{net}.0/25"}] * CLIENTS))
        spread = race(
            service, posting(ADDRESSES, *[{**place, "address": f"{net}.{mask + 20}/24"} for mask in range(CLIENTS)])
        )
    assert statuses(spread) == [201] * CLIENTS


def test_aggregates_that_come_at_the_same_time_do_not_overlap(service: Service, make: Any) -> None:
    rir, network = make("/api/ipam/rirs/")["id"], service.unique.ipv6()
    bodies = [{"prefix": f"{network}::/{48 + length}", "rir": rir} for length in range(CLIENTS)]
    one_succeeds(service, posting("/api/ipam/aggregates/", *bodies))


@pytest.mark.parametrize("what", ["available-ips", "available-prefixes"])
def test_nested_prefixes_do_not_give_out_the_same(service: Service, make: Any, what: str) -> None:
    """Clients ask a prefix, another one of the same network, one within it and one around it."""
    vrf = make(VRFS, enforce_unique=False)["id"]
    made = [
        service.api.post(PREFIXES, {"prefix": f"10.20.0.0/{length}", "vrf": vrf, "status": "active"})
        for length in (23, 24, 24, 25)
    ]
    body = {"status": "active", **({"prefix_length": 28} if what == "available-prefixes" else {})}
    responses = race(
        service, [lambda api, url=f"{prefix['url']}{what}/": api.send("POST", url, body) for prefix in made * 3]
    )  # type: ignore[misc]
    assert statuses(responses) == [201] * 12, [response.text for response in responses]
    if what == "available-ips":
        given = [response.json["address"].partition("/")[0] for response in responses]
    else:
        given = [response.json["prefix"] for response in responses]
    assert len(set(given)) == 12, sorted(given)


def test_prefixes_beside_each_other_give_out_at_the_same_time(service: Service, make: Any) -> None:
    """One transaction has given out of one half of a prefix and goes on; a client asks the other half."""
    if service.engine.dialect.name == "sqlite":
        assert service.api.get(PREFIXES)["count"] >= 0  # its writers take turns
        return
    vrf = make(VRFS)["id"]
    texts = ("10.9.0.0/24", "10.9.0.0/25", "10.9.0.128/25")
    whole, left, right = (
        service.api.post(PREFIXES, {"prefix": text, "vrf": vrf, "status": "active"}) for text in texts
    )
    table = service.registry["ipam.prefix"].table
    with service.engine.connect() as other:
        other.execute(lock_rows(sa.select(table.c.id).where(table.c.id == uuid.UUID(left["id"]))))
        other.execute(
            sa.select(table.c.id).where(table.c.id == uuid.UUID(whole["id"])).with_for_update(read=True, key_share=True)
        )
        assert service.api.post(f"{right['url']}available-ips/", {"status": "active"})["address"] == "10.9.0.129/25"
        other.rollback()


def test_a_primary_address_stays_where_it_is_primary(service: Service, make: Any, hardware: dict[str, Any]) -> None:
    """One client makes an address primary while another one assigns it elsewhere."""
    device = make(DEVICES, **hardware)
    here, there = (
        make("/api/dcim/interfaces/", device=owner["id"], type="virtual", status="active")
        for owner in (device, make(DEVICES, **hardware))
    )
    end = {"assigned_object_type": "dcim.interface", "assigned_object_id": here["id"]}
    address = make(ADDRESSES, address="198.18.91.1/24", status="active", **end)
    moves = [(device, {"primary_ip4": address["id"]}), (address, {"assigned_object_id": there["id"]})] * 2
    race(service, patching(*moves))
    shown, placed = service.api.get(device["url"]), service.api.get(address["url"])["assigned_object_id"]
    assert shown["primary_ip4"] is None or placed == here["id"]


# -- trees


@pytest.mark.parametrize(
    "path", ["/api/dcim/regions/", "/api/tenancy/tenant-groups/", "/api/dcim/rack-groups/", "/api/dcim/location-types/"]
)
def test_two_moves_do_not_make_a_loop(service: Service, make: Any, hardware: dict[str, Any], path: str) -> None:
    """A below B and B below A, and the same over a node in between."""
    own = {"site": hardware["site"]} if "rack-groups" in path else {}
    first, second = make(path, **own), make(path, **own)
    below = make(path, **own, parent=first["id"])
    moves = [
        (first, {"parent": second["id"]}),
        (second, {"parent": first["id"]}),
        (second, {"parent": below["id"]}),
    ] * 2
    responses = race(service, patching(*moves))
    assert 200 in statuses(responses)
    parents = {node["id"]: (service.api.get(node["url"])["parent"] or {}).get("id") for node in (first, second, below)}
    for start in parents:
        seen, step = set(), start
        while step is not None:
            assert step not in seen, parents
            seen.add(step)
            step = parents[step]


def test_what_is_added_below_a_node_that_moves_comes_along(service: Service, make: Any) -> None:
    """The stored order says of every node where it is now: the key of a node begins with that of its parent."""
    top, other, middle = make("/api/dcim/regions/"), make("/api/dcim/regions/"), None
    middle = make("/api/dcim/regions/", parent=make("/api/dcim/regions/", parent=top["id"])["id"])
    branch = service.api.get(middle["url"])["parent"]
    names = [service.unique() for _ in range(3)]
    adding = posting("/api/dcim/regions/", *[{"name": name, "slug": name, "parent": middle["id"]} for name in names])
    responses = race(service, [*adding, *patching((branch, {"parent": other["id"]}))])
    assert statuses(responses) == [200, 201, 201, 201], [response.text for response in responses]
    table = service.registry["dcim.region"].table
    keys = dict(map(tuple, service.rows(sa.select(table.c.id, table.c.tree_key))))
    for key, parent in service.rows(sa.select(table.c.id, table.c.parent_id).where(table.c.parent_id.is_not(None))):
        assert keys[key].startswith(keys[parent])


# -- what users define


@pytest.mark.parametrize("kind", ["one-to-one", "one-to-many", "symmetric-one-to-one"])
def test_an_object_stands_in_as_many_associations_as_the_relationship_allows(
    service: Service, make: Any, unique: Unique, kind: str
) -> None:
    label, path = "dcim.rackrole", "/api/dcim/rack-roles/"
    relationship = make("/api/extras/relationships/", type=kind, source_type=label, destination_type=label)
    target, sources = make(path), [make(path) for _ in range(4)]
    body = {
        "relationship": relationship["id"],
        "source_type": label,
        "destination_type": label,
        "destination_id": target["id"],
    }
    one_succeeds(
        service,
        posting("/api/extras/relationship-associations/", *[{**body, "source_id": source["id"]} for source in sources]),
    )
    service.api.delete(relationship["url"])


def test_groups_do_not_come_to_be_within_each_other(service: Service, make: Any) -> None:
    path = "/api/extras/dynamic-group-memberships/"
    one, two = (make("/api/extras/dynamic-groups/", content_type="extras.tag", filter={}) for _ in range(2))
    pairs = [(one, two), (two, one)]
    one_succeeds(
        service,
        posting(
            path, *[{"group": a["id"], "parent_group": b["id"], "operator": "union", "weight": 1} for a, b in pairs]
        ),
    )


def test_webhooks_tell_a_receiver_once(service: Service, unique: Unique) -> None:
    body = {
        "content_types": ["extras.secret"],
        "type_create": True,
        "payload_url": f"https://receiver.example.com/{unique()}",
    }
    one_succeeds(service, posting("/api/extras/webhooks/", *[{**body, "name": unique()} for _ in range(4)]))


@pytest.mark.parametrize("kind", ["select", "multi-select"])
def test_a_choice_that_goes_is_not_chosen_meanwhile(service: Service, make: Any, kind: str) -> None:
    """One client deletes a choice while others set it: either it stays, or no object has it."""
    slug = f"f{uuid.uuid4().hex[:12]}"
    field = make("/api/extras/custom-fields/", type=kind, label=slug, slug=slug, content_types=["dcim.rackrole"])
    going, _ = (
        service.api.post("/api/extras/custom-field-choices/", {"field": field["id"], "value": value})
        for value in ("going", "staying")
    )
    roles = [make("/api/dcim/rack-roles/") for _ in range(3)]
    setting = patching(
        *[(role, {"custom_fields": {slug: "going" if kind == "select" else ["going", "staying"]}}) for role in roles]
    )
    *changed, deleted = race(service, [*setting, lambda api: api.send("DELETE", going["url"])])
    held = [service.api.get(role["url"])["custom_fields"][slug] for role in roles]
    service.api.delete(field["url"])
    assert statuses(changed) == [200 if deleted.status_int == 409 else 400] * 3 or deleted.status_int == 409, (
        deleted.text
    )
    assert any(value is not None for value in held) is (deleted.status_int == 409), (held, deleted.text)


# -- what the database gives up


def test_a_lock_that_is_not_had_in_time_is_known_as_one(service: Service, make: Any) -> None:
    """A request whose statement ends so is run again, as after a deadlock."""
    if service.engine.dialect.name == "sqlite":
        assert not is_busy(sa.exc.OperationalError("", {}, Exception("no such table")))
        return
    table, key = service.registry["dcim.region"].table, uuid.UUID(make("/api/dcim/regions/")["id"])
    statement = lock_rows(sa.select(table.c.id).where(table.c.id == key))
    setting = {"postgresql": "SET LOCAL lock_timeout = '50ms'"}.get(
        service.engine.dialect.name, "SET SESSION innodb_lock_wait_timeout = 1"
    )
    impatient = engine_from(service.engine.url.render_as_string(hide_password=False), poolclass=sa.pool.NullPool)
    with service.engine.connect() as one, impatient.connect() as other:
        one.execute(statement)
        other.exec_driver_sql(setting)
        with pytest.raises(sa.exc.OperationalError) as found:
            other.execute(statement)
        one.rollback()
    assert is_busy(found.value)
    assert not is_busy(sa.exc.OperationalError("", {}, Exception("no such table")))


def test_a_request_that_meets_the_same_lock_each_time_is_a_conflict(service: Service, api: Api, make: Any) -> None:
    """Three times the database gives the request up: 409, not a failure of the service."""
    region = make("/api/dcim/regions/")
    given_up = sa.exc.OperationalError("", {}, _Timeout(1205, "Lock wait timeout exceeded"))
    attempts = []

    def give_up(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if "UPDATE dcim_region" in statement:
            attempts.append(statement)
            raise given_up

    sa.event.listen(service.engine, "before_cursor_execute", give_up)
    try:
        assert "at the same time" in api.patch(region["url"], {"description": "x"}, status=409)["detail"]
    finally:
        sa.event.remove(service.engine, "before_cursor_execute", give_up)
    assert len(attempts) == 3
    assert api.patch(region["url"], {"description": "x"})["description"] == "x"


class _Timeout(Exception):
    """An error as MariaDB's driver raises it."""
