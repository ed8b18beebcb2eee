"""Numbers of rows by the statistics of the database, which take no time to count."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ClauseElement, Executable


def estimated_count(dialect: str, table: Any) -> Any:
    """SELECT of the number of rows of a table by the statistics of the database; ``None`` where it keeps none.

    It gives a negative number, or 0, for a table that was never analysed.
    """
    if dialect != "postgresql":
        return None
    statement = sa.text("SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = to_regclass(CAST(:name AS TEXT))")
    return statement.bindparams(name=table.name)


class _Explain(Executable, ClauseElement):
    """EXPLAIN of a SELECT."""

    inherit_cache = False

    def __init__(self, select: Any) -> None:
        self.select = select


@compiles(_Explain, "postgresql")
def _explain(element: _Explain, compiler: Any, **options: Any) -> str:
    return f"EXPLAIN (FORMAT JSON) {compiler.process(element.select, **options)}"


def expected_rows(dialect: str, select: Any) -> Any:
    """Statement for the plan of a SELECT, of which :func:`rows_of_plan` is the number of rows; ``None`` on databases
    that tell no such number.
    """
    return _Explain(select) if dialect == "postgresql" else None


def rows_of_plan(plan: Any) -> int:
    """The number of rows that the database expects."""
    return int(plan[0]["Plan"]["Plan Rows"])
