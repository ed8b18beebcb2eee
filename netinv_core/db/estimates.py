"""Numbers of rows by the statistics of the database, which take no time to count."""

from __future__ import annotations

from typing import Any

from netinv_core.driver import driver_of


def estimated_count(dialect: str, table: Any) -> Any:
    """SELECT of the number of rows of a table by the statistics of the database; ``None`` where it keeps none.

    It gives a negative number, or 0, for a table that was never analysed.
    """
    return driver_of(dialect).estimated_count(table)


def expected_rows(dialect: str, select: Any) -> Any:
    """Statement for the plan of a SELECT, of which :func:`rows_of_plan` is the number of rows; ``None`` on databases
    that tell no such number.
    """
    return driver_of(dialect).expected_rows(select)


def rows_of_plan(plan: Any) -> int:
    """The number of rows that the database expects."""
    return int(plan[0]["Plan"]["Plan Rows"])
