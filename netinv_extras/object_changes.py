"""The change log as a resource."""

from __future__ import annotations

from netinv_core import fields as kinds
from netinv_core.changes import ACTIONS, ObjectChange
from netinv_core.read import filters
from netinv_core.read.lookups import NUMBER
from netinv_core.registry import Endpoint, Registry
from netinv_core.resource import Resource, Spec, object_of
from netinv_extras.content_types import content_type_pair, name_of


def _display(registry: Registry, endpoint: Endpoint) -> kinds.Field:
    def words(label: str, shown: str, action: str, user: str) -> str:
        return f"{name_of(registry, label)} {shown} {ACTIONS.labels[action].lower()} by {user}"

    paths = ("changed_object_type", "object_repr", "action", "user_name")
    return kinds.Computed(name="display", function=words, paths=paths, openapi={"type": "string"})


object_changes = Resource(
    ObjectChange,
    "object-changes",
    title="object change",
    display=(None,),
    brief=[],
    order=["-time", "-position"],
    search=["user_name", "object_repr"],
    fields=[Spec("display", _display), object_of("changed_object", "changed_object_type", "changed_object_id")],
    filters=[
        filters.value("time", lookup_names=NUMBER),
        filters.value("object_repr"),
        *content_type_pair("changed_object_type"),
        filters.one_of("action", ACTIONS, multiple=False),
    ],
    writable=False,
    recorded=False,
)
