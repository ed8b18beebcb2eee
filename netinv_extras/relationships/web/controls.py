"""Controls of forms for relationships."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_extras.relationships.field import Relationships
from netinv_extras.relationships.sides import RelationshipSide, sides_of
from netinv_web.forms.controls import Control, ControlFactory, FactoryKey

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

GROUP = "Relationships"


def _relationships(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> list[Control]:
    """A picker for each relationship of the content type; for both sides, where it relates objects of one type."""
    return [
        _side(uow, field, side) for side in sides_of(uow, endpoint.label) if side.other_type in uow.registry.endpoints
    ]


def _side(uow: UnitOfWork, field: Field, side: RelationshipSide) -> Control:
    return Control(
        f"{field.name}.{side.slug}.{side.name}",
        f"{side.title}: {side.label}",
        "picker",
        required=side.required and not side.filter,
        multiple=side.many,
        target=uow.registry[side.other_type],
        path=(field.name, side.slug, side.name, "objects"),
        group=GROUP,
        read=list,
        show=_object_ids,
    )


def _object_ids(objects: Any) -> list[str]:
    return [str(item["id"]) if isinstance(item, dict) else str(item) for item in objects]


CONTROLS: dict[FactoryKey, ControlFactory] = {Relationships: _relationships}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """A picker for each side of a relationship."""
    return CONTROLS
