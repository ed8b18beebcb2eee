"""Application of plans that make devices like their type: the writes of a plan, in one transaction.

Components that others refer to are added before those, and removed after them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid, error_text, named_errors
from netinv_core.labels import title_of
from netinv_core.sql.plans import plan_of
from netinv_core.write import delete, save
from netinv_dcim.components.kinds import KINDS, ComponentKind, references_of
from netinv_dcim.components.type_plans import ADD, CHANGE, REMOVE, RENAME, PlanRow, TypePlan, names_in
from netinv_dcim.devices import Device

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

POSITIONS = "positions"
Named = Mapping[tuple[Any, str], Any]  # the ids of components by device and name
Advance = Callable[[int], None]


def apply(uow: UnitOfWork, plan: TypePlan, advance: Advance = lambda done: None) -> None:
    """Carries out a plan. ``advance`` is told the number of components that are written so far.

    :raises Invalid: naming the components of all kinds that are refused; what is written has to be rolled back
    :raises Denied: without permission for a component
    :raises Conflict: when something protects a component that is to be removed
    """
    _Application(uow, plan, advance).run()


class _Application:
    """The writes of a plan."""

    def __init__(self, uow: UnitOfWork, plan: TypePlan, advance: Advance) -> None:
        self._uow, self._plan, self._advance = uow, plan, advance
        self._done = 0
        self._targets = {other for kind in KINDS for other in references_of(uow.registry, kind).values()}
        self._named: dict[ComponentKind, Named] = {}
        self._refused: dict[ComponentKind, list[str]] = {}

    def run(self) -> None:
        """Writes the rows. Once a kind is refused, the others are tried, but for those that refer to it."""
        kinds = [kind for kind in KINDS if any(row.kind is kind for row in self._plan.rows)]
        for kind in reversed(kinds):
            if kind not in self._targets:
                self._remove(kind)
        later: list[list[PlanRow]] = []
        for kind in kinds:
            changed = [row for action in (RENAME, CHANGE) for row in self._rows(kind, action)]
            later.append([row for row in changed if _loses_positions(row)])
            self._change(kind, [row for row in changed if not _loses_positions(row)])
            self._add(kind)
        for kind, rows in zip(kinds, later, strict=True):
            self._change(kind, rows)  # once no front port is on these positions
        if self._refused:
            raise Invalid.whole(*(text for texts in self._refused.values() for text in texts))
        for kind in reversed(kinds):
            if kind in self._targets:
                self._remove(kind)

    def _rows(self, kind: ComponentKind, action: str) -> list[PlanRow]:
        return [row for row in self._plan.rows if row.kind is kind and row.action == action]

    def _endpoint(self, kind: ComponentKind) -> Endpoint:
        return self._uow.registry.of_model(kind.component)

    def _remove(self, kind: ComponentKind) -> None:
        """Deletes the components of a kind."""
        rows = self._rows(kind, REMOVE)
        if rows:
            delete.delete(self._uow, self._endpoint(kind), [{"id": row.difference.component_id} for row in rows])
            self._wrote(kind, rows)

    def _change(self, kind: ComponentKind, rows: Sequence[PlanRow]) -> None:
        """Changes and renames components of a kind."""
        if not rows or self._is_hindered(kind):
            return
        bodies = [
            {"id": row.difference.component_id, "name": row.target_name, **self._values(row, row.fields)}
            for row in rows
        ]
        with self._refusals(kind, rows):
            save.update(self._uow, self._endpoint(kind), bodies, partial=True, listed=True)
            self._wrote(kind, rows)

    def _add(self, kind: ComponentKind) -> None:
        """Creates the components of a kind."""
        rows = self._rows(kind, ADD)
        if not rows or self._is_hindered(kind):
            return
        bodies = []
        for row in rows:
            template = self._plan.templates[kind, row.target_name]
            values = self._values(row, {**template.values, **template.references})
            bodies.append({**kind.fixed_values, **values, "device": row.device})
        with self._refusals(kind, rows):
            save.create(self._uow, self._endpoint(kind), bodies)
            self._wrote(kind, rows)

    def _values(self, row: PlanRow, names: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the template of a row in the fields ``names``; references are those to components of the
        device.
        """
        template, references = (
            self._plan.templates[row.kind, row.target_name],
            references_of(self._uow.registry, row.kind),
        )
        values = {name: template.values[name] for name in names if name not in references}
        for name in references.keys() & names.keys():
            target = template.references[name]
            values[name] = None if target is None else self._component(references[name], row.device, target)
        return values

    def _component(self, kind: ComponentKind, device: Any, name: str) -> Any:
        """The id of a component of a device, as it is named by now; ``None`` where there is none."""
        if kind not in self._named:
            devices = {row.device for row in self._plan.rows}
            self._named[kind] = names_in(self._uow, kind, devices)
        return self._named[kind].get((device, name))

    def _wrote(self, kind: ComponentKind, rows: Sequence[PlanRow]) -> None:
        self._named.pop(kind, None)
        self._done += len(rows)
        self._advance(self._done)

    @contextlib.contextmanager
    def _refusals(self, kind: ComponentKind, rows: Sequence[PlanRow]) -> Iterator[None]:
        """Keeps the messages about the components that are refused, with their names."""
        try:
            yield
        except Invalid as error:
            refused = [(row, item) for row, item in zip(rows, error.object_errors or (), strict=False) if item]
            if not refused:
                self._refused[kind] = [error_text(error.body)]
                return
            names = displays(self._uow, {row.device for row, _ in refused})
            word = title_of(self._endpoint(kind))
            named = (
                (f"{word} {row.target_name} of {names.get(row.device, row.device)}", item) for row, item in refused
            )
            self._refused[kind] = named_errors(named)

    def _is_hindered(self, kind: ComponentKind) -> bool:
        """True where components of this kind, or others that it refers to, were refused: what else is said of it would
        follow from that.
        """
        return not self._refused.keys().isdisjoint({kind, *references_of(self._uow.registry, kind).values()})


def displays(uow: UnitOfWork, devices: Collection[Any]) -> dict[Any, str]:
    """The names of devices by id, as they are displayed; one statement."""
    found = plan_of(uow.registry.of_model(Device), "nested").fetch(uow, list(devices))
    return {key: representation["display"] for key, representation in found}


def _loses_positions(row: PlanRow) -> bool:
    """True for a rear port that gets fewer positions."""
    values = row.fields.get(POSITIONS)
    return values is not None and values.of_type < values.of_device
