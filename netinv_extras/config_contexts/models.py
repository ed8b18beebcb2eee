"""Config contexts: JSON data that is merged into the ``config_context`` field of the objects within their scopes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_together
from netinv_core.models.base import Base, Organizational
from netinv_core.models.columns import (
    SET_NULL,
    Description,
    Name,
    Ref,
    boolean,
    column,
    foreign_key,
    integer,
    json_document,
    required_text,
    unique_copy,
)
from netinv_core.models.types import Chars, LongText
from netinv_core.resource import Resource, generic_fk
from netinv_extras.config_contexts.schemas import (
    CANNOT_BE_BLANK,
    EMPTY_VALUES,
    ConfigContextSchema,
    data_fits_its_schema,
    may_own,
    schema_display_name,
)
from netinv_extras.content_types import content_type_pair, generic_reference, type_label

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

DUPLICATE_NAME = "A ConfigContext with this name already exists."
NOT_AN_OBJECT = 'JSON data must be in object form. Example: {"foo": 123}'


class ConfigContext(Organizational):
    """A set of data for the objects within its scopes. Data of a higher ``weight`` takes precedence.

    The owner is optional: an object on whose behalf the context exists, such as a Git repository.
    """

    __tablename__ = "extras_config_context"
    __table_args__ = (
        unique_together("name", "owner_content_type", "owner_object_id"),
        unique_together("unowned_name", field="name", message=DUPLICATE_NAME),
    )

    name: Mapped[Name] = required_text(100)
    unowned_name: Mapped[str | None] = unique_copy("name", without="owner_object_id", length=100)
    owner_content_type: Mapped[str | None] = column(length=100, default=None)
    owner_object_id: Mapped[uuid.UUID | None] = column(default=None, index=True)
    weight: Mapped[int] = integer(0, 32767, default=1000)
    description: Mapped[Description]
    schema_id: Mapped[Ref | None] = foreign_key(
        ConfigContextSchema, on_delete=SET_NULL, help="Optional schema to validate the structure of the data"
    )
    is_active: Mapped[bool] = boolean(True)
    data: Mapped[Any] = json_document(required=True)
    # The names of the scopes that were set, separated by spaces: netinv_extras.config_contexts.limits.
    limited_by: Mapped[str | None] = column(LongText(), default=None, hidden=True, restored=True)


# Association of contexts with the objects that they are limited to, by scope name. The target tables belong to other
# packages, so target_id is not a foreign key.
scoped = sa.Table(
    "extras_config_context_scope",
    Base.metadata,
    sa.Column("owner_id", sa.Uuid(), sa.ForeignKey("extras_config_context.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("scope", Chars(100), primary_key=True),
    sa.Column("target_id", sa.Uuid(), primary_key=True, index=True),
)

config_contexts = Resource(
    ConfigContext,
    "config-contexts",
    title="config context",
    display=(schema_display_name, "name", "owner"),
    brief=["name"],
    order=["weight", "name"],
    search=["name", "description", "data"],
    fields=[
        type_label("owner_content_type", may_own, offered=False),
        generic_fk("owner", "owner_content_type", "owner_object_id"),
    ],
    omit=["custom_fields", "computed_fields", "relationships"],
    filters=content_type_pair("owner_content_type", unknown_is_empty=True),
    configuration=True,
    record_constants={"dynamic_groups": []},
    example={"data": {"sample": 1}},
)


@config_contexts.rule
def data_is_an_object(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Data is a non-empty JSON object, because contexts are merged by member name."""
    for draft in drafts:
        if draft.changed("data") and draft["data"] in EMPTY_VALUES:
            draft.reject("data", CANNOT_BE_BLANK)
        if not isinstance(draft["data"], dict):
            draft.reject("data", NOT_AN_OBJECT)


config_contexts.rule(generic_reference("owner_content_type", "owner_object_id"))
config_contexts.rule(data_fits_its_schema("data", "schema"), changing=["data", "schema_id"])
