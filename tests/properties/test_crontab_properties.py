"""Crontabs, compared with an evaluation that looks at every day and minute."""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from netinv_extras.jobs.crontab import Crontab

pytestmark = pytest.mark.any_database
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
UTC = datetime.UTC


class Limits(NamedTuple):
    """The values of a field of a crontab, and the names of the first of them."""

    low: int
    high: int
    names: list[str]


FIELDS = (Limits(0, 59, []), Limits(0, 23, []), Limits(1, 31, []), Limits(1, 12, MONTHS), Limits(0, 7, DAYS))
moments = st.datetimes(datetime.datetime(1999, 1, 1), datetime.datetime(2120, 1, 1), timezones=st.just(UTC))


@st.composite
def numbers(draw: st.DrawFn, limits: Limits) -> tuple[str, int]:
    """A number of a field as it may be written, and its value."""
    value = draw(st.integers(limits.low, limits.high))
    place = value - limits.low
    written = [str(value), f"{value:02}"]
    if place < len(limits.names):
        written += [limits.names[place], limits.names[place].upper()]
    return draw(st.sampled_from(written)), value


@st.composite
def parts(draw: st.DrawFn, limits: Limits) -> tuple[str, set[int]]:
    """One part of a field, and the values that it stands for."""
    whole = range(limits.low, limits.high + 1)
    kind = draw(st.sampled_from(["*", "number", "range", "number/step", "*/step", "range/step"]))
    step = draw(st.integers(1, 99)) if "/" in kind else 1
    if kind.startswith("*"):
        text, values = "*", whole
    else:
        (first, low), (last, high) = sorted([draw(numbers(limits)), draw(numbers(limits))], key=lambda item: item[1])
        text = f"{first}-{last}" if kind.startswith("range") else first
        values = (
            range(low, high + 1)
            if kind.startswith("range")
            else range(low, limits.high + 1 if "/" in kind else low + 1)
        )
    return (f"{text}/{step}" if "/" in kind else text), set(values[::step])


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, list[set[int]]]:
    """A line of a crontab, and the values of its fields."""
    words, values = [], []
    for limits in FIELDS:
        drawn = draw(
            st.one_of(
                st.just([("*", set(range(limits.low, limits.high + 1)))]),
                st.lists(parts(limits), min_size=1, max_size=3),
            )
        )
        words.append(",".join(text for text, _ in drawn))
        values.append(set().union(*(numbers for _, numbers in drawn)))
    return draw(st.sampled_from([" ", "  ", "\t"])).join(words), values


def evaluated(values: list[set[int]], moment: datetime.datetime) -> datetime.datetime | None:
    """The first minute after a moment at which all fields hold; ``None`` for none within 40 years, the longest that 29
    February and a weekday take.
    """
    minutes, hours, days, months, weekdays = values
    day = moment.date()
    for _ in range(366 * 40):
        if day.day in days and day.month in months and {day.isoweekday(), day.isoweekday() % 7} & weekdays:
            for minute in range(24 * 60):
                at = datetime.datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=UTC)
                if at > moment and at.hour in hours and at.minute in minutes:
                    return at
        day += datetime.timedelta(days=1)
    return None


@pytest.mark.night
@given(lines(), moments)
@example(("0 0 29 2 1", [{0}, {0}, {29}, {2}, {1}]), datetime.datetime(2024, 3, 1, tzinfo=UTC))
@example(("0 0 29 2 *", [{0}, {0}, {29}, {2}, set(range(8))]), datetime.datetime(2096, 3, 1, tzinfo=UTC))
@example(
    ("*/15 0 * * 5-7", [{0, 15, 30, 45}, {0}, set(range(1, 32)), set(range(1, 13)), {5, 6, 7}]),
    datetime.datetime(2026, 11, 20, 0, 45, tzinfo=UTC),
)
def test_the_next_time_is_the_first_minute_at_which_all_fields_hold(
    line: tuple[str, list[set[int]]], moment: datetime.datetime
) -> None:
    text, values = line
    expected = evaluated(values, moment)
    if expected is None:
        with pytest.raises(ValueError, match="There is no such date"):
            Crontab(text)
    else:
        assert Crontab(text).after(moment) == expected


@given(lines(), moments)
@pytest.mark.night
def test_times_follow_each_other(line: tuple[str, list[set[int]]], moment: datetime.datetime) -> None:
    assume(evaluated(line[1], moment) is not None)
    crontab = Crontab(line[0])
    for _ in range(4):
        following = crontab.after(moment)
        assert following is not None and following > moment
        assert crontab.after(following - datetime.timedelta(microseconds=1)) == following
        moment = following


@pytest.mark.night
@given(moments, st.integers(-14 * 60, 14 * 60))
def test_a_moment_is_the_same_in_every_time_zone(moment: datetime.datetime, offset: int) -> None:
    elsewhere = moment.astimezone(datetime.timezone(datetime.timedelta(minutes=offset)))
    crontab = Crontab("7 */5 * * *")
    assert crontab.after(elsewhere) == crontab.after(moment)


def test_there_is_no_next_time_after_the_last_year() -> None:
    last = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert Crontab("* * * * *").after(last) is None
    assert Crontab("0 0 1 1 *").after(last.replace(month=1, day=1)) is None


WRONG = re.compile(r"“.*” is no [a-z ]+( \(\d+ to \d+\))?\.|A crontab has 5 fields: .*|There is no such date\.", re.S)


@given(
    st.lists(
        st.text(st.sampled_from("0123456789*/-,jansunJ٣٠²x\x00"), min_size=1, max_size=5), min_size=4, max_size=6
    ).map(" ".join)
)
@example("*/0 * * * *")
@example("*/00 * * * *")
@example("*/٠ * * * *")
@example("٣ * * * *")
@example("0-0/00 * * * *")
def test_a_line_is_either_read_or_refused_with_the_reason(line: str) -> None:
    try:
        crontab = Crontab(line)
    except ValueError as error:
        assert WRONG.fullmatch(str(error)), error
    else:
        assert line.isascii() and crontab.after(datetime.datetime(2026, 1, 1, tzinfo=UTC)) is not None
