"""Config context schemas: user-defined JSON Schemas (draft 7) that validate context data."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_together
from netinv_core.models.base import Organizational
from netinv_core.models.columns import Description, column, json_document, required_text, slug, unique_copy
from netinv_core.read import listing
from netinv_core.resource import Resource, generic_fk
from netinv_extras.content_types import content_type_pair, generic_reference, type_label

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

CANNOT_BE_BLANK = "This field cannot be blank."
EMPTY_VALUES: tuple[Any, ...] = ("", [], {})
NOT_AN_OBJECT_SCHEMA = "Context data is an object: the schema must be of type object and specify a set of properties."
DUPLICATE_NAME = "A ConfigContextSchema with this name already exists."


class ConfigContextSchema(Organizational):
    """A JSON Schema for context data. The owner is optional, for example the Git repository that defines it."""

    __tablename__ = "extras_config_context_schema"
    __table_args__ = (
        unique_together("name", "owner_content_type", "owner_object_id"),
        unique_together("unowned_name", field="name", message=DUPLICATE_NAME),
    )

    name: Mapped[str] = required_text(200)
    unowned_name: Mapped[str | None] = unique_copy("name", without="owner_object_id", length=200)
    slug: Mapped[str] = slug(length=200, unique=False)
    owner_content_type: Mapped[str | None] = column(length=100, default=None)
    owner_object_id: Mapped[uuid.UUID | None] = column(default=None, index=True)
    description: Mapped[Description]
    data_schema: Mapped[Any] = json_document(
        required=True, help="A JSON Schema document which is used to validate context data."
    )


def may_own(endpoint: Endpoint) -> bool:
    """Returns true if objects of the endpoint can own a schema.

    Models that have an owner cannot: their display name contains the owner's, so a loop of owners would never end.
    """
    return issubclass(endpoint.model, Organizational) and "owner_object_id" not in endpoint.table.c


def schema_display_name(name: str, owner: dict[str, Any] | None) -> str:
    """Returns the display name of a schema: its name, prefixed with its owner's in brackets."""
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
    filters=content_type_pair("owner_content_type", unknown_is_empty=True),
    example={"data_schema": {"type": "object", "properties": {"sample": {"type": "integer"}}}},
)


config_context_schemas.rule(generic_reference("owner_content_type", "owner_object_id"))


@config_context_schemas.rule
def data_schema_is_a_json_schema(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A schema is a valid JSON Schema of type object with properties."""
    from netinv_extras.config_contexts import json_schemas  # jsonschema takes 3 MiB and 30 ms

    for draft in drafts:
        if draft.changed("data_schema"):
            document = draft["data_schema"]
            reason = json_schemas.schema_error(document, uow.pattern_budget)
            if document in EMPTY_VALUES:
                draft.reject("data_schema", CANNOT_BE_BLANK)
            if reason is not None:
                draft.reject("data_schema", reason)
            elif not (isinstance(document, dict) and document.get("type") == "object" and "properties" in document):
                draft.reject("data_schema", NOT_AN_OBJECT_SCHEMA)


def data_fits_its_schema(data: str, schema: str) -> Rule:
    """Returns the rule that validates the field ``data`` by the schema that the foreign key ``schema`` refers to, for
    changes of these two columns.
    """
    attribute = f"{schema}_id"

    def rule(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects data that do not match their schema."""
        changed = [draft for draft in drafts if draft[attribute] is not None]
        if not changed:
            return
        from netinv_extras.config_contexts import json_schemas  # jsonschema takes 3 MiB and 30 ms

        schemas = listing.rows_of(uow, ConfigContextSchema, [draft[attribute] for draft in changed])
        for draft in changed:
            row = schemas[draft[attribute]]
            reason = json_schemas.data_error(draft[data], row.data_schema, uow.pattern_budget)
            if reason is not None:
                draft.reject(data, f"Validation using the JSON Schema {row.name} failed.", reason)

    return rule
