"""Conditions of webhooks and job hooks: of which changes they are told, as filters of the states before and after.

``{"before": filter, "after": filter, "changed": [fields], "unchanged": [fields]}``: every part given must hold. Filters
are those of validation rules (:mod:`netinv_extras.validation_rules.conditions`). What has no state before, a creation,
or after, a deletion, meets no filter of it; fields neither change nor stay in either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import MappedColumn

from netinv_core.changelog.differences import is_equal, is_own, members
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.models.columns import json_document
from netinv_core.sql.lookups import max_terms
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.validation_rules import conditions as filter_conditions

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

NAME = "conditions"
BEFORE, AFTER, CHANGED, UNCHANGED = "before", "after", "changed", "unchanged"
STATES, LISTS = (BEFORE, AFTER), (CHANGED, UNCHANGED)
PARTS = (*STATES, *LISTS)
EXAMPLE = '{"before": {"status__n": "active"}, "after": {"status": "active"}, "changed": ["status"]}'
HELP = f"The changes meant, by filters of the states and names of fields that changed or are unchanged: {EXAMPLE}"
NOT_PARTS = f"An object is required, such as {EXAMPLE}."
NOT_A_PART = "There is no such part: before, after, changed and unchanged are."
NOT_NAMES = "A list of names of fields is required."
NOT_A_FIELD = "The content type has no field {!r} whose changes are recorded."
NOT_INSTALLED = "The package of {} is not installed."
TOO_MANY = "The filters compare more than {} values one by one (netinv.max_compared_values)."
MAX_SHOWN = 10  # errors of one webhook
_DIVIDED = "custom_fields"  # field of the values of custom fields, which are named as in filters
Representation = Mapping[str, Any]
Errors = list[str]


def column() -> MappedColumn[Any]:
    """The column of conditions; null for every change."""
    return json_document(HELP)


# -- what is written


def rule(types: sa.Table) -> Callable[[UnitOfWork, Sequence[Draft]], None]:
    """A rule for a resource with conditions, whose content types are in an association table."""

    def conditions_make_sense(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Checks that every content type knows the filters and fields of the conditions."""
        for draft in drafts:
            if draft[NAME] == {}:
                draft[NAME] = None
        changed = [draft for draft in drafts if draft[NAME] is not None and _is_changed(draft)]
        for draft in changed:
            if texts := list(faults_of_form(draft[NAME])):
                draft.reject(NAME, *texts[:MAX_SHOWN])
        valid = [draft for draft in changed if NAME not in draft.errors]
        stored = labels_of(uow, types, [draft.id for draft in valid if "content_types" not in draft.many])
        found = errors_of(uow, [(d[NAME], d.many.get("content_types", stored.get(d.id, ()))) for d in valid])
        for draft, texts in zip(valid, found, strict=True):
            if texts:
                draft.reject(NAME, *texts[:MAX_SHOWN])

    return conditions_make_sense


def _is_changed(draft: Draft) -> bool:
    return draft.changed(NAME) or "content_types" in draft.many


def labels_of(uow: UnitOfWork, types: sa.Table, keys: Sequence[Any]) -> dict[Any, list[str]]:
    """The content types of webhooks or job hooks, by id; one statement, none without ids."""
    labels: dict[Any, list[str]] = {}
    statement = sa.select(types.c.owner_id, types.c.label).where(in_parameter(types.c.owner_id))
    for owner, label in uow.execute(statement, {"keys": list(keys)}).tuples() if keys else ():
        labels.setdefault(owner, []).append(label)
    return labels


def faults_of_form(given: Any) -> Iterator[str]:
    """The errors of what is no object of filters and of lists of names."""
    if not isinstance(given, Mapping):
        yield NOT_PARTS
        return
    for part, value in given.items():
        if part not in PARTS:
            yield _at(part[:100], NOT_A_PART)
        elif part in STATES and not isinstance(value, Mapping):
            yield _at(part, filter_conditions.NOT_AN_OBJECT)
        elif part in LISTS and not (isinstance(value, list) and value and all(isinstance(item, str) for item in value)):
            yield _at(part, NOT_NAMES)


def _at(part: str, text: str, of: str = "") -> str:
    """An error with the part that it is about, and the content type where there are several."""
    return f"{NAME}.{part}: {text}{f' ({of})' if of else ''}"


def errors_of(uow: UnitOfWork, given: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> list[Errors]:
    """The errors of conditions, each for the labels of content types; the number of statements does not depend on them.

    As for validation rules, a filter that names objects which the user may not view is an error.
    """
    errors: list[Errors] = [[] for _ in given]
    asked: list[tuple[Errors, str, str, Endpoint, Any]] = []
    most = max_terms(uow.settings)
    for texts, (conditions, labels) in zip(errors, given, strict=True):
        for label in labels:
            endpoint, of = uow.registry.get(label), label if len(labels) > 1 else ""
            if endpoint is None:
                texts.append(f"{NAME}: {NOT_INSTALLED.format(label)}")
                continue
            states = [(part, conditions[part]) for part in STATES if part in conditions]
            if sum(filter_conditions.terms(uow, endpoint, state) for _, state in states) > most:
                texts.append(_at(states[0][0], TOO_MANY.format(most), of))
            asked += [(texts, part, of, endpoint, state) for part, state in states]
            texts += [_at(part, text, of) for part, text in _faults_of_names(uow, endpoint, conditions)]
    found = filter_conditions.validation_errors(uow, [(endpoint, state) for *_, endpoint, state in asked])
    for (texts, part, of, *_), error in zip(asked, found, strict=True):
        if error is not None:
            texts += [_at(part, f"{name}: {text}", of) for name, several in error.body.items() for text in several]
    return errors


def _faults_of_names(uow: UnitOfWork, endpoint: Endpoint, conditions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The errors of names of fields, each with its part; no statement."""
    for part in LISTS:
        for name in conditions.get(part, ()):
            whole, _, slug = _member(name).partition(".")
            field = endpoint.fields.get(whole)
            is_recorded = field is not None and not field.opt_in and is_own(endpoint, whole)
            if not is_recorded or (slug and slug not in definitions_of(uow, endpoint.label)):
                yield part, NOT_A_FIELD.format(name[:100])


def _member(name: str) -> str:
    """The member of representations that a name of a field stands for: ``cf_owner`` for ``custom_fields.owner``."""
    is_divided = name.startswith(CUSTOM_FIELD_PREFIX)
    return f"{_DIVIDED}.{name.removeprefix(CUSTOM_FIELD_PREFIX)}" if is_divided else name


# -- what is judged


@dataclasses.dataclass(frozen=True, eq=False)
class ChangeCondition:
    """The conditions of one content type: SQL conditions of the states by part, and the ``lists`` of names of fields.

    A filter without names holds for whatever has the state, and is ``None``.
    """

    states: Mapping[str, Any]
    lists: Mapping[str, Sequence[str]]


def compile_conditions(uow: UnitOfWork, endpoint: Endpoint, conditions: Mapping[str, Any]) -> ChangeCondition:
    """The conditions as the user sees related objects. No statement.

    :raises Invalid: by part, for names that the content type does not know any more
    """
    states: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for part in STATES:
        try:
            if part in conditions:
                given = conditions[part]
                states[part] = filter_conditions.condition(uow, endpoint, given) if given else None
        except Invalid as error:
            errors[part] = [f"{name}: {text}" for name, texts in error.body.items() for text in texts]
    for part, text in _faults_of_names(uow, endpoint, conditions):
        errors.setdefault(part, []).append(text)
    if errors:
        raise Invalid(errors)
    return ChangeCondition(states, {part: conditions[part] for part in LISTS if part in conditions})


class JudgedChange:
    """A change with its representations; differences are compared once for all conditions."""

    def __init__(self, endpoint: Endpoint, before: Representation | None, after: Representation | None) -> None:
        self._endpoint = endpoint
        self._exists = {BEFORE: before is not None, AFTER: after is not None}
        self._states = before, after
        self._members: tuple[dict[str, Any], dict[str, Any]] | None = None
        self._changed: dict[str, bool] = {}

    def parts(self, condition: ChangeCondition, states: Mapping[str, bool]) -> dict[str, bool | None]:
        """Tells for each part of a condition whether it holds; ``None`` for a filter that is not in ``states``."""
        held: dict[str, bool | None] = {}
        for part, clause in condition.states.items():
            held[part] = self._exists[part] and (True if clause is None else states.get(part))
        is_update = all(self._exists.values())
        for part, names in condition.lists.items():
            held[part] = is_update and any(map(self._differs, names)) == (part == CHANGED)
        return held

    def _differs(self, name: str) -> bool:
        """True when a field has another value after the change."""
        if name not in self._changed:
            if self._members is None:
                before, after = (members(self._endpoint, state) for state in self._states)
                self._members = before, after
            (old, new), whole = self._members, _member(name)
            compared = [item for item in {**old, **new} if item == whole or item.startswith(f"{whole}.")]
            equal = (is_equal(self._endpoint, item, old.get(item), new.get(item)) for item in compared)
            self._changed[name] = not all(equal)
        return self._changed[name]
