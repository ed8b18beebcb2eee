"""The change log as a resource."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from netinv_core import fields
from netinv_core.changelog.models import ACTIONS, ObjectChange
from netinv_core.changelog.states import state
from netinv_core.models.columns import column_info
from netinv_core.presentation import Presentation
from netinv_core.read import filters
from netinv_core.read.lookups import NUMBER
from netinv_core.resource import FieldFactory, Resource
from netinv_core.types import Endpoint, Field, JoinedTable, Plan, Reader, Registry
from netinv_extras.content_types import content_type_pair, name_of


def _display(registry: Registry, endpoint: Endpoint) -> Field:
    def display_name(label: str, object_name: str, action: str, user: str) -> str:
        return f"{name_of(registry, label)} {object_name} {ACTIONS.labels[action].lower()} by {user}"

    paths = ("changed_object_type", "object_repr", "action", "user_name")
    return fields.Computed(name="display", function=display_name, paths=paths, openapi={"type": "string"})


@dataclasses.dataclass(eq=False, kw_only=True)
class ChangedObject(fields.GenericForeignKey):
    """Changed object in nested form, if it still exists; its recorded name where its model has no nested form."""

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        nested, name = super().reader(plan, place), plan.column(place, "object_repr")
        return lambda row, page: row[name] if (value := nested(row, page)) == {} else value

    def schema(self) -> dict[str, Any]:
        return self._described({"anyOf": [{"type": "object"}, {"type": "string"}]}, nullable=True)


@dataclasses.dataclass(eq=False, kw_only=True)
class ObjectData(fields.Value):
    """Flat form of the changed object, unpacked from its record."""

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        return plan.value(plan.expression(place, self.name, state(self.name, place.table)))

    def sources(self) -> Collection[str]:
        return {"states", self.attribute}


def _object_data(registry: Registry, endpoint: Endpoint) -> Field:
    column = endpoint.table.c.object_data
    shown = fields.from_column(registry, column.name, column, column_info(column))
    values = {item.name: getattr(shown, item.name) for item in dataclasses.fields(fields.Value)}
    return ObjectData(**{**values, "nullable": False})


def _changed_object(registry: Registry, endpoint: Endpoint) -> Field:
    return ChangedObject(name="changed_object", type_attribute="changed_object_type", id_attribute="changed_object_id")


object_changes = Resource(
    ObjectChange,
    "object-changes",
    title="object change",
    display=(None,),
    brief=[],
    order=["-time", "-position"],
    search=["user_name", "object_repr"],
    fields=[
        FieldFactory("display", _display),
        FieldFactory("changed_object", _changed_object),
        FieldFactory("object_data", _object_data),
    ],
    filters=[
        filters.value("time", lookup_names=NUMBER),
        filters.value("object_repr"),
        *content_type_pair("changed_object_type"),
        filters.one_of("action", ACTIONS, multiple=False),
    ],
    writable=False,
    recorded=False,
    about=[("changed_object_type", "changed_object_id")],
    exempt_by_name_only=True,
    presentation=Presentation(
        columns=["time", "user_name", "action", "changed_object_type", "changed_object"],
        facets=["action", "changed_object_type"],
    ),
)
