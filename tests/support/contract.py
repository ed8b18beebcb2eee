"""Pairs of checks and resources for the contract tests: ``make test`` runs an eighth of them, ``make test-all`` all.

On SQLite every pair runs; seven eighths are marked ``repetition`` and run with the slow tests. On PostgreSQL a quarter of
the pairs runs, and on MariaDB an eighth, another one than on SQLite; ``ON_SERVERS`` of the Makefile has all pairs of
the REST contract run there too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pytest

from netinv_core.endpoint import Endpoint
from tests.support.databases import DIALECT
from tests.support.registry import REGISTRY
from tests.support.selection import may_run

SHARE = {"sqlite": 8, "postgresql": 4, "mysql": 8}[DIALECT]  # every eighth pair is no repetition
ALWAYS = 7  # a check of at most so many resources runs for each of them
SHIFT = {"sqlite": 0, "postgresql": 3, "mysql": 6}[DIALECT]
ENDPOINTS = REGISTRY.endpoints


class AnyCheck(Protocol):
    """A check of REST or of pages."""

    @property
    def name(self) -> str:
        """The checked property."""

    @property
    def applies(self) -> Callable[[Endpoint], bool]:
        """True for the resources that have the property."""


def contract_pairs(checks: Sequence[AnyCheck], *, any_database: bool = False) -> list[Any]:
    """Returns the parameters ``check, label`` of a test of every check with every resource that it applies to.

    The pairs that are no repetitions lie on diagonals: an eighth of the resources of each check, and an eighth of the
    checks of each resource (:data:`SHARE`).

    :param any_database: repetitions run on SQLite alone
    """
    pairs = []
    for number, check in enumerate(checks):
        labels = [label for label in sorted(ENDPOINTS) if check.applies(ENDPOINTS[label])]
        marks = _repetitions(len(labels), number, any_database=any_database)
        for label, marks_of_pair in zip(labels, marks, strict=True):
            if may_run(marks_of_pair):
                pairs.append(pytest.param(check, label, id=f"{label}-{check.name}", marks=marks_of_pair))
    return sorted(pairs, key=lambda pair: str(pair.values[1]))  # the tests of a resource stay together


def every_resource() -> list[Any]:
    """Returns the parameters ``label`` of a test of every resource, seven eighths of them repetitions."""
    return every(sorted(ENDPOINTS))


def every(values: Sequence[Any], first: int = 0, *, any_database: bool = False) -> list[Any]:
    """Returns the parameters of a test of every value, seven eighths of them repetitions.

    :param first: shifts which of them are no repetitions
    :param any_database: repetitions run on SQLite alone
    """
    return [
        pytest.param(value, marks=marks)
        for value, marks in zip(values, _repetitions(len(values), first, any_database=any_database), strict=True)
        if may_run(marks)
    ]


def _repetitions(count: int, first: int = 0, *, any_database: bool = False) -> list[list[Any]]:
    """The marks of the tests of so many resources; ``first`` shifts which of them are no repetitions."""
    is_repeated = [count > ALWAYS and (first + SHIFT + position) % SHARE != 0 for position in range(count)]
    marks = [pytest.mark.repetition, *([pytest.mark.any_database] if any_database else [])]
    return [marks if repeated else [] for repeated in is_repeated]
