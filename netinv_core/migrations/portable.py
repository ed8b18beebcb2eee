"""Types of columns and values of stored rows in new revisions (``netinv revision``), valid on every database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import renderers
from alembic.operations.ops import AddColumnOp, AlterColumnOp, CreateTableOp, MigrateOperation, ModifyTableOps

from netinv_core.models.types import Binary, Chars, Json, LongText, Packed, Timestamp

_EMPTY: tuple[tuple[type, Any], ...] = ((sa.String, ""), (sa.Boolean, False), (sa.Integer, 0), (sa.Numeric, 0))
_ADVICE = "give them values with op.execute, and then alter_column(…, nullable=False)"


class FillOp(MigrateOperation):
    """Gives the rows without a value of a column one, before the column is required; ``value`` is an SQL literal."""

    def __init__(self, table: str, column: str, value: str) -> None:
        self.table, self.column, self.value = table, column, value


@renderers.dispatch_for(FillOp)
def _render(autogen_context: Any, step: FillOp) -> list[str]:
    return [
        f"filled = sa.table({step.table!r}, sa.column({step.column!r}))",
        f"value = {{{step.column!r}: sa.literal_column({step.value!r})}}",
        f"op.execute(sa.update(filled).where(filled.c[{step.column!r}].is_(None)).values(value))",
    ]


def operations(steps: list[Any]) -> Iterator[Any]:
    """The operations of a revision, those of a batch one by one."""
    for step in steps:
        yield from step.ops if isinstance(step, ModifyTableOps) else [step]


def make_portable(step: Any, metadata: sa.MetaData) -> None:
    """Replaces types that were read from the database, with its spelling and collations, by those of models."""
    if isinstance(step, AlterColumnOp):
        table = metadata.tables.get(step.table_name)
        if step.modify_type is None and table is not None and step.column_name in table.c:
            step.existing_type = table.c[step.column_name].type
        elif step.existing_type is not None:
            step.existing_type = _declared_type(step.existing_type)
        if step.modify_type is not None:
            step.modify_type = _declared_type(step.modify_type)
    columns = (
        [step.column] if isinstance(step, AddColumnOp) else step.columns if isinstance(step, CreateTableOp) else []
    )
    for column in columns:
        if isinstance(column, sa.Column):
            column.type = _declared_type(column.type)


def fill(step: AddColumnOp) -> str | None:
    """Gives a required column that is added a value for the rows that exist: its default, or the empty value.

    :returns: what is to be known of a column that has no default
    """
    column = step.column
    if column.nullable or column.server_default is not None:
        return None
    value, is_known = _value_for_rows(column)
    name = f"{step.table_name}.{column.name} is required and has no default"
    if value is None:
        advice = f"add it with nullable=True, {_ADVICE}"
        return f"{name}: the migration fails where the table has rows, unless you {advice}"
    step.column = _with_server_default(column, value)
    return None if is_known else f"{name}: rows that exist get {json.dumps(value)}"


def fill_before(steps: list[Any], metadata: sa.MetaData) -> tuple[list[Any], list[str]]:
    """The steps of a revision, with those that fill columns which become required before them; and what is to be known
    of columns that have no default.
    """
    filled: list[Any] = []
    notes = []
    for step in steps:
        for part in step.ops if isinstance(step, ModifyTableOps) else [step]:
            if not isinstance(part, AlterColumnOp) or part.modify_nullable is not False:
                continue
            column = _altered_column(part, metadata)
            value, is_known = _value_for_rows(column)
            name = f"{part.table_name}.{column.name} becomes required and has no default"
            if value is None:
                notes.append(f"{name}: the migration fails where rows have no value, unless you {_ADVICE}")
                continue
            filled.append(FillOp(part.table_name, column.name, _sql_literal(value)))
            if not is_known:
                notes.append(f"{name}: rows without a value get {json.dumps(value)}")
        filled.append(step)
    return filled, notes


def _altered_column(step: AlterColumnOp, metadata: sa.MetaData) -> sa.Column[Any]:
    """The column that an operation alters, as it is declared; or as it is known, of one that no model declares any
    more.
    """
    table = metadata.tables.get(step.table_name)
    if table is not None and step.column_name in table.c:
        return table.c[step.column_name]
    return sa.Column(step.column_name, step.existing_type)


def _value_for_rows(column: sa.Column[Any]) -> tuple[Any, bool]:
    """The value for rows that have none, ``None`` where nothing tells it; and whether it is the column's default."""
    value = _default(column)
    if value is not None:
        return value, True
    if column.unique or column.foreign_keys:
        return None, False
    return next((empty for kind, empty in _EMPTY if isinstance(_implementation(column.type), kind)), None), False


def _implementation(kind: Any) -> Any:
    return kind.impl if isinstance(kind, sa.TypeDecorator) else kind


def _default(column: sa.Column[Any]) -> Any:
    """The constant that new rows get; ``None`` if there is none."""
    default: Any = column.default
    if default is None:
        return None
    if default.is_scalar:
        return default.arg
    return default.arg(None) if default.is_callable and isinstance(_implementation(column.type), sa.JSON) else None


def _with_server_default(column: sa.Column[Any], value: Any) -> sa.Column[Any]:
    """The column with a default of the server; the model's stays as it is."""
    return sa.Column(column.name, column.type, nullable=False, server_default=_literal(value))


def _literal(value: Any) -> Any:
    """The value as a default of the server."""
    if isinstance(value, bool):
        return sa.true() if value else sa.false()
    return json.dumps(value) if isinstance(value, dict | list) else str(value)


def _sql_literal(value: Any) -> str:
    """The value as SQL of every database."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = json.dumps(value) if isinstance(value, dict | list) else str(value)
    return "'" + text.replace("'", "''") + "'"


def _declared_type(kind: Any) -> Any:
    """The type that a model would declare for one that was read from the database; another as it is."""
    if not type(kind).__name__.isupper():
        return kind
    if getattr(kind, "display_width", None) == 1:  # TINYINT(1)
        return sa.Boolean()
    match kind.as_generic(allow_nulltype=True):
        case sa.Uuid():
            return sa.Uuid()
        case sa.Text():
            return LongText()
        case sa.String() if isinstance(kind, sa.CHAR) and kind.length == 32:
            return sa.Uuid()
        case sa.String(length=int(length)):
            return Chars(length)
        case sa.String():  # LONGTEXT of MariaDB
            return LongText()
        case sa.DateTime():
            return Timestamp()
        case sa.JSON():
            return Json()
        case sa.LargeBinary(length=int(length)):
            return Packed(length)
        case sa.LargeBinary():
            return Binary()
        case generic:
            return generic
