"""Reader of the PostgreSQL database of a NetBox: one snapshot, read-only, in the terms of a dump.

What the tables are called and which columns they have is read from the database, so no version is assumed.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import make_url

from netinv_core.db.engine import engine_from
from netinv_core.importing.dump import Declaration, Dump, Excluded
from netinv_core.importing.rows import FieldRows

ROWS_AT_ONCE = 2000
MARKERS = ("django_content_type", "dcim_site", "dcim_device")
TABLE_NAMES = {"django_content_type": "contenttypes.contenttype", "django_session": "sessions.session"}
TABLE_NAMES |= {"django_admin_log": "admin.logentry"}
CONTENT_TYPES = "django_content_type"
TYPES = frozenset({CONTENT_TYPES, "core_objecttype"})  # the latter, since NetBox 4.4, has the keys of the former
COLUMNS = sa.text(
    "SELECT table_name, column_name, udt_name FROM information_schema.columns"
    " WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
)
FOREIGN_KEYS = sa.text(
    "SELECT source.relname, field.attname, target.relname FROM pg_constraint"
    " JOIN pg_class source ON source.oid = conrelid JOIN pg_class target ON target.oid = confrelid"
    " JOIN pg_attribute field ON field.attrelid = conrelid AND field.attnum = conkey[1]"
    " WHERE contype = 'f' AND cardinality(conkey) = 1 AND connamespace = current_schema()::regnamespace"
)
AS_TEXT = frozenset({"cidr", "inet", "macaddr", "macaddr8", "uuid", "interval"})


@dataclasses.dataclass(frozen=True)
class DumpSchema:
    """The tables of a database: types by table and column, and the tables that foreign keys refer to."""

    columns: Mapping[str, Mapping[str, str]]
    foreign_keys: Mapping[tuple[str, str], str]
    labels: Mapping[str, str]
    content_types: Mapping[Any, list[str]]

    def many_to_many_field(self, table: str) -> tuple[str, str] | None:
        """Returns the table and field of the list that a table holds; ``None`` for other tables."""
        owners = [name for name in self.labels if table.startswith(f"{name}_")]
        owner = max(owners, key=len, default=None)
        keys = [column for column in self.columns[table] if column != "id"]
        if owner is None or table in self.labels or len(keys) != 2 or f"{_model(owner)}_id" not in keys:
            return None
        return owner, table.removeprefix(f"{owner}_")


def read(url: str, declarations: Mapping[str, Declaration], advance: Callable[[str], None]) -> Dump:
    """Reads the database at ``url``; of models that are not imported (:class:`Excluded`) only what they are called.

    :raises ValueError: when it cannot be read, or is not the database of a NetBox
    """
    try:
        shown = make_url(url).render_as_string(hide_password=True)
    except (ValueError, sa.exc.ArgumentError):
        raise ValueError("the URL of the database is not valid: postgresql://user@host/name is expected") from None
    engine = engine_from(url)
    try:
        with engine.connect() as connection:
            snapshot = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            schema = _schema(snapshot)
            if missing := [name for name in MARKERS if name not in schema.columns]:
                raise ValueError(f"{shown} is not the database of a NetBox: it has no table {missing[0]}")
            return _Reader(snapshot, schema, declarations, advance).read()
    except sa.exc.SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
        raise ValueError(f"cannot read {shown}: {reason}") from None
    finally:
        engine.dispose()


def _schema(connection: sa.Connection) -> DumpSchema:
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(COLUMNS):
        columns.setdefault(table, {})[column] = kind
    content_types = {}
    if CONTENT_TYPES in columns:
        rows = connection.execute(sa.text("SELECT id, app_label, model FROM django_content_type"))
        content_types = {id_: [app, model] for id_, app, model in rows}
    labels = {f"{app}_{model}": f"{app}.{model}" for app, model in content_types.values()}
    labels = {table: label for table, label in {**labels, **TABLE_NAMES}.items() if table in columns}
    foreign_keys = {(table, column): target for table, column, target in connection.execute(FOREIGN_KEYS)}
    return DumpSchema(columns, foreign_keys, labels, content_types)


class _Reader:
    def __init__(
        self,
        connection: sa.Connection,
        schema: DumpSchema,
        declarations: Mapping[str, Declaration],
        advance: Callable[[str], None],
    ) -> None:
        self.connection = connection
        self.schema = schema
        self.declarations = declarations
        self.advance = advance

    def read(self) -> Dump:
        """Reads all tables of models, then the lists."""
        schema, dump = self.schema, Dump()
        for table, label in schema.labels.items():
            self.advance(label)
            dump.rows(label).update(self._objects(table, self._wanted_columns(table, label)))
        dump.references = {
            (schema.labels[table], self._field(table, column)): schema.labels[target]
            for (table, column), target in schema.foreign_keys.items()
            if table in schema.labels and target in schema.labels
        }
        for table in schema.columns:
            joined = schema.many_to_many_field(table)
            if joined is not None and not isinstance(self.declarations.get(schema.labels[joined[0]]), Excluded):
                target = self._add_lists(dump.rows(schema.labels[joined[0]]), table, *joined)
                dump.references[schema.labels[joined[0]], joined[1]] = target
        return dump

    def _wanted_columns(self, table: str, label: str) -> list[str]:
        """Returns the columns to read: of models without a place here the key and what other objects say of them."""
        columns = list(self.schema.columns[table])
        declaration = self.declarations.get(label)
        if not isinstance(declaration, Excluded):
            return columns
        return [name for name in columns if name == "id" or name in declaration.fields]

    def _objects(self, table: str, columns: list[str]) -> Iterator[tuple[Any, dict[str, Any]]]:
        names = [self._field(table, column) for column in columns]
        for number, row in enumerate(self._rows(table, columns), start=1):
            fields = dict(zip(names, row, strict=True))
            for column, name in zip(columns, names, strict=True):
                if column != "id" and self.schema.foreign_keys.get((table, column)) in TYPES:
                    fields[name] = self.schema.content_types.get(fields[name])
            yield fields.pop("id", f"no. {number}"), fields

    def _rows(self, table: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a table, read with a cursor of the server."""
        source = sa.table(table, *(sa.column(name) for name in columns))
        kinds = self.schema.columns[table]
        selected: list[Any] = [sa.cast(c, sa.Text) if kinds[c.name] in AS_TEXT else c for c in source.c]
        statement = sa.select(*(selected or [sa.literal(1)])).select_from(source)
        streamed = self.connection.execution_options(stream_results=True, yield_per=ROWS_AT_ONCE)
        for row in streamed.execute(statement):
            yield tuple(_plain(value) for value in row) if columns else ()

    def _field(self, table: str, column: str) -> str:
        """Returns the name of a field: that of the column, for foreign keys without ``_id``."""
        return column.removesuffix("_id") if (table, column) in self.schema.foreign_keys else column

    def _add_lists(self, owners: FieldRows, table: str, owner: str, field: str) -> str:
        """Adds the rows of a table that joins two others as lists of the first; returns the label of the other."""
        own = f"{_model(owner)}_id"
        other = next(name for name in self.schema.columns[table] if name not in ("id", own))
        target = self.schema.foreign_keys.get((table, other), "")
        is_type = target in TYPES or other in ("objecttype_id", "contenttype_id")
        lists: dict[Any, list[Any]] = {}
        for key, value in self._rows(table, [own, other]):
            lists.setdefault(key, []).append(self.schema.content_types.get(value) if is_type else value)
        for key, fields in owners.items():
            owners[key] = {**fields, field: lists.get(key, [])}
        return self.schema.labels.get(target, "")


def _model(table: str) -> str:
    return table.partition("_")[2]


def _plain(value: Any) -> Any:
    """Returns a value as a dump has it: dates, times and decimals as text, ranges of integers as pairs."""
    if isinstance(value, datetime.date | datetime.time | decimal.Decimal):
        return value.isoformat() if not isinstance(value, decimal.Decimal) else str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "lower_inc"):
        return [value.lower, value.upper - (0 if value.upper_inc else 1)]
    return value
