"""The large set of ``--million``: the small one, enlarged by SQL to a million addresses and two million changes.

Rows are copies of those that the service made for the small set, under other keys and names, so every column has
values of a real one. PostgreSQL only.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, make_url

from bench.client import Client
from bench.measures import Measure
from bench.world import World
from netinv_core.changelog.sequence import number_some
from netinv_core.db.engine import engine_from

Tell = Callable[[str], None]

ADDRESSES, PREFIXES, DEVICES, CHANGES = 1_000_000, 100_000, 50_000, 2_000_000
INTERFACES = 200_000  # four of each device that is added
SCALE = 50  # as the report names it: 50 × 20,000 addresses
RUN = 600_000  # addresses without a gap at the beginning of 11.0.0.0/8
NETS = 60_000  # /24 without a gap at the beginning of 12.0.0.0/8
CONTEXTS = 2000
LARGE, CROWDED = "11.0.0.0/8", "12.0.0.0/8"
KEPT = "netinv_bench_kept"  # the table in which a kept database says what it holds


@contextlib.contextmanager
def kept(url: str, name: str) -> Iterator[str]:
    """The URL of the database ``name``, which is made when it is not there and never dropped."""
    server = engine_from(url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        if not connection.execute(sa.text("SELECT 1 FROM pg_database WHERE datname = :name"), {"name": name}).first():
            connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    server.dispose()
    yield make_url(url).set(database=name).render_as_string(hide_password=False)


@dataclasses.dataclass
class Kept:
    """Contents of a kept database: the world of the small set, and the results of the small set as they are written."""

    world: World
    small: dict[str, Any]


def remembered(database: str) -> Kept | None:
    """Returns the contents of the database; ``None`` for one without the large set."""
    engine = engine_from(database)
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table(KEPT):
            return None
        found = connection.execute(sa.text(f"SELECT world, small FROM {KEPT}")).one()
    engine.dispose()
    return Kept(World(**found.world), found.small)


def remember(database: str, what: Kept) -> None:
    """Writes down what the database holds."""
    engine = engine_from(database)
    values = {"world": json.dumps(dataclasses.asdict(what.world)), "small": json.dumps(what.small)}
    with engine.begin() as connection:
        connection.execute(sa.text(f"CREATE TABLE {KEPT} (world JSONB, small JSONB)"))
        connection.execute(sa.text(f"INSERT INTO {KEPT} VALUES (CAST(:world AS JSONB), CAST(:small AS JSONB))"), values)
    engine.dispose()


def complete(client: Client) -> None:
    """Adds to the small set what the further measures ask for."""
    for path, prefix in (("large", LARGE), ("crowded", CROWDED)):
        client.call("POST", "ipam/prefixes/", {"prefix": prefix, "status": "active", "description": path}, expect=201)
    sites = client.call("GET", "dcim/sites/?limit=50")["results"]
    bodies = [
        {"name": f"context {i}", "data": {f"key {i % 50}": i}, "sites": [sites[i % len(sites)]["id"]]}
        for i in range(CONTEXTS)
    ]
    for start in range(0, CONTEXTS, 500):
        client.call("POST", "extras/config-contexts/", bodies[start : start + 500], expect=201)
    group = {"name": "All devices", "slug": "all-devices", "content_type": "dcim.device", "filter": {}}
    client.call("POST", "extras/dynamic-groups/", group, expect=201)


def number(database: str) -> None:
    """Gives all change records their numbers, as a worker does within a second: counts are kept then."""
    engine = engine_from(database)
    while number_some(engine):
        pass
    engine.dispose()


def enlarge(database: str, tell: Tell) -> float:
    """Makes the large set of a complete small one; gives the seconds."""
    began = time.perf_counter()
    number(database)
    engine = engine_from(database)
    with engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL synchronous_commit = off"))
        connection.execute(sa.text("SET LOCAL session_replication_role = replica"))  # no check of foreign keys
        connection.execute(sa.text("SET LOCAL maintenance_work_mem = '256MB'"))
        for table, total, values in _copies():
            tell(f"enlarging {table}")
            with _without_indexes(connection, table):
                _copy(connection, table, total, values)
        connection.execute(
            sa.text("UPDATE core_change_numbering SET given = (SELECT max(number) FROM core_object_change)")
        )
    engine.dispose()
    return time.perf_counter() - began


def _bytes(number: str) -> str:
    """SQL: a number as the four bytes of an address."""
    return f"decode(lpad(to_hex({number}), 8, '0'), 'hex')"


def _address(number: str) -> str:
    """SQL: a number as the text of an address."""
    return f"host('0.0.0.0'::inet + ({number}))"


def _copies() -> list[tuple[str, int, dict[str, str]]]:
    """Table, number of rows wanted, and the columns in which the copy number ``g`` differs from its original ``s``.

    ``h`` is one of the devices that were added, for four numbers in turn.
    """
    spread = f"(13 * 16777216 + (g - {RUN}) / 200 * 256 + (g - {RUN}) % 200 + 1)"
    host = f"(CASE WHEN g < {RUN} THEN 11 * 16777216 + 1 + g ELSE {spread} END)::bigint"
    network = f"(CASE WHEN g < {NETS} THEN 12 * 16777216 + g * 256 ELSE 13 * 16777216 + (g - {NETS}) * 512 END)::bigint"
    return [
        ("dcim_device", DEVICES, {"name": "'box-' || g", "name_key": "'box-' || g", "serial": "'SX' || g"}
            | dict.fromkeys(("rack_id", "position", "asset_tag", "primary_ip4_id", "untenanted_name"), "NULL")
            | {"face": "''"}),
        ("dcim_interface", INTERFACES, {"name": "'xe-' || g", "name_key": "'xe-' || lpad(g::text, 8, '0')",
            "device_id": "h.id"}
            | dict.fromkeys(("cable_peer_type", "connected_endpoint_type"), "NULL")
            | dict.fromkeys(("cable_id", "cable_peer_id", "connected_endpoint_id", "mac_address"), "NULL")
            | dict.fromkeys(("parent_interface_id", "bridge_id", "lag_id", "connected_endpoint_reachable"), "NULL")),
        ("ipam_prefix", PREFIXES, {
            "prefix": f"{_address(network)} || '/24'", "network": _bytes(network),
            "broadcast": _bytes(f"{network} + 255"), "prefix_length": "24", "vlan_id": "NULL"}),
        ("ipam_ip_address", ADDRESSES, {
            "address": f"{_address(host)} || '/24'", "host": _bytes(host),
            "broadcast": _bytes(f"{host} | 255"), "prefix_length": "24", "dns_name": "'node-' || g || '.example.net'",
            "assigned_object_type": "NULL", "assigned_object_id": "NULL"}),
        ("core_object_change", CHANGES, {
            "id": "(lpad(to_hex(2000000000000 + g), 12, '0') || right(md5(g::text), 20))::uuid",
            "changed_object_id": "md5(s.changed_object_id::text || g / held.n)::uuid",
            "request_id": "md5((g / 1000)::text)::uuid", "position": "g % 1000",
            "time": "(SELECT max(time) FROM originals) + g / 100 * interval '1 millisecond'",
            "number": "(SELECT max(number) FROM originals) + 1 + g"}),
    ]  # fmt: skip


def _copy(connection: Connection, table: str, total: int, values: dict[str, str]) -> None:
    columns = [item["name"] for item in sa.inspect(connection).get_columns(table)]
    values = {"id": "gen_random_uuid()", **values}
    order = "number" if "number" in values else "id"  # changes stay in runs of one type, as requests write them
    place = f"row_number() OVER (ORDER BY {order}) - 1"
    chosen = ", ".join(values.get(name, f"s.{name}") for name in columns)
    connection.execute(
        sa.text(
            f"WITH originals AS MATERIALIZED (SELECT *, {place} AS place FROM {table}),"
            " held AS (SELECT count(*) AS n FROM originals),"
            " hosts AS MATERIALIZED (SELECT id, row_number() OVER () - 1 AS place FROM dcim_device"
            " WHERE name LIKE 'box-%')"
            f" INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} FROM held"
            f" CROSS JOIN LATERAL generate_series(0, {total} - held.n - 1) AS g"
            " JOIN originals s ON s.place = g % held.n LEFT JOIN hosts h ON h.place = g / 4"
        )
    )


@contextlib.contextmanager
def _without_indexes(connection: Connection, table: str) -> Iterator[None]:
    """Drops the indexes of a table, but those of constraints, and builds them again at the end."""
    found = connection.execute(
        sa.text(
            "SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index"
            " WHERE indrelid = CAST(:table AS regclass)"
            " AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)"
        ),
        {"table": table},
    ).all()
    for name, _ in found:
        connection.execute(sa.text(f"DROP INDEX {name}"))
    yield
    for _, definition in found:
        connection.execute(sa.text(definition))


def measures() -> list[Measure]:
    """Measures besides those of the small set alone, of both sets: what they find is in both."""
    return [*_reads(), *_filtered(), *_changes()]


def _listing(name: str, path: str, aim: float | None = None) -> Measure:
    return Measure(name, lambda client, _: len(client.call("GET", path)["results"]), aim=aim)


def _search(what: str, text: str) -> Measure:
    return Measure(f"GET search, {what}", lambda c, _: len(c.call("GET", f"search/?q={text}")["groups"]), aim=30)


def _reads() -> list[Measure]:
    turn = itertools.count(1)
    group = {"path": ""}

    def last(client: Client) -> str:
        """The path of a page by cursor after 500 rows."""
        answer = client.call("GET", "ipam/ip-addresses/?limit=500&cursor=&count=none&ordering=-address")
        return str(answer["next"].partition("/api/")[2]).replace("limit=500", "limit=50")

    def members(client: Client, _: Any) -> int:
        if not group["path"]:
            one = client.call("GET", "extras/dynamic-groups/?slug=all-devices")["results"][0]
            group["path"] = f"extras/dynamic-groups/{one['id']}/members/?limit=50"
        return len(client.call("GET", group["path"])["results"])

    def device(client: Client) -> str:
        one = client.call("GET", f"dcim/devices/?limit=1&offset={next(turn)}&count=none")["results"][0]
        return f"dcim/devices/{one['id']}/?include=config_context"

    return [
        Measure("GET addresses, 50, by cursor", lambda c, path: len(c.call("GET", path)["results"]), last, aim=8),
        _listing("GET addresses, 50, count none", "ipam/ip-addresses/?limit=50&count=none", 12),
        _listing("GET addresses, q", "ipam/ip-addresses/?q=host-777", 30),
        _listing("GET addresses, dns_name__ic", "ipam/ip-addresses/?dns_name__ic=OST-777", 30),
        _listing("GET devices, q", "dcim/devices/?q=device-0077", 30),
        _listing("GET devices, q that nothing has", "dcim/devices/?q=no+such+thing", 30),
        _listing("GET prefixes, q", "ipam/prefixes/?q=10.1.7", 30),
        _search("by a beginning", "device-0077"),
        _search("by a part", "vice-0077"),
        _search("for nothing", "no+such"),
        _search("for a long text that nothing has", "nothinglikeit77"),
        Measure("GET members of a dynamic group", members, aim=12),
        Measure("GET a device with its config context", lambda c, path: len([c.call("GET", path)]), device),
    ]


def _filtered() -> list[Measure]:
    """Lists of the filters of which many rows pass."""
    return [
        _listing("GET addresses of a status, 50", "ipam/ip-addresses/?status=active&limit=50", 12),
        _listing("GET addresses of a status, estimate", "ipam/ip-addresses/?status=active&limit=50&count=estimate", 12),
        _listing("GET devices of a role, 50", "dcim/devices/?role=role-1&limit=50", 12),
        _listing("GET devices of a region's tree, cursor", "dcim/devices/?region=continent-1&limit=50&cursor=", 12),
        _listing("GET prefixes that contain, 50", "ipam/prefixes/?contains=10.1.20.9&status=active&limit=50", 12),
    ]


def _changes() -> list[Measure]:
    log = "extras/object-changes/"
    return [
        _listing("GET changes, 50", f"{log}?limit=50", 12),
        _listing("GET changes, 50, offset 50,000", f"{log}?limit=50&offset=50000"),
        _listing("GET changes, q", f"{log}?q=device-0077", 30),
        _listing("GET changes, q that nothing has", f"{log}?q=no+such+thing", 30),
        _listing("GET changes of a model", f"{log}?limit=50&changed_object_type=dcim.device"),
        Measure("GET feed", lambda client, _: len(client.call("GET", f"{log}feed/?limit=50")), aim=12),
    ]


def allocations() -> list[Measure]:
    """Measures of the large set alone."""

    def opened(client: Client, description: str, action: str) -> str:
        prefix = client.call("GET", f"ipam/prefixes/?description={description}&limit=1")["results"][0]
        return f"ipam/prefixes/{prefix['id']}/{action}/"

    def address(client: Client, path: str) -> int:
        return len([client.call("POST", path, {"status": "active"}, expect=201)])

    def network(client: Client, path: str) -> int:
        return len([client.call("POST", path, {"prefix_length": 24, "status": "active"}, expect=201)])

    return [
        Measure("allocate an address after 600,000", address, lambda c: opened(c, "large", "available-ips"), aim=8),
        Measure("allocate a /24 after 60,000", network, lambda c: opened(c, "crowded", "available-prefixes"), aim=8),
    ]
