"""Reading the database of a NetBox: a small one, made on the PostgreSQL server that the tests run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from netinv_core.importing.dump import Excluded
from netinv_import import postgres
from netinv_import.sources import read_netbox
from tests.support.databases import DIALECT, empty_database

TABLES = """
CREATE TABLE django_content_type (id int PRIMARY KEY, app_label text, model text);
INSERT INTO django_content_type VALUES (1, 'dcim', 'site'), (2, 'dcim', 'device'), (3, 'ipam', 'prefix'), (4, 'ipam', 'asn'),
  (5, 'users', 'user'), (6, 'ipam', 'vlangroup');
CREATE TABLE ipam_asn (id int PRIMARY KEY, asn bigint);
CREATE TABLE dcim_site (id int PRIMARY KEY, name text, latitude numeric(8, 6), created timestamptz);
CREATE TABLE dcim_site_asns (id int, site_id int REFERENCES dcim_site, asn_id int REFERENCES ipam_asn);
CREATE TABLE dcim_device (id int PRIMARY KEY, name text, site_id int REFERENCES dcim_site);
CREATE TABLE ipam_prefix (id int PRIMARY KEY, prefix cidr, scope_type_id int REFERENCES django_content_type, scope_id int);
CREATE TABLE ipam_vlangroup (id int PRIMARY KEY, vid_ranges int4range[]);
CREATE TABLE users_user (id int PRIMARY KEY, username text, password text);
INSERT INTO ipam_asn VALUES (1, 64512);
INSERT INTO dcim_site VALUES (7, 'Bern', 46.9, '2024-01-02 03:04:05+00');
INSERT INTO dcim_site_asns VALUES (1, 7, 1);
INSERT INTO dcim_device VALUES (8, 'sw1', 7);
INSERT INTO ipam_prefix VALUES (9, '192.0.2.0/24', 1, 7);
INSERT INTO ipam_vlangroup VALUES (2, '{"[1,10]"}');
INSERT INTO users_user VALUES (3, 'alice', 'hash');
"""
needs_postgresql = pytest.mark.skipif(DIALECT != "postgresql", reason="reads a PostgreSQL database")


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of a small database of a NetBox."""
    with empty_database(tmp_path) as engine:
        with engine.begin() as connection:
            connection.exec_driver_sql(TABLES)
        yield engine.url.set(drivername="postgresql").render_as_string(hide_password=False)


@needs_postgresql
def test_a_database_is_read_in_the_terms_of_a_dump(url: str) -> None:
    dump = postgres.read(url, {"users.user": Excluded("accounts", fields=("username",))}, lambda label: None)
    assert dump.objects["dcim.site"][7]["asns"] == [1] and dump.objects["dcim.site"][7]["latitude"] == "46.900000"
    assert dump.objects["dcim.device"] == {8: {"name": "sw1", "site": 7}}
    assert dump.objects["ipam.prefix"][9] == {"prefix": "192.0.2.0/24", "scope_type": ["dcim", "site"], "scope_id": 7}
    assert dump.objects["ipam.vlangroup"][2] == {"vid_ranges": [[1, 10]]}
    assert dump.objects["users.user"] == {3: {"username": "alice"}}
    assert dump.references["dcim.site", "asns"] == "ipam.asn"


@needs_postgresql
def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    with empty_database(tmp_path) as engine:
        other = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with pytest.raises(ValueError, match="is not the database of a NetBox"):
            postgres.read(other, {}, lambda label: None)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("postgresql://u:hidden@127.0.0.1:1/x", r"cannot read postgresql://u:\*\*\*@127.0.0.1:1/x"),
        ("postgresql://a:hidden@:x/", "the URL of the database is not valid"),
        ("ftp://host/x", "ftp:// is no source"),
        ("no-such-file.json", "there is no file no-such-file.json"),
    ],
)
def test_a_source_that_cannot_be_read_ends_in_one_line_without_the_password(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        read_netbox(source, {}, lambda label: None)
    assert "hidden" not in str(raised.value) and "\n" not in str(raised.value)
