"""Uniqueness of networks and hosts within a VRF that wants it, and in the global table when the service is set so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core.db.locks import lock_for
from netinv_core.read import listing
from netinv_core.resource import Rule
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_ipam.vrfs import VRF, vrf_display

GLOBAL = "global table"


def unique_within(model: Any, written: str, place: Sequence[str], title: str, shared: Callable[[Draft], bool] = lambda draft: False) -> Rule:
    """The rule that the columns ``place`` occur once in each such VRF; drafts that are ``shared`` (by their role) may repeat another."""

    def no_duplicates(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        moving = [draft for draft in drafts if draft.changed(written, "vrf_id", "role") and not shared(draft)]
        names = _strict_tables(uow, {draft["vrf_id"] for draft in moving})
        moving = [draft for draft in moving if draft["vrf_id"] in names]
        if not moving:
            return
        lock_for(uow, f"unique {title}", {(draft["vrf_id"], _neighbourhood(draft[place[0]])) for draft in moving})
        taken = _taken(uow, model, written, place, moving, drafts)
        for draft in moving:
            where = (draft["vrf_id"], *[draft[name] for name in place])
            if where in taken:
                draft.reject(written, f"Duplicate {title} found in {names[draft['vrf_id']]}: {taken[where]}")
            taken.setdefault(where, draft[written])

    return no_duplicates


def _strict_tables(uow: UnitOfWork, wanted: set[Any]) -> dict[Any, str]:
    """Those of the VRFs that enforce uniqueness, with their names."""
    found: dict[Any, str] = {None: GLOBAL} if uow.registry.settings.get("enforce_global_unique") else {}
    vrfs = listing.rows_of(uow, VRF, wanted)
    return found | {key: f"VRF {vrf_display(vrf.name, vrf.rd)}" for key, vrf in vrfs.items() if vrf.enforce_unique}


def _neighbourhood(packed: bytes) -> bytes:
    """All but the last byte: writers of one /24 (IPv6: /120) share a lock, so that a thousand addresses in a row take a few locks."""
    return bytes(packed[:-1])


def _taken(uow: UnitOfWork, model: Any, written: str, place: Sequence[str], moving: Sequence[Draft], drafts: Sequence[Draft]) -> dict[tuple[Any, ...], str]:
    """Who is already where the moving drafts want to be: existing rows as they will be, one statement."""
    table = model.__table__
    columns = [table.c[name] for name in place]
    near = columns[0].in_({draft[place[0]] for draft in moving})
    own = {draft.id for draft in drafts}
    rows = uow.execute(sa.select(table.c.id, table.c[written], table.c.vrf_id, *columns).where(near).order_by(table.c.prefix_length))
    found: dict[tuple[Any, ...], str] = {}
    for key, text, *where in rows:
        if key not in own:
            found.setdefault(tuple(where), text)
    for draft in drafts:
        if draft not in moving:
            found.setdefault((draft["vrf_id"], *[draft[name] for name in place]), draft[written])
    return found
