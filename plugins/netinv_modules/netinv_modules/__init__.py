"""Modules: parts such as line cards, their types, and the bays of devices that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netinv_core import App, Change, MenuSection, Registry, Source, UnitOfWork, hookimpl
from netinv_modules import importing, new_devices
from netinv_modules.bays import module_bay_templates, module_bays
from netinv_modules.modules import module_types, modules

app = App(
    "modules",
    "Modules",
    [module_types, module_bay_templates, module_bays, modules],
    migrations="netinv_modules:migrations",
    plugin=True,
    menu=[
        MenuSection("Devices", ["modules", "module-bays"], icon="cpu-chip", position=121),
        MenuSection("Device types", ["module-types", "module-bay-templates"], icon="rectangle-stack", position=131),
    ],
    description="Modules, their types, and bays of devices",
    author="The netinv authors",
    distribution="netinv-modules",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/modules/."""
    return app


@hookimpl
def netinv_changes_recorded(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """New devices get the bays of their type."""
    new_devices.add_bays(uow, changes)


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The modules of NetBox dumps, and of Nautobot 2.3 and later."""
    return {"netbox": importing.of_netbox, "nautobot2": importing.of_nautobot}.get(product, {})
