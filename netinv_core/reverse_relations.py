"""Reverse relations: what foreign keys and association tables of a resource give the resources that they refer to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.models.columns import column_info
from netinv_core.resource import count_of, counter
from netinv_core.sql import relations

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.sql.relations import Relation


def link(owner: Endpoint) -> None:
    """Adds the reverse relations and the counters of a resource's foreign keys and lists to their targets."""
    for attribute, column in owner.table.c.items():
        key = column_info(column).foreign_key
        target = owner.registry.target(key)
        if key is None or target is None:
            continue
        if key.related_name:
            _relate(owner, target, key.related_name, relations.backward(owner.registry, owner.label, attribute))
        if key.count_field:
            _count(owner, target, key.count_field, counter(owner.table, attribute))
    for field in list(owner.fields.values()):
        link_list(owner, field)


def link_list(owner: Endpoint, field: Field) -> None:
    """Adds the reverse relation and the counter of a to-many field to its target; nothing of another field."""
    target = field.target if isinstance(field, fields.ToMany) else None
    if not isinstance(field, fields.ToMany) or target is None:
        return
    if field.related_name:
        pairs = relations.across(owner.registry, owner.label, field.pairs, "target_id", "owner_id")
        _relate(owner, target, field.related_name, pairs)
    if field.count_field:
        _count(owner, target, field.count_field, counter(field.table, "target_id"))


def _relate(owner: Endpoint, target: Endpoint, name: str, relation: Relation) -> None:
    """Gives a resource the relation to the objects of ``owner`` that refer to an object."""
    target.claim("relation", name, owner.package, target.relations)
    target.relations[name] = relation
    target.reverse_relations.add(name)


def _count(owner: Endpoint, target: Endpoint, name: str, source: Callable[[Any, Any], Any]) -> None:
    """Gives a resource the number of objects of ``owner`` that refer to an object."""
    is_named = name.removesuffix("_count").replace("_", "") == owner.label.partition(".")[2]
    factory = count_of(name, source, counted=owner.plural if is_named else "")
    target.claim("field", name, owner.package, target.fields)
    target.fields[name] = factory.make(owner.registry, target)
