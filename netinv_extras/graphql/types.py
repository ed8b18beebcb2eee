"""What GraphQL shows of the objects of each resource: values, and the ways to other objects.

All of it is read off the registry: fields, foreign keys, the ways back, and the steps that packages attach. So the models of a plugin
are there without anybody naming them.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.models.columns import column_info
from netinv_core.read.plan import JoinedTable, Plan, Reader
from netinv_core.read.relations import Relation, backward
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_extras.custom_fields import field as custom_field_values
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.relationships import field as relationship_field
from netinv_extras.relationships import models as relationship_models
from netinv_extras.templates import computed_fields

ANY, BIG, BOOLEAN, DATE, FLOAT, ID, INT, MOMENT, STRING = (
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
_BY_PYTHON: dict[type, str] = {
    str: STRING,
    bool: BOOLEAN,
    float: FLOAT,
    decimal.Decimal: FLOAT,
    uuid.UUID: STRING,
    datetime.date: DATE,
    datetime.datetime: MOMENT,
}
_BY_OPENAPI = {"string": STRING, "integer": INT, "boolean": BOOLEAN, "number": FLOAT}
_BY_CUSTOM = {"integer": INT, "boolean": BOOLEAN, "multi-select": ANY, "json": ANY}
LARGEST_INT = 2**31 - 1
_NAME = re.compile(r"[_A-Za-z][_0-9A-Za-z]*")


@dataclasses.dataclass(frozen=True, eq=False)
class ScalarMember:
    """A value of the scalar type ``type``: what the field reads, as ``shown`` makes it when that is not as it is."""

    type: str
    field: fields.Field
    shown: Callable[[Any], Any] | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class ForeignKeyMember:
    """The object that a foreign key leads to; of several ``attributes`` the first that is set."""

    target: Endpoint
    attributes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class RelationMember:
    """The objects that a step leads to, or the one, when it is single; ``former`` names it as it is called by others now."""

    target: Endpoint
    relation: Relation
    former: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class GenericMember:
    """The object of any type that a pair of columns names."""

    type_attribute: str
    id_attribute: str


Member = ScalarMember | ForeignKeyMember | RelationMember | GenericMember
Members = dict[str, Member]


@dataclasses.dataclass(eq=False, kw_only=True)
class Held(fields.Field):
    """What a column holds, shown or not."""

    attribute: str

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        return lambda row, page: row[index]


def held(attribute: str) -> Held:
    """The field of a column, under a name that no other field has."""
    return Held(name=f"={attribute}", attribute=attribute)


def variable(words: str) -> str:
    """What a model's name is as a variable: ``IP addresses`` → ``ip_addresses``."""
    return re.sub(r"\W", "_", words.lower())


def constant(value: Any) -> str | None:
    """What the value of a choice is as a constant: ``1000base-t`` → ``A_1000BASE_T``; none for a blank one."""
    if value is None or value == "":
        return None
    name = re.sub(r"\W+", "_", str(value)).upper()
    return name if _NAME.fullmatch(name) else f"A_{name}"


def members_of(registry: Registry) -> dict[str, Members]:
    """The members of the objects of every resource, by label."""
    found = {label: _own(registry, endpoint) for label, endpoint in registry.endpoints.items()}
    for endpoint in registry.endpoints.values():
        _add_ways_back(registry, endpoint, found)
    for label, members in found.items():
        members.update(_written_together(members))
        found[label] = {name: member for name, member in members.items() if _NAME.fullmatch(name) and not name.startswith("__")}
    return found


def _own(registry: Registry, endpoint: Endpoint) -> Members:
    """Values, references and the steps that the resource has by itself."""
    found: Members = {}
    attached = [spec.make(registry, endpoint) for specs in registry.hooks.netinv_graphql_fields(registry=registry, endpoint=endpoint) for spec in specs]
    for field in [*endpoint.fields.values(), *attached]:
        if not (field.write_only or field.confidential or field.opt_in):
            member = _member(registry, endpoint, field)
            if member is not None:
                found[field.name] = member
    for name, relation in endpoint.relations.items():
        member = _across(relation)
        if name not in found and member is not None:
            found[name] = member
    if custom_field_values.NAME in found:
        found[custom_field_values.COLUMN] = ScalarMember(ANY, held(custom_field_values.COLUMN))
    return found


def _member(registry: Registry, endpoint: Endpoint, field: fields.Field) -> Member | None:
    if isinstance(field, fields.Reference):
        return ForeignKeyMember(field.target, (field.attribute,)) if field.target is not None else None
    if isinstance(field, fields.Coalesce):
        references = [found for name in field.references if isinstance(found := endpoint.fields[name], fields.Reference)]
        targets = {found.target for found in references}
        first = references[0].target
        return ForeignKeyMember(first, tuple(found.attribute for found in references)) if first is not None and len(targets) == 1 else None
    if isinstance(field, fields.GenericForeignKey):
        return GenericMember(field.type_attribute, field.id_attribute)
    member = _across(endpoint.relations.get(field.name))
    if member is not None:
        return member
    if field.kind == "nested object" or isinstance(field, fields.ThroughOneToOne | fields.ToMany | fields.ReverseForeignKey):
        return None  # holds objects, and asks nobody whether they may be viewed
    return _leaf(field)


def _across(relation: Relation | None) -> RelationMember | None:
    """The member that a step makes which says what it leads to, and is not along a foreign key."""
    target = relation.target() if relation is not None and (relation.target_key or relation.pairs) else None
    return RelationMember(target, relation) if relation is not None and target is not None else None


def _leaf(field: fields.Field) -> ScalarMember:
    if isinstance(field, fields.Choice):
        plain = held(field.attribute)
        whole = field.read_only and all(isinstance(value, int) for value, _ in field.choices.items)
        return ScalarMember(INT, plain) if whole else ScalarMember(STRING, plain, constant)
    if field.name == "id":
        return ScalarMember(ID, field, str)
    if isinstance(field, fields.Value) and field.known.kind != "json":
        if field.python_type is int:
            return ScalarMember(BIG if (field.known.maximum or 0) > LARGEST_INT else INT, field)
        if field.python_type is decimal.Decimal:
            return ScalarMember(FLOAT, held(field.attribute), lambda value: None if value is None else float(value))
        return ScalarMember(_BY_PYTHON.get(field.python_type, ANY), field)
    if isinstance(field, fields.Image):
        return ScalarMember(STRING, field)
    return ScalarMember(_BY_OPENAPI.get(field.openapi.get("type", ""), ANY), field)


def _add_ways_back(registry: Registry, endpoint: Endpoint, members: Mapping[str, Members]) -> None:
    """Adds, where a foreign key of the endpoint leads, the way back that nobody has given a name."""
    for attribute, column in endpoint.table.c.items():
        link = column_info(column).foreign_key
        target = registry.target(link)
        if link is None or target is None or link.related_name or _leads_back(target, endpoint, attribute):
            continue
        name, there = variable(endpoint.plural), members[target.label]
        name = f"{name}_as_{attribute.removesuffix('_id')}" if name in there else name
        there.setdefault(name, RelationMember(endpoint, backward(registry, endpoint.label, attribute)))


def _leads_back(target: Endpoint, endpoint: Endpoint, attribute: str) -> bool:
    """Whether a field of the target shows these objects already."""
    key = (endpoint.label, attribute)
    return any(isinstance(field, fields.ReverseForeignKey) and (field.to, field.attribute_there) == key for field in target.fields.values())


def _written_together(members: Members) -> Iterable[tuple[str, RelationMember]]:
    """The lists that are called as their model is, under its name in one word too (``console_ports``, ``consoleports``), as in API version 1."""
    for name, member in list(members.items()):
        if isinstance(member, RelationMember) and "_" in name and name == variable(member.target.plural) and (short := name.replace("_", "")) not in members:
            yield short, RelationMember(member.target, member.relation, former=name)


def configured_members(uow: UnitOfWork, endpoint: Endpoint) -> Members:
    """What users have defined for the objects of an endpoint: custom fields (``cf_<slug>``), computed ones (``cpf_…``), relationships (``rel_…``)."""
    found: Members = {}
    if custom_field_values.NAME in endpoint.fields:
        column = held(custom_field_values.COLUMN)
        for slug, definition in definitions_of(uow, endpoint.label).items():
            found[f"cf_{_plain(slug)}"] = ScalarMember(_BY_CUSTOM.get(definition.type, STRING), column, _value_of(slug))
    if computed_fields.NAME in endpoint.fields:
        field = endpoint.fields[computed_fields.NAME]
        found |= {f"cpf_{_plain(made.slug)}": ScalarMember(STRING, field, _value_of(made.slug)) for made in computed_fields.definitions_of(uow, endpoint.label)}
    if relationship_models.NAME in endpoint.fields:
        found |= _related(uow, endpoint)
    return found


def _related(uow: UnitOfWork, endpoint: Endpoint) -> Members:
    """The objects at the other ends of relationships; where both ends are of one model, the name says which are meant."""
    sides = relationship_field.sides_of(uow, endpoint.label)
    slugs = [side.slug for side in sides]
    found: Members = {}
    for side in sides:
        target, name = uow.registry.get(side.other_type), f"rel_{_plain(side.slug)}"
        if target is not None:
            step = relationship_field.relation_of(uow.registry, side)
            found[f"{name}_{side.name}" if slugs.count(side.slug) > 1 else name] = RelationMember(target, step)
    return found


def _plain(slug: str) -> str:
    return re.sub(r"[^_0-9A-Za-z]", "_", slug)


def _value_of(slug: str) -> Callable[[Any], Any]:
    return lambda values: (values or {}).get(slug)
