"""Image attachments: pictures of an object of any package, such as a photograph of a rack or a floor plan of a site."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.base import Model, Primary, now, table_of
from netinv_core.models.columns import column, image, integer, text
from netinv_core.resource import Resource, generic_fk
from netinv_core.sql import relations
from netinv_core.storage.files import upload_name
from netinv_core.write.delete import GenericCascade
from netinv_extras.content_types import content_type_pair, referenced_objects, type_label

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

FOLDER = "image-attachments"
# Picture of one pixel, for the example in the OpenAPI document.
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="


class ImageAttachment(Model):
    """A picture of an object. ``content_type`` and ``object_id`` name it. Its size is read from the file."""

    __tablename__ = "extras_image_attachment"
    __table_args__ = (sa.Index("ix_extras_image_attachment_object", "object_id", "content_type"),)

    content_type: Mapped[str] = column(length=100)
    object_id: Mapped[uuid.UUID]
    name: Mapped[str] = text(50)
    image: Mapped[str] = image(FOLDER, size=("image_width", "image_height"))
    image_height: Mapped[int] = integer(read_only=True)
    image_width: Mapped[int] = integer(read_only=True)
    created: Mapped[datetime.datetime] = column(default=now, read_only=True)


def has_images(endpoint: Endpoint) -> bool:
    """True for endpoints whose objects can have images."""
    return issubclass(endpoint.model, Primary)


image_attachments = Resource(
    ImageAttachment,
    "image-attachments",
    display=(lambda name, image: name or upload_name(image), "name", "image"),
    brief=["name", "image"],
    fields=[type_label("content_type", has_images), generic_fk("parent", "content_type", "object_id")],
    filters=content_type_pair("content_type"),
    about=[("content_type", "object_id")],
    recorded=False,
    example={"image": PIXEL},
)

generic_cascade = GenericCascade(
    table_of(ImageAttachment), "content_type", "object_id", label="extras.imageattachment", applies=has_images
)


@image_attachments.rule
def parent_exists(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects images of a missing or hidden object."""
    changed = [draft for draft in drafts if draft.changed("content_type", "object_id")]
    referenced_objects(uow, changed, "content_type", "object_id")


def relation(registry: Registry, endpoint: Endpoint) -> relations.Relation:
    """Relation of an endpoint's objects to the images attached to them."""

    def owners(*conditions: Any) -> Any:
        images = table_of(ImageAttachment).alias()
        of_type = images.c.content_type == endpoint.label
        return sa.select(images.c.object_id).where(of_type, *[condition(images) for condition in conditions])

    return relations.Relation(
        lambda: registry["extras.imageattachment"],
        lambda table, ids: table.c.id.in_(owners(lambda images: images.c.id.in_(ids))),
        lambda table: table.c.id.in_(owners()),
    )
