"""The ``config_context`` field: data of the active config contexts that apply to an object, merged with its local data.

The active contexts are cached per configuration version. An object's scope values (its site, role, …) are foreign keys
in the page's own rows, or are read through joins by one additional statement per page.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.models.base import table_of
from netinv_core.models.columns import column_info
from netinv_core.resource import FieldFactory
from netinv_core.sql.plan import ReadPlan, Row
from netinv_core.sql.union import Union, kept_union
from netinv_core.write.trees import STEP, is_tree
from netinv_extras.config_contexts import limits
from netinv_extras.config_contexts.active import ActiveContexts, Data, ScopedContext
from netinv_extras.config_contexts.models import ConfigContext, scoped
from netinv_extras.config_contexts.scopes import ContextScope, scopes

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, RowSet
    from netinv_core.uow import UnitOfWork

LOCAL = "local_context_data"
PAGE_STATE = "page state"


@dataclasses.dataclass(frozen=True)
class Layer:
    """Data of one origin that is merged into an object's context: a config context, or without ``key`` its local
    data.
    """

    name: str
    data: Data
    key: Any = None


def merge(first: Data, second: Data) -> dict[str, Any]:
    """Returns a deep merge of two mappings; values of ``second`` take precedence. The arguments are not changed.

    Example: ``merged({"a": {"b": 1}, "c": 2}, {"a": {"d": 3}})`` is ``{"a": {"b": 1, "d": 3}, "c": 2}``.
    """
    result = dict(first)
    for name, value in second.items():
        former = result.get(name)
        if isinstance(former, Mapping) and isinstance(value, Mapping):
            result[name] = merge(former, value)
        else:
            result[name] = value
    return result


def active_contexts(uow: UnitOfWork) -> ActiveContexts:
    """Returns the active contexts in merge order: by weight, then by name. Cached per configuration version."""
    contexts: ActiveContexts = uow.cached_config("config contexts", _load)
    return contexts


def _load(uow: UnitOfWork) -> ActiveContexts:
    """Loads the active contexts and their scopes. One statement."""
    table = table_of(ConfigContext)

    def parts() -> list[Any]:
        scoped_contexts = scoped.join(table, table.c.id == scoped.c.owner_id)
        return [
            (
                [table.c.id, table.c.weight, table.c.name, table.c.data, table.c[limits.COLUMN]],
                table,
                table.c.is_active,
            ),
            ([scoped.c.owner_id, scoped.c.scope, scoped.c.target_id], scoped_contexts, table.c.is_active),
        ]

    union: Union = kept_union(uow.registry, "config contexts", parts)
    contexts, scope_rows = union.rows(uow, {})
    targets: dict[Any, dict[str, set[str]]] = {
        key: {scope: set() for scope in limited_by.split()} for key, *_, limited_by in contexts if limited_by
    }
    for owner, scope, target in scope_rows:
        targets.setdefault(owner, {}).setdefault(scope, set()).add(str(target))
    ordered = sorted(contexts, key=lambda row: (row[1], row[2], str(row[0])))
    return ActiveContexts(
        [
            ScopedContext(data, {scope: frozenset(ids) for scope, ids in targets.get(key, {}).items()}, key, name)
            for key, _, name, data, _ in ordered
        ]
    )


@dataclasses.dataclass
class PageState:
    """Per-page state of the field.

    :ivar contexts: the active contexts in merge order
    :ivar joined_values: scope values that were read through joins, by object id and scope name
    :ivar results: merge results, memoised by the scope values of an object
    """

    contexts: ActiveContexts
    joined_values: Mapping[Any, Mapping[str, Any]]
    results: dict[tuple[Any, ...], Data] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ScopeValueReader:
    """Reads the scope values of a page's objects: foreign keys, tree keys, or sets of ids, by scope name.

    :ivar key: index of the object's id in a row
    :ivar columns: index of the value in a row of the page, by scope, for values in the object's own table
    :ivar joined_plan: read plan of the values in other tables
    :ivar joined_scopes: scopes whose values ``joined_plan`` reads
    :ivar lists: readers of to-many fields such as tags, by scope
    """

    key: int
    columns: Mapping[str, int]
    joined_plan: ReadPlan
    joined_scopes: frozenset[str]
    lists: Mapping[str, Reader]

    def load_joined(self, uow: UnitOfWork, rows: Sequence[Row], contexts: ActiveContexts) -> dict[Any, Any]:
        """Loads scope values through joins, by object id. One statement, none if no context has such a scope."""
        if contexts.scopes.isdisjoint(self.joined_scopes):
            return {}
        return dict(self.joined_plan.fetch(uow, fields.keys_of(rows, self.key)))

    def values_of(self, row: Row, page: RowSet, state: PageState) -> dict[str, Any]:
        """Returns the scope values of one object."""
        values = {name: row[index] for name, index in self.columns.items()}
        values |= state.joined_values.get(row[self.key], {})
        for name, read_list in self.lists.items():
            values[name] = frozenset(str(item["id"]) for item in read_list(row, page))
        return values


@dataclasses.dataclass(eq=False, kw_only=True)
class MergedContext(fields.Field):
    """Config context of an endpoint's objects; ``scopes`` are all scopes of the installed packages.

    :raises ValueError: if the path of a scope does not exist in the model
    """

    endpoint: Endpoint
    scopes: Sequence[ContextScope]
    read_only: bool = True
    costly: bool = True
    openapi: dict[str, Any] = dataclasses.field(default_factory=lambda: {"type": "object"})

    def __post_init__(self) -> None:
        for scope in self.scopes:
            self._check_path(scope)

    def _check_path(self, scope: ContextScope) -> None:
        endpoint: Endpoint | None = self.endpoint
        for step in scope.paths.get(self.endpoint.label, "").split("."):
            if endpoint is None or not step:
                return
            if f"{step}_id" not in endpoint.table.c:
                label = self.endpoint.label
                raise ValueError(
                    f"the config context scope {scope.name!r} has a path that {label} does not have: {step!r}"
                )
            endpoint = endpoint.registry.target(column_info(endpoint.table.c[f"{step}_id"]).foreign_key)

    def sources(self) -> Collection[str]:
        paths = [path for scope in self.scopes if (path := scope.paths.get(self.endpoint.label)) is not None]
        first_steps = {path.partition(".")[0] for path in paths}
        return first_steps | ({LOCAL} if LOCAL in self.endpoint.table.c else set())

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        local_column = plan.column(place, LOCAL) if LOCAL in place.table.c else None
        values, batch = self._scope_values(plan, place)

        def read(row: Row, page: RowSet) -> Data:
            state: PageState = page.batches[batch][PAGE_STATE]
            data = self._data(state, values.values_of(row, page, state)) if state.contexts else {}
            local_data = row[local_column] if local_column is not None else None
            return merge(data, local_data) if isinstance(local_data, Mapping) else data

        return read

    def layers_reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        """Returns the reader of the layers that the value is merged from, in merge order."""
        local_column = plan.column(place, LOCAL) if LOCAL in place.table.c else None
        values, batch = self._scope_values(plan, place)

        def read(row: Row, page: RowSet) -> list[Layer]:
            state: PageState = page.batches[batch][PAGE_STATE]
            contexts = self._applicable(state.contexts, values.values_of(row, page, state)) if state.contexts else []
            layers = [Layer(context.name, context.data, context.key) for context in contexts]
            local_data = row[local_column] if local_column is not None else None
            return [*layers, Layer("", local_data)] if isinstance(local_data, Mapping) else layers

        return read

    def _scope_values(self, plan: ReadPlan, place: JoinedTable) -> tuple[ScopeValueReader, Any]:
        """Returns the reader of the scope values, and the batch of the plan with the state of the page."""
        values = self._value_reader(plan, place, plan.column(place, "id"))

        def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
            contexts = active_contexts(uow)
            return {PAGE_STATE: PageState(contexts, values.load_joined(uow, rows, contexts))}

        return values, plan.batch(load)

    def _value_reader(self, plan: ReadPlan, place: JoinedTable, key: int) -> ScopeValueReader:
        """Adds the columns and lists of scope values to the plan; values in other tables get a plan of their own."""
        paths = {scope.name: path for scope in self.scopes if (path := self._path(scope)) is not None}
        columns = {name: plan.column(place, path) for name, path in paths.items() if "." not in path}
        lists = {
            scope.name: plan.reader_of(place, list_field)
            for scope in self.scopes
            if (list_field := place.endpoint.fields.get(scope.field)) is not None
        }
        joined_paths = {name: path for name, path in paths.items() if name not in columns}
        joined_plan = ReadPlan(plan.registry, place.endpoint).finish(
            [
                fields.Computed(name=name, function=lambda value: value, paths=(path,))
                for name, path in joined_paths.items()
            ]
        )
        return ScopeValueReader(key, columns, joined_plan, frozenset(joined_paths), lists)

    @functools.cached_property
    def _trees(self) -> frozenset[str]:
        """The names of the scopes whose objects are nodes of a tree."""
        registry = self.endpoint.registry
        return frozenset(scope.name for scope in self.scopes if is_tree(registry[scope.target]))

    def _path(self, scope: ContextScope) -> str | None:
        """Returns the path to the column with the scope's value: a foreign key, or the tree key of a tree's node."""
        path = scope.paths.get(self.endpoint.label)
        if path is None:
            return None
        return f"{path}.tree_key" if scope.name in self._trees else f"{path}_id"

    def _data(self, state: PageState, values: Mapping[str, Any]) -> Data:
        """Returns the merged data for the scope values of an object, memoised for the page."""
        key = tuple(values.values())
        if key not in state.results:
            data: Data = {}
            for context in self._applicable(state.contexts, values):
                data = merge(data, context.data)
            state.results[key] = data
        return state.results[key]

    def _applicable(self, contexts: ActiveContexts, values: Mapping[str, Any]) -> list[ScopedContext]:
        """Returns the contexts that apply to an object with these scope values."""
        ids_by_scope = {scope.name: self._ids(scope, values.get(scope.name)) for scope in self.scopes}
        return contexts.applicable(ids_by_scope)

    def _ids(self, scope: ContextScope, value: Any) -> Collection[str]:
        """Returns the ids (as text) that a scope value stands for: for a tree, the node and its ancestors, of
        which its tree key consists.
        """
        if isinstance(value, frozenset):
            return value
        if not value:
            return ()
        return value.split(STEP) if scope.name in self._trees else (str(value),)


def attach_field(registry: Registry, endpoint: Endpoint) -> list[FieldFactory]:
    """Returns the ``config_context`` field for resources that a scope has a path for."""
    all_scopes = scopes(registry)
    if not any(endpoint.label in scope.paths for scope in all_scopes):
        return []

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        return MergedContext(name="config_context", endpoint=endpoint, scopes=all_scopes)

    return [FieldFactory("config_context", make)]
