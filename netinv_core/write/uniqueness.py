"""Uniqueness, said before the database says it: single columns with their fields, sets of columns after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.errors import Invalid
from netinv_core.model import known
from netinv_core.write.draft import ALL, NON_FIELD

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.registry import Endpoint
    from netinv_core.write.draft import Draft


def _sets(endpoint: Endpoint, *, early: bool) -> list[tuple[str, ...]]:
    found = [c for c in endpoint.table.constraints if isinstance(c, sa.UniqueConstraint) and "early" in c.info]
    found.sort(key=lambda c: c._creation_order)
    return [tuple(column.name for column in c.columns) for c in found if c.info["early"] is early]


def _message(endpoint: Endpoint, names: tuple[str, ...]) -> str:
    """What is said of an early set: its own words, or the usual ones."""
    own = [c.info.get("message") for c in endpoint.table.constraints if isinstance(c, sa.UniqueConstraint) and tuple(c.columns.keys()) == names]
    listed = ", ".join(_field_name(endpoint, name) for name in names)
    return (own and own[0]) or f"The fields {listed} must make a unique set."


def _field_name(endpoint: Endpoint, attribute: str) -> str:
    return attribute.removesuffix("_id") if known(endpoint.table.c[attribute]).link is not None else attribute


def _clashing(context: Context, endpoint: Endpoint, names: tuple[str, ...], drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts whose values of ``names`` another object, or an earlier draft, has; one statement."""
    concerned = [d for d in drafts if d.changed(*names) and all(d[name] is not None for name in names)]
    if not concerned:
        return []
    table = endpoint.table
    conditions = [table.c[name].in_({draft[name] for draft in concerned}) for name in names]
    rows = context.execute(sa.select(table.c.id, *[table.c[name] for name in names]).where(*conditions))
    holders: dict[tuple[Any, ...], set[Any]] = {}
    for key, *values in rows:
        holders.setdefault(tuple(values), set()).add(key)
    moved = {draft.id: tuple(draft[name] for name in names) for draft in drafts if not draft.new}
    found, claimed = [], set()
    for draft in concerned:
        values = tuple(draft[name] for name in names)
        others = {key for key in holders.get(values, ()) if key != draft.id and moved.get(key, values) == values}
        if others or values in claimed:
            found.append(draft)
        claimed.add(values)
    return found


def check_fields(context: Context, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects values of unique columns that are taken."""
    for name, column in endpoint.table.c.items():
        if not column.unique or column.primary_key:
            continue
        field = endpoint.fields.get(_field_name(endpoint, name))
        if field is None:
            continue
        if column.nullable:
            _blank_is_none(drafts, name)
        label = field.label or field.name.replace("_", " ")
        for draft in _clashing(context, endpoint, (name,), [d for d in drafts if field.name not in d.errors]):
            draft.reject(field.name, f"{endpoint.title} with this {label} already exists.")


def _blank_is_none(drafts: Sequence[Draft], name: str) -> None:
    """Many objects may lack what must be unique, so blank cannot be a value of it."""
    for draft in drafts:
        if draft.values.get(name) == "":
            draft.values[name] = None


def check_early_sets(context: Context, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects sets of values that are taken, where the set belongs to the fields; one with an optional field only when no
    other is taken."""
    for names in _sets(endpoint, early=True):
        optional = any(endpoint.table.c[name].nullable for name in names)
        for draft in _clashing(context, endpoint, names, [draft for draft in drafts if not (optional and NON_FIELD in draft.errors)]):
            draft.reject(NON_FIELD, _message(endpoint, names))


def check_late_sets(context: Context, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects sets of values that are taken, where the model as a whole says so; fields that are wrong by themselves are no part of it."""
    for names in _sets(endpoint, early=False):
        fields = [_field_name(endpoint, name) for name in names]
        for draft in _clashing(context, endpoint, names, [draft for draft in drafts if draft.errors.keys().isdisjoint(fields)]):
            draft.reject(ALL, _late_message(endpoint, names))


def _late_message(endpoint: Endpoint, names: tuple[str, ...]) -> str:
    fields = [_field_name(endpoint, name) for name in names]
    labels = [endpoint.fields[name].options()["label"] if name in endpoint.fields else name for name in fields]
    title = endpoint.title[:1].upper() + endpoint.title[1:]
    listed = f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
    return f"{title} with this {listed} already exists."


def unique_without(model: Any, names: tuple[str, ...], absent: str, field: str, message: str) -> Any:
    """The rule that the columns ``names`` are unique together among the objects without the reference ``absent``.

    A set of unique columns of which one is null says nothing of the others in a database. Objects that lack one of ``names`` are free.
    """

    def rule(context: Context, drafts: Sequence[Draft]) -> None:
        lacking = [draft for draft in drafts if draft[absent] is None and all(draft[name] for name in names)]
        moving = [draft for draft in lacking if draft.changed(absent, *names)]
        if not moving:
            return
        table, own = model.__table__, {draft.id for draft in drafts}
        columns = [table.c[name] for name in names]
        near = [column.in_({draft[column.name] for draft in moving}) for column in columns]
        rows = context.execute(sa.select(table.c.id, *columns).where(*near, table.c[absent].is_(None)))
        taken = {tuple(values) for key, *values in rows if key not in own}
        taken |= {tuple(draft[name] for name in names) for draft in lacking if draft not in moving}
        for draft in moving:
            values = tuple(draft[name] for name in names)
            if values in taken:
                draft.reject(field, message)
            taken.add(values)

    return rule


def explain(endpoint: Endpoint, error: Exception) -> Invalid:
    """The answer to a constraint that the database found violated after all (a change made at the same time)."""
    text = str(getattr(error, "orig", error))
    for constraint in endpoint.table.constraints:
        if not isinstance(constraint, sa.UniqueConstraint):
            continue
        names = [column.name for column in constraint.columns]
        sqlite = ", ".join(f"{endpoint.table.name}.{name}" for name in names)
        if (constraint.name and str(constraint.name) in text) or text.endswith(f"failed: {sqlite}"):
            if len(names) == 1:
                field = _field_name(endpoint, names[0])
                return Invalid.field(field, f"{endpoint.title} with this {field} already exists.")
            return Invalid.whole(_message(endpoint, tuple(names)))
    if "foreign key" in text.lower():
        return Invalid.whole("An object referred to was deleted at the same time.")
    return Invalid.whole("The change conflicts with another one made at the same time.")
