"""GraphQL schema of the installed packages: one type per model, with two root fields: one object, and a list.

It is built at the first query, and again after a change of the configuration, because custom fields are part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

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

from netinv_core import fields as core_fields
from netinv_core.caches import BoundedCache
from netinv_core.read import filters
from netinv_core.sql.lookups import SUFFIXES
from netinv_core.sql.plan import ReadPlan
from netinv_extras.graphql import types as members
from netinv_extras.graphql.arguments import ALIASES, SLICE_ARGUMENTS
from netinv_extras.graphql.types import ForeignKeyMember, Member, Members, RelationMember, ScalarMember

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork

QUERY, ANY_OBJECT = "Query", "AnyObject"
# Sizes of caches: tables of plans (of 40 KiB each), and bytes of answers to introspection queries.
MAX_PLAN_TABLES, MAX_INTROSPECTION_BYTES = 500, 16 << 20
_TYPED_LOOKUPS = frozenset({"exact", "lt", "lte", "gt", "gte"})
SCALARS: dict[str, GraphQLScalarType] = {
    members.BOOLEAN: GraphQLBoolean,
    members.FLOAT: GraphQLFloat,
    members.ID: GraphQLID,
    members.INT: GraphQLInt,
    members.STRING: GraphQLString,
    members.ANY: GraphQLScalarType(members.ANY, description="Any JSON value."),
    members.BIG_INTEGER: GraphQLScalarType(
        members.BIG_INTEGER, description="An integer that may be larger than 32 bits."
    ),
    members.DATE: GraphQLScalarType(members.DATE, description="A date, YYYY-MM-DD."),
    members.DATE_TIME: GraphQLScalarType(members.DATE_TIME, description="An instant in UTC (ISO 8601)."),
}


@dataclasses.dataclass(frozen=True)
class RootField:
    """Root field of queries: a list of an endpoint's objects, or one of them by id (``single``)."""

    endpoint: Endpoint
    single: bool


@dataclasses.dataclass
class GraphqlSchema:
    """GraphQL schema with the members behind its fields, and caches of read plans and introspection results.

    :ivar members: members by resource label and field name
    :ivar types: object types by resource label
    :ivar root_fields: root fields by name
    """

    schema: GraphQLSchema
    members: Mapping[str, Members]
    types: Mapping[str, GraphQLObjectType]
    root_fields: Mapping[str, RootField]
    plans: BoundedCache[ReadPlan] = dataclasses.field(
        default_factory=lambda: BoundedCache("GraphQL plans", MAX_PLAN_TABLES, lambda plan: plan.tables)
    )
    introspections: BoundedCache[dict[str, bytes]] = dataclasses.field(
        default_factory=lambda: BoundedCache("GraphQL introspections", MAX_INTROSPECTION_BYTES, _size)
    )


def _size(values: Mapping[str, bytes]) -> int:
    return sum(map(len, values.values()))


def schema_of(uow: UnitOfWork) -> GraphqlSchema:
    """Returns the schema, cached per configuration version."""
    schema: GraphqlSchema = uow.cached_config("graphql schema", _build)
    return schema


def _build(uow: UnitOfWork) -> GraphqlSchema:
    registry = uow.registry
    members_by_label = members.members_of(registry)
    for label, endpoint in registry.endpoints.items():
        members_by_label[label] |= members.configured_members(uow, endpoint)
    return _SchemaBuilder(uow, members_by_label).build()


class _SchemaBuilder:
    """Builder of the schema from the members of all resources."""

    def __init__(self, uow: UnitOfWork, members_by_label: Mapping[str, Members]) -> None:
        self.members = members_by_label
        self.endpoints = uow.registry.endpoints
        self.arguments = {label: _arguments(uow, endpoint) for label, endpoint in self.endpoints.items()}
        common = {"id": members.ID, "display": members.STRING, "url": members.STRING}
        self.any_object = GraphQLInterfaceType(
            ANY_OBJECT,
            {name: GraphQLField(SCALARS[scalar]) for name, scalar in common.items()},
            description="What all objects have; fragments show the rest.",
        )
        self.types = {label: self._type(label, endpoint) for label, endpoint in self.endpoints.items()}

    def build(self) -> GraphqlSchema:
        """Returns the schema. Names of root fields that are not unique are prefixed with the application's."""
        root_fields: dict[str, RootField] = {}
        fields: dict[str, GraphQLField] = {}
        for label, endpoint in self.endpoints.items():
            singular, plural = members.identifier(endpoint.title), members.identifier(endpoint.plural)
            ambiguous = {singular, plural} & root_fields.keys()
            prefix = f"{members.identifier(endpoint.app.name)}_" if ambiguous else ""
            plural = f"{plural}_list" if plural == singular else plural
            root_fields[f"{prefix}{singular}"] = RootField(endpoint, single=True)
            root_fields[f"{prefix}{plural}"] = RootField(endpoint, single=False)
            fields[f"{prefix}{singular}"] = GraphQLField(self.types[label], {"id": GraphQLArgument(GraphQLID)})
            fields[f"{prefix}{plural}"] = self._list(label)
        query = GraphQLObjectType(QUERY, fields)
        types: list[GraphQLNamedType] = list(self.types.values())
        return GraphqlSchema(
            GraphQLSchema(query, types=types, assume_valid=True), self.members, self.types, root_fields
        )

    def _type(self, label: str, endpoint: Endpoint) -> GraphQLObjectType:
        implements_any_object = {"id", "display", "url"} <= self.members[label].keys()
        return GraphQLObjectType(
            f"{endpoint.schema_name}Type",
            lambda: {name: self._field(member) for name, member in self.members[label].items()},
            interfaces=[self.any_object] if implements_any_object else [],
            description=(endpoint.model.__doc__ or "").partition("\n")[0],
        )

    def _field(self, member: Member) -> GraphQLField:
        if isinstance(member, ScalarMember):
            return GraphQLField(SCALARS[member.type], description=member.field.help or None)
        if isinstance(member, ForeignKeyMember):
            return GraphQLField(self.types[member.target.label])
        if isinstance(member, RelationMember):
            target = member.target.label
            if member.relation.single:
                return GraphQLField(self.types[target])
            return self._list(target, member.replaced_by)
        return GraphQLField(self.any_object)

    def _list(self, label: str, replaced_by: str | None = None) -> GraphQLField:
        """Returns a list field; it is deprecated if ``replaced_by`` names the field to use instead."""
        deprecation = f"Use {replaced_by}." if replaced_by else None
        field = GraphQLField(GraphQLList(self.types[label]), deprecation_reason=deprecation)
        field.args = self.arguments[label]  # shared by all lists of the type, because there are hundreds of arguments
        return field


def _arguments(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, GraphQLArgument]:
    """Returns the arguments of a resource's lists: its query parameters, ``limit`` and ``offset``."""
    arguments = dict.fromkeys(SLICE_ARGUMENTS, _ARGUMENTS[members.INT, False])
    for item in {**filters.dynamic_filters(uow, endpoint), **endpoint.filters}.values():
        for suffix in ("", *item.lookups):
            name = f"{item.name}__{suffix}" if suffix else item.name
            if name.isidentifier() and name.isascii():
                # The type of a filter from the configuration, such as that of a custom field, is not declared.
                type_ = _argument_type(endpoint, item, suffix) if item.name in endpoint.filters else members.ANY
                arguments[name] = _ARGUMENTS[type_, item.multiple]
    arguments |= {alias: arguments[name] for alias, name in ALIASES.items() if name in arguments}
    return arguments


_ARGUMENTS = {
    (name, is_list): GraphQLArgument(GraphQLList(scalar) if is_list else scalar)
    for name, scalar in SCALARS.items()
    for is_list in (False, True)
}


def _argument_type(endpoint: Endpoint, item: Filter, suffix: str) -> str:
    """Returns the scalar type of an argument: that of the field if the lookup compares values, otherwise a string."""
    field = endpoint.fields.get(item.name)
    if SUFFIXES.get(suffix, (suffix, False))[0] not in _TYPED_LOOKUPS:
        return members.STRING
    if item.kind == "boolean":
        return members.BOOLEAN
    if isinstance(field, core_fields.Value) and not isinstance(field, core_fields.Choice) and field.python_type is int:
        return members.BIG_INTEGER if (field.info.maximum or 0) > members.MAX_INT else members.INT
    return members.FLOAT if item.kind == "number" else members.STRING
