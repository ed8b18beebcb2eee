"""The GraphQL schema of what is installed: a type for each model, and for each two fields to start from, one object and a list.

It is made when the first query comes, and again when the configuration has changed, as custom fields are part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLField,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
)

from netinv_core import fields as kinds
from netinv_core.endpoint import Endpoint
from netinv_core.read import filters
from netinv_core.read.filters import Filter
from netinv_core.read.lookups import SUFFIXES
from netinv_core.read.plan import Plan
from netinv_core.uow import UnitOfWork
from netinv_extras.graphql import types as members
from netinv_extras.graphql.arguments import WINDOW
from netinv_extras.graphql.types import ForeignKeyMember, Member, Members, RelationMember, ScalarMember

QUERY, ANYTHING = "Query", "AnyObject"
PLANS, DESCRIPTIONS = 500, 4
_AS_TYPED = frozenset({"exact", "lt", "lte", "gt", "gte"})
SCALARS: dict[str, GraphQLScalarType] = {
    members.BOOLEAN: GraphQLBoolean,
    members.FLOAT: GraphQLFloat,
    members.ID: GraphQLID,
    members.INT: GraphQLInt,
    members.STRING: GraphQLString,
    members.ANY: GraphQLScalarType(members.ANY, description="Any JSON value."),
    members.BIG: GraphQLScalarType(members.BIG, description="An integer that may be larger than 32 bits."),
    members.DATE: GraphQLScalarType(members.DATE, description="A date, YYYY-MM-DD."),
    members.MOMENT: GraphQLScalarType(members.MOMENT, description="An instant in UTC (ISO 8601)."),
}


@dataclasses.dataclass(frozen=True)
class Start:
    """Where a query starts: a list of an endpoint's objects, or one of them by its id."""

    endpoint: Endpoint
    single: bool


@dataclasses.dataclass
class Schema:
    """The schema, what its fields stand for, and the plans that queries have needed of late.

    ``members`` and ``types`` are by the labels of resources, ``starts`` by the names of the fields to start from.
    """

    schema: GraphQLSchema
    members: Mapping[str, Members]
    types: Mapping[str, GraphQLObjectType]
    starts: Mapping[str, Start]
    plans: dict[Any, Plan] = dataclasses.field(default_factory=dict)
    descriptions: dict[Any, dict[str, Any]] = dataclasses.field(default_factory=dict)

    def keep(self, name: Any, plan: Plan) -> Plan:
        """Keeps a plan for the next query of its shape."""
        return _kept(self.plans, name, plan, PLANS)

    def describe(self, question: Any, found: dict[str, Any]) -> dict[str, Any]:
        """Keeps what the schema says of itself for those who ask the same."""
        return _kept(self.descriptions, question, found, DESCRIPTIONS)


def _kept(kept: dict[Any, Any], name: Any, value: Any, most: int) -> Any:
    if len(kept) >= most:
        kept.pop(next(iter(kept)), None)
    kept[name] = value
    return value


def schema_of(uow: UnitOfWork) -> Schema:
    """The schema for a context's configuration, made once for a version of it."""
    found: Schema = uow.cached_config("graphql schema", _build)
    return found


def _build(uow: UnitOfWork) -> Schema:
    registry = uow.registry
    found = members.members_of(registry)
    for label, endpoint in registry.endpoints.items():
        found[label] |= members.configured_members(uow, endpoint)
    return _Writer(uow, found).finish()


class _Writer:
    """A schema while it is being made."""

    def __init__(self, uow: UnitOfWork, found: Mapping[str, Members]) -> None:
        self.members = found
        self.endpoints = uow.registry.endpoints
        self.arguments = {label: _arguments(uow, endpoint) for label, endpoint in self.endpoints.items()}
        shared = {name: GraphQLField(SCALARS[scalar]) for name, scalar in (("id", members.ID), ("display", members.STRING), ("url", members.STRING))}
        self.anything = GraphQLInterfaceType(ANYTHING, shared, description="What all objects have; fragments show the rest.")
        self.types = {label: self._type(label, endpoint) for label, endpoint in self.endpoints.items()}

    def finish(self) -> Schema:
        """The schema."""
        starts: dict[str, Start] = {}
        fields: dict[str, GraphQLField] = {}
        for label, endpoint in self.endpoints.items():
            one, many = members.variable(endpoint.title), members.variable(endpoint.plural)
            prefix = f"{members.variable(endpoint.app.name)}_" if {one, many} & starts.keys() else ""
            many = f"{many}_list" if many == one else many
            starts |= {f"{prefix}{one}": Start(endpoint, True), f"{prefix}{many}": Start(endpoint, False)}
            fields[f"{prefix}{one}"] = GraphQLField(self.types[label], {"id": GraphQLArgument(GraphQLID)})
            fields[f"{prefix}{many}"] = self._list(label)
        query = GraphQLObjectType(QUERY, fields)
        every: list[GraphQLNamedType] = list(self.types.values())
        return Schema(GraphQLSchema(query, types=every, assume_valid=True), self.members, self.types, starts)

    def _type(self, label: str, endpoint: Endpoint) -> GraphQLObjectType:
        whole = {"id", "display", "url"} <= self.members[label].keys()
        return GraphQLObjectType(
            f"{endpoint.schema_name}Type",
            lambda: {name: self._field(member) for name, member in self.members[label].items()},
            interfaces=[self.anything] if whole else [],
            description=(endpoint.model.__doc__ or "").partition("\n")[0],
        )

    def _field(self, member: Member) -> GraphQLField:
        if isinstance(member, ScalarMember):
            return GraphQLField(SCALARS[member.type], description=member.field.help or None)
        if isinstance(member, ForeignKeyMember):
            return GraphQLField(self.types[member.target.label])
        if isinstance(member, RelationMember):
            former = f"Use {member.former}." if member.former else None
            return GraphQLField(self.types[member.target.label]) if member.relation.single else self._list(member.target.label, former)
        return GraphQLField(self.anything)

    def _list(self, label: str, former: str | None = None) -> GraphQLField:
        found = GraphQLField(GraphQLList(self.types[label]), deprecation_reason=former)
        found.args = self.arguments[label]  # one table for all lists of a type: there are hundreds of arguments
        return found


def _arguments(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, GraphQLArgument]:
    """The query parameters of a resource's list, and what part of it is wanted."""
    found = dict.fromkeys(WINDOW, _ARGUMENTS[members.INT, False])
    for item in {**filters.dynamic_filters(uow, endpoint), **endpoint.filters}.values():
        known = item.name in endpoint.filters  # what the configuration adds takes any value, as its type is nobody's here
        for suffix in ("", *item.lookups):
            name = f"{item.name}__{suffix}" if suffix else item.name
            if name.isidentifier() and name.isascii():
                found[name] = _ARGUMENTS[_argument_type(endpoint, item, suffix) if known else members.ANY, item.multiple]
    return found


_ARGUMENTS = {(name, many): GraphQLArgument(GraphQLList(scalar) if many else scalar) for name, scalar in SCALARS.items() for many in (False, True)}


def _argument_type(endpoint: Endpoint, item: Filter, suffix: str) -> str:
    """The type of one value: that of the field of this name, where the lookup compares values as such."""
    field = endpoint.fields.get(item.name)
    if SUFFIXES.get(suffix, (suffix, False))[0] not in _AS_TYPED:
        return members.STRING
    if item.kind == "boolean":
        return members.BOOLEAN
    if isinstance(field, kinds.Value) and not isinstance(field, kinds.Choice) and field.python_type is int:
        return members.BIG if (field.known.maximum or 0) > members.LARGEST_INT else members.INT
    return members.FLOAT if item.kind == "number" else members.STRING
