"""Application ``extras``: features for resources of any package, such as tags, notes, custom fields and webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.presentation import MenuSection
from netinv_extras import hookspecs, import_completion, nautobot, nautobot2, netbox
from netinv_extras.content_types import content_types

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_import.mapping import DumpMapping

# In this order their hooks are called, and the fields that they attach stand in representations.
FEATURES = (
    "config_contexts",
    "tags",
    "statuses",
    "notes",
    "custom_fields",
    "templates",
    "relationships",
    "changelog",
    "webhooks",
    "git",
    "graphql",
    "jobs",
    "plans",
    "change_requests",
    "secrets",
    "image_attachments",
    "dynamic_groups",
    "validation_rules",
)

app = App(
    "extras",
    "Extras",
    [content_types],
    migrations="netinv_extras:migrations",
    web=[
        "netinv_extras.web.links",
        "netinv_extras.web.type_labels",
    ],
    hooks=hookspecs,
    distribution="netinv-extras",
    menu=[MenuSection("Customization", ["content-types"], icon="adjustments-horizontal", position=719)],
    features=[f"netinv_extras.{name}.feature" for name in FEATURES],
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app


@hookimpl
def netinv_importers(registry: Registry, product: str) -> dict[str, Declaration]:
    """Mapping of the models of NetBox's application ``extras``."""
    if product == "nautobot2":
        return nautobot2.models(registry)
    return nautobot.models if product == "nautobot" else netbox.models(registry)


@hookimpl
def netinv_complete_import(uow: UnitOfWork, mapping: DumpMapping) -> None:
    """Adds statuses, and custom fields for values without a field, to a dump."""
    import_completion.complete(uow, mapping)
