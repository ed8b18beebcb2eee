"""Import of NetBox dumps: the models of providers and circuits."""

from __future__ import annotations

from netinv_core.importing.dump import Declaration, Dump, Excluded, Fields, NamedModel, Source, content_type
from netinv_core.importing.folds import fold_attachment, owner_by
from netinv_dcim.netbox_scopes import convert_scope

NETWORK = "circuits.providernetwork"
NO_VIRTUAL = "install netinv-virtual-circuits to import virtual circuits"


def termination(dump: Dump, fields: Fields) -> Fields:
    """Converts a termination: since NetBox 4.2 it refers to a site, location or provider network generically."""
    if content_type(fields.get("termination_type")) != NETWORK:
        return convert_scope(dump, fields, "termination")
    converted = {name: value for name, value in fields.items() if not name.startswith("termination_")}
    return {**converted, "provider_network": fields["termination_id"]}


models: dict[str, Declaration] = {
    "circuits.provider": Source("circuits.provider"),
    "circuits.provideraccount": NamedModel(("account",), package="netinv-provider-accounts"),
    NETWORK: Source(NETWORK, by=("provider_id", "name")),
    "circuits.circuittype": Source("circuits.circuittype"),
    "circuits.circuit": Source(
        "circuits.circuit",
        drop=("termination_a", "termination_z"),
        by=("provider_id", "cid"),
        refers={"provider_account": "circuits.provideraccount"},
    ),
    "circuits.circuittermination": Source(
        "circuits.circuittermination", adapt=termination, drop=("cable", "cable_end"), by=("circuit_id", "term_side")
    ),
    "circuits.circuitgroup": NamedModel(package="netinv-circuit-groups"),
    "circuits.circuitgroupassignment": fold_attachment(
        "circuits.circuitgroupassignment",
        (owner_by("member"), owner_by("circuit", "circuits.circuit")),
        "group",
        "circuits.circuitgroup",
        "groups",
    ),
    "circuits.virtualcircuit": Excluded(NO_VIRTUAL),
    "circuits.virtualcircuittype": Excluded(NO_VIRTUAL),
    "circuits.virtualcircuittermination": Excluded(NO_VIRTUAL),
}
