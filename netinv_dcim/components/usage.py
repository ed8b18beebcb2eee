"""Use of components: the objects that refer to them, such as cables, IP addresses and front ports of a rear port."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import table_of
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.delete import generic_cascades
from netinv_dcim.components.device_bays import DeviceBay
from netinv_dcim.components.kinds import KINDS
from netinv_dcim.devices import Device

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class Referrer:
    """An object that refers to a component: its content type, its id, and the foreign key."""

    label: str
    id: Any
    attribute: str


def referrers_of(uow: UnitOfWork, components: Collection[Any]) -> dict[Any, list[Referrer]]:
    """The objects that refer to components of any kind, by the id of the component; one statement.

    Objects that the user may not view are included: they are deleted along with the component, or lose it.
    """
    referrers: dict[Any, list[Referrer]] = {}
    if not components:
        return referrers
    names, statement = _statement(uow.registry)
    for part, component, key in uow.execute(statement, {"keys": list(components)}).tuples():
        label, attribute = names[part]
        referrers.setdefault(component, []).append(Referrer(label, key, attribute))
    return referrers


@cached_in_registry
def _statement(registry: Registry) -> tuple[list[tuple[str, str]], Any]:
    """The UNION ALL that finds the referrers of ``keys``, after the content type and foreign key of each part of it."""
    names: list[tuple[str, str]] = []
    selects: list[Any] = []
    for label, attribute, key, component, conditions in _references(registry):
        part: Any = sa.literal_column(str(len(names)))
        limit = in_parameter(component)
        selects.append(sa.select(part, component, key).where(limit, *conditions))
        names.append((label, attribute))
    return names, sa.union_all(*selects)


def _references(registry: Registry) -> Iterator[tuple[str, str, Any, Any, list[Any]]]:
    """The references to components of any kind: content type and foreign key, then the columns of the id of the
    referrer and of the component, and conditions.
    """
    endpoints = [registry.of_model(kind.component) for kind in KINDS]
    for endpoint in endpoints:
        for child, attribute, _ in endpoint.incoming_foreign_keys:
            yield child.label, attribute, child.table.c.id, child.table.c[attribute], []
    for cascade in generic_cascades(registry):
        labels = [endpoint.label for endpoint in endpoints if cascade.applies(endpoint)]
        if cascade.label is not None and labels:
            table = cascade.table
            of_component = table.c[cascade.type_column].in_(labels)
            yield cascade.label, cascade.id_column, table.c.id, table.c[cascade.id_column], [of_component]
    bay = table_of(DeviceBay)
    device = registry.of_model(Device).label
    yield device, "parent_bay", bay.c.installed_device_id, bay.c.id, [bay.c.installed_device_id.is_not(None)]
