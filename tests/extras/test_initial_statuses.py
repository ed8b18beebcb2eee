"""Initial statuses: those that apply to a model once the database is migrated."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from netinv_admin import migrate
from netinv_core.models.columns import column_info
from netinv_extras.statuses import Status, status_types
from netinv_testing import Service
from tests.support.databases import migrated_database

RACKS, SITES = "dcim.rack", "dcim.site"


def applying(engine: sa.Engine) -> dict[str, set[str]]:
    """The names of the statuses that apply to each model."""
    names: dict[str, set[str]] = {}
    with engine.connect() as connection:
        for label, name in connection.execute(sa.select(status_types.c.label, Status.name).join(Status)):
            names.setdefault(label, set()).add(name)
    return names


@pytest.mark.night
def test_every_model_with_a_status_has_those_that_its_column_names(tmp_path: Path, database_template: str) -> None:
    with migrated_database(tmp_path, database_template) as engine:
        endpoints = Service(engine).registry.endpoints
        declared = {
            label: set(column_info(endpoint.table.c.status_id).initial)
            for label, endpoint in endpoints.items()
            if "status_id" in endpoint.table.c
        }
        assert len(declared) >= 15 and all(declared.values())
        assert applying(engine) == declared


@pytest.mark.night
def test_a_model_that_is_new_to_the_database_gets_its_statuses_and_others_keep_theirs(
    tmp_path: Path, database_template: str
) -> None:
    """Packages installed later add models to a database whose statuses users have changed."""
    with migrated_database(tmp_path, database_template) as engine:
        service = Service(engine)
        before = applying(engine)
        with engine.begin() as connection:
            of_sites = connection.execute(
                sa.select(Status.id).join(status_types).where(Status.slug == "retired", status_types.c.label == SITES)
            ).scalar_one()
            connection.execute(sa.delete(status_types).where(status_types.c.label == RACKS))
            connection.execute(
                sa.delete(status_types).where(status_types.c.label == SITES, status_types.c.owner_id == of_sites)
            )
            connection.execute(sa.delete(Status).where(Status.slug == "available"))
        migrate.upgrade(engine, service.registry)
        assert applying(engine) == before | {SITES: before[SITES] - {"Retired"}}
        api = Service(engine).api
        site = api.post("/api/dcim/sites/", {"name": "Lisbon", "status": "active"})
        assert api.post("/api/dcim/racks/", {"name": "R1", "site": site["id"], "status": "available"})["status"] == {
            "value": "available",
            "label": "Available",
        }
