"""Order of tests: ``--shuffle`` runs the modules, and the tests of each, in an order that ``--input-seed`` draws."""

from __future__ import annotations

import random
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("netinv").addoption(
        "--shuffle", action="store_true", help="run the tests in a random order, drawn by --input-seed"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffles the tests. Those of a module stay together, since fixtures of a module are expensive."""
    if not config.option.shuffle:
        return
    chance = random.Random(config.option.input_seed)
    modules: dict[Any, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    groups = list(modules.values())
    chance.shuffle(groups)
    for group in groups:
        chance.shuffle(group)
    items[:] = [item for group in groups for item in group]
