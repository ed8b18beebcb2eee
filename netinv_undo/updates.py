"""Updates of an undo: former values, written model by model.

Objects go along with others: devices with their rack, VLANs with their group. What goes along cannot go before what
leads it, and which of two models leads is up to their rules. So what is refused waits for the others, and finds
afterwards that it was taken along, or that nothing stands against it any more.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.changelog.differences import is_equal, members
from netinv_core.changelog.models import UPDATE
from netinv_core.db.engine import as_stored
from netinv_core.errors import Denied
from netinv_core.sql.plans import plan_of
from netinv_undo.net_changes import NetChange
from netinv_undo.obstacles import Restoration, by_endpoint, refuse_led
from netinv_undo.ordering import moment
from netinv_undo.recreation import update
from netinv_undo.refusals import Refusals, RevertRefused, combine

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

Values = dict[uuid.UUID, dict[str, Any]]


class Updates:
    """The updates of an undo. ``advanced`` is called with the number of objects that are written.

    ``is_current`` is true while nothing is written since the values of the restorations were found.
    """

    def __init__(
        self, uow: UnitOfWork, restorations: Iterable[Restoration], advanced: Callable[[int], None], *, is_current: bool
    ) -> None:
        self._uow, self._advanced, self._is_current = uow, advanced, is_current
        self._restoration_of = {item.change: item for item in restorations if item.change.action == UPDATE}

    def write(self, changes: Iterable[NetChange]) -> None:
        """Writes the former values of objects, the last changed model first.

        :raises Denied: without permission for one of them
        :raises RevertRefused: with what stands against each of the models that remain
        """
        own = [change for change in changes if not self._restoration_of[change].is_led]
        waiting = list(by_endpoint(sorted(own, key=lambda change: moment(change.records[0]), reverse=True)).values())
        while waiting:
            refused: list[tuple[list[NetChange], Denied | RevertRefused]] = []
            for group in waiting:
                try:
                    with self._uow.savepoint() if len(waiting) > 1 else contextlib.nullcontext():
                        self._write(group, self._read_remaining(group))
                except (Denied, RevertRefused) as error:
                    refused.append((group, error))
                else:
                    self._advanced(len(group))
            if len(refused) == len(waiting):
                raise combine([error for _, error in refused])
            waiting = [group for group, _ in refused]

    def _write(self, group: Sequence[NetChange], values: Values) -> None:
        """Writes values of objects of one model."""
        changes = [change for change in group if change.key in values]
        if changes:
            update(self._uow, changes[0].endpoint, {change.key: values[change.key] for change in changes}, changes)
            self._is_current = False

    def _read_remaining(self, group: Sequence[NetChange]) -> Values:
        """The values of objects of one model that they do not have yet."""
        values: Values = {change.key: dict(self._restoration_of[change].values) for change in group}
        if self._is_current:
            return values
        endpoint = group[0].endpoint
        current = {key: as_stored(item) for key, item in plan_of(endpoint).fetch(self._uow, list(values))}
        for change in group:
            before, now = members(endpoint, change.before), members(endpoint, current.get(change.key))
            differing = {
                name: value
                for name, value in values[change.key].items()
                if not is_equal(endpoint, name, before.get(name), now.get(name))
            }
            values[change.key] = differing
        return {key: differing for key, differing in values.items() if differing}

    def settle(self) -> None:
        """Writes again what the changes of other objects have overwritten since.

        :raises Denied: for a led object that the other changes did not give its former values
        :raises RevertRefused: for one that the user may not view
        """
        refusals = Refusals()
        for group in by_endpoint(self._restoration_of).values():
            remaining = self._read_remaining(group)
            self._write([change for change in group if not self._restoration_of[change].is_led], remaining)
            for change in group:
                item = self._restoration_of[change]
                if item.is_led and change.key in remaining:
                    refuse_led(refusals, change, item.denied)
        self._advanced(sum(item.is_led for item in self._restoration_of.values()))
        refusals.raise_any()
