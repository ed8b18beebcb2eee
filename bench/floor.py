"""The floor of a request: the processor time of its SQL statements through bare psycopg, and of orjson for the bytes of
its answer, in the process in which netinv answers it. Times of one process can be compared on a busy machine.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import psycopg
from psycopg.types.json import set_json_dumps, set_json_loads
from sqlalchemy.engine import make_url

from bench.in_process import InProcess, Statement, roll_back
from bench.measures import Measure

FEWEST, MAX = 5, 200
WARM = 8  # psycopg prepares a statement when it runs for the sixth time
# As netinv_core.db.engine has it.
OPTIONS = "-c timezone=UTC -c plan_cache_mode=force_generic_plan -c jit=off"


def _to_json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z)


def bare_connection(database: str, *, autocommit: bool = False) -> psycopg.Connection[Any]:
    """A connection of psycopg to the database at an URL of SQLAlchemy, with the settings of the service."""
    url = make_url(database).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg.connect(url, autocommit=autocommit, options=OPTIONS)
    set_json_loads(orjson.loads, connection)
    set_json_dumps(_to_json, connection)
    return connection


@dataclasses.dataclass(frozen=True)
class Floor:
    """Processor time of one kind of request in ms, and of its floor: lower quartiles, which other load on the machine
    changes least. ``statements`` is the number of statements of both, ``aim`` the ratio wanted.
    """

    name: str
    cpu_ms: float
    floor_ms: float
    statements: int
    requests: int
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """The processor time of netinv as a multiple of the floor; 0 for a request without statements."""
        return self.cpu_ms / self.floor_ms if self.statements else 0.0

    def data(self) -> dict[str, Any]:
        """The result as it is kept in a file."""
        return {**dataclasses.asdict(self), "ratio": self.ratio}


class Replay:
    """Connections of bare psycopg: one for statements of a transaction, which is rolled back, one for others."""

    def __init__(self, database: str) -> None:
        self._connections = {
            in_transaction: bare_connection(database, autocommit=not in_transaction) for in_transaction in (True, False)
        }

    def seconds(self, statements: Sequence[Statement], answer: Any) -> float:
        """The processor time of running the statements and dumping the answer."""
        began = time.process_time()
        for statement in statements:
            cursor = self._connections[statement.in_transaction].cursor()
            if statement.many:
                cursor.executemany(statement.text, statement.parameters)
            else:
                cursor.execute(statement.text, statement.parameters)
            if cursor.pgresult is not None and cursor.pgresult.nfields:
                cursor.fetchall()
            cursor.close()
        if any(statement.in_transaction for statement in statements):
            roll_back(self._connections[True])
        orjson.dumps(answer)
        return time.process_time() - began

    def close(self) -> None:
        """Closes the connections."""
        for connection in self._connections.values():
            connection.close()


def is_measurable(measure: Measure) -> bool:
    """True for a request that can be repeated when it is rolled back; an allocation checks that it cannot."""
    return measure.clients is None


class Floors:
    """Measures requests in this process, one after the other."""

    def __init__(self, ini: Path, database: str, headers: dict[str, str]) -> None:
        self.client = InProcess(ini, headers)
        self._replay = Replay(database)

    def measure(self, measure: Measure, seconds: float) -> Floor:
        """Alternates between a request and its replay, for about ``seconds``.

        :raises RuntimeError: when the answer is not what was asked for
        """
        client: Any = self.client
        prepared = measure.prepare(client) if measure.prepare is not None else None
        times: list[tuple[float, float]] = []
        end = 0.0
        with self.client.rolled_back():
            for number in itertools.count():
                measure.call(client, prepared)
                answer = orjson.loads(self.client.content) if self.client.content else None
                spent = self._replay.seconds(self.client.statements, answer)
                if end:
                    times.append((self.client.seconds, spent))
                elif number + 1 >= (FEWEST if self.client.seconds > seconds / WARM else WARM):
                    end = time.perf_counter() + seconds
                if len(times) >= MAX or (len(times) >= FEWEST and time.perf_counter() > end):
                    break
        cpu, floor = (statistics.quantiles(found, n=4)[0] * 1000 for found in zip(*times, strict=True))
        return Floor(measure.name, cpu, floor, len(self.client.statements), len(times), measure.ratio)

    def close(self) -> None:
        """Closes all connections."""
        self._replay.close()
        self.client.engine.dispose()
