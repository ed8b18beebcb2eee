"""Cables: which ends they may connect, and what changes for the ends and along their paths when they do."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.content_types import lock_model
from netinv_core.db.engine import in_parameter, lock_rows
from netinv_core.endpoint import Endpoint
from netinv_core.read import listing
from netinv_core.read.filters import Filter, content_type, custom, one_of
from netinv_core.read.lookups import any_of, convert
from netinv_core.read.relations import Relation, compare, to_type
from netinv_core.registry import Registry
from netinv_core.resource import Resource, generic_fk
from netinv_core.uow import UnitOfWork
from netinv_core.write.bulk_update import bulk_update
from netinv_core.write.delete import GenericCascade
from netinv_core.write.draft import ALL, Draft
from netinv_core.write.system_update import system_update
from netinv_dcim.cabling.models import LENGTH_UNITS, Cable, Cabled, PathEnd
from netinv_dcim.cabling.paths import CABLE, CONNECTED, End, Line, Network, columns_of, ends_of
from netinv_dcim.devices import Device
from netinv_extras.content_types import type_label
from netinv_extras.statuses import Status

SIDES = ("termination_a", "termination_b")
FIXED = "Cable termination points may not be modified. Delete and recreate the cable instead."
Rows = Mapping[End, Any]


def cable_display_name(label: str, key: uuid.UUID) -> str:
    """How a cable is called: its label, else its id."""
    return label or f"#{key}"


def _takes_cables(endpoint: Endpoint) -> bool:
    return issubclass(endpoint.model, Cabled)


def _of_type(side: str) -> Filter:
    return content_type(f"{side}_type", lambda endpoint, table, values: table.c[f"{side}_type"].in_(values))


def _at(name: str, path: str) -> Filter:
    """The cables of devices for which the column at ``path`` has one of these values."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        device = uow.registry.of_model(Device)
        there = device.table.alias()
        visible = permissions.visible_for(uow)
        tests = [compare(device, there, path.split("."), partial(_equals, value), visible) for value in values]
        hosts = sa.select(there.c.id).where(any_of(tests), *visible(device, there))
        ends = [(endpoint.table, endpoint) for endpoint in ends_of(uow.registry).values() if "device_id" in endpoint.table.c]
        selects = [
            sa.select(end.c.cable_id).where(end.c.cable_id.is_not(None), end.c.device_id.in_(hosts), *visible(endpoint, end)) for end, endpoint in ends
        ]
        return table.c.id.in_(sa.union_all(*selects))

    return custom(name, apply)


def _equals(value: str, column: Any) -> Any:
    return column == convert(column, value)


PLACES = {
    "device_id": "id",
    "device": "name",
    "rack_id": "rack.id",
    "rack": "rack.name",
    "site_id": "site.id",
    "site": "site.slug",
    "region_id": "site.region.id",
    "region": "site.region.slug",
    "tenant_id": "tenant.id",
    "tenant": "tenant.slug",
}

cables = Resource(
    Cable,
    "cables",
    display=(cable_display_name, "label", "id"),
    brief=["label"],
    order=["termination_a_type", "termination_a_id", "termination_b_type", "termination_b_id"],
    search=["label"],
    fields=[
        *[type_label(f"{side}_type", _takes_cables) for side in SIDES],
        *[generic_fk(side, f"{side}_type", f"{side}_id") for side in SIDES],
    ],
    filters=[one_of("length_unit", LENGTH_UNITS, multiple=False), *map(_of_type, SIDES), *[_at(name, path) for name, path in PLACES.items()]],
)


def peer_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Relation]:
    """The ways from what takes cables to its peer and to the end of its path, one for each kind of them: ``connected_interface`` …."""
    found: dict[str, Relation] = {}
    for label, end in ends_of(registry).items() if issubclass(endpoint.model, Cabled) else ():
        kind = end.title.replace(" ", "_")
        found[f"cable_peer_{kind}"] = to_type(registry, label, endpoint.table, "cable_peer_type", "cable_peer_id")
        if issubclass(endpoint.model, PathEnd) and issubclass(end.model, PathEnd):
            found[f"connected_{kind}"] = to_type(registry, label, endpoint.table, "connected_endpoint_type", "connected_endpoint_id")
    return found


def both_ends(cable: Draft | dict[str, Any]) -> tuple[End, End]:
    """The two ends of a cable, or of one that is to be."""
    return End(cable["termination_a_type"], cable["termination_a_id"]), End(cable["termination_b_type"], cable["termination_b_id"])


def _locked(uow: UnitOfWork, ends: Iterable[End]) -> Rows:
    """The rows of these ends that the user may view, held until the transaction ends, so that nobody else connects them: one statement a kind."""
    wanted: dict[str, set[Any]] = {}
    for end in ends:
        wanted.setdefault(end.label, set()).add(end.id)
    found: dict[End, Any] = {}
    for label, endpoint in sorted(ends_of(uow.registry).items()):
        if label in wanted:
            conditions = [in_parameter(uow.registry.dialect, endpoint.table.c.id), *permissions.visible(uow, endpoint, endpoint.table)]
            statement = lock_rows(sa.select(endpoint.table).where(*conditions).order_by(endpoint.table.c.id))
            rows = uow.execute(statement, {"keys": list(wanted[label])}).all()
            uow.row_cache.setdefault(endpoint.table, {}).update((row.id, row) for row in rows)
            found |= {End(label, row.id): row for row in rows}
    return found


@cables.rule
def ends_stay(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """What a cable connects is fixed when it is made."""
    for draft in drafts:
        for side in SIDES:
            if not draft.new and draft.changed(f"{side}_type", f"{side}_id"):
                draft.reject(side, FIXED)


@cables.rule
def ends_exist_and_fit_each_other(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A new cable connects two different ends that take cables of each other's kind and have none yet."""
    new = [draft for draft in drafts if draft.new]
    if new:
        lock_model(uow, CABLE)
    rows = _locked(uow, [end for draft in new for end in both_ends(draft)]) if new else {}
    claimed: set[End] = set()
    for draft in new:
        _check_ends(uow.registry, draft, rows)
        for end in both_ends(draft):
            if not draft.errors and end in claimed:
                draft.reject(ALL, f"{_words(uow.registry, end, rows)} is the end of two of these cables.")
        claimed.update(both_ends(draft) if not draft.errors else ())


def _check_ends(registry: Registry, draft: Draft, rows: Rows) -> None:
    """Rejects a cable for the first thing that is wrong with its ends."""
    a, b = both_ends(draft)
    for side, end in zip(SIDES, (a, b), strict=True):
        if end not in rows:
            draft.reject(side, f"Invalid ID for type {_type_words(registry, end)}")
            return
    models: list[type[Cabled]] = [registry[end.label].model for end in (a, b)]  # type: ignore[misc]
    for side, end, model in zip(SIDES, (a, b), models, strict=True):
        refusal = model.cannot_be_cabled(rows[end])
        if refusal is not None:
            draft.reject(f"{side}_id", refusal)
            return
    if models[1].connector_kind not in models[0].compatible_with:
        draft.reject(ALL, f"Incompatible termination types: {_type_words(registry, a)} and {_type_words(registry, b)}")
    elif a == b:
        draft.reject(ALL, f"Cannot connect {_type_words(registry, a)} to itself")
    elif (objection := models[0].incompatible_with(rows[a], models[1], rows[b])) is not None:
        draft.reject(ALL, objection)
    else:
        for end in (a, b):
            if rows[end].cable_id is not None and not draft.errors:
                draft.reject(ALL, f"{_words(registry, end, rows)} already has a cable attached (#{rows[end].cable_id})")


def _type_words(registry: Registry, end: End) -> str:
    """A content type as errors name it: ``dcim | rear port``."""
    endpoint = registry[end.label]
    return f"{endpoint.app.name} | {endpoint.title}"


def _words(registry: Registry, end: End, rows: Rows) -> str:
    row = rows[end]
    return getattr(row, "name", None) or f"{registry[end.label].title} {end.id}"


@cables.rule
def lengths_have_a_unit(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A length without a unit says nothing."""
    for draft in drafts:
        if draft["length"] is not None and not draft["length_unit"]:
            draft.reject(ALL, "Must specify a unit when setting a cable length")


@cables.prepare
def units_go_with_their_length(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A unit goes with its length, unless it is itself what was sent."""
    for draft in drafts:
        if draft["length"] is None and draft["length_unit"] and "length_unit" not in draft.body:
            draft["length_unit"] = ""


@cables.after_save
def ends_know_their_cable(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The ends of a new cable refer to it and to each other; paths through it, or through one whose status changed, lead elsewhere now."""
    concerned = [draft for draft in drafts if draft.new or draft.changed("status_id")]
    if not concerned:
        return
    if not all(draft.new for draft in concerned):
        lock_model(uow, CABLE)
    statuses = listing.rows_of(uow, Status, [draft["status_id"] for draft in concerned])
    lines = [Line(draft.id, *both_ends(draft), statuses[draft["status_id"]].slug == CONNECTED) for draft in concerned]
    wanted: dict[str, dict[Any, dict[str, Any]]] = {}
    for draft in concerned:
        a, b = both_ends(draft)
        for end, peer in ((a, b), (b, a)) if draft.new else ():
            wanted.setdefault(end.label, {})[end.id] = {"cable_id": draft.id, "cable_peer_type": peer.label, "cable_peer_id": peer.id}
    network = Network(uow)
    network.add(lines)
    _rewrite(uow, network, network.origins(lines), wanted)


def retrace(uow: UnitOfWork, ends: Collection[End]) -> None:
    """Follows anew every path that leads to these ends or through them: how one goes on behind them has changed."""
    if ends:
        lock_model(uow, CABLE)
        network = Network(uow)
        _rewrite(uow, network, network.origins(network.lines_at(ends)), {})


@cables.before_delete
def clear_cable_of_ends(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """The ends that stay have no cable any more, and the paths through it end there."""
    lock_model(uow, CABLE)
    lines = [Line(row["id"], *both_ends(row), connected=False) for row in rows]
    wanted: dict[str, dict[Any, dict[str, Any]]] = {}
    for line in lines:
        for end in (line.a, line.b):
            if end.id not in uow.deleting.get(end.label, ()):
                wanted.setdefault(end.label, {})[end.id] = {"cable_id": None, "cable_peer_type": None, "cable_peer_id": None}
    network = Network(uow)
    network.add(lines)
    _rewrite(uow, network, network.origins(lines), wanted)


def _rewrite(uow: UnitOfWork, network: Network, origins: Iterable[End], wanted: dict[str, dict[Any, dict[str, Any]]]) -> None:
    """Writes what is ``wanted`` of the ends of cables, which is recorded, and what the rows of the origins say of their paths.

    Where a path leads is worked out, like a counter, so an origin is not recorded as changed when something on its path is.
    """
    worked_out = columns_of(network.trace(origins))
    for label, rows in wanted.items():
        for key, values in rows.items():
            values |= worked_out.get(label, {}).pop(key, {})
        system_update(uow, uow.registry[label], rows)
    for label, rows in worked_out.items():
        _write(uow, uow.registry[label], rows)


def _write(uow: UnitOfWork, endpoint: Endpoint, rows: Mapping[Any, Mapping[str, Any]]) -> None:
    """Writes columns of rows by id, all rows with the same columns; rows that hold these values already are left out."""
    if not rows:
        return
    table = endpoint.table
    names = list(next(iter(rows.values())))
    statement = sa.select(table.c.id, *[table.c[name] for name in names]).where(in_parameter(uow.registry.dialect, table.c.id))
    stored = {key: dict(zip(names, values, strict=True)) for key, *values in uow.execute(lock_rows(statement), {"keys": list(rows)})}
    bulk_update(uow, table, {key: rows[key] for key, values in stored.items() if values != rows[key]})


def generic_cascades(registry: Registry) -> list[GenericCascade]:
    """A cable goes with either of its ends."""
    table = Cable.__table__
    labels = set(ends_of(registry))
    return [GenericCascade(table, f"{side}_type", f"{side}_id", CABLE, lambda endpoint: endpoint.label in labels) for side in SIDES]
