"""Names of SQLAlchemy and psycopg that their documentation does not promise, each with what it is taken for.

No other module uses such names, as the tests check. Where a release lacks one, :func:`missing_names` tells it, and
SQLAlchemy runs all statements. Checked with SQLAlchemy 2.0.58 and psycopg 3.3.9.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine.result import SimpleResultMetaData

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Dialect, Engine
    from sqlalchemy.pool import PoolProxiedConnection

KEY, BEGIN = "_generate_cache_key", "_get_tx_start_command"
PREPARED, NAMES = "_prepared", "_names"
ORDER = "_creation_order"
TAKEN = {
    f"sqlalchemy:Select.{KEY}": "statements are compared without their values; lambda_stmt takes those of one lambda",
    "sqlalchemy.engine:Engine.dispatch": "listeners of an engine are called",
    "sqlalchemy.engine:Dialect.dispatch": "listeners are told of errors",
    "sqlalchemy.engine.result:SimpleResultMetaData": "rows get the names of their columns",
    "sqlalchemy.exc:DBAPIError.instance": "an error of the driver becomes the one of SQLAlchemy for it",
    f"psycopg:Connection.{BEGIN}": "the command that begins a transaction is sent with its first statement",
    "psycopg:Connection.wait": "waits for the server as the driver does",
    "psycopg:Column": "the description of a result is built when it is read",
    "psycopg.adapt:Transformer": "converts values and rows without a cursor",
    "psycopg.adapt:Transformer.dump_sequence": "values become what the server takes",
    "psycopg.adapt:Transformer.load_rows": "rows are read without a cursor",
    "psycopg.adapt:Transformer.set_pgresult": "rows are read without a cursor",
    "psycopg.errors:error_from_result": "a result that is an error becomes the driver's exception",
    "psycopg.generators:execute": "a prepared statement runs without a cursor",
    "psycopg.generators:fetch_many": "results of a pipeline are read",
    "psycopg.generators:pipeline_communicate": "BEGIN and a statement are sent in one round trip",
}


def take(name: str) -> Any:
    """An object by its name in :data:`TAKEN`.

    :raises KeyError: for another name
    :raises ImportError: without the module
    :raises AttributeError: where the release lacks it
    """
    _ = TAKEN[name]
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def missing_names() -> list[str]:
    """The names that the releases that are installed lack."""
    lacking = []
    for name in TAKEN:
        try:
            take(name)
        except (ImportError, AttributeError):
            lacking.append(name)
    return lacking


# -- SQLAlchemy


def structure_key(statement: Any) -> Any:
    """The key of the structure of a statement, with its parameters (``key`` and ``bindparams``). It is ``None`` for a
    statement that has no such key.
    """
    return getattr(statement, KEY)()


def declaration_order(constraint: Any) -> tuple[int, str]:
    """The place of a constraint among those of its table, in the order of their declaration.

    ``Table.constraints`` is a set. Without the attribute they are in the order of their names.
    """
    return getattr(constraint, ORDER, 0), str(constraint.name)


def events_of(engine: Engine) -> Any:
    """The events of an engine: the call of one calls its listeners."""
    return engine.dispatch


def result_metadata(names: Sequence[str], columns: Sequence[Any]) -> SimpleResultMetaData:
    """The metadata of a result: the names of its columns, and the columns of the statement."""
    return SimpleResultMetaData(names, extra=[(column,) for column in columns])


def connection_around(engine: Engine, pooled: PoolProxiedConnection) -> Connection:
    """SQLAlchemy's connection for one that was taken from the pool."""
    return sa.Connection(engine, pooled)


def error_of(dialect: Dialect, error: Any, statement: str, parameters: Any, *, is_disconnect: bool) -> Exception:
    """The error of SQLAlchemy for one of the driver, without values of parameters."""
    base: Any = dialect.loaded_dbapi.Error
    reported: Exception = sa.exc.DBAPIError.instance(
        statement,
        parameters,
        error,
        base,
        hide_parameters=True,
        connection_invalidated=is_disconnect,
        dialect=dialect,
    )
    return reported


def tell_error(dialect: Dialect, failure: Any) -> None:
    """Calls the listeners of ``handle_error``."""
    events: Any = dialect.dispatch
    events.handle_error(failure)


# -- psycopg


def prepared_names(connection: Any) -> Any:
    """The names of the prepared statements of a connection of psycopg, by text and types; the longest unused is first.
    ``None`` where the release has none: statements run on cursors then.

    Cursors use the same ones, since they deallocate them. The public functions of psycopg tell no names, and its
    cursors convert the text of a prepared statement at each execution.
    """
    names = getattr(getattr(connection, PREPARED, None), NAMES, None)
    return names if hasattr(names, "move_to_end") else None


def begin_command(connection: Any) -> bytes | None:
    """The command that begins a transaction of a connection of psycopg, with its isolation level. Cursors send it in a
    round trip of its own.
    """
    command: bytes | None = getattr(connection, BEGIN)()
    return command


def wait_for(connection: Any, generator: Any) -> Any:
    """The result of a generator of psycopg, which waits for the server where it yields."""
    return connection.wait(generator)


def lock_of(connection: Any) -> Any:
    """The lock that one thread holds while it uses a connection of psycopg."""
    return connection.lock
