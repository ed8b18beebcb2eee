"""Locks of the prefixes from which addresses and networks are allocated."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import netaddr
import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.caches import BoundedCache, lru_cache
from netinv_core.db.engine import lock_rows
from netinv_core.db.expressions import in_parameter
from netinv_core.driver import Driver
from netinv_core.driver.combined import Combined, Run
from netinv_core.read import listing
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.lookups import any_of
from netinv_ipam import networks
from netinv_ipam.prefixes import Prefix

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Row = dict[str, Any]
Place = tuple[str, uuid.UUID | None]  # the network and the VRF of a prefix
MAX_PLACES = 10_000

_table: Any = Prefix.__table__


@cached_in_registry
def _places_of(registry: Registry) -> BoundedCache[Place]:
    """The places of the prefixes from which this process has allocated; a prefix seldom has another one."""
    return BoundedCache("places of prefixes", MAX_PLACES)


def locked(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> Row | None:
    """Locks a prefix's row until the transaction ends, so that only this transaction allocates from it.

    Returns the row, or ``None`` when the user may not view such a prefix, or its network or VRF has changed meanwhile.
    One statement when the place is known, which is asked for only with a permission for every prefix.
    """
    if permissions.limits(uow, endpoint, "view", _table):
        place = _place(uow, endpoint, key)
        return None if place is None else _locked_at(uow, place).get(key)
    places = _places_of(uow.registry)
    known = places.get(key)
    if known is not None and (row := _locked_at(uow, known).get(key)) is not None:
        return row
    place = _place(uow, endpoint, key)
    if place is None:
        return None
    places.set(key, place)
    return _locked_at(uow, place).get(key)


def lock_around(uow: UnitOfWork, first: str, last: str, vrf_id: Any) -> None:
    """Locks the narrowest prefix of a VRF that contains all addresses from ``first`` to ``last``, as :func:`locked`
    does: whoever allocates addresses between them otherwise waits for those who allocate them from a prefix.

    Two statements; one where no prefix contains them.
    """
    network = netaddr.spanning_cidr([first, last])
    conditions = networks.containing(_table, network), _table.c.vrf_id.is_not_distinct_from(vrf_id)
    narrowest = sa.select(_table.c.prefix).where(*conditions).order_by(_table.c.prefix_length.desc()).limit(1)
    prefix = uow.execute(narrowest).scalar_one_or_none()
    if prefix is not None:
        _locked_at(uow, (prefix, vrf_id))


def _place(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> Place | None:
    """The place of a prefix; ``None`` for one that the user may not view."""
    row = listing.rows(uow, endpoint, [key], "view").get(key)
    return None if row is None else (row["prefix"], row["vrf_id"])


def _locked_at(uow: UnitOfWork, place: Place) -> dict[Any, Row]:
    """Locks the prefixes of a network in a VRF, and returns their rows by id.

    They are locked exclusively (``FOR UPDATE``), wider prefixes that contain the network with a shared lock (``FOR KEY
    SHARE``). So allocations from a prefix, from the prefixes that contain it and from those inside it wait for each
    other. Those from two prefixes beside each other do not. All lock from the widest prefix to the narrowest: no
    deadlocks.
    """
    network, vrf_id = netaddr.IPNetwork(place[0]), place[1]
    values = {
        "ip_version": network.version,
        "network": networks.first(network),
        "prefix_length": network.prefixlen,
        "vrf_id": vrf_id,
    }
    rows = uow.execute(_LockedPrefixes(uow.registry.driver, network), values)
    return {row["id"]: row for row in (dict(zip(_table.c.keys(), values, strict=True)) for values in rows)}


class _LockedPrefixes(Combined):
    """Locks of the prefixes of a network, after those that contain it. The result are the rows of the former."""

    is_dml = False

    def __init__(self, driver: Driver, network: netaddr.IPNetwork) -> None:
        self._driver, self._network = driver, network

    def at_once(self, run: Run, values: Any) -> Any:
        above = {low for _, low, _ in networks.edges_of_parents(self._network, equal=False)}
        values = {**values, "above": sorted(above), "broadcast": networks.last(self._network)}
        return run(_wider_and_own(), values).tuples()

    def in_steps(self, run: Run, values: Any) -> Any:
        wider = [_at(parent) for parent in networks.parents(self._network, equal=False)]
        if wider and not self._driver.locks_database:
            run(_with_index_hint(_select_shared().where(any_of(wider))), {"vrf_id": values["vrf_id"]})
        return run(_with_index_hint(_own()), values).tuples()


def _at(network: netaddr.IPNetwork) -> Any:
    """Condition for prefixes of exactly this network.

    The version is bounded, not equal: MariaDB 10.11.19 takes an equal first column of the index for all of the
    alternatives, scans every prefix of the version, and locks them.
    """
    version, place = _table.c.ip_version, _table.c.network == networks.first(network)
    length = _table.c.prefix_length == network.prefixlen
    return sa.and_(version >= network.version, version <= network.version, place, length)


def _in_order(statement: Any) -> Any:
    """The statement limited to a VRF, in the order in which prefixes are locked."""
    vrf_id = sa.bindparam("vrf_id", type_=_table.c.vrf_id.type)
    ordered = statement.order_by(_table.c.ip_version, _table.c.network, _table.c.prefix_length, _table.c.id)
    return ordered.where(_table.c.vrf_id.is_not_distinct_from(vrf_id))


def _select_shared() -> Any:
    """SELECT of the ids of prefixes in a VRF, with a shared lock."""
    return _in_order(sa.select(_table.c.id)).with_for_update(read=True, key_share=True)


def _own() -> Any:
    """SELECT of the prefixes of a network in a VRF, with an exclusive lock."""
    place = [_table.c[name] == sa.bindparam(name) for name in ("ip_version", "network", "prefix_length")]
    return lock_rows(_in_order(sa.select(_table)).where(*place))


@lru_cache("SQL statements", 1)
def _wider_and_own() -> sa.Select[Any]:
    """SELECT of the prefixes of a network in a VRF, which locks those that contain it before (PostgreSQL).

    The number of the wider ones is compared once, before any row is read.
    """
    wider = (
        _select_shared()
        .where(_table.c.ip_version == sa.bindparam("ip_version"))
        .where(in_parameter(_table.c.network, "above"))
        .where(_table.c.prefix_length < sa.bindparam("prefix_length"), _table.c.broadcast >= sa.bindparam("broadcast"))
        .cte("wider")
    )
    number = sa.select(sa.func.count()).select_from(wider).scalar_subquery()
    return _own().where(number >= sa.literal_column("0"))


def _with_index_hint(statement: Any) -> Any:
    """The statement with an index hint for MariaDB and MySQL, which lock every row that they scan, in the order of the
    scan: with it they scan only the rows of the result, in this order.
    """
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(_table, "FORCE INDEX (ix_ipam_prefix_place)", dialect)
    return statement
