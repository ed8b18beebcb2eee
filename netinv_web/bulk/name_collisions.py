"""Objects that have a name already which another one was to get, or that were to get it, too."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_web.bulk.preview import names_of
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

NAME = "name"  # column
MAX_HOLDERS = 3  # that are named for each object


@dataclasses.dataclass(frozen=True)
class NameHolder:
    """An object with a name that is not free. ``renamed`` is True for one that was to get it by the same request."""

    name: str
    path: str
    renamed: bool


def holders_of(
    uow: UnitOfWork, endpoint: Endpoint, refused: Sequence[Any], new_names: Mapping[Any, str]
) -> dict[Any, list[NameHolder]]:
    """The objects that the user may view and that stand against the new names of refused ones, by id; two statements.

    :param new_names: the new names of all objects of the request, by id
    """
    scopes = _scopes(endpoint)
    if not refused or not scopes:
        return {}
    columns = [
        endpoint.table.c[name] for name in dict.fromkeys(["id", NAME, *(name for set_ in scopes for name in set_)])
    ]
    found = in_parameter(endpoint.table.c.id), in_parameter(endpoint.table.c[NAME], "names")
    statement = sa.select(*columns).where(sa.or_(*found), *permissions.visible(uow, endpoint, endpoint.table))
    values = {"keys": list(new_names), "names": sorted({new_names[key] for key in refused})}
    rows = {row.id: row for row in uow.execute(statement, values)}
    by_name: dict[str, list[Any]] = {}
    for key, row in rows.items():
        by_name.setdefault(new_names.get(key, row.name), []).append(key)
    holders = {
        key: [
            other
            for other in by_name.get(new_names[key], ())
            if other != key and any(_equal(rows[key], rows[other], scope) for scope in scopes)
        ][:MAX_HOLDERS]
        for key in refused
        if key in rows
    }
    titles = names_of(uow, endpoint, list({other for others in holders.values() for other in others}))
    return {
        key: [NameHolder(titles.get(other, ""), object_path(endpoint, other), other in new_names) for other in others]
        for key, others in holders.items()
    }


def _scopes(endpoint: Endpoint) -> list[tuple[str, ...]]:
    """The columns within which names are unique, besides the name, for each unique set."""
    sets = [tuple(item.columns.keys()) for item in endpoint.table.constraints if isinstance(item, sa.UniqueConstraint)]
    scopes = [tuple(name for name in names if name != NAME) for names in sets if NAME in names]
    return [*scopes, ()] if endpoint.table.c[NAME].unique else scopes


def _equal(row: Any, other: Any, names: Sequence[str]) -> bool:
    return all(getattr(row, name) == getattr(other, name) for name in names)
