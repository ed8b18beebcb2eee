"""Every lookup of text, compared with Python, on the database of the test session."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import regex
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from netinv_core.sql.lookups import TEXT
from netinv_testing import Service
from tests.support.rows import Rows

SITES = "/api/dcim/sites/"
# Letters with and without case, marks, wildcards of LIKE, escapes, characters of regular expressions.
LETTERS = "abABzZäÄéÉßñÑиИжЖıK日本1٣"
RARE = ("İ", "ẞ", "Σ", "ΑΣ", "İstanbul", "STRAẞE", "ΟΔΟΣ 1", "ǅ", "ﬁ")  # databases differ in what their lower case is
SIGNS = "%_\\/ .*+?^$|()[]{}'\"-#&"
ALPHABET = LETTERS + SIGNS
SEARCHED = (
    "name",
    "facility",
    "description",
    "physical_address",
    "shipping_address",
    "contact_name",
    "contact_phone",
    "contact_email",
    "comments",
)


def texts() -> list[str]:
    """The descriptions of the rows."""
    choose = random.Random(1)
    return ["".join(choose.choices(ALPHABET, k=choose.randint(1, 6))).strip() for _ in range(60)]


@pytest.fixture(scope="session")
def rows(service: Service) -> Rows:
    """Sites whose descriptions are made of few characters, so that they resemble each other; one is blank."""
    word, known = (
        service.unique(),
        ["", "a", "A", "%", "_", "\\", "\\%", "/", "ß", "50%", "a_b", "aXb", "a\\b", "'; --"],
    )
    bodies = [
        {"name": f"{word} {n}", "status": "active", "facility": word, "description": text}
        for n, text in enumerate(known + texts())
    ]
    return Rows(SITES, {"facility": word}, service.api.post(SITES, bodies))


COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "": lambda text, value: text == value,
    "ie": lambda text, value: text.lower() == value.lower(),
    "ic": lambda text, value: value.lower() in text.lower(),
    "isw": lambda text, value: text.lower().startswith(value.lower()),
    "iew": lambda text, value: text.lower().endswith(value.lower()),
    "re": lambda text, value: regex.search(value, text) is not None,
    "ire": lambda text, value: regex.search(value, text, regex.IGNORECASE) is not None,
}
NEGATED = {"n": "", **{f"n{name}": name for name in COMPARISONS if name}}


def holds(lookup: str, values: list[str], text: str) -> bool:
    """The condition that a parameter with some values means: blank ones ask for nothing, of the others one has to
    fit.
    """
    compare = COMPARISONS[NEGATED.get(lookup, lookup)]
    asked = [value for value in values if value]
    return not asked or any(compare(text, value) for value in asked) is not (lookup in NEGATED)


@st.composite
def parts_of_rows(draw: st.DrawFn) -> str:
    """A part of a description, as it is or in another case."""
    text = draw(st.sampled_from(texts()))
    start = draw(st.integers(0, len(text)))
    changed: str = draw(st.sampled_from([str, str.upper, str.lower, str.swapcase]))(
        text[start : start + draw(st.integers(1, 6))]
    )
    return changed


values = st.lists(st.one_of(parts_of_rows(), st.text(ALPHABET, max_size=3)), min_size=1, max_size=7)
plain_lookups = st.sampled_from(["", *(name for name in TEXT if not name.endswith("re"))])


def test_every_lookup_of_text_is_compared() -> None:
    assert {"", *TEXT} == {*COMPARISONS, *NEGATED}


@settings(max_examples=80)
@given(plain_lookups, values)
@example("ic", ["%"])
@example("ic", ["_"])
@example("isw", ["\\"])
@example("iew", ["/"])
@example("nic", ["", "a"])
@example("n", [""])
@example("ic", [*"%_", "zz" * 2900, *(f"{n} b." for n in range(400)), "A"])
@example("niew", [*"%_", "$" * 2900, *(f"{n} b." for n in range(400)), "\\"])
@example("isw", ["a\\", "ZZ$", "z^", "'; -", "b|a"])
def test_text_is_compared_as_in_python(service: Service, rows: Rows, lookup: str, some: list[str]) -> None:
    name = f"description__{lookup}" if lookup else "description"
    assert rows.found(service, **{name: some}) == rows.that(lambda row: holds(lookup, some, row["description"]))


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """A regular expression of what all databases have in common."""
    literal = st.sampled_from(ALPHABET).map(regex.escape)
    sets = st.tuples(st.sampled_from(["[", "[^"]), st.text(LETTERS, min_size=1, max_size=3)).map(
        lambda parts: f"{parts[0]}{parts[1]}]"
    )
    atoms = st.one_of(literal, sets, st.sampled_from([".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "[a-z]", "[0-9]"]))
    atom = st.one_of(atoms, st.lists(atoms, min_size=1, max_size=2).map(lambda some: f"({'|'.join(some)})"))
    quantified = st.tuples(atom, st.sampled_from(["", "", "", "?", "*", "+", "{2}", "{1,2}"])).map("".join)
    middle = "".join(draw(st.lists(quantified, max_size=4)))
    return draw(st.sampled_from(["", "^"])) + middle + draw(st.sampled_from(["", "$"]))


@settings(max_examples=80)
@given(st.sampled_from(["re", "nre", "ire", "nire"]), patterns())
@example("re", "^$")
def test_regular_expressions_match_as_in_python(service: Service, rows: Rows, lookup: str, pattern: str) -> None:
    expected = rows.that(lambda row: holds(lookup, [pattern], row["description"]))
    event(f"{'none' if not expected else 'all' if len(expected) == len(rows) else 'some'} match")
    assert rows.found(service, **{f"description__{lookup}": pattern}) == expected


@settings(max_examples=50)
@given(st.one_of(parts_of_rows(), st.text(ALPHABET, min_size=1, max_size=3)))
def test_a_search_finds_a_text_in_any_column(service: Service, rows: Rows, text: str) -> None:
    wanted = text.strip().lower()
    expected = rows.that(lambda row: any(wanted in row[column].lower() for column in SEARCHED))
    assert rows.found(service, q=text) == expected


@pytest.mark.parametrize("lookup", ["", "__ie", "__ic", "__isw", "__iew"])
def test_a_text_finds_itself_whatever_its_letters(service: Service, lookup: str) -> None:
    word = service.unique()
    bodies = [
        {"name": f"{word} {n}", "status": "active", "facility": word, "description": text}
        for n, text in enumerate(RARE)
    ]
    rows = Rows(SITES, {"facility": word}, service.api.post(SITES, bodies))
    for row in rows:
        for others in ([], ["zz", "z.z", "z|z"]):  # several texts are one condition
            assert row["id"] in rows.found(service, **{f"description{lookup}": [row["description"], *others]})
