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
from netinv_core.http.renditions import Rendition
from netinv_core.model import Customizable, Organizational, Primary
from netinv_core.read.filters import Filter
from netinv_core.recording import Follower
from netinv_core.registry import Endpoint, Registry
from netinv_core.resource import Rule, Spec
from netinv_core.work import Task
from netinv_core.write.delete import Dependents
from netinv_extras import (
    backlog,
    computed_fields,
    context_merging,
    context_scopes,
    custom_field_upkeep,
    custom_fields,
    custom_filters,
    deliveries,
    emission,
    exporting,
    git_repositories,
    graphql_http,
    hookspecs,
    image_attachments,
    installed_jobs,
    job_backlog,
    job_buttons,
    job_hooks,
    job_results,
    job_schedules,
    netbox,
    notes,
    relationship_filters,
    relationship_members,
    relationships,
    secrets,
    settings,
    statuses,
    tags,
)
from netinv_extras.config_contexts import ConfigContext, config_contexts
from netinv_extras.content_types import content_types, register_vocabulary
from netinv_extras.context_scopes import Scope
from netinv_extras.custom_links import custom_links
from netinv_extras.deliveries import webhook_deliveries
from netinv_extras.dynamic_groups import dynamic_group_memberships, dynamic_groups
from netinv_extras.export_templates import export_templates
from netinv_extras.graphql_queries import graphql_queries
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
        relationships.relationships,
        relationships.relationship_associations,
        statuses.statuses,
        custom_field_upkeep.custom_fields,
        custom_field_upkeep.custom_field_choices,
        custom_links,
        computed_fields.computed_fields,
        image_attachments.image_attachments,
        graphql_queries,
        dynamic_groups,
        dynamic_group_memberships,
        export_templates,
        git_repositories.git_repositories,
        tags.tags,
        secrets.secrets,
        secrets.secrets_groups,
        secrets.secrets_groups_associations,
        config_context_schemas,
        config_contexts,
        webhooks,
        webhook_deliveries,
        installed_jobs.jobs,
        job_results.job_results,
        job_results.job_logs,
        job_schedules.scheduled_jobs,
        job_hooks.job_hooks,
        job_buttons.job_buttons,
    ],
    migrations="netinv_extras:migrations",
    doors={"graphql": graphql_http.graphql},
    includes=[
        "netinv_extras.notes",
        "netinv_extras.secrets",
        "netinv_extras.feed",
        "netinv_extras.deliveries",
        "netinv_extras.graphql_http",
        "netinv_extras.group_members",
        "netinv_extras.git_routes",
        "netinv_extras.job_requests",
        "netinv_extras.job_classes",
        "netinv_extras.job_results",
        "netinv_extras.job_approvals",
        "netinv_extras.job_buttons",
    ],
    hooks=hookspecs,
    settings=settings.known,
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
        found += [notes.address, custom_fields.field, computed_fields.field, relationship_members.field]
    elif issubclass(endpoint.model, Customizable):
        found += [custom_fields.field, computed_fields.field]
    return found


@hookimpl
def netinv_renditions(registry: Registry) -> Iterable[Rendition]:
    """``export``: what an export template makes of a list."""
    return [exporting.rendition]


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """The ways from a primary object to its tags and images, and from a config context to what it is limited to."""
    if endpoint.model is ConfigContext:
        return dict(context_scopes.relations(registry))
    if not issubclass(endpoint.model, Primary):
        return {}
    return {"tags": tags.relation(registry, endpoint), "images": image_attachments.relation(registry, endpoint)}


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """``tag`` on primary resources, and those by which config contexts are found by their scopes."""
    if endpoint.model is ConfigContext:
        return context_scopes.parameters(registry)
    return [tags.parameter] if issubclass(endpoint.model, Primary) else []


@hookimpl
def netinv_parameters(context: Context, endpoint: Endpoint) -> Mapping[str, Filter]:
    """``cf_…`` where objects have custom fields, ``cr_…`` where they have relationships."""
    found = dict(custom_filters.parameters(context, endpoint)) if custom_fields.NAME in endpoint.fields else {}
    return found | (relationship_filters.parameters(context, endpoint) if relationships.NAME in endpoint.fields else {})


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """The values of custom fields are what their definitions allow; relationships lead to objects that there are."""
    found = [custom_fields.rule(endpoint)] if custom_fields.NAME in endpoint.fields else []
    return found + ([relationship_members.rule(endpoint)] if relationships.NAME in endpoint.fields else [])


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[Scope]:
    """Tags."""
    return [Scope("tags", "extras.tag", field="tags", by="slug", position=120)]


@hookimpl
def netinv_dependents(registry: Registry) -> Iterable[Dependents]:
    """Tag assignments, images and associations go with what they are on, and what a repository owns with the repository."""
    return [tags.dependents, image_attachments.dependents, *relationships.dependents, *git_repositories.owned_by_repositories(registry)]


@hookimpl
def netinv_seed(context: Context) -> None:
    """The names of the API's models, the statuses that every inventory starts with, and a row for each job that was found."""
    register_vocabulary(context)
    statuses.seed(context)
    installed_jobs.refresh(context)


@hookimpl
def netinv_followers(context: Context, changes: Sequence[Change]) -> Iterable[Follower]:
    """Deliveries for the webhooks that are to be told."""
    return emission.followers(context, changes)


@hookimpl
def netinv_recorded(context: Context, changes: Sequence[Change]) -> None:
    """Runs of the jobs that are started by changes."""
    job_hooks.emit(context, changes)


@hookimpl
def netinv_status(context: Context) -> dict[str, Any]:
    """How many webhook deliveries wait, and how many failed; how many jobs wait, and how many run."""
    return {"webhooks": backlog.status(context), "jobs": job_backlog.status(context)}


@hookimpl
def netinv_metrics(context: Context) -> Iterable[Sample]:
    """The same, deliveries by webhook."""
    return [*backlog.samples(context), *job_backlog.samples(context)]


@hookimpl
def netinv_commands() -> dict[str, list[click.Command]]:
    """``netinv webhooks …``, ``netinv webhook-listener`` and ``netinv jobs …``."""
    from netinv_extras.commands import webhooks as group
    from netinv_extras.job_commands import jobs
    from netinv_extras.listener import webhook_listener

    return {"netinv": [group, webhook_listener, jobs]}


@hookimpl
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """Sending what is queued for webhooks, and forgetting what is long done; syncing repositories; finding jobs, and running those that are due."""
    return [
        Task(deliveries.DELIVER, _deliver, crontab(), urgent=True),
        deliveries.pruning,
        Task(git_repositories.SYNC, _sync, crontab(), urgent=True),
        Task("find_jobs", installed_jobs.find, crontab(), urgent=True),
        Task(job_results.RUN, _run_jobs, crontab(), urgent=True),
    ]


def _deliver(engine: Engine, registry: Registry) -> None:
    """What sends is not loaded by a service that only queues."""
    from netinv_extras import delivering

    delivering.deliver(engine, registry)


def _sync(engine: Engine, registry: Registry) -> None:
    """As for what sends."""
    from netinv_extras import git_syncing

    git_syncing.sync(engine, registry)


def _run_jobs(engine: Engine, registry: Registry) -> None:
    """What runs jobs is not loaded by a service that only takes requests for them."""
    from netinv_extras import job_running

    job_running.run_jobs(engine, registry)


@hookimpl
def netinv_importers(registry: Registry) -> dict[str, Source | Part]:
    """The models of a NetBox dump that this application takes."""
    return netbox.models(registry)
