"""Circuit terminations: where the two sides of a circuit end, at a site or in a provider's network."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_circuits.circuits import MAX_RATE, TERMINATION, Circuit
from netinv_circuits.providers import ProviderNetwork
from netinv_core.db.engine import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Organizational
from netinv_core.models.columns import CASCADE, PROTECT, Choices, Description, Ref, choice, foreign_key, integer, text
from netinv_core.read import listing
from netinv_core.read.filters import one_of, tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import ALL, Draft
from netinv_core.write.system_update import system_update
from netinv_dcim.cabling.cables import retrace
from netinv_dcim.cabling.models import NETWORK, PASS_THROUGH, NextHop, PathEnd, cable_key, path_fields, path_filters
from netinv_dcim.cabling.paths import End
from netinv_dcim.locations import Location, location_fits_unpunctuated
from netinv_dcim.sites import Site

CIRCUIT = "circuits.circuit"
SIDES = Choices.of(("A", "A"), ("Z", "Z"))


class CircuitTermination(PathEnd, Organizational):
    """One side of a circuit."""

    connector_kind = NETWORK
    compatible_with = frozenset({NETWORK, PASS_THROUGH})
    ends_paths = True

    __tablename__ = "circuits_circuit_termination"
    __table_args__ = (unique_set("circuit_id", "term_side"),)

    circuit_id: Mapped[Ref] = foreign_key(Circuit, on_delete=CASCADE, related_name="terminations")
    term_side: Mapped[str] = choice(SIDES, 1, default=None, required=True, plain=True, label="Termination")
    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=PROTECT, related_name="circuit_terminations")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="circuit_terminations")
    provider_network_id: Mapped[Ref | None] = foreign_key(ProviderNetwork, on_delete=PROTECT, related_name="circuit_terminations")
    port_speed: Mapped[int | None] = integer(0, MAX_RATE, label="Port speed (Kbps)")
    upstream_speed: Mapped[int | None] = integer(0, MAX_RATE, "Upstream speed, if different from port speed", label="Upstream speed (Kbps)")
    xconnect_id: Mapped[str] = text(50, label="Cross-connect ID")
    pp_info: Mapped[str] = text(100, label="Patch panel/port(s)")
    description: Mapped[Description]

    @classmethod
    def cannot_be_cabled(cls, row: Any) -> str | None:
        """Within a provider's network there is nothing to plug a cable into."""
        return "Circuit terminations attached to a provider network may not be cabled." if row.provider_network_id is not None else None

    @classmethod
    def next_hops(cls, uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, Sequence[NextHop]]:
        """A circuit goes on at its other side."""
        here, there = cls.__table__, cls.__table__.alias()
        across = sa.select(here.c.id, there.c.id).join(there, (there.c.circuit_id == here.c.circuit_id) & (there.c.id != here.c.id))
        rows = uow.execute(across.where(in_parameter(uow.registry.dialect, here.c.id)), {"keys": list(keys)})
        return {key: [NextHop(TERMINATION, other)] for key, other in rows}


def termination_display_name(side: str, site: str | None, network: str | None) -> str:
    """How a termination is called: its side and where it ends."""
    return f"Termination {side}: {site or network}"


circuit_terminations = Resource(
    CircuitTermination,
    "circuit-terminations",
    title="circuit termination",
    display=(termination_display_name, "term_side", "site.name", "provider_network.name"),
    brief=["circuit", "term_side", "cable"],
    brief_fields=[cable_key],
    order=["circuit.provider.name", "circuit.cid", "circuit_id", "term_side"],
    search=["circuit.cid", "xconnect_id", "pp_info", "description"],
    fields=[*path_fields],
    filters=[one_of("term_side", SIDES, multiple=False), *path_filters, *tree_pair("region", "site.region"), tree("location")],
    example={"term_side": "A", "site": ...},
    record_constants={"tags": []},
)


@circuit_terminations.rule
def ends_in_one_place(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A side ends at a site or in a provider's network, not in both."""
    for draft in drafts:
        places = [name for name in ("site_id", "provider_network_id") if draft[name] is not None]
        if not places:
            draft.reject(ALL, "A circuit termination must attach to either a site or a provider network.")
        elif len(places) > 1:
            draft.reject(ALL, "A circuit termination cannot attach to both a site and a provider network.")
        elif draft["location_id"] is not None and draft["provider_network_id"] is not None:
            draft.reject(ALL, "A circuit termination cannot attach to both a location and a provider network.")


circuit_terminations.rule(location_fits_unpunctuated)


@circuit_terminations.rule
def circuits_are_locked(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Locks the circuits whose sides are added or moved: each keeps references to both of its sides, which are set afterwards."""
    moved = [draft for draft in drafts if draft.changed("circuit_id", "term_side")]
    listing.rows_of(uow, Circuit, [key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id"))], locked=True)


@circuit_terminations.after_save
def circuits_know_their_sides(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A circuit refers to the terminations of its sides, also after one has moved from another circuit or to the other side."""
    moved = [draft for draft in drafts if draft.changed("circuit_id", "term_side")]
    concerned = {key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id")) if key is not None}
    if not concerned:
        return
    table = CircuitTermination.__table__
    wanted: dict[Any, dict[str, Any]] = {key: {f"termination_{side.lower()}_id": None for side, _ in SIDES.items} for key in concerned}
    for circuit, side, key in uow.execute(sa.select(table.c.circuit_id, table.c.term_side, table.c.id).where(table.c.circuit_id.in_(concerned))):
        wanted[circuit][f"termination_{side.lower()}_id"] = key
    system_update(uow, uow.registry.of_model(Circuit), wanted)


@circuit_terminations.after_save
def paths_follow_the_circuit(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A path that enters on one side leaves on the other one, and ends at a side that is alone: it changes with an added or moved side."""
    moved = [draft for draft in drafts if draft.changed("circuit_id")]
    concerned = {key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id")) if key is not None}
    _retrace_sides(uow, concerned, {draft.id for draft in drafts if draft.new})


@circuit_terminations.before_delete
def paths_end_at_the_side_that_stays(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Paths that left on a deleted side end at the other one."""
    _retrace_sides(uow, {row["circuit_id"] for row in rows} - set(uow.deleting.get(CIRCUIT, ())), {row["id"] for row in rows})


def _retrace_sides(uow: UnitOfWork, circuits: Collection[Any], without: Collection[Any]) -> None:
    """Follows the paths through the sides of these circuits anew, but for the sides ``without`` a cable."""
    table = CircuitTermination.__table__
    sides = uow.execute(sa.select(table.c.id).where(table.c.circuit_id.in_(circuits))).scalars() if circuits else ()
    retrace(uow, [End(TERMINATION, key) for key in sides if key not in without])
