"""Feature ``image_attachments``: images of objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import Primary
from netinv_core.presentation import MenuSection
from netinv_core.write.delete import GenericCascade
from netinv_extras import image_attachments

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

feature = Feature(
    "image_attachments",
    "Image attachments",
    [image_attachments.image_attachments],
    web=["netinv_extras.image_attachments.web.panel"],
    menu=[MenuSection("Customization", ["image-attachments"], icon="adjustments-horizontal", position=717)],
)


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """Relation of primary objects to their images."""
    return {"images": image_attachments.relation(registry, endpoint)} if issubclass(endpoint.model, Primary) else {}


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes the images of an object."""
    return [image_attachments.generic_cascade]
