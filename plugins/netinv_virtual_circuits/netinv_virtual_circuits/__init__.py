"""Virtual circuits: connections that a provider makes within its network, and the interfaces that they end at."""

from __future__ import annotations

from collections.abc import Mapping

from netinv_core import App, MenuSection, Registry, Source, hookimpl
from netinv_virtual_circuits import importing
from netinv_virtual_circuits.circuits import virtual_circuit_terminations, virtual_circuit_types, virtual_circuits

app = App(
    "virtual_circuits",
    "Virtual circuits",
    [virtual_circuit_types, virtual_circuits, virtual_circuit_terminations],
    migrations="netinv_virtual_circuits:migrations",
    web=["netinv_virtual_circuits.pages"],
    plugin=True,
    menu=[
        MenuSection(
            "Circuits",
            ["virtual-circuits", "virtual-circuit-types", "virtual-circuit-terminations"],
            icon="arrows-right-left",
            position=212,
        )
    ],
    description="Virtual circuits across the networks of providers",
    author="The netinv authors",
    distribution="netinv-virtual-circuits",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/virtual_circuits/."""
    return app


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The virtual circuits of NetBox dumps."""
    return importing.models if product == "netbox" else {}
