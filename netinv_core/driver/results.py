"""Results of statements that ran on the connection of psycopg, with the methods of SQLAlchemy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import IteratorResult, Result

if TYPE_CHECKING:
    from sqlalchemy.engine.result import SimpleResultMetaData

Row = Sequence[Any]


class Tuples(list[Row]):
    """The rows of a result as the driver has them."""

    def all(self) -> list[Row]:
        """The rows."""
        return self

    def first(self) -> Row | None:
        """The first row; ``None`` without rows."""
        return self[0] if self else None


class Rows(IteratorResult[Any]):
    """The rows of a statement. :meth:`tuples` has them without objects of SQLAlchemy."""

    def __init__(self, metadata: SimpleResultMetaData, rows: list[Row], rowcount: int) -> None:
        super().__init__(metadata, iter(rows))
        self._fetched = rows
        self.rowcount = rowcount

    def tuples(self) -> Any:
        """The rows as tuples."""
        return Tuples(self._fetched)


class Written:
    """The result of a statement that returns no rows."""

    def __init__(self, rowcount: int) -> None:
        self.rowcount = rowcount


AnyResult = Result[Any] | Written
