"""Attributes and methods of addresses, prefixes and VLANs in templates, as those of Nautobot 1.x."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.uow import UnitOfWork
from netinv_extras.templates.members import Member
from netinv_extras.templates.renderer.values import Address, Network, NullAddress, NullNetwork
from netinv_extras.templates.sandbox import RenderError
from netinv_ipam.addresses import IPAddress
from netinv_ipam.hierarchy import SCOPES, Limits, by_keys
from netinv_ipam.networks import BITS, SpanColumns, address_text, packed
from netinv_ipam.prefixes import Prefix
from netinv_ipam.taken_space import EVERYWHERE, GLOBAL, IN_VRF

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

MAX = 100_000  # children that the prefixes of one request have together
Load = Callable[[UnitOfWork, Sequence[Any]], Mapping[Any, Any]]


def members_of(endpoint: Endpoint) -> Mapping[str, Member]:
    """Returns the members of an endpoint's objects in templates, by name."""
    if endpoint.label in _INTERFACES_OF_VLANS:
        names = _INTERFACES_OF_VLANS[endpoint.label]
        return {name: _method(functools.partial(_interfaces, label), label) for name, label in names.items()}
    if not issubclass(endpoint.model, SpanColumns):
        return {}
    text = "address" if "host" in endpoint.table.c else "prefix"
    parts = {name: Member(of_row=_address(name), null=NullAddress()) for name in _PARTS if name in endpoint.table.c}
    members = {text: Member(of_row=lambda row: Network(getattr(row, text)), null=NullNetwork()), **parts}
    members["prefix_length"] = Member(of_row=lambda row: row.prefix_length)
    if endpoint.label == "ipam.prefix":
        members |= {
            "get_child_ips": _method(_child_addresses, "ipam.ipaddress"),
            "get_child_prefixes": _method(_child_prefixes, "ipam.prefix"),
            "get_first_available_ip": _method(_first_free),
        }
    return members


_PARTS = ("host", "network", "broadcast")
_INTERFACES_OF_VLANS = {
    "ipam.vlan": {"get_interfaces": "dcim.interface", "get_vminterfaces": "virtualization.vminterface"}
}


def _method(load: Load, target: str = "") -> Member:
    return Member(load=load, method=True, target=target)


def _address(name: str) -> Callable[[Any], Address]:
    return lambda row: Address(address_text(getattr(row, name)))


def _children(uow: UnitOfWork, keys: Sequence[Any], model: type[Any], low: str, limits: Limits) -> Sequence[Any]:
    """Returns owner, child and packed lowest address of what is within prefixes, in order: one statement.

    :raises RenderError: when it is too much
    """
    owner, child = by_keys(uow, keys).subquery(), model.__table__.alias()
    here = sa.or_(
        owner.c.scope == SCOPES.index(EVERYWHERE),
        sa.and_(owner.c.scope == SCOPES.index(GLOBAL), child.c.vrf_id.is_(None)),
        sa.and_(owner.c.scope == SCOPES.index(IN_VRF), child.c.vrf_id == owner.c.vrf_id),
    )
    inside = [
        child.c.ip_version == owner.c.ip_version,
        child.c[low].between(owner.c.network, owner.c.broadcast),
        here,
    ]
    if model is Prefix:
        inside.append(child.c.prefix_length > owner.c.prefix_length)
    columns = (owner.c.id.label("owner"), child.c.id.label("child"), child.c[low].label("low"))
    order = (owner.c.id, child.c[low], child.c.prefix_length, child.c.id)
    both = owner.join(child, sa.and_(*inside))
    statement = sa.select(*columns).select_from(both).where(*limits(child)).order_by(*order).limit(MAX + 1)
    rows = uow.execute(statement).all()
    if len(rows) > MAX:
        raise RenderError(f"the prefixes contain more than {MAX} objects together")
    return rows


def _visible_children(uow: UnitOfWork, keys: Sequence[Any], model: type[Any], low: str) -> dict[Any, list[Any]]:
    endpoint = uow.registry.of_model(model)
    children: dict[Any, list[Any]] = {}
    for row in _children(uow, keys, model, low, lambda table: permissions.visible(uow, endpoint, table)):
        children.setdefault(row.owner, []).append(row.child)
    return children


def _child_addresses(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, list[Any]]:
    """Returns the addresses within prefixes that the user may view."""
    return _visible_children(uow, keys, IPAddress, "host")


def _child_prefixes(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, list[Any]]:
    """Returns the prefixes within prefixes that the user may view."""
    return _visible_children(uow, keys, Prefix, "network")


def _first_free(uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, str | None]:
    """Returns the first address of prefixes that no address takes, as text with the prefix length: two statements."""
    table = Prefix.__table__
    names = ("id", "ip_version", "network", "broadcast", "prefix_length", "is_pool")
    rows = uow.execute(sa.select(*[table.c[name] for name in names]).where(table.c.id.in_(list(keys)))).all()
    taken: dict[Any, set[bytes]] = {}
    for child in _children(uow, keys, IPAddress, "host", lambda table: ()):
        taken.setdefault(child.owner, set()).add(child.low)
    return {row.id: _first_free_of(row, taken.get(row.id, set())) for row in rows}


def _first_free_of(row: Any, taken: set[bytes]) -> str | None:
    version, first, last = row.ip_version, int.from_bytes(row.network, "big"), int.from_bytes(row.broadcast, "big")
    if not (version == 6 or row.is_pool or row.prefix_length >= BITS[4] - 1):
        first, last = first + 1, last - 1
    number = next(number for number in range(first, last + 2) if packed(number, version) not in taken)
    return f"{address_text(packed(number, version))}/{row.prefix_length}" if number <= last else None


def _interfaces(label: str, uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, list[Any]]:
    """Returns the interfaces that carry VLANs, tagged or untagged, and that the user may view: one statement."""
    endpoint = uow.registry.get(label)
    tagged = endpoint.relations["tagged_vlans"].pairs if endpoint is not None else None
    if endpoint is None or tagged is None:
        return {}
    table, pairs = endpoint.table, tagged()
    limits = permissions.visible(uow, endpoint, table)
    untagged = sa.select(table.c.untagged_vlan_id.label("vlan"), table.c.id.label("interface"))
    both = sa.union(untagged, sa.select(pairs.c.target_id, pairs.c.owner_id)).subquery()
    source, order, *_ = endpoint.ordering
    statement = sa.select(both.c.vlan, table.c.id).select_from(source.join(both, both.c.interface == table.c.id))
    carried: dict[Any, list[Any]] = {}
    for vlan, interface in uow.execute(statement.where(both.c.vlan.in_(list(keys)), *limits).order_by(*order)):
        carried.setdefault(vlan, []).append(interface)
    return carried
