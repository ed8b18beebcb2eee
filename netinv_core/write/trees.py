"""Trees: the stored keys by which a parent sorts before its children, kept right when names or parents change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.model import Tree
from netinv_core.resource import Spec, computed, count_of
from netinv_core.write.draft import ALL, Draft

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.registry import Endpoint, Registry

STEP = "\x1f"
LAST = "\U0010ffff"
LOOP = "A node cannot be made a descendant of itself."


def is_tree(endpoint: Endpoint) -> bool:
    """Whether the endpoint's model is a tree."""
    return issubclass(endpoint.model, Tree)


def _ancestors(context: Context, table: Any, ids: Sequence[Any]) -> dict[Any, tuple[Any, str]]:
    """The parent and name of these objects and of all above them."""
    up = sa.select(table.c.id, table.c.parent_id, table.c.name).where(table.c.id.in_(ids)).cte(recursive=True)
    above = table.alias()
    up = up.union(sa.select(above.c.id, above.c.parent_id, above.c.name).where(above.c.id == up.c.parent_id))
    return {row.id: (row.parent_id, row.name) for row in context.execute(sa.select(up))}


def check_loops(context: Context, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects an object that would become its own ancestor."""
    moving = [draft for draft in drafts if not draft.new and draft.changed("parent_id") and draft["parent_id"]]
    if not moving:
        return
    above = _ancestors(context, endpoint.table, [draft["parent_id"] for draft in moving])
    parents = {key: parent for key, (parent, _) in above.items()} | {d.id: d["parent_id"] for d in moving}
    for draft in moving:
        step, seen = draft["parent_id"], set()
        while step is not None and step not in seen:
            seen.add(step)
            if step == draft.id:
                draft.reject(ALL, LOOP)
                break
            step = parents.get(step)


def place(context: Context, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rewrites the keys of the written objects whose name or parent changed, and of everything below them."""
    moved = [draft.id for draft in drafts if draft.changed("parent_id", "name")]
    if not moved:
        return
    table = endpoint.table
    down = sa.select(table.c.id, table.c.parent_id, table.c.name).where(table.c.id.in_(moved)).cte(recursive=True)
    below = table.alias()
    down = down.union(sa.select(below.c.id, below.c.parent_id, below.c.name).where(below.c.parent_id == down.c.id))
    nodes = {row.id: (row.parent_id, row.name) for row in context.execute(sa.select(down))}
    nodes |= _ancestors(context, table, [key for key in {parent for parent, _ in nodes.values()} if key is not None and key not in nodes])
    names: dict[Any, list[str]] = {}

    def path(key: Any) -> list[str]:
        if key not in names:
            parent, name = nodes[key]
            names[key] = [*(path(parent) if parent is not None else []), name]
        return names[key]

    rows = []
    for key in nodes:
        found = path(key)
        rows.append({"of_id": key, "tree_key": STEP.join(found) + STEP, "tree_names": found, "tree_level": len(found) - 1})
    statement = sa.update(table).where(table.c.id == sa.bindparam("of_id"))
    context.write(statement.values({name: sa.bindparam(name) for name in ("tree_key", "tree_names", "tree_level")}), rows)


def depth(name: str, **options: Any) -> Spec:
    """The field that says how many levels lie above a node; ``options`` as for any :class:`netinv_core.fields.Field`."""
    return computed(name, lambda level: level, "tree_level", **{"kind": "integer", "openapi": {"type": "integer"}, **options})


def count_below(name: str, label: str, attribute: str) -> Spec:
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
