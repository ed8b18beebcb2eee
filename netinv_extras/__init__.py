"""Extras: what any resource of any package has without asking: statuses, tags, notes, custom fields, secrets, the change log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from netinv_core.app import App
from netinv_core.context import Context
from netinv_core.dumps import Part, Source
from netinv_core.hookspecs import hookimpl
from netinv_core.model import Organizational, Primary
from netinv_core.registry import Endpoint, Registry
from netinv_core.resource import Spec
from netinv_core.write.delete import Dependents
from netinv_extras import custom_fields, netbox, notes, opt_in, secrets, statuses, tags
from netinv_extras.content_types import content_types, register_vocabulary
from netinv_extras.object_changes import object_changes
from netinv_extras.schemas import config_context_schemas

app = App(
    "extras",
    "Extras",
    [
        content_types,
        notes.notes,
        object_changes,
        statuses.statuses,
        tags.tags,
        secrets.secrets,
        secrets.secrets_groups,
        secrets.secrets_groups_associations,
        config_context_schemas,
    ],
    migrations="netinv_extras:migrations",
    includes=["netinv_extras.notes", "netinv_extras.secrets"],
    distribution="netinv-extras",
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[Spec]:
    """Tags on primary resources; custom fields and the notes' address on every organizational one."""
    found: list[Spec] = []
    if issubclass(endpoint.model, Primary):
        found.append(tags.field)
    if issubclass(endpoint.model, Organizational):
        found += [notes.address, custom_fields.field, opt_in.computed_fields, opt_in.relationships]
    return found


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """The way from a primary object to its tags."""
    return {"tags": tags.relation(registry, endpoint)} if issubclass(endpoint.model, Primary) else {}


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """``tag`` on primary resources."""
    return [tags.parameter] if issubclass(endpoint.model, Primary) else []


@hookimpl
def netinv_dependents(registry: Registry) -> Iterable[Dependents]:
    """Tag assignments go with what they are on."""
    return [tags.dependents]


@hookimpl
def netinv_seed(context: Context) -> None:
    """The names of the API's models, and the statuses that every inventory starts with."""
    register_vocabulary(context)
    statuses.seed(context)


@hookimpl
def netinv_importers(registry: Registry) -> dict[str, Source | Part]:
    """The models of a NetBox dump that this application takes."""
    return netbox.models(registry)
