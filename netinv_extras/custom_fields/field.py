"""The ``custom_fields`` member of organizational resources: the values of the fields that users have defined."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import colander

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.http import versions
from netinv_core.patterns import Budget
from netinv_core.read.plan import JoinedTable, Plan, Reader
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, Rule
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import ALL, Draft
from netinv_extras.custom_fields.models import Definitions, definitions_of, lock_choices
from netinv_extras.custom_fields.values import SELECTIONS, Definition

NAME, COLUMN = "custom_fields", "custom_field_data"
BY_SLUG_SINCE = "1.4"


@dataclasses.dataclass(eq=False, kw_only=True)
class CustomFields(fields.Field):
    """An object with a member for every field that is defined for the content type; what is sent is merged into what is there.

    Members that no one has defined are ignored, as the API has it.
    """

    label_of_type: str
    merges: bool = True

    def sources(self) -> Collection[str]:
        return (COLUMN,)

    def reader(self, plan: Plan, place: JoinedTable) -> Reader:
        index = plan.column(place, COLUMN)
        defined = plan.batch(lambda uow, rows: dict.fromkeys(definitions_of(uow, self.label_of_type)))
        return lambda row, page: {slug: (row[index] or {}).get(slug) for slug in page.batches[defined]}

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if not isinstance(value, dict):
            raise colander.Invalid(None, "An object of custom field values is required.")
        draft[COLUMN] = {**(draft.before.get(COLUMN) or {}), **value}

    def extra_object_data(self, uow: UnitOfWork, row: Mapping[str, Any], shown: Any) -> Any:
        """The values as they are kept, under the names that clients of the change log know."""
        kept, defined = row.get(COLUMN) or {}, definitions_of(uow, self.label_of_type)
        return {field.name: kept[slug] for slug, field in defined.items() if slug in kept}

    def downgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        return _renaming({field.slug: field.name for field in self._renamed(uow, version)})

    def upgrade(self, uow: UnitOfWork, version: str) -> Callable[[Any], Any] | None:
        return _renaming({field.name: field.slug for field in self._renamed(uow, version)})

    def _renamed(self, uow: UnitOfWork, version: str) -> list[Any]:
        if not versions.older(version, BY_SLUG_SINCE):
            return []
        return [field for field in definitions_of(uow, self.label_of_type).values() if field.name != field.slug]


def _renaming(names: Mapping[str, str]) -> Callable[[Any], Any] | None:
    def rename(value: Any) -> Any:
        return {names.get(key, key): item for key, item in value.items()} if isinstance(value, dict) else value

    return rename if names else None


def _make(registry: Registry, endpoint: Endpoint) -> fields.Field:
    return CustomFields(name=NAME, label_of_type=endpoint.label, openapi={"type": "object"})


field = FieldFactory(NAME, _make)


def rule(endpoint: Endpoint) -> Rule:
    """The rule for objects of an endpoint: values are what their definitions allow, the required ones are there."""
    label = endpoint.label

    def values_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        defined = definitions_of(uow, label)
        for draft in drafts:
            kept, sent = draft.before.get(COLUMN) or {}, NAME in draft.body
            given = dict(draft[COLUMN] or {})
            if draft.new:
                given = _with_defaults(defined, given, sent=sent)
            if sent:
                given = {slug: value for slug, value in given.items() if slug in defined or slug in kept}
            values = _checked(draft, defined, given, uow.pattern_budget)
            if draft.new or COLUMN in draft.values:
                draft[COLUMN] = values
        _lock_choices(uow, defined, [draft for draft in drafts if NAME in draft.body and not draft.errors])

    return values_are_valid


def _lock_choices(uow: UnitOfWork, defined: Definitions, drafts: Sequence[Draft]) -> None:
    """Locks the choices that drafts begin to use, so that nobody deletes or renames one meanwhile: one statement, none for other values.

    What is known of them was read before, and is checked again: one of them may be gone.
    """
    used = [(draft, slug, choices) for draft in drafts for slug in defined if (choices := _begun(draft, defined[slug]))]
    there = lock_choices(uow, {slug for _, slug, _ in used}, {choice for _, _, choices in used for choice in choices})
    for draft, slug, choices in used:
        if gone := choices - there.get(slug, set()):
            left = dataclasses.replace(defined[slug], choices=tuple(choice for choice in defined[slug].choices if choice not in gone))
            _checked(draft, {slug: left}, draft[COLUMN], uow.pattern_budget)


def _begun(draft: Draft, field: Definition) -> set[str]:
    """The choices that an object has now and did not have."""
    if field.type not in SELECTIONS:
        return set()
    now, former = ((row or {}).get(field.slug) or [] for row in (draft[COLUMN], draft.before.get(COLUMN)))
    return ({now} if isinstance(now, str) else set(now)) - ({former} if isinstance(former, str) else set(former))


def _with_defaults(defined: Definitions, given: dict[str, Any], *, sent: bool) -> dict[str, Any]:
    """The values of a new object: of what was not given the default, or null when none at all were ``sent``."""
    return {slug: field.default for slug, field in defined.items() if field.default is not None or not sent} | given


def _checked(draft: Draft, defined: Definitions, given: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """The values as they are kept; rejects the draft for the first one that is not valid."""
    found = dict(given)
    missing: list[str] = []
    for slug, field in defined.items():
        if slug not in given:
            missing.extend([slug] * field.required)
            continue
        try:
            found[slug] = field.cleaned(given[slug], budget)
        except ValueError as error:
            draft.reject(ALL, f"Invalid value for custom field '{slug}': {error}")
            return found
    for slug in missing[:1]:
        draft.reject(ALL, f"Missing required custom field '{slug}'.")
    return found
