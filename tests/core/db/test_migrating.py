"""Migrations: what they make is what the models say, on an empty database and on one with an inventory in it."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path
from typing import Any

import alembic.command
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from netinv_admin import migrate
from netinv_core.app import App
from netinv_core.db import revisions, text_indexes
from netinv_core.db.engine import WRITING
from netinv_core.main import registry_for
from netinv_core.models.base import Base
from netinv_testing import Service
from tests.support.databases import empty_database, migrated_database


def test_an_empty_database_becomes_what_the_models_say(tmp_path: Path) -> None:
    """Nothing is left for another revision to add or change."""
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        assert revisions.pending_heads(engine, registry)
        migrate.upgrade(engine, registry)
        assert revisions.pending_heads(engine, registry) == []
        with engine.connect() as connection:
            ours = {"include_name": lambda name, kind, parents: _is_ours(name, kind)}
            found = compare_metadata(MigrationContext.configure(connection, opts=ours), Base.metadata)
    assert found == []


def _is_ours(name: str | None, kind: str) -> bool:
    """True for our tables, and for their indexes that the models declare."""
    if kind == "index":
        return not (name or "").startswith(text_indexes.PREFIX)
    return kind != "table" or name in Base.metadata.tables


@pytest.mark.night
def test_a_filled_database_keeps_what_is_in_it(tmp_path: Path, database_template: str) -> None:
    """Migrating again changes nothing, rows and seeds included."""
    with migrated_database(tmp_path, database_template) as engine:
        registry = registry_for(engine.dialect.name, {})
        api = Service(engine).api
        api.post("/api/dcim/sites/", {"name": "Lisbon", "status": "active"})
        before = {name: _count(engine, name) for name in Base.metadata.tables}
        migrate.upgrade(engine, registry)
        assert {name: _count(engine, name) for name in Base.metadata.tables} == before
        assert api.get("/api/dcim/sites/")["results"][0]["name"] == "Lisbon"


@pytest.mark.night
def test_what_the_first_release_stored_is_kept_and_mended(tmp_path: Path) -> None:
    """Rows survive the tables' changes, and trees get keys of today's form."""
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        for app in revisions.sort_apps(registry):
            with engine.connect().execution_options(**{WRITING: True}) as connection:
                alembic.command.upgrade(migrate._configuration(app, connection), f"{revisions.label(app)}_0001")
                connection.commit()
        now = {
            "created": datetime.date(2026, 1, 1),
            "last_updated": datetime.datetime(2026, 1, 1),
            "custom_field_data": "{}",
        }
        key = uuid.uuid4()
        row = {
            "id": key,
            "name": "Europe",
            "slug": "europe",
            "description": "",
            "tree_key": "Europe\x1f",
            "tree_names": '["Europe"]',
            "tree_level": 0,
        }
        with engine.begin() as connection:
            table = sa.Table(
                "dcim_region", sa.MetaData(), sa.Column("id", sa.Uuid(), primary_key=True), autoload_with=connection
            )
            connection.execute(sa.insert(table).values(**row, **now))
        migrate.upgrade(engine, registry)
        api = Service(engine).api
        api.post("/api/dcim/regions/", {"name": "Portugal", "parent": str(key)})
        assert [shown["name"] for shown in api.get("/api/dcim/regions/")["results"]] == ["Europe", "Portugal"]
        with engine.connect() as connection:
            stored = (
                connection.execute(sa.select(registry["dcim.region"].table.c.tree_key).order_by("tree_key"))
                .scalars()
                .all()
            )
        assert stored[0] == f"Europe\x1f{key}\x1f" and stored[1].startswith(stored[0])


@pytest.mark.night
def test_what_refers_to_a_table_that_is_made_anew_is_kept(tmp_path: Path) -> None:
    """SQLite changes a table by dropping it once its rows are in another one; what refers to it goes with it unless
    that is seen to.
    """
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        for app in revisions.sort_apps(registry):
            with migrate._changing_tables(engine) as connection:
                alembic.command.upgrade(
                    migrate._configuration(app, connection), "extras_0013" if app.name == "extras" else "head"
                )
        with engine.begin() as connection:
            job = _add(
                connection, "extras_job", id=uuid.uuid4(), source="local", module_name="tidy", job_class_name="Tidy"
            )
            _add(connection, "extras_job_button", id=uuid.uuid4(), job_id=job)
        migrate.upgrade(engine, registry)
        with engine.connect() as connection:
            assert connection.execute(sa.select(registry["extras.jobbutton"].table.c.job_id)).scalar() == job


@pytest.mark.night
def test_rows_that_a_new_constraint_does_not_allow_are_named(tmp_path: Path) -> None:
    """Two schemas without an owner have one name: nothing is changed until one is renamed, and then both are kept."""
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        for app in revisions.sort_apps(registry):
            with migrate._changing_tables(engine) as connection:
                alembic.command.upgrade(
                    migrate._configuration(app, connection), "extras_0015" if app.name == "extras" else "head"
                )
        table = sa.table("extras_config_context_schema", sa.column("id", sa.Uuid()), sa.column("name"))
        with engine.begin() as connection:
            first, _ = (_add(connection, table.name, id=uuid.uuid4(), name="uplinks") for _ in range(2))
        with pytest.raises(LookupError, match=r"extras_config_context_schema without owner_object_id.*name=uplinks"):
            migrate.upgrade(engine, registry)
        with engine.begin() as connection:
            connection.execute(sa.update(table).where(table.c.id == first).values(name="downlinks"))
        migrate.upgrade(engine, registry)
        stored = registry["extras.configcontextschema"].table
        with engine.connect() as connection:
            assert sorted(connection.execute(sa.select(stored.c.unowned_name)).scalars()) == ["downlinks", "uplinks"]


def test_a_migration_that_leaves_a_reference_to_nothing_is_taken_back(tmp_path: Path, database_template: str) -> None:
    """What is not guarded on the way is looked at in the end."""
    with migrated_database(tmp_path, database_template) as engine:
        with pytest.raises((LookupError, sa.exc.IntegrityError)), migrate._changing_tables(engine) as connection:
            _add(connection, "extras_job_button", id=uuid.uuid4(), job_id=uuid.uuid4())
        assert _count(engine, "extras_job_button") == 0


@pytest.mark.night
def test_every_branch_goes_back_to_nothing(tmp_path: Path, database_template: str) -> None:
    """Taking the applications back one by one, those that others rest on last, leaves the core's tables alone."""
    with migrated_database(tmp_path, database_template) as engine:
        registry = registry_for(engine.dialect.name, {})
        waiting = [app for app in registry.apps.values() if app.migrations not in (None, revisions.CORE)]
        while waiting:
            app = waiting.pop(0)
            try:
                migrate.remove(engine, registry, app)
                del registry.apps[app.name]
            except LookupError:
                waiting.append(app)
        left = {name for name in sa.inspect(engine).get_table_names() if not name.endswith("_alembic_version")}
    assert {name.partition("_")[0] for name in left} == {"core"}


@pytest.mark.parametrize("name", ["dcim", "extras"])
def test_an_application_that_others_rest_on_stays(tmp_path: Path, database_template: str, name: str) -> None:
    """The tables of others refer to its own."""
    with migrated_database(tmp_path, database_template) as engine:
        registry = registry_for(engine.dialect.name, {})
        with pytest.raises(LookupError, match="refer to those of"):
            migrate.remove(engine, registry, registry.apps[name])


def _count(engine: sa.Engine, table: str) -> int:
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(Base.metadata.tables[table])).scalar() or 0


_PLAIN = {
    "JSON": "{}",
    "DATE": datetime.date(2026, 1, 1),
    "TIMESTAMP": datetime.datetime(2026, 1, 1),
    "DATETIME": datetime.datetime(2026, 1, 1),
}


def _add(connection: sa.Connection, name: str, /, **values: Any) -> uuid.UUID:
    """A row of a table as the database has it, with something in every column that must not be null; gives its id."""
    keys = [sa.Column(key, sa.Uuid(), primary_key=key == "id") for key in values if key.endswith("id")]
    table = sa.Table(name, sa.MetaData(), *keys, autoload_with=connection)
    for column in table.columns:
        if not column.nullable and column.name not in values:
            kind = type(column.type).__name__.upper()
            text = "[]" if "TEXT" in kind else "x"  # JSON as well, where the database knows it as text
            values[column.name] = _PLAIN.get(kind, text if "CHAR" in kind or "TEXT" in kind or "BLOB" in kind else 0)
    connection.execute(sa.insert(table).values(**values))
    found: uuid.UUID = values["id"]
    return found


def test_revisions_that_are_read_from_text_are_those_of_alembic(tmp_path: Path) -> None:
    """Every package's, and one whose migrations use the forms that Alembic allows."""
    for app in revisions.sort_apps(registry_for("sqlite", {})):
        scripts = ScriptDirectory.from_config(migrate._configuration(app))
        assert revisions.branch(app).known == {script.revision for script in scripts.walk_revisions()}
        assert revisions.branch(app).heads == tuple(sorted(scripts.get_heads()))


def test_revisions_of_merged_branches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "a": "revision: str = 'a'\ndown_revision: str | None = None\n",
        "b": 'revision = "b"  # the = second\ndown_revision = "a"\n',
        "c": 'revision = "c"\ndown_revision = ["a"]\n',
        "d": 'revision = "d"\ndown_revision = (\n    "b",\n    "c",\n)\n',
        "e": 'revision = "e"\ndown_revision = "c"\n',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(revisions, "folder", lambda place: tmp_path)
    assert revisions.branch(App(name="core", title="")) == revisions.Branch(frozenset("abcde"), ("d", "e"))
    (tmp_path / "f.py").write_text("down_revision = 'e'\n")
    with pytest.raises(LookupError, match="assigns no revision"):
        revisions.branch(App(name="core", title=""))
