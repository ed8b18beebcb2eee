"""Value that a statement reads beside the rows of a plan, so that it takes no statement of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from netinv_core.driver.results import Row


@dataclasses.dataclass(eq=False)
class Beside:
    """A scalar subquery, under a name, and its ``value``: ``None`` where there were no rows."""

    name: str
    column: Any
    value: Any = None


def read_value(beside: Beside | None, rows: Sequence[Row], position: int) -> Sequence[Row]:
    """Sets the value from the column at a position of the first row; returns the rows."""
    if beside is not None and rows:
        beside.value = rows[0][position]
    return rows
