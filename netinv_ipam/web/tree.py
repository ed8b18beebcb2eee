"""The page ``/ipam/prefixes/tree/``: prefixes below those that contain them, with the gaps between them.

The query says which VRF is shown (``vrf``, by id or route distinguisher) and which prefixes are open (``open``,
several; blank for none): each link that opens or closes one is an address of its own. A query that does not say opens
the first level, where that has at most five prefixes. The number of statements does not depend on how many are open.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.read.name_lookup import NameQuery, ids_of
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import custom_plan
from netinv_ipam.free_space import Block, blocks, gaps, network_text
from netinv_ipam.hierarchy import Owner, owners_by_keys, visible_prefixes
from netinv_ipam.levels import FirstChildren, first_children
from netinv_ipam.networks import BITS
from netinv_ipam.prefixes import Prefix
from netinv_ipam.taken_space import CONTAINER
from netinv_ipam.vrfs import VRF, vrf_display
from netinv_ipam.web import gap
from netinv_web import static_files
from netinv_web.cells import cell
from netinv_web.menu import may
from netinv_web.pages import query_text

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

PATH = "/ipam/prefixes/tree/"
TEMPLATE = "netinv_ipam:web/templates/prefix_tree.jinja2"
OPEN, IN, NULL = "open", "vrf", "null"
MAX_OPEN = 50
MAX_CHILDREN = 200  # of one prefix
MAX_OPENED_AT_FIRST = 5  # prefixes of a first level that is open without a query that says so
MAX_BLOCKS = 3  # of one gap
MAX_VRFS = 500
COLUMNS = ("status", "utilization", "role", "vlan", "site", "description")
ROOTS = {version: uuid.UUID(int=version) for version in BITS}  # stand for the address space of a version

_table: Any = Prefix.__table__


@dataclasses.dataclass(frozen=True)
class Node:
    """A row of the tree: a prefix, with its ``cells``; ``path`` opens or closes it, where it has children."""

    depth: int
    key: Any
    cells: Mapping[str, Any]
    is_open: bool
    path: str


@dataclasses.dataclass(frozen=True)
class Gap:
    """A row of free space: the networks that cover it, as text, the first ones; ``more`` others follow. ``path`` leads
    to the page that allocates from it.
    """

    depth: int
    path: str
    networks: Sequence[str]
    more: int
    size: int


@dataclasses.dataclass(frozen=True)
class Cut:
    """A row for the children that are not listed; ``path`` leads to the list with all of them."""

    depth: int
    path: str


def offered_blocks(start: int, end: int, version: int, whole: Block | None = None) -> list[Block]:
    """The networks that cover a gap. A ``whole`` prefix without children is offered in halves, never itself: it is
    there already.
    """
    found = list(blocks(start, end, version))
    if whole is None or found != [whole] or whole[1] == BITS[version]:
        return found
    length = whole[1] + 1
    return [(whole[0], length), (whole[0] + (1 << (BITS[version] - length)), length)]


def show(request: Request) -> dict[str, Any]:
    """The page."""
    uow, endpoint = request.uow, request.context.endpoint
    vrf_id = _vrf_of(uow, query_text(request, IN))
    texts = uow.query.get(OPEN, ())
    opened = list(dict.fromkeys(_key(text, OPEN) for text in texts if text)) if texts else first_level(uow, vrf_id)
    if len(opened) > MAX_OPEN:
        raise Invalid({OPEN: [f"At most {MAX_OPEN} prefixes can be open."]})
    vrfs = vrfs_of(uow)
    tree = PrefixTree(uow, endpoint, vrf_id, opened)
    return {
        "endpoint": endpoint,
        "rows": list(tree.rows()),
        "columns": [(name, endpoint.fields[name]) for name in COLUMNS],
        "vrfs": vrfs,
        "vrf_id": vrf_id,
        "vrf_query": urlencode({"vrf": vrf_id}) if vrf_id else "",
        "list_path": f"/ipam/prefixes/?{urlencode({'vrf_id': vrf_id or 'null'})}",
        "may_add": may(uow, endpoint, "add"),
        "style": static_files.path_of(request, "prefixes.css", "ipam"),
    }


def first_level(uow: UnitOfWork, vrf_id: Any) -> list[Any]:
    """The ids of the prefixes of the first level that contain others, unless the level has more than
    :data:`MAX_OPENED_AT_FIRST` prefixes; one statement.
    """
    levels = first_children(uow, roots_of(vrf_id), visible_prefixes(uow), MAX_OPENED_AT_FIRST + 1).values()
    if sum(len(level.shown) for level in levels) > MAX_OPENED_AT_FIRST:
        return []
    return [key for level in levels for key in level.shown if key in level.parents]


def roots_of(vrf_id: Any) -> list[Owner]:
    """The address spaces of both versions in a VRF, or in the global table without one."""
    return [Owner.whole(version, key, vrf_id) for version, key in ROOTS.items()]


def path_of(vrf: Any) -> str:
    """The page of a VRF, by id or route distinguisher; blank or ``null`` for the global prefixes."""
    return f"{PATH}?{urlencode({IN: vrf})}" if vrf and vrf != NULL else PATH


def _vrf_of(uow: UnitOfWork, text: str) -> uuid.UUID | None:
    """The id of the VRF in the query, with one statement for a route distinguisher; ``None`` for the global prefixes.

    :raises Invalid: for text that names no VRF
    """
    with contextlib.suppress(Invalid):
        return _key("" if text == NULL else text, IN)
    (keys,) = ids_of(uow, NameQuery(IN, uow.registry.of_model(VRF), (text,), ("rd",), multiple=False))
    key: uuid.UUID = keys[0]
    return key


def _key(text: str, name: str) -> uuid.UUID | None:
    """The id in a parameter; ``None`` for a blank one.

    :raises Invalid: for text that is none
    """
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        raise Invalid({name: [f'"{text[:100]}" is not a valid UUID.']}) from None


def vrfs_of(uow: UnitOfWork) -> list[tuple[Any, str]]:
    """The ids and names of the VRFs that the user may view: one statement."""
    table: Any = VRF.__table__
    limits = permissions.visible(uow, uow.registry.of_model(VRF), table)
    statement = sa.select(table.c.id, table.c.name, table.c.rd).where(*limits).order_by(table.c.name, table.c.rd)
    return [(row.id, vrf_display(row.name, row.rd)) for row in uow.execute(statement.limit(MAX_VRFS))]


class PrefixTree:
    """The rows of the page: at most six statements, but for very many prefixes within an open one.

    ``above`` are the prefixes that contain the only open one, whose level is shown alone, on a page of its own.
    """

    def __init__(
        self,
        uow: UnitOfWork,
        endpoint: Endpoint,
        vrf_id: Any,
        opened: Sequence[Any],
        above: Sequence[Any] | None = None,
    ) -> None:
        self._uow, self._endpoint, self._vrf_id, self._above = uow, endpoint, vrf_id, above or ()
        seen = permissions.visible_ids(uow, endpoint, opened)
        self._open = [key for key in opened if key in seen]
        self._owners = {owner.key: owner for owner in owners_by_keys(uow, self._open)}
        roots = roots_of(vrf_id) if above is None else []
        # What takes space is the same as for free space: prefixes count that the user may not view.
        owners = [*roots, *self._owners.values()]
        self._levels = first_children(uow, owners, visible_prefixes(uow), MAX_CHILDREN + 1)
        keys = {key for level in self._levels.values() for key in level.shown}
        self._parents = {key for level in self._levels.values() for key in level.parents}
        self._nodes = dict(custom_plan(endpoint, ("tree",), _read).fetch(uow, list(keys)))

    def rows(self) -> Iterator[Node | Gap | Cut]:
        """The rows from top to bottom."""
        for key in ROOTS.values():
            found = self._levels[key].shown if key in self._levels else ()
            for child in found[:MAX_CHILDREN]:
                yield from self._node(child, 0)
            if len(found) > MAX_CHILDREN:
                yield Cut(0, f"/ipam/prefixes/?{urlencode({'vrf_id': self._vrf_id or 'null'})}")

    def level(self, key: Any) -> list[Node | Gap | Cut]:
        """The rows within an open prefix."""
        return list(self._inside(key, 0))

    def _node(self, key: Any, depth: int) -> Iterator[Node | Gap | Cut]:
        is_open = key in self._open
        node = self._nodes[key]
        opens = is_open or key in self._parents or node["kind"] == CONTAINER
        yield Node(depth, key, node, is_open, self._toggle_path(key) if opens else "")
        if is_open and depth < BITS[6]:
            yield from self._inside(key, depth + 1)

    def _inside(self, key: Any, depth: int) -> Iterator[Node | Gap | Cut]:
        """The rows of an open prefix: its children and the gaps between them, in order."""
        owner, level = self._owners[key], self._levels[key]
        version, shown, taken = owner.ip_version, level.shown, level.taken
        is_cut = len(shown) > MAX_CHILDREN or len(taken) > MAX_CHILDREN
        highest = self._last_shown(level) if is_cut else owner.high
        free = gaps((owner.low, highest), iter(taken[:MAX_CHILDREN]))
        rows: list[tuple[int, Any, bool]] = [(start, (start, end), False) for start, end in free]
        listed = [child for child in shown[:MAX_CHILDREN] if self._nodes[child]["lowest"] <= highest]
        rows += [(self._nodes[child]["lowest"], child, True) for child in listed]
        whole = None if taken else (owner.low, owner.prefix_length)
        for _, item, is_prefix in sorted(rows, key=lambda row: row[0]):
            if is_prefix:
                yield from self._node(item, depth)
            else:
                start, end = item
                networks = offered_blocks(start, end, version, whole)
                texts = [network_text(block, version) for block in networks[:MAX_BLOCKS]]
                path = gap.path_of(key, (start, end), version)
                yield Gap(depth, path, texts, len(networks) - len(texts), end - start + 1)
        if is_cut:
            yield Cut(depth, f"/ipam/prefixes/{key}/prefixes/")

    @staticmethod
    def _last_shown(level: FirstChildren) -> int:
        """The last address of a level that is cut, of those that are listed."""
        ends = [level.ends[MAX_CHILDREN - 1]] if len(level.shown) > MAX_CHILDREN else []
        return min([*ends, level.taken[MAX_CHILDREN - 1][1]] if len(level.taken) > MAX_CHILDREN else ends)

    def _toggle_path(self, key: Any) -> str:
        """The page with a prefix opened or closed."""
        opened = [*self._above, *(item for item in self._open if item != key)]
        opened += [key] if key not in self._open else []
        pairs = [(IN, self._vrf_id)] if self._vrf_id else []
        return f"{PATH}?{urlencode([*pairs, *((OPEN, item) for item in opened or [''])])}#p-{key}"


def _read(plan: ReadPlan, place: JoinedTable) -> Any:
    """The reader of a row: its cells by name, its lowest address, and the slug of its status."""
    low, kind, fields = plan.column(place, "network"), plan.read(place, "status.slug"), place.endpoint.fields
    written = plan.read(place, "prefix")
    cells = [(name, cell(plan, place, fields[name])) for name in COLUMNS]

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        facts = {"lowest": int.from_bytes(row[low], "big"), "kind": kind(row, page), "name": written(row, page)}
        return facts | {name: markup(row, page) for name, markup in cells}

    return read
