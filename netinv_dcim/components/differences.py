"""Differences between devices and their types: components that are missing, additional, or not as their template.

Components and templates of one name belong together. What a component takes from its template is compared, references
by the names of what they lead to. The same joins find the differences of devices (:func:`differences`), count them
(:func:`counts`) and select devices by them (:func:`differs`).

Virtual interfaces that a device has beyond its type are its configuration, and no difference.

A difference is told to those who may view both sides of it. Where one side is hidden, the other is neither missing nor
additional: it is left out.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.models.base import Base, table_of
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.relations import inner_table
from netinv_core.sql.union import Union
from netinv_dcim.components.kinds import KINDS, ComponentKind, copied_fields, references_of
from netinv_dcim.device_types import DeviceType
from netinv_dcim.devices import Device

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

MISSING, ADDITIONAL, DIFFERENT = "missing", "additional", "different"
# The name is what components are matched by. The description is about the component of the device, not of its type.
NOT_COMPARED = frozenset({"name", "description"})


class TypeAndDevice(NamedTuple):
    """The values of a field in the template and in the component; of a reference the name of what it leads to."""

    of_type: Any
    of_device: Any


@dataclasses.dataclass(frozen=True)
class Difference:
    """A difference of a device from its type; ``fields`` holds those of a component that is different, by name."""

    kind: ComponentKind
    name: str
    state: str
    template_id: Any = None
    component_id: Any = None
    fields: Mapping[str, TypeAndDevice] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class ComparedReference:
    """A reference to another template, or component, of a ``kind``, and aliases of the tables that it leads to."""

    name: str
    kind: ComponentKind
    template: Any
    component: Any

    @property
    def key(self) -> str:
        """The name of the foreign key in both tables."""
        return f"{self.name}_id"


@dataclasses.dataclass(frozen=True, eq=False)
class ComparedKind:
    """A kind of component, aliases of its tables, and what is compared of it."""

    kind: ComponentKind
    template: Any
    component: Any
    fields: Sequence[str]
    references: Sequence[ComparedReference]


@dataclasses.dataclass(frozen=True, eq=False)
class DifferenceSelect:
    """A SELECT of templates without or with a different component, or of ``additional`` components: its parts."""

    compared: ComparedKind
    additional: bool
    source: Any
    conditions: Sequence[Any]


def differences(uow: UnitOfWork, devices: Collection[Any]) -> dict[Any, list[Difference]]:
    """The differences of devices from their types, by the id of the device; devices without any are left out.

    They are in the order of kinds, then of names. One statement.
    """
    device = table_of(Device)
    selects = list(_of_devices(uow, device)) if devices else []
    if not selects:
        return {}
    parts = [(_columns(device, select), select.source, sa.and_(*select.conditions)) for select in selects]
    rows_by_select = Union(parts).rows(uow, {"keys": list(devices)})
    found: dict[Any, list[tuple[tuple[int, str, str], Difference]]] = {}
    for select, rows in zip(selects, rows_by_select, strict=True):
        place = KINDS.index(select.compared.kind)
        for key, name_key, *row in rows:
            difference = _difference(select, row)
            found.setdefault(key, []).append(((place, name_key, difference.name), difference))
    return {key: [item for _, item in sorted(items, key=operator.itemgetter(0))] for key, items in found.items()}


def counts(uow: UnitOfWork, devices: Collection[Any]) -> dict[Any, int]:
    """The numbers of differences by the id of the device; devices without any are left out. One statement."""
    device = table_of(Device)
    counted = sa.select(device.c.id, sa.func.count()).group_by(device.c.id)
    selects = _of_devices(uow, device) if devices else ()
    statements = [counted.select_from(select.source).where(*select.conditions) for select in selects]
    numbers: dict[Any, int] = {}
    rows = uow.execute(sa.union_all(*statements), {"keys": list(devices)}).tuples() if statements else ()
    for key, number in rows:
        numbers[key] = numbers.get(key, 0) + number
    return numbers


def differs(uow: UnitOfWork, device: Any) -> Any:
    """The condition on a table of devices that they differ from their type: two EXISTS for each kind."""
    visible = _visible_types(uow, device)
    if visible is None:
        return sa.false()
    found = [
        sa.select(sa.literal_column("1"))
        .select_from(select.source)
        .where(*select.conditions)
        .correlate(device)
        .exists()
        for select in _selects(uow, device, joined=False)
    ]
    return sa.and_(*visible, sa.or_(sa.false(), *found))


def differing_by_type(uow: UnitOfWork, types: Collection[Any]) -> dict[Any, int]:
    """The numbers of devices that differ from each of these device types, as far as the user may view them; types
    without any are left out. One statement.
    """
    device = table_of(Device)
    limits = _limits(uow, Device, device)
    if limits is None or not types:
        return {}
    of_type = in_parameter(device.c.device_type_id)
    counted = sa.select(device.c.device_type_id, sa.func.count()).where(of_type, differs(uow, device), *limits)
    return dict(uow.execute(counted.group_by(device.c.device_type_id), {"keys": list(types)}).tuples().all())


@cached_in_registry
def compared_kinds(registry: Registry) -> list[ComparedKind]:
    """The fields and references that are compared, by kind of component, with aliases of its tables; cached, as
    aliases take long to make.
    """
    kinds: list[ComparedKind] = []
    for kind in KINDS:
        references = [
            ComparedReference(name, other, _alias(other.template), _alias(other.component))
            for name, other in references_of(registry, kind).items()
        ]
        fields = [name for name in copied_fields(registry, kind) if name not in NOT_COMPARED]
        kinds.append(ComparedKind(kind, _alias(kind.template), _alias(kind.component), fields, references))
    return kinds


def _alias(model: type[Base]) -> Any:
    alias = table_of(model).alias()
    alias.c.keys()  # makes the columns, before threads share them
    return alias


def _of_devices(uow: UnitOfWork, device: Any) -> Iterator[DifferenceSelect]:
    """The SELECTs that find the differences of the devices whose ids are the parameter ``keys``."""
    visible = _visible_types(uow, device)
    if visible is None:
        return
    limits = [in_parameter(device.c.id), *visible]
    for select in _selects(uow, device, joined=True):
        yield dataclasses.replace(select, conditions=[*limits, *select.conditions])


def _selects(uow: UnitOfWork, device: Any, *, joined: bool) -> Iterator[DifferenceSelect]:
    """The SELECTs of each kind that the user may view: joined with the table of devices, or correlated with it."""
    for compared in compared_kinds(uow.registry):
        template, component = compared.template, compared.component
        of_template = _limits(uow, compared.kind.template, template)
        of_component = _limits(uow, compared.kind.component, component)
        if of_template is None or of_component is None:
            continue
        of_type, of_device = template.c.device_type_id == device.c.device_type_id, component.c.device_id == device.c.id
        named = template.c.name == component.c.name
        source = device.join(template, of_type) if joined else template
        source = source.outerjoin(component, sa.and_(of_device, named))
        unlike = []
        for reference in compared.references:
            source, condition = _unlike_reference(uow, source, compared, reference)
            unlike.append(condition)
        unlike += [template.c[name].is_distinct_from(component.c[name]) for name in compared.fields]
        lacking = sa.or_(component.c.id.is_(None), sa.and_(sa.or_(*unlike), *of_component))
        conditions = [lacking, *of_template]
        yield DifferenceSelect(compared, False, source, conditions if joined else [of_type, *conditions])
        source = device.join(component, of_device) if joined else component
        source = source.outerjoin(template, sa.and_(of_type, named))
        conditions = [template.c.id.is_(None), *of_component]
        if configured := sorted(compared.kind.configured):
            conditions.append(component.c.type.not_in(configured))
        yield DifferenceSelect(compared, True, source, conditions if joined else [of_device, *conditions])


def _unlike_reference(
    uow: UnitOfWork, source: Any, compared: ComparedKind, reference: ComparedReference
) -> tuple[Any, Any]:
    """The source joined with what a reference leads to, and the condition that this has other names on both sides.

    References to objects that the user may not view are not compared.
    """
    known: list[Any] = []
    pairs = (
        (compared.template, reference.template, reference.kind.template),
        (compared.component, reference.component, reference.kind.component),
    )
    for side, target, model in pairs:
        limits = permissions.visible(uow, uow.registry.of_model(model), target)
        source = source.outerjoin(target, sa.and_(target.c.id == side.c[reference.key], *limits))
        known += [sa.or_(side.c[reference.key].is_(None), target.c.id.is_not(None))] if limits else []
    return source, sa.and_(reference.template.c.name.is_distinct_from(reference.component.c.name), *known)


def _columns(device: Any, select: DifferenceSelect) -> list[Any]:
    """The columns of a SELECT: device, sort key, name and id, and of templates those of :func:`_difference`."""
    compared = select.compared
    template, component = compared.template, compared.component
    side = component if select.additional else template
    columns = [device.c.id, *(side.c[name] for name in ("name_key", "name", "id"))]
    if not select.additional:
        columns += [component.c.id, *(table.c[name] for name in compared.fields for table in (template, component))]
        for reference in compared.references:
            columns += [template.c[reference.key], reference.template.c.name]
            columns += [component.c[reference.key], reference.component.c.name]
    return columns


def _difference(select: DifferenceSelect, row: Sequence[Any]) -> Difference:
    """The difference in a row, without its device and sort key."""
    compared, name, key = select.compared, *row[:2]
    if select.additional:
        return Difference(compared.kind, name, ADDITIONAL, component_id=key)
    component = row[2]
    if component is None:
        return Difference(compared.kind, name, MISSING, template_id=key)
    values = iter(row[3:])
    fields = {field: TypeAndDevice(next(values), next(values)) for field in compared.fields}
    for reference in compared.references:
        of_type, type_name, of_device, device_name = (next(values) for _ in range(4))
        if (of_type is None) == (type_name is None) and (of_device is None) == (device_name is None):
            fields[reference.name] = TypeAndDevice(type_name, device_name)  # both may be viewed
    unlike = {field: values for field, values in fields.items() if values.of_type != values.of_device}
    return Difference(compared.kind, name, DIFFERENT, key, component, unlike)


def _visible_types(uow: UnitOfWork, device: Any) -> list[Any] | None:
    """The conditions that the user may view the type of a device; ``None`` if none may be viewed."""
    types = inner_table(table_of(DeviceType))
    limits = _limits(uow, DeviceType, types)
    if not limits:
        return limits
    return [device.c.device_type_id.in_(sa.select(types.c.id).where(*limits).correlate(None))]


def _limits(uow: UnitOfWork, model: type[Base], table: Any) -> list[Any] | None:
    """The conditions that the user may view a row; ``None`` if they may view none."""
    try:
        return permissions.limits(uow, uow.registry.of_model(model), "view", table)
    except Denied:
        return None
