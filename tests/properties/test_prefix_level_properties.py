"""Direct children of prefixes, in both ways that databases find them, compared with comparing each pair of prefixes."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from netinv_core.auth import identity
from netinv_core.driver import driver_of
from netinv_core.driver.sessions import rollback
from netinv_core.uow import UnitOfWork
from netinv_extras.statuses import Status
from netinv_ipam import levels
from netinv_ipam.hierarchy import Owner, lengths_of, top_prefixes
from netinv_ipam.levels import first_children
from netinv_ipam.networks import BITS, address_text, packed
from netinv_ipam.prefixes import Prefix
from netinv_ipam.taken_space import EVERYWHERE, GLOBAL, IN_VRF
from netinv_ipam.vrfs import VRF
from netinv_testing import Service
from tests.support.databases import DIALECT

TABLE: Any = Prefix.__table__
BASES = {4: (10 << 24, 26), 6: (0xFD << 120, 122)}  # the address and the length of a network of 64 addresses
WAYS = [True, False] if driver_of(DIALECT).has_linear_frames else [False]
VRFS = (None, uuid.UUID(int=1), uuid.UUID(int=2))


@dataclasses.dataclass(frozen=True)
class Item:
    """A prefix of a drawn inventory."""

    key: uuid.UUID
    version: int
    low: int
    length: int
    vrf: Any
    visible: bool

    @property
    def high(self) -> int:
        return self.low + (1 << (BITS[self.version] - self.length)) - 1


@st.composite
def inventories(draw: st.DrawFn) -> list[Item]:
    """Prefixes in networks of 64 addresses, in several VRFs, with some that a user may not view and some twice."""
    items = []
    for number in range(draw(st.integers(0, 40))):
        version = draw(st.sampled_from([4, 4, 6]))
        base, shortest = BASES[version]
        size = draw(st.integers(0, 6))
        low = base + (draw(st.integers(0, 63)) >> size << size)
        vrf, visible = draw(st.sampled_from(VRFS)), draw(st.booleans())
        items.append(Item(uuid.UUID(int=1000 + number), version, low, shortest + 6 - size, vrf, visible))
    return items


def row_of(item: Item, status: Any) -> dict[str, Any]:
    """The values of a prefix's row."""
    network, broadcast = packed(item.low, item.version), packed(item.high, item.version)
    values = {"id": item.key, "prefix": f"{address_text(network)}/{item.length}", "network": network}
    values |= {"broadcast": broadcast, "prefix_length": item.length, "ip_version": item.version, "vrf_id": item.vrf}
    values |= {"status_id": status, "is_pool": False, "description": "seen" if item.visible else ""}
    return values | times()


def times() -> dict[str, Any]:
    """The values of the columns that every row has."""
    now = datetime.datetime.now(datetime.UTC)
    return {"created": now.date(), "last_updated": now, "custom_field_data": {}}


def visible(table: Any) -> Sequence[Any]:
    """The limits of a user who may view some prefixes only."""
    return [table.c.description == "seen"]


def inside(items: Sequence[Item], owner: Owner, *, equal: bool = False) -> list[Item]:
    """The prefixes within an owner."""
    return [
        item
        for item in items
        if item.version == owner.ip_version
        and owner.low <= item.low <= owner.high
        and (item.length > owner.prefix_length or (equal and item.length == owner.prefix_length))
        and (owner.scope == EVERYWHERE or item.vrf == owner.vrf_id)
    ]


def contains(outer: Item, inner: Item) -> bool:
    """True for a smaller network within another one."""
    return outer.length < inner.length and outer.low <= inner.low <= outer.high


def direct(items: Sequence[Item]) -> list[Item]:
    """Returns the prefixes that no other one contains."""
    return [item for item in items if not any(contains(other, item) for other in items)]


def owners_of(items: Sequence[Item]) -> list[Owner]:
    """Owners of each kind: the prefixes as they are and as containers, and whole address spaces."""
    owners = []
    for item in items[:4]:
        scope = IN_VRF if item.vrf else GLOBAL
        owners.append(Owner(item.key, item.version, item.low, item.high, item.length, item.vrf, scope))
        owners.append(Owner((item.key,), item.version, item.low, item.high, item.length, None, EVERYWHERE))
    return [*owners, *(Owner.whole(version, (version, vrf), vrf) for version in BITS for vrf in VRFS)]


def check(uow: Any, items: Sequence[Item], limits: Any, most: int) -> None:
    """Compares levels and numbers of direct children with those of every pair of prefixes."""
    owners = owners_of(items)
    seen = [item for item in items if item.visible or not limits(TABLE)]
    for equal in (False, True):
        lengths = lengths_of(uow, owners, limits, equal=equal)
        for owner in owners:
            children = {(item.low, item.length) for item in direct(inside(seen, owner, equal=equal))}
            assert lengths.get(owner.key, {}) == Counter(length for _, length in children)
    found = first_children(uow, owners, limits, most)
    for owner in owners:
        level, children = found[owner.key], sorted(direct(inside(seen, owner)), key=lambda item: (item.low, item.key))
        taken = sorted({(item.low, item.high) for item in direct(inside(items, owner))})
        assert level.taken == taken[: len(level.taken)]
        assert level.shown == [item.key for item in children][: len(level.shown)]
        is_cut = max(len(level.shown), len(level.taken)) >= most
        assert is_cut or (len(level.shown), len(level.taken)) == (len(children), len(taken))
        parents = {
            item.key
            for item in children[: len(level.shown)]
            if any(contains(item, other) and other.vrf == item.vrf for other in seen)
        }
        assert level.parents == parents


@contextlib.contextmanager
def stored(service: Service, items: Sequence[Item]) -> Iterator[UnitOfWork]:
    """A unit of work of an administrator in which there are these prefixes only."""
    with service.app.registry.netinv_sessions() as session:
        uow = UnitOfWork(service.registry, session, identity.ANONYMOUS, writing=True)
        uow.identity = identity.by_username(uow, service.admin.username)
        statuses = Status.__table__
        status = session.execute(sa.select(statuses.c.id).where(statuses.c.slug == "active")).scalar()
        session.execute(sa.delete(TABLE))
        vrfs = [{"id": key, "name": str(key), "enforce_unique": False, "description": ""} for key in VRFS[1:]]
        session.execute(sa.insert(VRF.__table__), [values | times() for values in vrfs])
        if items:
            session.execute(sa.insert(TABLE), [row_of(item, status) for item in items])
        yield uow
        rollback(session)


def set_ways(service: Service, monkeypatch: pytest.MonkeyPatch, in_database: bool) -> None:
    """Has direct children be found by the database, or from rows."""
    for name in ("compares_ranges_of_rows", "has_linear_frames"):
        monkeypatch.setattr(service.registry.driver, name, in_database)


@pytest.mark.parametrize("in_database", WAYS)
@settings(max_examples=15)
@given(inventories(), st.integers(1, 12), st.integers(2, 30))
@pytest.mark.night
def test_direct_children_are_those_that_no_other_contains(
    service: Service, monkeypatch: pytest.MonkeyPatch, in_database: bool, items: list[Item], most: int, batch: int
) -> None:
    set_ways(service, monkeypatch, in_database)
    monkeypatch.setattr(levels, "FIRST_BATCH", batch)
    with stored(service, items) as uow:
        for limits in (visible, lambda table: ()):
            check(uow, items, limits, most)


@pytest.mark.parametrize("in_database", WAYS)
@settings(max_examples=15)
@given(inventories())
def test_top_prefixes_are_those_of_a_vrf_that_no_other_contains(
    service: Service, monkeypatch: pytest.MonkeyPatch, in_database: bool, items: list[Item]
) -> None:
    set_ways(service, monkeypatch, in_database)
    expected: dict[Any, uuid.UUID] = {}
    for vrf in VRFS[1:]:
        for item in direct([item for item in items if item.vrf == vrf]):
            place = vrf, item.version, item.low, item.length
            expected[place] = min(expected.get(place, item.key), item.key)
    with stored(service, items) as uow:
        tops = top_prefixes(uow, VRFS[1:])
    assert sorted(tops) == sorted((vrf, key, version) for (vrf, version, *_), key in expected.items())
