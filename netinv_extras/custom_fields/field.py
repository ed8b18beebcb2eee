"""Field ``custom_fields`` of organizational resources: the values of user-defined fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core import fields
from netinv_core.fields import list_differences
from netinv_core.http import versions
from netinv_core.patterns import Budget
from netinv_core.resource import FieldFactory
from netinv_core.write import strict_bodies
from netinv_core.write.draft import ALL
from netinv_extras.custom_fields.cells import cell_column
from netinv_extras.custom_fields.models import Definitions, definitions_of, lock_choices
from netinv_extras.custom_fields.values import MULTI_SELECT, SELECTIONS, ValueDefinition

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.records import CellColumn
    from netinv_core.registry import Registry
    from netinv_core.resource import Rule
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

NAME, COLUMN = "custom_fields", "custom_field_data"
STORED = "_custom_field_data"  # of interface redundancy groups: the whole column, beside custom_fields
BY_SLUG_SINCE = "1.4"


@dataclasses.dataclass(eq=False, kw_only=True)
class CustomFields(fields.Field):
    """JSON object with a member for each custom field of the content type.

    Members of a request are merged into the stored ones. Members without a definition are ignored.
    """

    label_of_type: str
    merges: bool = True

    def sources(self) -> Collection[str]:
        return (COLUMN,)

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, COLUMN)
        defined = plan.batch(lambda uow, rows: dict.fromkeys(definitions_of(uow, self.label_of_type)))
        return lambda row, page: {slug: (row[index] or {}).get(slug) for slug in page.batches[defined]}

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if not isinstance(value, dict):
            raise colander.Invalid(None, "An object of custom field values is required.")
        draft[COLUMN] = {**(draft.before.get(COLUMN) or {}), **value}

    def cell_columns(self, uow: UnitOfWork) -> Sequence[CellColumn]:
        """Returns a column ``cf_<slug>`` for each custom field of the content type."""
        return [cell_column(self.name, definition) for definition in definitions_of(uow, self.label_of_type).values()]

    def extra_object_data(self, uow: UnitOfWork, row: Mapping[str, Any], value: Any) -> Any:
        """Returns the stored values by field name, the key that clients of the change log use."""
        stored, defined = row.get(COLUMN) or {}, definitions_of(uow, self.label_of_type)
        return {field.name: stored[slug] for slug, field in defined.items() if slug in stored}

    def downgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        if not versions.older(version, BY_SLUG_SINCE):
            return None
        return _key_mapper({field.slug: field.name for field in self._renamed_fields(uow)})

    def upgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        if not versions.older(version, BY_SLUG_SINCE):
            return None
        return _key_mapper({field.name: field.slug for field in self._renamed_fields(uow)})

    def _renamed_fields(self, uow: UnitOfWork) -> list[Any]:
        """Returns the fields whose key differs in older API versions."""
        return [field for field in definitions_of(uow, self.label_of_type).values() if field.name != field.slug]


def _key_mapper(names: Mapping[str, str]) -> Callable[[Any], Any] | None:
    """Returns a function that renames the keys of an object; ``None`` when there is nothing to rename."""

    def rename(value: Any) -> Any:
        return {names.get(key, key): item for key, item in value.items()} if isinstance(value, dict) else value

    return rename if names else None


def _make(registry: Registry, endpoint: Endpoint) -> Field:
    return CustomFields(name=NAME, label_of_type=endpoint.label, openapi={"type": "object"})


field = FieldFactory(NAME, _make)


def rule(endpoint: Endpoint) -> Rule:
    """Returns the rule for objects of an endpoint: values must be valid, and required ones present.

    Values that an update leaves as they are stored are not judged: the definition may have become stricter since.
    """
    label = endpoint.label

    def values_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects invalid values of custom fields, and missing values of required ones, that a draft changes."""
        defined = definitions_of(uow, label)
        for draft in drafts:
            if not (draft.new or COLUMN in draft.values):
                continue
            stored, sent = draft.before.get(COLUMN) or {}, NAME in draft.body
            values = _with_lists(draft, defined, dict(draft[COLUMN] or {}))
            if draft.new:
                values = _with_defaults(defined, values, sent=sent)
            _reject_unknown(draft, {*defined, *stored})
            if sent:
                values = {slug: value for slug, value in values.items() if slug in defined or slug in stored}
            judged = defined if draft.new else _changed_definitions(defined, values, stored)
            draft[COLUMN] = _clean(draft, judged, values, uow.pattern_budget)
        _lock_choices(uow, defined, [draft for draft in drafts if NAME in draft.body and not draft.errors])

    return values_are_valid


def _reject_unknown(draft: Draft, known: Collection[str]) -> None:
    """Rejects members that no custom field is defined for, where bodies are strict."""
    if not strict_bodies.is_strict(draft.endpoint.registry):
        return
    for name in {NAME, STORED} & draft.body.keys():
        if unknown := draft.body[name].keys() - set(known):
            draft.reject(name, strict_bodies.refused_reference(sorted(unknown)))


def _with_lists(draft: Draft, defined: Definitions, values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values with differences applied to the stored choices of multi-select fields."""
    for slug, value in values.items():
        if slug not in defined or defined[slug].type != MULTI_SELECT or not list_differences.is_difference(value):
            continue
        stored = (draft.before.get(COLUMN) or {}).get(slug) or []
        try:
            difference = list_differences.parse(draft, value)
            if difference is not None and all(isinstance(item, str) for item in difference.add + difference.remove):
                values[slug] = difference.applied_to(stored)
        except (ValueError, colander.Invalid) as error:
            reason = error.msg if isinstance(error, colander.Invalid) else error
            draft.reject(ALL, f"Invalid value for custom field '{slug}': {reason}")
    return values


def _changed_definitions(defined: Definitions, values: Mapping[str, Any], stored: Mapping[str, Any]) -> Definitions:
    """Returns the definitions of the fields whose value differs from the stored one. A missing value is null."""

    def differs(slug: str) -> bool:
        value, former = values.get(slug), stored.get(slug)
        return type(value) is not type(former) or value != former  # True is 1 and 1.0 in Python

    return {slug: field for slug, field in defined.items() if differs(slug)}


def _lock_choices(uow: UnitOfWork, defined: Definitions, drafts: Sequence[Draft]) -> None:
    """Locks newly assigned choices against concurrent renaming and deletion: one statement, none without such choices.

    The definitions come from a cache. A choice that was deleted since is rejected here.
    """
    added = [
        (draft, slug, choices)
        for draft in drafts
        for slug in defined
        if (choices := _added_choices(draft, defined[slug]))
    ]
    slugs, values = {slug for _, slug, _ in added}, {choice for *_, choices in added for choice in choices}
    locked = lock_choices(uow, slugs, values)
    for draft, slug, choices in added:
        if deleted := choices - locked.get(slug, set()):
            remaining = tuple(choice for choice in defined[slug].choices if choice not in deleted)
            definition = dataclasses.replace(defined[slug], choices=remaining)
            _clean(draft, {slug: definition}, draft[COLUMN], uow.pattern_budget)


def _added_choices(draft: Draft, field: ValueDefinition) -> set[str]:
    """Returns the choices of a selection field that the draft adds to those of the stored object."""
    if field.type not in SELECTIONS:
        return set()
    now, former = ((row or {}).get(field.slug) or [] for row in (draft[COLUMN], draft.before.get(COLUMN)))
    return ({now} if isinstance(now, str) else set(now)) - ({former} if isinstance(former, str) else set(former))


def _with_defaults(defined: Definitions, values: dict[str, Any], *, sent: bool) -> dict[str, Any]:
    """Adds defaults to the values of a new object. Fields without a default become null unless values were ``sent``."""
    return {slug: field.default for slug, field in defined.items() if field.default is not None or not sent} | values


def _clean(draft: Draft, defined: Definitions, values: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """Returns the values in their stored form; rejects the draft for the first invalid or missing one."""
    cleaned = dict(values)
    missing: list[str] = []
    for slug, field in defined.items():
        if slug not in values:
            missing.extend([slug] * field.required)
            continue
        try:
            cleaned[slug] = field.clean(values[slug], budget)
        except ValueError as error:
            draft.reject(ALL, f"Invalid value for custom field '{slug}': {error}")
            return cleaned
    for slug in missing[:1]:
        draft.reject(ALL, f"Missing required custom field '{slug}'.")
    return cleaned
