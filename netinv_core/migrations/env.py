"""Alembic's environment, for one package's branch at a time; see :mod:`netinv_admin.migrate`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from alembic import context
from alembic.operations.ops import AddColumnOp, CreateTableOp, DropTableOp, ModifyTableOps
from sqlalchemy.sql.elements import False_, True_

from netinv_core.db import text_indexes
from netinv_core.migrations import portable
from netinv_core.migrations.journal import Journal
from netinv_core.models.base import Base
from netinv_core.models.types import Binary, Chars, Json, Key, LongText, Packed, Timestamp

_OURS = {Binary: None, Chars: "length", Packed: "length", Json: None, LongText: None, Timestamp: None}


def render_item(kind: str, item: Any, autogen_context: Any) -> str | Literal[False]:
    """Writes netinv's column types as ``column_types.Chars(100)``, and booleans as every database has them."""
    if kind == "server_default" and isinstance(getattr(item, "arg", None), True_ | False_):
        return f"sa.{item.arg}()"
    if kind == "type" and isinstance(item, Key):
        return "sa.Uuid()"
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


def simplify(migration: Any, revision: Any, directives: list[Any]) -> None:
    """Leaves out what a downgrade would drop of a table before the table itself: MariaDB keeps the index of a foreign
    key. What netinv notes of a table (``Table.info``) is no part of migrations. Types and values of stored rows are
    those of every database.
    """
    for script in directives:
        for step in portable.operations(script.upgrade_ops.ops):
            if isinstance(step, CreateTableOp):
                step.info = {}
            elif isinstance(step, AddColumnOp) and (note := portable.fill(step)):
                context.config.attributes["notes"].append(note)
        for step in portable.operations([*script.upgrade_ops.ops, *script.downgrade_ops.ops]):
            portable.make_portable(step, Base.metadata)
        script.upgrade_ops.ops, notes = portable.fill_before(script.upgrade_ops.ops, Base.metadata)
        context.config.attributes["notes"].extend(notes)
        script.downgrade_ops.ops, _ = portable.fill_before(script.downgrade_ops.ops, Base.metadata)
        for step in portable.operations(script.downgrade_ops.ops):
            if isinstance(step, AddColumnOp):
                portable.fill(step)
        steps = script.downgrade_ops.ops
        dropped = {step.table_name for step in steps if isinstance(step, DropTableOp)}
        script.downgrade_ops.ops = [
            step for step in steps if not (isinstance(step, ModifyTableOps) and step.table_name in dropped)
        ]


def note_revision(ctx: Any, step: Any, heads: Collection[Any], run_args: Any) -> None:
    """Ends the migration in the journal, and tells the command which one was applied."""
    if journal is not None:
        journal.end(" ".join(sorted(heads)))
    context.config.attributes["applied"](step.up_revision_id if step.is_upgrade else "")


journal: Journal | None = context.config.attributes["journal"]
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=context.config.attributes["version_table"],
    render_item=render_item,
    include_name=include_name,
    include_object=include_object,
    process_revision_directives=simplify,
    render_as_batch=True,
    transaction_per_migration=False,
    on_version_apply=note_revision,
    journal=journal,
)
with context.begin_transaction():
    if journal is not None:
        journal.start(" ".join(sorted(context.get_context().get_current_heads())))
    context.run_migrations()
