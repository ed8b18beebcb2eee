"""The map of a prefix: its child prefixes and the gaps between them as rectangles in a grid of 16 columns.

Networks are aligned, so each is a rectangle: a part of a row, or whole rows. One that is smaller than a cell shares a
cell with others. One statement reads the networks, and one the names of what colours them.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_dcim.rack_views.svg_text import readable_on
from netinv_extras.statuses import Status
from netinv_ipam import utilization
from netinv_ipam.free_space import Block, blocks, gaps, network_text
from netinv_ipam.networks import BITS, packed, parse
from netinv_ipam.prefixes import Prefix
from netinv_ipam.roles import Role
from netinv_ipam.taken_space import NETWORKS, child_filters, children
from netinv_ipam.web.tree import offered_blocks
from netinv_tenancy.tenants import Tenant

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

COLUMNS, MAX_CELLS = 16, 256
WIDTH, HEIGHT = 40, 28  # pixels of a cell
MAX_READ = 20_000  # networks
MAX_NAMED = 30  # entries of the legend
PALETTE = ("2f6fb5", "c05a00", "2e7d32", "7b4bb0", "a3231f", "00798c", "8a6d00", "b0417e", "4c5a67", "5d8a00")
NAMED: Mapping[str, Any] = {"role": Role, "status": Status, "tenant": Tenant}
FILL = "fill"
COLORINGS = (*NAMED, FILL)
STEPS = 4  # of fill
KINDS = {
    **{f"fill-{step}": f"up to {step * 100 // STEPS} %" for step in range(STEPS + 1)},
    **{"plain": "without", "mixed": "several", "hidden": "hidden", "free": "free"},
}
_table: Any = Prefix.__table__


@dataclasses.dataclass(frozen=True)
class Area:
    """A rectangle of a drawing, in pixels. ``kind`` is the class of its colour, where it has no ``color``."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    title: str
    text: str = ""
    path: str = ""
    color: str = ""

    @property
    def text_color(self) -> str:
        """The colour of the text upon a colour."""
        return readable_on(self.color) if self.color else ""


@dataclasses.dataclass(frozen=True)
class MapDrawing:
    """Rectangles and the meaning of their colours: name, kind, colour and number."""

    areas: Sequence[Area]
    width: int
    height: int
    legend: Sequence[tuple[str, str, str, int]] = ()


@dataclasses.dataclass
class Child:
    """A direct child of the prefix: ``value`` is what colours it. One that the user may not view has no ``key``."""

    key: Any
    low: int
    length: int
    value: Any


def rectangle(first: int, count: int, cells: int) -> tuple[int, int, int, int]:
    """Place and size, in pixels, of aligned cells: ``first`` and the ``count - 1`` after it, of so many in all."""
    columns = min(COLUMNS, cells)
    wide, high = min(count, columns), max(count // columns, 1)
    return first % columns * WIDTH, first // columns * HEIGHT, wide * WIDTH, high * HEIGHT


def size_of(cells: int) -> tuple[int, int]:
    """Width and height of a drawing of so many cells."""
    return min(COLUMNS, cells) * WIDTH, max(cells // COLUMNS, 1) * HEIGHT


class Map:
    """The map of a prefix, given its representation, coloured by one of :data:`COLORINGS`. At most three statements."""

    def __init__(self, uow: UnitOfWork, endpoint: Endpoint, prefix: Mapping[str, Any], coloring: str) -> None:
        self._uow, self._endpoint, self._prefix, self._coloring = uow, endpoint, prefix, coloring
        network = parse(str(prefix["prefix"]))
        self._version, self._length, self._low, self._last = (
            network.version,
            network.prefixlen,
            network.first,
            network.last,
        )
        self._bits = BITS[self._version]
        self._cell = min(self._bits, self._length + (MAX_CELLS - 1).bit_length())
        self._cells = 1 << (self._cell - self._length)
        self._vrf = str(prefix["vrf"]["id"]) if prefix["vrf"] else ""
        self._may_add = False
        self.children, self.end = self._read()

    def _read(self) -> tuple[list[Child], int]:
        """The direct children in order, and the first address behind those that were read: one statement."""
        limits = permissions.visible(self._uow, self._endpoint, _table)
        column = _table.c[f"{self._coloring}_id"] if self._coloring in NAMED else sa.null()
        columns = (_table.c.id, _table.c.network, _table.c.prefix_length, column, sa.and_(sa.true(), *limits))
        order = [_table.c.network, _table.c.prefix_length, _table.c.id]
        statement = sa.select(*columns).where(children(self._prefix, NETWORKS)).order_by(*order).limit(MAX_READ + 1)
        found, end = list[Child](), -1
        rows = self._uow.execute(statement).tuples().all()
        for key, network, length, value, visible in rows[:MAX_READ]:
            low = int.from_bytes(network, "big")
            if low > end:
                end = low + (1 << (self._bits - length)) - 1
                found.append(Child(key if visible else None, low, length, value if visible else None))
        return found, self._last + 1 if len(rows) <= MAX_READ else int.from_bytes(rows[MAX_READ][1], "big")

    @property
    def is_host(self) -> bool:
        """True for a single address, which nothing is within."""
        return self._length == self._bits

    def draw(self, *, may_add: bool) -> MapDrawing:
        """The drawing, with links to the blocks, and to the form of a prefix in the gaps."""
        self._may_add = may_add
        large = [child for child in self.children if child.length <= self._cell]
        shared: dict[int, list[Child]] = {}
        for child in self.children:
            if child.length > self._cell:
                shared.setdefault(self._index(child.low), []).append(child)
        names = self._names()
        colors = {value: PALETTE[at % len(PALETTE)] for at, value in enumerate(names)}
        colors |= {value: color for value, (_, color) in names.items() if color}
        shares = (
            utilization.of_prefixes(self._uow, [child.key for child in large if child.key])
            if self._coloring == FILL
            else {}
        )
        areas = [self._of_child(child, names, colors, shares) for child in large]
        areas += [self._of_cell(index, found, names, colors) for index, found in shared.items()]
        areas += self._free([*((child.low, child.length) for child in large), *map(self._block_of, shared)])
        areas.sort(key=lambda area: (area.y, area.x))
        numbers = collections.Counter(child.value for child in self.children)
        legend = [(names[value][0], "", colors[value], numbers[value]) for value in names][:MAX_NAMED]
        kinds = collections.Counter(area.kind for area in areas)
        legend += [(title, kind, "", kinds[kind]) for kind, title in KINDS.items() if kinds[kind]]
        return MapDrawing(areas, *size_of(self._cells), legend)

    def _index(self, address: int) -> int:
        return (address - self._low) >> (self._bits - self._cell)

    def _block_of(self, index: int) -> Block:
        return self._low + (index << (self._bits - self._cell)), self._cell

    def _names(self) -> dict[Any, tuple[str, str]]:
        """Names and colours by id of what colours the map, by name: one statement."""
        model = NAMED.get(self._coloring)
        keys = {child.value for child in self.children} - {None}
        if model is None or not keys:
            return {}
        table = model.__table__
        color = table.c.color if "color" in table.c else sa.literal("")
        rows = self._uow.execute(sa.select(table.c.id, table.c.name, color).where(table.c.id.in_(sorted(keys))))
        return {key: (name, color) for key, name, color in sorted(rows.tuples(), key=lambda row: str(row[1]))}

    def _area(self, block: Block, kind: str, title: str, path: str = "", color: str = "") -> Area:
        count = 1 << (self._cell - block[1])
        place = rectangle(self._index(block[0]), count, self._cells)
        text = network_text(block, self._version)
        shown = text if len(text) * 7 < place[2] else self._short(block)
        return Area(*place, kind, f"{text}: {title}", shown, path, color)

    def _short(self, block: Block) -> str:
        """The part of a network in which it differs from its neighbours."""
        parts = packed(block[0], self._version)
        at = (block[1] - 1) // 8
        return str(parts[at]) if self._version == 4 else parts[at - at % 2 : at - at % 2 + 2].hex().lstrip("0") or "0"

    def _of_child(self, child: Child, names: Any, colors: Any, shares: Any) -> Area:
        block = child.low, child.length
        if child.key is None:
            return self._area(block, "hidden", "taken")
        path = f"/ipam/prefixes/{child.key}/"
        if self._coloring == FILL:
            share = shares[child.key].represented()
            step = min(int(share["percent"] * STEPS / 100 + 0.999), STEPS)
            return self._area(block, f"fill-{step}", f"{share['percent']:g} % used", path)
        if child.value is None:
            return self._area(block, "plain", f"no {self._coloring}", path)
        return self._area(block, "", names[child.value][0], path, colors[child.value])

    def _of_cell(self, index: int, found: Sequence[Child], names: Any, colors: Any) -> Area:
        """The cell of networks smaller than it."""
        block = self._block_of(index)
        filters = child_filters(self._prefix, "within_include", network_text(block, self._version))
        path = f"/ipam/prefixes/?{urlencode(filters)}"
        number = f"{len(found)} {'prefix' if len(found) == 1 else 'prefixes'}"
        if self._coloring == FILL:
            taken = sum(1 << (self._bits - child.length) for child in found)
            percent = 100 * taken / (1 << (self._bits - self._cell))
            step = min(int(percent * STEPS / 100 + 0.999), STEPS)
            return self._area(block, f"fill-{step}", f"{number}, {percent:g} % of it taken", path)
        values = {child.value for child in found}
        (value,) = values if len(values) == 1 else (None,)
        if value is None:
            return self._area(block, "mixed" if len(values) > 1 else "plain", number, path)
        return self._area(block, "", f"{number}, {names[value][0]}", path, colors[value])

    def _free(self, taken: Iterable[Block]) -> Iterator[Area]:
        """The gaps, as the networks that cover them; what was not read is a part of its own."""
        last = self._last
        unread = self._block_of(self._index(self.end))[0] if self.end <= last else last + 1
        ranges = [(low, low + (1 << (self._bits - length)) - 1) for low, length in sorted(taken)]
        for start, end in gaps((self._low, unread - 1), iter([item for item in ranges if item[0] < unread])):
            whole = (self._low, self._length) if not self.children else None
            for block in offered_blocks(start, end, self._version, whole):
                query = {"prefix": network_text(block, self._version), "vrf": self._vrf}
                path = f"/ipam/prefixes/add/?{urlencode({name: value for name, value in query.items() if value})}"
                yield self._area(block, "free", "free", path if self._may_add else "")
        for block in blocks(unread, last, self._version):
            yield self._area(block, "hidden", "not read", f"/ipam/prefixes/{self._prefix['id']}/prefixes/")
