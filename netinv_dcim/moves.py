"""Moves of locations: what is at a location, or at one below it, goes with it to another site."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core.models.columns import column_info
from netinv_core.read.name_lookup import descendants
from netinv_core.write.system_update import system_update_as_saved
from netinv_dcim.locations import Location, base_sites, locations
from netinv_dcim.racks import Rack, RackGroup

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


def placed_at_locations(registry: Registry) -> Iterator[Endpoint]:
    """Yields the endpoints of objects with a site and a location: rack groups, then racks, then the others."""
    location, first = registry.of_model(Location), [registry.of_model(RackGroup), registry.of_model(Rack)]
    found = [
        endpoint
        for endpoint in registry.endpoints.values()
        if endpoint is not location
        and {"site_id", "location_id"} <= set(endpoint.table.c.keys())
        and registry.target(column_info(endpoint.table.c.location_id).foreign_key) is location
    ]
    yield from sorted(found, key=lambda endpoint: (first.index(endpoint) if endpoint in first else 2, endpoint.label))


def contents_move_with_their_location(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Moves all objects at moved locations, and at those below them, to the site of their location.

    What follows these objects follows: devices their rack, VLANs their group. A SELECT for each model, and more only
    for models with objects at other sites.
    """
    moved = [draft.id for draft in drafts if not draft.new and draft.changed("site_id", "parent_id")]
    if not moved:
        return
    keys = list(uow.execute(descendants(uow.registry.of_model(Location), moved)).scalars())
    sites = base_sites(uow, keys)
    for endpoint in placed_at_locations(uow.registry):
        table = endpoint.table
        rows = uow.execute(
            sa.select(table.c.id, table.c.location_id, table.c.site_id).where(table.c.location_id.in_(keys))
        )
        elsewhere = {
            key: {"site_id": sites[location_id]}
            for key, location_id, site_id in rows
            if site_id not in (None, sites[location_id])
        }
        system_update_as_saved(uow, endpoint, elsewhere)


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    locations.after_save(contents_move_with_their_location)
