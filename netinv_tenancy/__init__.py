"""Tenancy: customers and departments to which objects of the inventory belong."""

from collections.abc import Iterable
from typing import Any

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.registry import Registry
from netinv_tenancy import nautobot2, netbox
from netinv_tenancy.menu import MENU
from netinv_tenancy.tenants import tenant_groups, tenants

app = App(
    "tenancy",
    "Tenancy",
    [tenant_groups, tenants],
    migrations="netinv_tenancy:migrations",
    distribution="netinv-tenancy",
    menu=MENU,
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[Any]:
    """Returns the config context scopes: tenants and tenant groups.

    The import is local: only :mod:`netinv_extras` calls this hook, so the package is installed whenever it is needed.
    """
    from netinv_extras.config_contexts.scopes import ContextScope

    return [
        ContextScope("tenant_groups", "tenancy.tenantgroup", position=90),
        ContextScope("tenants", "tenancy.tenant", position=100),
    ]


@hookimpl
def netinv_importers(registry: Registry, product: str) -> dict[str, Declaration]:
    """Returns how the models of another service become those of this application."""
    return nautobot2.models if product == "nautobot2" else netbox.models
