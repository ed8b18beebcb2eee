"""Lookups of numbers, dates, switches and references, compared with Python, on the database of the test session."""

from __future__ import annotations

import datetime
import decimal
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from netinv_core.contract import Service

SITES, REGIONS, TENANTS, CIRCUITS = (
    "/api/dcim/sites/",
    "/api/dcim/regions/",
    "/api/tenancy/tenants/",
    "/api/circuits/circuits/",
)
NUMBERS = [None, 1, 2, 9, 10, 11, 100, 65000, 4294967295]
LATITUDES = [None, "0", "-0.000001", "12.3", "12.345678", "-12.345678", "90", "9.999999", "12.34"]
DATES = [None, "0001-01-01", "1999-12-31", "2000-01-01", "2000-02-29", "2024-12-31", "9999-12-31"]
Row = dict[str, Any]


class Rows(list[Row]):
    """Objects that a parameter selects from the others, in a form that does not fill the report of a failure."""

    path: str
    scope: dict[str, str]

    def __repr__(self) -> str:
        return f"{len(self)} objects of {self.path}"

    def found(self, service: Service, **query: Any) -> set[str]:
        """The ids that a query selects."""
        page = service.api.get(self.path, {**self.scope, "limit": 0, "brief": 1, **query})
        return {item["id"] for item in page["results"]}

    def that(self, holds: Callable[[Row], bool]) -> set[str]:
        """The ids of those for which something holds."""
        return {row["id"] for row in self if holds(row)}


@pytest.fixture(scope="module")
def regions(service: Service) -> list[Row]:
    """A tree of six regions, parents before children."""
    word = service.unique()
    made: list[Row] = []
    for number, parent in enumerate([None, 0, 0, 1, 3, None]):
        body = {
            "name": f"{word} {number}",
            "slug": f"{word}-{number}",
            "parent": made[parent]["id"] if parent is not None else None,
        }
        made.append(service.api.post(REGIONS, body))
    return made


@pytest.fixture(scope="module")
def tenants(service: Service) -> list[Row]:
    """Three tenants, the last of which nothing belongs to."""
    word = service.unique()
    made: list[Row] = service.api.post(
        TENANTS, [{"name": f"{word} {number}", "slug": f"{word}-{number}"} for number in range(3)]
    )
    return made


@pytest.fixture(scope="module")
def sites(service: Service, regions: list[Row], tenants: list[Row]) -> Rows:
    """Sites with numbers, coordinates, regions and tenants, some without."""
    word, rows = service.unique(), []
    for number in range(24):
        region, tenant = number % 7, number % 3
        rows.append(
            {
                "name": f"{word} {number}",
                "facility": word,
                "status": ("active", "planned", "retired")[number % 3],
                "asn": NUMBERS[number % len(NUMBERS)],
                "latitude": LATITUDES[number % len(LATITUDES)],
                "region": regions[region]["id"] if region < 6 else None,
                "tenant": tenants[tenant]["id"] if tenant < 2 else None,
            }
        )
    made = Rows(service.api.post(SITES, rows))
    made.path, made.scope = SITES, {"facility": word}
    return made


@pytest.fixture(scope="module")
def circuits(service: Service) -> Rows:
    """Circuits with dates, some without."""
    word = service.unique()
    provider, kind = (
        service.api.post(f"/api/circuits/{name}/", {"name": word, "slug": word})["id"]
        for name in ("providers", "circuit-types")
    )
    body = {"provider": provider, "type": kind, "status": "active"}
    made = Rows(
        service.api.post(
            CIRCUITS,
            [{**body, "cid": f"{word} {number}", "install_date": date} for number, date in enumerate(DATES * 2)],
        )
    )
    made.path, made.scope = CIRCUITS, {"provider_id": provider}
    return made


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
    instant = data.draw(st.sampled_from(instants)) + datetime.timedelta(microseconds=data.draw(st.integers(-2, 2)))
    zone = datetime.timezone(datetime.timedelta(minutes=data.draw(st.integers(-14 * 60, 14 * 60))))
    held = dict(zip((row["id"] for row in sites), instants, strict=True))
    expected = sites.that(lambda row: holds(lookup, [instant], held[row["id"]]))
    asked = ["2000-01-01T00:00:00Z", instant.astimezone(zone).isoformat()]  # the last one counts
    assert sites.found(service, **{named("last_updated", lookup): asked}) == expected


def below(regions: list[Row], chosen: set[str]) -> set[str]:
    """The regions chosen, and everything below them."""
    reached = set(chosen)
    for region in regions:  # parents come first
        if region["parent"] and region["parent"]["id"] in reached:
            reached.add(region["id"])
    return reached


@settings(max_examples=60)
@given(
    st.booleans(),
    st.sampled_from(["region", "region_id"]),
    st.lists(st.one_of(st.integers(0, 5), st.none()), min_size=1, max_size=3),
    st.booleans(),
)
def test_a_region_stands_for_all_below_it(
    service: Service,
    sites: Rows,
    regions: list[Row],
    negated: bool,
    name: str,
    chosen: list[int | None],
    by_slug: bool,
) -> None:
    asked = ["null" if number is None else regions[number]["slug" if by_slug else "id"] for number in chosen]
    wanted = below(regions, {regions[number]["id"] for number in chosen if number is not None})
    wanted |= {""} if None in chosen else set()
    expected = sites.that(lambda row: ((row["region"]["id"] if row["region"] else "") in wanted) is not negated)
    assert sites.found(service, **{named(name, "n" * negated): asked}) == expected


@settings(max_examples=60)
@given(st.booleans(), st.booleans(), st.lists(st.one_of(st.integers(0, 2), st.none()), min_size=1, max_size=3))
def test_references_are_compared_by_id_and_slug(
    service: Service, sites: Rows, tenants: list[Row], negated: bool, by_id: bool, chosen: list[int | None]
) -> None:
    asked = ["null" if number is None else tenants[number]["id" if by_id else "slug"] for number in chosen]
    wanted = {None if number is None else tenants[number]["id"] for number in chosen}
    expected = sites.that(lambda row: ((row["tenant"] and row["tenant"]["id"]) in wanted) is not negated)
    assert sites.found(service, **{named("tenant_id" if by_id else "tenant", "n" * negated): asked}) == expected


@settings(max_examples=60)
@given(
    st.booleans(),
    st.lists(st.sampled_from(["active", "planned", "retired", "staging"]), min_size=1, max_size=3),
    st.sampled_from(sorted(ORDER)),
    integers,
)
def test_parameters_combine_with_and(
    service: Service, sites: Rows, negated: bool, statuses: list[str], lookup: str, number: int
) -> None:
    expected = sites.that(
        lambda row: (row["status"]["value"] in statuses) is not negated and holds(lookup, [number], row["asn"])
    )
    assert (
        sites.found(service, **{named("status", "n" * negated): statuses, named("asn", lookup): number}) == expected
    )
