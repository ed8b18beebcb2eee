"""Trigram indexes of PostgreSQL, which are built after the migrations; other databases have none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlalchemy as sa

from netinv_admin import checks, migrate
from netinv_core.changelog.sequence import number_changes
from netinv_core.db import text_indexes
from netinv_core.findings import OK, WARNING
from netinv_core.read import indexed_texts, searches
from netinv_core.registry import Registry
from netinv_testing import Api, Samples, Service, Unique
from tests.support.databases import migrated_database

ADDRESSES, TENANTS, DEVICES = "/api/ipam/ip-addresses/", "/api/tenancy/tenants/", "/api/dcim/devices/"
CHANGES = "/api/extras/object-changes/"
INDEX = "tx_ipam_ip_address_dns_name"


def findings(engine: sa.Engine, registry: Registry) -> tuple[str, list[str]]:
    """The level of the finding about text indexes, and the missing ones."""
    with engine.connect() as connection:
        return checks.searches(connection, registry, "x.ini").level, text_indexes.missing_indexes(connection, registry)


@pytest.mark.night
def test_a_missing_index_is_warned_of_and_built_by_migrating(tmp_path: Path, database_template: str) -> None:
    with migrated_database(tmp_path, database_template) as engine:
        registry = Service(engine).registry
        assert findings(engine, registry) == (OK, [])
        has_indexes = engine.dialect.name == "postgresql"
        with engine.begin() as connection:
            if has_indexes:
                connection.execute(sa.text(f"DROP INDEX {INDEX}"))
        assert findings(engine, registry) == ((WARNING, [INDEX]) if has_indexes else (OK, []))
        migrate.upgrade(engine, registry)
        assert findings(engine, registry) == (OK, [])


def test_texts_with_wildcards_quotes_and_backslashes_are_found_as_they_are(api: Api, unique: Unique) -> None:
    for text in ("50%", "a_b", "O'Hare", 'x"y', "back\\slash", "%(name)s", "a/b", ":name", "ÄÖ", "x''y", "\\'"):
        name = f"{unique()} {text} end"
        api.post(TENANTS, [{"name": name}, {"name": f"{unique()} a-b 500 OHare"}])
        found = api.get(TENANTS, {"name__ic": name[-len(text) - 8 :].lower()})["results"]
        assert [item["name"] for item in found if item["name"].endswith(" end")] == [name]


def test_a_search_finds_addresses_by_their_beginning_and_by_part_of_a_name(api: Api, unique: Unique) -> None:
    word = unique()
    bodies = [
        {"address": "198.51.100.17/32", "status": "active", "dns_name": f"{word}.example.com"},
        {"address": "2001:db8:aff:1::7/128", "status": "active", "description": f"The {word.upper()} of it"},
    ]
    first, second = (item["address"] for item in api.post(ADDRESSES, bodies))
    assert {item["address"] for item in api.get(ADDRESSES, {"q": word})["results"]} == {first, second}
    found = [item["address"] for item in api.get(ADDRESSES, {"q": "198.51.100.", "limit": 0})["results"]]
    assert first in found
    assert all(address.startswith("198.51.100.") for address in found)
    assert [item["address"] for item in api.get(ADDRESSES, {"q": "2001:DB8:AFF:1"})["results"]] == [second]


@pytest.mark.parametrize("are_numbered", [False, True])
def test_a_search_of_the_change_log_finds_changes_before_and_after_they_have_numbers(
    service: Service, api: Api, unique: Unique, are_numbered: bool
) -> None:
    """Changes get into the trigram index with their numbers."""
    word = unique()
    made = api.post(TENANTS, [{"name": f"The {word} company"}, {"name": unique()}])
    if are_numbered:
        number_changes(service.engine, service.registry)
    for parameters in (
        {"q": word.upper()},
        {"object_repr__ic": word.upper()},
        {"q": f"{word} COM", "action": "create"},
    ):
        found = api.get(CHANGES, parameters)
        assert (found["count"], found["results"][0]["changed_object_id"]) == (1, made[0]["id"])
    assert api.get(CHANGES, {"q": f"no {word}"})["count"] == 0
    assert made[1]["id"] in {
        item["changed_object_id"] for item in api.get(CHANGES, {"object_repr__nic": word})["results"]
    }


@pytest.mark.parametrize("most", [indexed_texts.MAX_TEXTS, 0])
def test_a_search_of_the_change_log_finds_the_changes_of_users(
    monkeypatch: pytest.MonkeyPatch, service: Service, api: Api, unique: Unique, most: int
) -> None:
    """The different names are read instead of those of all changes, unless there are more than ``most``."""
    monkeypatch.setattr(indexed_texts, "MAX_TEXTS", most)
    indexed_texts._texts.cache_clear()
    users = [service.user(superuser=True) for _ in range(2)]
    for user in users:
        user.api.post(TENANTS, {"name": unique()})
    with service.statements() as executed:
        found = api.get(CHANGES, {"q": users[0].username[1:].upper(), "changed_object_type": "tenancy.tenant"})[
            "results"
        ]
    assert [change["user_name"] for change in found] == [users[0].username]
    (ids,) = [sql for sql in executed if "core_object_change" in sql and "ORDER BY" in sql and "object_repr" in sql]
    is_named = service.registry.dialect == "postgresql" and most > 0
    assert ("core_object_change.user_name IN" in ids) is is_named
    indexed_texts._texts.cache_clear()


@pytest.mark.parametrize("most", [searches.MAX_IDS, 0])
def test_a_search_along_references_names_their_ids_where_a_trigram_index_serves_the_rest(
    monkeypatch: pytest.MonkeyPatch, service: Service, api: Api, unique: Unique, most: int
) -> None:
    """Within an OR, PostgreSQL uses no index for a subquery. Of more ids than ``most`` it is one all the same."""
    monkeypatch.setattr(searches, "MAX_IDS", most)
    device, word = Samples(service).make(service.registry["dcim.device"]), unique()
    device_type = api.get(device["device_type"]["url"])
    api.patch(device_type["manufacturer"]["url"], {"name": f"The {word.upper()} company"})
    with service.statements() as executed:
        assert [item["id"] for item in api.get(DEVICES, {"q": word})["results"]] == [device["id"]]
    (ids,) = [sql for sql in executed if "dcim_device.comments" in sql and "ORDER BY" in sql]
    is_named = service.registry.dialect == "postgresql" and most > 0
    assert ("dcim_manufacturer" in ids) is not is_named
    assert api.get(DEVICES, {"q": f"no {word}"})["count"] == 0


def test_the_statements_of_the_search_are_planned_for_all_rows_where_an_index_has_the_text(
    service: Service, api: Api, unique: Unique
) -> None:
    """With a LIMIT alone, PostgreSQL reads a table of 1,000,000 rows for a text that none has."""
    with service.statements() as executed:
        assert api.get("/api/search/", {"q": f"{unique()}nothing"})["groups"] == []
    (scan,) = [sql for sql in executed if "dns_name" in sql]
    materialized = re.findall(r"AS MATERIALIZED\s+\(SELECT .+?\sFROM (\w+)", scan)
    indexed = text_indexes.declared_indexes(service.registry).values()
    if service.registry.dialect == "postgresql":
        assert {"ipam_ip_address", "dcim_device", "dcim_interface"} <= set(materialized)
        assert set(materialized) <= {index.column.table.name for index in indexed}
    else:
        assert materialized == []
