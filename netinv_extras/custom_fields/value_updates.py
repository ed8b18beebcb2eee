"""Updates of stored custom field values after a change of a definition: one UPDATE for each model and batch of fields.

The change record of the definition covers these updates. Change records of objects hold only what users did to them.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.db.json_sql import JsonDocument, JsonMember, encode
from netinv_core.errors import Conflict
from netinv_core.read import listing
from netinv_core.sql.lookups import any_of, compare
from netinv_core.write.system_update import system_update
from netinv_extras.custom_fields.models import CustomField, custom_field_choices, custom_field_types, custom_fields

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

MEMBERS_BATCH_SIZE = 30  # members of `custom_field_data` in one UPDATE
RENAMES_BATCH_SIZE = 10  # renamed choices in one UPDATE
PROBES_BATCH_SIZE = 100  # SELECTs in one UNION ALL
TYPES, DATA = "content_types", "custom_field_data"
Names = dict[str, str]  # new name of a choice by its former one
T = TypeVar("T")


def _labels(uow: UnitOfWork, fields: Iterable[Any]) -> dict[Any, set[str]]:
    """Returns the labels of the content types of fields, by field id."""
    labels: dict[Any, set[str]] = {}
    owner_id = custom_field_types.c.owner_id
    statement = sa.select(owner_id, custom_field_types.c.label).where(in_parameter(owner_id))
    keys = list(set(fields))
    for owner, label in uow.execute(statement, {"keys": keys}) if keys else ():
        labels.setdefault(owner, set()).add(label)
    return labels


def _table(uow: UnitOfWork, label: str) -> Any:
    """Returns the table of a model with custom fields, or ``None``, also if its package is not installed."""
    endpoint = uow.registry.get(label)
    return endpoint.table if endpoint is not None and DATA in endpoint.table.c else None


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    every = list(items)
    return (every[start : start + size] for start in range(0, len(every), size))


# -- fields are added to and removed from content types


def remember_content_types(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Reads the former content types before they are overwritten, to tell added ones from removed ones later."""
    sent = [draft for draft in drafts if not draft.new and TYPES in draft.many]
    former = _labels(uow, [draft.id for draft in sent])
    for draft in sent:
        if former.get(draft.id, set()) != set(draft.many[TYPES]):
            draft.extra[TYPES] = former.get(draft.id, set())


def update_values_of_changed_content_types(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets the default in objects of added content types and removes the value from objects of removed ones."""
    defaults: dict[str, dict[str, Any]] = {}
    removed: dict[str, set[str]] = {}
    for draft in drafts:
        former, now = draft.extra.get(TYPES, set()), set(draft.many.get(TYPES, ()))
        if draft.new or TYPES in draft.extra:
            for label in now - former:
                defaults.setdefault(label, {})[draft["slug"]] = draft["default"]
            for label in former - now:
                removed.setdefault(label, set()).add(draft["slug"])
    for label in defaults.keys() | removed.keys():
        _set_and_remove(uow, label, defaults.get(label, {}), removed.get(label, set()))


def remove_values(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Removes the values of deleted fields from all objects."""
    labels = _labels(uow, [row["id"] for row in rows])
    removed: dict[str, set[str]] = {}
    for row in rows:
        for label in labels.get(row["id"], ()):
            removed.setdefault(label, set()).add(row["slug"])
    for label, slugs in removed.items():
        _set_and_remove(uow, label, {}, slugs)


def _set_and_remove(uow: UnitOfWork, label: str, defaults: Mapping[str, Any], removed: Iterable[str]) -> None:
    """Sets and removes members of the values of every object of a model.

    A default of null removes the member too: an earlier field may have had the same slug.
    """
    table = _table(uow, label)
    if table is None:
        return
    data = JsonDocument(uow.registry.driver, table.c[DATA])
    values = {slug: value for slug, value in defaults.items() if value is not None}
    for slugs in _batches(values, MEMBERS_BATCH_SIZE):
        with_members = data.setting({slug: values[slug] for slug in slugs})
        uow.execute(sa.update(table).values({DATA: with_members}))
    for slugs in _batches([*removed, *(defaults.keys() - values.keys())], MEMBERS_BATCH_SIZE):
        has_any = any_of([data.member(slug).exists for slug in slugs])
        uow.execute(sa.update(table).where(has_any).values({DATA: data.without(slugs)}))


# -- choices are renamed


def rename_values(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Renames changed choices in the values of objects and in the defaults of fields."""
    names_by_field: dict[Any, Names] = {}
    for draft in drafts:
        if not draft.new and draft.before["value"] != draft["value"]:
            names_by_field.setdefault(draft["field_id"], {})[draft.before["value"]] = draft["value"]
    if not names_by_field:
        return
    fields = listing.rows_of(uow, CustomField, names_by_field)
    for key, labels in _labels(uow, names_by_field).items():
        for label in labels:
            _rename(uow, label, fields[key].slug, names_by_field[key])
    defaults = {
        key: {"default": _renamed_default(field.default, names_by_field[key])}
        for key, field in fields.items()
        if field.default is not None
    }
    system_update(uow, uow.registry.of_model(CustomField), defaults)


def _renamed_default(default: Any, names: Names) -> Any:
    return [names.get(value, value) for value in default] if isinstance(default, list) else names.get(default, default)


def _rename(uow: UnitOfWork, label: str, slug: str, names: Names) -> None:
    """Renames choices of one field in the values of one model: one UPDATE for each batch of names.

    A choice may take the former name of another one. Every former name of a batch is therefore replaced by a unique
    marker before any marker is replaced by a new name. Batches follow the order of the request, in which a name must be
    free when a choice takes it: no batch reads a name that an earlier one has written.
    """
    table = _table(uow, label)
    for batch in _batches(names, RENAMES_BATCH_SIZE) if table is not None else ():
        markers = {former: str(uuid.uuid4()) for former in batch}
        new_names = {marker: names[former] for former, marker in markers.items()}
        _replace(uow, table, slug, {**markers, **new_names}, affected=batch)


def _replace(uow: UnitOfWork, table: Any, slug: str, replacements: Names, affected: Collection[str]) -> None:
    """UPDATE of a selection field by nested SQL ``replace()`` calls on its JSON text, in the order of ``replacements``.

    Values are replaced with their quotes, so that no part of another value matches.

    :param affected: only rows with one of these values are updated
    """
    data = JsonDocument(uow.registry.driver, table.c[DATA])
    text = data.member(slug).json
    for former, new in replacements.items():
        text = sa.func.replace(text, encode(former), encode(new))
    has_affected = any_of([_has_choice(data.member(slug), value) for value in affected])
    uow.execute(sa.update(table).where(has_affected).values({DATA: data.setting({slug: text})}))


def _has_choice(member: JsonMember, value: str) -> Any:
    """Condition for objects whose selection field holds a choice, alone or among others."""
    return compare("contains", member.driver, member.json, encode(value))


# -- choices in use can be neither moved nor deleted


def used_choices_keep_their_field(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects moving a used choice to another field."""
    moved = [draft for draft in drafts if not draft.new and draft.changed("field_id")]
    uses = _uses(uow, [draft.before for draft in moved])
    for draft in moved:
        if draft.id in uses:
            draft.reject("field", "This choice is in active use.")


def used_choices_cannot_be_deleted(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Rejects deleting a used choice, unless its field is deleted too.

    :raises Conflict: naming the first used choice
    """
    deleted_fields = uow.deleting.get("extras.customfield", {})
    choices = [row for row in rows if row["field_id"] not in deleted_fields]
    uses = _uses(uow, choices)
    for row in choices:
        if row["id"] in uses:
            raise Conflict(f"Cannot delete the choice {row['value']} because it is {uses[row['id']]}.")


def _uses(uow: UnitOfWork, choices: Sequence[Mapping[str, Any]]) -> dict[Any, str]:
    """Returns the uses of choices by id, worded for an error text; unused choices are left out."""
    fields = listing.rows_of(uow, CustomField, [row["field_id"] for row in choices])
    uses = {
        row["id"]: "a default of its field"
        for row in choices
        if _is_default(fields[row["field_id"]].default, row["value"])
    }
    return uses | dict.fromkeys(_choices_of_objects(uow, choices, fields), "in active use")


def _choices_of_objects(uow: UnitOfWork, choices: Sequence[Mapping[str, Any]], fields: Mapping[Any, Any]) -> set[Any]:
    """Returns the ids of choices that an object holds: one EXISTS for each choice and model, batched by UNION ALL."""
    labels, driver = _labels(uow, fields), uow.registry.driver
    probes: list[tuple[Any, Any]] = []  # the id of a choice, and the EXISTS for one model
    for row in choices:
        slug = fields[row["field_id"]].slug
        for label in labels.get(row["field_id"], ()):
            if (table := _table(uow, label)) is not None:
                member = JsonDocument(driver, table.c[DATA]).member(slug)
                probes.append((row["id"], sa.exists().where(_has_choice(member, row["value"]))))
    used_ids: set[Any] = set()
    for batch in _batches(probes, PROBES_BATCH_SIZE):
        selects: list[Any] = [
            sa.select(sa.literal_column(str(position)).label("position")).where(exists)
            for position, (_, exists) in enumerate(batch)
        ]
        used_ids |= {batch[position][0] for position in uow.execute(sa.union_all(*selects)).scalars()}
    return used_ids


def _is_default(default: Any, value: str) -> bool:
    return value in default if isinstance(default, list) else value == default


def register() -> None:
    """Registers the functions of this module with resources of other modules: once, by the package."""
    custom_fields.prepare(remember_content_types)
    custom_fields.after_save(update_values_of_changed_content_types)
    custom_fields.before_delete(remove_values)
    custom_field_choices.after_save(rename_values)
    custom_field_choices.rule(used_choices_keep_their_field)
    custom_field_choices.before_delete(used_choices_cannot_be_deleted)
