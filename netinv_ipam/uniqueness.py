"""Uniqueness of networks and hosts within a VRF that wants it, and in the global table when the service is set so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core.context import Context
from netinv_core.resource import Rule
from netinv_core.write.draft import Draft
from netinv_ipam.vrfs import VRF, vrf_display

GLOBAL = "global table"


def unique_within(model: Any, written: str, place: Sequence[str], title: str, shared: Callable[[Draft], bool] = lambda draft: False) -> Rule:
    """The rule that the columns ``place`` occur once in each such VRF; drafts that are ``shared`` (by their role) may repeat another."""

    def no_duplicates(context: Context, drafts: Sequence[Draft]) -> None:
        moving = [draft for draft in drafts if draft.changed(written, "vrf_id", "role") and not shared(draft)]
        names = _strict_tables(context, {draft["vrf_id"] for draft in moving})
        moving = [draft for draft in moving if draft["vrf_id"] in names]
        if not moving:
            return
        taken = _taken(context, model, written, place, moving, drafts)
        for draft in moving:
            where = (draft["vrf_id"], *[draft[name] for name in place])
            if where in taken:
                draft.reject(written, f"Duplicate {title} found in {names[draft['vrf_id']]}: {taken[where]}")
            taken.setdefault(where, draft[written])

    return no_duplicates


def _strict_tables(context: Context, wanted: set[Any]) -> dict[Any, str]:
    """Those of the VRFs that enforce uniqueness, with their names; locked, so that two writers cannot both find a place free."""
    found: dict[Any, str] = {None: GLOBAL} if context.registry.settings.get("enforce_global_unique") else {}
    if wanted - {None}:
        table = VRF.__table__
        statement = sa.select(table.c.id, table.c.name, table.c.rd).where(table.c.id.in_(wanted - {None}), table.c.enforce_unique)
        rows = context.execute(statement.order_by(table.c.id).with_for_update(key_share=True))
        found |= {key: f"VRF {vrf_display(name, rd)}" for key, name, rd in rows}
    return found


def _taken(context: Context, model: Any, written: str, place: Sequence[str], moving: Sequence[Draft], drafts: Sequence[Draft]) -> dict[tuple[Any, ...], str]:
    """Who is already where the moving drafts want to be: existing rows as they will be, one statement."""
    table = model.__table__
    columns = [table.c[name] for name in place]
    near = columns[0].in_({draft[place[0]] for draft in moving})
    own = {draft.id for draft in drafts}
    rows = context.execute(sa.select(table.c.id, table.c[written], table.c.vrf_id, *columns).where(near).order_by(table.c.prefix_length))
    found: dict[tuple[Any, ...], str] = {}
    for key, text, *where in rows:
        if key not in own:
            found.setdefault(tuple(where), text)
    for draft in drafts:
        if draft not in moving:
            found.setdefault((draft["vrf_id"], *[draft[name] for name in place]), draft[written])
    return found
