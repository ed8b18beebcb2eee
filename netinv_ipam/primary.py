"""Primary addresses of devices and others: each must be, and stay, assigned to an interface of its owner."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.sql.plans import plan_of
from netinv_core.write.reference_messages import NO_SUCH_ID
from netinv_core.write.referring_rules import Reading, ReadingRule, related_by, through
from netinv_dcim.components.interfaces import Interface
from netinv_dcim.devices import Device
from netinv_dcim.virtual_chassis import VirtualChassis
from netinv_ipam.addresses import ENDS, INTERFACE, IPAddress

if TYPE_CHECKING:
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

PLACES = {"primary_ip4": 4, "primary_ip6": 6}
# The relation from an address to the interface it is assigned to, by the label of the interface model.
WAYS = {label: way for way, label in ENDS.items()}


@dataclasses.dataclass(frozen=True)
class PrimaryAddressOwner:
    """A model with primary addresses: ``model`` has a foreign key for each of :data:`PLACES`.

    ``interface`` is the label of its interface model. ``owners(uow, interfaces)`` returns, by interface, the ids of the
    objects for which the interface's addresses may be primary. ``title`` and ``short`` are the model's names in error
    messages. With ``family_first`` a wrong IP version is reported before a wrong assignment.
    ``interface_columns`` are those of an interface that ``owners`` reads, ``further_reads`` what it reads beyond.
    """

    model: Any
    interface: str
    owners: Callable[[UnitOfWork, Collection[Any]], Mapping[Any, Collection[Any]]]
    title: str
    short: str
    family_first: bool = False
    interface_columns: tuple[str, ...] = ()
    further_reads: tuple[Reading, ...] = ()

    def own(self) -> Rule:
        """Rule for the model: a primary address has the right IP version and is assigned to an interface of its owner.

        The address, or the address inside its NAT, is assigned. Addresses are locked until the transaction ends.
        """

        def primary_addresses_are_its_own(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
            """Rejects primary addresses of other objects or of the other IP version."""
            changes = [
                (draft, place, draft[f"{place}_id"])
                for draft in drafts
                for place in PLACES
                if draft.changed(f"{place}_id")
            ]
            changes = [(draft, place, key) for draft, place, key in changes if key is not None]
            if not changes:
                return
            addresses = self._addresses(uow, {key for _, _, key in changes}, locked=True)
            all_interfaces = {interface for _, _, interfaces in addresses.values() for interface in interfaces}
            owners = self.owners(uow, all_interfaces)
            for draft, place, key in changes:
                if key not in addresses:  # deleted at the same time
                    draft.reject(place, NO_SUCH_ID.format(key))
                    continue
                address, version, interfaces = addresses[key]
                is_owner = any(draft.id in owners.get(interface, ()) for interface in interfaces)
                family = (version == PLACES[place], f"{address} is not an IPv{PLACES[place]} address.")
                assigned = (is_owner, f"The specified IP address ({address}) is not assigned to this {self.short}.")
                checks = (family, assigned) if self.family_first else (assigned, family)
                errors = [message for holds, message in checks if not holds]
                if errors:
                    draft.reject(place, errors[0])

        return ReadingRule(primary_addresses_are_its_own, self._reads(), tuple(f"{place}_id" for place in PLACES))

    def _reads(self) -> tuple[Reading, ...]:
        """Columns that the rule of the model reads: of its addresses, those inside their NAT, and their interfaces."""
        columns = ("assigned_object_id", "assigned_object_type", "ip_version", "nat_inside_id")
        return (
            *[through(place, *columns) for place in PLACES],
            *[through(f"{place}.nat_inside", *columns[:2]) for place in PLACES],
            related_by(self.interface, *self.interface_columns, pairs=self._of_interfaces),
            *self.further_reads,
        )

    def _of_interfaces(self, uow: UnitOfWork, keys: Sequence[Any]) -> Any:
        """SELECT of interfaces, and the objects with a primary address on them, directly or through its NAT."""
        return self.owners_by_interface(lambda interface: interface.in_(list(keys)))

    def owners_by_interface(self, condition: Callable[[Any], Any]) -> Any:
        """SELECT of the interfaces that meet a condition, and the objects with a primary address on them."""
        table = self.model.__table__
        selects = []
        for place in PLACES:
            address, inner = IPAddress.__table__.alias(), IPAddress.__table__.alias()
            joined = table.join(address, address.c.id == table.c[f"{place}_id"])
            joined = joined.outerjoin(inner, inner.c.id == address.c.nat_inside_id)
            for source in (address, inner):
                here = sa.and_(source.c.assigned_object_type == self.interface, condition(source.c.assigned_object_id))
                selects.append(sa.select(source.c.assigned_object_id, table.c.id).select_from(joined).where(here))
        return sa.union_all(*selects)

    def stay(self) -> Rule:
        """Rule for addresses: a primary address cannot be assigned to an interface of another object."""

        def primary_addresses_stay(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
            """Rejects moving an address away from the object of which it is the primary address."""
            columns = ("assigned_object_id", "assigned_object_type", "nat_inside_id")
            moving = {draft.id: draft for draft in drafts if not draft.new and draft.changed(*columns)}
            rows = self._owner_rows(uow, list(moving))
            if not rows:
                return
            interfaces_of = self._interfaces_after_move(uow, moving)
            all_interfaces = {interface for interfaces in interfaces_of.values() for interface in interfaces}
            owners = self.owners(uow, all_interfaces)
            nested = dict(plan_of(uow.registry.of_model(self.model), "nested").fetch(uow, [row["id"] for row in rows]))
            for row in rows:
                for place in PLACES:
                    draft = moving.get(row[f"{place}_id"])
                    if draft is None:
                        continue
                    if not any(row["id"] in owners.get(interface, ()) for interface in interfaces_of[draft.id]):
                        name = nested[row["id"]]["display"]
                        message = f"IP address is primary for {self.title} {name} but not assigned to it!"
                        draft.reject(WAYS[self.interface], message)

        return primary_addresses_stay

    def _owner_rows(self, uow: UnitOfWork, keys: Sequence[Any]) -> Sequence[Any]:
        """The ids and primary addresses of the objects for which one of these addresses is primary."""
        if not keys:
            return []
        table = self.model.__table__
        places = [table.c[f"{place}_id"] for place in PLACES]
        statement = sa.select(table.c.id, *places).where(sa.or_(*[place.in_(keys) for place in places]))
        return uow.execute(statement).mappings().all()

    def _interfaces_after_move(self, uow: UnitOfWork, moving: Mapping[Any, Draft]) -> dict[Any, list[Any]]:
        """The interfaces that each changed address will be assigned to, directly or through its NAT inside address."""
        inside = self._addresses(uow, {draft["nat_inside_id"] for draft in moving.values()} - {None})
        direct = {
            key: [draft["assigned_object_id"]] if draft["assigned_object_type"] == self.interface else []
            for key, draft in moving.items()
        }
        return {
            key: [*direct[key], *inside.get(draft["nat_inside_id"], ("", 0, []))[2]] for key, draft in moving.items()
        }

    def _addresses(
        self, uow: UnitOfWork, keys: Iterable[Any], *, locked: bool = False
    ) -> dict[Any, tuple[str, int, list[Any]]]:
        """By id: the address as text, its IP version, and its interfaces, directly or through its inside address (NAT).

        ``locked`` locks the rows of the addresses FOR SHARE until the transaction ends, so that no other transaction
        reassigns or deletes them.
        """
        table, inner = IPAddress.__table__, IPAddress.__table__.alias()
        joined = table.outerjoin(inner, inner.c.id == table.c.nat_inside_id)
        interface_ids = [
            sa.case((source.c.assigned_object_type == self.interface, source.c.assigned_object_id))
            for source in (table, inner)
        ]
        statement = sa.select(table.c.id, table.c.address, table.c.ip_version, *interface_ids)
        statement = statement.select_from(joined).where(table.c.id.in_(list(keys)))
        if locked:
            statement = statement.order_by(table.c.id).with_for_update(of=table, read=True)
        return {
            key: (address, version, [interface for interface in interfaces if interface is not None])
            for key, address, version, *interfaces in uow.execute(statement)
        }


def _of_devices(uow: UnitOfWork, interfaces: Collection[Any]) -> dict[Any, Collection[Any]]:
    """By interface: its device, and the master of the device's virtual chassis unless it is a management interface."""
    port, device, chassis = Interface.__table__, Device.__table__, VirtualChassis.__table__
    joined = port.join(device, device.c.id == port.c.device_id)
    joined = joined.outerjoin(chassis, chassis.c.id == device.c.virtual_chassis_id)
    master = sa.case((~port.c.mgmt_only, chassis.c.master_id))
    selected = sa.select(port.c.id, device.c.id, master).select_from(joined)
    statement = selected.where(port.c.id.in_(list(interfaces))).order_by(port.c.id)
    statement = statement.with_for_update(of=port, read=True)  # the interface stays on its device meanwhile
    return {key: owners for key, *owners in uow.execute(statement)}


def _of_members(uow: UnitOfWork, keys: Sequence[Any]) -> Any:
    """SELECT of devices, and the devices with a primary address on their interfaces."""
    port = Interface.__table__
    on_devices = sa.select(port.c.id).where(port.c.device_id.in_(list(keys)))
    found = device_addresses.owners_by_interface(lambda interface: interface.in_(on_devices)).subquery()
    interface, owner = found.c
    return sa.select(port.c.device_id, owner).select_from(found).join(port, port.c.id == interface)


device_addresses = PrimaryAddressOwner(
    Device,
    INTERFACE,
    _of_devices,
    "device",
    "device",
    family_first=True,
    interface_columns=("device_id", "mgmt_only"),
    further_reads=(
        related_by("dcim.device", "virtual_chassis_id", pairs=_of_members),
        through("virtual_chassis", "master_id"),
    ),
)
