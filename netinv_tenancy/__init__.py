"""Tenancy: the customers and departments that things in the inventory belong to."""

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_tenancy.tenants import tenant_groups, tenants

app = App(
    "tenancy",
    "Tenancy",
    [tenant_groups, tenants],
    migrations="netinv_tenancy:migrations",
    distribution="netinv-tenancy",
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app
