"""Members of JSON documents in SQL: one place for what the three databases spell differently.

A document is a column that holds a JSON object; ``name`` is a member of it. A member that is missing and one that is null both have
no value; :func:`has` tells them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from netinv_core.models.types import LongText

_NUMBERS = ("integer", "real", "INTEGER", "DOUBLE", "DECIMAL", "UNSIGNED INTEGER")


def encoded(value: Any) -> str:
    """A value as JSON."""
    return orjson.dumps(value).decode()


def decoded(text: str) -> Any:
    """The value of a JSON text.

    :raises ValueError: when it is none
    """
    return orjson.loads(text)


def _path(name: str) -> str:
    return f"$.{encoded(name)}"


def _inner(dialect: str, document: Any, name: str) -> Any:
    """The member as JSON, SQL NULL when it is missing."""
    if dialect == "postgresql":
        return sa.func.jsonb_extract_path(document, name, type_=sa.Text())
    return sa.func.json_extract(document, _path(name), type_=sa.Text())


def _kind(dialect: str, document: Any, name: str) -> Any:
    if dialect == "postgresql":
        return sa.func.jsonb_typeof(_inner(dialect, document, name))
    if dialect == "sqlite":
        return sa.func.json_type(document, _path(name))
    return sa.func.json_type(_inner(dialect, document, name))


def has(dialect: str, document: Any, name: str) -> Any:
    """Whether there is such a member, be it null."""
    return _kind(dialect, document, name).is_not(None)


def text(dialect: str, document: Any, name: str) -> Any:
    """The member as text: a string as it is, anything else as JSON; SQL NULL without a value."""
    if dialect == "postgresql":
        return sa.collate(sa.func.jsonb_extract_path_text(document, name, type_=LongText()), "C")
    found = _inner(dialect, document, name)
    if dialect != "sqlite":
        found = sa.case((_kind(dialect, document, name) == "NULL", None), else_=sa.func.json_unquote(found))
    return sa.type_coerce(found, LongText())


def json(dialect: str, document: Any, name: str) -> Any:
    """The member as the text of its JSON; SQL NULL when it is missing."""
    inner = _inner(dialect, document, name)
    if dialect == "postgresql":
        return sa.collate(sa.cast(inner, LongText()), "C")
    if dialect == "sqlite":
        kind = _kind(dialect, document, name)
        inner = sa.case((kind.in_(("true", "false")), kind), (kind.is_not(None), sa.func.json_quote(inner)))
    return sa.type_coerce(inner, LongText())


def number(dialect: str, document: Any, name: str) -> Any:
    """The member as an integer, SQL NULL when it is no number."""
    kind, inner = _kind(dialect, document, name), _inner(dialect, document, name)
    if dialect == "postgresql":
        found = sa.case((kind == "number", sa.cast(text(dialect, document, name), sa.Numeric())))
    else:
        found = sa.case((kind.in_(_NUMBERS), inner if dialect == "sqlite" else sa.cast(inner, sa.Numeric(38, 0))))
    return sa.type_coerce(found, sa.BigInteger())


def equals(dialect: str, document: Any, name: str, value: Any) -> Any:
    """Whether the member is this JSON value (objects with their members in the order in which they are kept, where that is a matter of it)."""
    if dialect == "postgresql":
        return _inner(dialect, document, name) == sa.cast(sa.literal(encoded(value), sa.Text()), JSONB())
    return sa.func.replace(json(dialect, document, name), " ", "") == encoded(value).replace(" ", "")


def setting(dialect: str, document: Any, values: Mapping[str, Any]) -> Any:
    """The document with these values as members, a few dozen at most; an expression among them must be the text of JSON."""
    given = {name: value if isinstance(value, sa.ColumnElement) else sa.literal(encoded(value), sa.Text()) for name, value in values.items()}
    if dialect == "postgresql":
        pairs = [part for name, value in given.items() for part in (sa.cast(name, sa.Text()), sa.cast(value, JSONB()))]
        return sa.cast(document, JSONB()).op("||")(sa.func.jsonb_build_object(*pairs))
    parsed = {name: sa.func.json(value) if dialect == "sqlite" else sa.func.json_extract(value, "$") for name, value in given.items()}
    return sa.func.json_set(document, *[part for name, value in parsed.items() for part in (_path(name), value)])


def without(dialect: str, document: Any, names: Collection[str]) -> Any:
    """The document without these members, a few dozen at most."""
    if dialect == "postgresql":
        return sa.cast(document, JSONB()).op("-")(sa.cast(list(names), ARRAY(sa.Text())))
    return sa.func.json_remove(document, *map(_path, names))
