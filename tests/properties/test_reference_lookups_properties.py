"""Lookups of references and trees, and parameters together, compared with Python, on the database of the test
session.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netinv_testing import Service
from tests.support.rows import Row, Rows

SITES, REGIONS, TENANTS = "/api/dcim/sites/", "/api/dcim/regions/", "/api/tenancy/tenants/"


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def tenants(service: Service) -> list[Row]:
    """Three tenants, the last of which nothing belongs to."""
    word = service.unique()
    made: list[Row] = service.api.post(
        TENANTS, [{"name": f"{word} {number}", "slug": f"{word}-{number}"} for number in range(3)]
    )
    return made


@pytest.fixture(scope="session")
def sites(service: Service, regions: list[Row], tenants: list[Row]) -> Rows:
    """Sites with regions, tenants, statuses and numbers, some without."""
    word, rows = service.unique(), []
    for number in range(24):
        rows.append(
            {
                "name": f"{word} {number}",
                "facility": word,
                "status": ("active", "planned", "retired")[number % 3],
                "asn": number % 5 or None,
                "region": regions[number % 7]["id"] if number % 7 < 6 else None,
                "tenant": tenants[number % 3]["id"] if number % 3 < 2 else None,
            }
        )
    return Rows(SITES, {"facility": word}, service.api.post(SITES, rows))


ORDER: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "": operator.eq,
}


def named(name: str, lookup: str) -> str:
    """The parameter of a lookup."""
    return f"{name}__{lookup}" if lookup else name


def below(regions: list[Row], chosen: set[str]) -> set[str]:
    """The regions chosen, and everything below them."""
    reached = set(chosen)
    for region in regions:  # parents come first
        if region["parent"] and region["parent"]["id"] in reached:
            reached.add(region["id"])
    return reached


@settings(max_examples=40)
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


@settings(max_examples=40)
@given(st.booleans(), st.booleans(), st.lists(st.one_of(st.integers(0, 2), st.none()), min_size=1, max_size=3))
def test_references_are_compared_by_id_and_slug(
    service: Service, sites: Rows, tenants: list[Row], negated: bool, by_id: bool, chosen: list[int | None]
) -> None:
    asked = ["null" if number is None else tenants[number]["id" if by_id else "slug"] for number in chosen]
    wanted = {None if number is None else tenants[number]["id"] for number in chosen}
    expected = sites.that(lambda row: ((row["tenant"] and row["tenant"]["id"]) in wanted) is not negated)
    assert sites.found(service, **{named("tenant_id" if by_id else "tenant", "n" * negated): asked}) == expected


@settings(max_examples=40)
@given(
    st.booleans(),
    st.lists(st.sampled_from(["active", "planned", "retired", "staging"]), min_size=1, max_size=3),
    st.sampled_from(sorted(ORDER)),
    st.integers(0, 6),
)
def test_parameters_combine_with_and(
    service: Service, sites: Rows, negated: bool, statuses: list[str], lookup: str, number: int
) -> None:
    expected = sites.that(
        lambda row: (
            (row["status"]["value"] in statuses) is not negated
            and (row["asn"] is not None and ORDER[lookup](row["asn"], number))
        )
    )
    assert sites.found(service, **{named("status", "n" * negated): statuses, named("asn", lookup): number}) == expected
