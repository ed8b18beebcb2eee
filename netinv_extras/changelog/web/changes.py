"""Change records for pages: what changed by field, who, with what else in the request, and to whom it was delivered."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import operator
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from markupsafe import Markup

from netinv_core.auth import permissions
from netinv_core.changelog.models import ACTIONS, CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.db.expressions import in_parameter
from netinv_core.labels import title_of
from netinv_core.models.base import table_of
from netinv_core.read.names import recorded_name
from netinv_core.read.past_states import PARAMETER as AS_OF
from netinv_core.read.past_states import has_history
from netinv_core.sql.plans import named_objects
from netinv_extras.changelog.web.differences import Sentence, sentences_of
from netinv_extras.webhooks.deliveries import LABEL as DELIVERY
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_extras.webhooks.models import Webhook
from netinv_web.markup import time_markup
from netinv_web.menu import may
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CHANGE = "extras.objectchange"
# What the user needs permission for to undo an action.
PERMISSION_TO_UNDO = {CREATE: "delete", UPDATE: "change", DELETE: "add"}
_change, _delivery, _webhook = table_of(ObjectChange), table_of(WebhookDelivery), table_of(Webhook)
_COLUMNS = (
    "id",
    "time",
    "user_name",
    "request_id",
    "action",
    "changed_object_type",
    "changed_object_id",
    "object_repr",
    "bypassed",
    "before",
    "after",
)


@dataclasses.dataclass(frozen=True)
class Delivery:
    """A message to a webhook about a change: its name, state and page."""

    name: str
    state: str
    path: str


@dataclasses.dataclass(frozen=True)
class ShownChange:
    """A change record as a page shows it.

    ``path`` is the page of the object, ``state_path`` that of its representation after the change; blank when there is
    none. ``before`` and ``after`` are the recorded representations, or null.
    """

    id: uuid.UUID
    time: Markup
    user_name: str
    request_id: uuid.UUID
    action: str
    model: str
    object_name: str
    path: str
    sentences: Sequence[Sentence]
    may_undo: bool
    before: Any
    after: Any
    deliveries: Sequence[Delivery] = ()
    state_path: str = ""
    bypassed: str = ""

    @property
    def action_label(self) -> str:
        """The action as a word in lower case: ``created``."""
        return ACTIONS.labels[self.action].lower()


@dataclasses.dataclass(frozen=True)
class RequestGroup:
    """Consecutive changes of one request; ``count`` is the number of all its changes that the user may view."""

    request_id: uuid.UUID
    changes: Sequence[ShownChange]
    count: int

    @property
    def first(self) -> ShownChange:
        """The change that stands for the time and user of the group."""
        return self.changes[0]

    @property
    def may_undo(self) -> bool:
        """True when there are several changes, each of which the user may undo as far as it is shown."""
        return self.count > 1 and all(change.may_undo for change in self.changes)


def load(uow: UnitOfWork, keys: Sequence[Any], *, visible: bool | None = None) -> list[ShownChange]:
    """The changes with these ids, in order: three statements, for records, names of objects, and deliveries.

    With ``visible`` it is known whether the user sees the changed objects, and they are not read.
    """
    if not keys:
        return []
    statement = sa.select(*record_columns(_COLUMNS)).where(in_parameter(_change.c.id))
    rows = {row.id: row for row in uow.execute(statement, {"keys": list(keys)})}
    pairs = {(row.changed_object_type, row.changed_object_id) for row in rows.values()}
    existing = named_objects(uow, "nested", pairs, permissions.visible_for(uow)) if visible is None else {}
    existing |= dict.fromkeys(pairs if visible else ())
    deliveries = _deliveries(uow, keys)
    return [_represent(uow, rows[key], existing, deliveries.get(key, ())) for key in keys if key in rows]


def _represent(uow: UnitOfWork, row: Any, existing: Mapping[Any, Any], deliveries: Sequence[Delivery]) -> ShownChange:
    label, key = row.changed_object_type, row.changed_object_id
    endpoint = uow.registry.get(label)
    exists = endpoint is not None and (label, key) in existing
    return ShownChange(
        row.id,
        time_markup(row.time),
        row.user_name,
        row.request_id,
        row.action,
        label if endpoint is None else title_of(endpoint),
        recorded_name(endpoint, row.before, row.after, row.object_repr),
        object_path(endpoint, key) if endpoint is not None and exists else "",
        sentences_of(uow.registry, label, row.before, row.after),
        endpoint is not None and may(uow, endpoint, PERMISSION_TO_UNDO[row.action]),
        row.before,
        row.after,
        deliveries,
        _state_path(endpoint, row) if endpoint is not None and exists else "",
        row.bypassed or "",
    )


def _state_path(endpoint: Endpoint, row: Any) -> str:
    """The path of the representation after a change; blank after a deletion."""
    if row.action == DELETE or not has_history(endpoint):
        return ""
    moment = row.time.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")
    return f"{endpoint.canonical_path}{row.changed_object_id}/?{AS_OF}={moment}"


def _deliveries(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, list[Delivery]]:
    """The deliveries of changes that the user may view, by change; one statement, none without permission."""
    endpoint = uow.registry.get(DELIVERY)
    if endpoint is None or not may(uow, endpoint, "view"):
        return {}
    limits = permissions.visible(uow, endpoint, _delivery)
    statement = (
        sa.select(_delivery.c.change_id, _delivery.c.id, _delivery.c.state, _webhook.c.name)
        .join_from(_delivery, _webhook, _delivery.c.webhook_id == _webhook.c.id)
        .where(in_parameter(_delivery.c.change_id), *limits)
        .order_by(_delivery.c.id)
    )
    deliveries: dict[Any, list[Delivery]] = {}
    for change_id, key, state, name in uow.execute(statement, {"keys": list(keys)}):
        deliveries.setdefault(change_id, []).append(Delivery(name, state, object_path(endpoint, key)))
    return deliveries


def group_changes(uow: UnitOfWork, changes: Iterable[ShownChange]) -> list[RequestGroup]:
    """Consecutive changes of one request together; one statement counts the changes of the requests."""
    groups = [(key, list(items)) for key, items in itertools.groupby(changes, operator.attrgetter("request_id"))]
    counts = _counts(uow, {key for key, _ in groups})
    return [RequestGroup(key, items, max(counts.get(key, 0), len(items))) for key, items in groups]


def _counts(uow: UnitOfWork, requests: Iterable[uuid.UUID]) -> dict[Any, int]:
    keys = list(requests)
    if not keys:
        return {}
    endpoint: Endpoint = uow.registry[CHANGE]
    statement = (
        sa.select(_change.c.request_id, sa.func.count())
        .where(in_parameter(_change.c.request_id), *permissions.visible(uow, endpoint, _change))
        .group_by(_change.c.request_id)
    )
    return dict(uow.execute(statement, {"keys": keys}).tuples().all())
