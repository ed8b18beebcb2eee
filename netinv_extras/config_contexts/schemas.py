"""Config context schemas: what users say their context data looks like (JSON Schema, draft 7)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Mapped

from netinv_core.endpoint import Endpoint
from netinv_core.models.associations import unique_together
from netinv_core.models.base import Organizational
from netinv_core.models.columns import Description, column, json_document, required_text, slug, unique_copy
from netinv_core.read import listing
from netinv_core.resource import Resource, Rule, generic_fk
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_extras.config_contexts import json_schemas
from netinv_extras.content_types import content_type_pair, generic_reference, type_label

CANNOT_BE_BLANK = "This field cannot be blank."
EMPTY: tuple[Any, ...] = ("", [], {})
NOT_OF_OBJECTS = "Context data is an object: the schema must be of type object and specify a set of properties."
TAKEN = "A ConfigContextSchema with this name already exists."


class ConfigContextSchema(Organizational):
    """A JSON Schema for context data, possibly on behalf of an object that owns it."""

    __tablename__ = "extras_config_context_schema"
    __table_args__ = (
        unique_together("name", "owner_content_type", "owner_object_id"),
        unique_together("unowned_name", field="name", message=TAKEN),
    )

    name: Mapped[str] = required_text(200)
    unowned_name: Mapped[str | None] = unique_copy("name", without="owner_object_id", length=200)
    slug: Mapped[str] = slug(length=200, unique=False)
    owner_content_type: Mapped[str | None] = column(length=100, default=None)
    owner_object_id: Mapped[uuid.UUID | None] = column(default=None, index=True)
    description: Mapped[Description]
    data_schema: Mapped[Any] = json_document(required=True, help="A JSON Schema document which is used to validate context data.")


def may_own(endpoint: Endpoint) -> bool:
    """Whether objects of an endpoint may own a schema: those that have an owner themselves show its name within their own, without end."""
    return issubclass(endpoint.model, Organizational) and "owner_object_id" not in endpoint.table.c


def schema_display_name(name: str, owner: dict[str, Any] | None) -> str:
    """How a schema is called: by its name, after its owner's when it has one."""
    return f"[{owner['display']}] {name}" if owner else name


config_context_schemas = Resource(
    ConfigContextSchema,
    "config-context-schemas",
    title="config context schema",
    display=(schema_display_name, "name", "owner"),
    brief=["name", "slug"],
    search=["name", "description"],
    fields=[
        type_label("owner_content_type", may_own, offered=False),
        generic_fk("owner", "owner_content_type", "owner_object_id"),
    ],
    filters=content_type_pair("owner_content_type"),
    example={"data_schema": {"type": "object", "properties": {"sample": {"type": "integer"}}}},
)


config_context_schemas.rule(generic_reference("owner_content_type", "owner_object_id"))


@config_context_schemas.rule
def schemas_are_schemas(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """What is to validate data is a JSON Schema itself."""
    for draft in drafts:
        if draft.changed("data_schema"):
            document = draft["data_schema"]
            reason = json_schemas.schema_fault(document, uow.pattern_budget)
            if document in EMPTY:
                draft.reject("data_schema", CANNOT_BE_BLANK)
            if reason is not None:
                draft.reject("data_schema", reason)
            elif not (isinstance(document, dict) and document.get("type") == "object" and "properties" in document):
                draft.reject("data_schema", NOT_OF_OBJECTS)


def data_fits_its_schema(data: str, schema: str) -> Rule:
    """The rule that the document in the field ``data`` is valid by the schema that the reference ``schema`` names."""
    attribute = f"{schema}_id"

    def rule(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        bound = [draft for draft in drafts if draft[attribute] is not None and draft.changed(data, attribute)]
        schemas = listing.rows_of(uow, ConfigContextSchema, [draft[attribute] for draft in bound])
        for draft in bound:
            named = schemas[draft[attribute]]
            wrong = json_schemas.data_fault(draft[data], named.data_schema, uow.pattern_budget)
            if wrong is not None:
                draft.reject(data, f"Validation using the JSON Schema {named.name} failed.", wrong)

    return rule
