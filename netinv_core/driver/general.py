"""Execution of statements by SQLAlchemy."""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL

from netinv_core.driver.combined import Combined
from netinv_core.driver.json_members import JsonMembers
from netinv_core.driver.pool import WatchedPool, check_connections
from netinv_core.driver.read_connection import ReadConnection

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

# First character (counted from 1) and length of the groups of a UUID's 32 digits.
_UUID_GROUPS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
WRITING = "netinv_writing"  # execution option of a connection whose transactions write
Values = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


@dataclasses.dataclass(frozen=True)
class ConnectionLimits:
    """Seconds that a statement may take (0 for any time), that a connection may take to open, and of silence."""

    statement: float
    connect: int
    silence: int


class Driver:
    """Driver of a database that needs no way of its own to run statements.

    * ``locks_database``: a transaction that writes locks all rows, so that one writes at a time;
    * ``locks_what_it_reads``: INSERT … SELECT locks the rows of the SELECT;
    * ``checks_each_row``: foreign keys are checked after each row of a statement, not after the statement;
    * ``has_text_indexes``: trigram indexes find parts of texts;
    * ``sorts_nulls``: ORDER BY takes NULLS FIRST and NULLS LAST;
    * ``compares_rows``: an index serves the comparison of rows, ``(a, b) > (1, 2)``;
    * ``compares_ranges_of_rows``: an index serves the condition that a column is in a range of another row;
    * ``has_linear_frames``: the time of window functions over a part of the rows grows with their number only;
    * ``members``: expressions over members of JSON documents;
    * ``text_cast``: the type to which numbers and dates are cast to be texts;
    * ``times_are_aware``: times come and go with their offset;
    * ``is_server``: the database is no file;
    * ``copies_tables``: a table is changed by copying it, which would cascade;
    * ``commits_table_changes``: a statement that changes a table commits its transaction;
    * ``migration_lock``: SELECT that takes a lock until its connection is closed; false while another one has it;
    * ``builds_indexes_beside_writes``: CREATE INDEX CONCURRENTLY;
    * ``has_sequences``: numbers of rows are given by sequences, whatever rows are there;
    * ``foreign_keys_at_once``: foreign keys hold after each statement, so that loading drops them;
    * ``snapshot``: execution options of a transaction that sees one state of the database;
    * ``columns``: SELECT of the names of all tables and columns of the database;
    * ``most_bytes``: the most of a BLOB, where that is fewer than answers have.
    """

    locks_database = locks_what_it_reads = checks_each_row = has_text_indexes = False
    sorts_nulls = compares_rows = compares_ranges_of_rows = has_linear_frames = True
    times_are_aware = copies_tables = builds_indexes_beside_writes = has_sequences = False
    foreign_keys_at_once = commits_table_changes = False
    is_server = True
    snapshot: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
    most_bytes = sys.maxsize
    members = JsonMembers()
    columns = migration_lock = ""
    text_cast: Any = sa.Text
    time_type: Any = sa.DateTime()
    binary_type: Any = sa.LargeBinary()
    json_type: Any = sa.JSON(none_as_null=True)

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    # -- engines and connections

    def engine_options(self, address: URL, limits: ConnectionLimits) -> dict[str, Any]:
        """Arguments of the engine for a URL."""
        return {"poolclass": WatchedPool}

    def prepare_engine(self, engine: Engine, limits: ConnectionLimits, *, tested: bool) -> None:
        """Adds the listeners of a new engine. Connections are ``tested`` before use."""
        if tested:
            check_connections(engine)

    def connection_options(self, *, writing: bool) -> dict[str, Any]:
        """The execution options of a unit of work's connection.

        A ``writing`` one takes SQLite's write lock at its start. One that reads uses autocommit on
        PostgreSQL: it saves BEGIN and ROLLBACK, and at READ COMMITTED each statement has its own snapshot anyway.
        """
        return {WRITING: True} if writing else {}

    def commit_without_disk(self, connection: Connection) -> None:
        """Has the COMMIT of the present transaction not wait for the disk, where the database can."""

    def interrupt(self, connection: Any) -> None:
        """Has a connection of the driver end the statement that it runs in another thread, where it can. Elsewhere the
        time limit of statements ends it.
        """

    def suspend_foreign_keys(self, connection: Connection) -> None:
        """Has foreign keys not be checked for the rest of a connection whose transaction has not begun."""
        connection.exec_driver_sql("SET foreign_key_checks = 0")

    def clear(self, connection: Connection, tables: Sequence[sa.Table]) -> None:
        """Deletes all rows of tables, which are in the order of their references."""
        for table in reversed(tables):
            connection.execute(sa.delete(table))

    # -- types of columns

    def chars(self, dialect: Any, length: int) -> Any:
        """The type of short texts, compared by code point."""
        return sa.String(length)

    def long_text(self, dialect: Any) -> Any:
        """The type of texts without a limit, compared by code point."""
        return sa.Text()

    def bytes_type(self, length: int) -> Any:
        """The type of bytes that sort as bytes."""
        return sa.LargeBinary(length)

    def sorts_members(self, dialect: Any) -> bool:
        """True where JSON columns do not keep the order of members."""
        return False

    # -- expressions

    def in_list(self, column: Any, parameter: Any) -> Any:
        """The condition that a column is one of the values of a parameter."""
        return column.in_(retype(parameter, column.type, expanding=True))

    def lower(self, expression: Any) -> Any:
        """An expression in lower case, by the rules of Unicode."""
        return sa.func.lower(expression)

    def lower_value(self, value: str) -> Any:
        """A value in lower case, to compare with :meth:`lower`. MariaDB and MySQL convert it themselves: they map some
        letters differently from Python (``İ``, ``ẞ``).
        """
        return value.lower()

    def contains_ascii(self, expression: Any, pattern: Any) -> Any:
        """The condition that a text matches a pattern of ASCII in lower case."""
        return self.lower(expression).like(self.lower(pattern), escape="/")

    def folded_pattern(self, parts: Iterable[str | frozenset[str]]) -> str:
        """The pattern of :meth:`contains_folded` for characters, and for sets that each stand for one of theirs."""
        escaped = (re.escape(part) if isinstance(part, str) else f"[{''.join(sorted(part))}]" for part in parts)
        return "".join(escaped)

    def contains_folded(self, expression: Any, pattern: Any) -> Any:
        """The condition that a text matches a :meth:`folded_pattern` in some place."""
        return expression.op("REGEXP", is_comparison=True)(sa.func.concat("(?-i)", pattern))

    def matches(self, expression: Any, patterns: Sequence[str], *, ignore_case: bool) -> Any:
        """The condition that a text matches one of some regular expressions, in the syntax common to Python and the
        databases.
        """
        flags = "(?i)" if ignore_case else "(?-i)"
        return any_of([expression.op("REGEXP", is_comparison=True)(flags + pattern) for pattern in patterns])

    def planner_literal(self, text: str) -> Any:
        """A text that the planner of the database sees, where this makes a difference."""
        return text

    def text_of(self, column: Any) -> Any:
        """A number, a date or a document as text."""
        return sa.cast(column, self.text_cast)

    def uuid_text(self, column: Any) -> Any:
        """A UUID as text, with its dashes."""
        digits = sa.func.replace(sa.cast(column, sa.CHAR(36)), "-", "", type_=sa.Text)
        groups = [sa.func.substr(digits, start, length) for start, length in _UUID_GROUPS]
        return sa.func.concat_ws("-", *groups, type_=sa.Text)

    def decimal_text(self, column: Any) -> Any:
        """A decimal number with the digits of its scale as text."""
        return sa.cast(column, self.text_cast)

    def instant_text(self, column: Any) -> Any:
        """An instant in ISO 8601 and UTC, with microseconds."""
        return sa.func.date_format(column, "%Y-%m-%dT%H:%i:%s.%fZ", type_=sa.Text)

    def like(self, text: Any, values: Sequence[str], before: str, after: str, *, fold: bool) -> Any:
        """The condition that a text is like one of some values between the wildcards ``before`` and ``after``. With
        ``fold`` it is a text in lower case, and the values are not.
        """
        patterns = [f"{before}{escape_wildcards(value)}{after}" for value in values]
        folded = [self.planner_literal(self.lower_value(pattern)) for pattern in patterns] if fold else patterns
        return any_of([text.like(pattern, escape="/") for pattern in folded])

    def now(self) -> Any:
        """The time of the statement by the clock of the database."""
        return sa.literal_column("UTC_TIMESTAMP(6)")

    def estimated_count(self, table: Any) -> Any:
        """SELECT of the number of rows of a table by statistics; ``None`` where the database keeps none. It
        gives a negative number, or 0, for a table that was never analysed.
        """
        return None

    def expected_rows(self, select: Any) -> Any:
        """Statement for the plan of a SELECT, of which :func:`netinv_core.driver.explain.rows_of_plan` is the number of
        rows; ``None`` where it does not tell it.
        """
        return None

    def typed_null(self, null: Any) -> Any:
        """NULL as a column of a UNION, from the cast to its type."""
        return sa.null()

    def before_slash(self, text: Any) -> Any:
        """The part of a text before its slash."""
        return sa.func.substring_index(text, "/", 1, type_=sa.Text)

    def sortable_bytes(self, column: Any) -> Any:
        """Bytes as what the function ``max`` takes, and what sorts as they do."""
        return column

    def stored_bytes(self, column: Any) -> Any:
        """The number of bytes of a text or a JSON document."""
        return sa.func.octet_length(column, type_=sa.BigInteger)

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
            engine.connect().execution_options(**self.connection_options(writing=True)) as connection,
            connection.begin(),
        ):
            self.commit_without_disk(connection)
            return self.execute(connection, statement, values)


def python_type(column: Any) -> type:
    """The Python type of a column's values; ``object`` when the column type does not state it."""
    try:
        kind: type = column.type.python_type
    except NotImplementedError:
        return object
    return kind


def retype(parameter: Any, type_: Any, *, expanding: bool = False) -> Any:
    """The parameter with another type. Compiled statements find its value by its key."""
    value = {} if parameter.required else {"value": parameter.value}
    return sa.bindparam(parameter.key, type_=type_, expanding=expanding, **value)


def escape_wildcards(value: Any) -> str:
    """The value with the wildcards of LIKE escaped by a slash."""
    return str(value).replace("/", "//").replace("%", "/%").replace("_", "/_")


def any_of(conditions: Sequence[Any]) -> Any:
    """OR of the conditions; false for an empty list."""
    return sa.or_(sa.false(), *conditions) if len(conditions) != 1 else conditions[0]


def whole(connection: Connection | ReadConnection) -> Connection:
    """SQLAlchemy's connection."""
    return connection.whole if isinstance(connection, ReadConnection) else connection
