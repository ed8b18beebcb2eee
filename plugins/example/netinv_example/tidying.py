"""A job: windows that were planned, never confirmed, and are over by now, are cancelled."""

from __future__ import annotations

import datetime
from typing import Any

from netinv_extras.jobs import IntegerVar, Job, ObjectVar

WINDOWS = "example.maintenancewindow"


class CancelForgotten(Job):
    """Cancels the windows that nobody confirmed in time."""

    name = "Cancel forgotten maintenance windows"
    grouping = "Maintenance"
    description = "Windows that are over and still planned become cancelled."
    has_sensitive_variables = False

    days = IntegerVar("How long ago they ended, at least", min_value=0, default=1)
    site = ObjectVar("Only those of this site", model="dcim.site", required=False)

    def run(self, data: dict[str, Any], commit: bool) -> str:
        """Cancels them, all or none."""
        limit = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=data["days"])
        where = {"site": data["site"]["id"]} if data["site"] else {}
        forgotten = self.inventory.list(WINDOWS, status="planned", end__lte=limit.isoformat(), **where)
        for window in forgotten:
            self.log_info(f"was to end {window['end']}", window)
        self.inventory.update(WINDOWS, [{"id": window["id"], "status": "cancelled"} for window in forgotten])
        return f"{len(forgotten)} cancelled"
