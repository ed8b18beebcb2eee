"""Extras: what any resource of any package has without asking: statuses, tags, notes, custom fields, secrets, the change log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from huey import crontab
from sqlalchemy.engine import Engine

from netinv_core.app import App
from netinv_core.changes import Change
from netinv_core.context import Context
from netinv_core.dumps import Part, Source
from netinv_core.hookspecs import hookimpl
from netinv_core.http.metrics import Sample
from netinv_core.model import Organizational, Primary
from netinv_core.read.filters import Filter
from netinv_core.registry import Endpoint, Registry
from netinv_core.resource import Rule, Spec
from netinv_core.work import Task
from netinv_core.write.delete import Dependents
from netinv_extras import (
    backlog,
    context_merging,
    context_scopes,
    custom_field_upkeep,
    custom_fields,
    custom_filters,
    deliveries,
    emission,
    netbox,
    notes,
    opt_in,
    secrets,
    statuses,
    tags,
)
from netinv_extras.config_contexts import ConfigContext, config_contexts
from netinv_extras.content_types import content_types, register_vocabulary
from netinv_extras.context_scopes import Scope
from netinv_extras.custom_links import custom_links
from netinv_extras.deliveries import webhook_deliveries
from netinv_extras.object_changes import object_changes
from netinv_extras.schemas import config_context_schemas
from netinv_extras.webhooks import webhooks

app = App(
    "extras",
    "Extras",
    [
        content_types,
        notes.notes,
        object_changes,
        statuses.statuses,
        custom_field_upkeep.custom_fields,
        custom_field_upkeep.custom_field_choices,
        custom_links,
        tags.tags,
        secrets.secrets,
        secrets.secrets_groups,
        secrets.secrets_groups_associations,
        config_context_schemas,
        config_contexts,
        webhooks,
        webhook_deliveries,
    ],
    migrations="netinv_extras:migrations",
    includes=["netinv_extras.notes", "netinv_extras.secrets", "netinv_extras.feed", "netinv_extras.webhook_policies", "netinv_extras.deliveries"],
    distribution="netinv-extras",
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[Spec]:
    """Tags on primary resources; custom fields and the notes' address on every organizational one; config contexts, and what they are limited to."""
    found: list[Spec] = context_merging.attached(registry, endpoint)
    if endpoint.model is ConfigContext:
        found += context_scopes.members(registry)
    if issubclass(endpoint.model, Primary):
        found.append(tags.field)
    if issubclass(endpoint.model, Organizational):
        found += [notes.address, custom_fields.field, opt_in.computed_fields, opt_in.relationships]
    return found


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """The way from a primary object to its tags, and from a config context to what it is limited to."""
    if endpoint.model is ConfigContext:
        return dict(context_scopes.relations(registry))
    return {"tags": tags.relation(registry, endpoint)} if issubclass(endpoint.model, Primary) else {}


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """``tag`` on primary resources, and those by which config contexts are found by their scopes."""
    if endpoint.model is ConfigContext:
        return context_scopes.parameters(registry)
    return [tags.parameter] if issubclass(endpoint.model, Primary) else []


@hookimpl
def netinv_parameters(context: Context, endpoint: Endpoint) -> Mapping[str, Filter]:
    """``cf_…`` where objects have custom fields."""
    return custom_filters.parameters(context, endpoint) if custom_fields.NAME in endpoint.fields else {}


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """The values of custom fields are what their definitions allow."""
    return [custom_fields.rule(endpoint)] if custom_fields.NAME in endpoint.fields else []


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[Scope]:
    """Tags."""
    return [Scope("tags", "extras.tag", field="tags", by="slug", position=120)]


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
def netinv_recorded(context: Context, changes: Sequence[Change]) -> None:
    """Deliveries for the webhooks that are to be told."""
    emission.emit(context, changes)


@hookimpl
def netinv_status(context: Context) -> dict[str, Any]:
    """How many webhook deliveries wait, and how many failed."""
    return {"webhooks": backlog.status(context)}


@hookimpl
def netinv_metrics(context: Context) -> Iterable[Sample]:
    """The same, by webhook."""
    return backlog.samples(context)


@hookimpl
def netinv_commands() -> dict[str, list[click.Command]]:
    """``netinv webhooks …`` and ``netinv webhook-listener``."""
    from netinv_extras.commands import webhooks as group
    from netinv_extras.listener import webhook_listener

    return {"netinv": [group, webhook_listener]}


@hookimpl
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """Sending what is queued for webhooks, and forgetting what is long done."""
    return [Task(deliveries.DELIVER, _deliver, crontab(), urgent=True), deliveries.pruning]


def _deliver(engine: Engine, registry: Registry) -> None:
    """What sends is not loaded by a service that only queues."""
    from netinv_extras import delivering

    delivering.deliver(engine, registry)


@hookimpl
def netinv_importers(registry: Registry) -> dict[str, Source | Part]:
    """The models of a NetBox dump that this application takes."""
    return netbox.models(registry)
