"""Lookups of numbers, dates and instants, compared with Python, on the database of the test session."""

from __future__ import annotations

import datetime
import decimal
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from netinv_testing import Service
from tests.support.rows import Rows

SITES, CIRCUITS = "/api/dcim/sites/", "/api/circuits/circuits/"
NUMBERS = [None, 1, 2, 9, 10, 11, 100, 65000, 4294967295]
LATITUDES = [None, "0", "-0.000001", "12.3", "12.345678", "-12.345678", "90", "9.999999", "12.34"]
DATES = [None, "0001-01-01", "1999-12-31", "2000-01-01", "2000-02-29", "2024-12-31", "9999-12-31"]


@pytest.fixture(scope="session")
def sites(service: Service) -> Rows:
    """Sites with numbers and coordinates, some without."""
    word = service.unique()
    rows = zip(NUMBERS * 2, LATITUDES * 2, strict=True)
    body = {"facility": word, "status": "active"}
    bodies = [{**body, "name": f"{word} {n}", "asn": asn, "latitude": place} for n, (asn, place) in enumerate(rows)]
    return Rows(SITES, {"facility": word}, service.api.post(SITES, bodies))


@pytest.fixture(scope="session")
def circuits(service: Service) -> Rows:
    """Circuits with dates, some without."""
    word, named = service.unique(), ("providers", "circuit-types")
    provider, kind = (service.api.post(f"/api/circuits/{name}/", {"name": word})["id"] for name in named)
    body = {"provider": provider, "type": kind, "status": "active"}
    bodies = [{**body, "cid": f"{word} {n}", "install_date": date} for n, date in enumerate(DATES * 2)]
    return Rows(CIRCUITS, {"provider_id": provider}, service.api.post(CIRCUITS, bodies))


ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "": operator.eq,
    "n": operator.eq,
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}


def holds(lookup: str, values: list[Any], held: Any) -> bool:
    """The condition that a parameter with some values means for a value that may be null."""
    fits = held is not None and any(ORDER[lookup](held, value) for value in values)
    return fits is not (lookup == "n")


def named(name: str, lookup: str) -> str:
    """The parameter of a lookup."""
    return f"{name}__{lookup}" if lookup else name


integers = st.one_of(
    st.sampled_from([number for number in NUMBERS if number]), st.integers(-(2**63), 2**63 - 1), st.integers(0, 12)
)


@given(st.sampled_from(sorted(ORDER)), st.lists(integers, min_size=1, max_size=3))
@example("n", [1, 2])
@example("lt", [-(2**63)])
@example("gt", [2**63 - 1])
def test_integers_are_compared_as_in_python(service: Service, sites: Rows, lookup: str, some: list[int]) -> None:
    expected = sites.that(lambda row: holds(lookup, some, row["asn"]))
    assert sites.found(service, **{named("asn", lookup): some}) == expected


decimals = st.one_of(
    st.sampled_from([text for text in LATITUDES if text]),
    st.decimals(-100, 100, places=6).map(str),
    st.decimals(-13, 13, places=7).map(str),
)


@given(st.sampled_from(sorted(ORDER)), st.lists(decimals, min_size=1, max_size=3))
@example("", ["12.34567800"])
@example("gt", ["12.3456779"])
@example("lte", ["-0"])
@example("", ["1.23E+1"])
def test_decimals_are_compared_as_in_python(service: Service, sites: Rows, lookup: str, some: list[str]) -> None:
    asked = [decimal.Decimal(text) for text in some]
    expected = sites.that(lambda row: holds(lookup, asked, row["latitude"] and decimal.Decimal(row["latitude"])))
    assert sites.found(service, **{named("latitude", lookup): some}) == expected


dates = st.one_of(st.sampled_from([date for date in DATES if date]), st.dates().map(str))


@given(st.sampled_from(sorted(ORDER)), st.lists(dates, min_size=1, max_size=2))
def test_dates_are_compared_as_in_python(service: Service, circuits: Rows, lookup: str, some: list[str]) -> None:
    expected = circuits.that(lambda row: holds(lookup, some, row["install_date"]))
    assert circuits.found(service, **{named("install_date", lookup): some}) == expected


@given(st.sampled_from(["", "n", "lte", "gte"]), st.data())
def test_instants_are_compared_to_the_microsecond_in_every_zone(
    service: Service, sites: Rows, lookup: str, data: st.DataObject
) -> None:
    instants = [datetime.datetime.fromisoformat(row["last_updated"]) for row in sites]
    near = st.tuples(st.sampled_from(instants), st.integers(-2, 2))
    drawn = data.draw(st.lists(near, min_size=1, max_size=2))
    asked = [instant + datetime.timedelta(microseconds=distance) for instant, distance in drawn]
    zone = datetime.timezone(datetime.timedelta(minutes=data.draw(st.integers(-14 * 60, 14 * 60))))
    held = dict(zip((row["id"] for row in sites), instants, strict=True))
    expected = sites.that(lambda row: holds(lookup, asked, held[row["id"]]))
    texts = [instant.astimezone(zone).isoformat() for instant in asked]
    assert sites.found(service, **{named("last_updated", lookup): texts}) == expected
