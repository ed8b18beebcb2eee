"""The scopes that limit a config context, kept beyond the deletion of the last object in one.

A context that loses the last object of a scope applies to nothing, where without this memory it would apply to
everything. Only a write of an empty list removes the limit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.auth.configuration_version import configuration_changed
from netinv_core.db.expressions import in_parameter
from netinv_core.findings import OK, WARNING, Finding
from netinv_core.models.base import table_of
from netinv_extras.config_contexts.models import ConfigContext, config_contexts, scoped
from netinv_extras.config_contexts.scopes import ScopeList

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

COLUMN = "limited_by"
MAX_LISTED = 10  # contexts in a finding


def remember(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Keeps the names of the scopes that a write limits a context by.

    A PUT that sends the empty list of a scope that has lost its objects, as it was read, leaves the limit.
    """
    emptied = {draft.id: _sent_scopes(draft, empty=True) for draft in drafts}
    kept = _without_objects(uow, [draft.id for draft in drafts if draft.replaces and emptied[draft.id]])
    for draft in drafts:
        before = set((draft[COLUMN] or "").split())
        removed = emptied[draft.id] - (kept.get(draft.id, set()) & before)
        names = (before - removed) | _sent_scopes(draft, empty=False)
        if names != before:
            draft[COLUMN] = " ".join(sorted(names)) or None


def drop_the_cached_contexts(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Drops the cached contexts when a limit was removed whose list was empty: no representation shows that."""
    if any(not draft.new and COLUMN in draft.values for draft in drafts):
        configuration_changed(uow)


def _sent_scopes(draft: Draft, *, empty: bool) -> set[str]:
    """The names of the scopes whose list was sent: the empty ones, or the others."""
    fields = draft.endpoint.writable
    return {name for name, ids in draft.many.items() if isinstance(fields.get(name), ScopeList) and bool(ids) != empty}


def _without_objects(uow: UnitOfWork, keys: Collection[Any]) -> dict[Any, set[str]]:
    """The scopes that limit contexts and have no object, by the context's id. One statement, none without contexts."""
    if not keys:
        return {}
    chosen = _limits().where(in_parameter(table_of(ConfigContext).c.id))
    return _lost_scopes(uow.execute(chosen, {"keys": list(keys)}))


def _limits() -> Any:
    """SELECT of ids, names and limits of contexts, each with a scope that has objects."""
    table = table_of(ConfigContext)
    return (
        sa.select(table.c.id, table.c[COLUMN], scoped.c.scope)
        .select_from(table.outerjoin(scoped, scoped.c.owner_id == table.c.id))
        .where(table.c[COLUMN].is_not(None))
        .distinct()
    )


def _lost_scopes(rows: Any) -> dict[Any, set[str]]:
    lost: dict[Any, set[str]] = {}
    for key, limited_by, scope in rows:
        lost.setdefault(key, set(limited_by.split())).discard(scope)
    return {key: names for key, names in lost.items() if names}


def lost_scopes(uow: UnitOfWork, key: Any) -> list[str]:
    """Returns the names of the scopes that limit a context and have lost their last object. One statement."""
    return sorted(_without_objects(uow, [key]).get(key, ()))


def contexts_without_objects(connection: sa.Connection) -> list[tuple[str, list[str]]]:
    """Returns the contexts that apply to nothing for that reason: their names, with those of the scopes."""
    table = table_of(ConfigContext)
    lost = _lost_scopes(connection.execute(_limits()))
    names = connection.execute(sa.select(table.c.id, table.c.name).order_by(table.c.name)) if lost else ()
    return [(name, sorted(lost[key])) for key, name in names if key in lost]


def register() -> None:
    """Registers the memory of limits with config contexts."""
    config_contexts.prepare(remember)
    config_contexts.after_save(drop_the_cached_contexts)


def check(engine: Engine) -> Finding:
    """Config contexts that apply to nothing, as the last object of one of their scopes was deleted."""
    with engine.connect() as connection:
        found = contexts_without_objects(connection)
    if not found:
        return Finding("config contexts", OK, "no scope of a config context has lost its objects")
    listed = "; ".join(f"{name} ({', '.join(scopes)})" for name, scopes in found[:MAX_LISTED])
    more = f"; and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    message = f"config contexts apply to nothing, as their scopes have lost the last object: {listed}{more}"
    return Finding("config contexts", WARNING, message, "list objects there, write an empty list, or delete them")
