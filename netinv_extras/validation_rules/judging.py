"""Judging of written objects by validation rules, within the transaction of the write.

The rows of a batch are asked which rules they break in one statement, whatever their number and that of the rules; in
a second one for rules of unique fields, after their rows are locked, so that two requests do not both find nothing.
Only rules are judged whose fields a write touches, and by all objects, whatever the writer may view.
"""

from __future__ import annotations

import dataclasses
import operator
import textwrap
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid
from netinv_core.models.base import CUSTOM_FIELD_PREFIX, table_of
from netinv_core.read import filter_words
from netinv_core.records import ObjectWarning
from netinv_core.sql import lookups
from netinv_core.write.draft import ALL
from netinv_extras.validation_rules import conditions
from netinv_extras.validation_rules.models import CONDITIONS, NOT_A_COLUMN, REFUSE, ValidationRule, column_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

RULES = "validation rules"
MAX_CHARACTERS = 200  # of a condition in a message
REQUIRED = "It does not match what is required: {}."
NOT_UNIQUE = "Another object has the same {}."
_table = table_of(ValidationRule)


@dataclasses.dataclass(frozen=True, eq=False)
class JudgedRule:
    """A rule of an endpoint, with the field that its message is shown at.

    ``applies`` is the condition that the rule is about an object, ``broken`` that this breaks it, for some objects, and
    ``broken_of_all`` the same for a whole table, of which each object is read once. ``reads`` are the
    fields on which that depends, ``None`` for any. One that ``refuses`` a write that breaks it rejects the draft.
    """

    key: Any
    refuses: bool
    name: str
    message: str
    shown_at: str
    unique: tuple[str, ...]
    applies: Any
    broken: Any
    broken_of_all: Any
    reads: frozenset[str] | None

    @property
    def text(self) -> str:
        """Message of a write that breaks the rule."""
        return f"{self.message} (validation rule “{self.name}”)"


@dataclasses.dataclass(frozen=True)
class Judgement:
    """The rules of an endpoint, with the SELECTs of ids and flags of the rules that objects break."""

    required: Sequence[JudgedRule]
    unique: Sequence[JudgedRule]
    select_required: Any
    select_unique: Any


def rows_of(uow: UnitOfWork) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The rules as stored, by the label of their content type; cached with the configuration."""

    def load(uow: UnitOfWork) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in uow.execute(sa.select(_table).order_by(_table.c.name)).mappings():
            found.setdefault(row["content_type"], []).append(dict(row))
        return found

    rows: Mapping[str, Sequence[Mapping[str, Any]]] = uow.cached_config(RULES, load)
    return rows


def rule_of(uow: UnitOfWork, endpoint: Endpoint, row: Mapping[str, Any]) -> JudgedRule:
    """A stored rule with its condition, as the user sees related objects.

    :raises Invalid: for one that its content type does not know any more
    """
    unique = tuple(row["unique_together"] or ())
    applies = conditions.condition(uow, endpoint, row["applies_to"])
    read = [conditions.fields_read(uow, endpoint, row[name]) for name in CONDITIONS]
    asked = frozenset(unique) if unique else read[-1]
    if unique:
        broken = sa.and_(applies, _is_double(uow, endpoint, unique, applies))
        of_all = endpoint.table.c.id.in_(_doubles(uow, endpoint, unique, applies))
        default = NOT_UNIQUE.format(", ".join(unique))
    else:
        broken = of_all = sa.and_(applies, lookups.negated(conditions.condition(uow, endpoint, row["requires"])))
        default = REQUIRED.format(_words(endpoint, row["requires"] or {}))
    return JudgedRule(
        row["id"],
        row["severity"] == REFUSE,
        row["name"],
        row["message"] or default,
        row["field_name"] or _field_of(endpoint, unique or sorted(asked or ())),
        unique,
        applies,
        broken,
        of_all,
        None if None in read else frozenset(unique).union(*filter(None, read)),
    )


def _words(endpoint: Endpoint, given: Mapping[str, Any]) -> str:
    """The names of a condition in words, as many as a message has room for. Values are those of the object's own fields
    alone: the writer may not be allowed to view the objects that others name.
    """
    texts = []
    for name, value in sorted(given.items()):
        label, lookup, values = filter_words.condition_words(endpoint, name, value, {})
        is_whole = not values or _has_own_values(endpoint, name)
        texts.append(f"{label} {lookup} {', '.join(values)}".rstrip() if is_whole else label)
    return textwrap.shorten("; ".join(texts), MAX_CHARACTERS, placeholder=" …")


def _has_own_values(endpoint: Endpoint, name: str) -> bool:
    """True for a name of a condition that compares a field of the object itself, which names no other object."""
    base = name.partition("__")[0]
    if base.startswith(CUSTOM_FIELD_PREFIX):
        return True
    field, item = endpoint.fields.get(base), endpoint.filters.get(base)
    if item is not None and item.relation is not None:
        return False
    is_value = isinstance(field, fields.Value) and field.python_type is not uuid.UUID
    return is_value or (item is not None and item.kind == "boolean")


def _field_of(endpoint: Endpoint, names: Sequence[str]) -> str:
    """The field that a refusal is shown at: the first of those that the rule asks for."""
    named = [name.removesuffix("_id") for name in names[:1]]
    return named[0] if named and named[0] in endpoint.writable else ALL


def _columns(endpoint: Endpoint, table: Any, names: Sequence[str]) -> list[Any]:
    """The columns of the fields of a rule.

    :raises Invalid: for a field that its content type does not have any more
    """
    found = {name: column_of(endpoint, table, name) for name in names}
    for name, column in found.items():
        if column is None:
            raise Invalid.field("unique_together", NOT_A_COLUMN.format(name))
    return list(found.values())


def _same_values(endpoint: Endpoint, other: Any, names: Sequence[str]) -> list[Any]:
    """The conditions that an object has the same values as another one, a row of the alias ``other`` of the table.

    Null and blank texts are no values.
    """
    columns = _columns(endpoint, endpoint.table, names)
    pairs = zip(columns, _columns(endpoint, other, names), strict=True)
    return [*(column == other_column for column, other_column in pairs), *_not_blank(columns)]


def _not_blank(columns: Sequence[Any]) -> list[Any]:
    """The conditions that texts are not blank."""
    return [column != "" for column in columns if lookups.python_type(column) is str]


def _is_double(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str], applies: Any) -> Any:
    """The condition that another object that the rule is about, and that the user may view, has the same values.

    Each object is compared with every other one: for few objects.
    """
    table = endpoint.table
    other = table.alias()
    meant = sa.select(table.c.id).where(applies).correlate(None)
    same = [*_same_values(endpoint, other, names), *permissions.visible(uow, endpoint, other)]
    return sa.exists().where(other.c.id != table.c.id, *same, other.c.id.in_(meant)).correlate(table)


def _doubles(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str], applies: Any) -> Any:
    """SELECT of the ids of the objects that the rule is about and that have the values of another one, of those that
    the user may view: each object is read once.
    """
    table = endpoint.table
    columns = _columns(endpoint, table, names)
    having = [*(column.is_not(None) for column in columns), *_not_blank(columns)]
    limits = permissions.visible(uow, endpoint, table)
    count = sa.func.count().over(partition_by=columns).label("number")
    counted = sa.select(table.c.id, count).where(applies, *having, *limits).correlate(None).subquery()
    return sa.select(counted.c.id).where(counted.c.number > 1)


def is_unique(uow: UnitOfWork, endpoint: Endpoint, rule: JudgedRule) -> Any:
    """The condition that no other object that a rule of unique fields is about has the values of an object."""
    return lookups.negated(_is_double(uow, endpoint, rule.unique, rule.applies))


def _judgement(uow: UnitOfWork, endpoint: Endpoint) -> Judgement:
    """The judgement of an endpoint by its enabled rules, without those whose conditions are not valid any more."""

    def load(uow: UnitOfWork) -> Judgement:
        rules = []
        for row in filter(operator.itemgetter("enabled"), rows_of(uow).get(endpoint.label, ())):
            try:
                rules.append(rule_of(uow.as_system(), endpoint, row))
            except Invalid:  # netinv check and the page of the rule name it
                continue
        required, unique = [r for r in rules if not r.unique], [r for r in rules if r.unique]
        flags = conditions.select_flags(endpoint, [rule.broken for rule in required])
        return Judgement(required, unique, flags, _select_doubles(endpoint, unique))

    judgement: Judgement = uow.cached_config((RULES, endpoint.label), load)
    return judgement


def _select_doubles(endpoint: Endpoint, rules: Sequence[JudgedRule]) -> Any:
    """SELECT of the ids of objects of a parameter with the number of a rule that they break: a join for each rule.

    Each with its id as text, the least of those of equal objects of the parameter, and how many others are equal.
    """
    if not rules:
        return None
    table = endpoint.table
    batch = sa.select(table.c.id).where(in_parameter(table.c.id)).cte("batch")
    parts = []
    for number, rule in enumerate(rules):
        other = table.alias()
        same = _same_values(endpoint, other, rule.unique)
        meant = sa.select(table.c.id).where(rule.applies).correlate(None)
        joined = table.join(other, sa.and_(other.c.id != table.c.id, *same))
        is_written = other.c.id.in_(sa.select(batch.c.id))
        least = sa.func.min(sa.case((is_written, lookups.as_text(other.c.id))))
        others = sa.func.sum(sa.case((is_written, 0), else_=1))
        own = lookups.as_text(table.c.id)
        part = sa.select(table.c.id, sa.literal_column(str(number)).label("rule"), own.label("own"), least, others)
        in_batch = table.c.id.in_(sa.select(batch.c.id))
        limited = part.select_from(joined).where(in_batch, rule.applies, other.c.id.in_(meant))
        parts.append(limited.group_by(table.c.id))
    return sa.union_all(*parts)


def _refused_doubles(drafts: Sequence[Draft], rule: JudgedRule, rows: Sequence[tuple[Any, ...]]) -> set[Any]:
    """The ids of the written objects that have the values of another one; of equal ones of the request all but the
    first, as of unique fields of the model.
    """
    touching = [draft.id for draft in drafts if conditions.touches(draft, rule.reads)]
    classes: dict[str, set[Any]] = {}
    taken = set()
    for key, _, own, least, others in rows:
        name = own if least is None else min(own, least)
        classes.setdefault(name, set()).add(key)
        if others or key not in touching:
            taken.add(name)
    refused = set()
    for name, members in classes.items():
        in_order = [key for key in touching if key in members]
        refused.update(in_order if name in taken else in_order[1:])
    return refused


def judge(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Rejects written objects that break a rule which reads what the write touches, or warns of them."""
    if endpoint.label not in rows_of(uow):
        return
    judgement = _judgement(uow, endpoint)
    touched = [rule for rule in judgement.unique if any(conditions.touches(draft, rule.reads) for draft in drafts)]
    if touched:
        keys = [rule.key for rule in touched]
        uow.execute(sa.select(_table.c.id).where(_table.c.id.in_(keys)).order_by(_table.c.id).with_for_update())
        found = uow.execute(judgement.select_unique, {"keys": [draft.id for draft in drafts]}).tuples().all()
        for number, rule in enumerate(judgement.unique):
            rows = [row for row in found if row[1] == number]
            broken = _refused_doubles(drafts, rule, rows) if rule.refuses else [row[0] for row in rows]
            _tell(uow, drafts, ((key, rule) for key in broken))
    if any(conditions.touches(draft, rule.reads) for rule in judgement.required for draft in drafts):
        rows = uow.execute(judgement.select_required, {"keys": [draft.id for draft in drafts]}).tuples()
        flagged = ((key, zip(judgement.required, flags, strict=True)) for key, *flags in rows)
        _tell(uow, drafts, ((key, rule) for key, flags in flagged for rule, is_broken in flags if is_broken))


def _tell(uow: UnitOfWork, drafts: Sequence[Draft], broken: Iterable[tuple[Any, JudgedRule]]) -> None:
    """Rejects the drafts that break a rule, of those that touch what it reads, or adds warnings about them."""
    by_id = {draft.id: draft for draft in drafts}
    for key, rule in broken:
        draft = by_id[key]
        if not conditions.touches(draft, rule.reads):
            continue
        if rule.refuses:
            draft.reject(rule.shown_at, rule.text)
        else:
            uow.change_set.warnings.append(ObjectWarning(draft.endpoint.label, key, rule.shown_at, rule.text))
