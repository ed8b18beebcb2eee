"""Panel of a plan: its changes, and the button that applies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, error_text
from netinv_core.fields.cells import text_of
from netinv_core.hookspecs import hookimpl
from netinv_core.http.views import key_of
from netinv_core.labels import title_of_type
from netinv_core.sql.plans import plan_of
from netinv_extras.plans import applying
from netinv_extras.plans.models import LABEL, PENDING
from netinv_web import notices
from netinv_web.extensions import Panel
from netinv_web.pages import see_other

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

TEMPLATE = "netinv_extras:plans/web/templates/plan_changes.jinja2"
MAX_SHOWN = 500  # changes


def panel(request: Request, endpoint: Endpoint, plan: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a plan, and of one that is not applied the button."""
    (shown,) = plan_of(endpoint).represent(request.uow, [key_of(request)])
    return {
        "changes": [_line(endpoint.registry, change) for change in shown["changes"][:MAX_SHOWN]],
        "hidden": max(0, len(shown["changes"]) - MAX_SHOWN),
        "is_pending": shown["state"]["value"] == PENDING,
        "path": f"/extras/plans/{key_of(request)}/apply/",
        "log_path": f"/extras/changelog/?request_id={shown['request_id']}",
    }


def _line(registry: Registry, change: Mapping[str, Any]) -> dict[str, Any]:
    """A change with the name of the model, and its values as text; those of a deleted object are left out."""
    fields = [] if change["action"] == "delete" else change["fields"]
    texts = [(item["field"], text_of(item["before"]), text_of(item["after"])) for item in fields]
    return {**change, "title": title_of_type(registry, change["object_type"]), "fields": texts}


def apply(request: Request) -> Response:
    """Applies a plan; a refusal is told on its page."""
    uow, key = request.uow, key_of(request)
    notice = notices.Notice("The plan was applied.", undo=str(uow.request_id))
    try:
        with uow.savepoint():
            applying.apply(uow, key)
    except Conflict as error:
        body = error.body
        names = [(item["planned"] or item["now"])["display"] for item in body.get("differences", ())]
        text = ", ".join(names[:10])
        notice = notices.Notice(f"{error_text(body['detail'])} {text}".strip())
    return notices.add(request, see_other(f"{uow.registry[LABEL].path.removeprefix('/api')}{key}/"), notice)


PANEL = Panel("changes", "Changes", panel, side="main", template=TEMPLATE, position=100)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The changes of a plan."""
    return [PANEL] if endpoint.label == LABEL else []


def includeme(config: Any) -> None:
    """Adds the page."""
    path = "/extras/plans/{id}/apply/"
    config.add_netinv_page(path, apply, permission="view", methods=["POST"], resource="extras/plans")
