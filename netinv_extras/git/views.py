"""``git-repositories/{id}/sync/``: POST requests a sync, GET shows the state and outcome of the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.errors import NotFound
from netinv_core.http.actions import documented
from netinv_core.models.base import now, table_of
from netinv_core.read import listing
from netinv_extras.git import models as git_models
from netinv_extras.git.models import GitSync
from netinv_extras.git.sync import SyncReport

QUEUED, RUNNING, SUCCEEDED, INCOMPLETE, FAILED = STATES = ("queued", "running", "succeeded", "incomplete", "failed")
_sync = table_of(GitSync)
_TIME = {"type": "string", "format": "date-time", "nullable": True}
_COUNT = {"type": "integer"}
_TEXT_OBJECTS = {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}}
_OUTCOME = {
    "type": "object",
    "properties": {
        "state": {"type": "string", "enum": list(STATES)},
        "requested": _TIME,
        "requested_by": {"type": "string"},
        "started": _TIME,
        "finished": _TIME,
        "head": {"type": "string"},
        "error": {"type": "string"},
        **dict.fromkeys(("created", "updated", "deleted", "unchanged"), _COUNT),
        "objects": _TEXT_OBJECTS,
        "refused": _TEXT_OBJECTS,
        "notes": _TEXT_OBJECTS,
    },
}


@documented(
    {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]},
    status=200,
    ignores_unknown=True,
)
def ask(request: Request) -> dict[str, str]:
    """Requests a sync: the worker fetches the repository and imports its contents."""
    uow, endpoint = request.uow, request.context.endpoint
    row = listing.rows_for_change(uow, endpoint, [request.context.key], "change").get(request.context.key)
    if row is None:
        raise NotFound()
    git_models.enqueue_sync(uow, [row["id"]])
    return {"message": f"Repository {row['name']} sync job added to queue."}


@documented(_OUTCOME)
def show(request: Request) -> dict[str, Any]:
    """State of the requested sync, and outcome of the last finished one."""
    uow, endpoint = request.uow, request.context.endpoint
    if request.context.key not in listing.rows(uow, endpoint, [request.context.key], "view"):
        raise NotFound()
    row = uow.execute(sa.select(_sync).where(_sync.c.repository_id == request.context.key)).mappings().one()
    request_data = {"state": _state(row), "requested": row["wanted"], "requested_by": row["user_name"]}
    last = {name: row[name] for name in ("started", "finished", "head", "error")}
    return {**request_data, **last, **SyncReport().as_json(), **(row["report"] or {})}


def _state(row: Mapping[str, Any]) -> str:
    if row["wanted"] is not None:
        return RUNNING if row["claimed_until"] is not None and row["claimed_until"] > now() else QUEUED
    if row["error"]:
        return FAILED
    return INCOMPLETE if row["report"]["refused"] else SUCCEEDED


def includeme(config: Any) -> None:
    """Adds the route."""
    permission = {"get": "view", "post": "change"}
    config.add_netinv_action("extras/git-repositories", "sync", get=show, post=ask, permission=permission)
