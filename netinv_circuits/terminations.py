"""Circuit terminations: where the two sides of a circuit end, at a site or in a provider's network."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_circuits.circuits import MAX_RATE, TERMINATION, Circuit
from netinv_circuits.providers import ProviderNetwork
from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.model import CASCADE, PROTECT, Choices, Description, Organizational, Ref, choice, text, to, unique_set, whole
from netinv_core.read import pages
from netinv_core.read.filters import one_of, tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.write.amend import amend
from netinv_core.write.draft import ALL, Draft
from netinv_dcim.cable_paths import End
from netinv_dcim.cables import retrace
from netinv_dcim.cabling import NETWORK, PASS_THROUGH, Onward, PathEnd, cable_key, path_fields, path_filters
from netinv_dcim.locations import Location, location_fits_unpunctuated
from netinv_dcim.sites import Site

CIRCUIT = "circuits.circuit"
SIDES = Choices.of(("A", "A"), ("Z", "Z"))


class CircuitTermination(PathEnd, Organizational):
    """One side of a circuit."""

    plug = NETWORK
    takes = frozenset({NETWORK, PASS_THROUGH})
    ends_paths = True

    __tablename__ = "circuits_circuit_termination"
    __table_args__ = (unique_set("circuit_id", "term_side"),)

    circuit_id: Mapped[Ref] = to(Circuit, on_delete=CASCADE, back="terminations")
    term_side: Mapped[str] = choice(SIDES, 1, default=None, required=True, plain=True, label="Termination")
    site_id: Mapped[Ref | None] = to(Site, on_delete=PROTECT, back="circuit_terminations")
    location_id: Mapped[Ref | None] = to(Location, on_delete=PROTECT, back="circuit_terminations")
    provider_network_id: Mapped[Ref | None] = to(ProviderNetwork, on_delete=PROTECT, back="circuit_terminations")
    port_speed: Mapped[int | None] = whole(0, MAX_RATE, label="Port speed (Kbps)")
    upstream_speed: Mapped[int | None] = whole(0, MAX_RATE, "Upstream speed, if different from port speed", label="Upstream speed (Kbps)")
    xconnect_id: Mapped[str] = text(50, label="Cross-connect ID")
    pp_info: Mapped[str] = text(100, label="Patch panel/port(s)")
    description: Mapped[Description]

    @classmethod
    def refusal(cls, row: Any) -> str | None:
        """Within a provider's network there is nothing to plug a cable into."""
        return "Circuit terminations attached to a provider network may not be cabled." if row.provider_network_id is not None else None

    @classmethod
    def onward(cls, context: Context, keys: Sequence[Any]) -> Mapping[Any, Sequence[Onward]]:
        """A circuit goes on at its other side."""
        here, there = cls.__table__, cls.__table__.alias()
        across = sa.select(here.c.id, there.c.id).join(there, (there.c.circuit_id == here.c.circuit_id) & (there.c.id != here.c.id))
        rows = context.execute(across.where(among(context.registry.dialect, here.c.id)), {"keys": list(keys)})
        return {key: [Onward(TERMINATION, other)] for key, other in rows}


def termination_words(side: str, site: str | None, network: str | None) -> str:
    """How a termination is called: its side and where it ends."""
    return f"Termination {side}: {site or network}"


circuit_terminations = Resource(
    CircuitTermination,
    "circuit-terminations",
    title="circuit termination",
    display=(termination_words, "term_side", "site.name", "provider_network.name"),
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
def ends_in_one_place(context: Context, drafts: Sequence[Draft]) -> None:
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
def circuits_are_locked(context: Context, drafts: Sequence[Draft]) -> None:
    """Locks the circuits whose sides are added or moved: each keeps references to both of its sides, which are set afterwards."""
    moved = [draft for draft in drafts if draft.changed("circuit_id", "term_side")]
    pages.rows_of(context, Circuit, [key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id"))], locked=True)


@circuit_terminations.effect
def circuits_know_their_sides(context: Context, drafts: Sequence[Draft]) -> None:
    """A circuit refers to the terminations of its sides, also after one has moved from another circuit or to the other side."""
    moved = [draft for draft in drafts if draft.changed("circuit_id", "term_side")]
    concerned = {key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id")) if key is not None}
    if not concerned:
        return
    table = CircuitTermination.__table__
    wanted: dict[Any, dict[str, Any]] = {key: {f"termination_{side.lower()}_id": None for side, _ in SIDES.items} for key in concerned}
    for circuit, side, key in context.execute(sa.select(table.c.circuit_id, table.c.term_side, table.c.id).where(table.c.circuit_id.in_(concerned))):
        wanted[circuit][f"termination_{side.lower()}_id"] = key
    amend(context, context.registry.of_model(Circuit), wanted)


@circuit_terminations.effect
def paths_follow_the_circuit(context: Context, drafts: Sequence[Draft]) -> None:
    """A path that enters on one side leaves on the other one, and ends at a side that is alone: it changes with an added or moved side."""
    moved = [draft for draft in drafts if draft.changed("circuit_id")]
    concerned = {key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id")) if key is not None}
    _retrace_sides(context, concerned, {draft.id for draft in drafts if draft.new})


@circuit_terminations.departure
def paths_end_at_the_side_that_stays(context: Context, rows: Sequence[dict[str, Any]]) -> None:
    """Paths that left on a deleted side end at the other one."""
    _retrace_sides(context, {row["circuit_id"] for row in rows} - set(context.leaving.get(CIRCUIT, ())), {row["id"] for row in rows})


def _retrace_sides(context: Context, circuits: Collection[Any], without: Collection[Any]) -> None:
    """Follows the paths through the sides of these circuits anew, but for the sides ``without`` a cable."""
    table = CircuitTermination.__table__
    sides = context.execute(sa.select(table.c.id).where(table.c.circuit_id.in_(circuits))).scalars() if circuits else ()
    retrace(context, [End(TERMINATION, key) for key in sides if key not in without])
