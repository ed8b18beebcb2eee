"""Primary addresses: what a thing is reached at is assigned to one of its own interfaces, and stays so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core.resource import Rule
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_core.write.references import NO_SUCH_ID
from netinv_dcim.components.interfaces import Interface
from netinv_dcim.devices import Device
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_ipam.addresses import ENDS, INTERFACE, IPAddress

PLACES = {"primary_ip4": 4, "primary_ip6": 6}
# the way from an address to the interface it is assigned to, by the interface's label
WAYS = {label: way for way, label in ENDS.items()}


@dataclasses.dataclass(frozen=True)
class PrimaryAddressOwner:
    """What has primary addresses: the ``model`` with a foreign key for each of :data:`PLACES`.

    ``interface`` is the label of its interfaces, and ``owners(context, interfaces)`` gives by interface who may call its addresses
    primary; ``title`` and ``short`` are what messages call it; ``family_first`` says which of two mistakes is told.
    """

    model: Any
    interface: str
    owners: Callable[[UnitOfWork, Collection[Any]], Mapping[Any, Collection[Any]]]
    title: str
    short: str
    family_first: bool = False

    def own(self) -> Rule:
        """The rule that a primary address is assigned to its holder, itself or by way of NAT, and is of the family its place is for."""

        def primary_addresses_are_its_own(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
            given = [(draft, place, draft[f"{place}_id"]) for draft in drafts for place in PLACES if draft.changed(f"{place}_id")]
            given = [(draft, place, key) for draft, place, key in given if key is not None]
            if not given:
                return
            found = self._addresses(uow, {key for _, _, key in given}, locked=True)
            owners = self.owners(uow, {interface for _, _, interfaces in found.values() for interface in interfaces})
            for draft, place, key in given:
                if key not in found:  # deleted at the same time
                    draft.reject(place, NO_SUCH_ID.format(key))
                    continue
                address, version, interfaces = found[key]
                mine = any(draft.id in owners.get(interface, ()) for interface in interfaces)
                family = (version == PLACES[place], f"{address} is not an IPv{PLACES[place]} address.")
                assigned = (mine, f"The specified IP address ({address}) is not assigned to this {self.short}.")
                wrong = [message for holds, message in ((family, assigned) if self.family_first else (assigned, family)) if not holds]
                if wrong:
                    draft.reject(place, wrong[0])

        return primary_addresses_are_its_own

    def stay(self) -> Rule:
        """The rule, for addresses, that one that is primary is not assigned away from its holder."""

        def primary_addresses_stay(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
            moved = ("assigned_object_id", "assigned_object_type", "nat_inside_id")
            moving = {draft.id: draft for draft in drafts if not draft.new and draft.changed(*moved)}
            rows = self._held(uow, list(moving))
            if not rows:
                return
            reached = self._reached(uow, moving)
            owners = self.owners(uow, {interface for interfaces in reached.values() for interface in interfaces})
            named = dict(uow.registry.of_model(self.model).plan("nested").fetch(uow, [row["id"] for row in rows]))
            for row in rows:
                for place in PLACES:
                    draft = moving.get(row[f"{place}_id"])
                    if draft is not None and not any(row["id"] in owners.get(interface, ()) for interface in reached[draft.id]):
                        name = named[row["id"]]["display"]
                        draft.reject(WAYS[self.interface], f"IP address is primary for {self.title} {name} but not assigned to it!")

        return primary_addresses_stay

    def _held(self, uow: UnitOfWork, keys: Sequence[Any]) -> Sequence[Any]:
        """The rows of holders for which one of the addresses is primary."""
        table = self.model.__table__
        places = [table.c[f"{place}_id"] for place in PLACES]
        statement = sa.select(table.c.id, *places).where(sa.or_(*[place.in_(keys) for place in places]))
        return uow.execute(statement).mappings().all() if keys else []

    def _reached(self, uow: UnitOfWork, moving: Mapping[Any, Draft]) -> dict[Any, list[Any]]:
        """The interfaces that each moving address will be assigned to, directly and by way of NAT."""
        through = self._addresses(uow, {draft["nat_inside_id"] for draft in moving.values()} - {None})
        directly = {key: [draft["assigned_object_id"]] if draft["assigned_object_type"] == self.interface else [] for key, draft in moving.items()}
        return {key: [*directly[key], *through.get(draft["nat_inside_id"], ("", 0, []))[2]] for key, draft in moving.items()}

    def _addresses(self, uow: UnitOfWork, keys: Iterable[Any], *, locked: bool = False) -> dict[Any, tuple[str, int, list[Any]]]:
        """Of each address: its written form, its version, and the interfaces it is assigned to, directly and by way of NAT.

        ``locked`` holds the addresses until the transaction ends, so that nobody assigns them elsewhere or deletes them meanwhile.
        """
        table, inner = IPAddress.__table__, IPAddress.__table__.alias()
        joined = table.outerjoin(inner, inner.c.id == table.c.nat_inside_id)
        ends = [sa.case((place.c.assigned_object_type == self.interface, place.c.assigned_object_id)) for place in (table, inner)]
        statement = sa.select(table.c.id, table.c.address, table.c.ip_version, *ends).select_from(joined).where(table.c.id.in_(list(keys)))
        if locked:
            statement = statement.order_by(table.c.id).with_for_update(of=table, key_share=True)
        return {key: (address, version, [i for i in found if i is not None]) for key, address, version, *found in uow.execute(statement)}


def _of_devices(uow: UnitOfWork, interfaces: Collection[Any]) -> dict[Any, Collection[Any]]:
    """The devices each interface belongs to: its own, and the master of that device's virtual chassis."""
    port, device, chassis = Interface.__table__, Device.__table__, VirtualChassis.__table__
    joined = port.join(device, device.c.id == port.c.device_id).outerjoin(chassis, chassis.c.id == device.c.virtual_chassis_id)
    master = sa.case((~port.c.mgmt_only, chassis.c.master_id))
    statement = sa.select(port.c.id, device.c.id, master).select_from(joined).where(port.c.id.in_(list(interfaces)))
    return {key: owners for key, *owners in uow.execute(statement)}


device_addresses = PrimaryAddressOwner(Device, INTERFACE, _of_devices, "device", "device", family_first=True)
