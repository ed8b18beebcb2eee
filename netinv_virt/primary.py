"""Primary addresses of virtual machines. A primary address is assigned to an interface of the machine."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_ipam.addresses import VM_INTERFACE
from netinv_ipam.primary import PrimaryAddressOwner
from netinv_virt.interfaces import VMInterface
from netinv_virt.virtual_machines import VirtualMachine

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork


def _machines_of(uow: UnitOfWork, interfaces: Collection[Any]) -> dict[Any, Collection[Any]]:
    """Returns the machine of each interface, as a tuple of one id, by the id of the interface."""
    table = VMInterface.__table__
    statement = sa.select(table.c.id, table.c.virtual_machine_id).where(table.c.id.in_(interfaces))
    return {key: (machine,) for key, machine in uow.execute(statement)}


machine_addresses = PrimaryAddressOwner(
    VirtualMachine,
    VM_INTERFACE,
    _machines_of,
    "virtual machine",
    "VM",
    interface_columns=("virtual_machine_id",),
)
