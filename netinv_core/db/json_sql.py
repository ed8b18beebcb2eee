"""SQL expressions over members of JSON documents, for the three databases.

A document is a column with a JSON object; ``name`` is a member of it, or several names lead to one within members.
Neither a missing member nor a null one has a value; :func:`has` tells them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from netinv_core.models.types import LongText

_NUMBERS = ("integer", "real", "INTEGER", "DOUBLE", "DECIMAL", "UNSIGNED INTEGER")


def encoded(value: Any) -> str:
    """Returns a value as JSON text."""
    return orjson.dumps(value).decode()


def decoded(text: str) -> Any:
    """Parses a JSON text.

    :raises ValueError: for invalid JSON
    """
    return orjson.loads(text)


Name = str | Sequence[str]  # of a member, or of one within members


def _names(name: Name) -> tuple[str, ...]:
    return (name,) if isinstance(name, str) else tuple(name)


def _path(name: Name) -> str:
    return "".join(["$", *(f".{encoded(part)}" for part in _names(name))])


def _inner(dialect: str, document: Any, name: Name) -> Any:
    """The member as JSON; SQL NULL when it is missing."""
    if dialect == "postgresql":
        return sa.func.jsonb_extract_path(document, *_names(name), type_=sa.Text())
    return sa.func.json_extract(document, _path(name), type_=sa.Text())


def _kind(dialect: str, document: Any, name: Name) -> Any:
    if dialect == "postgresql":
        return sa.func.jsonb_typeof(_inner(dialect, document, name))
    if dialect == "sqlite":
        return sa.func.json_type(document, _path(name))
    return sa.func.json_type(_inner(dialect, document, name))


def has(dialect: str, document: Any, name: Name) -> Any:
    """The condition that the member exists, even if it is null."""
    return _kind(dialect, document, name).is_not(None)


def is_text(dialect: str, document: Any, name: Name) -> Any:
    """The condition that the member is a text; false without a member."""
    return sa.func.coalesce(sa.func.lower(_kind(dialect, document, name)).in_(("string", "text")), sa.false())


def is_list(dialect: str, document: Any, name: Name) -> Any:
    """The condition that the member is a list; false without a member."""
    return sa.func.coalesce(sa.func.lower(_kind(dialect, document, name)) == "array", sa.false())


def text(dialect: str, document: Any, name: Name) -> Any:
    """The member as text: a string unquoted, any other value as JSON; SQL NULL without a value."""
    if dialect == "postgresql":
        return sa.collate(sa.func.jsonb_extract_path_text(document, *_names(name), type_=LongText()), "C")
    inner = _inner(dialect, document, name)
    if dialect != "sqlite":
        inner = sa.case((_kind(dialect, document, name) == "NULL", None), else_=sa.func.json_unquote(inner))
    return sa.type_coerce(inner, LongText())


def json(dialect: str, document: Any, name: Name) -> Any:
    """The member as JSON text; SQL NULL when it is missing."""
    inner = _inner(dialect, document, name)
    if dialect == "postgresql":
        return sa.collate(sa.cast(inner, LongText()), "C")
    if dialect == "sqlite":
        kind = _kind(dialect, document, name)
        inner = sa.case((kind.in_(("true", "false")), kind), (kind.is_not(None), sa.func.json_quote(inner)))
    return sa.type_coerce(inner, LongText())


def number(dialect: str, document: Any, name: Name) -> Any:
    """The member as an integer; SQL NULL when it is not a number."""
    kind, inner = _kind(dialect, document, name), _inner(dialect, document, name)
    if dialect == "postgresql":
        value = sa.case((kind == "number", sa.cast(text(dialect, document, name), sa.Numeric())))
    else:
        value = sa.case((kind.in_(_NUMBERS), inner if dialect == "sqlite" else sa.cast(inner, sa.Numeric(38, 0))))
    return sa.type_coerce(value, sa.BigInteger())


def equals(dialect: str, document: Any, name: Name, value: Any) -> Any:
    """The condition that the member is this JSON value; except on PostgreSQL, the order of members counts."""
    if dialect == "postgresql":
        return _inner(dialect, document, name) == sa.cast(sa.literal(encoded(value), sa.Text()), JSONB())
    return sa.func.replace(json(dialect, document, name), " ", "") == encoded(value).replace(" ", "")


def setting(dialect: str, document: Any, values: Mapping[str, Any]) -> Any:
    """The document with these values as members, a few dozen at most; SQL expressions must return JSON text."""
    texts = {
        name: value if isinstance(value, sa.ColumnElement) else sa.literal(encoded(value), sa.Text())
        for name, value in values.items()
    }
    if dialect == "postgresql":
        pairs = [part for name, value in texts.items() for part in (sa.cast(name, sa.Text()), sa.cast(value, JSONB()))]
        return sa.cast(document, JSONB()).op("||")(sa.func.jsonb_build_object(*pairs))
    arguments: list[Any] = []
    for name, value in texts.items():
        parsed = sa.func.json(value) if dialect == "sqlite" else sa.func.json_extract(value, "$")
        arguments += [_path(name), parsed]
    return sa.func.json_set(document, *arguments)


def without(dialect: str, document: Any, names: Collection[str]) -> Any:
    """The document without these members, a few dozen at most."""
    if dialect == "postgresql":
        return sa.cast(document, JSONB()).op("-")(sa.cast(list(names), ARRAY(sa.Text())))
    return sa.func.json_remove(document, *map(_path, names))
