"""Amount of generated input: ``--inputs=few`` (a random sample, the default), ``many``, or ``all`` combinations;
``--input-seed`` repeats a run.
"""

from __future__ import annotations

import dataclasses
import secrets
from typing import Any

import pytest

RANDOM_REQUESTS = {"few": 20, "many": 110, "all": 220}
COMBINATIONS = {"few": 15, "many": None, "all": None}


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The amount of generated input and the seed that draws it."""

    amount: str
    seed: int

    @property
    def random_requests(self) -> int:
        """Random bad requests to each resource."""
        return RANDOM_REQUESTS[self.amount]

    @property
    def case_options(self) -> dict[str, Any]:
        """Arguments for :class:`netinv_testing.Case`."""
        return {
            "thorough": self.amount == "all",
            "inputs": self.random_requests,
            "most": COMBINATIONS[self.amount],
            "seed": self.seed,
        }


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("netinv")
    group.addoption(
        "--inputs",
        choices=list(RANDOM_REQUESTS),
        default="few",
        help="amount of generated input (default: few, a random sample)",
    )
    group.addoption("--input-seed", type=int, help="seed of generated input (default: another one in each run)")


def pytest_configure(config: pytest.Config) -> None:
    """Draws the seed, which the processes of pytest-xdist inherit with the other options."""
    if config.option.input_seed is None:
        config.option.input_seed = secrets.randbelow(10**6)


def pytest_report_header(config: pytest.Config) -> str:
    """Names the options that repeat the run."""
    return _options(config)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Names them again, since ``-q`` leaves out the header."""
    terminalreporter.write_line(f"generated input: {_options(config)}")


def _options(config: pytest.Config) -> str:
    return f"--inputs={config.option.inputs} --input-seed={config.option.input_seed}"


@pytest.fixture(scope="session")
def inputs(pytestconfig: pytest.Config) -> Inputs:
    """The amount of generated input of this run."""
    return Inputs(pytestconfig.option.inputs, pytestconfig.option.input_seed)
