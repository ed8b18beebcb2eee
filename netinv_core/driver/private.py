"""Private attributes of SQLAlchemy and psycopg, each with the reason and the version that it was checked with.

No other module uses such attributes, as the tests check. Where a release lacks one, statements run in the public way:
by SQLAlchemy without keys, and on cursors without the names of prepared statements.
"""

from __future__ import annotations

from typing import Any

KEY = "_generate_cache_key"
PREPARED, NAMES = "_prepared", "_names"
BEGIN = "_get_tx_start_command"
ORDER = "_creation_order"


def structure_key(statement: Any) -> Any:
    """The key of the structure of a statement, with its parameters (``key`` and ``bindparams``).

    It is ``None`` for a statement that has no such key. SQLAlchemy has no public function that compares statements
    without their values, and ``lambda_stmt`` takes only those whose structure is that of one lambda. Checked with
    SQLAlchemy 2.0.58.
    """
    generate = getattr(statement, KEY, None)
    return None if generate is None else generate()


def prepared_names(connection: Any) -> Any:
    """The names of the prepared statements of a connection of psycopg, by text and types; the longest unused is first.

    Cursors use the same ones, since they deallocate them. The public functions of psycopg tell no names, and its
    cursors convert the text of a prepared statement at each execution. Checked with psycopg 3.3.9.
    """
    names = getattr(getattr(connection, PREPARED, None), NAMES, None)
    return names if hasattr(names, "move_to_end") else None


def begin_command(connection: Any) -> bytes | None:
    """The command that begins a transaction of a connection of psycopg, with its isolation level.

    Cursors send it in a round trip of its own. Checked with psycopg 3.3.9.
    """
    command = getattr(connection, BEGIN, None)
    return None if command is None else command()


def declaration_order(constraint: Any) -> tuple[int, str]:
    """The place of a constraint among those of its table, in the order of their declaration.

    ``Table.constraints`` is a set. Without the attribute they are in the order of their names. Checked with SQLAlchemy
    2.0.58.
    """
    return getattr(constraint, ORDER, 0), str(constraint.name)
