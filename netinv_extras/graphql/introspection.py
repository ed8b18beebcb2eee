"""Execution of introspection fields (``__schema``, ``__type``), with the resolvers of graphql-core.

The schema is a graph: each of its types is the type of hundreds of fields. The JSON of an element (a type, field,
argument, value of an enumeration or directive) with the same selection is made once and kept for the query, so a query
costs what the schema has, not what the answer repeats. The answer's size is counted while it is made.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import orjson
from graphql import (
    FieldNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    SchemaMetaFieldDef,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
)

from netinv_core import answer_size
from netinv_core.errors import AnswerTooLarge
from netinv_extras.graphql.executor import Executor

META_FIELDS = {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef, "__typename": TypeNameMetaFieldDef}
MAX_MADE = 300_000  # elements whose JSON is made for a query; the longest query of code generators makes some 8,000
TOO_MANY = f"This query selects from more than {MAX_MADE} elements of the schema. Ask for one type at a time by __type."
Json = tuple[bytes, int]  # text, and the number of objects in it
NULL: Json = (b"null", 0)


class Introspection:
    """The introspection fields of one query, with the JSON of the elements that were made for it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._registry = executor.uow.registry
        self._info = types.SimpleNamespace(schema=executor.schema.schema, parent_type=None)
        self._made: dict[Any, tuple[Json, Any]] = {}  # with the element, so that its id stays its own
        self._selected: dict[Any, dict[str, list[FieldNode]]] = {}
        self._total = (0, 0)

    def root_value(self, nodes: Sequence[FieldNode]) -> bytes:
        """Returns the JSON of a root field.

        :raises AnswerTooLarge: when the values of all root fields are too large together
        """
        query = self._executor.schema.schema.query_type
        text, objects = self._field(query, META_FIELDS[nodes[0].name.value], None, nodes)
        self._total = self._total[0] + objects, self._total[1] + len(text)
        answer_size.check(self._registry, *self._total)
        return text

    def _field(self, parent: Any, field: GraphQLField, source: Any, nodes: Sequence[FieldNode]) -> Json:
        """The value of a field. The arguments of lists of the same type are one mapping, made once."""
        shared = getattr(source[1], "args", None) if isinstance(source, tuple) else None
        key = (id(shared), *map(id, nodes)) if shared is not None and nodes[0].name.value == "args" else None
        if key in self._made:
            return self._made[key][0]
        self._info.parent_type = parent
        resolve: Any = field.resolve
        arguments = self._executor.arguments(field, nodes) if field.args else {}
        value = resolve(source, self._info, **arguments)
        found = self._complete(field.type, value, nodes)
        if key is not None:
            self._made[key] = (found, shared)
        return found

    def _complete(self, type_: Any, value: Any, nodes: Sequence[FieldNode]) -> Json:
        """The JSON of a value of a type."""
        if isinstance(type_, GraphQLNonNull):
            return self._complete(type_.of_type, value, nodes)
        if value is None:
            return NULL
        if isinstance(type_, GraphQLList):
            parts = [self._complete(type_.of_type, item, nodes) for item in value]
            return self._count(b"[%b]" % b",".join(text for text, _ in parts), sum(count for _, count in parts))
        if isinstance(type_, GraphQLObjectType):
            return self._object(type_, value, nodes)
        return orjson.dumps(type_.coerce_output_value(value) if isinstance(type_, GraphQLEnumType) else value), 0

    def _object(self, type_: GraphQLObjectType, source: Any, nodes: Sequence[FieldNode]) -> Json:
        """The JSON of an element of the schema: a named one is a pair of its name and definition."""
        identity = (source[0], id(source[1])) if isinstance(source, tuple) else (id(source),)
        key = (type_.name, *identity, *map(id, nodes))
        kept = self._made.get(key)
        if kept is not None:
            return kept[0]
        if len(self._made) >= MAX_MADE:
            raise AnswerTooLarge(TOO_MANY)
        members, objects = [], 1
        for name, inner in self._selection(type_, nodes).items():
            field = META_FIELDS.get(inner[0].name.value) or type_.fields[inner[0].name.value]
            text, count = self._field(type_, field, source, inner)
            members.append(b'"%b":%b' % (name.encode(), text))
            objects += count
        found = self._count(b"{%b}" % b",".join(members), objects)
        self._made[key] = (found, source)
        return found

    def _selection(self, type_: GraphQLObjectType, nodes: Sequence[FieldNode]) -> dict[str, list[FieldNode]]:
        """The fields that nodes select on a type, by response name."""
        key = (type_.name, *map(id, nodes))
        if key not in self._selected:
            sets = [node.selection_set for node in nodes if node.selection_set]
            self._selected[key] = self._executor.collect(type_, sets)
        return self._selected[key]

    def _count(self, text: bytes, objects: int) -> Json:
        """A value and its number of objects.

        :raises AnswerTooLarge: when it is larger than an answer may be
        """
        answer_size.check(self._registry, objects, len(text))
        return text, objects
