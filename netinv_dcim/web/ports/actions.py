"""Actions on selected ports: they are connected, enabled or disabled, their cables deleted or moved after a look."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import error_text
from netinv_core.read import listing
from netinv_dcim.cabling.models import Cabled
from netinv_dcim.cabling.paths import CABLE, End
from netinv_dcim.web.connect.page import connect_path
from netinv_dcim.web.connect.ports import address_of
from netinv_dcim.web.recabling import page as recabling
from netinv_dcim.web.workbench import page as workbench
from netinv_dcim.web.workbench.plan import MAX_HOSTS, MAX_ONLY, ONLY
from netinv_web import notices
from netinv_web.bulk import bulk_run
from netinv_web.bulk.editing import apply_updates, delete_selection, empty_selection_page, redirect_with_notice
from netinv_web.bulk.selection import KEYS, ROW, Members, Selection, members_of, selected
from netinv_web.extensions import Action
from netinv_web.pages import see_other
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

ENABLED = "enabled"
View = Callable[[Request], Response]


def _on_selection(name: str, title: str, icon: str, further: tuple[str, str] | None = None) -> Action:
    """An action whose page is below the list."""
    return Action(
        name,
        title,
        lambda endpoint, item: f"{page_path(endpoint)}{name}/",
        scope="selection",
        permission="change",
        further_permission=further,
        icon=icon,
    )


ENABLE, DISABLE = _on_selection("enable", "Enable", "play"), _on_selection("disable", "Disable", "no-symbol")
CONNECT = _on_selection("connect", "Connect", "link", (CABLE, "add"))
MOVE = _on_selection("move-cables", "Move cables", "arrows-right-left", (CABLE, "delete"))
DISCONNECT = _on_selection("disconnect", "Disconnect", "link-slash", (CABLE, "delete"))


def of_port(endpoint: Endpoint) -> list[Action]:
    """The actions on selected objects of a resource."""
    cabled = issubclass(endpoint.model, Cabled) and endpoint.resource.of is None
    return [
        *([ENABLE, DISABLE] if ENABLED in endpoint.writable else []),
        *([CONNECT, MOVE, DISCONNECT] if cabled else []),
    ]


def _enabling_view(enabled: bool) -> View:
    """Returns the view that enables or disables the selected ports, and leads back to them."""

    def view(request: Request) -> Response:
        endpoint = request.context.endpoint
        selection = selected(request, endpoint, members_of(request), "change")
        if not selection.keys or selection.too_many:
            return empty_selection_page(request, endpoint, selection, "enable" if enabled else "disable")
        bodies = {key: {ENABLED: enabled} for key in selection.keys}
        items = [{**body, "id": str(key)} for key, body in bodies.items()]
        if (path := bulk_run.start(request.uow, endpoint, bulk_run.UPDATE, items)) is not None:
            return see_other(path)
        error = apply_updates(request.uow, endpoint, bodies)
        if error is not None:
            notice = notices.Notice(error_text(error.body), "danger")
            return notices.add(request, see_other(selection.list_url), notice)
        return redirect_with_notice(request, endpoint, selection, "enabled" if enabled else "disabled")

    return view


enable, disable = _enabling_view(True), _enabling_view(False)


def disconnect(request: Request) -> Response:
    """The preview of the deletion of the cables at the selected ports, and the deletion itself."""
    ports, cables = request.context.endpoint, request.uow.registry[CABLE]
    members = members_of(request)
    if not members.get(KEYS):
        selection, rows = _cabled_ports(request, ports, members)
        if not rows:
            return _without_cables(request, selection)
        members = {ROW: list(dict.fromkeys(str(row["cable_id"]) for row in rows))}
    selection = selected(request, cables, members, "delete")
    return delete_selection(request, cables, dataclasses.replace(selection, path=page_path(ports)), members)


def connect(request: Request) -> Response:
    """Leads to the page that connects the selected port, or to the workbench with the selected ports that are free."""
    ports = request.context.endpoint
    selection, rows = _chosen_ports(request, ports, members_of(request))
    if not rows:
        return empty_selection_page(request, ports, selection, "connect")
    model = ports.model
    free = [
        row for row in rows if row["cable_id"] is None and model.cannot_be_cabled(types.SimpleNamespace(**row)) is None
    ]
    holder = ports.fields[model.holder]
    hosts = list(dict.fromkeys(End(holder.target.label, row[holder.attribute]) for row in free))
    reason = ""
    if not free:
        reason = "None of the selected ports is free for a cable."
    elif len(free) > MAX_ONLY or len(hosts) > MAX_HOSTS:
        reason = f"At most {MAX_ONLY} ports of {MAX_HOSTS} devices are connected together."
    if reason:
        return notices.add(request, see_other(selection.list_url), notices.Notice(reason, "warning"))
    if len(free) == 1:
        return see_other(connect_path(ports, free[0]))
    pairs = [("left", address_of(host)) for host in hosts]
    pairs += [("left_kind", ports.label), (f"left{ONLY}", "-".join(row["id"].hex for row in free))]
    return see_other(f"{workbench.PATH}?{urlencode(pairs)}")


def _chosen_ports(request: Request, ports: Endpoint, members: Members) -> tuple[Selection, list[dict[str, Any]]]:
    """The selected ports, and their rows, which too many have none of."""
    selection = selected(request, ports, members, "change")
    rows = listing.rows(request.uow, ports, selection.keys, "change") if not selection.too_many else {}
    return selection, list(rows.values())


def _cabled_ports(request: Request, ports: Endpoint, members: Members) -> tuple[Selection, list[dict[str, Any]]]:
    """The selected ports, and the rows of those that have a cable."""
    selection, rows = _chosen_ports(request, ports, members)
    return selection, [row for row in rows if row["cable_id"] is not None]


def _without_cables(request: Request, selection: Selection) -> Response:
    """Leads back to ports of which none has a cable."""
    notice = notices.Notice("None of the selected ports has a cable.", "warning")
    return notices.add(request, see_other(selection.list_url), notice)


def move_cables(request: Request) -> Response:
    """Leads to the page that moves the ends of the cables at the selected ports."""
    ports = request.context.endpoint
    selection, rows = _cabled_ports(request, ports, members_of(request))
    if not rows:
        return _without_cables(request, selection)
    keys = list(dict.fromkeys(row["cable_id"] for row in rows))
    end = address_of(End(ports.label, rows[0]["id"]))
    return see_other(recabling.address(recabling.MOVE.path, keys, end=end, _back=selection.list_url))


def add_pages(config: Any, resource: str, *, cabled: bool, enabled: bool) -> None:
    """Adds the pages of the actions on a resource, given as application and name."""
    views = {"enable": enable, "disable": disable} if enabled else {}
    of_cables = {"connect": connect, "move-cables": move_cables, "disconnect": disconnect} if cabled else {}
    for name, view in {**views, **of_cables}.items():
        config.add_netinv_page(f"/{resource}/{name}/", view, permission="change", methods=["POST"], resource=resource)


def includeme(config: Any) -> None:
    """Adds the pages of every resource that takes cables, of all installed applications."""
    for app in config.registry.netinv.apps.values():
        for resource in app.resources:
            if issubclass(resource.model, Cabled) and resource.of is None:
                enabled = ENABLED in resource.model.__table__.c
                add_pages(config, f"{app.name}/{resource.name}", cabled=True, enabled=enabled)
