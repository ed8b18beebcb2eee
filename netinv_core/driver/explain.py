"""EXPLAIN of PostgreSQL as a statement."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ClauseElement, Executable


class Explain(Executable, ClauseElement):
    """EXPLAIN of a SELECT."""

    inherit_cache = False

    def __init__(self, select: Any) -> None:
        self.select = select


@compiles(Explain, "postgresql")
def _explain(element: Explain, compiler: Any, **options: Any) -> str:
    return f"EXPLAIN (FORMAT JSON) {compiler.process(element.select, **options)}"


def rows_of_plan(plan: Any) -> int:
    """The number of rows that the database expects, by the result of :class:`Explain`."""
    return int(plan[0]["Plan"]["Plan Rows"])
