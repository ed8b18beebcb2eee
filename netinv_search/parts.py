"""Search for parts of objects, with words of both names in any order: ``router1 eth0``, ``lisbon management``.

What a part belongs to is read first: a bounded number of objects whose names have one of the words. Then their parts
are, by the foreign key. One UNION ALL of all resources whose names in context show another object.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db import folding
from netinv_core.errors import Denied
from netinv_core.fields import Reference
from netinv_core.read import words
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.union import Union, kept_union
from netinv_search import stages

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

SCANNED_OWNERS = 20_000  # objects of a resource whose names are compared
MAX_OWNERS = 200  # objects of a resource whose parts are read
MAX_WORDS = 4  # of a text that is searched for so


@dataclasses.dataclass(frozen=True)
class Ownership:
    """A resource with a name, and the reference to what its objects belong to, with the name of that."""

    endpoint: Endpoint
    name: str
    attribute: str
    owner: Endpoint
    owner_name: str


@cached_in_registry
def ownerships(registry: Registry) -> list[Ownership]:
    """The references in names in context, of all resources; the first name of each."""
    found: dict[tuple[str, str], Ownership] = {}
    for endpoint, name in stages.searched_names(registry):
        for path in words.name_paths(endpoint):
            head, _, rest = path.partition(".")
            field = endpoint.fields.get(head)
            if isinstance(field, Reference) and field.target is not None and rest in field.target.table.c:
                item = Ownership(endpoint, name.column, field.attribute, field.target, rest)
                found.setdefault((endpoint.label, field.attribute), item)
    return list(found.values())


def named_within(uow: UnitOfWork, text: str, limit: int) -> dict[str, stages.Rows]:
    """Returns the ids and names of the parts by the labels of their resources, shorter names first: ``eth1`` of all
    devices before ``eth10``. One statement, and another one where the user may view some of the objects only.
    """
    patterns = stages.pattern_parameters(uow.registry.driver, text)
    if not 1 < len(patterns) <= MAX_WORDS:
        return {}
    free, limited = _viewable_ownerships(uow)
    parameters = {"search_limit": limit, **patterns}
    found: dict[str, stages.Rows] = {}
    if free:
        key = ("search parts", len(patterns), tuple((item.endpoint.label, item.attribute) for item in free))
        union = kept_union(uow.registry, key, lambda: [_part(item, patterns) for item in free])
        _collect(found, free, union.rows(uow, parameters), limit)
    if limited:
        union = Union([_part(item, patterns, uow) for item in limited])
        _collect(found, limited, union.rows(uow, parameters), limit)
    return found


def _collect(found: dict[str, stages.Rows], items: Sequence[Ownership], rows: Sequence[Any], limit: int) -> None:
    for item, pairs in zip(items, rows, strict=True):
        if pairs:
            label = item.endpoint.label
            every = dict.fromkeys([*found.get(label, ()), *((key, name) for key, name in pairs)])
            found[label] = sorted(every, key=lambda row: (len(row[1] or ""), row[1] or ""))[:limit]


def _viewable_ownerships(uow: UnitOfWork) -> tuple[list[Ownership], list[Ownership]]:
    """The ownerships of which the user may view both sides: without constraints, and with some."""
    free: list[Ownership] = []
    limited: list[Ownership] = []
    for item in ownerships(uow.registry):
        try:
            limits = [permissions.limits(uow, side, "view", side.table) for side in (item.endpoint, item.owner)]
        except Denied:
            continue
        (limited if any(limits) else free).append(item)
    return free, limited


def _part(item: Ownership, patterns: Sequence[str] | dict[str, str], uow: UnitOfWork | None = None) -> Any:
    """The SELECT of the ids and names of parts; limited to what a user may view."""

    def has(column: Any, name: str) -> Any:
        return folding.contains(column, sa.bindparam(name))

    owner, child = item.owner.table.alias(), item.endpoint.table.alias()
    first = sa.select(owner.c.id, owner.c[item.owner_name].label("name")).where(*_visible(uow, item.owner, owner))
    scanned = first.limit(sa.literal_column(str(SCANNED_OWNERS))).subquery()
    with_word = sa.or_(*[has(scanned.c.name, name) for name in patterns])
    owners = sa.select(scanned).where(with_word).limit(sa.literal_column(str(MAX_OWNERS))).subquery()
    joined = child.join(owners, child.c[item.attribute] == owners.c.id)
    name = child.c[item.name]
    every = [sa.or_(has(name, word), has(owners.c.name, word)) for word in patterns]
    rows = (
        sa.select(child.c.id, name.label("value"))
        .select_from(joined)
        .where(*every, *_visible(uow, item.endpoint, child))
        .order_by(sa.func.length(name), name)
        .limit(sa.bindparam("search_limit", type_=sa.Integer))
        .subquery()
    )
    return (rows.c.id, rows.c.value), rows, sa.true()


def _visible(uow: UnitOfWork | None, endpoint: Endpoint, table: Any) -> Iterator[Any]:
    if uow is not None:
        yield from permissions.visible(uow, endpoint, table)
