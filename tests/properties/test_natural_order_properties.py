"""Natural order: names sort by their numbers' values, alike in Python and on the database."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from netinv_core.write.slugs import natural_key
from netinv_testing import Api, Unique

characters = st.one_of(
    st.sampled_from("0123456789/-. aAzZ~éß日𝒳"),
    st.characters(exclude_categories=["Cs", "Cc", "Zs"], exclude_characters=":"),
)
long_numbers = st.integers(0, 10**12).map(str)
names = st.lists(st.one_of(characters, long_numbers), max_size=12).map("".join)


def naive(name: str) -> list[Any]:
    """The name in pieces that Python compares: numbers by value, other characters by code point, a number where its
    digits stand.
    """
    pieces = re.findall(r"[0-9]+|[^0-9]", name)
    return [(ord("0"), int(piece)) if piece[0] in "0123456789" else (ord(piece), 0) for piece in pieces]


@given(st.lists(names, max_size=8))
@example(["eth99999999", "eth100000000"])
@example(["a1", "a01", "a000000001", "a1b", "a/"])
@example(["et-0/0/10:2", "et-0/0/10:10", "et-0/0/2:1", "et-0/0/10"])
@example(["sn123456789012", "sn9"])
def test_names_sort_by_the_values_of_their_numbers(some: list[str]) -> None:
    assert sorted(some, key=natural_key) == sorted(some, key=naive)


@given(names, names, names)
def test_the_order_is_total(a: str, b: str, c: str) -> None:
    keys = sorted(natural_key(name) for name in (a, b, c))
    assert keys[0] <= keys[1] <= keys[2] and keys[0] <= keys[2]
    assert (natural_key(a) == natural_key(b)) == (naive(a) == naive(b))
    assert (natural_key(a) < natural_key(b)) == (naive(a) < naive(b))


@settings(max_examples=12)
@given(st.lists(names.map(str.strip).filter(bool), min_size=2, max_size=12, unique=True))
def test_lists_are_in_the_order_that_python_gives(api: Api, unique: Unique, some: list[str]) -> None:
    prefix = unique()
    body = {"name": prefix, "slug": prefix}
    group = api.post("/api/dcim/manufacturers/", body)["id"]
    kind = api.post("/api/dcim/device-types/", {"manufacturer": group, "model": prefix, "slug": prefix})["id"]
    bodies = [{"device_type": kind, "name": name, "type": "1000base-t"} for name in some]
    api.post("/api/dcim/interface-templates/", bodies)
    shown = api.get("/api/dcim/interface-templates/", {"device_type_id": kind, "limit": 0})["results"]
    assert [item["name"] for item in shown] == sorted(
        some, key=lambda name: (natural_key(name), next(i["id"] for i in shown if i["name"] == name))
    )
