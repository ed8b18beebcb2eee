"""Differences of Nautobot 2.x and 3.x in the application ``circuits``: names of fields."""

from __future__ import annotations

from netinv_core.importing.dump import Declaration, Source

models: dict[str, Declaration] = {
    "circuits.circuit": Source(
        "circuits.circuit",
        rename={"circuit_type": "type"},
        drop=("circuit_termination_a", "circuit_termination_z"),
    ),
}
