"""Dates and times as clients write them, in bodies and in filters alike.

``YYYY-MM-DD`` and date and time in ISO 8601 with separators, of ASCII digits. ``fromisoformat`` of Python takes more:
weeks (``2024-W01-1``), dates and times without separators (``20240101``) and any character between date and time.
"""

from __future__ import annotations

import datetime
import re

_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d{0,6})?)?\s*"
    r"(?:([Zz])|([+-])(\d{2}):?(\d{2})?)?",
    re.ASCII,
)


def parse_date(text: str) -> datetime.date:
    """Returns a date, ``YYYY-MM-DD``.

    :raises ValueError: for another text, or a day that does not exist
    """
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(f"not a date: {text[:40]!r}")
    year, month, day = found.groups()
    return datetime.date(int(year), int(month), int(day))


def parse_time(text: str) -> datetime.datetime:
    """Returns a date and time in ISO 8601, with seconds and an offset or without.

    :raises ValueError: for another text, or a time that does not exist
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(f"not a date and time: {text[:40]!r}")
    numbers = [int(part or 0) for part in found.groups()[:6]]
    fraction, utc, sign, hours, minutes = found.groups()[6:]
    zone: datetime.tzinfo | None = datetime.UTC if utc else None
    if sign:
        offset = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
        zone = datetime.timezone(-offset if sign == "-" else offset)
    microseconds = int((fraction or "").ljust(6, "0"))
    year, month, day, hour, minute, second = numbers
    return datetime.datetime(year, month, day, hour, minute, second, microseconds, zone)
