"""SQL expressions over members of JSON documents, for the three databases."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import orjson
import sqlalchemy as sa

from netinv_core.driver import Driver
from netinv_core.driver.json_members import JsonMembers
from netinv_core.driver.json_members import encode as encode
from netinv_core.models.types import LongText


def decode(text: str) -> Any:
    """Parses a JSON text.

    :raises ValueError: for invalid JSON
    """
    return orjson.loads(text)


@dataclasses.dataclass(frozen=True)
class JsonMember:
    """A member of a JSON document, as SQL expressions; several ``names`` lead to one within members.

    Neither a missing member nor a null one has a value; :attr:`exists` tells them apart.
    """

    driver: Driver
    document: Any
    names: tuple[str, ...]

    @property
    def exists(self) -> Any:
        """The condition that it exists, even if it is null."""
        return self._kind.is_not(None)

    @property
    def is_text(self) -> Any:
        """The condition that it is a text; false where it is missing."""
        return sa.func.coalesce(sa.func.lower(self._kind).in_(("string", "text")), sa.false())

    @property
    def is_list(self) -> Any:
        """The condition that it is a list; false where it is missing."""
        return sa.func.coalesce(sa.func.lower(self._kind) == "array", sa.false())

    @property
    def text(self) -> Any:
        """Its text: a string unquoted, any other value as JSON; SQL NULL without a value."""
        return self._expressions.text(self.document, self.names, LongText())

    @property
    def json(self) -> Any:
        """Its JSON text; SQL NULL when it is missing."""
        return self._expressions.json(self.document, self.names, LongText())

    @property
    def number(self) -> Any:
        """Its value as an integer; SQL NULL when it is not a number."""
        return sa.type_coerce(self._expressions.number(self.document, self.names, LongText()), sa.BigInteger())

    def equals(self, value: Any) -> Any:
        """The condition that it is this JSON value; except on PostgreSQL, the order of members counts."""
        return self._expressions.equals(self.document, self.names, value, LongText())

    @property
    def _kind(self) -> Any:
        return self._expressions.kind(self.document, self.names)

    @property
    def _expressions(self) -> JsonMembers:
        return self.driver.members


@dataclasses.dataclass(frozen=True)
class JsonDocument:
    """A column with a JSON object, or an expression that returns one."""

    driver: Driver
    document: Any

    def member(self, *names: str) -> JsonMember:
        """A member; several names lead to one within members."""
        return JsonMember(self.driver, self.document, names)

    def setting(self, values: Mapping[str, Any]) -> Any:
        """The document with these values as members, a few dozen at most; SQL expressions must return JSON text."""
        texts = {
            name: value if isinstance(value, sa.ColumnElement) else sa.literal(encode(value), sa.Text())
            for name, value in values.items()
        }
        return self.driver.members.setting(self.document, texts)

    def without(self, names: Collection[str]) -> Any:
        """The document without these members, a few dozen at most."""
        return self.driver.members.without(self.document, list(names))
