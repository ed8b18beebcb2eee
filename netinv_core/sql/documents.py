"""Members of JSON documents in paths of constraints: ``_custom_field_data__code``, ``site__cf_code__startswith``.

A column states by which names its members are reached (``member_names`` of
:class:`netinv_core.models.columns.ColumnInfo`): a name of its own before the member, or a prefix of the member's name.
Values are compared as JSON: the text ``"1"`` is not the number 1.
"""

from __future__ import annotations

import dataclasses
import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.json_sql import JsonDocument, JsonMember, encode
from netinv_core.models.columns import column_info
from netinv_core.sql.lookups import LOOKUPS, SUFFIXES, Condition, any_of, compare, convert_flag, negated

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

ORDERED = ("gt", "gte", "lt", "lte")


@dataclasses.dataclass(frozen=True)
class MemberPath:
    """A path to a member of a document: the relations ``steps`` to the endpoint ``owner``, its ``column``, the
    ``names`` of the member and of those within it, and the lookup.
    """

    steps: tuple[str, ...]
    owner: Endpoint
    column: str
    names: tuple[str, ...]
    lookup: str
    negated: bool

    def condition(self, document: JsonDocument, value: Any) -> Condition:
        """The condition that the member of a document compares to the value.

        :raises ValueError: for a value that the lookup does not take
        """
        found = _compare(document.member(*self.names), self.lookup, value)
        return negated(found) if self.negated else found


def parse(endpoint: Endpoint, keyword: str) -> MemberPath | None:
    """Parses a keyword; ``None`` when it does not lead to a document.

    :raises ValueError: for a document without the name of a member
    """
    owner: Endpoint | None = endpoint
    steps = keyword.split("__")
    for number, step in enumerate(steps):
        if owner is None:
            return None
        place = _document(owner, step)
        if place is not None:
            column, first, suffixed = place
            return _member(owner, tuple(steps[:number]), column, [*first, *steps[number + 1 :]], suffixed=suffixed)
        relation = owner.relations.get(step)
        owner = relation.target() if relation is not None else None
    return None


def _document(endpoint: Endpoint, step: str) -> tuple[str, list[str], bool] | None:
    """The column whose members a name leads to, with the member that the name has itself; ``None`` for another name."""
    for column in endpoint.table.c:
        for name in column_info(column).member_names:
            if step == name:
                return column.name, [], False
            if name.endswith("_") and step.startswith(name) and step != name:
                return column.name, [step.removeprefix(name)], True
    return None


def _member(owner: Endpoint, steps: tuple[str, ...], column: str, names: list[str], *, suffixed: bool) -> MemberPath:
    lookup, negate = "exact", False
    if len(names) > 1 and names[-1] in LOOKUPS:
        lookup = names.pop()
    elif suffixed and len(names) > 1 and names[-1] in SUFFIXES:
        lookup, negate = SUFFIXES[names.pop()]
    if not names:
        raise ValueError("The name of a member is required.")
    return MemberPath(steps, owner, column, tuple(names), lookup, negate)


def _compare(member: JsonMember, lookup: str, value: Any) -> Condition:
    if lookup == "exact":
        return _equal(member, value)
    if lookup == "isnull":
        return member.text.is_(None) if convert_flag(value) else member.text.is_not(None)
    if lookup == "in":
        if not isinstance(value, list | tuple | set):
            raise ValueError("A list of values is required.")
        return any_of([_equal(member, item) for item in value])
    if lookup == "contains" and isinstance(value, list | str):
        return _contains(member, value)
    if lookup in ORDERED and isinstance(value, int) and not isinstance(value, bool):
        return compare(lookup, member.driver, member.number, value)
    if not isinstance(value, str | uuid.UUID):
        raise ValueError("A number is required." if lookup in ORDERED else "A text is required.")
    return compare(lookup, member.driver, member.text, str(value))


def _equal(member: JsonMember, value: Any) -> Condition:
    """The condition that the member is a JSON value; null stands for a missing member too."""
    if value is None:
        return member.text.is_(None)
    if isinstance(value, str | uuid.UUID):
        return sa.and_(member.is_text, compare("exact", member.driver, member.text, str(value)))
    if isinstance(value, int) and not isinstance(value, bool):
        return compare("exact", member.driver, member.number, value)
    return member.equals(value)


def _contains(member: JsonMember, value: Any) -> Condition:
    """The condition that a text contains a text, or a list contains the value, or all values of a list."""
    items = value if isinstance(value, list) else [value]
    in_list = [compare("contains", member.driver, member.json, encode(item)) for item in items]
    listed = sa.and_(member.is_list, *in_list)
    if isinstance(value, list):
        return listed
    in_text = compare("contains", member.driver, member.text, value)
    return sa.or_(sa.and_(member.is_text, in_text), listed)
