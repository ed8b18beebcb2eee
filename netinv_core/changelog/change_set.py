"""Change set: the created, updated and deleted objects of a unit of work, written as one change record for each.

A record holds the representation before and after, and is written in the same transaction as the change itself. Several
changes of one object in one unit of work become one.
"""

from __future__ import annotations

import dataclasses
import secrets
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from netinv_core.auth.audit import KINDS, audit_changes
from netinv_core.changelog import guards, sequence
from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.changelog.packing import pack
from netinv_core.changelog.recorder import RelatedInsert, record
from netinv_core.db.engine import json_bytes
from netinv_core.masking import mask_change
from netinv_core.models.base import table_of
from netinv_core.tasks.queue import notify_worker
from netinv_core.wrong_results import WrongResult, without_json_form

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.records import ObjectWarning
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

MAX_ROUNDS = 10  # of the changes of hooks that are told of changes
_NANOSECONDS = 1_000_000  # of a millisecond


@dataclasses.dataclass
class Change:
    """Change of one object; see :class:`ObjectChange`. ``record`` is the id of its row, set when it is written.

    ``checked`` is true once the guards have seen it (:mod:`netinv_core.changelog.guards`). ``unjudged`` is the object
    as the service itself wrote it, until rules of packages have judged it (:mod:`netinv_core.write.written_rules`).
    """

    endpoint: Endpoint
    key: Any
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    object_data: dict[str, Any]
    record: uuid.UUID | None = None
    memberships: Mapping[str, list[str]] | None = None
    bypassed: str | None = None
    checked: bool = False
    unjudged: Draft | None = None

    @property
    def name(self) -> str:
        """Name of the object in the change log."""
        representation = self.after or self.before or {}
        return str(representation.get(self.endpoint.resource.name_attribute or "display", ""))[:200]

    def is_nothing(self, earlier: Change) -> bool:
        """True when this change, merged with an earlier one of the object, has no net effect.

        ``before`` is that of the earlier one.
        """
        if self.action == DELETE:
            return earlier.action == CREATE
        return self.before is not None and self.after is not None and same(self.before, self.after)

    def follow(self, earlier: Change) -> None:
        """Continues an earlier change of the object: from what was before that, with what it has left to be judged."""
        self.before = earlier.before
        if self.action != DELETE:
            self.action = CREATE if earlier.action == CREATE else UPDATE
            if earlier.unjudged is not None and self.unjudged is not None:
                earlier.unjudged.values.update(self.unjudged.values)
                earlier.unjudged.many.update(self.unjudged.many)
            self.unjudged = earlier.unjudged or self.unjudged

    def mask(self) -> None:
        """Masks confidential values; a changed value gets another mask."""
        for name, mask in self.endpoint.masked_columns.items():
            if not any(
                name in representation for representation in (self.before, self.after) if representation is not None
            ):
                continue
            old, new = (self.before or {}).get(name), (self.after or {}).get(name)
            masked_old, masked_new = mask(old), mask(new)
            if self.before is not None:
                self.before = {**self.before, name: masked_old}
            if self.after is not None:
                masked_new = mask_change(old, new, masked_old, masked_new) if self.before is not None else masked_new
                self.after = {**self.after, name: masked_new}
            self.object_data = {**self.object_data, name: (self.after or self.before or {}).get(name)}


def same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """True when the representations differ at most in ``last_updated``."""
    return all(before.get(name) == value for name, value in after.items() if name != "last_updated")


def with_masked(endpoint: Endpoint, representation: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A representation with the stored values of masked fields, to detect changes of them."""
    hidden = {name: row.get(name) for name in endpoint.masked_columns}
    return {**representation, **hidden} if hidden else representation


class ChangeSet:
    """The changes of a unit of work that are not written yet. ``warnings`` are about what was written in it; they stay
    when the changes are written.
    """

    def __init__(self) -> None:
        self.warnings: list[ObjectWarning] = []
        self._changes: dict[tuple[str, Any], Change] = {}
        self._updated_in_bulk: Counter[Endpoint] = Counter()

    def add(self, change: Change) -> None:
        """Adds a change.

        It is merged with an earlier one of the same object; both are dropped if there is no net effect.
        """
        name = (change.endpoint.label, change.key)
        earlier = self._changes.pop(name, None) if change.action == DELETE else self._changes.get(name)
        if earlier is not None:
            change.follow(earlier)
            if change.is_nothing(earlier):
                self._changes.pop(name, None)
                return
        self._changes[name] = change

    @property
    def pending(self) -> list[Change]:
        """The changes, which are not written yet."""
        return list(self._changes.values())

    @property
    def updated_in_bulk(self) -> dict[Endpoint, int]:
        """The numbers of rows that an UPDATE of many has changed without change records, by endpoint."""
        return self._updated_in_bulk

    def keys_of(self, endpoint: Endpoint) -> set[Any]:
        """The ids of the changed objects of an endpoint."""
        return {key for label, key in self._changes if label == endpoint.label}

    def clear(self) -> None:
        """Removes all changes and warnings."""
        self.warnings.clear()
        self._changes.clear()
        self._updated_in_bulk.clear()

    def merge(self, later: ChangeSet) -> None:
        """Adds the changes and warnings of another change set, which are later than these."""
        self.warnings += later.warnings
        for change in later.pending:
            self.add(change)
        self._updated_in_bulk.update(later.updated_in_bulk)

    def check(self, uow: UnitOfWork) -> None:
        """Has the guards of packages look at the changes that they have not seen.

        :raises Denied: for a change that one of them refuses
        """
        guards.check(uow, [change for change in self._changes.values() if not change.checked and _is_recorded(change)])

    def write(self, uow: UnitOfWork, *, guarded: bool = True) -> list[Change]:
        """Inserts the change records and the related rows of packages, and removes the changes; returns them.

        What the hook ``netinv_changes_recorded`` changes is recorded in the same way, and given to the hook again.

        :param guarded: as :meth:`check`
        :raises Denied: as :meth:`check`
        :raises WrongResult: when hooks still change objects after :data:`MAX_ROUNDS`
        """
        written: list[Change] = []
        for _ in range(MAX_ROUNDS):
            if guarded:
                self.check(uow)
            changes, self._changes = list(self._changes.values()), {}
            if any(change.endpoint.label in KINDS for change in changes):
                audit_changes(uow, changes)
            recorded = [change for change in changes if _is_recorded(change)]
            restless = self._record(uow, recorded, len(written)) if recorded else ""
            written += changes
            if not self._changes:
                return written
        message = f"netinv_changes_recorded of the package {restless} changes objects again and again"
        raise WrongResult(f"{message}: {MAX_ROUNDS} times for one unit of work", package=restless)

    def _record(self, uow: UnitOfWork, recorded: Sequence[Change], start: int) -> str:
        """Inserts the records of changes, the first of which has the position ``start``, and the related rows, and
        calls the hook. Returns the last package whose hook changed objects.
        """
        for change, record_id in zip(recorded, new_record_ids(len(recorded)), strict=True):
            change.mask()
            change.record = record_id
        registry, changing = uow.registry, ""
        followers: list[RelatedInsert] = []
        for package, caller in registry.callers("netinv_change_inserts"):
            for result in caller(uow=uow, changes=recorded):
                for insert in result if isinstance(result, Iterable) else [result]:
                    if not isinstance(insert, RelatedInsert):
                        raise WrongResult(f"netinv_change_inserts returns {type(insert).__name__}", package=package)
                    followers.append(insert)
        table = table_of(ObjectChange)
        try:
            rows = _rows(uow, recorded, start)
        except orjson.JSONEncodeError as error:
            raise _of_value(recorded, error) from error
        record(uow, table, rows, followers)
        for package, caller in registry.callers("netinv_changes_recorded"):
            before = len(self._changes)
            caller(uow=uow, changes=recorded)
            changing = package if len(self._changes) > before else changing
        if sequence.are_many(registry, len(recorded)):
            notify_worker(uow, "number_changes")
        return changing


def _of_value(changes: Sequence[Change], error: TypeError) -> TypeError:
    """The error of a representation that JSON cannot hold: that of the plugin that gave the field, if one did."""
    found = (without_json_form(change.endpoint, change.after or change.before, json_bytes) for change in changes)
    return next(filter(None, found), error)


def _is_recorded(change: Change) -> bool:
    """True for changes that have a record."""
    return change.endpoint.resource.recorded and isinstance(change.key, uuid.UUID)


def _rows(uow: UnitOfWork, changes: Sequence[Change], start: int) -> list[dict[str, Any]]:
    """The rows of change records, the first of which has the position ``start``."""
    shared = {"user_id": uow.identity.user_id, "user_name": uow.identity.username, "request_id": uow.request_id}
    return [
        {
            **shared,
            "id": change.record,
            "action": change.action,
            "changed_object_type": change.endpoint.label,
            "changed_object_id": change.key,
            "object_repr": change.name,
            "memberships": change.memberships,
            "bypassed": change.bypassed,
            "position": position,
            "states": pack(change.endpoint.label, change.key, vars(change)),
        }
        for position, change in enumerate(changes, start)
    ]


def new_record_ids(count: int) -> list[uuid.UUID]:
    """Returns UUIDs of version 7 (RFC 9562, method 3): they begin with the time, in quarters of a microsecond. Each has
    a later one than that before, so that they are in order.

    The log is only added to: such ids go to the end of the index of the primary key, whose pages get full. With random
    ones each record is on another page, of which a third stays empty.
    """
    milliseconds, rest = divmod(time.time_ns(), _NANOSECONDS)
    first = (milliseconds << 12) + rest * 4096 // _NANOSECONDS
    bits = secrets.token_bytes(8 * count)
    ids = []
    for position in range(count):
        moment = first + position
        random = int.from_bytes(bits[8 * position : 8 * position + 8], "big") >> 2
        ids.append(uuid.UUID(int=(moment >> 12) << 80 | 7 << 76 | (moment & 0xFFF) << 64 | 2 << 62 | random))
    return ids
