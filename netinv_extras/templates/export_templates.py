"""Export templates: templates that render a list of objects of one content type as a file."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.http import media_types
from netinv_core.labels import title_of_type
from netinv_core.models.associations import unique_set, unique_together
from netinv_core.models.base import Organizational
from netinv_core.models.columns import Description, column, required_text, text, unique_copy
from netinv_core.presentation import Presentation, beside
from netinv_core.resource import FieldFactory, Resource, generic_fk
from netinv_extras.config_contexts.schemas import may_own, schema_display_name
from netinv_extras.content_types import (
    content_type_choice,
    content_type_parameter,
    generic_reference,
    has_pages,
    name_of,
    type_label,
)
from netinv_extras.templates import sandbox

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

EXTENSION = re.compile(r"[\w.+~-]*")
NOT_UNIQUE = "An ExportTemplate with this name and content type already exists."


class ExportTemplate(Organizational):
    """A template that makes a file of a list of objects.

    Its variable is ``queryset``. Media type and extension are those of the file.
    """

    __tablename__ = "extras_export_template"
    __table_args__ = (
        unique_set("content_type", "name", "owner_content_type", "owner_object_id"),
        unique_together("content_type", "unowned_name", field="name", message=NOT_UNIQUE),
    )

    content_type: Mapped[str] = column(length=100)
    owner_content_type: Mapped[str | None] = column(length=100, default=None)
    owner_object_id: Mapped[uuid.UUID | None] = column(default=None, index=True)
    name: Mapped[str] = required_text(100)
    unowned_name: Mapped[str | None] = unique_copy("name", without="owner_object_id", length=100)
    description: Mapped[Description]
    template_code: Mapped[str] = required_text(
        None,
        "The list of objects being exported is passed as a context variable named <code>queryset</code>.",
        label="Template code",
    )
    mime_type: Mapped[str] = text(50, "Defaults to <code>text/plain</code>", label="MIME type")
    file_extension: Mapped[str] = text(15, "Extension to append to the rendered filename", label="File extension")


def _display(registry: Registry, endpoint: Endpoint) -> Field:
    def display_name(content_type: str, name: str, owner: dict[str, Any] | None) -> str:
        return schema_display_name(f"{name_of(registry, content_type)}: {name}", owner)

    paths = ("content_type", "name", "owner")
    return fields.Computed(name="display", function=display_name, paths=paths, openapi={"type": "string"})


def _name_in_context(registry: Registry) -> Any:
    """The name of a template on pages: ``Devices as text · Device``."""

    def name(content_type: str, name: str, owner: dict[str, Any] | None) -> str:
        return beside(schema_display_name(name, owner), title_of_type(registry, content_type))

    return name, "content_type", "name", "owner"


export_templates = Resource(
    ExportTemplate,
    "export-templates",
    title="export template",
    brief=["name"],
    configuration=True,
    order=["content_type", "name"],
    search=["name", "description", "content_type", "owner_content_type"],
    fields=[
        FieldFactory("display", _display),
        type_label("content_type", has_pages),
        type_label("owner_content_type", may_own, offered=False),
        generic_fk("owner", "owner_content_type", "owner_object_id"),
    ],
    omit=["custom_fields", "computed_fields"],
    filters=[
        content_type_choice("content_type", has_pages),
        content_type_parameter("owner_content_type", unknown_is_empty=True),
    ],
    presentation=Presentation(name_in_context=_name_in_context),
    example={
        "content_type": "extras.secret",
        "template_code": "{% for secret in queryset %}{{ secret.name }}\n{% endfor %}",
    },
)

export_templates.rule(sandbox.rule("template_code"))
export_templates.rule(generic_reference("owner_content_type", "owner_object_id"))


@export_templates.rule
def headers_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects media types and file extensions that cannot be in the headers of an export."""
    for draft in drafts:
        if draft.changed("mime_type") and (reason := media_types.fault(draft["mime_type"])):
            draft.reject("mime_type", reason)
        if draft.changed("file_extension") and not EXTENSION.fullmatch(draft["file_extension"]):
            draft.reject("file_extension", "A file extension has letters, digits, and the characters . _ + - ~ only.")
