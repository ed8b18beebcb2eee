"""Colander types and nodes: one parsed value for each field of a body, with the recorded messages."""

from __future__ import annotations

import datetime
import decimal
import functools
import re
import uuid
from collections.abc import Callable
from typing import Any

import colander

from netinv_core.models.columns import Choices, ColumnInfo
from netinv_core.models.types import utc

REQUIRED = "This field is required."
NOT_NULL = "This field may not be null."
NOT_BLANK = "This field may not be blank."
_TRUE = {"t", "T", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "1", 1}
_FALSE = {"f", "F", "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", "0", 0}
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_LABEL = "[a-z0-9\u00a1-\uffff](?:[a-z0-9\u00a1-\uffff-]{0,61}[a-z0-9\u00a1-\uffff])?"
_TOP = "(?:[a-z\u00a1-\uffff][a-z\u00a1-\uffff-]{0,61}[a-z\u00a1-\uffff]|xn--[a-z0-9]{1,59})"
_HOST = rf"(?:{_OCTET}(?:\.{_OCTET}){{3}}|\[[0-9a-f:.]+\]|(?:{_LABEL}\.)+{_TOP}\.?|localhost)"
# RFC 3986: scheme, user, host, port, and whatever follows
_URL = re.compile(rf"[a-z][a-z0-9.+-]*://(?:[^\s:@/]+(?::[^\s:@/]*)?@)?{_HOST}(?::\d{{2,5}})?(?:[/?#]\S*)?\Z", re.IGNORECASE)


MAX_MATCHED = 10_000  # characters of a text that is compared with a pattern
DEEPEST = 29  # MariaDB takes documents of 31 levels, and the change log puts what is sent into one
NO_NULL = "Null characters are not allowed."
TOO_DEEP = f"Values are nested in no more than {DEEPEST} levels."


def unkeepable(value: Any, levels: int = DEEPEST) -> str | None:
    """Why a JSON value cannot be kept: it holds the character U+0000, which not every database takes, or is deeper than it can be written again."""
    if isinstance(value, str):
        return NO_NULL if "\x00" in value else None
    if not isinstance(value, dict | list):
        return None
    if not levels:
        return TOO_DEEP
    inner = (part for pair in value.items() for part in pair) if isinstance(value, dict) else value
    return next((found for part in inner if (found := unkeepable(part, levels - 1)) is not None), None)


class _Type(colander.SchemaType):  # type: ignore[misc]
    """A type whose ``parse`` gives the value or raises ``ValueError(message)``."""

    def deserialize(self, node: colander.SchemaNode, cstruct: Any) -> Any:
        try:
            return self.parse(cstruct)
        except ValueError as error:
            raise colander.Invalid(node, str(error)) from None

    def parse(self, value: Any) -> Any:
        raise NotImplementedError


class Chars(_Type):
    """Text, trimmed; numbers are taken as their digits."""

    def __init__(self, blank: bool = True) -> None:
        self.blank = blank

    def parse(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError("Not a valid string.")
        found = str(value).strip()
        if not found and not self.blank:
            raise ValueError(NOT_BLANK)
        return found


class SlugText(Chars):
    """Text for a slug: whatever else is sent is refused by the pattern."""

    def parse(self, value: Any) -> str:
        return super().parse(str([value]) if isinstance(value, list | dict | bool) else value)


class PatternedText(Chars):
    """Text for a URL or an e-mail address: whatever else is sent is refused by the pattern."""

    def parse(self, value: Any) -> str:
        return super().parse(str(value))


_TEXTS = {"slug": SlugText, "url": PatternedText, "email": PatternedText}


class Whole(_Type):
    """An integer, also given as text or as a float without a fraction."""

    def parse(self, value: Any) -> int:
        shown = str(value)
        if isinstance(value, bool) or len(shown) > 1000:
            raise ValueError("A valid integer is required.")
        try:
            return int(re.sub(r"\.0*\s*$", "", shown))
        except ValueError:
            raise ValueError("A valid integer is required.") from None


class Real(_Type):
    """A floating point number."""

    def parse(self, value: Any) -> float:
        try:
            if isinstance(value, bool):
                raise ValueError
            found = float(value)
        except (TypeError, ValueError):
            raise ValueError("A valid number is required.") from None
        if found != found or found in (float("inf"), float("-inf")):
            raise ValueError("A valid number is required.")
        return found


class DecimalNumber(_Type):
    """A decimal of ``digits`` digits in all, ``places`` of them after the point."""

    def __init__(self, digits: int, places: int) -> None:
        self.digits, self.places = digits, places

    def parse(self, value: Any) -> decimal.Decimal:
        try:
            found = decimal.Decimal(str(value).strip())
        except decimal.DecimalException:
            raise ValueError("A valid number is required.") from None
        if not found.is_finite():
            raise ValueError("A valid number is required.")
        _, digits, exponent = found.as_tuple()
        places = max(0, -int(exponent))
        total = max(len(digits) + max(0, int(exponent)), places)
        if total > self.digits:
            raise ValueError(f"Ensure that there are no more than {self.digits} digits in total.")
        if places > self.places:
            raise ValueError(f"Ensure that there are no more than {self.places} decimal places.")
        if total - places > self.digits - self.places:
            before = self.digits - self.places
            raise ValueError(f"Ensure that there are no more than {before} digits before the decimal point.")
        return found.quantize(decimal.Decimal(1).scaleb(-self.places))


class Flag(_Type):
    """A boolean, also as the usual words."""

    def parse(self, value: Any) -> bool:
        try:
            if value in _TRUE:
                return True
            if value in _FALSE:
                return False
        except TypeError:
            pass
        raise ValueError("Must be a valid boolean.")


class Date(_Type):
    """A date, ``YYYY-MM-DD``."""

    def parse(self, value: Any) -> datetime.date:
        try:
            return datetime.date.fromisoformat(value)
        except (TypeError, ValueError):
            raise ValueError("Date has wrong format. Use one of these formats instead: YYYY-MM-DD.") from None


class DateTime(_Type):
    """An instant in ISO 8601; without an offset it is UTC."""

    def parse(self, value: Any) -> datetime.datetime:
        try:
            return utc(datetime.datetime.fromisoformat(value))
        except (TypeError, ValueError):
            raise ValueError("Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].") from None


class Identifier(_Type):
    """A UUID, as text or as the number that it is."""

    def parse(self, value: Any) -> uuid.UUID:
        try:
            whole = value if isinstance(value, int) and not isinstance(value, bool) else -1
            return uuid.UUID(value) if isinstance(value, str) else uuid.UUID(int=whole)
        except ValueError:
            raise ValueError("Must be a valid UUID.") from None


class OneOf(_Type):
    """A value of a closed set; ``{value, label}`` as it is read is taken too. A ``plain`` set words its errors in its own way."""

    def __init__(self, choices: Choices, blank: bool, plain: bool = False) -> None:
        self.by_text = {str(value): value for value, _ in choices.items}
        self.blank = blank
        self.plain = plain

    def parse(self, value: Any) -> Any:
        if isinstance(value, dict) and set(value) == {"value", "label"}:
            value = value["value"]
        if value == "":
            if self.blank:
                return ""
            raise ValueError(NOT_BLANK if not self.plain else '"" is not a valid choice.')
        if isinstance(value, dict | list) and not self.plain:
            raise ValueError('Value must be passed directly (e.g. "foo": 123); do not use a dictionary or list.')
        try:
            return self.by_text[str(value)]
        except KeyError:
            raise ValueError(f'"{value}" is not a valid choice.' if self.plain else f"{value} is not a valid choice.") from None


class Document(_Type):
    """Any JSON value."""

    def parse(self, value: Any) -> Any:
        return value


class Parsed(_Type):
    """Whatever the model's own function makes of the value (``ValueError`` says what is wrong)."""

    def __init__(self, parse: Any) -> None:
        self._parse = parse

    def parse(self, value: Any) -> Any:
        try:
            return self._parse(value)
        except (TypeError, AttributeError):  # a JSON type that the function does not expect
            raise ValueError("Not a valid value.") from None


def _bounds(known: ColumnInfo, least: int | None = None, most: int | None = None) -> list[Any]:
    low = least if known.minimum is None else known.minimum
    high = most if known.maximum is None else known.maximum
    if low is None and high is None:
        return []
    low_error, high_error = "Ensure this value is greater than or equal to ${min}.", "Ensure this value is less than or equal to ${max}."
    return [colander.Range(min=low, max=high, min_err=low_error, max_err=high_error)]


def _text_rules(known: ColumnInfo, length: int | None) -> list[Any]:
    found: list[Any] = []
    if known.pattern is not None:
        found.append(_unless_long(functools.partial(colander.Regex, known.pattern), known.pattern_error))
    if length is not None or known.min_length is not None:
        found.append(
            colander.Length(
                min=known.min_length,
                max=length,
                min_err="Ensure this field has at least ${min} characters.",
                max_err="Ensure this field has no more than ${max} characters.",
            )
        )
    if known.kind == "email":
        found.append(_unless_long(colander.Email, "Enter a valid email address."))
    if known.kind == "url":
        found.append(_unless_long(functools.partial(colander.Regex, _URL), "Enter a valid URL."))
    return found


def _unless_long(validator: Callable[..., Any], message: str | None) -> Any:
    """A validator that refuses a very long text without matching it: ``re`` takes a hundred bytes of memory for each repetition."""
    check = validator(msg=message)

    def bounded(node: colander.SchemaNode, value: Any) -> None:
        if len(value) > MAX_MATCHED:
            raise colander.Invalid(node, message)
        check(node, value)

    return bounded


def node(name: str, python_type: type, known: ColumnInfo, *, length: int | None, digits: tuple[int, int] | None) -> Any:
    """The colander node for a column: its type and validators."""
    rules: list[Any] = []
    kind: _Type
    if known.parse is not None:
        kind = Parsed(known.parse)
    elif known.choices is not None:
        kind = OneOf(known.choices, known.blank, known.plain)
    elif known.kind == "json":
        kind = Document()
    elif python_type is bool:
        kind = Flag()
    elif python_type is int:
        kind, rules = Whole(), _bounds(known, -(2**31), 2**31 - 1)
    elif python_type is float:
        kind, rules = Real(), _bounds(known)
    elif python_type is decimal.Decimal:
        kind = DecimalNumber(*(digits or (38, 10)))
    elif python_type is datetime.datetime:
        kind = DateTime()
    elif python_type is datetime.date:
        kind = Date()
    elif python_type is uuid.UUID:
        kind = Identifier()
    else:
        kind = _TEXTS.get(known.kind, Chars)(known.blank)
        rules = _text_rules(known, length)
    validator = colander.All(*rules) if rules else None
    return colander.SchemaNode(kind, name=name, validator=_skipping_blank(validator) if rules else None)


def _skipping_blank(validator: Any) -> Any:
    def check(node: Any, value: Any) -> None:
        if value != "":
            validator(node, value)

    return check


def parse(node: Any, value: Any) -> Any:
    """The parsed value.

    :raises colander.Invalid: with the messages for this field (see :func:`messages`)
    """
    return node.deserialize(value)


def messages(error: colander.Invalid) -> list[str]:
    """The messages of a node's error, in order."""
    found: list[str] = []
    for text in error.messages():
        found.append(text.interpolate() if hasattr(text, "interpolate") else str(text))
    return found or [REQUIRED]
