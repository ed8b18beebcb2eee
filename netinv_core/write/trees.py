"""Trees: the stored keys by which a parent sorts before its children, kept right when names or parents change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.locks import lock_for
from netinv_core.models.base import Tree
from netinv_core.resource import FieldFactory, computed, count_of
from netinv_core.write.bulk_update import bulk_update
from netinv_core.write.draft import ALL, Draft

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

STEP = "\x1f"
LAST = "\U0010ffff"
LOOP = "A node cannot be made a descendant of itself."


def is_tree(endpoint: Endpoint) -> bool:
    """Whether the endpoint's model is a tree."""
    return issubclass(endpoint.model, Tree)


def lock(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Any], *, new: bool) -> None:
    """Locks a tree before its rows are written: those who move or rename nodes take turns, and those who add nodes below others wait for them.

    Two moves at the same time could each be free of loops and make one together, and a node added below one that is moved would get a
    key of the old place. It comes before the rows are locked, so that those who move two nodes to each other do not meet in a deadlock.
    """
    wanted = {"parent"} if new else {"parent", "name"}
    if is_tree(endpoint) and any(isinstance(body, Mapping) and not wanted.isdisjoint(body) for body in bodies):
        lock_for(uow, "tree", [endpoint.label], shared=new)


def _columns(table: Any) -> list[Any]:
    """What is known of a node: its id, its parent, its name, and by what it sorts among its siblings."""
    return [table.c.id, table.c.parent_id, table.c.name, table.c.get("name_key", table.c.name).label("sorted")]


def _ancestors(uow: UnitOfWork, table: Any, ids: Sequence[Any]) -> dict[Any, Any]:
    """These objects and all above them, by id."""
    up = sa.select(*_columns(table)).where(table.c.id.in_(ids)).cte(recursive=True)
    above = table.alias()
    up = up.union(sa.select(*_columns(above)).where(above.c.id == up.c.parent_id))
    return {row.id: row for row in uow.execute(sa.select(up))}


def check_loops(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects an object that would become its own ancestor."""
    moving = [draft for draft in drafts if not draft.new and draft.changed("parent_id") and draft["parent_id"]]
    if not moving:
        return
    above = _ancestors(uow, endpoint.table, [draft["parent_id"] for draft in moving])
    parents = {key: node.parent_id for key, node in above.items()} | {d.id: d["parent_id"] for d in moving}
    for draft in moving:
        step, seen = draft["parent_id"], set()
        while step is not None and step not in seen:
            seen.add(step)
            if step == draft.id:
                draft.reject(ALL, LOOP)
                break
            step = parents.get(step)


def place(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rewrites the keys of the written objects whose name or parent changed, and of everything below them."""
    moved = [draft.id for draft in drafts if draft.changed("parent_id", "name")]
    if moved:
        _rewrite(uow, endpoint.table, moved)


def rebuild(uow: UnitOfWork, endpoint: Endpoint) -> None:
    """Rewrites the keys that an earlier release made otherwise."""
    table = endpoint.table
    earlier = [key for key, stored in uow.execute(sa.select(table.c.id, table.c.tree_key)) if f"{key}{STEP}" not in stored]
    if earlier:
        _rewrite(uow, table, earlier)


def _rewrite(uow: UnitOfWork, table: Any, moved: Sequence[Any]) -> None:
    """The keys of these nodes and of everything below them.

    A key holds the ids beside the names, so that of two nodes that are called the same (at two sites, say) each has what is below
    it next to it.
    """
    down = sa.select(*_columns(table)).where(table.c.id.in_(moved)).cte(recursive=True)
    below = table.alias()
    down = down.union(sa.select(*_columns(below)).where(below.c.parent_id == down.c.id))
    nodes = {row.id: row for row in uow.execute(sa.select(down))}
    nodes |= _ancestors(uow, table, [key for key in {node.parent_id for node in nodes.values()} if key is not None and key not in nodes])
    paths: dict[Any, list[Any]] = {}

    def path_to(key: Any) -> list[Any]:
        if key not in paths:
            node = nodes[key]
            paths[key] = [*(path_to(node.parent_id) if node.parent_id is not None else []), node]
        return paths[key]

    values: dict[Any, dict[str, Any]] = {}
    for key in nodes:
        path = path_to(key)
        tree_key = "".join(f"{node.sorted}{STEP}{node.id}{STEP}" for node in path)
        names = [node.name for node in path]
        values[key] = {"tree_key": tree_key, "tree_names": names, "tree_level": len(path) - 1}
    bulk_update(uow, table, values)


def depth(name: str, **options: Any) -> FieldFactory:
    """The field that says how many levels lie above a node; ``options`` as for any :class:`netinv_core.fields.Field`."""
    return computed(name, lambda level: level, "tree_level", **{"kind": "integer", "openapi": {"type": "integer"}, **options})


def count_below(name: str, label: str, attribute: str) -> FieldFactory:
    """A counter of the objects of ``label`` whose ``attribute`` leads to a node or to anything below it."""

    def source(registry: Registry, table: Any) -> Any:
        child = registry.get(label)
        if child is None:
            return None
        there, node = child.table.alias(), getattr(table, "element", table)
        below = node.alias()
        inside = sa.and_(below.c.tree_key >= table.c.tree_key, below.c.tree_key < table.c.tree_key.concat(LAST))
        return sa.select(sa.func.count()).select_from(there.join(below, there.c[attribute] == below.c.id)).where(inside).scalar_subquery()

    return count_of(name, source)
