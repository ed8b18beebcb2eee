"""Power panels and the power feeds that lead from them to racks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import PROTECT, Choices, Comments, Name, Ref, choice, foreign_key, integer
from netinv_core.presentation import Presentation, within
from netinv_core.read import listing
from netinv_core.read.filters import number, one_of, related, tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.write.draft import ALL
from netinv_core.write.referring_rules import through
from netinv_dcim.cabling.models import POWER_DRAW, POWER_SUPPLY, PathEnd, cable_key, path_fields, path_filters
from netinv_dcim.located_objects import LOCATION_READS, PLACE, below_locations, location_fits, within_group
from netinv_dcim.locations import Location
from netinv_dcim.rack_position import move_children, places_of_moved
from netinv_dcim.racks import Rack, RackGroup, rack_display_name, rack_groups
from netinv_dcim.sites import Site
from netinv_extras.statuses import status

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

AC, THREE_PHASE = "ac", "three-phase"
FEED_TYPES = Choices.of(primary="Primary", redundant="Redundant")
SUPPLIES = Choices.of((AC, "AC"), ("dc", "DC"))
PHASES = Choices.of(("single-phase", "Single phase"), (THREE_PHASE, "Three-phase"))
# Power of a three-phase system relative to one phase, with the voltage between two lines: the square root of 3.
OF_THREE_PHASES = 1.732
ELSEWHERE = 'Rack group "{group}" belongs to a location ("{there}") that does not contain "{here}".'


class PowerPanel(Primary):
    """A distribution board at a site, from which feeds lead to racks."""

    __tablename__ = "dcim_power_panel"
    __table_args__ = (unique_set("site_id", "name"),)

    site_id: Mapped[Ref] = foreign_key(Site, on_delete=PROTECT, related_name="power_panels")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="power_panels")
    rack_group_id: Mapped[Ref | None] = foreign_key(RackGroup, on_delete=PROTECT, related_name="power_panels")
    name: Mapped[Name]


class PowerFeed(PathEnd, Primary):
    """A circuit from a power panel, usually to a rack.

    Voltage is in volts (negative: DC below ground), amperage in amperes. ``available_power``, in volt-amperes, is
    ``max_utilization`` per cent of the rating.
    """

    connector_kind = POWER_SUPPLY
    compatible_with = frozenset({POWER_DRAW})
    holder = "power_panel"
    holder_notes = ("site.name",)

    __tablename__ = "dcim_power_feed"
    __table_args__ = (unique_set("power_panel_id", "name"),)

    power_panel_id: Mapped[Ref] = foreign_key(
        PowerPanel, on_delete=PROTECT, related_name="power_feeds", count_field="powerfeed_count"
    )
    rack_id: Mapped[Ref | None] = foreign_key(
        Rack, on_delete=PROTECT, related_name="power_feeds", count_field="powerfeed_count"
    )
    name: Mapped[Name]
    status_id: Mapped[Ref] = status(initial=["Active", "Failed", "Offline", "Planned"])
    type: Mapped[str] = choice(FEED_TYPES, default="primary")
    supply: Mapped[str] = choice(SUPPLIES, default=AC)
    phase: Mapped[str] = choice(PHASES, default="single-phase")
    voltage: Mapped[int] = integer(-32768, 32767, default=120)
    amperage: Mapped[int] = integer(1, 32767, default=20)
    max_utilization: Mapped[int] = integer(1, 100, "Maximum permissible draw (percentage)", default=80)
    available_power: Mapped[int] = integer(default=0, hidden=True, in_object_data=True)
    comments: Mapped[Comments]


power_panels = Resource(
    PowerPanel,
    "power-panels",
    type_order="~1 ",
    brief=["name", "powerfeed_count"],
    order=["site.name_key", "name"],
    search=["name"],
    filters=[*tree_pair("region", "site.region"), tree("location"), *tree_pair("rack_group")],
    presentation=Presentation(
        columns=["site", "location", "rack_group", "powerfeed_count"],
        facets=["site"],
        depends_on={"location": {"site": "site_id"}, "rack_group": {"site": "site_id"}},
        name_in_context=(within, "site.name", "name"),
    ),
)

power_feeds = Resource(
    PowerFeed,
    "power-feeds",
    brief=["name", "cable"],
    brief_fields=[cable_key],
    order=["power_panel.site.name_key", "power_panel.name", "name"],
    search=["name", "comments"],
    fields=[*path_fields],
    filters=[
        *tree_pair("region", "power_panel.site.region"),
        related("site_id", "power_panel.site", by=()),
        related("site", "power_panel.site", by="slug", ids=False),
        one_of("type", FEED_TYPES, multiple=False),
        one_of("supply", SUPPLIES, multiple=False),
        one_of("phase", PHASES, multiple=False),
        number("available_power"),
        *path_filters,
    ],
    example={"voltage": 230},
    presentation=Presentation(
        columns=["power_panel", "rack", "status", "type", "supply", "voltage", "amperage", "phase"],
        facets=["status", "type", "supply", "phase"],
        leading=["trace"],
        name_in_context=(within, "power_panel.name", "name"),
    ),
)

power_panels.rule(reads=LOCATION_READS, changing=PLACE)(location_fits)


@power_panels.rule(reads=[through("rack_group", "site_id")])
def panels_are_at_the_site_of_their_rack_group(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a rack group of another site than that of the panel."""
    groups = listing.rows_of(uow, RackGroup, [draft["rack_group_id"] for draft in drafts])
    elsewhere = [
        draft
        for draft in drafts
        if draft["rack_group_id"] and groups[draft["rack_group_id"]].site_id != draft["site_id"]
    ]
    sites = listing.rows_of(
        uow, Site, [key for draft in elsewhere for key in (draft["site_id"], groups[draft["rack_group_id"]].site_id)]
    )
    for draft in elsewhere:
        group = groups[draft["rack_group_id"]]
        group_site, panel_site = sites[group.site_id].name, sites[draft["site_id"]].name
        draft.reject(ALL, f"Rack group {group.name} ({group_site}) is in a different site than {panel_site}")


power_panels.rule(reads=[through("rack_group", "location_id"), *below_locations(PowerPanel)])(
    within_group(RackGroup, "rack_group", ELSEWHERE)
)


def panels_move_with_their_group(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Moves the panels of moved rack groups and of the groups below them to the site and location of the group."""
    places, panel = places_of_moved(uow, drafts), PowerPanel.__table__
    rows = uow.execute(sa.select(panel).where(panel.c.rack_group_id.in_(list(places)))).all() if places else []
    move_children(uow, uow.registry.of_model(PowerPanel), [(row, *places[row.rack_group_id]) for row in rows])


@power_feeds.prepare
def power_follows_from_the_rating(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Computes ``available_power`` in volt-amperes. It is stored so that lists can be filtered by it."""
    for draft in drafts:
        if draft.changed("voltage", "amperage", "max_utilization", "phase"):
            power = abs(draft["voltage"]) * draft["amperage"] * (draft["max_utilization"] / 100)
            draft["available_power"] = round(power * (OF_THREE_PHASES if draft["phase"] == THREE_PHASE else 1))


@power_feeds.rule
def voltage_suits_the_supply(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a voltage of 0, and a negative one for AC supply."""
    for draft in drafts:
        if draft["voltage"] == 0:
            draft.reject("voltage", "This value may not be 0.")
        elif draft["voltage"] < 0 and draft["supply"] == AC:
            draft.reject("voltage", "Voltage cannot be negative for AC supply")


@power_feeds.rule(reads=[through("rack", "site_id"), through("power_panel", "site_id")])
def racks_are_at_the_site_of_the_panel(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a rack of another site than that of the panel."""
    changed = [draft for draft in drafts if draft["rack_id"] is not None and draft.changed("rack_id", "power_panel_id")]
    racks = listing.rows_of(uow, Rack, [draft["rack_id"] for draft in changed])
    panels = listing.rows_of(uow, PowerPanel, [draft["power_panel_id"] for draft in changed])
    sites = listing.rows_of(uow, Site, [row.site_id for row in (*racks.values(), *panels.values())])
    for draft in changed:
        rack, panel = racks[draft["rack_id"]], panels[draft["power_panel_id"]]
        if rack.site_id != panel.site_id:
            rack_text, panel_text = (
                f"{rack_display_name(rack.name, rack.facility_id)} ({sites[rack.site_id].name})",
                f"{panel.name} ({sites[panel.site_id].name})",
            )
            draft.reject(ALL, f"Rack {rack_text} and power panel {panel_text} are in different sites")


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    rack_groups.after_save(panels_move_with_their_group)
