"""Functions of SQLite that are written in Python, and the time limit of statements.

SQLite asks its progress handler after many instructions of its virtual machine. Each call of a function is one of them,
however long it takes: so every function checks the time itself.
"""

from __future__ import annotations

import datetime
import sqlite3
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from netinv_core import patterns

MAX_CURSORS = 1000  # references to cursors before those are dropped whose cursor is gone
PATTERN_SECONDS = 1.0  # processor time for the regular expressions of one transaction
INSTRUCTIONS_BETWEEN_CHECKS = 100_000  # of SQLite's virtual machine, about a millisecond without calls of functions
Test = Callable[[str], bool]


class Functions:
    """Functions of a SQLite connection, with the time limits of its present statement, and of the regular expressions
    in its present transaction, whose cursors it closes.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.was_late = False
        self._end = float("inf")
        self._numbers: dict[tuple[str, str], int] = {}
        self._tests: list[Test] = []
        self._patterns: patterns.Budget | None = None
        self._cursors: list[weakref.ref[sqlite3.Cursor]] = []

    def begin(self) -> None:
        """Starts the limit of a new transaction: a request may have many statements with regular expressions."""
        self._patterns = None

    def start(self, cursor: sqlite3.Cursor) -> None:
        """Starts the limit of a new statement."""
        if self.seconds:
            self._end = time.monotonic() + self.seconds
        self.was_late = False
        if len(self._cursors) > MAX_CURSORS:
            self._cursors = [reference for reference in self._cursors if reference() is not None]
        self._cursors.append(weakref.ref(cursor))

    def end(self) -> None:
        """Closes the cursors of a transaction, and drops the tests of its statements.

        A cursor that was not read to its end keeps its snapshot beyond ROLLBACK: the next request would read the past,
        and could not write. An exception may hold such a cursor until the garbage collector runs.
        """
        for reference in self._cursors:
            cursor = reference()
            if cursor is not None:
                cursor.close()
        self._cursors.clear()
        self._numbers.clear()
        self._tests.clear()

    def add_to(self, connection: Any) -> None:
        """Makes the functions known to a connection of the driver."""
        functions: dict[str, tuple[int, Callable[..., Any]]] = {
            "lower": (1, _lower),  # by the rules of Unicode
            "concat_ws": (-1, _concat_ws),
            "netinv_test": (2, self._test),
            "netinv_meets": (2, self._meets),
        }
        for name, (count, function) in functions.items():
            connection.create_function(name, count, self._within_time(function), deterministic=True)
        connection.create_function("netinv_now", 0, _now)
        if self.seconds:
            connection.set_progress_handler(self._is_over, INSTRUCTIONS_BETWEEN_CHECKS)

    def _is_over(self) -> bool:
        """Progress handler of SQLite; True interrupts the statement."""
        return time.monotonic() > self._end

    def _within_time(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps a function; a call after the end of the statement's time fails, and so does the statement."""

        def call(*values: Any) -> Any:
            if time.monotonic() > self._end:
                self.was_late = True
                raise TimeoutError
            return function(*values)

        return call

    def _test(self, kind: str, values: str) -> int:
        """SQL function ``netinv_test``: the number of the test of a kind with a JSON list of values."""
        number = self._numbers.get((kind, values))
        if number is None:
            self._tests.append(TESTS[kind](self, orjson.loads(values)))
            number = self._numbers[kind, values] = len(self._tests) - 1
        return number

    def _meets(self, number: int, value: Any) -> bool | None:
        """SQL function ``netinv_meets``: a value meets a test."""
        return None if value is None else self._tests[number](str(value))

    @property
    def budget(self) -> patterns.Budget:
        """The processor time that is left for regular expressions."""
        if self._patterns is None:
            self._patterns = patterns.Budget(PATTERN_SECONDS)
        return self._patterns


def _contains(functions: Functions, values: Sequence[str]) -> Test:
    return lambda text: any(map(text.__contains__, values))


def _starts(functions: Functions, values: Sequence[str]) -> Test:
    beginnings = tuple(values)
    return lambda text: text.startswith(beginnings)


def _ends(functions: Functions, values: Sequence[str]) -> Test:
    endings = tuple(values)
    return lambda text: text.endswith(endings)


def _matches(ignore_case: bool) -> Callable[[Functions, Sequence[str]], Test]:
    def test(functions: Functions, values: Sequence[str]) -> Test:
        with functions.budget.spending():
            compiled = []
            for pattern in values:
                functions.budget.check()
                compiled.append(patterns.compile_pattern(pattern, ignore_case))

        def matches(text: str) -> bool:
            budget = functions.budget
            with budget.spending():
                return any(budget.finds(pattern, text) for pattern in compiled)

        return matches

    return test


# The tests of texts with any of some values, by kind.
TESTS: Mapping[str, Callable[[Functions, Sequence[str]], Test]] = {
    "contains": _contains,
    "starts": _starts,
    "ends": _ends,
    "re": _matches(ignore_case=False),
    "ire": _matches(ignore_case=True),
}


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _now() -> str:
    """SQL function ``netinv_now``: the present time in UTC, as SQLAlchemy stores times."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _concat_ws(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part is not None)
