"""Changes that follow from other changes: rows rewritten without asking the rules again, recorded like any change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import changes
from netinv_core.database import among, lock_rows

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.registry import Endpoint


def amend(context: Context, endpoint: Endpoint, wanted: Mapping[Any, Mapping[str, Any]]) -> list[Any]:
    """Sets columns of objects by id (``{id: {column: value}}``) and gives the ids of those that it changed."""
    table = endpoint.table
    statement = lock_rows(sa.select(table).where(among(context.registry.dialect, table.c.id)))
    rows = {row["id"]: dict(row) for row in context.execute(statement, {"keys": list(wanted)}).mappings()} if wanted else {}
    differing = {key: {name: value for name, value in wanted[key].items() if row[name] != value} for key in wanted if (row := rows.get(key)) is not None}
    differing = {key: values for key, values in differing.items() if values}
    if not differing:
        return []
    before = dict(endpoint.plan().fetch(context, list(differing)))
    _write(context, endpoint, differing)
    after = _after(context, endpoint, differing, before)
    for key, values in differing.items():
        row = {**rows[key], **values}
        old, new = (changes.with_masked(endpoint, shown[key], held) for shown, held in ((before, rows[key]), (after, row)))
        context.journal.add(changes.Change(endpoint, key, changes.UPDATE, old, new, changes.flat(context, endpoint, row, after[key])))
    return list(differing)


def _after(context: Context, endpoint: Endpoint, values: Mapping[Any, Mapping[str, Any]], before: Mapping[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """The representations now: what was not read again cannot have changed."""
    concerned = endpoint.reading({name for row in values.values() for name in row})
    plan = endpoint.plan(without=frozenset(endpoint.fields.keys() - concerned))
    return {key: {**before[key], **shown} for key, shown in plan.fetch(context, list(values))}


def _write(context: Context, endpoint: Endpoint, values_by_key: dict[Any, dict[str, Any]]) -> None:
    """One statement for each set of columns."""
    table = endpoint.table
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for key, values in values_by_key.items():
        if "last_updated" in table.c:
            values["last_updated"] = context.now
        groups.setdefault(tuple(sorted(values)), []).append({"of_id": key, **values})
    for names, rows in groups.items():
        statement = sa.update(table).where(table.c.id == sa.bindparam("of_id"))
        context.write(statement.values({name: sa.bindparam(name) for name in names}), rows)
