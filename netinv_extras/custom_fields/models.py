"""Custom fields and their choices: what users add to the objects of any package.

The values stand in each object's own row (``custom_field_data``, by slug); what becomes of them when a definition changes is in
:mod:`netinv_extras.custom_fields.value_updates`.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import patterns
from netinv_core.db.engine import in_parameter
from netinv_core.models.associations import content_type_table, unique_set
from netinv_core.models.base import ChangeLogged, Organizational, table_of
from netinv_core.models.columns import CASCADE, Ref, boolean, choice, column, foreign_key, integer, json_document, required_text, text
from netinv_core.read import filters, listing
from netinv_core.registry import Registry
from netinv_core.resource import Resource, VersionChange, content_type_list
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import ALL, Draft
from netinv_core.write.slugs import slugify
from netinv_extras.custom_fields.values import BLANK, INTEGER, LOGICS, LOOSE, SELECT, SELECTIONS, TEXT, TYPES, URL, Definition

Definitions = Mapping[str, Definition]
WITH_PATTERN = SELECTIONS | {TEXT, URL}
PATTERN_LENGTH = 500
_CACHED = "custom fields"


def _is_pattern(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("Not a valid string.")
    found = str(value)
    if len(found) > PATTERN_LENGTH:
        raise ValueError(f"Ensure this field has no more than {PATTERN_LENGTH} characters.")
    try:
        patterns.check(found)
    except ValueError:
        raise ValueError(f"{found} is not a valid regular expression.") from None
    return found


class CustomField(Organizational):
    """A field that users have defined for objects of certain content types; ``name`` is its key up to API version 1.3, ``slug`` since."""

    __tablename__ = "extras_custom_field"

    type: Mapped[str] = choice(TYPES, default=None, blank=False)
    label: Mapped[str] = required_text(50)
    name: Mapped[str] = column(length=50, unique=True, default="", blank=True)
    slug: Mapped[str] = column(
        length=50,
        unique=True,
        kind="slug",
        pattern=r"^[-a-zA-Z0-9_]+\Z",
        pattern_error='Enter a valid "slug" consisting of letters, numbers, underscores or hyphens.',
    )
    description: Mapped[str] = text(200)
    grouping: Mapped[str] = text(255, hidden=True, in_object_data=True)
    required: Mapped[bool] = boolean(False)
    filter_logic: Mapped[str] = choice(LOGICS, default=LOOSE, blank=False)
    default: Mapped[Any | None] = json_document()
    weight: Mapped[int] = integer(0, 32767, default=100)
    validation_minimum: Mapped[int | None] = integer(-(2**63), 2**63 - 1, default=None, label="Minimum value")
    validation_maximum: Mapped[int | None] = integer(-(2**63), 2**63 - 1, default=None, label="Maximum value")
    validation_regex: Mapped[str] = text(PATTERN_LENGTH, parse=_is_pattern)
    advanced_ui: Mapped[bool] = boolean(False, hidden=True, in_object_data=True)


custom_field_types = content_type_table("extras_custom_field_type", "extras_custom_field")


class CustomFieldChoice(ChangeLogged):
    """A value that a selection field may have."""

    __tablename__ = "extras_custom_field_choice"
    __table_args__ = (unique_set("field_id", "value"),)

    field_id: Mapped[Ref] = foreign_key(CustomField, on_delete=CASCADE, related_name="choices")
    value: Mapped[str] = required_text(100)
    weight: Mapped[int] = integer(0, 32767, default=100)


def _from_name(body: dict[str, Any]) -> dict[str, Any]:
    """A body of a version up to 1.3, where a name is enough."""
    name = body.get("name")
    if not isinstance(name, str):
        return body
    return {"label": name, "slug": slugify(name, "_"), **body}


def _called(label: str, name: str) -> str:
    return label or name.replace("_", " ").capitalize()


def holds_values(registry: Registry, label: str) -> bool:
    """Whether objects of a content type have custom fields, as far as its package is here to say so."""
    endpoint = registry.get(label)
    return endpoint is None or "custom_fields" in endpoint.fields


custom_fields = Resource(
    CustomField,
    "custom-fields",
    display=(_called, "label", "name"),
    brief=["name"],
    order=["weight", "name"],
    search=["name", "label", "description"],
    fields=[content_type_list("content_types", custom_field_types, required=True, allowed=holds_values)],
    omit=["custom_fields", "computed_fields", "relationships"],
    filters=[filters.one_of("filter_logic", LOGICS, multiple=False)],
    versions=[VersionChange("1.4", upgrade=_from_name, former=("name",))],
    configuration=True,
    example={"type": SELECT, "required": False, "validation_regex": "^[0-9a-z]+$"},
)
custom_field_choices = Resource(
    CustomFieldChoice,
    "custom-field-choices",
    display="value",
    brief=[],
    order=["field.weight", "field.name", "weight", "value"],
    search=["value"],
    configuration=True,
)


# -- what a definition may be


@custom_fields.prepare
def are_called_as_they_are_addressed(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Without a name of its own a field is called by its slug."""
    for draft in drafts:
        draft["name"] = draft["name"] or draft["slug"]


@custom_fields.rule
def keep_type_and_key(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Values are kept by slug and in the form of their type: neither changes."""
    for draft in drafts:
        for name in ("type", "slug", "name") if not draft.new else ():
            if draft.changed(name):
                draft.reject(name, f"{name.capitalize()} cannot be changed once created")


@custom_fields.rule
def validate_what_the_type_has(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Bounds belong to numbers, patterns to text."""
    for draft in drafts:
        for word in ("minimum", "maximum"):
            if draft[f"validation_{word}"] is not None and draft["type"] != INTEGER:
                draft.reject(f"validation_{word}", f"A {word} value may be set only for numeric fields")
        if draft["validation_regex"] and draft["type"] not in WITH_PATTERN:
            draft.reject("validation_regex", "Regular expression validation is supported only for text, URL and select fields")


@custom_fields.rule
def have_a_default_that_they_allow(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The default is a value that the field would take."""
    concerned = [draft for draft in drafts if draft["default"] not in BLANK]
    choices = _choices(uow, [draft.id for draft in concerned if not draft.new and draft["type"] in SELECTIONS])
    for draft in concerned:
        try:
            draft["default"] = Definition.of(draft, choices.get(draft.id, ())).cleaned(draft["default"], uow.pattern_budget)
        except ValueError as error:
            draft.reject("default", f'Invalid default value "{draft["default"]}": {error}')


@custom_field_choices.rule
def belong_to_selections(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Only selection fields have choices, and a choice satisfies its field's pattern."""
    fields = listing.rows_of(uow, CustomField, [draft["field_id"] for draft in drafts], locked=True)
    for draft in drafts:
        field = fields[draft["field_id"]]
        if field.type not in SELECTIONS:
            draft.reject("field", f"custom field instance with id {field.id!r} does not exist.")
            draft.reject(ALL, "Custom field choices can only be assigned to selection fields.")
        elif field.validation_regex and (reason := _mismatch(uow, field.validation_regex, draft["value"])) is not None:
            draft.reject("value", reason)


def _mismatch(uow: UnitOfWork, pattern: str, value: str) -> str | None:
    """The error text for a choice that does not match its field's pattern; ``None`` when it does."""
    try:
        matches = uow.pattern_budget.search(pattern, value)
    except patterns.PatternTimeout as error:
        return str(error)
    return None if matches else f"Value must match regex {pattern} got {value}."


# -- what processes cache of them


def definitions_of(uow: UnitOfWork, label: str) -> Definitions:
    """The custom fields of a content type by slug, in the order of their weights; no statement while they are cached."""
    found = uow.cached_config(_CACHED, _load)
    defined: Definitions = found.get(label, {})
    return defined


def lock_choices(uow: UnitOfWork, slugs: Collection[str], values: Collection[str]) -> dict[str, set[str]]:
    """Locks choices of fields until the transaction ends against those who change or delete them; those that there are, by the field's slug."""
    field, choice = table_of(CustomField), table_of(CustomFieldChoice)
    # MariaDB and MySQL share the lock of what they read only: with the weight, that is the row, not an entry of the index on field and value.
    joined = sa.select(field.c.slug, choice.c.value, choice.c.weight).join_from(choice, field, field.c.id == choice.c.field_id)
    statement = joined.where(field.c.slug.in_(slugs), choice.c.value.in_(values)).order_by(choice.c.id)
    found: dict[str, set[str]] = {}
    for slug, value, _ in uow.execute(statement.with_for_update(of=choice, read=True, key_share=True)) if values else ():
        found.setdefault(slug, set()).add(value)
    return found


@functools.cache
def _of_every_type() -> Any:
    table, types = table_of(CustomField), custom_field_types
    return sa.select(types.c.label, table).join_from(table, types, types.c.owner_id == table.c.id).order_by(table.c.weight, table.c.slug)


def _load(uow: UnitOfWork) -> dict[str, Definitions]:
    """Every definition by content type and slug: one statement, and another one where there are choices to be had."""
    rows = uow.execute(_of_every_type()).mappings().all()
    choices = _choices(uow, list({row["id"] for row in rows if row["type"] in SELECTIONS}))
    found: dict[str, dict[str, Definition]] = {}
    for row in rows:
        found.setdefault(row["label"], {})[row["slug"]] = Definition.of(row, choices.get(row["id"], ()))
    return dict(found)


def _choices(uow: UnitOfWork, fields: list[Any]) -> dict[Any, list[str]]:
    """The values of selection fields, in order."""
    table = table_of(CustomFieldChoice)
    found: dict[Any, list[str]] = {}
    statement = sa.select(table.c.field_id, table.c.value).where(in_parameter(uow.registry.dialect, table.c.field_id)).order_by(table.c.weight, table.c.value)
    for field, value in uow.execute(statement, {"keys": fields}) if fields else ():
        found.setdefault(field, []).append(value)
    return found
