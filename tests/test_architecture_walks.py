"""docs/architecture.md lists the files that requests enter, in their order; a request enters no more than it did."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench import trace
from bench.receiver import receiver
from bench.trace import Request, Trace
from netinv_testing import Service

pytestmark = pytest.mark.any_database
REGENERATE = "make trace TRACE=--document writes the lists; a raised ceiling needs a reason"
# The most functions and files of netinv that a request enters.
CEILINGS = {
    "GET one device": (118, 42),
    "GET list name__ic, 50": (164, 54),  # expressions of databases have a file of their own
    "PATCH 3 devices": (347, 99),  # rules lock what they read, and see what was written
    "page: list": (244, 90),  # filters of validation rules
    "page: form submit": (408, 114),
    "delivery": (139, 36),  # says that it is alive
}
SLACK = 1.05  # for what a request does now and then
MAX_STATEMENTS = {"PATCH 3 devices": 19, "page: form submit": 20}


@pytest.fixture(scope="module")
def demo_service() -> Iterator[Service]:
    """A service with the demo inventory on SQLite."""
    with trace.demo_service() as service:
        yield service


@pytest.fixture(scope="module")
def requests(demo_service: Service) -> Iterator[dict[str, Request]]:
    """The requests by name."""
    with receiver() as given:
        yield dict(trace.requests_of(demo_service, given.url))


@pytest.fixture(scope="module")
def traces(demo_service: Service, requests: dict[str, Request]) -> dict[str, Trace]:
    """The traces of the requests by name."""
    return {name: trace.trace_of(requests[name], demo_service) for name in CEILINGS}


@pytest.mark.night
@pytest.mark.parametrize("name", CEILINGS)
def test_the_page_lists_the_files_that_a_request_enters(name: str, traces: dict[str, Trace]) -> None:
    """In the order of the first entry, none missing, none too many."""
    match = trace.block_of(name).search(trace.PAGE.read_text())
    assert match is not None, f"docs/architecture.md has no block for {name!r}"
    listed, entered = trace.files_in(match[2]), list(traces[name].files)
    missing, surplus = set(entered) - set(listed), set(listed) - set(entered)
    assert (missing, surplus) == (set(), set()), REGENERATE
    assert listed == entered, REGENERATE


@pytest.mark.parametrize(("name", "ceiling"), CEILINGS.items())
def test_a_request_enters_few_functions_and_files(
    name: str, ceiling: tuple[int, int], traces: dict[str, Trace]
) -> None:
    functions, files = len(traces[name].functions), len(traces[name].files)
    assert functions <= ceiling[0] * SLACK and files <= ceiling[1] * SLACK, (
        f"{functions} functions, {files} files: {REGENERATE}"
    )


@pytest.mark.parametrize(("name", "most"), MAX_STATEMENTS.items())
def test_a_write_takes_few_statements(name: str, most: int, traces: dict[str, Trace]) -> None:
    assert len(traces[name].statements) <= most, traces[name].statements
