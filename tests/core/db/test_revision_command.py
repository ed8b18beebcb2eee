"""Command `netinv revision`: it writes what a plugin's tables lack, in a package of migrations, and nothing else."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate.render import render_op
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.operations.ops import AddColumnOp, AlterColumnOp
from sqlalchemy.dialects import mysql, postgresql, sqlite

from netinv_admin.new_plugin import NewPlugin, write
from netinv_core.migrations.portable import fill_before, make_portable
from tests.support import REPOSITORY
from tests.support.plugins import add_distribution

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
Command = Callable[..., str]
LIST = """
from netinv_core import many_to_many

used = many_to_many("spare_parts_used", "spare_parts_part", "dcim_site", related_name="parts")
"""
IMPORTS = "    CASCADE, Choices, boolean, choice, integer, json_document, optional_text, required_text, text,\n"
MORE_COLUMNS = """\
    kind: Mapped[Name]
    pieces: Mapped[int] = integer(default=7)
    spare: Mapped[bool] = boolean(True)
    size: Mapped[str] = choice(Choices.of(small="Small"), default="small")
    extra: Mapped[dict] = json_document(default=dict)
    code: Mapped[Name] = mapped_column(unique=True)
"""
PUBLIC = "netinv_core.models import types as column_types"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package of an installed plugin, which has no migrations yet."""
    project = NewPlugin("spare_parts", "Part")
    write(project, tmp_path / "site")
    add_distribution(tmp_path / "site", "spare_parts")
    for path in sorted((tmp_path / "site/netinv_spare_parts/migrations").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (tmp_path / "site/netinv_spare_parts/migrations").rmdir()
    return tmp_path / "site/netinv_spare_parts"


@pytest.fixture
def netinv(tmp_path: Path, package: Path) -> Command:
    """``netinv("migrate")`` runs the command with an ini file and an own database; what it prints."""
    ini = tmp_path / "netinv.ini"
    ini.write_text(
        "[app:main]\nuse = egg:netinv-core\nnetinv.secret = for tests only, 32 characters or more\n"
        f"netinv.database_url = sqlite:///{tmp_path / 'netinv.sqlite'}\n"
    )
    path = os.pathsep.join([str(package.parent), *filter(None, sys.path)])

    def run(*words: str, status: int = 0) -> str:
        command = [sys.executable, "-W", "ignore", "-c", "from netinv_admin.commands.cli import cli; cli()", "-c", ini]
        environment = {**os.environ, "PYTHONPATH": path}
        ran = subprocess.run([*command, *words], env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    return run


def test_the_first_revision_makes_the_package_of_migrations_and_the_next_has_the_difference(
    package: Path, netinv: Command
) -> None:
    netinv("migrate")
    model = package / "parts.py"
    model.write_text(model.read_text() + LIST)
    netinv("revision", "spare_parts", "-m", "the first tables")
    versions = package / "migrations/versions"
    assert {path.relative_to(package).as_posix() for path in (package / "migrations").rglob("*.py")} == {
        "migrations/__init__.py",
        "migrations/versions/__init__.py",
        "migrations/versions/0001_the_first_tables.py",
    }
    assert "spare_parts_0001" in netinv("migrate")
    assert netinv("revision", "spare_parts", "-m", "again", status=1) == (
        "Error: the tables of spare_parts are as its models declare them; nothing was written\n"
    )
    assert len(list(versions.glob("*.py"))) == 2

    model.write_text(model.read_text().replace("    description:", "    kind: Mapped[Name]\n    description:"))
    netinv("revision", "spare_parts", "-m", "parts have a kind")
    text = (versions / "0002_parts_have_a_kind.py").read_text()
    assert text.count("add_column") == 1 and "create_table" not in text
    netinv("migrate")
    lines = "".join(path.read_text() for path in versions.glob("0*.py"))
    assert "info=" not in lines
    assert set(re.findall(r"^(?:from|import) (netinv.*)", lines, re.MULTILINE)) == {PUBLIC}
    assert PUBLIC.partition(" ")[0] in (REPOSITORY / "docs/plugins.md").read_text()


def test_a_revision_reads_the_same_on_every_database_and_fills_the_rows_that_exist(
    package: Path, netinv: Command, tmp_path: Path
) -> None:
    """Types that SQLite would tell are replaced by those of the models; required columns have a value for stored rows."""
    model = package / "parts.py"
    text = model.read_text().replace("    description:", "    remark: Mapped[str] = text(40)\n    description:")
    model.write_text(text.replace("    CASCADE,\n", IMPORTS))
    netinv("migrate")
    netinv("revision", "spare_parts", "-m", "tables")
    netinv("migrate")
    model.write_text(
        model.read_text()
        .replace("remark: Mapped[str] = text(40)", "remark: Mapped[str | None] = text(80, default=None)")
        .replace("    description:", f"{MORE_COLUMNS}    description:")
    )
    told = netinv("revision", "spare_parts", "-m", "more columns")
    assert [line for line in told.splitlines() if line.startswith("spare_")] == [
        'spare_parts_part.kind is required and has no default: rows that exist get ""',
        "spare_parts_part.code is required and has no default: the migration fails where the table has rows, unless you "
        "add it with nullable=True, give them values with op.execute, and then alter_column(…, nullable=False)",
    ]
    lines = (package / "migrations/versions/0002_more_columns.py").read_text()
    assert not re.findall(r"sa\.[A-Z]{2,}\b", lines), "types of SQLite"
    assert "existing_type=column_types.Chars(40)" in lines and "type_=column_types.Chars(40)" in lines
    for default in ("''", "'7'", "sa.true()", "'small'", "'{}'"):
        assert f"server_default={default}" in lines
    netinv("migrate")
    with sqlite3.connect(tmp_path / "netinv.sqlite") as database:
        columns = {
            name: default for _, name, _, _, default, _ in database.execute("PRAGMA table_info(spare_parts_part)")
        }
    stored = {"kind": "''", "pieces": "'7'", "spare": "1", "size": "'small'", "extra": "'{}'", "code": None}
    assert {name: columns[name] for name in stored} == stored


def test_a_column_that_becomes_required_is_filled_first(package: Path, netinv: Command, tmp_path: Path) -> None:
    """Rows without a value get the default, or the empty value, which is told; so does a downgrade."""
    model = package / "parts.py"
    optional = (
        '    kind: Mapped[str | None] = choice(Choices.of(it_s="It\'s"), default=None)\n'
        "    pieces: Mapped[int | None] = integer(default=None)\n"
        "    remark: Mapped[str | None] = optional_text(40)\n"
        "    ready: Mapped[bool | None] = mapped_column(default=None)\n"
        "    spare_for_id: Mapped[Ref | None] = foreign_key(Site, on_delete=CASCADE, related_name=None)\n"
    )
    required = (
        '    kind: Mapped[str] = choice(Choices.of(it_s="It\'s"), default="it_s")\n'
        "    pieces: Mapped[int] = integer(default=7)\n"
        "    remark: Mapped[str] = required_text(40)\n"
        "    ready: Mapped[bool] = mapped_column(default=True)\n"
        "    spare_for_id: Mapped[Ref] = foreign_key(Site, on_delete=CASCADE, related_name=None)\n"
    )
    text = model.read_text().replace("    CASCADE,\n", IMPORTS)
    model.write_text(text.replace("    description:", f"{optional}    description:"))
    netinv("migrate")
    netinv("revision", "spare_parts", "-m", "tables")
    netinv("migrate")
    insert_row(tmp_path / "netinv.sqlite", "dcim_site", {"id": KEY})
    insert_row(tmp_path / "netinv.sqlite", "spare_parts_part", {"site_id": KEY, "spare_for_id": KEY})
    model.write_text(model.read_text().replace(optional, required))
    told = netinv("revision", "spare_parts", "-m", "required")
    assert [line for line in told.splitlines() if line.startswith("spare_")] == [
        'spare_parts_part.remark becomes required and has no default: rows without a value get ""',
        "spare_parts_part.spare_for_id becomes required and has no default: the migration fails where rows have no value, "
        "unless you give them values with op.execute, and then alter_column(…, nullable=False)",
    ]
    netinv("migrate")
    with sqlite3.connect(tmp_path / "netinv.sqlite") as database:
        found = database.execute("SELECT kind, pieces, remark, ready FROM spare_parts_part").fetchall()
    assert found == [("it_s", 7, "", 1)]


KEY = "a" * 32
OF_KIND = {"INTEGER": 1, "BOOLEAN": 1, "DATE": "2030-01-01", "DATETIME": "2030-01-01 00:00:00.000000", "JSON": "{}"}


def insert_row(file: Path, table: str, values: dict[str, Any]) -> None:
    """Inserts a row with the given values, and any for the other columns that are required."""
    with sqlite3.connect(file) as database:
        (status,) = database.execute("SELECT min(id) FROM extras_status").fetchone()
        for _, name, kind, is_required, default, _ in database.execute(f"PRAGMA table_info({table})"):
            if is_required and default is None and name not in values:
                values[name] = status if name == "status_id" else OF_KIND.get(kind, "b" * 32)
        marks = ", ".join("?" * len(values))
        database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))


@pytest.mark.parametrize("value", ["it's", "100 %", 7, True, {"a": ["b"]}], ids=repr)
def test_a_default_is_written_as_sql_of_every_database(value: Any) -> None:
    column = sa.Column("order", sa.JSON() if isinstance(value, dict) else sa.String(), default=lambda: value)
    if not isinstance(value, dict):
        column = sa.Column("order", sa.String(), default=value)
    table = sa.Table("spare_parts_part", sa.MetaData(), column, sa.Column("id", sa.Integer()))
    table.c.order.nullable = False
    step = AlterColumnOp("spare_parts_part", "order", modify_nullable=False)
    (filled, kept), notes = fill_before([step], table.metadata)
    assert kept is step and notes == []
    engine = sa.create_engine("sqlite://")
    table.c.order.nullable = True
    with engine.begin() as connection:
        table.metadata.create_all(connection)
        connection.execute(sa.text('INSERT INTO spare_parts_part ("order") VALUES (NULL)'))
        op = Operations(MigrationContext.configure(connection))
        exec("\n".join(render_op(None, filled)), {"sa": sa, "op": op})
        stored = connection.execute(sa.text('SELECT "order" FROM spare_parts_part')).scalar_one()
    engine.dispose()
    assert (
        stored == {True: "1", 7: "7"}.get(value, value) if not isinstance(value, dict) else json.loads(stored) == value
    )


READ = {  # types as they are read from a database, and those of models
    mysql.VARCHAR(40, collation="utf8mb4_nopad_bin"): "Chars(length=40)",
    mysql.LONGTEXT(): "LongText()",
    mysql.DATETIME(fsp=6): "Timestamp()",
    mysql.TINYINT(display_width=1): "Boolean()",
    mysql.LONGBLOB(): "Binary()",
    postgresql.VARCHAR(40, collation="C"): "Chars(length=40)",
    postgresql.TEXT(): "LongText()",
    postgresql.TIMESTAMP(timezone=True): "Timestamp()",
    postgresql.UUID(): "Uuid()",
    sqlite.CHAR(32): "Uuid()",
    sa.VARBINARY(17): "Packed(length=17)",
}


@pytest.mark.parametrize("kind", READ, ids=repr)
def test_a_dropped_column_comes_back_with_the_type_of_a_model(kind: Any) -> None:
    step = AddColumnOp("spare_parts_part", sa.Column("kind", kind))
    make_portable(step, sa.MetaData())
    assert repr(step.column.type) == READ[kind]


def test_an_application_without_migrations_is_told_how_to_name_them(package: Path, netinv: Command) -> None:
    module = package / "__init__.py"
    module.write_text(module.read_text().replace('    migrations="netinv_spare_parts:migrations",\n', ""))
    netinv("migrate")
    refused = netinv("revision", "spare_parts", "-m", "x", status=1)
    assert refused == "Error: the application spare_parts names no migrations: App(migrations=…)\n"
