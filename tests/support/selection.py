"""Marks that the option ``-m`` leaves out as a whole, for generated parameters: those of tests that do not run are not
made. Half of all tests repeat the contract, and to collect and deselect them takes three seconds of each process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

_left_out: set[str] = set()


def pytest_configure(config: pytest.Config) -> None:
    """Reads the marks before modules of tests are imported."""
    _left_out.update(marks_left_out(config.option.markexpr))


def marks_left_out(expression: str) -> set[str]:
    """Returns the marks without which an expression never holds: terms ``not mark`` joined by ``and``."""
    outside = re.sub(r"\([^()]*\)", "", expression)
    terms = [term.split() for term in outside.split(" and ")]
    if any(word in ("or", "(", ")") for term in terms for word in term) or "(" in outside:
        return set()
    return {term[1] for term in terms if len(term) == 2 and term[0] == "not"}


def may_run(marks: Sequence[Any]) -> bool:
    """Returns false when a test with these marks is left out."""
    return _left_out.isdisjoint(mark.name for mark in marks)
