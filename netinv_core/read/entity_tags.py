"""Entity tags (RFC 9110, 8.8.3): strong validators of representations.

The tag of an object is ``"<revision>-<digest>"``. The **revision** stands for the object's own data and is the same in
every API version and shape: each write of the object changes it, and changes of other objects do not. The **digest** is
that of the representation as JSON, with whatever it shows of other objects. GET compares whole tags; conditions of
writes compare revisions, so that a renamed site does not get in the way of a change of its devices.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.fields import ContentTypeList, GenericForeignKey, Reference, ToMany
from netinv_core.sql.plans import custom_plan, plan_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork

LAST_UPDATED = "last_updated"
INCLUDED = "etag"  # the value of the parameter ``include`` that shows tags
_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_SEPARATOR = re.compile(r"[ \t]*(?:,[ \t]*)+|[ \t]*\Z")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DIGEST_SIZE = 12  # bytes


@dataclasses.dataclass(frozen=True)
class TagList:
    """The entity tags of a condition: ``strong`` and ``weak`` ones, or any (``*``)."""

    any: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    def names(self, tag: str) -> bool:
        """True if a representation with this tag is meant (weak comparison, RFC 9110, 8.8.3.2)."""
        return self.any or tag.strip('"') in self.strong | self.weak

    def names_revision(self, revision: str) -> bool:
        """True if an object of this revision is meant. Weak tags mean none (strong comparison)."""
        return self.any or any(tag.partition("-")[0] == revision for tag in self.strong)


def parse(text: str) -> TagList:
    """Parses the value of ``If-Match`` or ``If-None-Match``: ``*``, or tags separated by commas.

    :raises ValueError: for anything else
    """
    text = text.strip(" \t,")
    if text == "*":
        return TagList(any=True)
    found: dict[bool, set[str]] = {True: set(), False: set()}
    position = 0
    while position < len(text) or not position:
        tag = _TAG.match(text, position)
        separator = _SEPARATOR.match(text, tag.end()) if tag else None
        if tag is None or separator is None:
            raise ValueError(text)
        found[tag[1] is not None].add(tag[2])
        position = separator.end()
    return TagList(strong=frozenset(found[False]), weak=frozenset(found[True]))


def digest(content: bytes) -> str:
    """The digest of bytes, in hexadecimal."""
    return hashlib.blake2b(content, digest_size=_DIGEST_SIZE).hexdigest()


def tag_of(revision: str, content: bytes) -> str:
    """The entity tag, in its quotes, of a representation with these bytes."""
    return f'"{revision}-{digest(content)}"' if revision else f'"{digest(content)}"'


def revision_of(endpoint: Endpoint, representation: Mapping[str, Any]) -> str:
    """The revision of an object, from its full representation of the newest version.

    It is the time of the last update, which strictly increases (:func:`later`). Objects without one have a digest of
    the columns and lists that they show.
    """
    if has_time(endpoint):
        return _of_time(representation[LAST_UPDATED])
    own = {name: _replace_by_ids(representation[name]) for name in _own_fields(endpoint) if name in representation}
    return digest(orjson.dumps(own, str, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))


def _own_fields(endpoint: Endpoint) -> dict[str, Field]:
    """The fields of an object's own data: its columns and lists. Those of a generic foreign key are type and id."""
    return {
        name: field
        for name, field in endpoint.fields.items()
        if not (field.opt_in or field.costly or field.write_only or isinstance(field, GenericForeignKey))
        and (isinstance(field, ToMany | ContentTypeList) or _is_column(endpoint, name))
    }


def row_plan(endpoint: Endpoint) -> ReadPlan | None:
    """The plan that reads what :func:`revision_of` needs from the object's row alone; ``None`` where that needs other
    rows too.
    """
    plan = custom_plan(endpoint, "revision", functools.partial(_own_data, endpoint))
    return plan if plan.reads_one_table else None


def _own_data(endpoint: Endpoint, plan: ReadPlan, place: JoinedTable) -> Reader:
    """Reader of the own data, with the ids of references in place of nested objects."""
    fields = _own_fields(endpoint)
    if has_time(endpoint):
        fields = {LAST_UPDATED: endpoint.fields[LAST_UPDATED]}
    readers = {name: _own_reader(field, plan, place) for name, field in fields.items()}
    return lambda row, page: {name: read(row, page) for name, read in readers.items()}


def _own_reader(field: Field, plan: ReadPlan, place: JoinedTable) -> Reader:
    if type(field) is not Reference or field.target is None:
        return field.reader(plan, place)
    index = plan.column(place, field.attribute)
    return lambda row, page: row[index]


def has_time(endpoint: Endpoint) -> bool:
    """True for an endpoint whose objects have the time of their last update."""
    return LAST_UPDATED in endpoint.table.c and LAST_UPDATED in endpoint.fields


def revisions(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], conditions: Sequence[Any] = ()) -> Any:
    """Returns the revisions of objects by id, where their full representations are not at hand.

    One statement; objects without a time of the last update take the statements of a full representation.
    """
    if not has_time(endpoint):
        return {key: revision_of(endpoint, item) for key, item in plan_of(endpoint).fetch(uow, keys, conditions)}
    table = endpoint.table
    clause = in_parameter(table.c.id)
    statement = sa.select(table.c.id, table.c[LAST_UPDATED]).where(clause, *conditions)
    return {key: _of_time(time) for key, time in uow.execute(statement, {"keys": list(keys)})}


def later(now: datetime.datetime, before: datetime.datetime | None) -> datetime.datetime:
    """The time of an update: ``now``, but always after that of the update before, which another clock may have given.

    The object's row is locked, so no two updates of an object have the same time.
    """
    return now if before is None or now > before else before + _MICROSECOND


def _of_time(time: datetime.datetime) -> str:
    return f"{(time - _EPOCH) // _MICROSECOND:x}"


def _is_column(endpoint: Endpoint, name: str) -> bool:
    attribute = endpoint.fields[name].attribute or name
    return attribute in endpoint.table.c or f"{attribute}_id" in endpoint.table.c


def _replace_by_ids(value: Any) -> Any:
    """A value of a representation with the ids of nested objects in place of their members."""
    if isinstance(value, list):
        return sorted((_replace_by_ids(part) for part in value), key=str)
    return value.get("id", value.get("value", value)) if isinstance(value, dict) else value
