"""Comments on change requests: on the whole, on the change of an object, or on a field of it.

A comment on a field keeps a digest of the value that is proposed for it, so that it is known whether this was changed
since. Objects are named to those who may view them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.changelog.differences import comparable, differences, members
from netinv_core.errors import Invalid
from netinv_core.fields.schema import REQUIRED
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.write.dry_run import ObjectName, name_of
from netinv_extras.change_requests import lifecycle, proposals, review
from netinv_extras.change_requests.models import COMMENT, EVENTS
from netinv_extras.change_requests.proposals import UNKNOWN_FIELD, UNKNOWN_OBJECT, Proposal

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CURRENT, CHANGED, GONE, HIDDEN = "current", "changed", "gone", "hidden"
REFERENCE = ("object_type", "object_id", "field")  # members of a body, and of a change request's last_comment_about
_TEXT: dict[str, Any] = {"type": "string"}
_UUID: dict[str, Any] = {"type": "string", "format": "uuid"}
_NAMED: dict[str, Any] = {
    "object_type": _TEXT,
    "object_id": _UUID,
    "field": {**_TEXT, "nullable": True, "description": "As in changes/; null for the whole object."},
}
BODY = {
    "type": "object",
    "properties": {
        "text": {**_TEXT, "maxLength": review.MAX_TEXT},
        **{name: {**schema, "nullable": True} for name, schema in _NAMED.items()},
    },
    "required": ["text"],
}
EVENT = {
    "type": "object",
    "properties": {
        "id": _UUID,
        "kind": {
            "type": "object",
            "properties": {"value": {"type": "string", "enum": [value for value, _ in EVENTS.items]}, "label": _TEXT},
        },
        "user_name": _TEXT,
        "time": {"type": "string", "format": "date-time"},
        "text": _TEXT,
        "counts": {"type": "boolean", "description": "True for an approval of the changes as they are."},
        "about": {
            "type": "object",
            "nullable": True,
            "description": "The change that a comment is about; null for the whole change request.",
            "properties": {
                **_NAMED,
                "display": {**_TEXT, "description": "Blank for an object that you may not view."},
                "label": {**_TEXT, "description": "Of the field."},
                "state": {
                    **_TEXT,
                    "enum": [CURRENT, CHANGED, GONE, HIDDEN],
                    "description": "Whether the change is as it was then; hidden for those who may not view it.",
                },
            },
        },
    },
}


@dataclasses.dataclass(frozen=True)
class About:
    """The change that a comment is about, as it stands now, for a user."""

    name: ObjectName
    field: str | None
    display: str
    label: str
    state: str

    @property
    def shown(self) -> dict[str, Any]:
        """The member of an event."""
        (object_type, object_id), field = self.name, self.field
        reference = {"object_type": object_type, "object_id": object_id, "field": field}
        return {**reference, "display": self.display, "label": self.label, "state": self.state}


def comment(uow: RequestUnitOfWork, key: uuid.UUID, body: Mapping[str, Any]) -> None:
    """Adds a comment, in every state.

    :raises Invalid: for anything but text, and for an object or field that the change request does not change
    """
    row = lifecycle.row_of(uow, key, "view", locked=True)
    text = review.text_of(body, required=True)
    review.record(uow, row, COMMENT, text, about=_reference(uow, key, body))


def _reference(uow: RequestUnitOfWork, key: uuid.UUID, body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The change that a body names, as events keep it; ``None`` without one.

    :raises Invalid: for a change that is not there, or that the user may not view
    """
    named = {name: body.get(name) or None for name in REFERENCE}
    if not any(named.values()):
        return None
    if wrong := {name: [review.NOT_TEXT] for name, value in named.items() if not isinstance(value, str | None)}:
        raise Invalid(wrong)
    if missing := {name: [REQUIRED] for name in REFERENCE[:2] if named[name] is None}:
        raise Invalid(missing)
    seen = {name_of(item): item for item in lifecycle.visible_proposals(uow, proposals.load(uow, key))}
    item = seen.get((str(named["object_type"]), str(named["object_id"]).lower()))
    if item is None:
        raise Invalid.field("object_id", UNKNOWN_OBJECT)
    field = named["field"]
    if field is not None and field not in _labels(item):
        raise Invalid.field("field", UNKNOWN_FIELD)
    return {
        "object_type": item.endpoint.label,
        "object_id": str(item.key),
        "field": field,
        "object_repr": item.object_repr,
        "digest": _digest(item, field),
    }


def _labels(item: Proposal) -> dict[str, str]:
    """The labels of the fields that a proposal changes, by name."""
    found = differences(item.endpoint.registry, item.endpoint.label, item.before, item.after)
    return {difference.field: difference.label for difference in found}


def _digest(item: Proposal, field: str | None) -> str:
    """Digest (SHA-256) of what is proposed for a field, or for the whole object."""
    endpoint, values = item.endpoint, members(item.endpoint, item.after)
    names = [field] if field is not None else sorted(_labels(item))
    proposed = [item.action, *([name, comparable(endpoint, name, values.get(name))] for name in names)]
    return hashlib.sha256(json.dumps(proposed, sort_keys=True, default=str).encode()).hexdigest()


# -- what is shown


def events(uow: RequestUnitOfWork, key: uuid.UUID) -> list[dict[str, Any]]:
    """The events of a change request as the API shows them."""
    found = review.events_of(uow, key)
    proposed: Sequence[Proposal] = proposals.load(uow, key) if any(event["about"] for event in found) else ()
    about = abouts(uow, found, proposed, lifecycle.visible_proposals(uow, proposed))
    return [
        {
            **{name: event[name] for name in ("id", "user_name", "time", "text", "counts")},
            "kind": {"value": event["kind"], "label": EVENTS.labels[event["kind"]]},
            "about": about[event["id"]].shown if event["id"] in about else None,
        }
        for event in found
    ]


def abouts(
    uow: UnitOfWork, found: Iterable[Mapping[str, Any]], proposed: Sequence[Proposal], seen: Collection[Proposal]
) -> dict[uuid.UUID, About]:
    """Objects and fields of comments by the ids of their events, given the proposals and those that the user may view.

    One statement for each model with an object whose change is gone.
    """
    kept: dict[uuid.UUID, Mapping[str, Any]] = {event["id"]: event["about"] for event in found if event["about"]}
    if not kept:
        return {}
    known, visible = {name_of(item): item for item in proposed}, {name_of(item): item for item in seen}
    labels: dict[ObjectName, dict[str, str]] = {}
    gone = _visible_of(uow, {_name(about) for about in kept.values()} - known.keys())

    def standing(about: Mapping[str, Any]) -> About:
        name, field = _name(about), about["field"]
        if name not in visible and name not in gone:
            return About(name, field, "", "", HIDDEN)
        item = visible.get(name)
        of_item = labels.setdefault(name, _labels(item)) if item is not None else {}
        label = of_item.get(field) or _label(uow, name, field)
        if item is None or (field is not None and field not in of_item):
            return About(name, field, about["object_repr"], label, GONE)
        state = CURRENT if _digest(item, field) == about["digest"] else CHANGED
        return About(name, field, item.object_repr, label, state)

    return {event: standing(about) for event, about in kept.items()}


def _name(about: Mapping[str, Any]) -> ObjectName:
    return about["object_type"], about["object_id"]


def _label(uow: UnitOfWork, name: ObjectName, field: str | None) -> str:
    """The label of a field that is not changed any more; blank without a field."""
    outer, _, member = (field or "").partition(".")
    endpoint = uow.registry.get(name[0])
    known = None if endpoint is None or member else endpoint.fields.get(outer)
    return (known.label if known is not None else "") or (member or outer).replace("_", " ").capitalize()


def _visible_of(uow: UnitOfWork, names: Iterable[ObjectName]) -> set[ObjectName]:
    """Names of the live objects that the user may view; one statement for each model, none without constraints."""
    keys: dict[Endpoint, list[uuid.UUID]] = {}
    for label, key in names:
        endpoint = uow.registry.get(label)
        if endpoint is not None:
            keys.setdefault(endpoint, []).append(uuid.UUID(key))
    return {
        (endpoint.label, str(key))
        for endpoint, group in keys.items()
        for key in permissions.visible_ids(uow, endpoint, group)
    }
