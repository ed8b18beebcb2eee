"""Changes that follow from other changes: rows rewritten without asking the rules again, recorded like any change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.change_set import Change, with_masked
from netinv_core.changelog.models import UPDATE
from netinv_core.changelog.object_data import object_data
from netinv_core.db.engine import in_parameter, lock_rows
from netinv_core.write.bulk_update import bulk_update

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


def system_update(uow: UnitOfWork, endpoint: Endpoint, wanted: Mapping[Any, Mapping[str, Any]]) -> list[Any]:
    """Sets columns of objects by id (``{id: {column: value}}``) and gives the ids of those that it changed."""
    table = endpoint.table
    statement = lock_rows(sa.select(table).where(in_parameter(uow.registry.dialect, table.c.id)))
    rows = {row["id"]: dict(row) for row in uow.execute(statement, {"keys": list(wanted)}).mappings()} if wanted else {}
    differing = {key: {name: value for name, value in wanted[key].items() if row[name] != value} for key in wanted if (row := rows.get(key)) is not None}
    differing = {key: values for key, values in differing.items() if values}
    if not differing:
        return []
    before = dict(endpoint.plan().fetch(uow, list(differing)))
    if "last_updated" in table.c:
        for values in differing.values():
            values["last_updated"] = uow.now
    bulk_update(uow, table, differing)
    after = _after(uow, endpoint, differing, before)
    for key, values in differing.items():
        row = {**rows[key], **values}
        old, new = (with_masked(endpoint, shown[key], held) for shown, held in ((before, rows[key]), (after, row)))
        uow.change_set.add(Change(endpoint, key, UPDATE, old, new, object_data(uow, endpoint, row, after[key])))
    return list(differing)


def _after(uow: UnitOfWork, endpoint: Endpoint, values: Mapping[Any, Mapping[str, Any]], before: Mapping[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """The representations now: what was not read again cannot have changed."""
    concerned = endpoint.fields_depending_on({name for row in values.values() for name in row})
    plan = endpoint.plan(without=frozenset(endpoint.fields.keys() - concerned))
    return {key: {**before[key], **shown} for key, shown in plan.fetch(uow, list(values))}
