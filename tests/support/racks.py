"""Racks at a site of their own, for tests of pages that show them."""

from __future__ import annotations

from typing import Any

from netinv_testing import Api

PATH = "/dcim/rack-elevations/"


class Room:
    """Racks at a site of their own, and devices in them."""

    def __init__(self, api: Api, make: Any, unique: Any) -> None:
        self.api, self.unique = api, unique
        self.site = make("/api/dcim/sites/", status="active")
        self.role = make("/api/dcim/device-roles/", color="c62828")["id"]
        self.maker = make("/api/dcim/manufacturers/")["id"]

    def rack(self, height: int = 10, **fields: Any) -> dict[str, Any]:
        """A rack with so many units."""
        body = {"name": self.unique(), "site": self.site["id"], "status": "active", "u_height": height, **fields}
        return dict(self.api.post("/api/dcim/racks/", body))

    def device(self, rack: dict[str, Any], position: int | None, height: int = 1, *, deep: bool = False) -> Any:
        """A device on the front of a rack, or in it without a position."""
        model = {"manufacturer": self.maker, "model": self.unique(), "slug": self.unique()}
        size = {"u_height": height, "is_full_depth": deep}
        kind = self.api.post("/api/dcim/device-types/", {**model, **size})["id"]
        place = {"site": rack["site"]["id"], "rack": rack["id"], "position": position}
        face = {} if position is None else {"face": "front"}
        body = {"name": self.unique(), "device_type": kind, "device_role": self.role, "status": "active"}
        return self.api.post("/api/dcim/devices/", {**body, **place, **face})

    @property
    def path(self) -> str:
        """The page with the racks of the site."""
        return f"{PATH}?site={self.site['slug']}"
