"""Unique constraints, checked before the database checks them, so that errors name fields.

Single columns and field-level sets are checked before the rules, model-level sets after them (``early`` in the
constraint's ``info``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.caches import lru_cache
from netinv_core.db.expressions import in_parameter
from netinv_core.driver.undocumented import declaration_order
from netinv_core.errors import CONCURRENT_CHANGE, MAX_NAMED_OBJECTS, NON_FIELD, Invalid, Message
from netinv_core.labels import capitalize, without_id
from netinv_core.models.columns import column_info
from netinv_core.read.names import names_in_context
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.draft import ALL

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


Names = tuple[str, ...]
Values = tuple[Any, ...]
# Errors of PostgreSQL, SQLite and MySQL, and of MariaDB.
_OF_A_CONDITION = re.compile(r"check constraint|\bCONSTRAINT .* failed for", re.IGNORECASE)
TAKEN = "{} Taken by {}."
# Ids of the objects that have these values, by the columns of a unique set and their values.
Holders = dict[Names, dict[Values, set[Any]]]


@cached_in_registry
def _sets(endpoint: Endpoint, *, early: bool) -> list[Names]:
    """Returns the columns of each unique set, field-level (``early``) or model-level, in order of declaration."""
    constraints = [c for c in endpoint.table.constraints if isinstance(c, sa.UniqueConstraint) and "early" in c.info]
    constraints.sort(key=declaration_order)
    return [tuple(column.name for column in c.columns) for c in constraints if c.info["early"] is early]


def _info(endpoint: Endpoint, names: Names) -> dict[str, Any]:
    """Returns the options of the unique set with these columns; empty for a single unique column."""
    constraints = [c for c in endpoint.table.constraints if isinstance(c, sa.UniqueConstraint)]
    return next((dict(c.info) for c in constraints if tuple(c.columns.keys()) == names), {})


def _message(endpoint: Endpoint, names: Names) -> str:
    """Error message of a field-level set."""
    listed = ", ".join(_field_name(endpoint, name) for name in names)
    return _info(endpoint, names).get("message") or f"The fields {listed} must make a unique set."


def _field_name(endpoint: Endpoint, attribute: str) -> str:
    is_foreign_key = column_info(endpoint.table.c[attribute]).foreign_key is not None
    return attribute.removesuffix("_id") if is_foreign_key else attribute


def _values(draft: Draft, names: Names) -> Values:
    return tuple(draft[name] for name in names)


def _changing_drafts(names: Names, drafts: Sequence[Draft]) -> list[Draft]:
    """Returns the drafts that change one of the columns; those with a null among them cannot conflict."""
    return [draft for draft in drafts if draft.changed(*names) and all(draft[name] is not None for name in names)]


def _holders(uow: UnitOfWork, endpoint: Endpoint, sets: Sequence[Names], drafts: Sequence[Draft]) -> Holders:
    """Returns the objects that have the values of the drafts, for each unique set; one statement for all sets."""
    holders: Holders = {names: {} for names in sets}
    to_query: dict[Names, list[Draft]] = {}
    for names in sets:
        changed = _changing_drafts(names, drafts)
        in_memory = _conflicts_in_memory(uow, endpoint, names, changed)
        if in_memory:
            for key, draft in uow.new_drafts.get(endpoint.table, {}).items():
                holders[names].setdefault(_values(draft, names), set()).add(key)
        if others := [draft for draft in changed if draft not in in_memory]:
            to_query[names] = others
    if to_query:
        _query_holders(uow, endpoint, to_query, holders)
    return holders


def _query_holders(
    uow: UnitOfWork, endpoint: Endpoint, drafts_by_set: Mapping[Names, Sequence[Draft]], holders: Holders
) -> None:
    """Adds rows that may have the values of drafts to ``holders``: a UNION ALL with a SELECT for each unique set."""
    sets = tuple(drafts_by_set)
    columns = list(dict.fromkeys(name for names in sets for name in names))
    values = {
        f"{name}_{number}": list({draft[name] for draft in drafts_by_set[names]})
        for number, names in enumerate(sets)
        for name in names
    }
    for number, key, *row in uow.execute(_select_holders(endpoint, sets), values).tuples():
        names, value_of = sets[number], dict(zip(columns, row, strict=True))
        holders[names].setdefault(tuple(value_of[name] for name in names), set()).add(key)


@cached_in_registry
def _select_holders(endpoint: Endpoint, sets: tuple[Names, ...]) -> Any:
    """SELECT of the rows with values of the parameters ``column_number`` in the unique sets, with the set's number."""
    table = endpoint.table
    columns = list(dict.fromkeys(name for names in sets for name in names))
    selects = []
    for number, names in enumerate(sets):
        conditions = [in_parameter(table.c[name], f"{name}_{number}") for name in names]
        set_number: Any = sa.literal_column(str(number), sa.Integer())
        selected = sa.select(set_number.label("number"), table.c.id, *[table.c[name] for name in columns])
        selects.append(selected.where(*conditions))
    return sa.union_all(*selects) if len(selects) > 1 else selects[0]


def _conflicts_in_memory(uow: UnitOfWork, endpoint: Endpoint, names: Names, drafts: Sequence[Draft]) -> set[Draft]:
    """Returns the drafts that refer, by one of the columns, to an object created in this unit of work.

    Every object that could conflict with them was created later than that object and is in ``uow.new_drafts``.
    """
    new_targets: dict[str, Mapping[Any, Draft]] = {}
    for name in names:
        target = endpoint.registry.target(column_info(endpoint.table.c[name]).foreign_key)
        if target is not None and (new_drafts := uow.new_drafts.get(target.table)):
            new_targets[name] = new_drafts
    return {draft for draft in drafts if any(draft[name] in keys for name, keys in new_targets.items())}


def _find_conflicts(
    names: Names, checked: Sequence[Draft], holders: Mapping[Values, set[Any]], batch: Sequence[Draft]
) -> list[Draft]:
    """Returns the ``checked`` drafts whose values another object has, or an earlier draft of them.

    A value that a draft of the whole ``batch`` takes away from its holder is free.
    """
    new_values = {draft.id: _values(draft, names) for draft in batch if not draft.new}
    conflicting, claimed = [], set()
    for draft in _changing_drafts(names, checked):
        values = _values(draft, names)
        others = {key for key in holders.get(values, ()) if key != draft.id and new_values.get(key, values) == values}
        if others or values in claimed:
            conflicting.append(draft)
        claimed.add(values)
    return conflicting


def check_field_level(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects values of unique columns that are taken, then values of field-level sets, in drafts without errors.

    A set with a nullable column is checked only in drafts without another error of this kind.
    """
    if not _may_conflict(endpoint, drafts):
        return
    table = endpoint.table
    fields = _unique_fields(endpoint, references=False)
    for name in fields:
        if table.c[name].nullable:
            _set_blank_to_null(drafts, name)
    sets = _sets(endpoint, early=True)
    _fill_defaults(endpoint, {name for names in sets for name in names}, drafts)
    holders = _holders(uow, endpoint, [*((name,) for name in fields), *sets], drafts)
    for name, field in fields.items():
        label = field.label or field.name.replace("_", " ")
        message = column_info(table.c[name]).taken_error or f"{endpoint.title} with this {label} already exists."
        valid = [draft for draft in drafts if field.name not in draft.errors]
        for draft in _find_conflicts((name,), valid, holders[name,], drafts):
            draft.reject(field.name, message)
    valid = [draft for draft in drafts if not draft.errors]
    for names in sets:
        has_nullable = any(table.c[name].nullable for name in names)
        when_sent = _info(endpoint, names).get("when_sent")
        must_be_sent = {_field_name(endpoint, name) for name in names} if when_sent else set()
        checked = [
            draft
            for draft in valid
            if not (has_nullable and NON_FIELD in draft.errors) and must_be_sent <= draft.body.keys()
        ]
        conflicting = _find_conflicts(names, checked, holders[names], drafts)
        named = _read_names(
            uow, endpoint, {draft.id: holders[names].get(_values(draft, names), ()) for draft in conflicting}
        )
        for draft in conflicting:
            message = _message(endpoint, names)
            holder = named.get(draft.id)
            draft.reject(NON_FIELD, Message(message, TAKEN.format(message, holder)) if holder else message)


def _read_names(uow: UnitOfWork, endpoint: Endpoint, holders: Mapping[Any, Collection[Any]]) -> dict[Any, str]:
    """The names of the stored objects that have the values of drafts, by id of these, as far as the user may view
    them; one statement, none without holders.
    """
    pairs = {key: (endpoint.label, next(iter(others))) for key, others in holders.items() if others}
    names = names_in_context(uow, list(pairs.values())[:MAX_NAMED_OBJECTS]) if pairs else {}
    return {key: without_id(names[pair]) for key, pair in pairs.items() if pair in names}


@cached_in_registry
def _unique_fields(endpoint: Endpoint, *, references: bool) -> dict[str, Field]:
    """Returns the fields of unique columns, by column: foreign keys (``references``), or the others."""
    fields: dict[str, Field] = {}
    for name, column in endpoint.table.c.items():
        if not column.unique or column.primary_key or (column_info(column).foreign_key is not None) is not references:
            continue
        field = endpoint.fields.get(_field_name(endpoint, name))
        if field is not None:
            fields[name] = field
    return fields


def _fill_defaults(endpoint: Endpoint, names: set[str], drafts: Sequence[Draft]) -> None:
    """Sets the constant defaults of these columns in new objects: a default value can be taken too."""
    constants = {
        name: value
        for name, function, value in endpoint.defaults
        if name in names and function is None and value is not None
    }
    for draft in drafts:
        for name, value in constants.items():
            if draft.new and name not in draft.values and _field_name(endpoint, name) not in draft.errors:
                draft.values[name] = value


def _set_blank_to_null(drafts: Sequence[Draft], name: str) -> None:
    """Replaces a blank value of a unique column by null: several objects may have none."""
    for draft in drafts:
        if draft.values.get(name) == "":
            draft.values[name] = None


def check_model_level(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects values of unique foreign keys and model-level sets that are taken; fields with errors are not checked."""
    if not _may_conflict(endpoint, drafts):
        return
    sets = [*((name,) for name in _unique_fields(endpoint, references=True)), *_sets(endpoint, early=False)]
    holders = _holders(uow, endpoint, sets, drafts)
    for names in sets:
        fields = _model_level_fields(endpoint, names)
        valid = [draft for draft in drafts if draft.errors.keys().isdisjoint(fields)]
        for draft in _find_conflicts(names, valid, holders[names], drafts):
            draft.reject(*_model_level_error(endpoint, names))


def check_system_update(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects values that another object has, of drafts of the service itself: every unique column and set."""
    if not _may_conflict(endpoint, drafts):
        return
    columns = [name for name, column in endpoint.table.c.items() if column.unique and not column.primary_key]
    sets = [*((name,) for name in columns), *_sets(endpoint, early=True), *_sets(endpoint, early=False)]
    changed = [names for names in sets if _changing_drafts(names, drafts)]
    holders = _holders(uow, endpoint, changed, drafts)
    for names in changed:
        for draft in _find_conflicts(names, drafts, holders[names], drafts):
            draft.reject(*_model_level_error(endpoint, names))


def _model_level_fields(endpoint: Endpoint, names: Names) -> list[str]:
    """Returns the fields of a model-level set; a copied column (``copy_of``) counts as its source."""
    copies = {name: column_info(endpoint.table.c[name]).copy_of for name in names}
    return [_field_name(endpoint, name if copy is None else copy[0]) for name, copy in copies.items()]


def _model_level_error(endpoint: Endpoint, names: Names) -> tuple[str, str]:
    """Returns the field and the message of the error for a model-level set."""
    info, fields = _info(endpoint, names), _model_level_fields(endpoint, names)
    field = info.get("field") or (fields[0] if len(fields) == 1 else ALL)
    return field, info.get("message") or _model_level_message(endpoint, names)


def _model_level_message(endpoint: Endpoint, names: Names) -> str:
    fields = [_field_name(endpoint, name) for name in names]
    labels = [endpoint.fields[name].options()["label"] if name in endpoint.fields else name for name in fields]
    title = capitalize(endpoint.title)
    listed = f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
    return f"{title} with this {listed} already exists."


def in_lock_order(endpoint: Endpoint, drafts: Sequence[Draft]) -> Sequence[Draft]:
    """Sorts new objects by their unique values.

    An INSERT waits for a concurrent one of an equal value. In one order, lists with equal values do not deadlock.
    """
    if len(drafts) < 2:
        return drafts
    names = unique_columns(endpoint.table)
    return sorted(drafts, key=lambda draft: [str(draft.values.get(name)) for name in names])


@lru_cache("columns of tables", 2000)
def unique_columns(table: sa.Table) -> list[str]:
    """Returns the columns with a unique value, and those of unique sets."""
    constraints = [c for c in table.constraints if isinstance(c, sa.UniqueConstraint)]
    in_sets = {column.name for constraint in constraints for column in constraint.columns}
    return sorted(in_sets | {column.name for column in table.c if column.unique})


def _may_conflict(endpoint: Endpoint, drafts: Sequence[Draft]) -> bool:
    """True where a draft gets values of unique columns."""
    names = unique_columns(endpoint.table)
    return any(draft.new or draft.rechecked or not draft.values.keys().isdisjoint(names) for draft in drafts)


def _condition(endpoint: Endpoint, text: str) -> str:
    """The condition (CHECK) that an error names; those of the table when it names none of them."""
    checks = [item for item in endpoint.table.constraints if isinstance(item, sa.CheckConstraint)]
    named = [item for item in checks if (item.name and str(item.name) in text) or str(item.sqltext) in text]
    return " or ".join(str(item.sqltext) for item in named or checks) or "of the database"


def explain(endpoint: Endpoint, error: Exception) -> Invalid:
    """Returns the response to a constraint that the database found violated: a unique one, by a concurrent
    transaction, or the condition of a package's table.

    A request is first run again (:func:`netinv_core.http.errors.request_error_response`), and its rules then see that
    change. This error remains where it is not.
    """
    text = str(getattr(error, "orig", error))
    if _OF_A_CONDITION.search(text):
        return Invalid.whole(f"The values do not satisfy the condition {_condition(endpoint, text)}.")
    for constraint in endpoint.table.constraints:
        if not isinstance(constraint, sa.UniqueConstraint):
            continue
        names = tuple(column.name for column in constraint.columns)
        sqlite_columns = ", ".join(f"{endpoint.table.name}.{name}" for name in names)
        is_in_text = constraint.name and str(constraint.name) in text
        if not (is_in_text or text.endswith(f"failed: {sqlite_columns}")):
            continue
        if constraint.info.get("early") is False:
            return Invalid.field(*_model_level_error(endpoint, names))
        if len(names) == 1:
            field = _field_name(endpoint, names[0])
            return Invalid.field(field, f"{endpoint.title} with this {field} already exists.")
        return Invalid.whole(_message(endpoint, names))
    return Invalid.whole(CONCURRENT_CHANGE)
