"""The plans with which PostgreSQL runs the statements of the measured requests: sequential scans of large tables, and
scans that read many more rows than they return.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from bench.floor import bare_connection, is_measurable
from bench.in_process import InProcess, Statement
from bench.measures import Measure

LARGE = 20_000  # rows of a table, or rows that a scan reads and leaves out
SEQUENTIAL = "Seq Scan"
REPETITIONS = 3  # after which caches have what they keep
# As its users do, auto_explain tells of the plan that was used: a generic one, unlike EXPLAIN of a text with values.
EXPLAIN = (
    "LOAD 'auto_explain'",
    "SET auto_explain.log_min_duration = 0",
    "SET auto_explain.log_analyze = on",
    "SET auto_explain.log_format = json",
    "SET auto_explain.log_level = notice",
)


@dataclasses.dataclass(frozen=True)
class Offender:
    """A scan of a large table in a statement of a request; ``rows`` is the number of rows read, ``ms`` the time of the
    statement.
    """

    request: str
    table: str
    scan: str
    rows: int
    ms: float
    text: str

    @property
    def is_sequential(self) -> bool:
        """True for a sequential scan that no LIMIT has ended early: it takes longer the larger the table is."""
        return self.scan == SEQUENTIAL and self.rows > LARGE


class Plans:
    """Runs requests in this process, and their statements again with their plans."""

    def __init__(self, ini: Path, database: str, headers: dict[str, str]) -> None:
        self._client = InProcess(ini, headers)
        self._connection = bare_connection(database)
        for command in EXPLAIN:
            self._connection.execute(command)
        self._connection.commit()
        self._notices: list[str] = []
        self._connection.add_notice_handler(lambda notice: self._notices.append(notice.message_primary or ""))
        rows = self._connection.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > %s", [LARGE])
        self._large = {name for (name,) in rows}

    def offenders(self, measure: Measure) -> list[Offender]:
        """The scans of large tables by one kind of request, each statement's worst; empty for allocations."""
        if not is_measurable(measure):
            return []
        client: Any = self._client
        prepared = measure.prepare(client) if measure.prepare is not None else None
        with self._client.rolled_back():
            for _ in range(REPETITIONS):
                measure.call(client, prepared)
        found = [self._worst(measure.name, statement) for statement in self._client.statements]
        self._connection.rollback()
        return [offender for offender in found if offender is not None]

    def _worst(self, name: str, statement: Statement) -> Offender | None:
        self._notices.clear()
        if statement.many:
            self._connection.cursor().executemany(statement.text, statement.parameters)
            return None
        self._connection.execute(statement.text, statement.parameters)
        scans = [
            Offender(name, table, scan, rows, float(plan["Plan"]["Actual Total Time"]), statement.text)
            for plan in map(_plan, self._notices)
            if plan is not None and "Actual Total Time" in plan["Plan"]  # not that of an EXPLAIN
            for table, scan, rows in _scans(plan["Plan"])
            if table in self._large
        ]
        return max(scans, key=lambda scan: (scan.is_sequential, scan.rows), default=None)

    def close(self) -> None:
        """Closes all connections."""
        self._connection.close()
        self._client.engine.dispose()


def _plan(notice: str) -> dict[str, Any] | None:
    _, found, text = notice.partition("plan:")
    plan: dict[str, Any] | None = orjson.loads(text) if found else None
    return plan


def _scans(node: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Table, kind and rows read of each sequential scan, and of each other scan that reads many rows."""
    loops = node.get("Actual Loops", 1)
    if not loops:  # never executed
        return
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    rows = round((node.get("Actual Rows", 0) + removed) * loops)
    if "Relation Name" in node and (node["Node Type"] == SEQUENTIAL or rows > LARGE):
        yield node["Relation Name"], node["Node Type"], rows
    for inner in node.get("Plans", ()):
        yield from _scans(inner)
