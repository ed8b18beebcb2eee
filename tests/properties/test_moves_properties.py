"""Random changes of references, choices and flags: after those that are accepted every object can be read and written
back unchanged, and no rule is broken.

The fields come from the registry, so every model with an object in the population takes part with all of its fields.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from netinv_core.errors import Conflict
from netinv_core.fields import Choice, ContentTypeList, Field, Reference, Status, ToMany, Value
from netinv_core.uow import UnitOfWork
from netinv_core.write import delete
from netinv_core.write.draft import Draft
from netinv_testing import Api, Service

Moves = list[tuple[int, int, int]]
Population = dict[str, list[str]]  # ids by label
Broken = tuple[tuple[str, int], dict[str, Any]]  # a rule, by the label of its model and its place; errors by id
MOVES = st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999), st.integers(0, 999)), min_size=1, max_size=12)

STATUSES: list[str] = []  # slugs of the statuses of the population

PHASES = [Phase.explicit, Phase.generate]  # objects keep accepted changes, so an example does not shrink


class Populated:
    """Two or more objects of each model, that refer to each other."""

    def __init__(self, service: Service) -> None:
        self.service, self.api, self.ids = service, service.api, Population()

    def add(self, label: str, **fields: Any) -> str:
        """Creates an object with a name of its own; returns its id."""
        with self.service.unit_of_work() as uow:
            endpoint = uow.registry[label]
            names = {name: self.service.unique() for name in ("name", "slug") if name in endpoint.writable}
            path = endpoint.path
        key = str(self.api.post(path, names | fields)["id"])
        self.ids.setdefault(label, []).append(key)
        return key

    def add_statuses(self) -> str:
        """Creates two statuses for every model with one; returns the slug of the first."""
        with self.service.unit_of_work() as uow:
            labels = [
                label
                for label, endpoint in uow.registry.endpoints.items()
                if any(isinstance(field, Status) for field in endpoint.writable.values())
            ]
        keys = [self.add("extras.status", content_types=labels) for _ in range(2)]
        STATUSES[:] = [self.api.get(f"/api/extras/statuses/{key}/")["slug"] for key in keys]
        return STATUSES[0]

    def side(self, shared: dict[str, str], number: int) -> None:
        """A site and what is there: racks, a chassis of two devices with ports and addresses, a virtual machine."""
        add = self.add
        site = add("dcim.site", status=shared["status"])
        place = {
            "site": site,
            "location": add("dcim.location", location_type=shared["type"], site=site, status=shared["status"]),
        }
        group = add("dcim.rackgroup", **place)
        rack = add("dcim.rack", group=group, role=add("dcim.rackrole"), status=shared["status"], **place)
        panel = add("dcim.powerpanel", rack_group=group, **place)
        add("dcim.powerfeed", power_panel=panel, rack=rack, status=shared["status"])
        vlan = add("ipam.vlan", vid=number + 2, role=add("ipam.role"), status=shared["status"], **place)
        add("ipam.prefix", prefix=f"198.18.{number}.0/24", vlan=vlan, status=shared["status"], **place)
        add("ipam.vlan", vid=number + 2, status=shared["status"], site=site, group=add("ipam.vlangroup", **place))
        add("dcim.rackreservation", rack=rack, units=[1, 2], user=shared["user"], description="Reserved")
        circuit = {"provider": shared["provider"], "type": shared["circuit_type"], "status": shared["status"]}
        circuit_id = add("circuits.circuit", cid=self.service.unique(), **circuit)
        add("circuits.circuittermination", circuit=circuit_id, term_side="A", **place)
        network = add("circuits.providernetwork", provider=shared["provider"])
        add("circuits.circuittermination", circuit=circuit_id, term_side="Z", provider_network=network)
        chassis, members = add("dcim.virtualchassis"), list[str]()
        pair = add("dcim.deviceredundancygroup", status=shared["status"], failover_strategy="active-active")
        for position in (1, 2):
            kind = {"device_type": shared["device_type"], "device_role": shared["role"], "rack": rack}
            membership = {"virtual_chassis": chassis, "vc_position": position}
            membership |= {"device_redundancy_group": pair, "device_redundancy_group_priority": position}
            members.append(add("dcim.device", status=shared["status"], **kind, **membership, **place))
        lag = add("dcim.interface", device=members[0], type="lag", status=shared["status"])
        for member in members:
            port = {"device": member, "status": shared["status"]}
            add("dcim.interface", type="1000base-t", lag=lag, mode="tagged", tagged_vlans=[vlan], **port)
            parent = add("dcim.interface", type="1000base-t", mode="access", untagged_vlan=vlan, **port)
            child = add("dcim.interface", type="virtual", parent_interface=parent, **port)
            self.give_address(
                "dcim.device", member, "dcim.interface", child, f"198.18.{number}.{len(self.ids)}/24", shared
            )
            rear = add("dcim.rearport", device=member, type="8p8c")
            add("dcim.frontport", device=member, type="8p8c", rear_port=rear)
            add("dcim.poweroutlet", device=member, power_port=add("dcim.powerport", device=member))
            add("ipam.service", device=member, protocol="tcp", ports=[22])
        cluster = add("virtualization.cluster", type=shared["cluster_type"], **place)
        machine = add("virtualization.virtualmachine", cluster=cluster, role=shared["role"], status=shared["status"])
        nic = add("virtualization.vminterface", virtual_machine=machine, status=shared["status"])
        self.give_address(
            "virtualization.virtualmachine", machine, "virtualization.vminterface", nic, f"198.19.{number}.1/24", shared
        )

    def give_address(
        self, owner_label: str, owner: str, label: str, interface: str, address: str, shared: dict[str, str]
    ) -> None:
        """Assigns an address to an interface; the one that NAT translates it to becomes the primary one of its owner."""
        assignment = {"assigned_object_type": label, "assigned_object_id": interface}
        own = {"status": shared["status"]}
        inside = self.add("ipam.ipaddress", address=address, **own, **assignment)
        key = self.add("ipam.ipaddress", address=address.replace("198.", "203."), nat_inside=inside, **own)
        with self.service.unit_of_work() as uow:
            path = uow.registry[owner_label].path
        self.api.patch(f"{path}{owner}/", {"primary_ip4": key})


@pytest.fixture(scope="session")
def population(service: Service) -> Population:
    """Two sites with their objects, and what they share."""
    made = Populated(service)
    maker = made.add("dcim.manufacturer")
    contents = [
        "dcim.device",
        "dcim.rack",
        "dcim.rackgroup",
        "dcim.powerpanel",
        "ipam.prefix",
        "ipam.vlan",
        "virtualization.cluster",
        "ipam.vlangroup",
        "circuits.circuittermination",
    ]
    shared = {
        "type": made.add("dcim.locationtype", content_types=contents, nestable=True),
        "role": made.add("dcim.devicerole"),
        "status": made.add_statuses(),
        "provider": made.add("circuits.provider"),
        "circuit_type": made.add("circuits.circuittype"),
        "user": str(service.api.get("/api/users/users/")["results"][0]["id"]),
        "cluster_type": made.add("virtualization.clustertype"),
        "device_type": made.add("dcim.devicetype", manufacturer=maker, model=service.unique(), u_height=0),
    }
    made.add("dcim.platform", manufacturer=maker)
    made.add("dcim.devicerole", vm_role=False)
    for number in range(2):
        made.side(shared, number)
    return made.ids


def values_of(field: Field, population: Population) -> list[Any]:
    """The values that a change may give to a field; none for fields that refer to nothing."""
    if isinstance(field, Status):
        return STATUSES
    if isinstance(field, ContentTypeList):
        labels = sorted(population)
        return [labels, *([*labels[:place], *labels[place + 1 :]] for place in range(len(labels)))]
    if isinstance(field, Reference | ToMany):
        target = field.target
        keys: list[Any] = list(population.get(target.label, ())) if target is not None else []
        if isinstance(field, ToMany):
            return [[], *([key] for key in keys)] if keys else []
        return [*keys, None] if keys else []
    if isinstance(field, Choice):
        return [value for value, _ in field.choices.items]
    if isinstance(field, Value) and field.kind == "boolean":
        return [True, False]
    if isinstance(field, Value) and field.kind == "integer":
        return [0, 1, 2]
    return []


def apply(service: Service, population: Population, move: tuple[int, int, int]) -> str:
    """Makes a change, which may be refused; describes it."""
    objects = [(label, key) for label, keys in population.items() for key in keys]
    label, key = objects[move[0] % len(objects)]
    with service.unit_of_work() as uow:
        endpoint = uow.registry[label]
        choices = {
            name: values for name, field in endpoint.writable.items() if (values := values_of(field, population))
        }
        path = endpoint.path
    if not choices:
        return f"{label} {key}: nothing to change"
    name = sorted(choices)[move[1] % len(choices)]
    value = choices[name][move[2] % len(choices[name])]
    answer = service.api.send("PATCH", f"{path}{key}/", {name: value}, status=(200, 400))
    return f"{label} {key}: {name}={value!r} → {answer.status_int}"


def broken_rules(uow: UnitOfWork, population: Population) -> Iterator[Broken]:
    """The rules that objects break as they are, with the ids and errors of these."""
    for label, keys in population.items():
        endpoint = uow.registry[label]
        table = endpoint.table
        rows = [dict(row) for row in uow.execute(sa.select(table)).mappings() if str(row["id"]) in keys]
        for number, rule in enumerate(endpoint.rules):
            drafts = [Draft(endpoint, {}, row, rechecked=True) for row in rows]
            rule(uow, drafts)
            if errors := {str(draft.id): dict(draft.errors) for draft in drafts if draft.errors}:
                yield (label, number), errors


@pytest.fixture(scope="session")
def about_changes(service: Service, population: Population) -> set[tuple[str, int]]:
    """The rules that refuse the objects as they were created: they are about changes, not about states."""
    with service.unit_of_work() as uow:
        return {rule for rule, _ in broken_rules(uow, population)}


def written_back(api: Api, paths: dict[str, str], population: Population) -> None:
    """Writes every object back as it is read."""
    for label, keys in population.items():
        bodies = api.get(paths[label], {"id": keys, "limit": 0})["results"]
        assert len(bodies) == len(keys), label
        count = api.get("/api/extras/object-changes/", {"limit": 1})["count"]
        api.put(paths[label], bodies)
        assert api.get("/api/extras/object-changes/", {"limit": 1})["count"] == count, label


def check(service: Service, population: Population, about_changes: set[tuple[str, int]], moves: Moves) -> None:
    """Makes changes; then no object breaks a rule that it kept before, and each can be written back."""
    made = [apply(service, population, move) for move in moves]
    with service.unit_of_work() as uow:
        paths = {label: uow.registry[label].path for label in population}
        assert [errors for rule, errors in broken_rules(uow, population) if rule not in about_changes] == [], made
    written_back(service.api, paths, population)


class _Undone(Exception):
    """Ends a savepoint that is rolled back."""


@pytest.mark.night
def test_accepted_deletions_leave_valid_objects(
    service: Service, population: Population, about_changes: set[tuple[str, int]]
) -> None:
    refused, broken = set(), {}
    with service.unit_of_work() as uow:
        for label, keys in population.items():
            for key in keys:
                with contextlib.suppress(_Undone), uow.savepoint():
                    try:
                        delete.delete(uow, uow.registry[label], [{"id": key}], single=True)
                    except Conflict:
                        refused.add(label)
                    else:
                        found = dict(broken_rules(uow, population))
                        broken |= {(label, rule): errors for rule, errors in found.items() if rule not in about_changes}
                    raise _Undone
    assert broken == {}
    assert {"dcim.site", "dcim.virtualchassis"} <= refused < population.keys()


@settings(max_examples=6, phases=PHASES)
@given(moves=MOVES)
@pytest.mark.night
def test_accepted_changes_leave_valid_objects(
    service: Service, population: Population, about_changes: set[tuple[str, int]], moves: Moves
) -> None:
    check(service, population, about_changes, moves)


@pytest.mark.slow
@settings(max_examples=40, phases=PHASES)
@given(moves=MOVES)
@pytest.mark.night
def test_many_accepted_changes_leave_valid_objects(
    service: Service, population: Population, about_changes: set[tuple[str, int]], moves: Moves
) -> None:
    check(service, population, about_changes, moves)
