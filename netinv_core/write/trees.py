"""Trees: sort keys stored with each node, by which a parent precedes its children; updated with names and parents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.locks import lock_for
from netinv_core.models.base import Tree
from netinv_core.resource import computed, count_of
from netinv_core.sql.lookups import LAST_CHARACTER
from netinv_core.write.bulk_update import bulk_update
from netinv_core.write.draft import ALL

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

STEP = "\x1f"  # separates the parts of a tree key
LOOP = "A node cannot be made a descendant of itself."


def is_tree(endpoint: Endpoint) -> bool:
    """True when the endpoint's model is a tree."""
    return issubclass(endpoint.model, Tree)


def lock(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Any], *, new: bool) -> None:
    """Locks a tree before its rows are written: exclusively to move or rename nodes, shared to add nodes to a parent.

    Two concurrent moves could each be free of loops and form one together. A node added below a node that is being
    moved would get a key of the old position. The lock is taken before the rows are locked: two requests that move two
    nodes below each other would deadlock otherwise.
    """
    fields = {"parent"} if new else {"parent", "name"}
    if any(isinstance(body, Mapping) and not fields.isdisjoint(body) for body in bodies):
        lock_for(uow, "tree", [endpoint.label], shared=new)


def lock_whole(uow: UnitOfWork, endpoints: Iterable[Endpoint]) -> None:
    """Locks the trees among these resources exclusively, before any of their rows: one statement, none without trees.

    For deletions, which take the rows below theirs too, and for what locks rows before it knows the changes, or writes
    in several steps.
    """
    labels = [endpoint.label for endpoint in endpoints if is_tree(endpoint)]
    if labels:
        lock_for(uow, "tree", labels)


def _columns(table: Any) -> list[Any]:
    """The columns of a node that its key needs: id, parent, name, and the value that siblings are sorted by."""
    return [table.c.id, table.c.parent_id, table.c.name, table.c.get("name_key", table.c.name).label("sorted")]


def _ancestors(uow: UnitOfWork, table: Any, ids: Sequence[Any]) -> dict[Any, Any]:
    """Returns these nodes and all their ancestors, by id (a recursive CTE)."""
    ancestors = sa.select(*_columns(table)).where(table.c.id.in_(ids)).cte(recursive=True, nesting=True)
    parent = table.alias()
    ancestors = ancestors.union(sa.select(*_columns(parent)).where(parent.c.id == ancestors.c.parent_id))
    return {row.id: row for row in uow.execute(sa.select(ancestors))}


def _subtrees(uow: UnitOfWork, table: Any, ids: Sequence[Any]) -> dict[Any, Any]:
    """Returns these nodes and all their descendants, by id (a recursive CTE)."""
    subtrees = sa.select(*_columns(table)).where(table.c.id.in_(ids)).cte(recursive=True, nesting=True)
    child = table.alias()
    subtrees = subtrees.union(sa.select(*_columns(child)).where(child.c.parent_id == subtrees.c.id))
    return {row.id: row for row in uow.execute(sa.select(subtrees))}


def check_loops(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects an object that would become its own ancestor."""
    moving = [draft for draft in drafts if not draft.new and draft.changed("parent_id") and draft["parent_id"]]
    if not moving:
        return
    ancestors = _ancestors(uow, endpoint.table, [draft["parent_id"] for draft in moving])
    parents = {key: node.parent_id for key, node in ancestors.items()} | {d.id: d["parent_id"] for d in moving}
    for draft in moving:
        ancestor, visited = draft["parent_id"], set()
        while ancestor is not None and ancestor not in visited:
            visited.add(ancestor)
            if ancestor == draft.id:
                draft.reject(ALL, LOOP)
                break
            ancestor = parents.get(ancestor)


def place(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rewrites the tree keys of objects whose name or parent changed, and of all their descendants."""
    moved = [draft.id for draft in drafts if draft.changed("parent_id", "name")]
    if moved:
        _rewrite(uow, endpoint.table, moved)


def rebuild(uow: UnitOfWork, endpoint: Endpoint) -> None:
    """Rewrites tree keys in the format of an earlier release."""
    table = endpoint.table
    rows = uow.execute(sa.select(table.c.id, table.c.tree_key))
    outdated = [key for key, tree_key in rows if f"{key}{STEP}" not in tree_key]
    if outdated:
        _rewrite(uow, table, outdated)


def _rewrite(uow: UnitOfWork, table: Any, ids: Sequence[Any]) -> None:
    """Rewrites the tree keys, names and levels of these nodes and all their descendants.

    A key holds ids beside names, so that the subtrees of two nodes with one name (at two sites, say) do not mix.
    """
    nodes = _subtrees(uow, table, ids)
    parents = {node.parent_id for node in nodes.values()} - nodes.keys() - {None}
    nodes |= _ancestors(uow, table, list(parents))
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
    """Field with the number of a node's ancestors; ``options`` are those of :class:`netinv_core.fields.Field`."""
    defaults = {"kind": "integer", "openapi": {"type": "integer"}}
    return computed(name, lambda level: level, "tree_level", **{**defaults, **options})


def count_below(name: str, label: str, attribute: str) -> FieldFactory:
    """Field with the number of objects of ``label`` whose foreign key refers to a node or to one of its descendants."""

    def source(registry: Registry, table: Any) -> Any:
        child = registry.get(label)
        if child is None:
            return None
        objects, node = child.table.alias(), getattr(table, "element", table)
        descendant = node.alias()
        joined = objects.join(descendant, objects.c[attribute] == descendant.c.id)
        in_subtree = sa.and_(
            descendant.c.tree_key >= table.c.tree_key, descendant.c.tree_key < table.c.tree_key.concat(LAST_CHARACTER)
        )
        return sa.select(sa.func.count()).select_from(joined).where(in_subtree).scalar_subquery()

    return count_of(name, source)
