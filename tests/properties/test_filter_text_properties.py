"""Filters as text: what is written is read back, and any text can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netinv_web.lists.filter_text import OPERATORS, parse, write_text

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}[a-z0-9]", fullmatch=True).filter(
    lambda name: "__" not in name and name != "q"
)
SUFFIXES = st.sampled_from(["", *(f"__{suffix}" for suffix in OPERATORS.values() if suffix), "__isw", "__nre"])
VALUES = st.lists(st.one_of(st.text(min_size=1), st.text(' ,"\\:!~<>=a1', min_size=1)), min_size=1, max_size=3)
PARAMETERS = st.dictionaries(st.builds(str.__add__, NAMES, SUFFIXES), VALUES, max_size=4)


@given(PARAMETERS, st.one_of(st.none(), st.text(min_size=1)))
@pytest.mark.night
def test_written_filters_are_read_back(parameters: dict[str, list[str]], search: str | None) -> None:
    """Names, lookups, and values of any characters survive."""
    filters = [*parameters.items(), *([("q", [search])] if search else [])]
    assert parse(write_text(filters)) == filters


@pytest.mark.night
@given(st.text())
def test_every_text_has_a_meaning_that_is_stable(text: str) -> None:
    """Writing what was read, and reading it again, gives the same filters."""
    filters = parse(text)
    assert parse(write_text(filters)) == filters


def test_addresses_are_searched_for() -> None:
    """Colons in an IPv6 or MAC address are no operators."""
    text = "fe80::1 aa:bb:cc:dd:ee:ff 2001:db8::/32 site:lisbon"
    assert parse(text) == [("site", ["lisbon"]), ("q", ["fe80::1 aa:bb:cc:dd:ee:ff 2001:db8::/32"])]


def test_the_grammar_by_example() -> None:
    """Each operator stands for a lookup."""
    text = 'site:lisbon,porto status:!planned name~"core 1" name!~x asn>=64500 u_height<4 region:null name__isw:ed edge'
    assert parse(text) == [
        ("site", ["lisbon", "porto"]),
        ("status__n", ["planned"]),
        ("name__ic", ["core 1"]),
        ("name__nic", ["x"]),
        ("asn__gte", ["64500"]),
        ("u_height__lt", ["4"]),
        ("region", ["null"]),
        ("name__isw", ["ed"]),
        ("q", ["edge"]),
    ]
