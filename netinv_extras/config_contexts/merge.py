"""The ``config_context`` of objects: the data of all active config contexts that are for an object, merged, its own data last.

The contexts are configuration, and so known to the process. What they are limited to is compared with where the objects of a page
lead: in most scopes the page's own rows say so, in others one statement for the page does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.models.base import table_of
from netinv_core.models.columns import column_info
from netinv_core.read.plan import JoinedTable, Plan, Reader, Row, RowSet
from netinv_core.read.union import Union
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory
from netinv_core.uow import UnitOfWork
from netinv_core.write.trees import STEP, is_tree
from netinv_extras.config_contexts.models import ConfigContext, scoped
from netinv_extras.config_contexts.scopes import Scope, scopes

LOCAL = "local_context_data"
SHARED = "shared"
Data = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class ScopedContext:
    """The data of an active context, and the ids of what it is limited to, as text, by scope."""

    data: Data
    targets: Mapping[str, frozenset[str]]


def merged(first: Data, second: Data) -> dict[str, Any]:
    """The members of both: those of the second go before, but for mappings in both, which are merged likewise. Neither is changed."""
    found = dict(first)
    for name, value in second.items():
        former = found.get(name)
        found[name] = merged(former, value) if isinstance(former, Mapping) and isinstance(value, Mapping) else value
    return found


def active_contexts(uow: UnitOfWork) -> list[ScopedContext]:
    """The active contexts in the order in which they are merged: by weight, then by name."""
    found: list[ScopedContext] = uow.cached_config("config contexts", _load)
    return found


def _load(uow: UnitOfWork) -> list[ScopedContext]:
    table = table_of(ConfigContext)

    def parts() -> list[Any]:
        limits = scoped.join(table, table.c.id == scoped.c.owner_id)
        return [
            ([table.c.id, table.c.weight, table.c.name, table.c.data], table, table.c.is_active),
            ([scoped.c.owner_id, scoped.c.scope, scoped.c.target_id], limits, table.c.is_active),
        ]

    union: Union = uow.registry.union("config contexts", parts)
    contexts, limits = union.rows(uow, {})
    targets: dict[Any, dict[str, set[str]]] = {}
    for owner, scope, target in limits:
        targets.setdefault(owner, {}).setdefault(scope, set()).add(str(target))
    ordered = sorted(contexts, key=lambda row: (row[1], row[2], str(row[0])))
    return [ScopedContext(data, {scope: frozenset(ids) for scope, ids in targets.get(key, {}).items()}) for key, _, _, data in ordered]


def _alone(key: Any) -> Collection[str]:
    return () if key is None else (str(key),)


def _above(tree_key: str | None) -> Collection[str]:
    """The ids, as text, of a node and all above it: its key holds them."""
    return frozenset(tree_key.split(STEP)) if tree_key else ()


@dataclasses.dataclass
class Shared:
    """What the objects of a page have in common: the active contexts, where the objects lead by the ways that their own rows do not know,
    and what was merged already, by all that an object leads to."""

    contexts: Sequence[ScopedContext]
    farther: Mapping[Any, Mapping[str, Any]]
    merged: dict[Any, Data] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False, kw_only=True)
class MergedContext(fields.Field):
    """The config context of an object of an endpoint; ``scopes`` are all there are.

    :raises ValueError: when one of them names a way that the model does not have
    """

    endpoint: Endpoint
    scopes: Sequence[Scope]
    read_only: bool = True
    costly: bool = True
    openapi: dict[str, Any] = dataclasses.field(default_factory=lambda: {"type": "object"})

    def __post_init__(self) -> None:
        for scope in self.scopes:
            here: Endpoint | None = self.endpoint
            for step in scope.paths.get(self.endpoint.label, "").split("."):
                if here is None or not step:
                    break
                if f"{step}_id" not in here.table.c:
                    raise ValueError(f"the config context scope {scope.name!r} names a way that {self.endpoint.label} does not have: {step!r}")
                here = here.registry.target(column_info(here.table.c[f"{step}_id"]).foreign_key)

    def sources(self) -> Collection[str]:
        ways = {way.partition(".")[0] for scope in self.scopes if (way := scope.paths.get(self.endpoint.label)) is not None}
        return ways | ({LOCAL} if LOCAL in self.endpoint.table.c else set())

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        key, local = plan.column(place, "id"), plan.column(place, LOCAL) if LOCAL in place.table.c else None
        ways = {scope.name: path for scope in self.scopes if (path := self._path(scope)) is not None}
        near = {name: plan.column(place, path) for name, path in ways.items() if "." not in path}
        lists = {scope.name: plan.reader_of(place, own) for scope in self.scopes if (own := place.endpoint.fields.get(scope.field)) is not None}
        there = Plan(plan.registry, place.endpoint).finish(
            [fields.Computed(name=name, function=lambda value: value, paths=(path,)) for name, path in ways.items() if name not in near]
        )

        def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
            contexts = active_contexts(uow)
            used = {name for limited in contexts for name in limited.targets}
            farther = dict(there.fetch(uow, fields.keys_of(rows, key))) if used & (ways.keys() - near.keys()) else {}
            return {SHARED: Shared(contexts, farther)}

        def read(row: Row, page: RowSet) -> Data:
            shared: Shared = page.batches[batch][SHARED]
            own = row[local] if local is not None else None
            found: Data = {}
            if shared.contexts:
                values = {name: row[index] for name, index in near.items()} | dict(shared.farther.get(row[key], {}))
                values |= {name: frozenset(str(item["id"]) for item in listed(row, page)) for name, listed in lists.items()}
                alike = tuple(values.values())
                if alike not in shared.merged:
                    shared.merged[alike] = self._merge(shared.contexts, values)
                found = shared.merged[alike]
            return merged(found, own) if isinstance(own, Mapping) else found

        batch = plan.batch(load)
        return read

    def _is_tree(self, scope: Scope) -> bool:
        return is_tree(self.endpoint.registry[scope.target])

    def _path(self, scope: Scope) -> str | None:
        """The path to the column that says where objects lead: the foreign key, or what a tree's node knows of those above it."""
        way = scope.paths.get(self.endpoint.label)
        return None if way is None else f"{way}.tree_key" if self._is_tree(scope) else f"{way}_id"

    def _merge(self, contexts: Sequence[ScopedContext], values: Mapping[str, Any]) -> Data:
        """The data of those contexts that are for an object which leads to ``values``."""
        within: dict[str, Collection[str]] = {}
        for scope in self.scopes:
            value = values.get(scope.name)
            within[scope.name] = value if isinstance(value, frozenset) else (_above if self._is_tree(scope) else _alone)(value)
        lenient = {scope.name for scope in self.scopes if scope.lenient and not within[scope.name]}
        found: Data = {}
        for limited in contexts:
            if all(name in lenient or not ids.isdisjoint(within.get(name, ())) for name, ids in limited.targets.items()):
                found = merged(found, limited.data)
        return found


def attached(registry: Registry, endpoint: Endpoint) -> list[FieldFactory]:
    """``config_context`` on resources of which a scope says how their objects lead to it."""
    every = scopes(registry)
    if not any(endpoint.label in scope.paths for scope in every):
        return []
    return [FieldFactory("config_context", lambda registry, endpoint: MergedContext(name="config_context", endpoint=endpoint, scopes=every))]
