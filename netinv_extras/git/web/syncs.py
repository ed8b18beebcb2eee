"""The synchronisation of a Git repository: its state, its report, and the button that requests one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.hookspecs import hookimpl
from netinv_core.http.views import key_of
from netinv_core.models.base import table_of
from netinv_extras.git import views as git_views
from netinv_extras.git.models import GitRepository, last_sync_failed
from netinv_extras.git.sync import LABEL
from netinv_web import notices
from netinv_web.extensions import CountedAttention, Panel
from netinv_web.markup import EMPTY, time_markup
from netinv_web.menu import may
from netinv_web.pages import fragment, see_other

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_extras:git/web/templates/git_sync.jinja2"
COUNTS = ("created", "updated", "deleted", "unchanged")


def panel(request: Request, endpoint: Endpoint, repository: Mapping[str, Any]) -> dict[str, Any]:
    """State and report of the last synchronisation. While one runs, a script reloads the panel."""
    outcome = git_views.show(request)
    path = f"/extras/git-repositories/{key_of(request)}/"
    return {
        "state": outcome["state"],
        "active": outcome["state"] in (git_views.QUEUED, git_views.RUNNING),
        "requested_by": outcome["requested_by"],
        "finished": time_markup(outcome["finished"]) if outcome["finished"] else EMPTY,
        "head": outcome["head"],
        "error": outcome["error"],
        "counts": [(name, outcome[name]) for name in COUNTS],
        "objects": outcome["objects"],
        "refused": outcome["refused"],
        "notes": outcome["notes"],
        "path": path,
        "may_sync": may(request.uow, endpoint, "change"),
    }


def show(request: Request) -> Response:
    """The panel as a part of a page, for the script that reloads it."""
    return fragment(request, TEMPLATE, panel(request, request.context.endpoint, {}))


def sync(request: Request) -> Response:
    """Requests a synchronisation."""
    message = git_views.ask(request)["message"]
    path = f"/extras/git-repositories/{key_of(request)}/"
    return notices.add(request, see_other(path), notices.Notice(message))


PANEL = Panel("sync", "Synchronisation", panel, template=TEMPLATE, position=100)
FAILED_SYNCS = CountedAttention(
    "{:,} Git repositories could not be synchronised",
    "/extras/git-repositories/?sync_failed=true",
    one="1 Git repository could not be synchronised",
    label=LABEL,
    condition=last_sync_failed(table_of(GitRepository)),
)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """State and report of the last synchronisation."""
    return [PANEL] if endpoint.label == LABEL else []


@hookimpl
def netinv_web_attention() -> Sequence[CountedAttention]:
    """Repositories that could not be synchronised."""
    return [FAILED_SYNCS]


def includeme(config: Any) -> None:
    """Adds the pages."""
    add, resource = config.add_netinv_page, "extras/git-repositories"
    add("/extras/git-repositories/{id}/sync/", sync, permission="change", methods=["POST"], resource=resource)
    add("/extras/git-repositories/{id}/sync-state/", show, permission="view", resource=resource)
