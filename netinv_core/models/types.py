"""Column types that behave alike on PostgreSQL, MariaDB/MySQL and SQLite.

Text compares and sorts by code point everywhere (collation ``C``, ``utf8mb4_nopad_bin`` or ``utf8mb4_0900_bin``,
``BINARY``), times are aware and in UTC, and the packed forms sort as bytes.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, LargeBinary, String, Text, Uuid
from sqlalchemy.types import TypeDecorator, TypeEngine

from netinv_core.driver import driver_of

_UNKNOWN = uuid.SafeUUID.unknown
_set_attribute = object.__setattr__  # a UUID refuses its own
Parts = Callable[[str, bool, bool], list[str]]


class Chars(TypeDecorator[str]):
    """A short string of at most ``length`` characters, compared by code point.

    With ``canonical``, a function from any notation of a value to the one that is stored, filters, constraints and
    references find the value in each notation. It raises ``ValueError`` for other texts. ``parts`` serves lookups of a
    part (``ic``, ``isw``, ``iew`` …): ``parts(text, starts, ends)`` returns the stored notations of a part that begins
    the value (``starts``) or ends it (``ends``); an empty list if the text cannot be a part.
    """

    impl = String
    cache_ok = True

    def __init__(
        self, length: int, canonical: Callable[[Any], str | None] | None = None, parts: Parts | None = None
    ) -> None:
        super().__init__(length)
        self.length, self.canonical, self.parts = length, canonical, parts

    @property
    def python_type(self) -> type:
        return str

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(driver_of(dialect.name).chars(dialect, self.length))


class Key(Uuid[uuid.UUID]):
    """A UUID; where the database has no type for it, 32 hexadecimal digits, read in half of the time of ``Uuid``."""

    def result_processor(self, dialect: Dialect, coltype: Any) -> Any:
        return None if dialect.supports_native_uuid else _read_uuid


def _read_uuid(digits: str | None) -> uuid.UUID | None:
    """The UUID of 32 hexadecimal digits. Its own constructor, which takes other notations too, is most of the time of
    reading a row.
    """
    if digits is None:
        return None
    key = uuid.UUID.__new__(uuid.UUID)
    _set_attribute(key, "int", int(digits, 16))
    _set_attribute(key, "is_safe", _UNKNOWN)
    return key


class LongText(TypeDecorator[str]):
    """A string without a limit, compared by code point."""

    impl = Text
    cache_ok = True

    @property
    def python_type(self) -> type:
        return str

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(driver_of(dialect.name).long_text(dialect))


class Timestamp(TypeDecorator[datetime.datetime]):
    """An instant, microsecond resolution; always aware and UTC in Python."""

    impl = DateTime
    cache_ok = True

    @property
    def python_type(self) -> type:
        return datetime.datetime

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(driver_of(dialect.name).time_type)

    def process_bind_param(self, value: datetime.datetime | None, dialect: Dialect) -> datetime.datetime | None:
        if value is None or driver_of(dialect.name).times_are_aware:
            return value
        return value.astimezone(datetime.UTC).replace(tzinfo=None)

    def result_processor(self, dialect: Dialect, coltype: Any) -> Any:
        # PostgreSQL's sessions run in UTC and its times come aware: nothing is left to do, a thousand times a page.
        return None if driver_of(dialect.name).times_are_aware else super().result_processor(dialect, coltype)

    def process_result_value(self, value: datetime.datetime | None, dialect: Dialect) -> datetime.datetime | None:
        return None if value is None else value.replace(tzinfo=datetime.UTC)


def utc(moment: datetime.datetime) -> datetime.datetime:
    """Converts an instant to UTC. One without an offset is taken as UTC.

    :raises ValueError: for an instant that lies outside of the calendar's years 1 to 9999 in UTC
    """
    if moment.tzinfo is None:
        return moment.replace(tzinfo=datetime.UTC)
    try:
        return moment.astimezone(datetime.UTC)
    except OverflowError:
        raise ValueError("The date lies outside of the years 1 to 9999.") from None


class Packed(TypeDecorator[bytes]):
    """At most ``length`` bytes that sort and range as bytes."""

    impl = LargeBinary
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length

    @property
    def python_type(self) -> type:
        return bytes

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(driver_of(dialect.name).bytes_type(self.length))


class Binary(TypeDecorator[bytes]):
    """Bytes without a limit."""

    impl = LargeBinary
    cache_ok = True

    @property
    def python_type(self) -> type:
        return bytes

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(driver_of(dialect.name).binary_type)


class Json(TypeDecorator[Any]):
    """A JSON document; ``None`` is SQL NULL."""

    impl = JSON
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(none_as_null=True)

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(driver_of(dialect.name).json_type)
