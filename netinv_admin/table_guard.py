"""Guard of the tables of other applications while the migrations of a plugin run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sqlalchemy import event
from sqlalchemy.engine import Connection

from netinv_core.db import revisions

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.registry import Registry

# Statements that change the tables that they name, and those that change the first table after these words.
_OF_TABLES = re.compile(r"\s*(?:DROP|RENAME|TRUNCATE)\s+(?:TEMPORARY\s+)?TABLES?\b|\s*TRUNCATE\b", re.IGNORECASE)
_OF_ONE_TABLE = re.compile(
    r"\s*(?:ALTER\s+(?:IGNORE\s+)?TABLE|CREATE\s+UNIQUE\s+INDEX\b.*?\sON"
    r"|CREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+)?TRIGGER\b.*?\sON)\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"(?:[`\"]?\w+[`\"]?\.)?[`\"]?(\w+)")
_COPY = "_alembic_tmp_"  # the copy of a table that SQLite's batch operations make


def keep_to_own_tables(connection: Connection, registry: Registry, app: App) -> None:
    """Refuses statements of a plugin's migrations that change the layout of a table of another application.

    Tables are recognised by the longest name of an application that theirs begins with. Rows may be changed. Statements
    of the built-in applications are not looked at. A refused statement raises LookupError.
    """
    if not registry.is_plugin(registry.packages.get(app.name, app.name)):
        return
    own = revisions.label(app)
    owner = _owners(registry)

    def refuse(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        for table in _changed_tables(statement):
            if (label := owner(table)) not in (own, None):
                message = f"it changes the table {table}, which the application {label} has; {own} may change its own"
                raise LookupError(f"{message}, which begin with {own}_")

    event.listen(connection, "before_cursor_execute", refuse)


def _owners(registry: Registry) -> Callable[[str], str | None]:
    """Function from the name of a table to the label of the application that has it."""
    labels = {revisions.label(app) for app in registry.apps.values() if app.migrations}
    longest_first = sorted(labels, key=len, reverse=True)
    return lambda table: next((label for label in longest_first if table.startswith(f"{label}_")), None)


def _changed_tables(statement: str) -> Iterator[str]:
    """The names of the tables whose layout, triggers or uniqueness a statement changes."""
    if start := _OF_TABLES.match(statement):
        names = re.findall(r"\w+", statement[start.end() :])
    else:
        name = (start := _OF_ONE_TABLE.match(statement)) and _NAME.match(statement, start.end())
        names = [name[1]] if name else []
    for name in names:
        yield name.removeprefix(_COPY).lower()
