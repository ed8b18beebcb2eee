"""Preview of messages, and test messages: what a webhook sends, built as for a delivery, without one."""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.changelog.models import CREATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.errors import Denied
from netinv_core.labels import title_of_type
from netinv_core.masking import MASK, credential_name, without_secrets
from netinv_core.models.base import table_of
from netinv_core.read.names import recorded_name
from netinv_extras.webhooks import payload
from netinv_extras.webhooks.models import EVENTS, mask_url, webhook_types

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Row = Mapping[str, Any]
CHANGE_LABEL = "extras.objectchange"
SAMPLE_TYPE = "netinv.test"  # of the change in a test message, where there is no real one
MAX_BODY = 65536  # characters of a body that are shown
_change = table_of(ObjectChange)


@dataclasses.dataclass(frozen=True)
class MessagePreview:
    """Message as it may be shown: credentials masked. ``error`` says why it cannot be built."""

    method: str = ""
    url: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: str = ""
    error: str = ""


def change_of(uow: UnitOfWork, change_id: uuid.UUID) -> Row | None:
    """Returns the row of a change that the user may view, else ``None``: one statement."""
    return _first_change(uow, [_change.c.id == change_id])


def sample_change(uow: UnitOfWork, webhook: Row, labels: Sequence[str] | None = None) -> Row:
    """Returns the newest change that matches a webhook and that the user may view, or an invented one.

    :param labels: the content types of a webhook that is not stored as it is
    """
    actions = [action for name, action in EVENTS.items() if webhook[name]]
    stored = sa.select(webhook_types.c.label).where(webhook_types.c.owner_id == webhook["id"])
    types = stored if labels is None else labels
    change = _first_change(uow, [_change.c.changed_object_type.in_(types), _change.c.action.in_(actions)])
    return change if change is not None else _invented_change(uow, webhook)


def _first_change(uow: UnitOfWork, conditions: Sequence[Any]) -> Row | None:
    endpoint = uow.registry[CHANGE_LABEL]
    try:
        limits = permissions.limits(uow, endpoint, "view", endpoint.table)
    except Denied:
        return None
    newest = (
        sa.select(*record_columns())
        .where(*conditions, *limits)
        .order_by(_change.c.time.desc(), _change.c.position.desc())
    )
    row = uow.execute(newest.limit(1)).mappings().first()
    return None if row is None else dict(row)


def _invented_change(uow: UnitOfWork, webhook: Row) -> Row:
    after = {"id": str(webhook["id"]), "display": f"Test of {webhook['name']}", "name": "test"}
    return {
        "id": uuid.uuid4(),
        "time": uow.now,
        "user_name": uow.identity.username,
        "request_id": uow.request_id,
        "action": CREATE,
        "changed_object_type": SAMPLE_TYPE,
        "before": None,
        "after": after,
    }


def sample_name(registry: Registry, change: Row) -> str:
    """The model and the name of the changed object; empty for an invented change."""
    label = change["changed_object_type"]
    if label == SAMPLE_TYPE:
        return ""
    name = recorded_name(registry.get(label), change["before"], change["after"], change["object_repr"])
    return f"{title_of_type(registry, label)} {name}"


def build(uow: UnitOfWork, webhook: Row, change: Row, delivery: Row | None = None) -> payload.WebhookMessage:
    """Builds the message of a delivery, or one of a test with the delivery number 0.

    :raises PayloadError: as :func:`netinv_extras.webhooks.payload.build_message`
    :raises Postponed: as :func:`netinv_extras.webhooks.payload.build_message`
    """
    of_test = {"id": 0, "change_id": change["id"], "attempts": 0}
    renderings = _renderings_of(uow, change)
    return payload.build_message(uow.registry, delivery or of_test, webhook, change, uow.now, renderings)


def _renderings_of(uow: UnitOfWork, change: Row) -> payload.Renderings:
    label = change["changed_object_type"]
    return payload.renderings_for(uow, [label]).get(label, payload.NONE)


def variables_of(uow: UnitOfWork, change: Row) -> dict[str, Any]:
    """Returns the variables that the templates of a webhook get for a change."""
    return payload.template_variables(uow.registry, change, _renderings_of(uow, change))


def preview(uow: UnitOfWork, webhook: Row, change: Row, delivery: Row | None = None) -> MessagePreview:
    """Builds a message to be shown: credentials are masked, JSON is indented."""
    try:
        message = build(uow, webhook, change, delivery)
    except (payload.PayloadError, payload.Postponed) as error:
        return MessagePreview(error=str(error))
    headers = [(name, _header(name, value, message.secrets)) for name, value in message.headers.items()]
    body = without_secrets(_indent(message.body.decode("utf-8", "replace")), message.secrets)
    shown = body if len(body) <= MAX_BODY else f"{body[:MAX_BODY]}…"
    return MessagePreview(message.method, mask_url(message.url), headers, shown)


def _header(name: str, value: bytes, secrets: Sequence[str]) -> str:
    return MASK if credential_name(name) else without_secrets(value.decode("utf-8", "replace"), secrets)


def _indent(body: str) -> str:
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body
