"""Uniqueness of networks and hosts within VRFs with ``enforce_unique``, and in the global table.

The setting ``enforce_global_unique`` turns it on for the global table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.locks import lock_for
from netinv_core.read import listing
from netinv_ipam.vrfs import VRF, vrf_display

if TYPE_CHECKING:
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

GLOBAL = "global table"


def unique_within(
    model: Any,
    written: str,
    place: Sequence[str],
    title: str,
    shared: Callable[[Draft], bool] = lambda draft: False,
) -> Rule:
    """Rule: the columns ``place`` are unique within each VRF that enforces uniqueness.

    ``written`` is the column of the text form. Drafts for which ``shared`` returns True may repeat another: addresses
    with a role such as ``anycast``.
    """

    def no_duplicates(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects duplicates within a VRF that enforces uniqueness, or the global table. Takes locks."""
        changed = [draft for draft in drafts if draft.changed(written, "vrf_id", "role") and not shared(draft)]
        names = _unique_tables(uow, {draft["vrf_id"] for draft in changed})
        changed = [draft for draft in changed if draft["vrf_id"] in names]
        if not changed:
            return
        lock_for(uow, f"unique {title}", {(draft["vrf_id"], _lock_key(draft[place[0]])) for draft in changed})
        taken = _find_taken(uow, model, written, place, changed, drafts)
        for draft in changed:
            key = (draft["vrf_id"], *[draft[name] for name in place])
            if key in taken:
                draft.reject(written, f"Duplicate {title} found in {names[draft['vrf_id']]}: {taken[key]}")
            taken.setdefault(key, draft[written])

    return no_duplicates


def _unique_tables(uow: UnitOfWork, vrf_ids: set[Any]) -> dict[Any, str]:
    """The names of those VRFs that enforce uniqueness, by id; ``None`` is the key of the global table."""
    names: dict[Any, str] = {None: GLOBAL} if uow.registry.settings["enforce_global_unique"] else {}
    vrfs = listing.rows_of(uow, VRF, vrf_ids)
    return names | {key: f"VRF {vrf_display(vrf.name, vrf.rd)}" for key, vrf in vrfs.items() if vrf.enforce_unique}


def _lock_key(packed: bytes) -> bytes:
    """All but the last byte of an address: one lock for each /24 (IPv6: /120), so address ranges need few locks."""
    return bytes(packed[:-1])


def _find_taken(
    uow: UnitOfWork,
    model: Any,
    written: str,
    place: Sequence[str],
    moving: Sequence[Draft],
    drafts: Sequence[Draft],
) -> dict[tuple[Any, ...], str]:
    """The text forms of possible conflicts with the ``moving`` drafts, by VRF and ``place`` columns; one statement.

    These are the stored rows with the same first column that the request does not change, and the request's other
    drafts.
    """
    table = model.__table__
    columns = [table.c[name] for name in place]
    versions, starts = ({draft[name] for draft in moving} for name in ("ip_version", place[0]))
    same_start = sa.and_(table.c.ip_version.in_(versions), columns[0].in_(starts))
    draft_ids = {draft.id for draft in drafts}
    selected = sa.select(table.c.id, table.c[written], table.c.vrf_id, *columns)
    rows = uow.execute(selected.where(same_start).order_by(table.c.prefix_length))
    taken: dict[tuple[Any, ...], str] = {}
    for row_id, text, *key in rows:
        if row_id not in draft_ids:
            taken.setdefault(tuple(key), text)
    for draft in drafts:
        if draft not in moving:
            taken.setdefault((draft["vrf_id"], *[draft[name] for name in place]), draft[written])
    return taken
