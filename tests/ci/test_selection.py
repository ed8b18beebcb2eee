"""Selection of the gate."""

from __future__ import annotations

import types
from typing import Any

import pytest

from ci.steps import GATE, ON_POSTGRESQL, ON_SERVERS, WHOLE, Pytest
from tests.support import REPOSITORY
from tests.support.night import BOTH_SERVERS, CASES, EVERY_CASE, JOURNEYS, further_cases

pytestmark = pytest.mark.any_database


def test_every_listed_module_exists() -> None:
    listed = {*ON_SERVERS, *ON_POSTGRESQL, *EVERY_CASE, *BOTH_SERVERS}
    assert sorted(part for part in listed if not (REPOSITORY / part).exists()) == []


def test_every_listed_journey_exists() -> None:
    modules = [path.read_text() for path in (REPOSITORY / "tests/browser").glob("test_*.py")]
    assert sorted(name for name in JOURNEYS if not any(f"def {name}(" in text for text in modules)) == []


@pytest.mark.parametrize("number", range(2 * CASES))
def test_of_many_cases_a_few_are_left(number: int, request: pytest.FixtureRequest) -> None:
    """This one is in a folder of which all cases run."""
    assert request.node.get_closest_marker("night") is None


def test_a_further_case_replaces_one_at_most() -> None:
    """Which cases run depends on their ids, not on their order or number."""

    def left(count: int) -> set[str]:
        items: list[Any] = [types.SimpleNamespace(name=f"test_it[{number}]") for number in range(count)]
        return {item.name for item in items} - {item.name for item in further_cases(items)}

    assert len(left(20)) == len(left(21)) == CASES
    assert all(len(left(count) - left(count + 1)) <= 1 for count in range(40))
    assert left(1) == {"test_it[0]"}


def test_the_whole_leaves_nothing_out() -> None:
    """Neither `night` nor `repetition` are in an expression of the whole; all databases are in both."""
    whole = [step for step in WHOLE if isinstance(step, Pytest)]
    assert [step.name for step in whole if "night" in step.marks or "repetition" in step.marks] == []
    gate = [step for step in GATE if isinstance(step, Pytest)]
    assert {step.database for step in gate} == {step.database for step in whole} == {"", "PostgreSQL", "MariaDB"}
    assert all("not night" in step.marks for step in gate)
