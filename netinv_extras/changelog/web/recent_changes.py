"""Widget of the home page: the latest changes, grouped by the request that made them."""

from __future__ import annotations

import collections
import itertools
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from markupsafe import Markup
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.changelog.differences import differences
from netinv_core.changelog.models import UPDATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import table_of
from netinv_core.read.names import recorded_name
from netinv_extras.changelog.web import undo
from netinv_web.markup import link, time_markup
from netinv_web.menu import may
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

MAX_CHANGES = 200  # that are read and grouped
MAX_GROUPS = 8
MAX_DIFFERENCES = 3  # of a sentence
MAX_TEXT = 40  # characters of a value
VERBS = {"create": "created", "update": "changed", "delete": "deleted"}
_change = table_of(ObjectChange)
_names = ("id", "time", "user_name", "request_id", "action", "changed_object_type", "object_repr")


def content(request: Request) -> dict[str, Any] | None:
    """The values of the template: time, user and sentence of each request; ``None`` without permission."""
    uow = request.uow
    endpoint = uow.registry.of_model(ObjectChange)
    if not may(uow, endpoint, "view"):
        return None
    limits = permissions.visible(uow, endpoint, _change)
    latest = sa.select(*[_change.c[name] for name in _names]).where(*limits)
    rows = uow.execute(latest.order_by(_change.c.time.desc(), _change.c.position.desc()).limit(MAX_CHANGES)).all()
    groups = [list(group) for _, group in itertools.groupby(rows, key=lambda row: row.request_id)]
    if len(rows) == MAX_CHANGES and len(groups) > 1:
        groups.pop()  # further changes of this request were not read
    groups = groups[:MAX_GROUPS]
    details = _details(uow, [group[0].id for group in groups if len(group) == 1])
    path = page_path(endpoint)
    entries = [
        _entry(uow.registry, path, group, details) | {"may_undo": undo.may_undo(uow, map(_changed_object, group))}
        for group in groups
    ]
    return {"path": path, "entries": entries, "undo_path": undo.path_for(request)}


def _changed_object(row: Any) -> tuple[str, str]:
    return row.changed_object_type, row.action


def _entry(
    registry: Registry, path: str, group: Sequence[Any], details: Mapping[uuid.UUID, tuple[str, str]]
) -> dict[str, Any]:
    first = group[0]
    if len(group) == 1:
        name, changed = details.get(first.id, (first.object_repr, ""))
        title = f"{_title(registry, first.changed_object_type, 1)} {name}"
        sentence = Markup("{} {}").format(VERBS[first.action], link(f"{path}{first.id}/", title))
        if first.action == UPDATE and changed:
            sentence += Markup(": {}").format(changed)
    else:
        limited = f"made {MAX_CHANGES} changes or more: " if len(group) == MAX_CHANGES else ""
        sentence = link(f"{path}?request_id={first.request_id}", limited + _summary(registry, group))
    return {
        "time": time_markup(first.time),
        "user": first.user_name,
        "sentence": sentence,
        "request_id": first.request_id,
    }


def _summary(registry: Registry, group: Sequence[Any]) -> str:
    """A sentence such as ``created 4 interfaces, 1 device; changed 1 rack``."""
    counts: dict[str, collections.Counter[str]] = {}
    for row in group:
        counts.setdefault(row.action, collections.Counter())[row.changed_object_type] += 1
    clauses = []
    for action, by_label in counts.items():
        parts = [f"{number} {_title(registry, label, number)}" for label, number in by_label.most_common(3)]
        more = ["others"] if len(by_label) > 3 else []
        clauses.append(f"{VERBS[action]} {', '.join(parts + more)}")
    return "; ".join(clauses)


def _title(registry: Registry, label: str, number: int) -> str:
    endpoint = registry.get(label)
    if endpoint is None:
        return label
    return endpoint.title if number == 1 else endpoint.plural


def _details(uow: UnitOfWork, ids: Sequence[Any]) -> dict[Any, tuple[str, str]]:
    """The names of changed objects and the fields that differ, as text by the id of the change; one statement."""
    if not ids:
        return {}
    columns = record_columns(("id", "changed_object_type", "object_repr", "before", "after"))
    statement = sa.select(*columns).where(in_parameter(_change.c.id))
    texts = {}
    for key, label, name, before, after in uow.execute(statement, {"keys": list(ids)}):
        changed = differences(uow.registry, label, before, after)
        parts = [f"{item.label}: {_short(item.before_text)} → {_short(item.after_text)}" for item in changed]
        text = "; ".join(parts[:MAX_DIFFERENCES]) + (" …" if len(parts) > MAX_DIFFERENCES else "")
        texts[key] = recorded_name(uow.registry.get(label), before, after, name), text
    return texts


def _short(text: str) -> str:
    if not text:
        return "–"
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
