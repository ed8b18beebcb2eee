"""Primary addresses of virtual machines: they are assigned to one of the machine's own interfaces."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from netinv_core.uow import UnitOfWork
from netinv_ipam.addresses import VM_INTERFACE
from netinv_ipam.primary import PrimaryAddressOwner
from netinv_virt.interfaces import VMInterface
from netinv_virt.virtual_machines import VirtualMachine


def _owners(uow: UnitOfWork, interfaces: Collection[Any]) -> dict[Any, Collection[Any]]:
    """The machine each interface belongs to."""
    table = VMInterface.__table__
    statement = sa.select(table.c.id, table.c.virtual_machine_id).where(table.c.id.in_(interfaces))
    return {key: (machine,) for key, machine in uow.execute(statement)}


machine_addresses = PrimaryAddressOwner(VirtualMachine, VM_INTERFACE, _owners, "virtual machine", "VM")
