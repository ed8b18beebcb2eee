"""Order of tests: ``--shuffle`` runs them in an order that ``--input-seed`` draws.

With ``-n 2 --dist each --parts`` each process of pytest-xdist runs a part of the tests. The parts are the same in every
run, so that the tests that share a service and a database are always the same, in the same order.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ci.seconds import USUAL, seconds_of_modules

LONGEST_PART = 100  # tests of one module that stay together
SECONDS = {"slow": 2.4, "crash": 2.4}  # of a test with the mark, at least


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("netinv").addoption(
        "--shuffle", action="store_true", help="run the tests in a random order, drawn by --input-seed"
    )
    parser.getgroup("netinv").addoption(
        "--parts", action="store_true", help="divide the tests among the processes; takes --dist each of pytest-xdist"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Counts the tests of all parts, in the process that divides them."""
    if config.option.parts and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(WholeCount())


class WholeCount:
    """Number of tests of all parts, which the progress is a part of; pytest-xdist takes that of one process."""

    def __init__(self) -> None:
        self._session: Any = None
        self._count = 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keeps the session."""
        self._session = session

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Adds the tests of a process."""
        self._count += len(ids)

    def pytest_runtest_logstart(self) -> None:
        """Sets the number, once all processes have told theirs."""
        self._session.testscollected = self._count


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffles the tests, and keeps those of this process."""
    if config.option.shuffle:
        _shuffle(config, items)
    worker, count = os.environ.get("PYTEST_XDIST_WORKER"), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if worker is None or not config.option.parts:
        return
    parts = parts_of(items, count)
    own = int(worker.removeprefix("gw"))
    config.hook.pytest_deselected(items=[item for number, part in enumerate(parts) if number != own for item in part])
    items[:] = parts[own]


def parts_of(items: Sequence[pytest.Item], count: int) -> list[list[pytest.Item]]:
    """Divides the tests into parts that take about as long. The tests of a module stay together, up to
    :data:`LONGEST_PART`.
    """
    parts: list[list[pytest.Item]] = [[] for _ in range(count)]
    taken, usual = [0.0] * count, seconds_of_modules()
    for _, module in itertools.groupby(items, key=lambda item: item.path):
        tests = list(module)
        for block in (tests[start : start + LONGEST_PART] for start in range(0, len(tests), LONGEST_PART)):
            shortest = taken.index(min(taken))
            parts[shortest] += block
            taken[shortest] += sum(_seconds(item, usual) for item in block)
    return parts


def _seconds(item: pytest.Item, usual: Mapping[str, float]) -> float:
    """The seconds that a test takes, by its module and its marks."""
    at_least = [seconds for mark, seconds in SECONDS.items() if item.get_closest_marker(mark)]
    return max([usual.get(item.nodeid.partition("::")[0], USUAL), *at_least])


def _shuffle(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffles the tests. Those of a module stay together in two parts, as xdist may give them to a worker."""
    chance = random.Random(config.option.input_seed)
    modules: dict[Any, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    for module in modules.values():
        chance.shuffle(module)
    groups = [part for module in modules.values() for part in (module[::2], module[1::2])]
    chance.shuffle(groups)
    items[:] = [item for group in groups for item in group]
