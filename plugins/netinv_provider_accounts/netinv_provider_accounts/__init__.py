"""Provider accounts: the customer numbers under which circuits are ordered from a provider."""

from __future__ import annotations

from collections.abc import Mapping

from netinv_core import App, MenuSection, Registry, Source, hookimpl
from netinv_provider_accounts import importing
from netinv_provider_accounts.accounts import provider_accounts

app = App(
    "provider_accounts",
    "Provider accounts",
    [provider_accounts],
    migrations="netinv_provider_accounts:migrations",
    web=["netinv_provider_accounts.pages"],
    plugin=True,
    menu=[MenuSection("Circuits", ["provider-accounts"], icon="arrows-right-left", position=211)],
    description="Accounts with the providers of circuits",
    author="The netinv authors",
    distribution="netinv-provider-accounts",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/provider_accounts/."""
    return app


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The accounts of NetBox dumps."""
    return importing.models if product == "netbox" else {}
