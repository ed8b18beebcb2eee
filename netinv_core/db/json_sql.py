"""SQL expressions over members of JSON documents, for the three databases.

A document is a column with a JSON object; ``name`` is a member of it, or several names lead to one within members.
Neither a missing member nor a null one has a value; :func:`has` tells them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from netinv_core.driver import driver_of
from netinv_core.driver.json_members import encode as encode
from netinv_core.models.types import LongText


def decode(text: str) -> Any:
    """Parses a JSON text.

    :raises ValueError: for invalid JSON
    """
    return orjson.loads(text)


Name = str | Sequence[str]  # of a member, or of one within members


def _names(name: Name) -> tuple[str, ...]:
    return (name,) if isinstance(name, str) else tuple(name)


def has(dialect: str, document: Any, name: Name) -> Any:
    """The condition that the member exists, even if it is null."""
    return _kind(dialect, document, name).is_not(None)


def is_text(dialect: str, document: Any, name: Name) -> Any:
    """The condition that the member is a text; false without a member."""
    return sa.func.coalesce(sa.func.lower(_kind(dialect, document, name)).in_(("string", "text")), sa.false())


def is_list(dialect: str, document: Any, name: Name) -> Any:
    """The condition that the member is a list; false without a member."""
    return sa.func.coalesce(sa.func.lower(_kind(dialect, document, name)) == "array", sa.false())


def _kind(dialect: str, document: Any, name: Name) -> Any:
    return driver_of(dialect).members.kind(document, _names(name))


def text(dialect: str, document: Any, name: Name) -> Any:
    """The member as text: a string unquoted, any other value as JSON; SQL NULL without a value."""
    return driver_of(dialect).members.text(document, _names(name), LongText())


def json(dialect: str, document: Any, name: Name) -> Any:
    """The member as JSON text; SQL NULL when it is missing."""
    return driver_of(dialect).members.json(document, _names(name), LongText())


def number(dialect: str, document: Any, name: Name) -> Any:
    """The member as an integer; SQL NULL when it is not a number."""
    return sa.type_coerce(driver_of(dialect).members.number(document, _names(name), LongText()), sa.BigInteger())


def equals(dialect: str, document: Any, name: Name, value: Any) -> Any:
    """The condition that the member is this JSON value; except on PostgreSQL, the order of members counts."""
    return driver_of(dialect).members.equals(document, _names(name), value, LongText())


def setting(dialect: str, document: Any, values: Mapping[str, Any]) -> Any:
    """The document with these values as members, a few dozen at most; SQL expressions must return JSON text."""
    texts = {
        name: value if isinstance(value, sa.ColumnElement) else sa.literal(encode(value), sa.Text())
        for name, value in values.items()
    }
    return driver_of(dialect).members.setting(document, texts)


def without(dialect: str, document: Any, names: Collection[str]) -> Any:
    """The document without these members, a few dozen at most."""
    return driver_of(dialect).members.without(document, list(names))
