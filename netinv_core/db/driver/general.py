"""Execution of statements by SQLAlchemy."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from netinv_core.db.driver.combined import Combined
from netinv_core.db.driver.read_connection import ReadConnection
from netinv_core.db.engine import commit_without_disk, options_for

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

Values = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


class Driver:
    """Driver of a database that needs no way of its own to run statements.

    * ``locks_database``: a transaction that writes locks all rows, so that one writes at a time;
    * ``locks_what_it_reads``: INSERT … SELECT locks the rows of the SELECT;
    * ``checks_each_row``: foreign keys are checked after each row of a statement, not after the statement;
    * ``lists_are_json``: a list in one parameter is a JSON text, which not every type can be in;
    * ``has_text_indexes``: trigram indexes find parts of texts;
    * ``sorts_nulls``: ORDER BY takes NULLS FIRST and NULLS LAST;
    * ``compares_rows``: an index serves the comparison of rows, ``(a, b) > (1, 2)``;
    * ``most_bytes``: the most of a BLOB, where that is fewer than answers have.
    """

    locks_database = locks_what_it_reads = checks_each_row = lists_are_json = has_text_indexes = False
    sorts_nulls = compares_rows = True
    most_bytes = sys.maxsize

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def null(self, type_: Any) -> Any:
        """NULL of a type, as a column of a UNION."""
        return sa.literal_column("NULL", type_)

    def before_slash(self, text: Any) -> Any:
        """The part of a text before its slash."""
        return sa.func.substring_index(text, "/", 1, type_=sa.Text)

    def upsert(self, table: sa.Table, rows: list[dict[str, Any]], key: sa.Column[Any], values: dict[str, Any]) -> Any:
        """INSERT that writes the ``values`` to rows whose key is there."""
        return sqlite.insert(table).values(rows).on_conflict_do_update(index_elements=[key], set_=values)

    def read_connection(self, engine: Engine) -> ReadConnection | None:
        """The connection of a unit of work that only reads; ``None`` where it is that of its session."""
        return None

    def execute(
        self,
        connection: Connection | ReadConnection,
        statement: Any,
        values: Values = None,
        where: Sequence[Any] = (),
    ) -> Any:
        """The result of a statement for these values of its parameters, or for those of each of many rows.

        A statement that its caller keeps is compiled once, and SELECTs of the same structure are, too.

        :param where: further conditions, for a SELECT that the caller keeps
        :raises sqlalchemy.exc.DBAPIError: as :meth:`sqlalchemy.engine.Connection.execute`
        """
        if isinstance(statement, Combined):
            return statement.in_steps(functools.partial(self.execute, connection), values)
        return whole(connection).execute(statement.where(*where) if where else statement, values)

    def execute_alone(self, engine: Engine, statement: Combined, values: Any) -> Any:
        """The result of a statement in a transaction of its own, whose commit does not wait for the disk."""
        with (
            engine.connect().execution_options(**options_for(self.dialect, writing=True)) as connection,
            connection.begin(),
        ):
            commit_without_disk(connection)
            return self.execute(connection, statement, values)


def whole(connection: Connection | ReadConnection) -> Connection:
    """SQLAlchemy's connection."""
    return connection.whole if isinstance(connection, ReadConnection) else connection
