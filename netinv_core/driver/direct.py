"""Execution of statements on the connection of psycopg: the fast way of PostgreSQL, which a database URL may leave out.

A statement is compiled once, and its rows are read as the driver has them. SQLAlchemy's execution takes 0.1 ms more for
a row of 100 columns, and 0.2 ms for 50 of them. Listeners of the engine are called, but not those that change
statements.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Connection

from netinv_core.driver import structures, undocumented
from netinv_core.driver.general import whole
from netinv_core.driver.read_connection import ReadConnection
from netinv_core.driver.results import Rows, Written
from netinv_core.driver.structures import DriverText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Engine
    from sqlalchemy.pool import PoolProxiedConnection

    from netinv_core.driver.general import Values
    from netinv_core.driver.prepared import PreparedStatements

log = logging.getLogger(__name__)
DIRECT = "netinv_direct"  # execution option of the engines whose statements run this way
_PREPARED = "netinv: prepared statements"
AnyConnection = Connection | ReadConnection


@dataclasses.dataclass(eq=False)
class _Execution:
    """One execution of a statement, for listeners of the engine: they may set attributes."""

    statement: str


@dataclasses.dataclass(frozen=True)
class _Failure:
    """The failure of an execution, for listeners of ``handle_error``."""

    execution_context: _Execution
    original_exception: BaseException
    sqlalchemy_exception: BaseException


def choose(engine: Engine) -> None:
    """Has the statements of an engine run this way, where the releases of the libraries allow it."""
    lacking = undocumented.missing_names()
    if lacking:
        log.warning("SQLAlchemy runs the statements: %s is not in the installed release", lacking[0])
    engine.update_execution_options(**{DIRECT: not lacking})


def is_chosen(engine: Engine) -> bool:
    """True for an engine whose statements run this way."""
    return bool(engine.get_execution_options().get(DIRECT))


def execute(
    connection: AnyConnection, statement: Any, values: Values, where: Sequence[Any] = ()
) -> Rows | Written | None:
    """The result of a statement; ``None`` for one that SQLAlchemy has to run."""
    if statement.is_insert or not (values is None or isinstance(values, Mapping)):
        return _write_rows(connection, statement, values)
    # A statement without parameters that changes rows is one that its caller built for this time.
    if statement.is_select or (statement.is_dml and values):
        bound = structures.bind(statement, connection.dialect, where)
        if bound is not None and bound.structure.is_complete:
            text, parameters = bound.execution(values or {})
            return _run(connection, text, parameters)
    return None


def _write_rows(connection: AnyConnection, statement: Any, values: Any) -> Written | Rows | None:
    """Runs an INSERT, or another statement for each of many rows, by their columns if they have the same ones."""
    rows = [values] if isinstance(values, Mapping) else values
    columns = tuple(rows[0]) if rows else ()
    structure = None
    if columns and all(row.keys() == rows[0].keys() for row in rows):
        structure = structures.for_rows(statement, connection.dialect, columns)
    if structure is None or structure.text is None:
        return None
    parameters = structure.row_parameters(rows)
    if len(rows) == 1:
        return _run(connection, structure.text, parameters[0])
    return _run_many(connection, structure.text.text, parameters)


def _run(connection: AnyConnection, compiled: DriverText, parameters: dict[str, Any]) -> Rows | Written:
    """Runs a statement that the driver has prepared, or one on a cursor, which prepares it."""
    pooled, events, text = connection.connection, undocumented.events_of(connection.engine), compiled.text
    execution = _Execution(text)
    prepared = _prepared_statements(pooled)
    cursor: Any = prepared
    try:
        alone = isinstance(connection, ReadConnection)
        found = None if compiled.results is None else prepared.find(compiled.server_text, parameters, alone=alone)
        if found is None:
            cursor = connection.cursor() if isinstance(connection, ReadConnection) else pooled.cursor()
        events.before_cursor_execute(connection, cursor, text, parameters, execution, False)
        if found is None:
            cursor.execute(text, parameters)
        else:
            prepared.execute(*found)
        events.after_cursor_execute(connection, cursor, text, parameters, execution, False)
        if compiled.results is None:
            compiled.learn_results(connection.dialect, cursor.description)
        count = cursor.rowcount
        if compiled.metadata is None:
            return Written(count)
        return Rows(compiled.metadata, compiled.convert(cursor.fetchall()), count)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _report_error(connection, cursor, execution, parameters, error) from error
    finally:
        if cursor is not prepared:
            cursor.close()


def _run_many(connection: AnyConnection, text: str, rows: list[dict[str, Any]]) -> Written:
    """Runs a statement on the driver's cursor for each of the rows."""
    events, execution = undocumented.events_of(connection.engine), _Execution(text)
    cursor = whole(connection).connection.cursor()
    try:
        events.before_cursor_execute(connection, cursor, text, rows, execution, True)
        cursor.executemany(text, rows)
        events.after_cursor_execute(connection, cursor, text, rows, execution, True)
        return Written(cursor.rowcount)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _report_error(connection, cursor, execution, rows, error) from error
    finally:
        cursor.close()


def _prepared_statements(pooled: PoolProxiedConnection) -> PreparedStatements:
    """The statements that the driver's connection has prepared."""
    prepared: PreparedStatements | None = pooled.info.get(_PREPARED)
    if prepared is None:
        from netinv_core.driver.prepared import PreparedStatements  # the driver is an extra

        driver: Any = pooled.driver_connection
        prepared = pooled.info[_PREPARED] = PreparedStatements(driver)
    return prepared


def _report_error(
    connection: AnyConnection, cursor: Any, execution: _Execution, parameters: Any, error: Any
) -> Exception:
    """The error to raise for one of the driver, which listeners are told. A lost connection is invalidated."""
    dialect = connection.dialect
    is_disconnect = dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
    reported = undocumented.error_of(dialect, error, execution.statement, parameters, is_disconnect=is_disconnect)
    undocumented.tell_error(dialect, _Failure(execution, error, reported))
    if is_disconnect:
        connection.invalidate(error)
    return reported
