"""An action: ``POST /api/plugins/example/maintenance-windows/{id}/close/`` ends an active window now."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request

from netinv_core import Invalid, NotFound, documented, listing, save
from netinv_example.maintenance_windows import CANCELLED


@documented("example.maintenancewindow", status=200)
def close(request: Request) -> dict[str, Any]:
    """Ends an active window now, by the ordinary write path: rules, permissions and change record apply.

    :raises Invalid: when the window is not active
    """
    uow, endpoint, key = request.uow, request.context.endpoint, request.context.key
    row = listing.rows_for_change(uow, endpoint, [key], "change").get(key)
    if row is None:
        raise NotFound()
    if row["status"] == CANCELLED or not row["start"] < uow.now < row["end"]:
        raise Invalid.whole("Only an active maintenance window can be closed.")
    (closed,) = save.update(uow, endpoint, [{"id": key, "end": uow.now.isoformat()}], partial=True, single=True)
    return closed


def includeme(config: Any) -> None:
    """Adds the route."""
    config.add_netinv_action("example/maintenance-windows", "close", post=close, permission="change")
