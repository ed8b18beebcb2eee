"""Import of NetBox dumps: the models of providers and circuits."""

from __future__ import annotations

from netinv_core.importing.dump import Source

models = {
    "circuits.provider": Source("circuits.provider"),
    "circuits.providernetwork": Source("circuits.providernetwork", by=("provider_id", "name")),
    "circuits.circuittype": Source("circuits.circuittype"),
    "circuits.circuit": Source("circuits.circuit", drop=("termination_a", "termination_z"), by=("provider_id", "cid")),
    "circuits.circuittermination": Source(
        "circuits.circuittermination", drop=("cable",), by=("circuit_id", "term_side")
    ),
}
