"""Rules of objects at locations: the site of the location, and the content types that its type accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.labels import capitalize
from netinv_core.models.base import Base
from netinv_core.read import listing
from netinv_core.write.referring_rules import Reading, related_by, through
from netinv_dcim.locations import Location, LocationType, base_sites, takers_of, within
from netinv_dcim.sites import Site

if TYPE_CHECKING:
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

PLACE = ("location_id", "site_id")
ABOVE = through("location.parent", to_root=True)
# What the rules about locations read. A change of it needs no other rule: objects move with their location, and types
# keep the content types of what is at their locations.
LOCATION_READS = (through("location"), through("location.location_type"), ABOVE)


def location_fits(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a location that is at another site than ``site_id``, or whose type does not accept the content type.

    Rule for any model with the columns :data:`PLACE`, about their changes.
    """
    _check_locations(uow, drafts, ".")


def location_fits_unpunctuated(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Same rule as :func:`location_fits`, for models whose error about the type ends without a full stop in the API."""
    _check_locations(uow, drafts, "")


def below_locations(model: type[Base]) -> tuple[Reading, Reading]:
    """Columns that a rule reads of the locations of a model's objects, and of those above them in the tree."""
    table, location = model.__table__, Location.__table__

    def pairs(uow: UnitOfWork, keys: Sequence[Any]) -> Any:
        child = location.alias()
        below = (
            sa.select(location.c.id, location.c.id.label("moved"))
            .where(location.c.id.in_(keys))
            .cte(recursive=True, nesting=True)
        )
        below = below.union(sa.select(child.c.id, below.c.moved).where(child.c.parent_id == below.c.id))
        return sa.select(below.c.moved, table.c.id).join(table, table.c.location_id == below.c.id)

    return ABOVE, related_by("dcim.location", "site_id", "parent_id", pairs=pairs, by=("location_id",))


def within_group(model: type[Base], field: str, message: str, *, named: str | None = None) -> Rule:
    """Returns a rule that rejects a location which is not within the location of a group.

    :param model: of the group, with a name and a location
    :param field: foreign key to the group
    :param message: error message; ``there`` is the location of the group, ``here`` that of the object
    :param named: field of the error, ``field`` unless given
    """
    attribute = f"{field}_id"

    def within_the_location_of_the_group(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects a location that is not within the location of the group."""
        changed = [
            draft
            for draft in drafts
            if draft["location_id"] and draft[attribute] and draft.changed("location_id", attribute)
        ]
        groups = listing.rows_of(uow, model, [draft[attribute] for draft in changed])
        checked = [draft for draft in changed if groups[draft[attribute]].location_id is not None]
        ancestors = within(uow, [draft["location_id"] for draft in checked])
        locations = listing.rows_of(
            uow,
            Location,
            [key for d in checked for key in (d["location_id"], groups[d[attribute]].location_id)],
        )
        for draft in checked:
            group, location_id = groups[draft[attribute]], draft["location_id"]
            if group.location_id not in ancestors[location_id]:
                values = {
                    "group": group.name,
                    "there": locations[group.location_id].name,
                    "here": locations[location_id].name,
                }
                draft.reject(named or field, message.format_map(values))

    return within_the_location_of_the_group


def _check_locations(uow: UnitOfWork, drafts: Sequence[Draft], stop: str) -> None:
    """Checks the changed locations of drafts. ``stop`` is the punctuation at the end of the error about the type."""
    placed = [draft for draft in drafts if draft["location_id"] is not None]
    if not placed:
        return
    sites = base_sites(uow, [draft["location_id"] for draft in placed])
    accepting = takers_of(uow, placed[0].endpoint.label, [draft["location_id"] for draft in placed])
    elsewhere = [
        draft
        for draft in placed
        if draft["site_id"] is not None and sites.get(draft["location_id"]) != draft["site_id"]
    ]
    _reject_other_site(uow, elsewhere)
    _reject_type(
        uow, [draft for draft in placed if draft["location_id"] not in accepting and draft not in elsewhere], stop
    )


def _reject_other_site(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects drafts whose location is at another site."""
    locations = listing.rows_of(uow, Location, [draft["location_id"] for draft in drafts])
    sites = listing.rows_of(uow, Site, [draft["site_id"] for draft in drafts])
    for draft in drafts:
        location, site = locations[draft["location_id"]].name, sites[draft["site_id"]].name
        draft.reject("location", f'Location "{location}" does not belong to site "{site}".')


def _reject_type(uow: UnitOfWork, drafts: Sequence[Draft], stop: str) -> None:
    """Rejects drafts at a location whose type does not accept their content type."""
    locations = listing.rows_of(uow, Location, [draft["location_id"] for draft in drafts])
    types = listing.rows_of(uow, LocationType, [location.location_type_id for location in locations.values()])
    for draft in drafts:
        kind, plural = types[locations[draft["location_id"]].location_type_id].name, draft.endpoint.plural
        draft.reject("location", f'{capitalize(plural)} may not associate to locations of type "{kind}"{stop}')
