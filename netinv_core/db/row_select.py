"""SELECT statements that are compiled once, and whose rows are read as the driver has them."""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect

Row = Sequence[Any]
Processor = Any  # converts one value to or from what the driver takes


@dataclasses.dataclass(eq=False)
class _Execution:
    """One execution of a statement, for listeners of the engine: they may set attributes."""

    statement: str


@dataclasses.dataclass(frozen=True)
class _Failure:
    """The failure of an execution, for listeners of ``handle_error``."""

    execution_context: _Execution
    original_exception: BaseException


@dataclasses.dataclass(eq=False)
class _Compiled:
    """A statement for the driver: its text, and the conversions of parameters by name and of values by position; the
    latter are known from the first result.
    """

    statement: Any
    text: str
    binds: Mapping[str, Processor]
    results: Sequence[tuple[int, Processor]] | None = None

    def parameters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as the driver takes them."""
        parameters: dict[str, Any] = self.statement.construct_params(values)
        for name, convert in self.binds.items():
            parameters[name] = convert(parameters[name])
        return parameters

    def converted(self, rows: list[Row]) -> list[Row]:
        """The rows with values as SQLAlchemy has them."""
        if not self.results:
            return rows
        converted: list[Row] = []
        for row in rows:
            values = list(row)
            for position, convert in self.results:
                values[position] = convert(values[position])
            converted.append(values)
        return converted


class RowSelect:
    """A SELECT without parameters of variable number or inlined ones (``expanding``, ``literal_execute``).

    On PostgreSQL it is compiled once, and executed on the driver's cursor. SQLAlchemy's execution takes 0.1 ms more for
    a row of 100 columns, and 0.2 ms for 50 of them. Listeners of the engine are called, but not those that change
    statements.
    """

    def __init__(self, statement: Any) -> None:
        self.statement = statement
        self._names: list[str] = [column.name for column in statement.selected_columns]
        self._compiled: _Compiled | None = None

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Row]:
        """The rows for these values of the parameters.

        :raises sqlalchemy.exc.DBAPIError: as :meth:`sqlalchemy.engine.Connection.execute`
        """
        if connection.dialect.name != "postgresql":
            return connection.execute(self.statement, values).all()
        compiled = self._compiled or self._compile(connection)
        with _executed(connection, compiled.text, compiled.parameters(values)) as cursor:
            if compiled.results is None:
                compiled.results = self._result_processors(connection.dialect, cursor.description)
            return compiled.converted(cursor.fetchall())

    def first(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """The first row, with its columns as attributes; ``None`` without rows."""
        rows = self.rows(connection, values)
        return types.SimpleNamespace(**dict(zip(self._names, rows[0], strict=True))) if rows else None

    def _compile(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        compiled: Any = self.statement.compile(dialect=dialect)
        binds = {
            name: convert
            for name, parameter in compiled.binds.items()
            if (convert := parameter.type.dialect_impl(dialect).bind_processor(dialect)) is not None
        }
        self._compiled = _Compiled(compiled, compiled.string, binds)
        return self._compiled

    def _result_processors(self, dialect: Dialect, description: Sequence[Any]) -> list[tuple[int, Processor]]:
        """The conversions of values; some depend on the type that the database returns."""
        columns = enumerate(zip(self.statement.selected_columns, description, strict=True))
        processors = (
            (position, column.type.dialect_impl(dialect).result_processor(dialect, described[1]))
            for position, (column, described) in columns
        )
        return [(position, convert) for position, convert in processors if convert is not None]


@contextlib.contextmanager
def _executed(connection: Connection, text: str, parameters: dict[str, Any]) -> Iterator[Any]:
    """A cursor of the driver that has executed a statement."""
    dialect, events, execution = connection.dialect, connection.engine.dispatch, _Execution(text)
    cursor = connection.connection.cursor()
    try:
        events.before_cursor_execute(connection, cursor, text, parameters, execution, False)
        cursor.execute(text, parameters)
        events.after_cursor_execute(connection, cursor, text, parameters, execution, False)
        yield cursor
    except dialect.loaded_dbapi.Error as error:
        dialect.dispatch.handle_error(_Failure(execution, error))
        is_disconnect = dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
        if is_disconnect:
            connection.invalidate(error)
        raise sa.exc.DBAPIError.instance(
            text,
            parameters,
            error,
            dialect.loaded_dbapi.Error,
            hide_parameters=True,
            connection_invalidated=is_disconnect,
            dialect=dialect,
        ) from error
    finally:
        cursor.close()
