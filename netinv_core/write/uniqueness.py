"""Uniqueness, said before the database says it: single columns with their fields, sets of columns after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.errors import Invalid
from netinv_core.models.columns import column_info
from netinv_core.write.draft import ALL, NON_FIELD

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


Names = tuple[str, ...]
Holders = dict[Names, dict[tuple[Any, ...], set[Any]]]


def _sets(endpoint: Endpoint, *, early: bool) -> list[Names]:
    found = [c for c in endpoint.table.constraints if isinstance(c, sa.UniqueConstraint) and "early" in c.info]
    found.sort(key=lambda c: c._creation_order)
    return [tuple(column.name for column in c.columns) for c in found if c.info["early"] is early]


def _info(endpoint: Endpoint, names: Names) -> dict[str, Any]:
    """The options with which a set of columns was declared unique; empty for a single column."""
    sets = [c for c in endpoint.table.constraints if isinstance(c, sa.UniqueConstraint) and tuple(c.columns.keys()) == names]
    return next((dict(constraint.info) for constraint in sets), {})


def _message(endpoint: Endpoint, names: Names) -> str:
    """The error of an early set: its own message, or the usual one."""
    listed = ", ".join(_field_name(endpoint, name) for name in names)
    return _info(endpoint, names).get("message") or f"The fields {listed} must make a unique set."


def _field_name(endpoint: Endpoint, attribute: str) -> str:
    return attribute.removesuffix("_id") if column_info(endpoint.table.c[attribute]).foreign_key is not None else attribute


def _concerned(names: Names, drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if draft.changed(*names) and all(draft[name] is not None for name in names)]


def _holders(uow: UnitOfWork, endpoint: Endpoint, sets: Sequence[Names], drafts: Sequence[Draft]) -> Holders:
    """Which objects have the values that drafts want, for each set of columns; one statement for all sets."""
    table = endpoint.table
    holders: Holders = {names: {} for names in sets}
    wanted: dict[Names, list[Draft]] = {}
    for names in sets:
        concerned = _concerned(names, drafts)
        apart = _of_what_is_made(uow, endpoint, names, concerned)
        if apart:
            _add_made(uow, endpoint, names, holders[names])
        if others := [draft for draft in concerned if draft not in apart]:
            wanted[names] = others
    columns = [table.c[name] for name in dict.fromkeys(name for names in wanted for name in names)]
    selects = [
        sa.select(sa.literal_column(str(number)), table.c.id, *columns).where(*[table.c[name].in_({d[name] for d in found}) for name in names])
        for number, (names, found) in enumerate(wanted.items())
    ]
    asked, places = list(wanted), {column.name: place for place, column in enumerate(columns)}
    for number, key, *values in uow.execute(sa.union_all(*selects) if len(selects) > 1 else selects[0]) if selects else ():
        names = asked[number]
        holders[names].setdefault(tuple(values[places[name]] for name in names), set()).add(key)
    return holders


def _of_what_is_made(uow: UnitOfWork, endpoint: Endpoint, names: Names, drafts: Sequence[Draft]) -> set[Draft]:
    """The drafts that refer, by one of the columns, to an object made just now: what else refers to that was made since, and is known."""
    targets = {name: endpoint.registry.target(column_info(endpoint.table.c[name]).foreign_key) for name in names}
    made = {name: found for name, target in targets.items() if target is not None and (found := uow.new_drafts.get(target.table))}
    return {draft for draft in drafts if any(draft[name] in found for name, found in made.items())}


def _add_made(uow: UnitOfWork, endpoint: Endpoint, names: Names, holders: dict[tuple[Any, ...], set[Any]]) -> None:
    for key, draft in uow.new_drafts.get(endpoint.table, {}).items():
        holders.setdefault(tuple(draft[name] for name in names), set()).add(key)


def _clashing(names: Names, drafts: Sequence[Draft], holders: Mapping[tuple[Any, ...], set[Any]]) -> list[Draft]:
    """The drafts whose values of ``names`` another object, or an earlier draft, has."""
    moved = {draft.id: tuple(draft[name] for name in names) for draft in drafts if not draft.new}
    found, claimed = [], set()
    for draft in _concerned(names, drafts):
        values = tuple(draft[name] for name in names)
        others = {key for key in holders.get(values, ()) if key != draft.id and moved.get(key, values) == values}
        if others or values in claimed:
            found.append(draft)
        claimed.add(values)
    return found


def check_field_level(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects values of unique columns that are taken; then, of drafts without errors, sets of values that belong to the fields.

    A set with an optional field is looked at only when no other is taken.
    """
    fields = _unique_fields(endpoint, references=False)
    for name in fields:
        what = column_info(endpoint.table.c[name])
        if endpoint.table.c[name].nullable or (what.kind == "slug" and not what.slug_of):  # such a blank slug is made by the resource's `prepare`
            _blank_is_none(drafts, name)
    sets = _sets(endpoint, early=True)
    _fill_defaults(endpoint, {name for names in sets for name in names}, drafts)
    holders = _holders(uow, endpoint, [*((name,) for name in fields), *sets], drafts)
    for name, field in fields.items():
        label = field.label or field.name.replace("_", " ")
        for draft in _clashing((name,), [d for d in drafts if field.name not in d.errors], holders[name,]):
            draft.reject(field.name, column_info(endpoint.table.c[name]).taken_error or f"{endpoint.title} with this {label} already exists.")
    sound = [draft for draft in drafts if not draft.errors]
    for names in sets:
        optional = any(endpoint.table.c[name].nullable for name in names)
        sent = {_field_name(endpoint, name) for name in names} if _info(endpoint, names).get("when_sent") else set()
        asked = [draft for draft in sound if not (optional and NON_FIELD in draft.errors) and sent <= draft.body.keys()]
        for draft in _clashing(names, asked, holders[names]):
            draft.reject(NON_FIELD, _message(endpoint, names))


def _unique_fields(endpoint: Endpoint, *, references: bool) -> dict[str, Field]:
    """The fields of unique columns, by column: the ``references`` among them, or the others."""
    unique = [name for name, column in endpoint.table.c.items() if column.unique and not column.primary_key]
    wanted = [name for name in unique if (column_info(endpoint.table.c[name]).foreign_key is not None) is references]
    return {name: field for name in wanted if (field := endpoint.fields.get(_field_name(endpoint, name))) is not None}


def _fill_defaults(endpoint: Endpoint, names: set[str], drafts: Sequence[Draft]) -> None:
    """Gives new objects the constant defaults of these columns: what is not sent may be taken as well."""
    constants = {name: value for name, make, value in endpoint.defaults if name in names and make is None and value is not None}
    for draft in drafts:
        for name, value in constants.items():
            if draft.new and name not in draft.values and _field_name(endpoint, name) not in draft.errors:
                draft.values[name] = value


def _blank_is_none(drafts: Sequence[Draft], name: str) -> None:
    """Many objects may lack what must be unique, so blank cannot be a value of it."""
    for draft in drafts:
        if draft.values.get(name) == "":
            draft.values[name] = None


def check_model_level(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects references and sets of values that are taken, where the model as a whole says so; fields that are wrong are no part of it."""
    sets = [*((name,) for name in _unique_fields(endpoint, references=True)), *_sets(endpoint, early=False)]
    holders = _holders(uow, endpoint, sets, drafts)
    for names in sets:
        fields = _late_fields(endpoint, names)
        for draft in _clashing(names, [draft for draft in drafts if draft.errors.keys().isdisjoint(fields)], holders[names]):
            draft.reject(*_late_error(endpoint, names))


def _late_fields(endpoint: Endpoint, names: Names) -> list[str]:
    """The fields that a late set is about: none is looked at again that is wrong already."""
    sources = [copy[0] if (copy := column_info(endpoint.table.c[name]).copy_of) is not None else name for name in names]
    return [_field_name(endpoint, name) for name in sources]


def _late_error(endpoint: Endpoint, names: Names) -> tuple[str, str]:
    """The field and the message with which a draft is rejected whose late set is taken."""
    info, fields = _info(endpoint, names), _late_fields(endpoint, names)
    return info.get("field") or (fields[0] if len(fields) == 1 else ALL), info.get("message") or _late_message(endpoint, names)


def _late_message(endpoint: Endpoint, names: Names) -> str:
    fields = [_field_name(endpoint, name) for name in names]
    labels = [endpoint.fields[name].options()["label"] if name in endpoint.fields else name for name in fields]
    title = endpoint.title[:1].upper() + endpoint.title[1:]
    listed = f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
    return f"{title} with this {listed} already exists."


def explain(endpoint: Endpoint, error: Exception) -> Invalid:
    """The answer to a constraint that the database found violated after the rules: by a change made at the same time.

    A request is run again first (:func:`netinv_core.http.errors.refused`), and its rules then see that change; this is what is left to say
    where it is not.
    """
    text = str(getattr(error, "orig", error))
    for constraint in endpoint.table.constraints:
        if not isinstance(constraint, sa.UniqueConstraint):
            continue
        names = tuple(column.name for column in constraint.columns)
        sqlite = ", ".join(f"{endpoint.table.name}.{name}" for name in names)
        if not ((constraint.name and str(constraint.name) in text) or text.endswith(f"failed: {sqlite}")):
            continue
        if constraint.info.get("early") is False:
            return Invalid.field(*_late_error(endpoint, names))
        if len(names) == 1:
            field = _field_name(endpoint, names[0])
            return Invalid.field(field, f"{endpoint.title} with this {field} already exists.")
        return Invalid.whole(_message(endpoint, names))
    if "foreign key" in text.lower():
        return Invalid.whole("An object referred to was deleted at the same time.")
    return Invalid.whole("The change conflicts with another one made at the same time.")
