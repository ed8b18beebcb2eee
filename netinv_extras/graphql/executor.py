"""How a query's objects are read: level by level, all objects of a level together.

A level is one statement for each way that the query names, whatever the number of objects it leads from; the statement selects
what is asked for and nothing else (:mod:`netinv_core.read.plan`). What may not be viewed is not found: null, or absent from its list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLObjectType,
    GraphQLSkipDirective,
    InlineFragmentNode,
    SelectionSetNode,
    VariableValues,
    get_argument_values,
    get_directive_values,
)

from netinv_core.db.engine import in_parameter, inlined_int
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Denied, Invalid, error_text
from netinv_core.read import listing
from netinv_core.read.listing import Parameters, Slice
from netinv_core.read.plan import Plan
from netinv_core.uow import UnitOfWork
from netinv_extras.graphql.arguments import WHOLE, NestedSlice, parameters_of, slice_of
from netinv_extras.graphql.schema import Schema
from netinv_extras.graphql.types import ForeignKeyMember, GenericMember, Member, RelationMember, ScalarMember, held

TYPENAME = "__typename"
KEY = held("id")
Nodes = Sequence[FieldNode]
Path = tuple[str, ...]
Raw = dict[str, Any]
Shown = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Asked:
    """A field that is asked for: the name of the answer, what it stands for (``None``: the name of the type), where it is asked for."""

    name: str
    member: Member | None
    nodes: Nodes


class Executor:
    """One query while it is answered; ``errors`` are those of fields, the others are there nevertheless.

    ``most`` bounds the objects that are read, 0 for no bound.
    """

    def __init__(self, uow: UnitOfWork, schema: Schema, fragments: Mapping[str, FragmentDefinitionNode], variables: VariableValues, most: int) -> None:
        self.uow = uow
        self.schema = schema
        self.fragments = fragments
        self.variables = variables
        self.most = most
        self.count = 0
        self.errors: list[GraphQLError] = []
        self._scopes: dict[str, Sequence[Any] | None] = {}

    # -- from the start

    def collect(self, type_: GraphQLObjectType, selections: Iterable[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """The fields asked for of a type, by the names of the answers: fragments opened, what is skipped left out."""
        found: dict[str, list[FieldNode]] = {}
        waiting, opened = [node for some in selections for node in some.selections][::-1], set()
        while waiting:
            node = waiting.pop()
            if not self._included(node):
                continue
            if isinstance(node, FieldNode):
                found.setdefault((node.alias or node.name).value, []).append(node)
                continue
            if isinstance(node, FragmentSpreadNode):
                if node.name.value in opened:
                    continue
                opened.add(node.name.value)
            inside = self.fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
            assert isinstance(inside, FragmentDefinitionNode | InlineFragmentNode)
            named = inside.type_condition.name.value if inside.type_condition else type_.name
            if named == type_.name or named in {interface.name for interface in type_.interfaces}:
                waiting += inside.selection_set.selections[::-1]
        return found

    def _included(self, node: Any) -> bool:
        skip = get_directive_values(GraphQLSkipDirective, node, self.variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self.variables)
        return not (skip and skip["if"]) and not (include and not include["if"])

    def start(self, name: str, nodes: Nodes) -> Any:
        """The answer to a field to start from; null for one with an error."""
        start = self.schema.starts[nodes[0].name.value]
        query = self.schema.schema.query_type
        assert query is not None
        given = self._given(query.fields[nodes[0].name.value], nodes)
        endpoint, selections = start.endpoint, selections_of(nodes)
        try:
            if start.single:
                key = endpoint.parse_key(str(given.get("id", "")))
                return self.objects(endpoint, distinct([key]), selections, (name,)).get(key)
            window = slice_of(given)
            conditions = self._conditions(endpoint, parameters_of(given))
            if conditions is None:
                return []
            limit = min((bound for bound in (window.limit, self.most and self.most + 1) if bound), default=0)
            keys = listing.selected(self.uow, endpoint, conditions, Slice(limit, window.offset)) if window.limit != 0 else []
            found = self.objects(endpoint, keys, selections, (name,), known=True)
            return [found[key] for key in keys if key in found]
        except Invalid as error:
            self._fail(error, nodes, (name,))
            return None

    # -- levels

    def objects(self, endpoint: Endpoint, keys: Sequence[Any], selections: Sequence[SelectionSetNode], path: Path, *, known: bool = False) -> dict[Any, Shown]:
        """The objects with these ids as they are asked for, by id; those that may not be viewed are absent, unless they are ``known`` to be viewable."""
        conditions = () if known else self._conditions(endpoint)
        if conditions is None or not keys:
            return {}
        asked = self._asked(endpoint, selections)
        rows = self._plan(endpoint, asked).fetch(self.uow, keys, conditions)
        self._add(len(rows))
        shown = self._complete(endpoint, asked, [raw for _, raw in rows], path)
        return dict(zip([key for key, _ in rows], shown, strict=True))

    def _complete(self, endpoint: Endpoint, asked: Sequence[Asked], rows: Sequence[Raw], path: Path) -> list[Shown]:
        """What was read of objects as it is asked for, with what it leads to."""
        found: list[Shown] = [{} for _ in rows]
        for item in asked:
            for shown, value in zip(found, self._values(endpoint, item, rows, (*path, item.name)), strict=True):
                shown[item.name] = value
        return found

    def _values(self, endpoint: Endpoint, item: Asked, rows: Sequence[Raw], path: Path) -> Sequence[Any]:
        """What one field asked for is in each row."""
        member = item.member
        if member is None:
            return [self.schema.types[endpoint.label].name] * len(rows)
        if isinstance(member, ScalarMember):
            values = [raw[member.field.name] for raw in rows]
            return values if member.shown is None else [member.shown(value) for value in values]
        selections = selections_of(item.nodes)
        if isinstance(member, ForeignKeyMember):
            columns = [held(attribute).name for attribute in member.attributes]
            keys = [next((raw[name] for name in columns if raw[name] is not None), None) for raw in rows]
            found = self.objects(member.target, distinct(keys), selections, path)
            return [found.get(key) for key in keys]
        if isinstance(member, GenericMember):
            return self._named(member, selections, rows, path)
        owners = [raw[KEY.name] for raw in rows]
        try:
            lists = self._lists(endpoint, item, distinct(owners), selections, path)
        except Invalid as error:
            self._fail(error, item.nodes, path)
            return [None] * len(rows)
        return [lists.get(owner, [None])[0] if member.relation.single else lists.get(owner, []) for owner in owners]

    def _named(self, member: GenericMember, selections: Sequence[SelectionSetNode], rows: Sequence[Raw], path: Path) -> list[Any]:
        """The objects of any type that rows name: one statement for each type there is among them."""
        label, key = held(member.type_attribute).name, held(member.id_attribute).name
        wanted: dict[str, list[Any]] = {}
        for raw in rows:
            endpoint = self.uow.registry.get(raw[label] or "")
            if endpoint is not None and isinstance(raw[key], endpoint.key_type):
                wanted.setdefault(endpoint.label, []).append(raw[key])
        found = {name: self.objects(self.uow.registry[name], distinct(keys), selections, path) for name, keys in wanted.items()}
        return [found.get(raw[label], {}).get(raw[key]) for raw in rows]

    def _lists(self, endpoint: Endpoint, item: Asked, owners: Sequence[Any], selections: Sequence[SelectionSetNode], path: Path) -> dict[Any, list[Shown]]:
        """What a step leads to from each of these objects, in its order."""
        member = item.member
        assert isinstance(member, RelationMember)
        field = self.schema.types[endpoint.label].fields[item.nodes[0].name.value]
        given = {} if member.relation.single else self._given(field, item.nodes)
        window = slice_of(given)
        conditions = self._conditions(member.target, parameters_of(given))
        if conditions is None or not owners or window.limit == 0:
            return {}
        asked = self._asked(member.target, selections)
        with listing.filter_errors_as_400():
            if window == WHOLE:
                rows = self._plan(member.target, asked, member).fetch(self.uow, owners, conditions, self.most + 1 if self.most else None)
            else:
                rows = self._part(member, asked, owners, conditions, window)
        self._add(len(rows))
        found: dict[Any, list[Shown]] = {}
        for (owner, _), shown in zip(rows, self._complete(member.target, asked, [raw for _, raw in rows], path), strict=True):
            found.setdefault(owner, []).append(shown)
        return found

    def _part(
        self, member: RelationMember, asked: Sequence[Asked], owners: Sequence[Any], conditions: Sequence[Any], window: NestedSlice
    ) -> list[tuple[Any, Raw]]:
        """As far as the window goes for each owner: the ids first, then what is read of them."""
        table = member.target.table
        source, order = member.target.ordering
        owner, through = _far_side(member)
        source = source if through is None else through.join(source, through.c.target_id == table.c.id)
        place = sa.func.row_number().over(partition_by=owner, order_by=order).label("place")
        selected = sa.select(owner.label("owner_id"), table.c.id.label("target_id"), place).select_from(source)
        ranked = selected.where(in_parameter(self.uow.registry.dialect, owner), *conditions).subquery()
        statement = sa.select(ranked.c.owner_id, ranked.c.target_id).where(ranked.c.place > window.offset).order_by(ranked.c.place)
        if window.limit is not None:
            statement = statement.where(ranked.c.place <= window.offset + window.limit)
        statement = statement.limit(inlined_int("most", self.most + 1)) if self.most else statement
        pairs = self.uow.execute(statement, {"keys": list(owners)}).all()
        read = dict(self._plan(member.target, asked).fetch(self.uow, distinct(key for _, key in pairs)))
        return [(owner, read[key]) for owner, key in pairs if key in read]

    # -- parts

    def _asked(self, endpoint: Endpoint, selections: Sequence[SelectionSetNode]) -> list[Asked]:
        members = self.schema.members[endpoint.label]
        collected = self.collect(self.schema.types[endpoint.label], selections)
        return [Asked(name, members.get(nodes[0].name.value), nodes) for name, nodes in collected.items()]

    def _plan(self, endpoint: Endpoint, asked: Sequence[Asked], across: RelationMember | None = None) -> Plan:
        """The plan that reads what is asked for, by the ids of the objects or by those of the ``across`` step's owners."""
        fields = {field.name: field for item in asked for field in _needs(item.member)}
        name = (endpoint.label, across, frozenset(fields))
        if name in self.schema.plans:
            return self.schema.plans[name]
        key, through = (None, None) if across is None else _far_side(across)
        plan = Plan(self.uow.registry, endpoint, key=key, through=through, ordered=across is not None)
        return self.schema.keep(name, plan.finish([KEY, *fields.values()]))

    def _conditions(self, endpoint: Endpoint, parameters: Parameters = ()) -> Sequence[Any] | None:
        """What an object must meet to be found; ``None`` when none is permitted.

        :raises Invalid: for a bad value of a parameter
        """
        if not parameters and endpoint.label in self._scopes:
            return self._scopes[endpoint.label]
        found: Sequence[Any] | None
        try:
            found = listing.conditions_of(self.uow, endpoint, endpoint.table, parameters, "view")
        except Denied:
            found = None
        if not parameters:
            self._scopes[endpoint.label] = found
        return found

    def _given(self, field: GraphQLField, nodes: Nodes) -> dict[str, Any]:
        """The arguments of a field that are given."""
        return {name: value for name, value in get_argument_values(field, nodes[0], self.variables).items() if value is not None}

    def _add(self, number: int) -> None:
        self.count += number
        if self.most and self.count > self.most:
            raise GraphQLError(f"This query asks for more than {self.most} objects (netinv.graphql_max_objects). Use filters, or limit and offset.")

    def _fail(self, error: Invalid, nodes: Nodes, path: Path) -> None:
        self.errors.append(GraphQLError(error_text(error.body), nodes, path=list(path)))


def selections_of(nodes: Nodes) -> list[SelectionSetNode]:
    """What is asked for below these fields, which have one name in the answer."""
    return [node.selection_set for node in nodes if node.selection_set is not None]


def distinct(keys: Iterable[Any]) -> list[Any]:
    """The ids among these, each once."""
    return list({key: None for key in keys if key is not None})


def _needs(member: Member | None) -> Sequence[Any]:
    """The fields that a plan reads for a member."""
    if isinstance(member, ScalarMember):
        return [member.field]
    if isinstance(member, ForeignKeyMember):
        return [held(attribute) for attribute in member.attributes]
    return [held(member.type_attribute), held(member.id_attribute)] if isinstance(member, GenericMember) else []


def _far_side(member: RelationMember) -> tuple[Any, Any]:
    """The column that holds the ids of a step's owners, and what it takes to get to it from the far side."""
    if member.relation.target_key is not None:
        return member.target.table.c[member.relation.target_key], None
    assert member.relation.pairs is not None
    pairs = member.relation.pairs()
    return pairs.c.owner_id, pairs
