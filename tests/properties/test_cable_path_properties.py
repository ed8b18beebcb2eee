"""Cable paths through random topologies of panels and circuits, compared with a naive walk from end to end."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from netinv_dcim.cabling.paths import MAX_STACK_DEPTH
from netinv_testing import Service
from tests.support.cabling_fixtures import CABLES, PATHS, End, Panel, Plant

CONNECTED, PLANNED = "connected", "planned"
SINGLE, SHARED = 3, (2, 2, 3)  # panels of one position, and positions of the others
Step = list[str | None]


@dataclasses.dataclass(repr=False)
class Site:
    """Ends of every kind that takes a network cable, and the cables between them: by end, the cable and its other
    end.
    """

    plant: Plant
    interfaces: list[End]
    sides: list[End]
    panels: list[Panel]
    device: str
    cables: dict[End, tuple[str, End]] = dataclasses.field(default_factory=dict)
    planned: set[str] = dataclasses.field(default_factory=set)

    @property
    def ends(self) -> list[End]:
        """All ends."""
        return [*self.interfaces, *self.sides, *(end for panel in self.panels for end in (panel.rear, *panel.fronts))]

    def behind(self, end: End, stack: list[int]) -> End | None:
        """The end at which a path goes on behind an end, ``None`` where it stops; takes and leaves positions on the
        stack.
        """
        if end in self.sides:
            place = self.sides.index(end)
            return self.sides[place ^ 1] if (place ^ 1) < len(self.sides) else None
        for panel in self.panels:
            shared = len(panel.fronts) > 1
            if end in panel.fronts and not shared:
                return panel.rear
            if end in panel.fronts and len(stack) < MAX_STACK_DEPTH:
                stack.append(panel.fronts.index(end))
                return panel.rear
            if end == panel.rear and not shared:
                return panel.fronts[0]
            if end == panel.rear and stack and stack[-1] < len(panel.fronts):
                return panel.fronts[stack.pop()]
        return None

    def walk(self, origin: End) -> tuple[list[Step], End | None, bool | None]:
        """The path from an end as a trace shows it, where it leads, and if it is reachable."""
        steps: list[Step] = []
        stack: list[int] = []
        seen: set[tuple[End, tuple[int, ...]]] = set()
        near, far = origin, None
        while near in self.cables and (near, tuple(stack)) not in seen:
            seen.add((near, tuple(stack)))
            cable, far = self.cables[near]
            steps.append([near.id, cable, far.id])
            following = self.behind(far, stack)
            if following is None:
                ends_here = far in self.interfaces or far == self.sides[-1]
                connected = not self.planned & {str(cable) for _, cable, _ in steps}
                return steps, far if ends_here else None, ends_here and connected
            near = following
        if steps and near not in self.cables:
            steps.append([near.id, None, None])
        return steps, None, False if steps else None

    def fits(self, a: End, b: End) -> bool:
        """Two ends may share a cable."""
        for panel in self.panels:
            if panel.rear in (a, b) and {a, b} & set(panel.fronts):
                return False
        sizes = {len(panel.fronts) for panel in self.panels if panel.rear in (a, b)}
        return len(sizes) < 2 or 1 in sizes

    def lay(self, pairs: list[tuple[End, End]]) -> None:
        """Lays cables in one request."""
        for (a, b), path in zip(pairs, self.plant.cables(*pairs), strict=True):
            cable = path.rstrip("/").rpartition("/")[2]
            self.cables[a], self.cables[b] = (cable, b), (cable, a)

    def plan(self, cables: list[str]) -> None:
        """Changes cables from connected to planned, and planned ones to connected."""
        if cables:
            self.planned ^= set(cables)
            states = {cable: PLANNED if cable in self.planned else CONNECTED for cable in cables}
            self.plant.api.patch(CABLES, [{"id": cable, "status": status} for cable, status in states.items()])

    def remove(self, cables: list[str]) -> None:
        """Deletes cables in one request."""
        if cables:
            self.plant.api.delete(CABLES, [{"id": cable} for cable in cables])
            self.cables = {end: line for end, line in self.cables.items() if line[0] not in cables}
            self.planned -= set(cables)

    def all_cables(self) -> list[str]:
        """The ids of the cables, in order of their ends."""
        return list(dict.fromkeys(cable for cable, _ in self.cables.values()))

    def shown(self) -> dict[str, tuple[str | None, bool | None]]:
        """Where the lists of interfaces and circuit sides say that their paths lead."""
        interfaces = self.plant.api.get(PATHS["dcim.interface"], {"device_id": self.device, "limit": 0})["results"]
        query = {"id": [side.id for side in self.sides], "limit": 0}
        sides = self.plant.api.get(PATHS["circuits.circuittermination"], query)["results"]
        found = {}
        for item in [*interfaces, *sides]:
            leads_to = item["connected_endpoint"] and item["connected_endpoint"]["id"]
            found[item["id"]] = (leads_to, item["connected_endpoint_reachable"])
        return found

    def expected(self) -> dict[str, tuple[str | None, bool | None]]:
        """Where they lead by the naive walk."""
        walks = {end.id: self.walk(end) for end in [*self.interfaces, *self.sides]}
        return {key: (leads_to and leads_to.id, reachable) for key, (_, leads_to, reachable) in walks.items()}


@pytest.fixture(scope="session")
def site(service: Service) -> Site:
    """Six interfaces, panels, two circuits and the only side of a third one; no cables."""
    plant = Plant(service.api, service.unique)
    device = plant.device()
    sides = [*plant.circuit(), *plant.circuit(), plant.circuit()[0]]
    only = service.api.get(sides[-1].path)["circuit"]["id"]
    other = service.api.get(PATHS["circuits.circuittermination"], {"circuit_id": only, "term_side": "Z"})["results"]
    service.api.delete(other[0]["url"])
    panels = [plant.panel(positions) for positions in (*[1] * SINGLE, *SHARED)]
    return Site(plant, plant.ends("dcim.interface", 6, device), sides, panels, device)


def draw_pairs(draw: Any, site: Site, ends: list[End]) -> list[tuple[End, End]]:
    """Pairs of ends that fit each other, each end once."""
    order = draw(st.permutations(ends))
    pairs = list(zip(order[::2], order[1::2], strict=False))
    return [(a, b) for a, b in pairs[: draw(st.integers(1, len(pairs)))] if site.fits(a, b)]


@settings(max_examples=8)
@given(st.data())
@pytest.mark.night
def test_paths_lead_where_a_walk_from_end_to_end_does(site: Site, data: st.DataObject) -> None:
    site.remove(site.all_cables())
    for _ in range(2):
        free = [end for end in site.ends if end not in site.cables]
        if len(free) > 1 and (pairs := draw_pairs(data.draw, site, free)):
            site.lay(pairs)
        cables = site.all_cables()
        site.plan(data.draw(st.lists(st.sampled_from(cables), max_size=2, unique=True)) if cables else [])
        assert site.shown() == site.expected()
        event(f"{max([len(site.walk(end)[0]) for end in site.interfaces])} cables on the longest path")
        for end in data.draw(st.lists(st.sampled_from([*site.interfaces, *site.sides]), max_size=4, unique=True)):
            assert site.plant.trace(end) == site.walk(end)[0]
        site.remove(data.draw(st.lists(st.sampled_from(cables), max_size=4, unique=True)) if cables else [])
        assert site.shown() == site.expected()
