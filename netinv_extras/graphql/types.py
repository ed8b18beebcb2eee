"""Members of GraphQL object types: scalar values and relations, derived from the registry.

The sources are a resource's fields, foreign keys, reverse foreign keys, and the relations that packages attach. So the
models of a plugin are in the schema without further code.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.http.serialization import dumps
from netinv_core.models.columns import column_info
from netinv_core.sql.relations import backward
from netinv_core.wrong_results import checked_in_json
from netinv_extras.custom_fields import field as custom_field_values
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.relationships import models as relationship_models
from netinv_extras.relationships.sides import relation_of, sides_of
from netinv_extras.templates import computed_fields

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.sql.relations import Relation
    from netinv_core.uow import UnitOfWork

ANY, BIG_INTEGER, BOOLEAN, DATE, FLOAT, ID, INT, DATE_TIME, STRING = (
    "GenericScalar",
    "BigInteger",
    "Boolean",
    "Date",
    "Float",
    "ID",
    "Int",
    "DateTime",
    "String",
)
_SCALAR_BY_PYTHON_TYPE: dict[type, str] = {
    str: STRING,
    bool: BOOLEAN,
    float: FLOAT,
    decimal.Decimal: FLOAT,
    uuid.UUID: STRING,
    datetime.date: DATE,
    datetime.datetime: DATE_TIME,
}
_SCALAR_BY_OPENAPI_TYPE = {"string": STRING, "integer": INT, "boolean": BOOLEAN, "number": FLOAT}
_SCALAR_BY_CUSTOM_FIELD_TYPE = {"integer": INT, "boolean": BOOLEAN, "multi-select": ANY, "json": ANY}
MAX_INT = 2**31 - 1
_NAME = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")


@dataclasses.dataclass(frozen=True, eq=False)
class ScalarMember:
    """A value of the scalar type ``type``; ``convert`` maps the field's value to it."""

    type: str
    field: Field
    convert: Callable[[Any], Any] | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class ForeignKeyMember:
    """The target of a foreign key; of several ``attributes``, the first that is not null."""

    target: Endpoint
    attributes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class RelationMember:
    """A to-many relation, or a to-one relation if it is ``single``.

    ``replaced_by`` is the name of the field that replaces this deprecated alias.
    """

    target: Endpoint
    relation: Relation
    replaced_by: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class GenericMember:
    """The target of a generic foreign key: a column with its content type, and a column with its id."""

    type_attribute: str
    id_attribute: str


Member = ScalarMember | ForeignKeyMember | RelationMember | GenericMember
Members = dict[str, Member]


@dataclasses.dataclass(eq=False, kw_only=True)
class ColumnField(fields.Field):
    """The value of a column, also of one that the REST API hides."""

    attribute: str

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        return plan.value(index)


def column_field(attribute: str) -> ColumnField:
    """Returns the field of a column. Its name ``=<column>`` cannot be that of another field."""
    return ColumnField(name=f"={attribute}", attribute=attribute)


def identifier(title: str) -> str:
    """Returns the GraphQL name of a model: ``IP addresses`` → ``ip_addresses``."""
    return re.sub(r"\W", "_", title.lower())


def constant(value: Any) -> str | None:
    """Returns the enum-like constant of a choice: ``1000base-t`` → ``A_1000BASE_T``; ``None`` for a blank value."""
    if value is None or value == "":
        return None
    name = re.sub(r"\W+", "_", str(value)).upper()
    return name if _NAME.fullmatch(name) else f"A_{name}"


def members_of(registry: Registry) -> dict[str, Members]:
    """Returns the members of every resource, by label and name."""
    members_by_label = {label: declared_members(registry, endpoint) for label, endpoint in registry.endpoints.items()}
    for endpoint in registry.endpoints.values():
        _add_reverse_relations(registry, endpoint, members_by_label)
    for label, members in members_by_label.items():
        members.update(_aliases(members))
        members_by_label[label] = {
            name: member for name, member in members.items() if _NAME.fullmatch(name) and not name.startswith("__")
        }
    return members_by_label


def declared_members(registry: Registry, endpoint: Endpoint) -> Members:
    """Returns the members of a resource's fields and relations."""
    members: Members = {}
    factories = registry.hooks.netinv_graphql_fields(registry=registry, endpoint=endpoint)
    attached = [factory.make(registry, endpoint) for group in factories for factory in group]
    for field in [*endpoint.fields.values(), *attached]:
        if not (field.write_only or field.confidential or field.opt_in):
            member = _member(registry, endpoint, field)
            if member is not None:
                members[field.name] = member
    for name, relation in endpoint.relations.items():
        relation_member = _relation_member(relation)
        if name not in members and relation_member is not None:
            members[name] = relation_member
    if custom_field_values.NAME in members:
        values = ScalarMember(ANY, column_field(custom_field_values.COLUMN))
        members |= dict.fromkeys((custom_field_values.COLUMN, f"_{custom_field_values.COLUMN}"), values)
    if "id" in endpoint.table.c:
        members["_type"] = ScalarMember(STRING, column_field("id"), lambda _: endpoint.label)
    return members


def _member(registry: Registry, endpoint: Endpoint, field: Field) -> Member | None:
    """Returns the member of a field; ``None`` for one that has no type in the schema."""
    if isinstance(field, fields.Reference):
        return ForeignKeyMember(field.target, (field.attribute,)) if field.target is not None else None
    if isinstance(field, fields.Coalesce):
        return _coalesce_member(endpoint, field)
    if isinstance(field, fields.GenericForeignKey):
        return GenericMember(field.type_attribute, field.id_attribute)
    member = _relation_member(endpoint.relations.get(field.name))
    if member is not None:
        return member
    if field.kind == "nested object" or isinstance(
        field, fields.ThroughOneToOne | fields.ToMany | fields.ReverseForeignKey
    ):
        return None  # its nested objects would bypass the view permission
    scalar = _scalar_member(field)
    # The names in an answer may be aliases, which do not tell the field.
    giver = endpoint.givers.get(("field", field.name), endpoint.package)
    if registry.is_plugin(giver) and scalar.convert is None and not isinstance(field, fields.Value):
        scalar = dataclasses.replace(scalar, convert=checked_in_json(giver, f"{endpoint.label}.{field.name}", dumps))
    return scalar


def _coalesce_member(endpoint: Endpoint, field: fields.Coalesce) -> ForeignKeyMember | None:
    """Returns the member of the first foreign key that is set, if all have the same target."""
    references = [
        reference for name in field.references if isinstance(reference := endpoint.fields[name], fields.Reference)
    ]
    targets = {reference.target for reference in references}
    target = references[0].target
    if target is None or len(targets) != 1:
        return None
    return ForeignKeyMember(target, tuple(reference.attribute for reference in references))


def _relation_member(relation: Relation | None) -> RelationMember | None:
    """Returns the member of a relation, or ``None`` for a forward foreign key or an unknown target."""
    target = relation.target() if relation is not None and (relation.target_key or relation.pairs) else None
    return RelationMember(target, relation) if relation is not None and target is not None else None


def _scalar_member(field: Field) -> ScalarMember:
    if isinstance(field, fields.Choice):
        column = column_field(field.attribute)
        is_integer = field.read_only and all(isinstance(value, int) for value, _ in field.choices.items)
        return ScalarMember(INT, column) if is_integer else ScalarMember(STRING, column, constant)
    if field.name == "id":
        return ScalarMember(ID, field, str)
    if isinstance(field, fields.Value) and field.info.kind != "json":
        if field.python_type is int:
            return ScalarMember(BIG_INTEGER if (field.info.maximum or 0) > MAX_INT else INT, field)
        if field.python_type is decimal.Decimal:
            return ScalarMember(FLOAT, column_field(field.attribute), _float)
        return ScalarMember(_SCALAR_BY_PYTHON_TYPE.get(field.python_type, ANY), field)
    if isinstance(field, fields.Image):
        return ScalarMember(STRING, field)
    return ScalarMember(_SCALAR_BY_OPENAPI_TYPE.get(field.openapi.get("type", ""), ANY), field)


def _float(value: decimal.Decimal | None) -> float | None:
    return None if value is None else float(value)


def _add_reverse_relations(registry: Registry, endpoint: Endpoint, members_by_label: Mapping[str, Members]) -> None:
    """Adds, to the targets of the endpoint's foreign keys, the reverse relations that have no name of their own.

    Such a relation is called ``<plural>`` or, if that name is in use, ``<plural>_as_<foreign key>``.
    """
    for attribute, column in endpoint.table.c.items():
        foreign_key = column_info(column).foreign_key
        target = registry.target(foreign_key)
        if foreign_key is None or target is None or foreign_key.related_name:
            continue
        if _has_reverse_field(target, endpoint, attribute):
            continue
        if foreign_key.one_name:
            one = dataclasses.replace(backward(registry, endpoint.label, attribute), single=True)
            members_by_label[target.label][foreign_key.one_name] = RelationMember(endpoint, one)
        name, target_members = identifier(endpoint.plural), members_by_label[target.label]
        name = f"{name}_as_{attribute.removesuffix('_id')}" if name in target_members else name
        target_members.setdefault(name, RelationMember(endpoint, backward(registry, endpoint.label, attribute)))


def _has_reverse_field(target: Endpoint, endpoint: Endpoint, attribute: str) -> bool:
    """Returns true if a field of the target contains the objects that refer to it by this foreign key."""
    key = (endpoint.label, attribute)
    reverse_fields = [field for field in target.fields.values() if isinstance(field, fields.ReverseForeignKey)]
    return any((field.to, field.attribute_there) == key for field in reverse_fields)


def _aliases(members: Members) -> Iterable[tuple[str, RelationMember]]:
    """Yields aliases without underscores (``consoleports`` for ``console_ports``), as in API version 1."""
    for name, member in list(members.items()):
        if isinstance(member, RelationMember) and "_" in name and name == identifier(member.target.plural):
            alias = name.replace("_", "")
            if alias not in members:
                yield alias, RelationMember(member.target, member.relation, replaced_by=name)


def configured_members(uow: UnitOfWork, endpoint: Endpoint) -> Members:
    """Returns the members that users define.

    These are custom fields (``cf_<slug>``), computed fields (``cpf_<slug>``) and relationships (``rel_<slug>``).
    """
    members: Members = {}
    if custom_field_values.NAME in endpoint.fields:
        column = column_field(custom_field_values.COLUMN)
        for slug, definition in definitions_of(uow, endpoint.label).items():
            scalar = _SCALAR_BY_CUSTOM_FIELD_TYPE.get(definition.type, STRING)
            members[f"cf_{_name_part(slug)}"] = ScalarMember(scalar, column, _value_of(slug))
    if computed_fields.NAME in endpoint.fields:
        field = endpoint.fields[computed_fields.NAME]
        for computed in computed_fields.definitions_of(uow, endpoint.label):
            members[f"cpf_{_name_part(computed.slug)}"] = ScalarMember(STRING, field, _value_of(computed.slug))
    if relationship_models.NAME in endpoint.fields:
        members |= _relationship_members(uow, endpoint)
    return members


def _relationship_members(uow: UnitOfWork, endpoint: Endpoint) -> Members:
    """Returns the members of relationships; the side is part of the name if both ends are of this content type."""
    sides = sides_of(uow, endpoint.label)
    slugs = [side.slug for side in sides]
    members: Members = {}
    for side in sides:
        target, name = uow.registry.get(side.other_type), f"rel_{_name_part(side.slug)}"
        if target is not None:
            relation = relation_of(uow.registry, side)
            name = f"{name}_{side.name}" if slugs.count(side.slug) > 1 else name
            members[name] = RelationMember(target, relation)
    return members


def _name_part(slug: str) -> str:
    return re.sub(r"[^_0-9A-Za-z]", "_", slug)


def _value_of(slug: str) -> Callable[[Any], Any]:
    return lambda values: (values or {}).get(slug)
