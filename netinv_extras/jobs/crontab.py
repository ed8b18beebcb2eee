"""Crontab expressions in UTC: minute, hour, day of the month, month, day of the week."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_DAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_FIELDS: tuple[tuple[str, int, int, Mapping[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d{1,2}))?\Z", re.ASCII)
_MAX_DAYS_AHEAD = 366 * 40  # 29 February on a given day of the week can be 40 years away
_LAST_MINUTE = datetime.datetime.max.replace(second=0, microsecond=0, tzinfo=datetime.UTC)


class Crontab:
    """A crontab expression, for example ``*/15 8-18 * * mon-fri``.

    Fields are ``*``, numbers, names, ranges (``1-5``), steps (``*/15``), and lists of them. A day must match both the
    day of the month and the day of the week. Sunday is 0 or 7.

    :raises ValueError: if the expression is not valid
    """

    def __init__(self, line: str) -> None:
        words = line.split()
        if len(words) != len(_FIELDS):
            names = ", ".join(name for name, *_ in _FIELDS)
            raise ValueError(f"A crontab has {len(_FIELDS)} fields: {names}.")
        sets = [_values(word, *field) for word, field in zip(words, _FIELDS, strict=True)]
        self.minutes, self.hours, self.days, self.months, self.weekdays = sets
        self.weekdays = {day % 7 for day in self.weekdays}
        if self.after(datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)) is None:
            raise ValueError("There is no such date.")

    def after(self, moment: datetime.datetime) -> datetime.datetime | None:
        """Returns the first time after a moment, ``None`` if there is none within 40 years (or before year 10000)."""
        start = moment.astimezone(datetime.UTC).replace(second=0, microsecond=0)
        if start >= _LAST_MINUTE:
            return None
        start += datetime.timedelta(minutes=1)
        first = start.toordinal()
        for number in range(first, min(first + _MAX_DAYS_AHEAD, datetime.date.max.toordinal() + 1)):
            day = datetime.date.fromordinal(number)
            if self._matches(day):
                candidates = (datetime.datetime.combine(day, time) for time in self._times())
                first_time = next((candidate for candidate in candidates if candidate >= start), None)
                if first_time is not None:
                    return first_time
        return None

    def _matches(self, day: datetime.date) -> bool:
        return day.month in self.months and day.day in self.days and (day.weekday() + 1) % 7 in self.weekdays

    def _times(self) -> Iterator[datetime.time]:
        """Yields the times of a day in order."""
        for hour in sorted(self.hours):
            for minute in sorted(self.minutes):
                yield datetime.time(hour, minute, tzinfo=datetime.UTC)


def _values(word: str, name: str, low: int, high: int, names: Mapping[str, int]) -> set[int]:
    """Returns the numbers that a field matches."""
    numbers: set[int] = set()
    for part in word.lower().split(","):
        match = _PART.match(part)
        if match is None:
            raise ValueError(f"“{word}” is no {name}.")
        first, last, step = match.groups()
        start = _number(first, name, low, high, names) if first else low
        end = _number(last, name, low, high, names) if last else start if first and not step else high
        if start > end or (step and not int(step)):
            raise ValueError(f"“{word}” is no {name}.")
        numbers.update(range(start, end + 1, int(step or 1)))
    return numbers


def _number(word: str, name: str, low: int, high: int, names: Mapping[str, int]) -> int:
    number = names.get(word, int(word) if word.isdecimal() and len(word) < 3 else -1)
    if not low <= number <= high:
        raise ValueError(f"“{word}” is no {name} ({low} to {high}).")
    return number
