"""What becomes of the values of custom fields when a definition changes: rows follow in one statement for each model.

These are changes of the definition, whose own record says all there is to say; the objects' records hold what users did to the objects.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from netinv_core.db import json_sql
from netinv_core.db.engine import in_parameter
from netinv_core.errors import Conflict
from netinv_core.read import listing
from netinv_core.read.lookups import LOOKUPS, any_of
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_core.write.system_update import system_update
from netinv_extras.custom_fields.models import CustomField, custom_field_choices, custom_field_types, custom_fields

__all__ = ["custom_field_choices", "custom_fields"]  # complete only with what is registered here
AT_ONCE, RENAMED_AT_ONCE, SOUGHT_AT_ONCE = 30, 10, 100
TYPES, DATA = "content_types", "custom_field_data"
Names = dict[str, str]
T = TypeVar("T")


def _labels(uow: UnitOfWork, fields: Iterable[Any]) -> dict[Any, set[str]]:
    """The content types of fields, by id."""
    found: dict[Any, set[str]] = {}
    statement = sa.select(custom_field_types.c.owner_id, custom_field_types.c.label).where(in_parameter(uow.registry.dialect, custom_field_types.c.owner_id))
    keys = list(set(fields))
    for owner, label in uow.execute(statement, {"keys": keys}) if keys else ():
        found.setdefault(owner, set()).add(label)
    return found


def _table(uow: UnitOfWork, label: str) -> Any:
    endpoint = uow.registry.get(label)
    return endpoint.table if endpoint is not None and DATA in endpoint.table.c else None


# -- fields come and go


@custom_fields.prepare
def remember_content_types(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """What is given up can be told from what is added only while the former content types are still there."""
    sent = [draft for draft in drafts if not draft.new and TYPES in draft.many]
    former = _labels(uow, [draft.id for draft in sent])
    for draft in sent:
        if former.get(draft.id, set()) != set(draft.many[TYPES]):
            draft.extra[TYPES] = former.get(draft.id, set())


@custom_fields.after_save
def give_values_and_take_them(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Objects of an added content type get the default, those of one given up lose the value."""
    given: dict[str, dict[str, Any]] = {}
    taken: dict[str, set[str]] = {}
    for draft in drafts:
        former, now = draft.extra.get(TYPES, set()), set(draft.many.get(TYPES, ()))
        if draft.new or TYPES in draft.extra:
            for label in now - former:
                given.setdefault(label, {})[draft["slug"]] = draft["default"]
            for label in former - now:
                taken.setdefault(label, set()).add(draft["slug"])
    for label in given.keys() | taken.keys():
        _rewrite(uow, label, given.get(label, {}), taken.get(label, set()))


@custom_fields.before_delete
def take_values(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Objects lose the values of fields that go."""
    labels = _labels(uow, [row["id"] for row in rows])
    taken: dict[str, set[str]] = {}
    for row in rows:
        for label in labels.get(row["id"], ()):
            taken.setdefault(label, set()).add(row["slug"])
    for label, slugs in taken.items():
        _rewrite(uow, label, {}, slugs)


def _rewrite(uow: UnitOfWork, label: str, given: Mapping[str, Any], taken: Iterable[str]) -> None:
    """Sets and removes members of every object's values. A field without a default leaves none of what once had its slug."""
    table, dialect = _table(uow, label), uow.registry.dialect
    values = {slug: value for slug, value in given.items() if value is not None}
    removed = [*taken, *(given.keys() - values.keys())]
    for some in _batches(values) if table is not None else ():
        uow.write(sa.update(table).values({DATA: json_sql.setting(dialect, table.c[DATA], {slug: values[slug] for slug in some})}))
    for slugs in _batches(removed) if table is not None else ():
        there = any_of([json_sql.has(dialect, table.c[DATA], slug) for slug in slugs])
        uow.write(sa.update(table).where(there).values({DATA: json_sql.without(dialect, table.c[DATA], slugs)}))


def _batches(items: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """As many as one statement takes."""
    every = list(items)
    return (every[start : start + size] for start in range(0, len(every), size))


# -- choices are renamed and go


@custom_field_choices.after_save
def rename_values(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Objects that have a choice have it by its new name, and so has a default."""
    renamed: dict[Any, Names] = {}
    for draft in drafts:
        if not draft.new and draft.before["value"] != draft["value"]:
            renamed.setdefault(draft["field_id"], {})[draft.before["value"]] = draft["value"]
    if not renamed:
        return
    fields = listing.rows_of(uow, CustomField, renamed)
    by_label: dict[str, dict[str, Names]] = {}
    for key, labels in _labels(uow, renamed).items():
        for label in labels:
            by_label.setdefault(label, {})[fields[key].slug] = renamed[key]
    for label, names in by_label.items():
        _rename(uow, label, names)
    defaults = {key: {"default": _by_new_names(field.default, renamed[key])} for key, field in fields.items() if field.default is not None}
    system_update(uow, uow.registry.of_model(CustomField), defaults)


def _by_new_names(default: Any, names: Names) -> Any:
    return [names.get(value, value) for value in default] if isinstance(default, list) else names.get(default, default)


def _rename(uow: UnitOfWork, label: str, renamed: Mapping[str, Names]) -> None:
    """Replaces choices in the values of one model, by slug; two that take each other's names do not get mixed up."""
    table, dialect = _table(uow, label), uow.registry.dialect
    for slug, names in renamed.items() if table is not None else ():
        for some in _batches(names, RENAMED_AT_ONCE):
            text, marks = json_sql.json(dialect, table.c[DATA], slug), {old: f'"{uuid.uuid4()}"' for old in some}
            for old, mark in marks.items():
                text = sa.func.replace(text, json_sql.encoded(old), mark)
            for old, mark in marks.items():
                text = sa.func.replace(text, mark, json_sql.encoded(names[old]))
            concerned = any_of([_holds(dialect, table, slug, old) for old in some])
            uow.write(sa.update(table).where(concerned).values({DATA: json_sql.setting(dialect, table.c[DATA], {slug: text})}))


def _holds(dialect: str, table: Any, slug: str, value: str) -> Any:
    """Whether a selection has this choice, alone or among others."""
    return LOOKUPS["contains"](dialect, json_sql.json(dialect, table.c[DATA], slug), json_sql.encoded(value))


@custom_field_choices.rule
def stay_while_they_are_used(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A choice that objects have does not go over to another field."""
    moved = [draft for draft in drafts if not draft.new and draft.changed("field_id")]
    used = _used(uow, [draft.before for draft in moved])
    for draft in moved:
        if draft.id in used:
            draft.reject("field", "This choice is in active use.")


@custom_field_choices.before_delete
def refuse_while_they_are_used(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """A choice that objects have, or that is a default, does not go, except with its field.

    :raises Conflict: naming the choices
    """
    leaving = [row for row in rows if row["field_id"] not in uow.deleting.get("extras.customfield", {})]
    used = _used(uow, leaving)
    for row in leaving:
        if row["id"] in used:
            raise Conflict(f"Cannot delete the choice {row['value']} because it is {used[row['id']]}.")


def _used(uow: UnitOfWork, choices: Sequence[Mapping[str, Any]]) -> dict[Any, str]:
    """Which choices are used and as what: one statement over all models that have their fields."""
    fields = listing.rows_of(uow, CustomField, [row["field_id"] for row in choices])
    labels, dialect = _labels(uow, fields), uow.registry.dialect
    found = {row["id"]: "a default of its field" for row in choices if _is_default(fields[row["field_id"]].default, row["value"])}
    asked: list[Any] = []
    selects: list[Any] = []
    for row in choices:
        for label in labels.get(row["field_id"], ()):
            if (table := _table(uow, label)) is not None:
                held = sa.exists().where(_holds(dialect, table, fields[row["field_id"]].slug, row["value"]))
                selects.append(sa.select(sa.literal_column(str(len(asked))).label("place")).where(held))
                asked.append(row["id"])
    for some in _batches(selects, SOUGHT_AT_ONCE):
        found |= {asked[place]: "in active use" for place in uow.execute(sa.union_all(*some)).scalars()}
    return found


def _is_default(default: Any, value: str) -> bool:
    return value in default if isinstance(default, list) else value == default
