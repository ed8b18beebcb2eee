"""Cables: the rules for their ends, and the updates of ends and paths when cables are created, changed or deleted."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.content_types import lock_model
from netinv_core.db.engine import lock_rows
from netinv_core.db.expressions import in_parameter
from netinv_core.presentation import SEPARATOR, Presentation
from netinv_core.read import listing
from netinv_core.read.filters import content_type, custom, one_of
from netinv_core.resource import Resource, generic_fk
from netinv_core.sql.lookups import convert
from netinv_core.sql.relations import compare, to_type
from netinv_core.write.bulk_update import bulk_update
from netinv_core.write.delete import GenericCascade
from netinv_core.write.draft import ALL
from netinv_core.write.system_update import system_update
from netinv_dcim.cabling.fitting import MisfitKind, end_name, misfit, type_title
from netinv_dcim.cabling.models import LENGTH_UNITS, Cable, Cabled, PathEnd
from netinv_dcim.cabling.paths import CABLE, CONNECTED, CableNetwork, End, PathCable, columns_of, ends_of
from netinv_dcim.devices import Device
from netinv_extras.content_types import type_label
from netinv_extras.statuses import Status

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter
    from netinv_core.registry import Registry
    from netinv_core.sql.relations import Relation
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

SIDES = ("termination_a", "termination_b")
FIXED = "Cable termination points may not be modified. Delete and recreate the cable instead."
ENDS_MISMATCH = "The ends of its cable (#{}) would no longer fit each other. Disconnect it first."
Rows = Mapping[End, Any]
_LOCKED = "locked ends"  # with a table, the name of these rows in the cache of rows


def cable_display_name(label: str, key: uuid.UUID) -> str:
    """The display name of a cable: its label, or its id without one."""
    return label or f"#{key}"


def cable_name(label: str, key: uuid.UUID, *ends: str | None) -> str:
    """The name of a cable on pages: its label, or its ends without one: ``router1 eth0 ↔ panel1 F3``."""
    if label or None in ends:
        return cable_display_name(label, key)
    return " ↔ ".join(str(end).replace(SEPARATOR, " ") for end in ends)


def _takes_cables(endpoint: Endpoint) -> bool:
    return issubclass(endpoint.model, Cabled)


def _of_type(side: str) -> Filter:
    return content_type(f"{side}_type", lambda endpoint, table, values: table.c[f"{side}_type"].in_(values))


def _at(name: str, path: str) -> Filter:
    """Filter for cables at devices whose column at ``path`` (``rack.name``) has one of the values."""

    def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
        device = uow.registry.of_model(Device)
        hosts = device.table.alias()
        visible = permissions.visible_for(uow)
        at_one = compare(device, hosts, path.split("."), partial(_is_one_of, values), visible)
        host_ids = sa.select(hosts.c.id).where(at_one, *visible(device, hosts))
        ends = [
            (endpoint.table, endpoint) for endpoint in ends_of(uow.registry).values() if "device_id" in endpoint.table.c
        ]
        selects = [
            sa.select(end.c.cable_id).where(
                end.c.cable_id.is_not(None), end.c.device_id.in_(host_ids), *visible(endpoint, end)
            )
            for end, endpoint in ends
        ]
        return table.c.id.in_(sa.union_all(*selects))

    return custom(name, apply, listed=True)


def _is_one_of(values: Sequence[str], column: Any) -> Any:
    return column.in_([convert(column, value) for value in values])


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
    filters=[
        one_of("length_unit", LENGTH_UNITS, multiple=False),
        *map(_of_type, SIDES),
        *[_at(name, path) for name, path in PLACES.items()],
    ],
    presentation=Presentation(
        counted=True,
        columns=["termination_a", "termination_b", "status", "type", "color", "length"],
        facets=["status", "type"],
        leading=["trace"],
        unrelated=["cable"],
        name_in_context=(cable_name, "label", "id", *[f"{side}.name_in_context" for side in SIDES]),
    ),
)


def peer_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Relation]:
    """The relations from an end of cables to its peer and to the destination of its path, one for each model of these.

    Example: ``cable_peer_interface``, ``connected_interface``, ``connected_circuit_termination``.
    """
    relations: dict[str, Relation] = {}
    for label, end in ends_of(registry).items() if issubclass(endpoint.model, Cabled) else ():
        kind = end.title.replace(" ", "_")
        relations[f"cable_peer_{kind}"] = to_type(registry, label, endpoint.table, "cable_peer_type", "cable_peer_id")
        if issubclass(endpoint.model, PathEnd) and issubclass(end.model, PathEnd):
            relations[f"connected_{kind}"] = to_type(
                registry, label, endpoint.table, "connected_endpoint_type", "connected_endpoint_id"
            )
    return relations


def both_ends(cable: Draft | dict[str, Any]) -> tuple[End, End]:
    """The two ends of a cable, from its draft or its row."""
    a = End(cable["termination_a_type"], cable["termination_a_id"])
    b = End(cable["termination_b_type"], cable["termination_b_id"])
    return a, b


def _lock_ends(uow: UnitOfWork, ends: Iterable[End]) -> Rows:
    """Locks the rows of these ends that the user may view (``FOR UPDATE``), so that no other transaction connects them.

    One statement for each model, in the order of labels and ids: transactions do not deadlock.
    """
    keys_by_label: dict[str, set[Any]] = {}
    for end in ends:
        keys_by_label.setdefault(end.label, set()).add(end.id)
    locked: dict[End, Any] = {}
    for label, endpoint in sorted(ends_of(uow.registry).items()):
        if label in keys_by_label:
            table = endpoint.table
            visible = permissions.visible(uow, endpoint, table)
            by_id = listing.lock(uow, table, keys_by_label[label], visible)
            rows = [endpoint.row_type._make(row.values()) for row in by_id.values()]
            uow.row_cache.setdefault(table, {}).update((row.id, row) for row in rows)
            uow.row_cache.setdefault((_LOCKED, table), {}).update(by_id)
            locked |= {End(label, row.id): row for row in rows}
    return locked


@cables.rule
def ends_stay(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects changes of a cable's ends: they are set on creation only."""
    for draft in drafts:
        for side in SIDES:
            if not draft.new and draft.changed(f"{side}_type", f"{side}_id"):
                draft.reject(side, FIXED)


@cables.rule
def ends_exist_and_fit_each_other(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Checks that a new cable connects two different ends of compatible kinds that have no cable yet.

    The ends are locked until the transaction ends.
    """
    new = [draft for draft in drafts if draft.new]
    if new:
        lock_model(uow, CABLE)
    rows = _lock_ends(uow, [end for draft in new for end in both_ends(draft)]) if new else {}
    claimed: set[End] = set()
    for draft in new:
        _check_ends(uow.registry, draft, rows)
        for end in both_ends(draft):
            if not draft.errors and end in claimed:
                draft.reject(ALL, f"{end_name(uow.registry, end, rows[end])} is the end of two of these cables.")
        claimed.update(both_ends(draft) if not draft.errors else ())


def _check_ends(registry: Registry, draft: Draft, rows: Rows) -> None:
    """Rejects a cable with the first error in its ends: existence, type, compatibility, then an existing cable."""
    a, b = both_ends(draft)
    for side, end in zip(SIDES, (a, b), strict=True):
        if end not in rows:
            draft.reject(side, f"Invalid ID for type {type_title(registry, end.label)}")
            return
    found = misfit(registry, (a, b), (rows[a], rows[b]))
    if found is not None:
        of_side = found.kind is MisfitKind.NO_SOCKET and found.place is not None
        draft.reject(f"{SIDES[found.place or 0]}_id" if of_side else ALL, found.message)


def _cabled_model(endpoint: Endpoint) -> type[Cabled]:
    """The model of an endpoint that takes cables."""
    assert issubclass(endpoint.model, Cabled)
    return endpoint.model


def cabled_ends_keep_fitting(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rule of models with :attr:`Cabled.fit_columns`: rejects a change of them for which the cable would be refused.

    Peers are read and locked in one statement for each model; without cabled objects that change there is none.
    """
    cabled: dict[str | None, list[Draft]] = {}
    for draft in drafts:
        model = _cabled_model(draft.endpoint)
        if not draft.new and draft["cable_id"] is not None and draft.changed(*model.fit_columns):
            cabled.setdefault(draft["cable_peer_type"], []).append(draft)
    for label, group in sorted(cabled.items(), key=lambda item: str(item[0])):
        peer = uow.registry.get(label or "")
        keys = [draft["cable_peer_id"] for draft in group]
        others = {} if peer is None else listing.rows_of(uow, peer.model, keys, locked=True)
        for draft in group:
            other = others.get(draft["cable_peer_id"])
            end = _cabled_model(draft.endpoint)
            row = draft.row()
            refusal = end.cannot_be_cabled(row)
            if refusal is None and peer is not None and other is not None:
                objection = end.incompatible_with(row, _cabled_model(peer), other)
                refusal = None if objection is None else ENDS_MISMATCH.format(draft["cable_id"])
            if refusal is not None:
                field = next(name for name in end.fit_columns if draft.changed(name)).removesuffix("_id")
                draft.reject(field, refusal)


@cables.rule
def lengths_have_a_unit(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a length without a unit."""
    for draft in drafts:
        if draft["length"] is not None and not draft["length_unit"]:
            draft.reject(ALL, "Must specify a unit when setting a cable length")


@cables.prepare
def units_go_with_their_length(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Clears the unit when the length is cleared, unless the request sets the unit itself."""
    for draft in drafts:
        if draft["length"] is None and draft["length_unit"] and "length_unit" not in draft.body:
            draft["length_unit"] = ""


@cables.after_save
def ends_know_their_cable(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Writes a new cable and the peers to its ends; traces the paths again that lead through new or changed cables."""
    affected = [draft for draft in drafts if draft.new or draft.changed("status_id")]
    if not affected:
        return
    if not all(draft.new for draft in affected):
        lock_model(uow, CABLE)
    statuses = listing.rows_of(uow, Status, [draft["status_id"] for draft in affected])
    lines = [
        PathCable(draft.id, *both_ends(draft), statuses[draft["status_id"]].slug == CONNECTED) for draft in affected
    ]
    end_values: dict[str, dict[Any, dict[str, Any]]] = {}
    for draft in affected:
        a, b = both_ends(draft)
        for end, peer in ((a, b), (b, a)) if draft.new else ():
            values = {"cable_id": draft.id, "cable_peer_type": peer.label, "cable_peer_id": peer.id}
            end_values.setdefault(end.label, {})[end.id] = values
    network = CableNetwork(uow)
    network.add(lines)
    _rewrite(uow, network, network.origins(lines), end_values)


def retrace(uow: UnitOfWork, ends: Collection[End]) -> None:
    """Traces again every path that leads to or through these ends, after a change of the next hops behind them."""
    if ends:
        lock_model(uow, CABLE)
        network = CableNetwork(uow)
        _rewrite(uow, network, network.origins(network.lines_at(ends)), {})


@cables.before_delete
def clear_cable_of_ends(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Clears the cable and the peer of the ends that are not deleted themselves, and traces their paths again."""
    lock_model(uow, CABLE)
    lines = [PathCable(row["id"], *both_ends(row), connected=False) for row in rows]
    end_values: dict[str, dict[Any, dict[str, Any]]] = {}
    for line in lines:
        for end in (line.a, line.b):
            if end.id not in uow.deleting.get(end.label, ()):
                values = {"cable_id": None, "cable_peer_type": None, "cable_peer_id": None}
                end_values.setdefault(end.label, {})[end.id] = values
    network = CableNetwork(uow)
    network.add(lines)
    _rewrite(uow, network, network.origins(lines), end_values)


def _rewrite(
    uow: UnitOfWork, network: CableNetwork, origins: Iterable[End], end_values: dict[str, dict[Any, dict[str, Any]]]
) -> None:
    """Writes ``end_values`` of ends (by label and id) with change records, and the path columns of the origins.

    Path columns are derived, like counters: a change on its path alone is not recorded as a change of the origin.
    """
    path_columns = columns_of(network.trace(origins))
    for label, rows in end_values.items():
        for key, values in rows.items():
            values |= path_columns.get(label, {}).pop(key, {})
        endpoint = uow.registry[label]
        locked = uow.row_cache.get((_LOCKED, endpoint.table), {})
        system_update(uow, endpoint, rows, locked if rows.keys() <= locked.keys() else None)
    for label, rows in path_columns.items():
        _write(uow, uow.registry[label], rows)


def _write(uow: UnitOfWork, endpoint: Endpoint, rows: Mapping[Any, Mapping[str, Any]]) -> None:
    """Updates rows by id without change records; skips rows that hold the values already. All have the same columns."""
    if not rows:
        return
    table = endpoint.table
    names = list(next(iter(rows.values())))
    columns = [table.c[name] for name in names]
    statement = sa.select(table.c.id, *columns).where(in_parameter(table.c.id))
    result = uow.execute(lock_rows(statement), {"keys": list(rows)})
    stored = {key: dict(zip(names, values, strict=True)) for key, *values in result}
    bulk_update(uow, table, {key: rows[key] for key, values in stored.items() if values != rows[key]})


def generic_cascades(registry: Registry) -> list[GenericCascade]:
    """Deletes a cable together with either of its ends."""
    table = Cable.__table__
    labels = set(ends_of(registry))
    return [
        GenericCascade(table, f"{side}_type", f"{side}_id", CABLE, lambda endpoint: endpoint.label in labels)
        for side in SIDES
    ]
