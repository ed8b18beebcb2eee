"""Groups of circuits that back each other up, or belong together otherwise, with the priority of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netinv_circuit_groups import importing
from netinv_circuit_groups.groups import circuit_group_assignments, circuit_groups, generic_cascade
from netinv_core import App, GenericCascade, MenuSection, Registry, Source, hookimpl

app = App(
    "circuit_groups",
    "Circuit groups",
    [circuit_groups, circuit_group_assignments],
    migrations="netinv_circuit_groups:migrations",
    web=["netinv_circuit_groups.pages"],
    migrates_after=["circuits"],
    plugin=True,
    menu=[
        MenuSection("Circuits", ["circuit-groups", "circuit-group-assignments"], icon="arrows-right-left", position=210)
    ],
    description="Groups of circuits, with a priority of each",
    author="The netinv authors",
    distribution="netinv-circuit-groups",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/circuit_groups/."""
    return app


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Assignments go with the circuit."""
    return [generic_cascade]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The groups of NetBox dumps."""
    return importing.models(registry) if product == "netbox" else {}
