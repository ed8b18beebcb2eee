"""Colander types and nodes that parse the fields of request bodies."""

from __future__ import annotations

import datetime
import decimal
import functools
import math
import re
import uuid
from collections.abc import Callable
from typing import Any

import colander

from netinv_core import dates
from netinv_core.errors import Message
from netinv_core.models.columns import Choices, ColumnInfo
from netinv_core.models.types import utc
from netinv_core.nearest import did_you_mean, nearest_choices

REQUIRED = "This field is required."
NOT_NULL = "This field may not be null."
NOT_BLANK = "This field may not be blank."
_TRUE = {"t", "T", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "1", 1}
_FALSE = {"f", "F", "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", "0", 0}
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_LABEL = "[a-z0-9\u00a1-\uffff](?:[a-z0-9\u00a1-\uffff-]{0,61}[a-z0-9\u00a1-\uffff])?"
_TOP = "(?:[a-z\u00a1-\uffff][a-z\u00a1-\uffff-]{0,61}[a-z\u00a1-\uffff]|xn--[a-z0-9]{1,59})"
_HOST = rf"(?:{_OCTET}(?:\.{_OCTET}){{3}}|\[[0-9a-f:.]+\]|(?:{_LABEL}\.)+{_TOP}\.?|localhost)"
# RFC 3986: scheme, user information, host, port; then path, query or fragment. RFC 8089: a file needs no host.
_URL = re.compile(
    rf"(?:[a-z][a-z0-9.+-]*://(?:[^\s:@/]+(?::[^\s:@/]*)?@)?{_HOST}(?::\d{{2,5}})?(?:[/?#]\S*)?|file:///\S+)\Z",
    re.IGNORECASE,
)


MAX_PATTERN_TEXT_LENGTH = 10_000  # characters of a text that is matched with a regular expression
MAX_DEPTH = 29  # MariaDB stores documents of 31 levels, and the change log nests the values in one
NO_NULL = "Null characters are not allowed."
TOO_DEEP = f"Values are nested in no more than {MAX_DEPTH} levels."


def storage_error(value: Any, levels: int = MAX_DEPTH) -> str | None:
    """Returns the error of a JSON value that cannot be stored on every database, or ``None``.

    Such a value contains the character U+0000, or is nested in more than ``levels`` levels.
    """
    if isinstance(value, str):
        return NO_NULL if "\x00" in value else None
    if not isinstance(value, dict | list):
        return None
    if not levels:
        return TOO_DEEP
    inner = (part for pair in value.items() for part in pair) if isinstance(value, dict) else value
    errors = (storage_error(part, levels - 1) for part in inner)
    return next((error for error in errors if error is not None), None)


class _Type(colander.SchemaType):  # type: ignore[misc]
    """Base of types; ``parse`` returns the value or raises ``ValueError(message)``."""

    def deserialize(self, node: colander.SchemaNode, cstruct: Any) -> Any:
        try:
            return self.parse(cstruct)
        except ValueError as error:
            raise colander.Invalid(node, error.args[0]) from None

    def parse(self, value: Any) -> Any:
        raise NotImplementedError


class TextNode(_Type):
    """Text without surrounding white space; numbers are converted to text."""

    def __init__(self, blank: bool = True) -> None:
        self.blank = blank

    def parse(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError("Not a valid string.")
        text = str(value).strip()
        if not text and not self.blank:
            raise ValueError(NOT_BLANK)
        return text


class SlugText(TextNode):
    """Text for a slug, never blank; other JSON types are converted to text that the pattern rejects."""

    def __init__(self, blank: bool = False) -> None:
        super().__init__(blank=False)

    def parse(self, value: Any) -> str:
        return super().parse(str([value]) if isinstance(value, list | dict | bool) else value)


class PatternedText(TextNode):
    """Text for a URL or an e-mail address; other JSON types are converted to text that the pattern rejects."""

    def parse(self, value: Any) -> str:
        return super().parse(str(value))


_TEXTS = {"slug": SlugText, "url": PatternedText, "email": PatternedText}


class Integer(_Type):
    """An integer, also as text or as a float without a fraction."""

    def parse(self, value: Any) -> int:
        text = str(value)
        if isinstance(value, bool) or len(text) > 1000:
            raise ValueError("A valid integer is required.")
        try:
            return int(re.sub(r"\.0*\s*$", "", text))
        except ValueError:
            raise ValueError("A valid integer is required.") from None


class Float(_Type):
    """A finite floating point number, also as text."""

    def parse(self, value: Any) -> float:
        try:
            if isinstance(value, bool):
                raise ValueError
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError("A valid number is required.") from None
        if not math.isfinite(number):
            raise ValueError("A valid number is required.")
        return number


class DecimalNumber(_Type):
    """A decimal number of at most ``digits`` digits in total, ``places`` of them after the decimal point."""

    def __init__(self, digits: int, places: int) -> None:
        self.digits, self.places = digits, places

    def parse(self, value: Any) -> decimal.Decimal:
        try:
            number = decimal.Decimal(str(value).strip())
        except decimal.DecimalException:
            raise ValueError("A valid number is required.") from None
        if not number.is_finite():
            raise ValueError("A valid number is required.")
        _, digits, exponent = number.as_tuple()
        places = max(0, -int(exponent))
        total = max(len(digits) + max(0, int(exponent)), places)
        if total > self.digits:
            raise ValueError(f"Ensure that there are no more than {self.digits} digits in total.")
        if places > self.places:
            raise ValueError(f"Ensure that there are no more than {self.places} decimal places.")
        if total - places > self.digits - self.places:
            before = self.digits - self.places
            raise ValueError(f"Ensure that there are no more than {before} digits before the decimal point.")
        return number.quantize(decimal.Decimal(1).scaleb(-self.places))


class Boolean(_Type):
    """A boolean, also as a word such as ``yes`` or ``off``."""

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
            return dates.parse_date(value)
        except (TypeError, ValueError):
            raise ValueError("Date has wrong format. Use one of these formats instead: YYYY-MM-DD.") from None


class DateTime(_Type):
    """A date and time in ISO 8601 (:mod:`netinv_core.dates`), in UTC unless it has an offset."""

    def parse(self, value: Any) -> datetime.datetime:
        try:
            return utc(dates.parse_time(value))
        except (TypeError, ValueError):
            formats = "YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]"
            message = f"Datetime has wrong format. Use one of these formats instead: {formats}."
            raise ValueError(message) from None


class Identifier(_Type):
    """A UUID, as text or as an integer of 128 bits."""

    def parse(self, value: Any) -> uuid.UUID:
        try:
            integer = value if isinstance(value, int) and not isinstance(value, bool) else -1
            return uuid.UUID(value) if isinstance(value, str) else uuid.UUID(int=integer)
        except ValueError:
            raise ValueError("Must be a valid UUID.") from None


class OneOf(_Type):
    """One of a set of choices, also as the object ``{value, label}`` of representations.

    ``plain`` choices are read as the value alone, and have other error messages.
    """

    def __init__(self, choices: Choices, blank: bool, plain: bool = False) -> None:
        self.by_text = {str(value): value for value, _ in choices.items}
        self.named = tuple((str(value), str(label)) for value, label in choices.items if value not in (None, ""))
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
            text = f'"{value}"' if self.plain else f"{value}"
            message = f"{text} is not a valid choice."

            def explain() -> str:
                return message + did_you_mean(nearest_choices(str(value), self.named))

            raise ValueError(Message(message, explain)) from None


class JsonValue(_Type):
    """Any JSON value."""

    def parse(self, value: Any) -> Any:
        return value


class Parsed(_Type):
    """The result of a function of the model (``ColumnInfo.parse``), which raises ``ValueError(message)``."""

    def __init__(self, parse: Any) -> None:
        self._parse = parse

    def parse(self, value: Any) -> Any:
        try:
            return self._parse(value)
        except (TypeError, AttributeError):  # a JSON type that the function does not expect
            raise ValueError("Not a valid value.") from None


def _bounds(info: ColumnInfo, minimum: int | None = None, maximum: int | None = None) -> list[Any]:
    """Returns the validator of the column's bounds; the parameters are the default bounds."""
    low = minimum if info.minimum is None else info.minimum
    high = maximum if info.maximum is None else info.maximum
    if low is None and high is None:
        return []
    low_error = "Ensure this value is greater than or equal to ${min}."
    high_error = "Ensure this value is less than or equal to ${max}."
    return [colander.Range(min=low, max=high, min_err=low_error, max_err=high_error)]


def _text_rules(info: ColumnInfo, length: int | None) -> list[Any]:
    """Returns the validators of a text: pattern, length, e-mail address or URL."""
    rules: list[Any] = []
    if info.pattern is not None:
        rules.append(_bound_length(functools.partial(colander.Regex, info.pattern), info.pattern_error))
    if length is not None or info.min_length is not None:
        rules.append(
            colander.Length(
                min=info.min_length,
                max=length,
                min_err="Ensure this field has at least ${min} characters.",
                max_err="Ensure this field has no more than ${max} characters.",
            )
        )
    if info.kind == "email":
        rules.append(_bound_length(colander.Email, "Enter a valid email address."))
    if info.kind == "url":
        rules.append(_bound_length(functools.partial(colander.Regex, _URL), "Enter a valid URL."))
    return rules


def _bound_length(validator: Callable[..., Any], message: str | None) -> Any:
    """Wraps a validator; it rejects a very long text unmatched: ``re`` takes 100 bytes for each repetition."""
    check = validator(msg=message)

    def check_length(node: colander.SchemaNode, value: Any) -> None:
        if len(value) > MAX_PATTERN_TEXT_LENGTH:
            raise colander.Invalid(node, message)
        check(node, value)

    return check_length


def node(name: str, python_type: type, info: ColumnInfo, *, length: int | None, digits: tuple[int, int] | None) -> Any:
    """Returns the colander node of a column: its type and validators.

    :param length: maximum length of a text
    :param digits: total digits and decimal places of a decimal number
    """
    rules: list[Any] = []
    kind: _Type
    if info.parse is not None:
        kind = Parsed(info.parse)
    elif info.choices is not None:
        kind = OneOf(info.choices, info.blank, info.plain)
    elif info.kind == "json":
        kind = JsonValue()
    elif python_type is bool:
        kind = Boolean()
    elif python_type is int:
        kind, rules = Integer(), _bounds(info, -(2**31), 2**31 - 1)
    elif python_type is float:
        kind, rules = Float(), _bounds(info)
    elif python_type is decimal.Decimal:
        kind = DecimalNumber(*(digits or (38, 10)))
    elif python_type is datetime.datetime:
        kind = DateTime()
    elif python_type is datetime.date:
        kind = Date()
    elif python_type is uuid.UUID:
        kind = Identifier()
    else:
        kind = _TEXTS.get(info.kind, TextNode)(info.blank)
        rules = _text_rules(info, length)
    validator = colander.All(*rules) if rules else None
    skipping = _skipping_blank(validator) if rules else None
    return colander.SchemaNode(kind, name=name, validator=skipping, preparer=_lower if info.lowered else None)


def _lower(value: Any) -> Any:
    """A text in lower case; null and what is missing as it is."""
    return value.lower() if isinstance(value, str) else value


def _skipping_blank(validator: Any) -> Any:
    """Wraps a validator; it accepts a blank text."""

    def check(node: Any, value: Any) -> None:
        if value != "":
            validator(node, value)

    return check


def parse(node: Any, value: Any) -> Any:
    """Returns the parsed value.

    :raises colander.Invalid: with the messages of the field (see :func:`messages`)
    """
    return node.deserialize(value)


def messages(error: colander.Invalid) -> list[str]:
    """Returns the messages of a node's error, in order."""
    texts = [text.interpolate() if hasattr(text, "interpolate") else text for text in error.messages()]
    return texts or [REQUIRED]
