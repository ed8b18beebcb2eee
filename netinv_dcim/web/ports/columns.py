"""Columns of tables of ports: the other end of the path, by way of a panel, and the cable."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import named_objects
from netinv_dcim.cabling.models import CABLE_TYPES, Cabled, PathEnd
from netinv_dcim.cabling.paths import CABLE, CONNECTED, CableNetwork, End
from netinv_dcim.web.connect.page import connect_path
from netinv_web.cells import CellReader
from netinv_web.lists.columns import ListColumn
from netinv_web.markup import EMPTY, dot, link, object_link, without_controls
from netinv_web.menu import may
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

WAY = Markup('<span class="way">%s</span>')
END = Markup('<span class="end">%s</span>')  # one line, cut if it is too long
BY_WAY = Markup('<span class="way end">%s →</span> %s')
NOTED = Markup('%s <span class="way">%s</span>')
CABLE_MARKUP = Markup('<span class="port-cable">%s%s %s</span>')
HIDDEN, STOPS, BROKEN = "not visible to you", "the path ends there", "not connected"


@dataclasses.dataclass(frozen=True)
class PortPath:
    """The way of a path: the other end of its first cable, and its destination, if it has one.

    ``whole``: every cable on it is connected. ``split``: it leads to several ends.
    """

    peer: End
    destination: End | None
    whole: bool
    split: bool = False


@hookimpl
def netinv_web_columns(endpoint: Endpoint) -> list[ListColumn]:
    """The columns of a resource whose objects take cables."""
    if not issubclass(endpoint.model, Cabled):
        return []
    return [
        ListColumn("far_end", "Connected to", far_end, wraps=True, labelled=True),
        ListColumn("cable", "Cable", cable, (CABLE, "view")),
    ]


def far_end(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of cells with the destination of the path, after the panel that leads there; *Connect* at free
    ports.
    """
    endpoint = place.endpoint
    model: Any = endpoint.model
    names = ("id", "cable_id", "cable_peer_type", "cable_peer_id")
    more = ("connected_endpoint_type", "connected_endpoint_id", "connected_endpoint_reachable")
    known = [name for name in (*names, *more, "type", *model.fit_columns) if name in endpoint.table.c]
    places = {name: plan.column(place, name) for name in known}

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Markup]:
        values = [types.SimpleNamespace(**{name: row[index] for name, index in places.items()}) for row in rows]
        ways = _ways(uow, endpoint, values)
        ends = {end for way in ways.values() for end in (way.peer, way.destination) if end is not None}
        named = named_objects(uow, NAME_IN_CONTEXT, ends, permissions.visible_for(uow))
        cells = {key: _way_markup(uow, way, named) for key, way in ways.items()}
        if may(uow, endpoint, "change") and may(uow, uow.registry[CABLE], "add"):
            for port in values:
                if port.cable_id is None and model.cannot_be_cabled(port) is None:
                    cells[port.id] = WAY % link(connect_path(endpoint, {"id": port.id}), "Connect")
        return cells

    batch = plan.batch(load)
    return lambda row, page: page.batches[batch].get(row[places["id"]], EMPTY)


def _ways(uow: UnitOfWork, endpoint: Endpoint, ports: Sequence[Any]) -> dict[Any, PortPath]:
    """The ways from ports with a cable, by id. Ends of paths know theirs; those from panels are traced."""
    cabled = [port for port in ports if port.cable_id is not None and port.cable_peer_id is not None]
    peers = {port.id: End(port.cable_peer_type, port.cable_peer_id) for port in cabled}
    if issubclass(endpoint.model, PathEnd):
        return {
            port.id: PortPath(
                peers[port.id],
                End(port.connected_endpoint_type, port.connected_endpoint_id) if port.connected_endpoint_id else None,
                bool(port.connected_endpoint_reachable),
            )
            for port in cabled
        }
    paths = CableNetwork(uow).trace([End(endpoint.label, port.id) for port in cabled]) if cabled else {}
    return {
        origin.id: PortPath(peers[origin.id], path.destination, path.active, path.split)
        for origin, path in paths.items()
    }


def _way_markup(uow: UnitOfWork, way: PortPath, named: Mapping[Any, Any]) -> Markup:
    """The markup of a way. Ends that the user may not view have no name."""
    peer, destination = _end_markup(uow, named.get(way.peer)), way.destination
    if destination is None:
        return END % peer if way.split else NOTED % (END % peer, STOPS)
    direct = destination == way.peer
    shown = END % peer if direct else BY_WAY % (peer, END % _end_markup(uow, named.get(destination)))
    return shown if way.whole else NOTED % (shown, BROKEN)


def _end_markup(uow: UnitOfWork, end: Mapping[str, Any] | None) -> Markup:
    """A link to an end, which is one that the user may view."""
    if end is None:
        return WAY % HIDDEN
    return object_link(uow, str(end["url"]), without_controls(str(end["display"])), viewable=True)


def cable(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of cells with the colour and the label of the cable, and its status if that is not connected."""
    key, target = plan.column(place, "cable_id"), plan.join(place, "cable_id")
    assert target is not None
    status = plan.join(target, "status_id")
    assert status is not None
    label, kind, color = (plan.column(target, name) for name in ("label", "type", "color"))
    slug, state = plan.column(status, "slug"), plan.column(status, "name")

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
        keys = [row[key] for row in rows if row[key] is not None]
        return dict.fromkeys(permissions.visible_ids(uow, target.endpoint, keys))

    batch = plan.batch(load)

    def read(row: Row, page: RowSet) -> Markup:
        if row[key] is None or row[key] not in page.batches[batch]:
            return EMPTY
        text = without_controls(row[label] or CABLE_TYPES.labels.get(row[kind]) or "Cable")
        mark = dot(row[color]) if row[color] else ""
        note = "" if row[slug] == CONNECTED else WAY % row[state]
        return CABLE_MARKUP % (mark, link(object_path(target.endpoint, row[key]), text), note)

    return read
