"""The change log as a resource."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.changelog.models import ACTIONS, ObjectChange
from netinv_core.changelog.states import state
from netinv_core.labels import title_of_type
from netinv_core.models.columns import column_info
from netinv_core.presentation import NAME_IN_CONTEXT, Presentation, beside
from netinv_core.read import filters
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql.lookups import NUMBER
from netinv_extras.content_types import content_type_pair, name_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan

# A display name with a content type: the owner in brackets, if it has one, the content type and the name.
_WITH_TYPE = re.compile(r"(\[.*\] )?([^:|]+ \| [^:|]+): (.*)", re.S)


def _display(registry: Registry, endpoint: Endpoint) -> Field:
    def display_name(label: str, object_name: str, action: str, user: str) -> str:
        return f"{name_of(registry, label)} {object_name} {ACTIONS.labels[action].lower()} by {user}"

    paths = ("changed_object_type", "object_repr", "action", "user_name")
    return fields.Computed(name="display", function=display_name, paths=paths, openapi={"type": "string"})


def readable_name(registry: Registry, label: str, text: str) -> str:
    """The display name of an object with its content type as pages show it: ``Devices as text · Device`` in place of
    ``dcim | device: Devices as text``, for models whose name in context has a content type.
    """
    endpoint = registry.get(label)
    naming = endpoint.namings[NAME_IN_CONTEXT] if endpoint is not None else None
    if "content_type" not in getattr(naming, "paths", ()) or not (parts := _WITH_TYPE.fullmatch(text)):
        return text
    owner, shown, name = parts.groups("")
    of_type = next((item for item in registry.content_types if name_of(registry, item) == shown), None)
    return beside(f"{owner}{name}", title_of_type(registry, of_type)) if of_type is not None else text


def _name_in_context(registry: Registry) -> Any:
    """The name of a change on pages: ``Interface router1 › eth0 created by admin``."""

    def name(label: str, recorded: str, present: str | None, action: str, user: str) -> str:
        shown = readable_name(registry, label, present or recorded)
        return f"{title_of_type(registry, label)} {shown} {ACTIONS.labels[action].lower()} by {user}"

    return name, "changed_object_type", "object_repr", "changed_object.name_in_context", "action", "user_name"


@dataclasses.dataclass(eq=False, kw_only=True)
class ChangedObject(fields.GenericForeignKey):
    """Changed object in nested form, if it still exists; its recorded name where its model has no nested form."""

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        nested, name = super().reader(plan, place), plan.column(place, "object_repr")
        return lambda row, page: row[name] if (value := nested(row, page)) == {} else value

    def schema(self) -> dict[str, Any]:
        return self._described({"anyOf": [{"type": "object"}, {"type": "string"}]}, nullable=True)


@dataclasses.dataclass(eq=False, kw_only=True)
class ObjectData(fields.Value):
    """Flat form of the changed object, unpacked from its record."""

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        return plan.value(plan.expression(place, self.name, state(self.name, place.table)))

    def sources(self) -> Collection[str]:
        return {"states", self.attribute}


def _object_data(registry: Registry, endpoint: Endpoint) -> Field:
    column = endpoint.table.c.object_data
    shown = fields.from_column(registry, column.name, column, column_info(column))
    values = {item.name: getattr(shown, item.name) for item in dataclasses.fields(fields.Value)}
    return ObjectData(**{**values, "nullable": False})


def _bypassed_checks(registry: Registry, endpoint: Endpoint) -> Field:
    """The checks that were left out, shown where ``include`` names them: the reference API has no such field."""
    column = endpoint.table.c.bypassed
    field = fields.from_column(registry, "bypassed", column, column_info(column))
    assert field is not None
    return dataclasses.replace(field, opt_in=True, own=True)


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
        FieldFactory("bypassed", _bypassed_checks),
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
        empty="Change any object, and what was changed, when and by whom appears here.",
        columns=["time", "user_name", "action", "changed_object_type", "changed_object"],
        facets=["action", "changed_object_type"],
        name_in_context=_name_in_context,
    ),
)
