"""Plans that make devices like their type: what each difference leads to, by itself or as the user chooses.

A missing component is added, a different one changed, an additional one removed. Kept are additional components that
something uses (a cable, an address, a child), and the mapping of ports that are in use.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import operator
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_dcim.components.differences import (
    ADDITIONAL,
    DIFFERENT,
    MISSING,
    NOT_COMPARED,
    Difference,
    TypeAndDevice,
    differences,
)
from netinv_dcim.components.instantiation import template_rows
from netinv_dcim.components.kinds import KINDS, ComponentKind, copied_fields, references_of
from netinv_dcim.components.usage import referrers_of

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

ADD, CHANGE, RENAME, REMOVE, KEEP = "add", "change", "rename", "remove", "keep"
ACTIONS = (ADD, CHANGE, RENAME, REMOVE, KEEP)
APPLY = "apply"
_ACTION_OF = {MISSING: ADD, DIFFERENT: CHANGE, ADDITIONAL: REMOVE}


@dataclasses.dataclass(frozen=True)
class PlanChoice:
    """A choice of the user for the components of a device, a kind and a name; ``None`` stands for all of them.

    ``action`` is ``apply``, ``keep`` or ``rename``. By the last the component takes the ``new_name`` where the device
    lacks a component of that name, and nothing is chosen elsewhere.
    """

    action: str
    device: Any = None
    kind: ComponentKind | None = None
    name: str | None = None
    new_name: str | None = None


@dataclasses.dataclass
class PlanRow:
    """A difference of a device, and the action that it leads to.

    ``used_by`` has the content types of what uses the component. A component that is renamed also takes the ``fields``
    of the template of its ``new_name``, whose id is ``template_id``.
    """

    device: Any
    difference: Difference
    action: str
    fields: Mapping[str, TypeAndDevice]
    template_id: Any
    used_by: Sequence[str] = ()
    new_name: str | None = None

    @property
    def kind(self) -> ComponentKind:
        """The kind of the component."""
        return self.difference.kind

    @property
    def target_name(self) -> str:
        """The name of the component once the plan is applied."""
        return self.new_name or self.difference.name


@dataclasses.dataclass(frozen=True)
class Template:
    """A template: its id, the values that are copied, and the names of the templates that it refers to."""

    id: Any
    values: Mapping[str, Any]
    references: Mapping[str, str | None]


@dataclasses.dataclass(frozen=True)
class TypePlan:
    """The rows of a plan, in the order of devices, kinds and names, and the templates of the type by kind and name."""

    rows: Sequence[PlanRow]
    templates: Mapping[tuple[ComponentKind, str], Template]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows of each action."""
        numbers = collections.Counter(row.action for row in self.rows)
        return {action: numbers[action] for action in ACTIONS}


def plan(
    uow: UnitOfWork, device_type: Any, devices: Sequence[Any], choices: Sequence[PlanChoice] = (), *, locked: bool
) -> TypePlan:
    """The plan for devices of a type. ``locked`` components stay as they are until the transaction ends.

    The number of statements depends on the number of kinds only.
    """
    found = differences(uow, devices)
    templates = templates_of(uow, device_type)
    chosen = _Choices(choices)
    rows = []
    for device in devices:
        # Without those of templates that another transaction has deleted since.
        lasting = [
            item for item in found.get(device, ()) if item.state == ADDITIONAL or (item.kind, item.name) in templates
        ]
        rows += _rows_of(device, lasting, chosen)
    _add_fields_of_renamed(uow, rows, templates)
    _decide(uow, rows, chosen, locked=locked)
    return TypePlan(rows, templates)


def templates_of(uow: UnitOfWork, device_type: Any) -> dict[tuple[ComponentKind, str], Template]:
    """The templates of a device type by kind and name; one statement."""
    registry = uow.registry
    found: dict[tuple[ComponentKind, str], Template] = {}
    names: dict[Any, str] = {}
    for kind, rows_by_type in zip(KINDS, template_rows(uow, [device_type]), strict=True):
        copied, references = copied_fields(registry, kind), references_of(registry, kind)
        for key, *row in rows_by_type.get(device_type, ()):
            values = dict(zip(copied, row[: len(copied)], strict=True))
            leading = dict(zip(references, map(names.get, row[len(copied) :]), strict=True))
            names[key] = values["name"]
            found[kind, values["name"]] = Template(key, values, leading)
    return found


class _Choices:
    """The choices by what they are about; of several about a component, the last one counts."""

    def __init__(self, choices: Sequence[PlanChoice]) -> None:
        self._choices = {(item.device, item.kind, item.name): (place, item) for place, item in enumerate(choices)}

    def of(self, device: Any, difference: Difference) -> PlanChoice | None:
        """The choice for a difference."""
        parts = itertools.product((device, None), (difference.kind, None), (difference.name, None))
        found = [self._choices[key] for key in parts if key in self._choices]
        return max(found, key=operator.itemgetter(0))[1] if found else None


def _rows_of(device: Any, found: Sequence[Difference], choices: _Choices) -> list[PlanRow]:
    """The rows of a device, whose actions are those of their states. A component that takes the name of a missing one
    is one row with it.
    """
    missing = {(item.kind, item.name): item for item in found if item.state == MISSING}
    rows = [PlanRow(device, item, _ACTION_OF[item.state], item.fields, item.template_id) for item in found]
    for row in rows:
        choice = choices.of(device, row.difference) if row.action == REMOVE else None
        if choice is None or choice.new_name is None:
            continue
        if (taken := missing.pop((row.kind, choice.new_name), None)) is not None:
            row.action, row.new_name, row.template_id = RENAME, choice.new_name, taken.template_id
    there = {item.template_id for item in missing.values()}
    return [row for row in rows if row.action != ADD or row.template_id in there]


def _add_fields_of_renamed(
    uow: UnitOfWork, rows: Sequence[PlanRow], templates: Mapping[tuple[ComponentKind, str], Template]
) -> None:
    """Sets the fields of renamed components that differ from the template whose name they take."""
    for kind in KINDS:
        renamed = [row for row in rows if row.action == RENAME and row.kind is kind]
        if not renamed:
            continue
        stored = listing.rows_of(uow, kind.component, [row.difference.component_id for row in renamed])
        leading = {
            name: listing.rows_of(uow, other.component, [getattr(item, f"{name}_id") for item in stored.values()])
            for name, other in references_of(uow.registry, kind).items()
        }
        for row in renamed:
            template, component = templates[kind, row.target_name], stored.get(row.difference.component_id)
            if component is None:
                continue  # deleted since
            pairs = {
                name: TypeAndDevice(value, getattr(component, name))
                for name, value in template.values.items()
                if name not in NOT_COMPARED
            }
            for name, targets in leading.items():
                target = targets.get(getattr(component, f"{name}_id"))
                pairs[name] = TypeAndDevice(template.references[name], None if target is None else target.name)
            row.fields = {name: pair for name, pair in pairs.items() if pair.of_type != pair.of_device}


def _decide(uow: UnitOfWork, rows: Sequence[PlanRow], choices: _Choices, *, locked: bool) -> None:
    """Sets the actions of rows that are kept, by choice or because something uses their components.

    What a component is used by does not count if the plan removes it, or leads it elsewhere. So rows are taken in
    reverse order of kinds: what refers to others comes first.
    """
    mapping = {kind: mapping_fields(uow.registry, kind) for kind in KINDS}
    affected = [row for row in rows if row.action == REMOVE or not mapping[row.kind].isdisjoint(row.fields)]
    if locked:
        for kind in KINDS:
            if keys := [row.difference.component_id for row in affected if row.kind is kind]:
                listing.lock(uow, table_of(kind.component), keys)
    referrers = referrers_of(uow, [row.difference.component_id for row in affected])
    gone: set[Any] = set()
    led_elsewhere: set[tuple[Any, str]] = set()
    for row in sorted(rows, key=lambda row: -KINDS.index(row.kind)):
        remaining = [
            item
            for item in referrers.get(row.difference.component_id, ())
            if item.id not in gone and (item.id, item.attribute) not in led_elsewhere
        ]
        row.used_by = sorted({item.label for item in remaining})
        choice = choices.of(row.device, row.difference)
        if choice is not None and choice.action in (APPLY, KEEP):
            row.action = KEEP if choice.action == KEEP else row.action
        elif row.used_by and row.action != RENAME:
            row.action = KEEP
        if row.action == REMOVE:
            gone.add(row.difference.component_id)
        elif row.action in (CHANGE, RENAME):
            led_elsewhere.update((row.difference.component_id, f"{name}_id") for name in row.fields)


def mapping_fields(registry: Registry, kind: ComponentKind) -> frozenset[str]:
    """The fields of a kind that lead to another component: a reference, and the position there."""
    names = references_of(registry, kind)
    return frozenset([*names, *(f"{name}_position" for name in names)])


def names_in(uow: UnitOfWork, kind: ComponentKind, devices: Collection[Any]) -> dict[tuple[Any, str], Any]:
    """The ids of the components of a kind, by device and name; one statement."""
    table = table_of(kind.component)
    statement = sa.select(table.c.device_id, table.c.name, table.c.id)
    statement = statement.where(in_parameter(table.c.device_id))
    return {(device, name): key for device, name, key in uow.execute(statement, {"keys": list(devices)}).tuples()}
