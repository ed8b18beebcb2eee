"""Expressions over members of JSON documents, one class for each kind of database (:mod:`netinv_core.db.json_sql`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

HYPHEN = "MariaDB cannot compare a member whose name begins with a hyphen: {}"
_NUMBERS = ("integer", "real", "INTEGER", "DOUBLE", "DECIMAL", "UNSIGNED INTEGER")
Names = Sequence[str]  # lead to a member, or to one within members


def encode(value: Any) -> str:
    """Returns a value as JSON text."""
    return orjson.dumps(value).decode()


def quoted_path(names: Names) -> str:
    """The path of a member, with its names in quotes."""
    return "".join(["$", *(f".{encode(part)}" for part in names)])


class JsonMembers:
    """Expressions of MariaDB and MySQL. ``text_type`` is the type of texts."""

    def path(self, names: Names) -> str:
        """The path of a member.

        :raises ValueError: for a name that begins with a hyphen, which MariaDB takes for the sign of an index
        """
        for name in names:
            if name.startswith("-"):
                raise ValueError(HYPHEN.format(name))
        return quoted_path(names)

    def member(self, document: Any, names: Names) -> Any:
        """The member as JSON; SQL NULL when it is missing."""
        return sa.func.json_extract(document, self.path(names), type_=sa.Text())

    def kind(self, document: Any, names: Names) -> Any:
        """The name of the member's type; SQL NULL when it is missing."""
        return sa.func.json_type(self.member(document, names))

    def text(self, document: Any, names: Names, text_type: Any) -> Any:
        """The member as text: a string unquoted, any other value as JSON; SQL NULL without a value."""
        unquoted = sa.func.json_unquote(self.member(document, names))
        return sa.type_coerce(sa.case((self.kind(document, names) == "NULL", None), else_=unquoted), text_type)

    def json(self, document: Any, names: Names, text_type: Any) -> Any:
        """The member as JSON text; SQL NULL when it is missing."""
        return sa.type_coerce(self.member(document, names), text_type)

    def number(self, document: Any, names: Names, text_type: Any) -> Any:
        """The member as a number; SQL NULL when it is none."""
        inner = sa.cast(self.member(document, names), sa.Numeric(38, 0))
        return sa.case((self.kind(document, names).in_(_NUMBERS), inner))

    def equals(self, document: Any, names: Names, value: Any, text_type: Any) -> Any:
        """The condition that the member is this JSON value; the order of members counts."""
        return sa.func.replace(self.json(document, names, text_type), " ", "") == encode(value).replace(" ", "")

    def setting(self, document: Any, texts: Mapping[str, Any]) -> Any:
        """The document with these members, which are JSON texts."""
        pairs = [part for name, value in texts.items() for part in (self.path([name]), self.parse(value))]
        return sa.func.json_set(document, *pairs)

    def parse(self, text: Any) -> Any:
        """A JSON text as JSON."""
        return sa.func.json_extract(text, "$")

    def without(self, document: Any, names: Names) -> Any:
        """The document without these members."""
        return sa.func.json_remove(document, *(self.path([name]) for name in names))


class SqliteMembers(JsonMembers):
    """Expressions of SQLite."""

    def path(self, names: Names) -> str:
        return quoted_path(names)

    def kind(self, document: Any, names: Names) -> Any:
        return sa.func.json_type(document, self.path(names))

    def text(self, document: Any, names: Names, text_type: Any) -> Any:
        return sa.type_coerce(self.member(document, names), text_type)

    def json(self, document: Any, names: Names, text_type: Any) -> Any:
        kind, inner = self.kind(document, names), self.member(document, names)
        quoted = sa.case((kind.in_(("true", "false")), kind), (kind.is_not(None), sa.func.json_quote(inner)))
        return sa.type_coerce(quoted, text_type)

    def number(self, document: Any, names: Names, text_type: Any) -> Any:
        return sa.case((self.kind(document, names).in_(_NUMBERS), self.member(document, names)))

    def parse(self, text: Any) -> Any:
        return sa.func.json(text)


class PostgresqlMembers(JsonMembers):
    """Expressions of PostgreSQL."""

    def member(self, document: Any, names: Names) -> Any:
        return sa.func.jsonb_extract_path(document, *names, type_=sa.Text())

    def kind(self, document: Any, names: Names) -> Any:
        return sa.func.jsonb_typeof(self.member(document, names))

    def text(self, document: Any, names: Names, text_type: Any) -> Any:
        return sa.collate(sa.func.jsonb_extract_path_text(document, *names, type_=text_type), "C")

    def json(self, document: Any, names: Names, text_type: Any) -> Any:
        return sa.collate(sa.cast(self.member(document, names), text_type), "C")

    def number(self, document: Any, names: Names, text_type: Any) -> Any:
        value = sa.cast(self.text(document, names, text_type), sa.Numeric())
        return sa.case((self.kind(document, names) == "number", value))

    def equals(self, document: Any, names: Names, value: Any, text_type: Any) -> Any:
        """The order of members does not count."""
        return self.member(document, names) == sa.cast(sa.literal(encode(value), sa.Text()), JSONB())

    def setting(self, document: Any, texts: Mapping[str, Any]) -> Any:
        pairs = [part for name, value in texts.items() for part in (sa.cast(name, sa.Text()), sa.cast(value, JSONB()))]
        return sa.cast(document, JSONB()).op("||")(sa.func.jsonb_build_object(*pairs))

    def without(self, document: Any, names: Names) -> Any:
        return sa.cast(document, JSONB()).op("-")(sa.cast(list(names), ARRAY(sa.Text())))
