"""Lookups of constraints, on columns of every type: numbers and dates are compared as the text they have in JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from netinv_testing import Api, Service
from tests.support.rows import Row, Rows

SITES, PERMISSIONS = "/api/dcim/sites/", "/api/users/permissions/"
NUMBERS = [None, 1, 10, 11, 65001, 4294967295]
LATITUDES = [None, "0", "-0.000001", "12.3", "12.345678", "90"]
TEXTS = ["", "a", "A", "aB%", "b_", "Ä\\"]
FIELDS = ("asn", "latitude", "description", "id", "created", "last_updated")


@pytest.fixture(scope="session")
def sites(service: Service) -> Rows:
    """Sites with texts and numbers, some without."""
    word = service.unique()
    values = [
        (number, place, text)
        for number, place in zip(NUMBERS, LATITUDES, strict=True)
        for text in TEXTS[::2] + TEXTS[1::2]
    ]
    bodies = [
        {
            "name": f"{word} {n}",
            "status": "active",
            "facility": word,
            "asn": asn,
            "latitude": place,
            "description": text,
        }
        for n, (asn, place, text) in enumerate(values)
    ]
    return Rows(SITES, {"facility": word}, service.api.post(SITES, bodies))


@pytest.fixture(scope="session")
def limited(service: Service) -> Callable[[Any], Api]:
    """``limited(constraints)``: a client that may view the sites that meet these."""
    user = service.user()
    permission = service.permit("view", "dcim.site", {"name": ""}, users=[user.id])

    def limit(constraints: Any) -> Api:
        service.api.patch(permission["url"], {"constraints": constraints})
        return user.api

    return limit


COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "iexact": lambda text, value: text.lower() == value.lower(),
    "contains": lambda text, value: value in text,
    "icontains": lambda text, value: value.lower() in text.lower(),
    "startswith": str.startswith,
    "istartswith": lambda text, value: text.lower().startswith(value.lower()),
    "endswith": str.endswith,
    "iendswith": lambda text, value: text.lower().endswith(value.lower()),
    "regex": lambda text, value: regex.search(regex.escape(value), text) is not None,
    "iregex": lambda text, value: regex.search(regex.escape(value), text, regex.IGNORECASE) is not None,
}


def text_of(row: Row, name: str) -> str | None:
    """The text that a value has in JSON; ``None`` for null."""
    value = row[name]
    return None if value is None else str(value)


@settings(max_examples=40)
@given(st.sampled_from(FIELDS), st.sampled_from(sorted(COMPARISONS)), st.data())
@example("latitude", "endswith", "0")
@example("last_updated", "contains", "T")
@example("last_updated", "endswith", "Z")
@pytest.mark.night
def test_values_are_compared_as_their_text(
    service: Service, sites: Rows, limited: Callable[[Any], Api], name: str, lookup: str, data: Any
) -> None:
    value = data if isinstance(data, str) else data.draw(parts_of(sites, name))
    sent = regex.escape(value) if "regex" in lookup else value
    seen = limited({f"{name}__{lookup}": sent, "facility": sites[0]["facility"]}).get(SITES, {"limit": 0, "brief": 1})
    compare = COMPARISONS[lookup]
    expected = sites.that(lambda row: (text := text_of(row, name)) is not None and compare(text, value))
    assert {item["id"] for item in seen["results"]} == expected


def parts_of(sites: Rows, name: str) -> st.SearchStrategy[str]:
    """Parts of the text that a value of a column has."""
    texts = sorted({text for row in sites if (text := text_of(row, name))})
    return st.tuples(st.sampled_from(texts), st.integers(0, 8), st.integers(1, 8)).map(
        lambda drawn: drawn[0][drawn[1] :][: drawn[2]] or drawn[0]
    )


@pytest.mark.night
@settings(max_examples=40)
@given(
    st.sampled_from(["asn", "latitude", "description", "id"]), st.lists(st.integers(0, 35), max_size=3), st.booleans()
)
def test_values_are_in_a_list(
    sites: Rows, limited: Callable[[Any], Api], name: str, places: list[int], nulls: bool
) -> None:
    asked = [sites[place][name] for place in places if sites[place][name] is not None]
    constraints: Any = {f"{name}__in": asked, "facility": sites[0]["facility"]}
    if nulls:
        constraints = [constraints, {f"{name}__isnull": True, "facility": sites[0]["facility"]}]
    seen = limited(constraints).get(SITES, {"limit": 0, "brief": 1})
    expected = sites.that(lambda row: row[name] in asked or (nulls and row[name] is None))
    assert {item["id"] for item in seen["results"]} == expected


@pytest.mark.parametrize(
    ("lookup", "value"), [("iexact", "TRUE"), ("startswith", "t"), ("regex", "^tru"), ("in", [True])]
)
def test_switches_are_compared_as_their_text(service: Service, lookup: str, value: Any) -> None:
    word = service.unique()
    vrfs = service.api.post(
        "/api/ipam/vrfs/", [{"name": f"{word} {flag}", "enforce_unique": flag} for flag in (True, False)]
    )
    user = service.user(("view", "ipam.vrf", {"name__startswith": word, f"enforce_unique__{lookup}": value}))
    assert [item["id"] for item in user.api.get("/api/ipam/vrfs/")["results"]] == [vrfs[0]["id"]]
