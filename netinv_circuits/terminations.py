"""Circuit terminations: the two sides of a circuit, each at a site or in a provider network."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_circuits.circuits import MAX_RATE, TERMINATION, Circuit
from netinv_circuits.providers import ProviderNetwork
from netinv_core.db.expressions import in_parameter
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Organizational
from netinv_core.models.columns import CASCADE, PROTECT, Choices, Description, Ref, choice, foreign_key, integer, text
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.read.filters import one_of, tree, tree_pair
from netinv_core.resource import Resource
from netinv_core.units import KBPS
from netinv_core.write.draft import ALL
from netinv_core.write.system_update import system_update
from netinv_dcim.cabling.cables import cabled_ends_keep_fitting, retrace
from netinv_dcim.cabling.models import NETWORK, PASS_THROUGH, NextHop, PathEnd, cable_key, path_fields, path_filters
from netinv_dcim.cabling.paths import End
from netinv_dcim.located_objects import LOCATION_READS, PLACE, location_fits_unpunctuated
from netinv_dcim.locations import Location
from netinv_dcim.sites import Site

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

CIRCUIT = "circuits.circuit"
SIDES = Choices.of(("A", "A"), ("Z", "Z"))


class CircuitTermination(PathEnd, Organizational):
    """One side of a circuit."""

    connector_kind = NETWORK
    compatible_with = frozenset({NETWORK, PASS_THROUGH})
    ends_paths = True
    holder = "circuit"
    holder_notes = ("provider.name",)
    leads_into = "provider_network.name"
    fit_columns = ("provider_network_id",)

    __tablename__ = "circuits_circuit_termination"
    __table_args__ = (unique_set("circuit_id", "term_side"),)

    circuit_id: Mapped[Ref] = foreign_key(Circuit, on_delete=CASCADE, related_name="terminations")
    term_side: Mapped[str] = choice(SIDES, 1, default=None, required=True, plain=True, label="Termination")
    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete=PROTECT, related_name="circuit_terminations")
    location_id: Mapped[Ref | None] = foreign_key(Location, on_delete=PROTECT, related_name="circuit_terminations")
    provider_network_id: Mapped[Ref | None] = foreign_key(
        ProviderNetwork, on_delete=PROTECT, related_name="circuit_terminations"
    )
    port_speed: Mapped[int | None] = integer(0, MAX_RATE, label="Port speed", unit=KBPS)
    upstream_speed: Mapped[int | None] = integer(
        0, MAX_RATE, "Upstream speed, if different from port speed", label="Upstream speed", unit=KBPS
    )
    xconnect_id: Mapped[str] = text(50, label="Cross-connect ID")
    pp_info: Mapped[str] = text(100, label="Patch panel/port(s)")
    description: Mapped[Description]

    @classmethod
    def cannot_be_cabled(cls, row: Any) -> str | None:
        """Returns the error for a termination in a provider network, else ``None``."""
        return (
            "Circuit terminations attached to a provider network may not be cabled."
            if row.provider_network_id is not None
            else None
        )

    @classmethod
    def next_hops(cls, uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, Sequence[NextHop]]:
        """Returns the termination on the other side of the circuit for each termination."""
        near, far = cls.__table__, cls.__table__.alias()
        pairs = sa.select(near.c.id, far.c.id).join(
            far, (far.c.circuit_id == near.c.circuit_id) & (far.c.id != near.c.id)
        )
        rows = uow.execute(pairs.where(in_parameter(near.c.id)), {"keys": list(keys)})
        return {key: [NextHop(TERMINATION, other)] for key, other in rows}


def termination_display_name(side: str, site: str | None, network: str | None) -> str:
    """Returns the ``display`` of a termination: its side, and its site or provider network."""
    return f"Termination {side}: {site or network}"


circuit_terminations = Resource(
    CircuitTermination,
    "circuit-terminations",
    type_order="~1 ",
    title="circuit termination",
    display=(termination_display_name, "term_side", "site.name", "provider_network.name"),
    brief=["circuit", "term_side", "cable"],
    brief_fields=[cable_key],
    order=["circuit.provider.name", "circuit.cid", "circuit_id", "term_side"],
    search=["circuit.cid", "xconnect_id", "pp_info", "description"],
    fields=[*path_fields],
    filters=[
        one_of("term_side", SIDES, multiple=False),
        *path_filters,
        *tree_pair("region", "site.region"),
        tree("location"),
    ],
    example={"term_side": "A", "site": ...},
    presentation=Presentation(
        depends_on={"location": {"site": "site_id"}},
        name_in_context=("{} side {}".format, "circuit.cid", "term_side"),
        leading=["trace"],
        unrelated=["termination_a", "termination_z"],
        columns=[
            "circuit",
            "site",
            "far_end",
            "cable",
            "provider_network",
            "port_speed",
            "upstream_speed",
            "location",
            "xconnect_id",
            "pp_info",
            "description",
        ],
    ),
    record_constants={"tags": []},
)


@circuit_terminations.rule
def ends_in_one_place(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects a termination that is not at exactly one of a site and a provider network."""
    for draft in drafts:
        places = [name for name in ("site_id", "provider_network_id") if draft[name] is not None]
        if not places:
            draft.reject(ALL, "A circuit termination must attach to either a site or a provider network.")
        elif len(places) > 1:
            draft.reject(ALL, "A circuit termination cannot attach to both a site and a provider network.")
        elif draft["location_id"] is not None and draft["provider_network_id"] is not None:
            draft.reject(ALL, "A circuit termination cannot attach to both a location and a provider network.")


circuit_terminations.rule(reads=LOCATION_READS, changing=PLACE)(location_fits_unpunctuated)
circuit_terminations.rule(cabled_ends_keep_fitting)


@circuit_terminations.rule
def circuits_are_locked(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Locks the circuits whose terminations are added or moved. Their foreign keys are set after saving."""
    moved = [draft for draft in drafts if draft.changed("circuit_id", "term_side")]
    listing.rows_of(
        uow,
        Circuit,
        [key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id"))],
        locked=True,
    )


@circuit_terminations.after_save
def circuits_know_their_sides(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Updates the foreign keys of circuits to their terminations.

    Circuits that a termination has left are updated as well as those that it has come to.
    """
    moved = [draft for draft in drafts if draft.changed("circuit_id", "term_side")]
    circuits = {
        key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id")) if key is not None
    }
    if not circuits:
        return
    table = CircuitTermination.__table__
    updates: dict[Any, dict[str, Any]] = {
        key: {f"termination_{side.lower()}_id": None for side, _ in SIDES.items} for key in circuits
    }
    for circuit, side, key in uow.execute(
        sa.select(table.c.circuit_id, table.c.term_side, table.c.id).where(table.c.circuit_id.in_(circuits))
    ):
        updates[circuit][f"termination_{side.lower()}_id"] = key
    system_update(uow, uow.registry.of_model(Circuit), updates)


@circuit_terminations.after_save
def paths_follow_the_circuit(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Traces the cable paths through circuits again when a termination is added or moved.

    A path continues at the other termination of a circuit, and ends where there is none.
    """
    moved = [draft for draft in drafts if draft.changed("circuit_id")]
    circuits = {
        key for draft in moved for key in (draft["circuit_id"], draft.before.get("circuit_id")) if key is not None
    }
    _retrace_sides(uow, circuits, {draft.id for draft in drafts if draft.new})


@circuit_terminations.before_delete
def paths_end_at_the_side_that_stays(uow: UnitOfWork, rows: Sequence[dict[str, Any]]) -> None:
    """Traces the cable paths again through circuits that lose a termination. They end at the remaining one."""
    _retrace_sides(
        uow, {row["circuit_id"] for row in rows} - set(uow.deleting.get(CIRCUIT, ())), {row["id"] for row in rows}
    )


def _retrace_sides(uow: UnitOfWork, circuits: Collection[Any], without: Collection[Any]) -> None:
    """Traces the paths through the terminations of these circuits again.

    :param without: ids of terminations to leave out, because they have no cable or are deleted
    """
    table = CircuitTermination.__table__
    sides = uow.execute(sa.select(table.c.id).where(table.c.circuit_id.in_(circuits))).scalars() if circuits else ()
    retrace(uow, [End(TERMINATION, key) for key in sides if key not in without])
