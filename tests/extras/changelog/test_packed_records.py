"""Packed change records: read like those of older releases, on every database, and packed by upkeep."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import alembic.command
import pytest
import sqlalchemy as sa

from netinv_admin import migrate
from netinv_core import upkeep
from netinv_core.changelog import older_records, packing
from netinv_core.changelog.models import ChangeNumbering, ObjectChange
from netinv_core.changelog.packing import PARTS, dictionaries, pack, unpack
from netinv_core.changelog.sequence import number_changes
from netinv_core.changelog.states import by_length
from netinv_core.db import revisions
from netinv_core.models.base import table_of
from netinv_testing import Service
from tests.support.databases import migrated_database

pytestmark = pytest.mark.night

LOG, SITES = "/api/extras/object-changes/", "/api/dcim/sites/"
RELEASED = 73
DIGEST = "9d59238ac46948a62ffcdec98b8bf3e9d6c8419015bd436ef2789d63a6de6c94"
_change, _numbering = table_of(ObjectChange), table_of(ChangeNumbering)


@pytest.fixture
def service(tmp_path: Path, database_template: str) -> Iterator[Service]:
    """A service on a database of its own."""
    with migrated_database(tmp_path, database_template) as engine:
        yield Service(engine)


@pytest.fixture
def site(service: Service) -> dict[str, Any]:
    """A site that was created, changed twice, and whose neighbour was deleted."""
    api = service.api
    region = api.post("/api/dcim/regions/", {"name": "Zürich"})["id"]
    made: dict[str, Any] = api.post(
        SITES, {"name": "Süd \U0001f600", "status": "active", "region": region, "comments": 'tab\t, "quotes", \x01'}
    )
    api.patch(f"{SITES}{made['id']}/", {"facility": "B1", "region": None})
    api.patch(f"{SITES}{made['id']}/", {"status": "planned", "latitude": "47.3"})
    gone = api.post(SITES, {"name": "gone", "status": "active"})
    api.delete(f"{SITES}{gone['id']}/")
    return made


def answers(service: Service, site: dict[str, Any]) -> list[bytes]:
    """The pages and records of the change log, byte for byte."""
    number_changes(service.engine, service.registry)
    paths = [LOG, f"{LOG}feed/", f"{SITES}{site['id']}/history/", f"{LOG}?format=csv", f"{LOG}?q=gone"]
    paths += [f"{LOG}{change['id']}/" for change in service.api.get(LOG)["results"]]
    return [service.api.send("GET", path, status=200).body for path in paths]


def unpack_all(service: Service) -> int:
    """Gives all records the form of older releases; returns their number."""
    with service.engine.begin() as connection:
        rows = connection.execute(sa.select(_change.c.id, _change.c.changed_object_id, _change.c.states)).all()
        for row in rows:
            older = {name: unpack(row.states + row.changed_object_id.bytes, name) for name in PARTS}
            connection.execute(sa.update(_change).where(_change.c.id == row.id).values(states=None, **older))
        given = sa.select(_numbering.c.given).scalar_subquery()
        connection.execute(sa.update(_numbering).values(unpacked=given))
    return len(rows)


def unpacked(service: Service) -> int:
    count = sa.select(sa.func.count()).select_from(_change).where(_change.c.states.is_(None))
    return int(service.rows(count)[0][0])


def test_records_of_older_releases_are_read_like_packed_ones(service: Service, site: dict[str, Any]) -> None:
    packed = answers(service, site)
    unpack_all(service)
    assert answers(service, site) == packed
    undone = service.api.get(LOG, {"changed_object_id": site["id"], "action": "update"})["results"][0]["id"]
    assert service.api.post(f"{LOG}{undone}/revert/", status=200)["objects"][0]["object"]["status"]["value"] == "active"


def test_upkeep_packs_records_of_older_releases(
    service: Service, site: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(older_records, "CHUNK", 3)
    monkeypatch.setattr(older_records, "PAUSE", 0)
    packed = answers(service, site)
    with service.engine.connect() as connection:
        before = connection.execute(
            sa.select(_change.c.id, _change.c.changed_object_id, _change.c.states).order_by(_change.c.id)
        ).all()
    count = unpack_all(service)
    assert (
        older_records.pack_older(service.engine, iter([True, False]).__next__) <= 3 and unpacked(service) >= count - 3
    )
    list(upkeep.run(service.engine, service.registry))
    assert unpacked(service) == 0
    with service.engine.connect() as connection:
        after = connection.execute(
            sa.select(_change.c.id, _change.c.changed_object_id, _change.c.states).order_by(_change.c.id)
        ).all()
    parts = [
        [[unpack(row.states + row.changed_object_id.bytes, name) for name in PARTS] for row in rows]
        for rows in (before, after)
    ]
    assert parts[0] == parts[1]
    assert service.rows(sa.select(_numbering.c.unpacked))[0][0] == 0
    assert answers(service, site) == packed


def test_upkeep_packs_records_that_had_no_number_yet(service: Service, site: dict[str, Any]) -> None:
    count = unpack_all(service)
    with service.engine.begin() as connection:
        connection.execute(sa.update(_change).values(number=None))
        connection.execute(sa.update(_numbering).values(given=0, unpacked=count))
    assert older_records.pack_older(service.engine) == count and unpacked(service) == 0


@pytest.mark.night
def test_a_downgrade_restores_the_columns_of_older_releases(service: Service, site: dict[str, Any]) -> None:
    packed = answers(service, site)
    core = next(app for app in revisions.sort_apps(service.registry) if revisions.label(app) == "core")
    with migrate._changing_tables(service.engine) as connection:
        alembic.command.downgrade(migrate._configuration(core, connection), "core_0014")
    with service.engine.connect() as connection:
        older = connection.execute(sa.select(_change.c.object_data, _change.c.before, _change.c.after)).all()
    assert older and all(row.object_data and (row.before or row.after) for row in older)
    migrate.upgrade(service.engine, service.registry)
    assert unpacked(service) == service.rows(sa.select(_numbering.c.unpacked))[0][0] > 0
    assert answers(service, site) == packed


def test_members_are_in_the_order_of_the_databases_own_documents(service: Service, site: dict[str, Any]) -> None:
    document = {"bb": 1, "a": [{"zz": 1, "é": 2, "y": 3}], "ab": None, "Ä": "x", "": 0}
    with service.engine.begin() as connection:
        key = connection.execute(sa.select(_change.c.id).limit(1)).scalar()
        connection.execute(sa.update(_change).where(_change.c.id == key).values(before=document))
        stored = connection.execute(sa.select(_change.c.before).where(_change.c.id == key)).scalar()
    expected = by_length(document) if service.engine.dialect.name == "postgresql" else document
    assert repr(stored) == repr(expected)


@pytest.mark.any_database
def test_released_dictionaries_do_not_change() -> None:
    """Records are read with them for ever: add lines, with a new digest of the released ones, but change none."""
    texts = dictionaries().texts
    assert len(texts) == RELEASED + 1 and len(texts) < 256
    assert hashlib.sha256(b"\0\0".join(texts[: RELEASED + 1])).hexdigest() == DIGEST


@pytest.mark.any_database
def test_a_model_without_a_dictionary_is_packed_with_the_common_one() -> None:
    key = uuid.uuid4()
    states = {"after": {"id": key, "x": [1, None, "\x00"]}, "before": None, "object_data": {"x": key}}
    packed = pack("nobody.knows", key, states) + key.bytes
    assert packed[1] == dictionaries().numbers["*"]
    assert unpack(packed, "after") == {"id": str(key), "x": [1, None, "\x00"]}
    assert unpack(packed, "before") is None and unpack(packed, "object_data") == {"x": str(key)}


@pytest.mark.any_database
def test_records_with_the_objects_own_id_are_read() -> None:
    key, site = uuid.uuid4(), uuid.uuid4()
    states = {"after": {"id": key, "site": site}, "before": None, "object_data": {"site": site}}
    packed = pack("nobody.knows", key, states)
    assert packed[2] == 1 and key.bytes not in packed
    older = bytes((packing.WITH_OWN_ID, packed[1], 2)) + key.bytes + packed[3:]
    for own_id in (key.bytes, str(key).encode(), key.hex.encode()):
        assert unpack(older + own_id, "after") == {"id": str(key), "site": str(site)}
        assert unpack(older + own_id, "object_data") == {"site": str(site)}


@pytest.mark.any_database
def test_records_of_later_releases_are_refused() -> None:
    packed = pack("nobody.knows", uuid.uuid4(), {name: {"a": 1} for name in PARTS})
    for other in (bytes((packing.FORMAT + 1,)) + packed[1:], packed[:1] + b"\xff" + packed[2:]):
        with pytest.raises(ValueError, match="later release"):
            unpack(other, "after")
