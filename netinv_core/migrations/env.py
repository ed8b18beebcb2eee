"""Alembic's environment, for one package's branch at a time; see :mod:`netinv_core.db.migrate`."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.operations.ops import DropTableOp, ModifyTableOps

from netinv_core.db import text_indexes
from netinv_core.models.base import Base
from netinv_core.models.types import Binary, Chars, Json, LongText, Packed, Timestamp

_OURS = {Binary: None, Chars: "length", Packed: "length", Json: None, LongText: None, Timestamp: None}


def render_item(kind: str, item: Any, autogen_context: Any) -> str | Literal[False]:
    """Writes netinv's column types as ``column_types.Chars(100)``."""
    if kind == "type" and type(item) in _OURS:
        autogen_context.imports.add("from netinv_core.models import types as column_types")
        argument = _OURS[type(item)]
        return f"column_types.{type(item).__name__}({getattr(item, argument) if argument else ''})"
    return False


def include_name(name: str | None, kind: str, parents: Any) -> bool:
    """Only the tables of the package that is migrated."""
    return kind != "table" or (name or "").startswith(context.config.attributes["prefix"])


def include_object(item: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
    """As :func:`include_name`, for what the models declare; text indexes are no part of migrations."""
    if kind == "index" and (name or "").startswith(text_indexes.PREFIX):
        return False
    return include_name(name, kind, None)


def drop_tables_whole(migration: Any, revision: Any, directives: list[Any]) -> None:
    """Leaves out what a downgrade would drop of a table before the table itself: MariaDB keeps the index of a foreign
    key.
    """
    for script in directives:
        steps = script.downgrade_ops.ops
        dropped = {step.table_name for step in steps if isinstance(step, DropTableOp)}
        script.downgrade_ops.ops = [
            step for step in steps if not (isinstance(step, ModifyTableOps) and step.table_name in dropped)
        ]


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=context.config.attributes["version_table"],
    render_item=render_item,
    include_name=include_name,
    include_object=include_object,
    process_revision_directives=drop_tables_whole,
    render_as_batch=True,
    compare_type=False,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
