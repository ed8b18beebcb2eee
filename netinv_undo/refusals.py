"""Refusals: the reasons why changes cannot be undone, by object and field, as the body of an error 409."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from netinv_core.changelog.later_changes import ChangeSummary
from netinv_core.errors import NON_FIELD, Conflict, Denied, Invalid, RequestError, error_text
from netinv_undo.net_changes import NetChange

REFUSED = "The change cannot be undone."
WHOLE = NON_FIELD


@dataclasses.dataclass(frozen=True)
class Reason:
    """A reason: the field it is about, a message, and the later change that stands against the undo."""

    field: str
    message: str
    change: ChangeSummary | None = None


class Refusals:
    """The reasons collected so far, by net change; ``None`` stands for those that name no object."""

    def __init__(self) -> None:
        self._reasons: dict[NetChange | None, list[Reason]] = {}

    def add(self, change: NetChange | None, field: str, message: str, later: ChangeSummary | None = None) -> None:
        """Adds a reason; the later change is named in its message."""
        if later is not None:
            message = f"{message} It was changed by {later.user_name} at {later.time.isoformat()} (change {later.id})."
        self._reasons.setdefault(change, []).append(Reason(field, message, later))

    def raise_any(self) -> None:
        """Rejects the revert when there is a reason.

        :raises RevertRefused: with all reasons
        """
        if self._reasons:
            raise RevertRefused(self._reasons)


_UUID, _TEXT = {"type": "string", "format": "uuid"}, {"type": "string"}
_LATER_CHANGE = {
    "type": "object",
    "nullable": True,
    "properties": {
        "id": _UUID,
        "time": {"type": "string", "format": "date-time"},
        "user_name": _TEXT,
        "request_id": _UUID,
    },
}
_REASON = {"type": "object", "properties": {"field": _TEXT, "message": _TEXT, "change": _LATER_CHANGE}}
_OBJECT = {
    "type": "object",
    "properties": {
        "change": _UUID,
        "changed_object_type": _TEXT,
        "changed_object_id": _UUID,
        "object_repr": _TEXT,
        "reasons": {"type": "array", "items": _REASON},
    },
}


class RevertRefused(Conflict):
    """409: later changes, or rules, stand against the undo of a change.

    ``reasons`` are those of its body by net change, ``names`` the names in context of the objects of the body; blank
    for reasons that name none.
    """

    body_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"detail": _TEXT, "objects": {"type": "array", "items": _OBJECT}},
        "required": ["detail"],
    }

    def __init__(self, reasons: Mapping[NetChange | None, Sequence[Reason]]) -> None:
        RequestError.__init__(self, {"detail": REFUSED, "objects": [_entry(*item) for item in reasons.items()]})
        self.reasons = reasons
        self.names = [change.name_in_context if change is not None else "" for change in reasons]


def _entry(change: NetChange | None, reasons: Sequence[Reason]) -> dict[str, Any]:
    listed = [dataclasses.asdict(reason) for reason in reasons]
    if change is None:
        return {"reasons": listed}
    label, key = change.identity
    record = change.records[-1].id
    return {
        "change": record,
        "changed_object_type": label,
        "changed_object_id": key,
        "object_repr": change.name,
        "reasons": listed,
    }


def refusal_of(error: RequestError, changes: Sequence[NetChange]) -> RevertRefused:
    """Returns the refusal for an error of the write path about the objects of these changes."""
    refusals = Refusals()
    bodies = error.body if isinstance(error.body, list) else [error.body]
    named: Sequence[NetChange | None] = changes if len(bodies) == len(changes) else [None] * len(bodies)
    for change, body in zip(named, bodies, strict=True):
        messages = body if isinstance(body, dict) else {WHOLE: body}
        for field, message in messages.items():
            is_whole = field in ("detail", "__all__") or not isinstance(error, Invalid)
            refusals.add(change, WHOLE if is_whole else field, error_text(message))
    return RevertRefused(refusals._reasons)


def combine(errors: Sequence[Denied | RevertRefused]) -> Denied | RevertRefused:
    """Combines the errors of several models into one: the first denial, or a refusal with all reasons."""
    refusals = Refusals()
    for error in errors:
        if isinstance(error, Denied):
            return error
        for change, reasons in error.reasons.items():
            for reason in reasons:
                refusals.add(change, reason.field, reason.message)
    return RevertRefused(refusals._reasons)
