"""The map of the numbers of a VLAN group: rows of 128, in which VLANs and the free numbers between them are parts.

A part is as wide as its text at least, so parts are in order, but not to scale. Rows that are free or used as a whole
are one row.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_ipam.utilization import VLAN_IDS
from netinv_ipam.vlans import VLAN
from netinv_web import static_files
from netinv_web.extensions import Panel
from netinv_web.markup import without_controls
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

VLAN_LABEL, GROUP = "ipam.vlan", "ipam.vlangroup"
TEMPLATE = "netinv_ipam:web/templates/vlan_map.jinja2"
PER_ROW = 128  # numbers
Numbers = Mapping[int, "Named | None"]


@dataclasses.dataclass(frozen=True)
class Named:
    """The id and the name of a VLAN."""

    key: Any
    name: str


@dataclasses.dataclass(frozen=True)
class Range:
    """Consecutive numbers that are used, or free. ``path`` leads to their VLANs, or to the form of the first.

    ``name`` is that of a single VLAN.
    """

    first: int
    last: int
    used: bool
    path: str = ""
    name: str = ""

    @property
    def text(self) -> str:
        """The numbers: ``10–19``."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    @property
    def count(self) -> int:
        """Their number."""
        return self.last - self.first + 1

    @property
    def title(self) -> str:
        """Their text, with the name or the state."""
        if self.used:
            return f"{self.text} {self.name}" if self.name else f"{self.text}: used"
        return f"{self.text}: free"

    @property
    def width(self) -> int:
        """The share of the width of a row that they take: 1 for single numbers, one more for each doubling."""
        return min(self.count, PER_ROW).bit_length()


@dataclasses.dataclass(frozen=True)
class MapRow:
    """A row of the map, or several that are alike."""

    first: int
    parts: Sequence[Range]

    @property
    def text(self) -> str:
        """The numbers of the row."""
        return f"{self.first}–{self.parts[-1].last}"


def numbers_of(uow: UnitOfWork, group: Any) -> dict[int, Named | None]:
    """The numbers of a group that are used, with the VLAN; ``None`` if the user may not view it. One statement."""
    table = table_of(VLAN)
    visible = sa.and_(sa.true(), *permissions.visible(uow, uow.registry.of_model(VLAN), table))
    columns = (table.c.vid, table.c.id, table.c.name, visible)
    statement = sa.select(*columns).where(table.c.group_id == group).order_by(table.c.vid)
    return {
        vid: Named(key, without_controls(name)) if seen else None
        for vid, key, name, seen in uow.execute(statement).tuples()
    }


def ranges_of(numbers: Numbers) -> list[Range]:
    """The ranges of used and of free numbers, in order."""
    found = []
    for used, group in itertools.groupby(range(1, VLAN_IDS + 1), key=lambda number: number in numbers):
        members = list(group)
        found.append(Range(members[0], members[-1], used))
    return found


def rows_of(ranges: Sequence[Range]) -> list[MapRow]:
    """The rows of the map. Those that lie within one range are one."""
    rows: list[MapRow] = []
    parts = [part for item in ranges for part in _by_row(item)]
    for place, group in itertools.groupby(parts, key=lambda part: (part.first - 1) // PER_ROW):
        members = list(group)
        before = rows[-1].parts if rows else ()
        if len(before) == 1 == len(members) and before[0].used == members[0].used:
            rows[-1] = MapRow(rows[-1].first, [dataclasses.replace(before[0], last=members[0].last)])
        else:
            rows.append(MapRow(place * PER_ROW + 1, members))
    return rows


def _by_row(item: Range) -> Iterator[Range]:
    """The parts of a range, one in each row."""
    first = item.first
    while first <= item.last:
        last = min(item.last, -(-first // PER_ROW) * PER_ROW)
        yield dataclasses.replace(item, first=first, last=last)
        first = last + 1


def preset_path(group: Mapping[str, Any], number: int) -> str:
    """The form of a VLAN with this number in a group."""
    query = {"vid": number, "group": group["id"]}
    query |= {name: group[name]["id"] for name in ("site", "location") if group.get(name)}
    return f"/ipam/vlans/add/?{urlencode(query)}"


def group_map(request: Request, endpoint: Endpoint, group: Mapping[str, Any]) -> dict[str, Any] | None:
    """The map of a group; ``None`` for users who may view no VLANs."""
    uow, vlans = request.uow, request.uow.registry[VLAN_LABEL]
    if not may(uow, vlans, "view"):
        return None
    numbers, may_add = numbers_of(uow, group["id"]), may(uow, vlans, "add")
    rows = [
        dataclasses.replace(row, parts=[_link_part(part, group, numbers, may_add=may_add) for part in row.parts])
        for row in rows_of(ranges_of(numbers))
    ]
    return {
        "rows": rows,
        "used": len(numbers),
        "free": VLAN_IDS - len(numbers),
        "name": group["name"],
        "may_add": may_add,
        "style": static_files.path_of(request, "prefixes.css", "ipam"),
    }


def _link_part(part: Range, group: Mapping[str, Any], numbers: Numbers, *, may_add: bool) -> Range:
    """A part with its path, and the name of a single VLAN."""
    if not part.used:
        return dataclasses.replace(part, path=preset_path(group, part.first)) if may_add else part
    if part.count > 1:
        query = {"group_id": group["id"], "vid__gte": part.first, "vid__lte": part.last}
        return dataclasses.replace(part, path=f"/ipam/vlans/?{urlencode(query)}")
    vlan = numbers[part.first]
    return part if vlan is None else dataclasses.replace(part, path=f"/ipam/vlans/{vlan.key}/", name=vlan.name)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> list[Panel]:
    """The panel of a VLAN group."""
    if endpoint.label != GROUP:
        return []
    return [Panel("numbers", "VLAN IDs", group_map, "main", template=TEMPLATE, position=20)]
