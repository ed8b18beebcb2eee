"""Executor of GraphQL queries: reads objects breadth-first, all objects of one level of the query together.

A level takes one statement per relation that the query selects, for any number of parent objects. The statement selects
only the requested columns (:mod:`netinv_core.sql.plan`). Objects that the user may not view are null, or missing from
their list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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

from netinv_core.db.engine import inlined_int
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied, Invalid, error_text
from netinv_core.read import listing
from netinv_core.read.listing import Parameters, Slice
from netinv_core.sql.plan import ReadPlan
from netinv_extras.graphql.answer_sizes import AnswerSizes
from netinv_extras.graphql.arguments import WHOLE, FilterCounts, NestedSlice, parameters_of, slice_of
from netinv_extras.graphql.schema import GraphqlSchema
from netinv_extras.graphql.types import (
    ForeignKeyMember,
    GenericMember,
    Member,
    RelationMember,
    ScalarMember,
    column_field,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

KEY = column_field("id")
Nodes = Sequence[FieldNode]
Selections = Sequence[SelectionSetNode]
Path = tuple[str, ...]
RawObject = dict[str, Any]
Representation = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class SelectedField:
    """A selected field: its name in the response, its member (``None`` for ``__typename``), its nodes in the query."""

    name: str
    member: Member | None
    nodes: Nodes


class Executor:
    """Execution of one query. Field errors are collected in ``errors``; the other fields have their values.

    :ivar max_objects: maximum number of objects read, 0 for no limit
    """

    def __init__(
        self,
        uow: UnitOfWork,
        schema: GraphqlSchema,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: VariableValues,
        max_objects: int,
    ) -> None:
        self.uow = uow
        self.schema = schema
        self.fragments = fragments
        self.variables = variables
        self.max_objects = max_objects
        self.object_count = 0
        self._filters = FilterCounts(uow)
        self.sizes = AnswerSizes(uow.registry)
        self.errors: list[GraphQLError] = []
        self._view_conditions: dict[str, Sequence[Any] | None] = {}

    # -- root fields

    def collect(
        self, type_: GraphQLObjectType, selection_sets: Iterable[SelectionSetNode]
    ) -> dict[str, list[FieldNode]]:
        """Returns the fields selected on a type by response name. Expands fragments, applies @skip and @include."""
        nodes_by_name: dict[str, list[FieldNode]] = {}
        pending = [node for selection_set in selection_sets for node in selection_set.selections][::-1]
        expanded: set[str] = set()
        while pending:
            node = pending.pop()
            if not self._is_included(node):
                continue
            if isinstance(node, FieldNode):
                nodes_by_name.setdefault((node.alias or node.name).value, []).append(node)
                continue
            if isinstance(node, FragmentSpreadNode):
                if node.name.value in expanded:
                    continue
                expanded.add(node.name.value)
            fragment = self.fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
            assert isinstance(fragment, FragmentDefinitionNode | InlineFragmentNode)
            condition = fragment.type_condition.name.value if fragment.type_condition else type_.name
            if condition == type_.name or condition in {interface.name for interface in type_.interfaces}:
                pending += fragment.selection_set.selections[::-1]
        return nodes_by_name

    def _is_included(self, node: Any) -> bool:
        skip = get_directive_values(GraphQLSkipDirective, node, self.variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self.variables)
        return not (skip and skip["if"]) and not (include and not include["if"])

    def root_value(self, name: str, nodes: Nodes) -> Any:
        """Returns the value of a root field; ``None`` if it has an error."""
        root_field = self.schema.root_fields[nodes[0].name.value]
        query = self.schema.schema.query_type
        assert query is not None
        arguments = self.arguments(query.fields[nodes[0].name.value], nodes)
        endpoint, selections = root_field.endpoint, selections_of(nodes)
        try:
            if root_field.single:
                key = endpoint.parse_key(str(arguments.get("id", "")))
                value: Any = self.objects(endpoint, distinct([key]), selections, (name,)).get(key)
            else:
                value = self._root_list(endpoint, arguments, selections, (name,))
            self.sizes.add_root(value)
            return value
        except Invalid as error:
            self._add_error(error, nodes, (name,))
            return None

    def _root_list(
        self, endpoint: Endpoint, arguments: dict[str, Any], selections: Selections, path: Path
    ) -> list[Representation]:
        """Returns the objects that a root list's arguments select, in the order of the resource's list.

        :raises Invalid: for a bad value of an argument
        """
        window = slice_of(arguments)
        conditions = self._conditions(endpoint, parameters_of(arguments))
        if conditions is None or window.limit == 0:
            return []
        limits = (window.limit, self.max_objects and self.max_objects + 1)
        limit = min((limit for limit in limits if limit), default=0)
        keys = listing.selected(self.uow, endpoint, conditions, Slice(limit, window.offset))
        objects = self.objects(endpoint, keys, selections, path, viewable=True)
        return [objects[key] for key in keys if key in objects]

    # -- levels

    def objects(
        self, endpoint: Endpoint, keys: Sequence[Any], selections: Selections, path: Path, *, viewable: bool = False
    ) -> dict[Any, Representation]:
        """Returns the objects with these ids, with the selected fields, by id.

        Objects that the user may not view are missing. With ``viewable`` the caller has checked that already.
        """
        conditions = () if viewable else self._conditions(endpoint)
        if conditions is None or not keys:
            return {}
        fields = self._selected_fields(endpoint, selections)
        rows = self._plan(endpoint, fields).fetch(self.uow, keys, conditions, bounded=True)
        self._count(len(rows))
        representations = self._represent(endpoint, fields, [raw for _, raw in rows], path)
        return dict(zip([key for key, _ in rows], representations, strict=True))

    def _represent(
        self, endpoint: Endpoint, fields: Sequence[SelectedField], raw_objects: Sequence[RawObject], path: Path
    ) -> list[Representation]:
        """Returns the representations of objects that were read, with the objects of the next level."""
        representations: list[Representation] = [{} for _ in raw_objects]
        objects, sizes = [1] * len(raw_objects), [2] * len(raw_objects)
        for field in fields:
            values = self._values(endpoint, field, raw_objects, (*path, field.name))
            self.sizes.add(field.name, field.member, values, objects, sizes)
            for representation, value in zip(representations, values, strict=True):
                representation[field.name] = value
        self.sizes.keep(representations, objects, sizes)
        return representations

    def _values(
        self, endpoint: Endpoint, field: SelectedField, raw_objects: Sequence[RawObject], path: Path
    ) -> Sequence[Any]:
        """Returns the value of one selected field for each object."""
        member = field.member
        if member is None:
            return [self.schema.types[endpoint.label].name] * len(raw_objects)
        if isinstance(member, ScalarMember):
            values = [raw[member.field.name] for raw in raw_objects]
            return values if member.convert is None else [member.convert(value) for value in values]
        if isinstance(member, ForeignKeyMember):
            return self._foreign_key_values(member, selections_of(field.nodes), raw_objects, path)
        if isinstance(member, GenericMember):
            return self._generic_values(member, selections_of(field.nodes), raw_objects, path)
        owners = [raw[KEY.name] for raw in raw_objects]
        try:
            lists = self._lists(endpoint, field, distinct(owners), path)
        except Invalid as error:
            self._add_error(error, field.nodes, path)
            return [None] * len(raw_objects)
        if member.relation.single:
            return [lists.get(owner, [None])[0] for owner in owners]
        return [lists.get(owner, []) for owner in owners]

    def _foreign_key_values(
        self, member: ForeignKeyMember, selections: Selections, raw_objects: Sequence[RawObject], path: Path
    ) -> list[Any]:
        """Returns the object that a foreign key refers to for each object; one statement for all."""
        columns = [column_field(attribute).name for attribute in member.attributes]
        keys = [next((raw[name] for name in columns if raw[name] is not None), None) for raw in raw_objects]
        targets = self.objects(member.target, distinct(keys), selections, path)
        return [targets.get(key) for key in keys]

    def _generic_values(
        self, member: GenericMember, selections: Selections, raw_objects: Sequence[RawObject], path: Path
    ) -> list[Any]:
        """Returns the object that a generic foreign key refers to for each object; one statement per content type."""
        label, key = column_field(member.type_attribute).name, column_field(member.id_attribute).name
        keys_by_label: dict[str, list[Any]] = {}
        for raw in raw_objects:
            endpoint = self.uow.registry.get(raw[label] or "")
            if endpoint is not None and isinstance(raw[key], endpoint.key_type):
                keys_by_label.setdefault(endpoint.label, []).append(raw[key])
        targets = {
            name: self.objects(self.uow.registry[name], distinct(keys), selections, path)
            for name, keys in keys_by_label.items()
        }
        return [targets.get(raw[label], {}).get(raw[key]) for raw in raw_objects]

    def _lists(
        self, endpoint: Endpoint, field: SelectedField, owners: Sequence[Any], path: Path
    ) -> dict[Any, list[Representation]]:
        """Returns the related objects of each owner, in the order of their resource's list.

        :raises Invalid: for a bad value of an argument
        """
        member = field.member
        assert isinstance(member, RelationMember)
        graphql_field = self.schema.types[endpoint.label].fields[field.nodes[0].name.value]
        arguments = {} if member.relation.single else self.arguments(graphql_field, field.nodes)
        window = slice_of(arguments)
        conditions = self._conditions(member.target, parameters_of(arguments))
        if conditions is None or not owners or window.limit == 0:
            return {}
        fields = self._selected_fields(member.target, selections_of(field.nodes))
        with listing.filter_errors_as_400():
            if window == WHOLE:
                limit = self.max_objects + 1 if self.max_objects else None
                rows = self._plan(member.target, fields, member).fetch(self.uow, owners, conditions, limit)
            else:
                rows = self._slice(member, fields, owners, conditions, window)
        self._count(len(rows))
        representations = self._represent(member.target, fields, [raw for _, raw in rows], path)
        lists: dict[Any, list[Representation]] = {}
        for (owner, _), representation in zip(rows, representations, strict=True):
            lists.setdefault(owner, []).append(representation)
        return lists

    def _slice(
        self,
        member: RelationMember,
        fields: Sequence[SelectedField],
        owners: Sequence[Any],
        conditions: Sequence[Any],
        window: NestedSlice,
    ) -> list[tuple[Any, RawObject]]:
        """Returns (owner id, object) pairs within the slice of each owner's list.

        Two statements: ``row_number() OVER (PARTITION BY owner)`` selects the ids, then the objects are read.
        """
        table = member.target.table
        source, order, *_ = member.target.nested_ordering
        owner, pairs = _owner_column(member)
        source = source if pairs is None else pairs.join(source, pairs.c.target_id == table.c.id)
        position = sa.func.row_number().over(partition_by=owner, order_by=order).label("place")
        numbered = sa.select(owner.label("owner_id"), table.c.id.label("target_id"), position).select_from(source)
        ranked = numbered.where(in_parameter(owner), *conditions).subquery()
        statement = sa.select(ranked.c.owner_id, ranked.c.target_id).where(ranked.c.place > window.offset)
        statement = statement.order_by(ranked.c.place)
        if window.limit is not None:
            statement = statement.where(ranked.c.place <= window.offset + window.limit)
        if self.max_objects:
            statement = statement.limit(inlined_int("most", self.max_objects + 1))
        rows = self.uow.execute(statement, {"keys": list(owners)}).all()
        keys_of_targets = distinct(key for _, key in rows)
        targets = dict(self._plan(member.target, fields).fetch(self.uow, keys_of_targets, bounded=True))
        return [(owner_id, targets[key]) for owner_id, key in rows if key in targets]

    # -- plans and conditions

    def _selected_fields(self, endpoint: Endpoint, selections: Selections) -> list[SelectedField]:
        members = self.schema.members[endpoint.label]
        collected = self.collect(self.schema.types[endpoint.label], selections)
        return [SelectedField(name, members.get(nodes[0].name.value), nodes) for name, nodes in collected.items()]

    def _plan(
        self, endpoint: Endpoint, selected: Sequence[SelectedField], relation: RelationMember | None = None
    ) -> ReadPlan:
        """Returns the read plan of the selected fields by ids of the objects, or by those of the relation's owners.

        Plans are cached in the schema.
        """
        fields = {field.name: field for selection in selected for field in _fields_read(selection.member)}
        cache_key = (endpoint.label, relation, frozenset(fields))

        def make() -> ReadPlan:
            key, pairs = (None, None) if relation is None else _owner_column(relation)
            plan = ReadPlan(self.uow.registry, endpoint, key=key, through=pairs, ordered=relation is not None)
            return plan.finish([KEY, *fields.values()])

        return self.schema.plans.get_or_make(cache_key, make)

    def _conditions(self, endpoint: Endpoint, parameters: Parameters = ()) -> Sequence[Any] | None:
        """Returns the SQL conditions of query parameters and the view permission; ``None`` without that permission.

        :raises Invalid: for a bad value of a parameter
        """
        if not parameters and endpoint.label in self._view_conditions:
            return self._view_conditions[endpoint.label]
        self._filters.add_values(parameters)
        conditions: Sequence[Any] | None
        try:
            conditions = listing.conditions_of(self.uow, endpoint, endpoint.table, parameters, "view")
        except Denied:
            conditions = None
        self._filters.add_terms(endpoint, parameters)
        if not parameters:
            self._view_conditions[endpoint.label] = conditions
        return conditions

    def arguments(self, field: GraphQLField, nodes: Nodes) -> dict[str, Any]:
        """Returns the arguments of a field that are not null."""
        values = get_argument_values(field, nodes[0], self.variables)
        return {name: value for name, value in values.items() if value is not None}

    def _count(self, number: int) -> None:
        """Counts objects that were read.

        :raises GraphQLError: above the limit
        """
        self.object_count += number
        if self.max_objects and self.object_count > self.max_objects:
            raise GraphQLError(
                f"This query asks for more than {self.max_objects} objects (netinv.graphql_max_objects). "
                "Use filters, or limit and offset."
            )

    def _add_error(self, error: Invalid, nodes: Nodes, path: Path) -> None:
        self.errors.append(GraphQLError(error_text(error.body), nodes, path=list(path)))


def selections_of(nodes: Nodes) -> list[SelectionSetNode]:
    """Returns the selection sets of nodes that share a response name."""
    return [node.selection_set for node in nodes if node.selection_set is not None]


def distinct(keys: Iterable[Any]) -> list[Any]:
    """Returns the ids without duplicates and nulls, in order."""
    return list({key: None for key in keys if key is not None})


def _fields_read(member: Member | None) -> Sequence[Any]:
    """Returns the fields that a plan reads for a member."""
    if isinstance(member, ScalarMember):
        return [member.field]
    if isinstance(member, ForeignKeyMember):
        return [column_field(attribute) for attribute in member.attributes]
    if isinstance(member, GenericMember):
        return [column_field(member.type_attribute), column_field(member.id_attribute)]
    return []


def _owner_column(member: RelationMember) -> tuple[Any, Any]:
    """Returns the column with the owners' ids, and the subquery of (owner_id, target_id) pairs that it belongs to.

    For a reverse foreign key the column is in the target's table, and there is no subquery (``None``).
    """
    if member.relation.target_key is not None:
        return member.target.table.c[member.relation.target_key], None
    assert member.relation.pairs is not None
    pairs = member.relation.pairs()
    return pairs.c.owner_id, pairs
