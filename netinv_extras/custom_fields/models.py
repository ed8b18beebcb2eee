"""Custom fields and their choices, which users define for objects of any package.

The values are in the object's own row: the JSON column ``custom_field_data``, by slug. Module
:mod:`netinv_extras.custom_fields.value_updates` updates them when a definition changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import patterns
from netinv_core.caches import lru_cache
from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import content_type_table, unique_set
from netinv_core.models.base import ChangeLogged, Organizational, table_of
from netinv_core.models.columns import (
    CASCADE,
    Ref,
    boolean,
    choice,
    column,
    foreign_key,
    integer,
    json_document,
    required_text,
    text,
)
from netinv_core.read import filters, listing
from netinv_core.resource import Resource, VersionChange, content_type_list
from netinv_core.write.draft import ALL
from netinv_core.write.slugs import slugify
from netinv_extras.custom_fields.values import (
    INTEGER,
    LOGICS,
    LOOSE,
    SELECT,
    SELECTIONS,
    TEXT,
    TYPES,
    URL,
    ValueDefinition,
)

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

Definitions = Mapping[str, ValueDefinition]
WITH_PATTERN = SELECTIONS | {TEXT, URL}
MAX_PATTERN_LENGTH = 500
_CACHE_KEY = "custom fields"


def _parse_pattern(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("Not a valid string.")
    pattern = str(value)
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise ValueError(f"Ensure this field has no more than {MAX_PATTERN_LENGTH} characters.")
    try:
        patterns.check(pattern)
    except ValueError:
        raise ValueError(f"{pattern} is not a valid regular expression.") from None
    return pattern


class CustomField(Organizational):
    """A field that users define, of objects of certain content types.

    Its key in representations is ``name`` up to API version 1.3, and ``slug`` since.
    """

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
    validation_regex: Mapped[str] = text(MAX_PATTERN_LENGTH, parse=_parse_pattern)
    advanced_ui: Mapped[bool] = boolean(False, hidden=True, in_object_data=True)


custom_field_types = content_type_table("extras_custom_field_type", "extras_custom_field")


BOUNDS = ("validation_minimum", "validation_maximum")


class CustomFieldChoice(ChangeLogged):
    """A value that a selection field allows."""

    __tablename__ = "extras_custom_field_choice"
    __table_args__ = (unique_set("field_id", "value"),)

    field_id: Mapped[Ref] = foreign_key(CustomField, on_delete=CASCADE, related_name="choices")
    value: Mapped[str] = required_text(100)
    weight: Mapped[int] = integer(0, 32767, default=100)


def _from_name(body: dict[str, Any]) -> dict[str, Any]:
    """Completes a body of API versions up to 1.3, which need only a name."""
    name = body.get("name")
    if not isinstance(name, str):
        return body
    return {"label": name, "slug": slugify(name, "_"), **body}


def _display_name(label: str, name: str) -> str:
    return label or name.replace("_", " ").capitalize()


def has_custom_fields(registry: Registry, label: str) -> bool:
    """True for models with custom fields, and for models of packages that are not installed."""
    endpoint = registry.get(label)
    return endpoint is None or "custom_fields" in endpoint.fields


custom_fields = Resource(
    CustomField,
    "custom-fields",
    display=(_display_name, "label", "name"),
    brief=["name"],
    order=["weight", "name"],
    search=["name", "label", "description"],
    fields=[content_type_list("content_types", custom_field_types, required=True, allowed=has_custom_fields)],
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


# -- validation of definitions


@custom_fields.prepare
def name_defaults_to_slug(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets an empty name to the slug."""
    for draft in drafts:
        draft["name"] = draft["name"] or draft["slug"]


@custom_fields.rule
def slugs_begin_with_no_hyphen(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a slug that begins with a hyphen: MariaDB has no JSON path for such a member."""
    for draft in drafts:
        if draft.changed("slug") and draft["slug"].startswith("-"):
            draft.reject("slug", "Begin with a letter, a digit or an underscore.")


@custom_fields.rule
def type_and_keys_cannot_change(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects changes of type, slug and name, because stored values depend on them."""
    for draft in drafts:
        for name in ("type", "slug", "name") if not draft.new else ():
            if draft.changed(name):
                draft.reject(name, f"{name.capitalize()} cannot be changed once created")


@custom_fields.rule
def validation_settings_fit_the_type(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects bounds on fields other than numbers or that no number meets, and patterns on fields without text."""
    for draft in drafts:
        low, high = draft["validation_minimum"], draft["validation_maximum"]
        if low is not None and high is not None and low > high and draft.changed(*BOUNDS):
            draft.reject("validation_minimum", "The minimum is above the maximum: no value would be valid.")
        for word in ("minimum", "maximum"):
            if draft[f"validation_{word}"] is not None and draft["type"] != INTEGER:
                draft.reject(f"validation_{word}", f"A {word} value may be set only for numeric fields")
        if draft["validation_regex"] and draft["type"] not in WITH_PATTERN:
            message = "Regular expression validation is supported only for text, URL and select fields"
            draft.reject("validation_regex", message)


@custom_fields.rule
def default_is_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a default that the field does not accept as a value."""
    with_default = [draft for draft in drafts if draft["default"] not in (None, "")]
    choices = _choices(uow, [draft.id for draft in with_default if not draft.new and draft["type"] in SELECTIONS])
    for draft in with_default:
        definition = ValueDefinition.of(draft, choices.get(draft.id, ()))
        try:
            draft["default"] = definition.clean(draft["default"], uow.pattern_budget)
        except ValueError as error:
            draft.reject("default", f'Invalid default value "{draft["default"]}": {error}')


@custom_field_choices.rule
def choices_fit_their_field(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects choices of fields other than selections, and choices that do not match the pattern of their field."""
    changed = [draft for draft in drafts if draft.changed("field_id", "value")]
    fields = listing.rows_of(uow, CustomField, [draft["field_id"] for draft in changed], locked=True)
    for draft in changed:
        field = fields[draft["field_id"]]
        if field.type not in SELECTIONS:
            draft.reject("field", f"custom field instance with id {field.id!r} does not exist.")
            draft.reject(ALL, "Custom field choices can only be assigned to selection fields.")
        elif field.validation_regex and (reason := _mismatch(uow, field.validation_regex, draft["value"])) is not None:
            draft.reject("value", reason)


def _mismatch(uow: UnitOfWork, pattern: str, value: str) -> str | None:
    """Returns the error text for a choice that does not match the pattern of its field, or ``None``."""
    try:
        matches = uow.pattern_budget.search(pattern, value)
    except patterns.PatternTimeout as error:
        return str(error)
    return None if matches else f"Value must match regex {pattern} got {value}."


# -- cache of definitions


def definitions_of(uow: UnitOfWork, label: str) -> Definitions:
    """Returns the custom fields of a content type by slug, ordered by weight, from the configuration cache."""
    definitions: Definitions = uow.cached_config(_CACHE_KEY, _load).get(label, {})
    return definitions


def lock_choices(uow: UnitOfWork, slugs: Collection[str], values: Collection[str]) -> dict[str, set[str]]:
    """Takes shared row locks on choices until the transaction ends (FOR KEY SHARE on PostgreSQL).

    Returns the existing choices by the slug of their field.
    """
    if not values:
        return {}
    field, choice = table_of(CustomField), table_of(CustomFieldChoice)
    # MariaDB and MySQL lock only the index entries that are read. Reading the weight locks the row itself,
    # not an entry of the index on field and value.
    columns = field.c.slug, choice.c.value, choice.c.weight
    joined = sa.select(*columns).join_from(choice, field, field.c.id == choice.c.field_id)
    statement = joined.where(field.c.slug.in_(slugs), choice.c.value.in_(values)).order_by(choice.c.id)
    locked: dict[str, set[str]] = {}
    statement = statement.with_for_update(of=choice, read=True, key_share=True)
    for slug, value, _ in uow.execute(statement):
        locked.setdefault(slug, set()).add(value)
    return locked


@lru_cache("SQL statements", 1)
def _select_definitions() -> Any:
    table, types = table_of(CustomField), custom_field_types
    joined = sa.select(types.c.label.label("content_type"), table).join_from(
        table, types, types.c.owner_id == table.c.id
    )
    return joined.order_by(table.c.weight, table.c.slug)


def _load(uow: UnitOfWork) -> dict[str, Definitions]:
    """Reads all definitions, by content type and slug: one statement, and one more if there are selection fields."""
    rows = uow.execute(_select_definitions()).mappings().all()
    choices = _choices(uow, list({row["id"] for row in rows if row["type"] in SELECTIONS}))
    definitions: dict[str, dict[str, ValueDefinition]] = {}
    for row in rows:
        definitions.setdefault(row["content_type"], {})[row["slug"]] = ValueDefinition.of(
            row, choices.get(row["id"], ())
        )
    return dict(definitions)


def _choices(uow: UnitOfWork, fields: list[Any]) -> dict[Any, list[str]]:
    """Returns the choices of fields by field id, in the order of their weights."""
    table = table_of(CustomFieldChoice)
    choices: dict[Any, list[str]] = {}
    of_fields = in_parameter(table.c.field_id)
    statement = sa.select(table.c.field_id, table.c.value).where(of_fields).order_by(table.c.weight, table.c.value)
    for field, value in uow.execute(statement, {"keys": fields}) if fields else ():
        choices.setdefault(field, []).append(value)
    return choices
