"""Merge of a form with what others changed after it was opened, field by field."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.changelog.later_changes import FieldChange, changes_since_versions
from netinv_web.forms.control_values import ABSENT, fill, member, put, texts_of
from netinv_web.forms.controls import Control
from netinv_web.forms.form import Submission

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class FieldConflict:
    """A field that the user and somebody else changed: the other value as text, by whom and when."""

    theirs: str
    user_name: str
    time: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Baseline:
    """The object as a form showed it: ``original``, from its ``current`` representation and the ``changes`` since."""

    original: Mapping[str, Any]
    current: Mapping[str, Any]
    changes: Mapping[str, FieldChange]


def baseline(uow: UnitOfWork, endpoint: Endpoint, key: Any, current: Mapping[str, Any], version: str) -> Baseline:
    """Returns the object as it was in the version of a form; one statement if it was changed since.

    :param version: the time of the object's last change when the form was opened; empty if the form did not say it
    """
    return baselines(uow, endpoint, {key: (current, version)})[key]


def baselines(
    uow: UnitOfWork, endpoint: Endpoint, shown: Mapping[Any, tuple[Mapping[str, Any], str]]
) -> dict[Any, Baseline]:
    """Returns the same for several objects, by id: each from its current representation and the version of its form."""
    outdated: dict[uuid.UUID, datetime.datetime] = {}
    for key, (current, version) in shown.items():
        at = _moment(version)
        now = current.get("last_updated")
        if at is not None and now is not None and isinstance(key, uuid.UUID) and now > at:
            outdated[key] = at
    changes = changes_since_versions(uow, endpoint, outdated)
    return {key: _baseline(current, changes.get(key, {})) for key, (current, _) in shown.items()}


def _moment(version: str) -> datetime.datetime | None:
    try:
        moment = datetime.datetime.fromisoformat(version)
        return moment.astimezone(datetime.UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _baseline(current: Mapping[str, Any], changes: Mapping[str, FieldChange]) -> Baseline:
    if not changes:
        return Baseline(current, current, {})
    original = copy.deepcopy(dict(current))
    for name, change in changes.items():
        put(original, name.split(".", 1), change.before)
    return Baseline(original, current, changes)


def conflicts_of(submission: Submission, base: Baseline) -> list[Control]:
    """Sets the conflict of each control that others changed too, to another value; returns these controls."""
    conflicting = []
    for control in submission.changed.values():
        theirs = texts_of(control, member(base.current, control.path))
        if theirs in (texts_of(control, member(base.original, control.path)), list(control.values)):
            continue
        change = base.changes.get(control.name) or base.changes.get(control.path[0])
        text = change.after_text if change is not None else ", ".join(theirs)
        summary = change.change if change is not None else None
        control.conflict = FieldConflict(
            text or "nothing", summary.user_name if summary else "", summary.time if summary else None
        )
        conflicting.append(control)
    return conflicting


def show_current(submission: Submission, base: Baseline) -> None:
    """Fills the controls that the user did not change with the current values, and makes them the form's version."""
    for control in submission.form.controls:
        value = member(base.current, control.path)
        if control.name not in submission.changed and value is not ABSENT:
            fill(control, value)
    submission.form.version = base.current["last_updated"].isoformat()


def merged_sentence(submission: Submission, base: Baseline) -> str:
    """The sentence about the changes of others that were kept; empty without any."""
    own = {control.path[0] for control in submission.changed.values()} | submission.changed.keys()
    kept = [change for name, change in base.changes.items() if name not in own]
    if not kept:
        return ""
    users = ", ".join(dict.fromkeys(change.change.user_name or "Somebody" for change in kept))
    return f" What {users} changed meanwhile was kept: {', '.join(change.label for change in kept)}."
