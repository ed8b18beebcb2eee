"""Parts of the web interface: a panel and an action, a tab, a page, a widget, a snippet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core import AUTHENTICATED, Endpoint, UnitOfWork, hookimpl, permissions, save
from netinv_dcim.sites import Site
from netinv_example.closing import close
from netinv_example.maintenance_windows import CANCELLED, MaintenanceWindow
from netinv_web.bulk.selection import members_of, selected
from netinv_web.extensions import Action, Panel, Snippet, Tab, Widget
from netinv_web.markup import link, time_markup
from netinv_web.notices import Notice, add
from netinv_web.pages import see_other
from netinv_web.paths import object_path, page_path

SITES, WINDOWS = "dcim.site", "example.maintenancewindow"
OVERVIEW = "/plugins/example/overview/"
MAX_WINDOWS = 20


def coming(uow: UnitOfWork, site: Any = None, limit: int = MAX_WINDOWS) -> list[dict[str, Any]]:
    """The next windows that the user may view, of one site or of all; one statement."""
    endpoint = uow.registry.of_model(MaintenanceWindow)
    table, sites = MaintenanceWindow.__table__, Site.__table__
    conditions = [table.c.status != CANCELLED, table.c.end > uow.now, *permissions.visible(uow, endpoint, table)]
    if site is not None:
        conditions.append(table.c.site_id == site)
    columns = table.c.id, table.c.name, table.c.start, table.c.end, sites.c.name.label("site")
    statement = sa.select(*columns).join(sites, sites.c.id == table.c.site_id).where(*conditions)
    return [
        {
            "window": link(object_path(endpoint, row.id), row.name),
            "site": row.site,
            "start": time_markup(row.start),
            "end": time_markup(row.end),
            "active": row.start <= uow.now,
        }
        for row in uow.execute(statement.order_by(table.c.start, table.c.id).limit(limit))
    ]


def _of_site(request: Request, endpoint: Endpoint, site: Mapping[str, Any]) -> dict[str, Any] | None:
    windows = coming(request.uow, site["id"], 5)
    return {"windows": windows} if windows else None


def _of_all(request: Request) -> dict[str, Any] | None:
    windows = coming(request.uow, limit=5)
    return {"windows": windows} if windows else None


def overview(request: Request) -> dict[str, Any]:
    """The page with the windows of all sites that are active or come next."""
    return {"windows": coming(request.uow)}


def _calendar(request: Request, endpoint: Endpoint, window: Mapping[str, Any]) -> dict[str, Any]:
    times = {name: window[name].strftime("%Y%m%dT%H%M%SZ") for name in ("start", "end")}
    return {"window": window, **times}


def close_by_button(request: Request) -> Response:
    """Closes a window by the action of the API, and leads back to its page."""
    closed = close(request)
    notice = Notice(f"{closed['display']} is closed.", undo=str(request.uow.request_id))
    return add(request, see_other(object_path(request.context.endpoint, closed["id"])), notice)


def cancel_selected(request: Request) -> Response:
    """Cancels the selected windows, and leads back to their list."""
    endpoint = request.context.endpoint
    selection = selected(request, endpoint, members_of(request), "change")
    bodies = [] if selection.too_many else [{"id": key, "status": CANCELLED} for key in selection.keys]
    if not bodies:
        return add(request, see_other(selection.list_url), Notice("No window was cancelled.", "warning"))
    save.update(request.uow, endpoint, bodies, partial=True, listed=True)
    notice = Notice(f"Cancelled windows: {len(bodies)}.", undo=str(request.uow.request_id))
    return add(request, see_other(selection.list_url), notice)


def _query(request: Request, endpoint: Endpoint, parameters: Iterable[tuple[str, str]], key: Any) -> str:
    path = endpoint.path if key is None else f"{endpoint.path}{key}/"
    filters = " ".join(f"{name}=={value!r}" for name, value in parameters)
    return f"http GET {request.uow.base}{path} {filters} 'Authorization: Token $TOKEN'"


def _close_path(endpoint: Endpoint, window: Mapping[str, Any]) -> str:
    return f"{object_path(endpoint, window['id'])}close/"


panel = Panel("maintenance", "Maintenance", _of_site, template="netinv_example:templates/windows.jinja2")
widget = Widget("maintenance", "Maintenance", _of_all, template="netinv_example:templates/windows.jinja2")
tab = Tab("calendar", "Calendar", _calendar, template="netinv_example:templates/calendar.jinja2")
closing = Action(
    "close",
    "Close now",
    _close_path,
    method="POST",
    permission="change",
    applies=lambda window: window["status"]["value"] != CANCELLED,
)
cancelling = Action(
    "cancel",
    "Cancel",
    lambda endpoint, window: f"{page_path(endpoint)}cancel/",
    scope="selection",
    permission="change",
    icon="no-symbol",
)
to_overview = Action("overview", "Overview", lambda endpoint, window: OVERVIEW, scope="list", icon="calendar-days")
snippet = Snippet("httpie", "HTTPie", _query, language="shell")


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The coming windows, on the pages of sites."""
    return [panel] if endpoint.label == SITES else []


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> Sequence[Tab]:
    """A tab of windows for calendars."""
    return [tab] if endpoint.label == WINDOWS else []


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> Sequence[Action]:
    """Buttons that close a window, and cancel the selected ones; a link on their list."""
    return [closing, cancelling, to_overview] if endpoint.label == WINDOWS else []


@hookimpl
def netinv_web_widgets() -> Sequence[Widget]:
    """The coming windows, on the home page."""
    return [widget]


@hookimpl
def netinv_web_snippets() -> Sequence[Snippet]:
    """The query of a page for HTTPie."""
    return [snippet]


@hookimpl
def netinv_web_static() -> Mapping[str, str]:
    """A style sheet and a script for every page."""
    return {"example": "netinv_example:static"}


def includeme(config: Any) -> None:
    """Adds the pages."""
    config.add_netinv_page(OVERVIEW, overview, "netinv_example:templates/overview.jinja2", permission=AUTHENTICATED)
    config.add_netinv_page(
        "/plugins/example/maintenance-windows/{id}/close/",
        close_by_button,
        permission="change",
        methods=["POST"],
        resource="example/maintenance-windows",
    )
    config.add_netinv_page(
        "/plugins/example/maintenance-windows/cancel/",
        cancel_selected,
        permission="change",
        methods=["POST"],
        resource="example/maintenance-windows",
    )
