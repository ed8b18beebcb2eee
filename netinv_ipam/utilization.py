"""Utilisation of prefixes, aggregates, VRFs, registries and VLAN groups, for a whole page in a few statements.

What takes space of a prefix is the same as for its free space (:mod:`netinv_ipam.taken_space`), as far as the user may
view it: child prefixes of a container, addresses of any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.fields import Share
from netinv_ipam.addresses import IPAddress
from netinv_ipam.aggregates import Aggregate
from netinv_ipam.hierarchy import MAX_RANGES, Owner, lengths_of, space_taken, top_prefixes, visible_prefixes
from netinv_ipam.networks import BITS, packed
from netinv_ipam.prefixes import Prefix
from netinv_ipam.taken_space import EVERYWHERE, container_statuses, scope_of
from netinv_ipam.vlans import VLAN

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

ADDRESSES, SPACE, VLANS = "addresses", "addresses in prefixes", "VLANs"
VLAN_IDS = 4094
FAMILIES = {4: "ipv4", 6: "ipv6"}


def usable_size(version: int, length: int, *, is_pool: bool) -> int:
    """The number of addresses that hosts may have (:func:`netinv_ipam.free_space.usable`)."""
    size = 1 << (BITS[version] - length)
    return size if version == 6 or is_pool or length >= 31 else size - 2


def of_prefixes(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, Share]:
    """The utilisation of prefixes by id: two statements for 400, whether there are containers or not.

    On MariaDB a third one counts addresses: it would read a whole VRF for each prefix in a subquery.
    """
    containers = container_statuses(uow)
    counts_in_subquery = uow.registry.driver.compares_ranges_of_rows
    rows = uow.execute(_prefixes(uow, with_count=counts_in_subquery), {"keys": list(keys)}).all()
    owners = [Owner.of(row, scope_of(row.vrf_id, is_container=True)) for row in rows if row.status_id in containers]
    others = [row for row in rows if row.status_id not in containers]
    used = {row.id: row.used for row in others} if counts_in_subquery else _numbers_of_addresses(uow, others)
    shares = {row.id: Share(used[row.id], _usable_size(row), ADDRESSES) for row in others}
    lengths = lengths_of(uow, owners, visible_prefixes(uow))
    for owner in owners:
        shares[owner.key] = _taken_share(lengths.get(owner.key, {}), owner.ip_version, owner.prefix_length)
    return shares


def _usable_size(row: Any) -> int:
    """:func:`usable_size` of a row."""
    return usable_size(row.ip_version, row.prefix_length, is_pool=row.is_pool)


def _taken_share(lengths: Mapping[int, int], version: int, length: int) -> Share:
    """The share of a network that child prefixes of these lengths take."""
    return Share(space_taken(lengths, BITS[version]), 1 << (BITS[version] - length), SPACE)


def _prefixes(uow: UnitOfWork, *, with_count: bool) -> Any:
    """SELECT of prefixes by ``keys``.

    :param with_count: with the number of their addresses as ``used``. Each prefix's are counted by a subquery of its
        own, which the index by VRF, or by place, answers.
    """
    prefix = Prefix.__table__
    names = ("id", "ip_version", "network", "broadcast", "prefix_length", "vrf_id", "is_pool", "status_id")
    statement = sa.select(*[prefix.c[name] for name in names]).where(in_parameter(prefix.c.id))
    return statement.add_columns(_used(uow).label("used")) if with_count else statement


def _used(uow: UnitOfWork) -> Any:
    """The number of addresses of a row of prefixes: those that hosts may have, each counted once; 0 for containers."""
    prefix, address = Prefix.__table__, IPAddress.__table__.alias()
    whole = sa.or_(prefix.c.ip_version == 6, prefix.c.is_pool, prefix.c.prefix_length >= 31)
    number = _number_of_addresses(
        uow,
        address,
        address.c.ip_version == prefix.c.ip_version,
        address.c.host >= prefix.c.network,
        address.c.host <= prefix.c.broadcast,
        sa.or_(whole, sa.and_(address.c.host > prefix.c.network, address.c.host < prefix.c.broadcast)),
    )
    in_vrf = number.where(address.c.vrf_id == prefix.c.vrf_id).scalar_subquery()
    in_no_vrf = number.where(address.c.vrf_id.is_(None)).scalar_subquery()
    containers = sorted(container_statuses(uow))
    return sa.case((prefix.c.status_id.in_(containers), 0), (prefix.c.vrf_id.is_(None), in_no_vrf), else_=in_vrf)


def _number_of_addresses(uow: UnitOfWork, address: Any, *conditions: Any) -> Any:
    """SELECT of the number of addresses that the user may view, each counted once."""
    limits = permissions.visible(uow, uow.registry.of_model(IPAddress), address)
    return sa.select(sa.func.count(sa.distinct(address.c.host)).label("used")).where(*conditions, *limits)


def _numbers_of_addresses(uow: UnitOfWork, prefixes: Sequence[Any]) -> dict[Any, int]:
    """The numbers of addresses of rows of prefixes by id, by ranges that are constants: one statement for 400."""
    numbers: dict[Any, int] = {}
    for start in range(0, max(len(prefixes), 1), MAX_RANGES):  # one without prefixes: the data do not tell how many
        part = prefixes[start : start + MAX_RANGES]
        selects = [_select_number(uow, number, row) for number, row in enumerate(part)]
        nothing: Any = sa.select(sa.literal_column("0"), sa.literal_column("0")).where(sa.false())
        for number, used in uow.execute(sa.union_all(*selects or [nothing])).tuples():
            numbers[part[number].id] = used
    return numbers


def _select_number(uow: UnitOfWork, number: int, prefix: Any) -> Any:
    """SELECT of a number and of the number of addresses of a row of prefixes that hosts may have."""
    address = IPAddress.__table__.alias()
    low, high = (int.from_bytes(edge, "big") for edge in (prefix.network, prefix.broadcast))
    unusable = int(_usable_size(prefix) <= high - low)
    conditions = [
        address.c.ip_version == prefix.ip_version,
        address.c.host >= packed(low + unusable, prefix.ip_version),
        address.c.host <= packed(high - unusable, prefix.ip_version),
        address.c.vrf_id.is_(None) if prefix.vrf_id is None else address.c.vrf_id == prefix.vrf_id,
    ]
    statement = _number_of_addresses(uow, address, *conditions).subquery()
    return sa.select(sa.literal_column(str(number)).label("number"), statement.c.used)


def of_aggregates(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, Share]:
    """The share of aggregates that prefixes take, of any VRF: two statements."""
    table = Aggregate.__table__
    return _of_aggregates(uow, in_parameter(table.c.id).params(keys=list(keys)))[0]


def _of_aggregates(uow: UnitOfWork, condition: Any) -> tuple[dict[Any, Share], dict[Any, list[tuple[Any, int]]]]:
    """The shares of aggregates by id, and the ids and IP versions of aggregates by registry."""
    table = Aggregate.__table__
    names = ("id", "rir_id", "ip_version", "network", "broadcast", "prefix_length")
    rows = uow.execute(sa.select(*[table.c[name] for name in names]).where(condition))
    sizes = {row.id: row for row in rows}
    owners = [Owner.of(row, EVERYWHERE) for row in sizes.values()]
    lengths = lengths_of(uow, owners, visible_prefixes(uow), equal=True)
    registries: dict[Any, list[tuple[Any, int]]] = {}
    for key, row in sizes.items():
        registries.setdefault(row.rir_id, []).append((key, row.ip_version))
    shares = {key: _taken_share(lengths.get(key, {}), row.ip_version, row.prefix_length) for key, row in sizes.items()}
    return shares, registries


def of_registries(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, dict[str, Share]]:
    """The share of all aggregates of registries that prefixes take, by IP version: two statements."""
    table = Aggregate.__table__
    limits = permissions.visible(uow, uow.registry.of_model(Aggregate), table)
    condition = sa.and_(in_parameter(table.c.rir_id).params(keys=list(keys)), *limits)
    shares, registries = _of_aggregates(uow, condition)
    return {
        key: _by_family((version, shares[aggregate]) for aggregate, version in aggregates)
        for key, aggregates in registries.items()
    }


def _by_family(shares: Any) -> dict[str, Share]:
    """The sums of shares by the name of their IP version."""
    sums: dict[int, Share] = {}
    for version, share in shares:
        before = sums.get(version, Share(0, 0))
        sums[version] = Share(before.part + share.part, before.whole + share.whole, share.unit)
    return {FAMILIES[version]: sums[version] for version in sorted(sums)}


def of_vrfs(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, dict[str, Share]]:
    """The utilisation of all prefixes of VRFs that no other prefix of theirs contains, by IP version: three statements.

    An address counts as much as an address of the space that a container's children take.
    """
    children: dict[Any, list[tuple[Any, int]]] = {}
    for owner, child, version in top_prefixes(uow, keys):
        children.setdefault(owner, []).append((child, version))
    shares = of_prefixes(uow, [child for pairs in children.values() for child, _ in pairs])
    return {
        key: _by_family((version, shares[child]) for child, version in pairs if child in shares)
        for key, pairs in children.items()
    }


def of_vlan_groups(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, Share]:
    """The numbers of VLANs in groups, of 4094 that there are: one statement."""
    table = VLAN.__table__
    limits = permissions.visible(uow, uow.registry.of_model(VLAN), table)
    clause = in_parameter(table.c.group_id)
    statement = sa.select(table.c.group_id, sa.func.count()).where(clause, *limits).group_by(table.c.group_id)
    counts = dict(uow.execute(statement, {"keys": list(keys)}).tuples().all())
    return {key: Share(counts.get(key, 0), VLAN_IDS, VLANS) for key in keys}


LOADS: Mapping[str, Any] = {
    "ipam.prefix": of_prefixes,
    "ipam.aggregate": of_aggregates,
    "ipam.rir": of_registries,
    "ipam.vrf": of_vrfs,
    "ipam.vlangroup": of_vlan_groups,
}
