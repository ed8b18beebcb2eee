"""Custom fields and their choices: what users add to the objects of any package.

The values stand in each object's own row (``custom_field_data``, by slug); what becomes of them when a definition changes is in
:mod:`netinv_extras.custom_field_upkeep`.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import patterns
from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.model import (
    CASCADE,
    Organizational,
    Ref,
    Tracked,
    choice,
    column,
    document,
    labels_of,
    required_text,
    switch,
    table_of,
    text,
    to,
    unique_set,
    whole,
)
from netinv_core.read import filters, pages
from netinv_core.registry import Registry
from netinv_core.resource import Resource, VersionChange, labels
from netinv_core.write.draft import ALL, Draft
from netinv_core.write.naming import slugify
from netinv_extras.custom_values import BLANK, INTEGER, LOGICS, LOOSE, SELECT, SELECTIONS, TEXT, TYPES, URL, Definition

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
    grouping: Mapped[str] = text(255, hidden=True, flat=True)
    required: Mapped[bool] = switch(False)
    filter_logic: Mapped[str] = choice(LOGICS, default=LOOSE, blank=False)
    default: Mapped[Any | None] = document()
    weight: Mapped[int] = whole(0, 32767, default=100)
    validation_minimum: Mapped[int | None] = whole(-(2**63), 2**63 - 1, default=None, label="Minimum value")
    validation_maximum: Mapped[int | None] = whole(-(2**63), 2**63 - 1, default=None, label="Maximum value")
    validation_regex: Mapped[str] = text(PATTERN_LENGTH, parse=_is_pattern)
    advanced_ui: Mapped[bool] = switch(False, hidden=True, flat=True)


custom_field_types = labels_of("extras_custom_field_type", "extras_custom_field")


class CustomFieldChoice(Tracked):
    """A value that a selection field may have."""

    __tablename__ = "extras_custom_field_choice"
    __table_args__ = (unique_set("field_id", "value"),)

    field_id: Mapped[Ref] = to(CustomField, on_delete=CASCADE, back="choices")
    value: Mapped[str] = required_text(100)
    weight: Mapped[int] = whole(0, 32767, default=100)


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
    fields=[labels("content_types", custom_field_types, required=True, allowed=holds_values)],
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
def are_called_as_they_are_addressed(context: Context, drafts: Sequence[Draft]) -> None:
    """Without a name of its own a field is called by its slug."""
    for draft in drafts:
        draft["name"] = draft["name"] or draft["slug"]


@custom_fields.rule
def keep_type_and_key(context: Context, drafts: Sequence[Draft]) -> None:
    """Values are kept by slug and in the form of their type: neither changes."""
    for draft in drafts:
        for name in ("type", "slug", "name") if not draft.new else ():
            if draft.changed(name):
                draft.reject(name, f"{name.capitalize()} cannot be changed once created")


@custom_fields.rule
def validate_what_the_type_has(context: Context, drafts: Sequence[Draft]) -> None:
    """Bounds belong to numbers, patterns to text."""
    for draft in drafts:
        for word in ("minimum", "maximum"):
            if draft[f"validation_{word}"] is not None and draft["type"] != INTEGER:
                draft.reject(f"validation_{word}", f"A {word} value may be set only for numeric fields")
        if draft["validation_regex"] and draft["type"] not in WITH_PATTERN:
            draft.reject("validation_regex", "Regular expression validation is supported only for text, URL and select fields")


@custom_fields.rule
def have_a_default_that_they_allow(context: Context, drafts: Sequence[Draft]) -> None:
    """The default is a value that the field would take."""
    concerned = [draft for draft in drafts if draft["default"] not in BLANK]
    choices = _choices(context, [draft.id for draft in concerned if not draft.new and draft["type"] in SELECTIONS])
    for draft in concerned:
        try:
            draft["default"] = Definition.of(draft, choices.get(draft.id, ())).cleaned(draft["default"], context.pattern_budget)
        except ValueError as error:
            draft.reject("default", f'Invalid default value "{draft["default"]}": {error}')


@custom_field_choices.rule
def belong_to_selections(context: Context, drafts: Sequence[Draft]) -> None:
    """Only selection fields have choices, and a choice satisfies its field's pattern."""
    fields = pages.rows_of(context, CustomField, [draft["field_id"] for draft in drafts], locked=True)
    for draft in drafts:
        field = fields[draft["field_id"]]
        if field.type not in SELECTIONS:
            draft.reject("field", f"custom field instance with id {field.id!r} does not exist.")
            draft.reject(ALL, "Custom field choices can only be assigned to selection fields.")
        elif field.validation_regex and (reason := _mismatch(context, field.validation_regex, draft["value"])) is not None:
            draft.reject("value", reason)


def _mismatch(context: Context, pattern: str, value: str) -> str | None:
    """The error text for a choice that does not match its field's pattern; ``None`` when it does."""
    try:
        matches = context.pattern_budget.search(pattern, value)
    except patterns.OutOfTime as error:
        return str(error)
    return None if matches else f"Value must match regex {pattern} got {value}."


# -- what processes cache of them


def definitions_of(context: Context, label: str) -> Definitions:
    """The custom fields of a content type by slug, in the order of their weights; no statement while they are cached."""
    found = context.configured(_CACHED, _load)
    defined: Definitions = found.get(label, {})
    return defined


def lock_choices(context: Context, slugs: Collection[str], values: Collection[str]) -> dict[str, set[str]]:
    """Locks choices of fields until the transaction ends against those who change or delete them; those that there are, by the field's slug."""
    field, choice = table_of(CustomField), table_of(CustomFieldChoice)
    # MariaDB and MySQL share the lock of what they read only: with the weight, that is the row, not an entry of the index on field and value.
    joined = sa.select(field.c.slug, choice.c.value, choice.c.weight).join_from(choice, field, field.c.id == choice.c.field_id)
    statement = joined.where(field.c.slug.in_(slugs), choice.c.value.in_(values)).order_by(choice.c.id)
    found: dict[str, set[str]] = {}
    for slug, value, _ in context.execute(statement.with_for_update(of=choice, read=True, key_share=True)) if values else ():
        found.setdefault(slug, set()).add(value)
    return found


@functools.cache
def _of_every_type() -> Any:
    table, types = table_of(CustomField), custom_field_types
    return sa.select(types.c.label, table).join_from(table, types, types.c.owner_id == table.c.id).order_by(table.c.weight, table.c.slug)


def _load(context: Context) -> dict[str, Definitions]:
    """Every definition by content type and slug: one statement, and another one where there are choices to be had."""
    rows = context.execute(_of_every_type()).mappings().all()
    choices = _choices(context, list({row["id"] for row in rows if row["type"] in SELECTIONS}))
    found: dict[str, dict[str, Definition]] = {}
    for row in rows:
        found.setdefault(row["label"], {})[row["slug"]] = Definition.of(row, choices.get(row["id"], ()))
    return dict(found)


def _choices(context: Context, fields: list[Any]) -> dict[Any, list[str]]:
    """The values of selection fields, in order."""
    table = table_of(CustomFieldChoice)
    found: dict[Any, list[str]] = {}
    statement = sa.select(table.c.field_id, table.c.value).where(among(context.registry.dialect, table.c.field_id)).order_by(table.c.weight, table.c.value)
    for field, value in context.execute(statement, {"keys": fields}) if fields else ():
        found.setdefault(field, []).append(value)
    return found
