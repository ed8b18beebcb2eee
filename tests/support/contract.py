"""Pairs of checks and resources for the contract tests: ``make test`` runs an eighth of them, ``make test-all`` all.

On PostgreSQL and MariaDB every pair runs. On SQLite the others are marked ``repetition`` and run with the slow tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import pytest

from netinv_core.endpoint import Endpoint
from tests.support.registry import REGISTRY

SHARE = 8  # every eighth pair is no repetition
ALWAYS = SHARE - 1  # a check of at most so many resources runs for each of them
ENDPOINTS = REGISTRY.endpoints


class AnyCheck(Protocol):
    """A check of REST or of pages."""

    @property
    def name(self) -> str:
        """The checked property."""

    @property
    def applies(self) -> Callable[[Endpoint], bool]:
        """True for the resources that have the property."""


def contract_pairs(checks: Sequence[AnyCheck], marks: Callable[[Any], Iterable[Any]] = lambda check: ()) -> list[Any]:
    """Returns the parameters ``check, label`` of a test of every check with every resource that it applies to.

    The pairs that are no repetitions lie on diagonals: an eighth of the resources of each check, and an eighth of the
    checks of each resource.
    """
    pairs = []
    for number, check in enumerate(checks):
        labels = [label for label in sorted(ENDPOINTS) if check.applies(ENDPOINTS[label])]
        for label, repetition in zip(labels, _repetitions(len(labels), number), strict=True):
            name = f"{label}-{check.name}"
            pairs.append(pytest.param(check, label, id=name, marks=[*marks(check), *repetition]))
    return sorted(pairs, key=lambda pair: str(pair.values[1]))  # the tests of a resource stay together


def every_resource() -> list[Any]:
    """Returns the parameters ``label`` of a test of every resource, seven eighths of them repetitions."""
    return every(sorted(ENDPOINTS))


def every(values: Sequence[Any], first: int = 0) -> list[Any]:
    """Returns the parameters of a test of every value, seven eighths of them repetitions.

    :param first: shifts which of them are no repetitions
    """
    return [
        pytest.param(value, marks=marks) for value, marks in zip(values, _repetitions(len(values), first), strict=True)
    ]


def _repetitions(count: int, first: int = 0) -> list[list[Any]]:
    """The marks of the tests of so many resources; ``first`` shifts which of them are no repetitions."""
    is_repeated = [count > ALWAYS and (first + position) % SHARE != 0 for position in range(count)]
    return [[pytest.mark.repetition] * repeated for repeated in is_repeated]
