"""Past states of objects: the representation of one object at a point in time, from its change records.

A record has the representation before and after the change. The state at a time is the ``before`` of the first later
record; without a later record it is the present state.
"""

from __future__ import annotations

import datetime
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.models import ChangeNumbering, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.errors import Denied, Gone, Invalid, NotFound
from netinv_core.models.base import now, table_of
from netinv_core.read import listing
from netinv_core.sql import lookups

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PARAMETER = "as_of"
FUTURE = "This time is in the future."
NO_RECORDS = "Changes of these objects are not recorded."
BEFORE_CREATION = "The object did not exist at this time: it was created later."
DELETED = "The object did not exist at this time: it was deleted before."
PRUNED = "Changes of that time are no longer kept (netinv.changelog_retention)."
Representation = dict[str, Any]
_TIMES = frozenset({"created", "last_updated"})  # members that tell whether the state is known

_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)


def has_history(endpoint: Endpoint) -> bool:
    """True for resources whose objects have change records."""
    return endpoint.resource.recorded and endpoint.key_type is uuid.UUID and endpoint.resource.of is None


def moment_of(endpoint: Endpoint, text: str) -> datetime.datetime:
    """Parses a point in time (ISO 8601; UTC without an offset).

    :raises Invalid: for other text, a time in the future, and resources without change records
    """
    if not has_history(endpoint):
        raise Invalid.field(PARAMETER, NO_RECORDS)
    try:
        moment: datetime.datetime = lookups.convert(_change.c.time, text.replace(" ", "+") if "T" in text else text)
    except ValueError as error:
        raise Invalid.field(PARAMETER, str(error)) from None
    if moment > now():
        raise Invalid.field(PARAMETER, FUTURE)
    return moment


def state_at(
    uow: UnitOfWork,
    endpoint: Endpoint,
    key: uuid.UUID,
    moment: datetime.datetime,
    parameters: listing.Parameters = (),
    without: frozenset[str] = frozenset(),
) -> Representation:
    """Returns the representation of an object at a point in time; at most five statements.

    It takes the permission to view the object as it is now, and the change record that it is read from. Of a deleted
    object, it takes the permission to view every object of the model. Nested objects are as the record has them.

    :raises NotFound: when the user may not view the object, before its creation and after its deletion
    :raises Denied: when the user may not view the change record
    :raises Gone: when change records after this time were pruned and the state is unknown
    """
    present = _present(uow, endpoint, key, parameters, without)  # first: what changes meanwhile has a later record
    record = _first_record_after(uow, endpoint, key, moment)
    state = present if record is None else record.before
    if state is None:
        is_created_later = record is not None and _is_created_after(record.after, moment)
        if is_created_later or not _is_pruned(uow, moment):
            raise NotFound(DELETED if record is None else BEFORE_CREATION)
        raise Gone(PRUNED)
    if _is_created_after(state, moment):
        raise NotFound(BEFORE_CREATION)
    if not _is_unchanged_since(state, moment) and _is_pruned(uow, moment):
        raise Gone(PRUNED)
    return {name: value for name, value in state.items() if name not in without}


def _present(
    uow: UnitOfWork, endpoint: Endpoint, key: uuid.UUID, parameters: listing.Parameters, without: frozenset[str]
) -> Representation | None:
    """Returns the present representation; ``None`` for a deleted object whose past the user may view.

    :raises NotFound: when the user may not view the object
    """
    try:
        return listing.detail(uow, endpoint, key, parameters, without=without - _TIMES)
    except NotFound:
        is_limited = bool(permissions.limits(uow, endpoint, "view", endpoint.table))
        table = endpoint.table
        if is_limited or uow.execute(sa.select(table.c.id).where(table.c.id == key)).first() is not None:
            raise
    return None


def _first_record_after(uow: UnitOfWork, endpoint: Endpoint, key: uuid.UUID, moment: datetime.datetime) -> Any:
    """Returns the first change record of an object after a point in time, ``None`` without one; one statement.

    :raises Denied: when the user may not view it
    """
    permitted = sa.and_(sa.true(), *permissions.limits(uow, uow.registry.of_model(ObjectChange), "view", _change))
    statement = sa.select(*record_columns(("action", "before", "after")), permitted.label("permitted")).where(
        _change.c.changed_object_type == endpoint.label,
        _change.c.changed_object_id == key,
        _change.c.time > moment,
    )
    row = uow.execute(statement.order_by(_change.c.time, _change.c.position).limit(1)).first()
    if row is not None and not row.permitted:
        raise Denied()
    return row


def _is_created_after(state: Representation | None, moment: datetime.datetime) -> bool:
    """True for a state of an object that was created on a later day; an object that was restored keeps its day."""
    created = (state or {}).get("created")
    if not created:
        return False
    day = created if isinstance(created, datetime.date) else datetime.date.fromisoformat(str(created)[:10])
    return day > moment.date()


def _is_unchanged_since(state: Representation, moment: datetime.datetime) -> bool:
    """True for a state that was written before a point in time, so that no change between is missing."""
    written = state.get("last_updated")
    if written is None:
        return False
    time = written if isinstance(written, datetime.datetime) else datetime.datetime.fromisoformat(str(written))
    return time <= moment


def _is_pruned(uow: UnitOfWork, moment: datetime.datetime) -> bool:
    """True when change records of a later time than this may have been pruned; one statement."""
    earliest = sa.select(sa.func.min(_change.c.time)).scalar_subquery()
    pruned, first = uow.execute(sa.select(sa.select(_numbering.c.pruned).scalar_subquery(), earliest)).one()
    return bool(pruned) and (first is None or moment < first)
