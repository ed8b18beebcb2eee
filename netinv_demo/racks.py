"""Racks with their groups and roles, reservations, power panels and power feeds."""

from __future__ import annotations

from netinv_demo.company import DATA_CENTRE, INFRASTRUCTURE
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.plan import RACK_HEIGHT, HardwarePlan, PlannedRack, PlannedSite

# Role → colour, description.
RACK_ROLES = {
    "Network": ("1976d2", "Switches, routers, firewalls and patch panels"),
    "Compute": ("00838f", "Servers with their leaf switches"),
}
RESERVED_UNITS = 3
RESERVATIONS = 6


def load_racks(loader: DemoLoader, plan: HardwarePlan, tenants: dict[str, str]) -> dict[tuple[PlannedRack, str], str]:
    """Creates the racks and what belongs to them; returns the ids of the power feeds by rack and side."""
    roles = loader.create_named(
        "dcim.rackrole",
        [{"name": name, "color": color, "description": text} for name, (color, text) in RACK_ROLES.items()],
    )
    groups = _load_groups(loader, plan)
    ids = loader.create("dcim.rack", [_rack_body(loader, rack, groups, roles, tenants) for rack in plan.racks])
    for rack, key in zip(plan.racks, ids, strict=True):
        rack.id = key
    _reserve_units(loader, plan, tenants)
    return _load_feeds(loader, plan)


def _load_groups(loader: DemoLoader, plan: HardwarePlan) -> dict[tuple[PlannedSite, str], str]:
    """Creates the rack groups: rows of racks in a room."""
    rows = {(rack.site, rack.group): rack.room for rack in plan.racks}
    bodies = [
        {"name": name, "site": site.id, "location": site.rooms[room], "description": f"{name} in {room}"}
        for (site, name), room in rows.items()
    ]
    return dict(zip(rows, loader.create("dcim.rackgroup", bodies), strict=True))


def _rack_body(
    loader: DemoLoader,
    rack: PlannedRack,
    groups: dict[tuple[PlannedSite, str], str],
    roles: dict[str, str],
    tenants: dict[str, str],
) -> Body:
    return {
        "name": rack.name,
        "status": "active",
        "site": rack.site.id,
        "location": rack.site.rooms[rack.room],
        "group": groups[rack.site, rack.group],
        "role": roles[rack.role],
        "tenant": tenants[INFRASTRUCTURE],
        "facility_id": f"{rack.site.number:02}{rack.name[-3:]}",
        "serial": f"RK{loader.random.randrange(10**8):08}",
        "type": "4-post-cabinet",
        "width": 19,
        "u_height": RACK_HEIGHT,
        "outer_width": 800 if rack.role == "Network" else 600,
        "outer_depth": 1200 if rack.site.profile.kind == DATA_CENTRE else 1000,
        "outer_unit": "mm",
    }


def _reserve_units(loader: DemoLoader, plan: HardwarePlan, tenants: dict[str, str]) -> None:
    """Reserves free units of some racks for planned devices, on behalf of the user who loads the inventory."""
    with_space = [rack for rack in plan.racks if len(rack.free) >= RESERVED_UNITS]
    chosen = loader.random.sample(with_space, min(RESERVATIONS, len(with_space)))
    loader.create(
        "dcim.rackreservation",
        [
            {
                "rack": rack.id,
                "units": rack.free[-RESERVED_UNITS:],
                "user": loader.uow.identity.user_id,
                "tenant": tenants[INFRASTRUCTURE],
                "description": "Kept free for the refresh of 2027",
            }
            for rack in chosen
        ],
    )


def _load_feeds(loader: DemoLoader, plan: HardwarePlan) -> dict[tuple[PlannedRack, str], str]:
    """Creates two power panels for each site (one for offices), and a feed from each to every rack."""
    sides = {site: "AB"[: site.racks[0].feeds] for site in plan.sites}
    places = [(site, side) for site in plan.sites for side in sides[site]]
    bodies = [
        {"site": site.id, "location": site.rooms[site.racks[0].room], "name": f"{site.code.upper()} panel {side}"}
        for site, side in places
    ]
    panels = dict(zip(places, loader.create("dcim.powerpanel", bodies), strict=True))
    feeds = [(rack, side) for rack in plan.racks for side in sides[rack.site]]
    ids = loader.create(
        "dcim.powerfeed",
        [
            {
                "power_panel": panels[rack.site, side],
                "rack": rack.id,
                "name": f"{rack.name} {side}",
                "status": "active",
                "type": "primary" if side == "A" else "redundant",
                "voltage": 230,
                "amperage": 32,
            }
            for rack, side in feeds
        ],
    )
    return dict(zip(feeds, ids, strict=True))
