"""Dry runs: writes in a savepoint that is rolled back, with a preview of the changes and of what would follow them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from netinv_core.auth import permissions
from netinv_core.changelog.models import CREATE, UPDATE
from netinv_core.errors import Denied

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change, ChangeSet
    from netinv_core.endpoint import Endpoint
    from netinv_core.records import ObjectWarning
    from netinv_core.uow import UnitOfWork

MAX_LISTED = 1000  # changes, and effects of each name, in a preview; the counts include the others
_UNCOMPARED = frozenset({"last_updated"})
ObjectName = tuple[str, str]  # label and id


class ObjectOfChange(Protocol):
    """The object that a change, or a proposal of one, is about."""

    @property
    def endpoint(self) -> Endpoint: ...
    @property
    def key(self) -> Any: ...


@dataclasses.dataclass(frozen=True)
class Effects:
    """Effects of changes after their commit, such as webhooks to send (hook ``netinv_change_effects``).

    ``listed`` are members of the preview with ``object_type`` and ``object_id`` of the changed object. ``count`` may be
    greater: an effect is counted, and not listed, if the user may not view its cause.
    """

    count: int
    listed: Sequence[Mapping[str, Any]]


@dataclasses.dataclass
class Preview:
    """Changes of a dry run, complete at its end.

    ``changes`` has the changed objects that the user may view, ``effects`` the lists of :class:`Effects` by name; each
    has at most :data:`MAX_LISTED` entries. ``counts`` has the numbers of all changes and effects. ``denied`` is what
    the guards of changes would refuse them with; they can still be proposed. ``warnings`` are about objects that the
    request writes.

    ``unlisted`` counts the changes that ``changes`` lacks, by action and label: those beyond the maximum, and those of
    models whose objects the user may all view, but for the ones that their owners alone see.
    """

    warnings: list[ObjectWarning] = dataclasses.field(default_factory=list)
    changes: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    effects: dict[str, list[Mapping[str, Any]]] = dataclasses.field(default_factory=dict)
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    denied: Denied | None = None
    unlisted: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)


@contextlib.contextmanager
def dry_run(uow: UnitOfWork, *, guarded: bool = False) -> Iterator[Preview]:
    """Runs the writes of the block in a savepoint and rolls it back (:meth:`UnitOfWork.rolled_back`).

    The change records are written and the hooks called before the rollback, so errors of either are raised here too.
    What guards of changes refuse is an error where it is ``guarded``, else a part of the preview.

    :raises Denied: for a ``guarded`` dry run that a guard refuses
    """
    preview = Preview()
    with uow.rolled_back() as change_set:
        yield preview
        if not guarded:
            preview.denied = _ask_guards(uow, change_set)
        changes = change_set.write(uow, guarded=guarded)
        preview.warnings += uow.warnings
        recorded = [change for change in changes if change.record is not None]
        named = uow.registry.results("netinv_change_effects", _check_effects, uow=uow, changes=recorded)
        effects = {name: entry for entries in named for name, entry in entries.items()}
        visible = visible_changes(uow, [change for change in changes if change.action == CREATE])
    # Changed and deleted objects are visible as they are without the changes.
    visible |= visible_changes(uow, [change for change in changes if change.action != CREATE])
    preview.counts = {
        "changes": len(changes) + sum(change_set.updated_in_bulk.values()),
        **{name: entry.count for name, entry in effects.items()},
    }
    listed = [change for change in changes if name_of(change) in visible]
    preview.changes += [_describe_change(change) for change in listed[:MAX_LISTED]]
    others = [change for change in changes if name_of(change) not in visible]
    whole = {endpoint for endpoint in {change.endpoint for change in others} if permissions.all_granted(uow, endpoint)}
    counted = [*listed[MAX_LISTED:], *(change for change in others if change.endpoint in whole)]
    preview.unlisted.update((change.action, change.endpoint.label) for change in counted)
    for endpoint, count in change_set.updated_in_bulk.items():
        if permissions.all_granted(uow, endpoint):
            preview.unlisted[UPDATE, endpoint.label] += count
    for name, entry in effects.items():
        permitted = [item for item in entry.listed if (item["object_type"], item["object_id"]) in visible]
        preview.effects[name] = permitted[:MAX_LISTED]


def _ask_guards(uow: UnitOfWork, change_set: ChangeSet) -> Denied | None:
    """Has the guards look at the changes, which then pass them; returns the error of one that refuses them."""
    try:
        change_set.check(uow)
    except Denied as error:
        for change in change_set.pending:
            change.checked = True
        return error
    return None


def _check_effects(effects: Mapping[str, Effects]) -> Mapping[str, Effects]:
    """The effects that a package names.

    :raises TypeError: for anything else
    """
    if not all(isinstance(entry, Effects) for entry in effects.values()):
        raise TypeError("netinv_change_effects returns something else than Effects by name")
    return effects


def visible_changes(uow: UnitOfWork, changes: Sequence[ObjectOfChange]) -> set[ObjectName]:
    """Returns the names of the changed objects that the user may view; at most one statement for each model."""
    keys: dict[Endpoint, list[Any]] = {}
    for change in changes:
        keys.setdefault(change.endpoint, []).append(change.key)
    return {
        (endpoint.label, str(key))
        for endpoint, changed in keys.items()
        for key in permissions.visible_ids(uow, endpoint, changed)
    }


def name_of(change: ObjectOfChange) -> ObjectName:
    """The label and the id of a changed object, as text."""
    return change.endpoint.label, str(change.key)


def _describe_change(change: Change) -> dict[str, Any]:
    """Returns the entry of a change: representations before and after, and the members that differ."""
    if change.record is None:
        change.mask()  # recorded changes are masked already
    before, after = change.before or {}, change.after or {}
    names = [name for name in {**before, **after} if name not in _UNCOMPARED and before.get(name) != after.get(name)]
    return {
        "action": change.action,
        "object_type": change.endpoint.label,
        "object_id": str(change.key),
        "display": (after or before).get("display", change.name),
        "before": change.before,
        "after": change.after,
        "fields": names,
    }
