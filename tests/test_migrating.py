"""Migrations: what they make is what the models say, on an empty database and on one with an inventory in it."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from netinv_core import migrating
from netinv_core.contract import Service
from netinv_core.model import Base
from netinv_core.service import registry_for
from tests.conftest import empty_database


def test_an_empty_database_becomes_what_the_models_say(tmp_path: Path) -> None:
    """Nothing is left for another revision to add or change."""
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        assert migrating.pending(engine, registry)
        migrating.upgrade(engine, registry)
        assert migrating.pending(engine, registry) == []
        with engine.connect() as connection:
            ours = {"include_name": lambda name, kind, parents: kind != "table" or name in Base.metadata.tables}
            found = compare_metadata(MigrationContext.configure(connection, opts=ours), Base.metadata)
    assert found == []


def test_a_filled_database_keeps_what_is_in_it(tmp_path: Path) -> None:
    """Migrating again changes nothing, rows and seeds included."""
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        migrating.upgrade(engine, registry)
        api = Service(engine).api
        api.post("/api/dcim/sites/", {"name": "Lisbon", "status": "active"})
        before = {name: _count(engine, name) for name in Base.metadata.tables}
        migrating.upgrade(engine, registry)
        assert {name: _count(engine, name) for name in Base.metadata.tables} == before
        assert api.get("/api/dcim/sites/")["results"][0]["name"] == "Lisbon"


def test_every_branch_goes_back_to_nothing(tmp_path: Path) -> None:
    """Taking the applications back one by one, those that others rest on last, leaves the core's tables alone."""
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        migrating.upgrade(engine, registry)
        waiting = [app for app in registry.apps.values() if app.migrations != migrating.CORE]
        while waiting:
            app = waiting.pop(0)
            try:
                migrating.remove(engine, registry, app)
                del registry.apps[app.name]
            except LookupError:
                waiting.append(app)
        left = {name for name in sa.inspect(engine).get_table_names() if not name.endswith("_alembic_version")}
    assert {name.partition("_")[0] for name in left} == {"core"}


@pytest.mark.parametrize("name", ["dcim", "extras"])
def test_an_application_that_others_rest_on_stays(tmp_path: Path, name: str) -> None:
    """The tables of others refer to its own."""
    with empty_database(tmp_path) as engine:
        registry = registry_for(engine.dialect.name, {})
        migrating.upgrade(engine, registry)
        with pytest.raises(LookupError, match="refer to those of"):
            migrating.remove(engine, registry, registry.apps[name])


def _count(engine: sa.Engine, table: str) -> int:
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(Base.metadata.tables[table])).scalar() or 0
