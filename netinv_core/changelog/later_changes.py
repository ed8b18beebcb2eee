"""Changes of objects after a point in time, field by field: for conflicts of writes and of reverts."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.differences import FieldDifference, differences, is_equal, members
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import table_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_change = table_of(ObjectChange)
_COLUMNS = record_columns(
    (
        "id",
        "time",
        "user_name",
        "request_id",
        "action",
        "changed_object_type",
        "changed_object_id",
        "before",
        "after",
    )
)


@dataclasses.dataclass(frozen=True)
class ChangeSummary:
    """A change record in short, as answers name it."""

    id: uuid.UUID
    time: datetime.datetime
    user_name: str
    request_id: uuid.UUID


@dataclasses.dataclass(frozen=True)
class FieldChange(FieldDifference):
    """The changes of a field since a point in time.

    ``before`` is the value before the first of them, ``after`` the value after the last one, ``change`` the last one.
    """

    change: ChangeSummary


def changes_since(
    uow: UnitOfWork, endpoint: Endpoint, key: uuid.UUID, last_updated: datetime.datetime
) -> dict[str, FieldChange]:
    """Returns the fields of an object that changed after its version of ``last_updated``, by name; one statement.

    For the merge of a form with what others have saved meanwhile. A deletion is a change of every field.
    """
    return changes_since_versions(uow, endpoint, {key: last_updated})[key]


def changes_since_versions(
    uow: UnitOfWork, endpoint: Endpoint, versions: Mapping[uuid.UUID, datetime.datetime]
) -> dict[uuid.UUID, dict[str, FieldChange]]:
    """Returns the same for several objects, each with its version; one statement."""
    if not versions:
        return {}
    statement = sa.select(*_COLUMNS).where(
        in_parameter(_change.c.changed_object_id),
        _change.c.changed_object_type == endpoint.label,
        _change.c.time >= min(versions.values()),
    )
    changed: dict[uuid.UUID, dict[str, FieldChange]] = {key: {} for key in versions}
    for row in uow.execute(statement.order_by(_change.c.time, _change.c.position), {"keys": list(versions)}):
        version, fields = versions[row.changed_object_id], changed[row.changed_object_id]
        if row.time < version or _is_version(row.after, version):
            continue
        for item in differences(uow.registry, endpoint.label, row.before, row.after):
            first = fields.get(item.field, item)
            fields[item.field] = FieldChange(
                item.field, item.label, first.before, item.after, first.before_text, item.after_text, summary_of(row)
            )
    return {
        key: {name: item for name, item in fields.items() if not is_equal(endpoint, name, item.before, item.after)}
        for key, fields in changed.items()
    }


def _is_version(after: Mapping[str, Any] | None, last_updated: datetime.datetime) -> bool:
    """True for the record of the change that produced this version, or of an earlier one.

    A record's own time is that of its commit, which is later.
    """
    stored = (after or {}).get("last_updated")
    return stored is not None and datetime.datetime.fromisoformat(stored) <= last_updated


def summary_of(row: Any) -> ChangeSummary:
    """Returns the summary of a row of the change log."""
    return ChangeSummary(row.id, row.time, row.user_name, row.request_id)


class LaterChanges:
    """The change records of some objects from a time on that the user may view, newest first; one statement."""

    def __init__(
        self, uow: UnitOfWork, keys: Collection[uuid.UUID], since: datetime.datetime, without: Collection[uuid.UUID]
    ) -> None:
        self._registry = uow.registry
        endpoint = uow.registry.of_model(ObjectChange)
        statement = sa.select(*_COLUMNS).where(
            in_parameter(_change.c.changed_object_id),
            _change.c.time >= since,
            *permissions.visible(uow, endpoint, _change),
        )
        ordered = statement.order_by(_change.c.time.desc(), _change.c.position.desc())
        self._rows: dict[tuple[str, uuid.UUID], list[Any]] = {}
        for row in uow.execute(ordered, {"keys": list(keys)}) if keys else ():
            if row.id not in without:
                self._rows.setdefault((row.changed_object_type, row.changed_object_id), []).append(row)

    def of_object(self, label: str, key: uuid.UUID, action: str) -> ChangeSummary | None:
        """Returns the latest record of an object with this action."""
        rows = self._rows.get((label, key), ())
        return next((summary_of(row) for row in rows if row.action == action), None)

    def of_field(self, endpoint: Endpoint, key: uuid.UUID, name: str) -> ChangeSummary | None:
        """Returns the latest record of an object in which a field changed."""
        for row in self._rows.get((endpoint.label, key), ()):
            before, after = members(endpoint, row.before).get(name), members(endpoint, row.after).get(name)
            if not is_equal(endpoint, name, before, after):
                return summary_of(row)
        return None
