"""Application ``extras``: features for resources of any package, such as tags, notes, custom fields and webhooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from huey import crontab
from sqlalchemy.engine import Engine

from netinv_core.app import App
from netinv_core.changelog.change_set import Change
from netinv_core.endpoint import Endpoint
from netinv_core.findings import Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.http.list_formats import ListFormat
from netinv_core.http.metrics import Sample
from netinv_core.importing.dump import Declaration
from netinv_core.models.base import Customizable, Organizational, Primary
from netinv_core.read.filters import Filter
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, Rule
from netinv_core.tasks.queue import Task
from netinv_core.tasks.retention import Retention
from netinv_core.uow import UnitOfWork
from netinv_core.write.delete import GenericCascade
from netinv_core.write.dry_run import Effects
from netinv_extras import (
    hookspecs,
    image_attachments,
    import_completion,
    nautobot,
    nautobot2,
    netbox,
    notes,
    secrets,
    settings,
    statuses,
    tags,
)
from netinv_extras.changelog.resource import object_changes
from netinv_extras.config_contexts import limits as config_context_limits
from netinv_extras.config_contexts import merge as config_context_merge
from netinv_extras.config_contexts import models as config_context_models
from netinv_extras.config_contexts import scopes as config_context_scopes
from netinv_extras.config_contexts.schemas import config_context_schemas
from netinv_extras.config_contexts.scopes import Scope
from netinv_extras.content_types import content_types, register_vocabulary
from netinv_extras.custom_fields import constraints as custom_field_constraints
from netinv_extras.custom_fields import field as custom_field_values
from netinv_extras.custom_fields import filters as custom_field_filters
from netinv_extras.custom_fields import models as custom_field_models
from netinv_extras.custom_fields import value_updates
from netinv_extras.dynamic_groups import models as dynamic_group_models
from netinv_extras.git import content_kinds as git_content_kinds
from netinv_extras.git import models as git_models
from netinv_extras.git.sync import ContentKind
from netinv_extras.graphql import views as graphql_views
from netinv_extras.graphql.saved_queries import graphql_queries
from netinv_extras.jobs import buttons as job_buttons
from netinv_extras.jobs import git_source
from netinv_extras.jobs import hooks as job_hooks
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs import stats as job_stats
from netinv_extras.menu import MENU
from netinv_extras.plans import models as plan_models
from netinv_extras.relationships import associations as relationship_associations
from netinv_extras.relationships import field as relationship_field
from netinv_extras.relationships import filters as relationship_filters
from netinv_extras.relationships import models as relationship_models
from netinv_extras.relationships import validation as relationship_validation
from netinv_extras.templates import computed_fields, export
from netinv_extras.templates.custom_links import custom_links
from netinv_extras.templates.export_templates import export_templates
from netinv_extras.web_hooks import (
    netinv_jobs,
    netinv_web_actions,
    netinv_web_attention,
    netinv_web_background,
    netinv_web_controls,
    netinv_web_exports,
    netinv_web_includes,
    netinv_web_menu,
    netinv_web_panels,
    netinv_web_snippets,
    netinv_web_tabs,
    netinv_web_undo,
    netinv_web_widgets,
)
from netinv_import.mapping import DumpMapping

if TYPE_CHECKING:
    import click

__all__ = [
    "netinv_jobs",
    "netinv_web_actions",
    "netinv_web_attention",
    "netinv_web_background",
    "netinv_web_controls",
    "netinv_web_exports",
    "netinv_web_includes",
    "netinv_web_menu",
    "netinv_web_panels",
    "netinv_web_snippets",
    "netinv_web_tabs",
    "netinv_web_undo",
    "netinv_web_widgets",
]

# These modules register functions with resources of other modules. They run in this order, after those of the resource.
value_updates.register()
git_source.register()
relationship_associations.register()
config_context_limits.register()

app = App(
    "extras",
    "Extras",
    [
        content_types,
        notes.notes,
        object_changes,
        relationship_models.relationships,
        relationship_associations.relationship_associations,
        statuses.statuses,
        custom_field_models.custom_fields,
        custom_field_models.custom_field_choices,
        custom_links,
        computed_fields.computed_fields,
        image_attachments.image_attachments,
        graphql_queries,
        dynamic_group_models.dynamic_groups,
        dynamic_group_models.dynamic_group_memberships,
        export_templates,
        git_models.git_repositories,
        tags.tags,
        secrets.secrets,
        secrets.secrets_groups,
        secrets.secrets_groups_associations,
        config_context_schemas,
        config_context_models.config_contexts,
        job_models.jobs,
        job_results.job_results,
        job_results.job_logs,
        job_schedules.scheduled_jobs,
        job_hooks.job_hooks,
        job_buttons.job_buttons,
        plan_models.plans,
    ],
    migrations="netinv_extras:migrations",
    root_views={"graphql": graphql_views.graphql},
    includes=[
        "netinv_extras.notes",
        "netinv_extras.secrets",
        "netinv_extras.changelog.feed",
        "netinv_extras.changelog.history",
        "netinv_extras.changelog.revert",
        "netinv_extras.graphql.views",
        "netinv_extras.dynamic_groups.members",
        "netinv_extras.git.views",
        "netinv_extras.jobs.run_views",
        "netinv_extras.jobs.legacy_views",
        "netinv_extras.jobs.results",
        "netinv_extras.jobs.approval_views",
        "netinv_extras.jobs.buttons",
        "netinv_extras.plans.applying",
    ],
    hooks=hookspecs,
    settings=settings.DEFINITIONS,
    distribution="netinv-extras",
    menu=MENU,
    features=["netinv_extras.webhooks.feature"],
)


@hookimpl
def netinv_app() -> App:
    """The application."""
    return app


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """Tags on primary resources; custom fields, relationships and notes on organizational ones; config contexts."""
    factories: list[FieldFactory] = config_context_merge.attached(registry, endpoint)
    if endpoint.model is config_context_models.ConfigContext:
        factories += config_context_scopes.scope_fields(registry)
    if issubclass(endpoint.model, Primary):
        factories.append(tags.field)
    if issubclass(endpoint.model, Organizational):
        factories += [notes.notes_url, custom_field_values.field, computed_fields.field, relationship_field.field]
    elif issubclass(endpoint.model, Customizable):
        factories += [custom_field_values.field, computed_fields.field]
    return factories


@hookimpl
def netinv_list_formats(registry: Registry) -> Iterable[ListFormat]:
    """``export``: a list rendered by an export template."""
    return [export.list_format]


@hookimpl
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """Relations of primary objects to tags and images, and of config contexts to the objects of their scopes."""
    if endpoint.model is config_context_models.ConfigContext:
        return dict(config_context_scopes.relations(registry))
    if not issubclass(endpoint.model, Primary):
        return {}
    return {"tags": tags.relation(registry, endpoint), "images": image_attachments.relation(registry, endpoint)}


@hookimpl
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """``tag`` on primary resources, and scopes on config contexts."""
    if endpoint.model is config_context_models.ConfigContext:
        return config_context_scopes.parameters(registry)
    return [tags.parameter] if issubclass(endpoint.model, Primary) else []


@hookimpl
def netinv_dynamic_filters(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Filter]:
    """``cf_…`` for custom fields, and ``cr_…`` for relationships."""
    parameters: dict[str, Filter] = {}
    if custom_field_values.NAME in endpoint.fields:
        parameters |= custom_field_filters.parameters(uow, endpoint)
    if relationship_models.NAME in endpoint.fields:
        parameters |= relationship_filters.parameters(uow, endpoint)
    return parameters


@hookimpl
def netinv_document_members(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Callable[..., None]]:
    """Custom fields, for the constraints of permissions."""
    if custom_field_values.NAME not in endpoint.fields:
        return {}
    return custom_field_constraints.members(uow, endpoint)


@hookimpl
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Rule]:
    """Validation of custom field values and of relationships."""
    rules = []
    if custom_field_values.NAME in endpoint.fields:
        rules.append(custom_field_values.rule(endpoint))
    if relationship_models.NAME in endpoint.fields:
        rules.append(relationship_validation.rule(endpoint))
    return rules


@hookimpl
def netinv_context_scopes(registry: Registry) -> Iterable[Scope]:
    """Tags as a scope of config contexts."""
    return [Scope("tags", "extras.tag", field="tags", by="slug", position=120)]


@hookimpl
def netinv_git_content_kinds(registry: Registry) -> Mapping[str, ContentKind]:
    """Config context schemas, config contexts, export templates and jobs."""
    return {**git_content_kinds.KINDS, "extras.job": git_source.CONTENT_KIND}


@hookimpl
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Deletes tag assignments, images and relationship associations of an object, and objects owned by a repository."""
    return [
        tags.generic_cascade,
        image_attachments.generic_cascade,
        *relationship_associations.generic_cascades,
        *git_models.owned_by_repositories(registry),
    ]


@hookimpl
def netinv_seed(uow: UnitOfWork) -> None:
    """Writes content types of the API's models, initial statuses, and a row for each installed job."""
    register_vocabulary(uow)
    statuses.seed(uow)
    job_models.refresh(uow)


@hookimpl
def netinv_changes_recorded(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Enqueues runs of the jobs that changes start."""
    job_hooks.enqueue_jobs(uow, changes)


@hookimpl
def netinv_change_effects(uow: UnitOfWork, changes: Sequence[Change]) -> Mapping[str, Effects]:
    """Job hooks whose jobs the changes would run."""
    return {"job_hooks": job_hooks.effects(uow, changes)}


@hookimpl
def netinv_status(uow: UnitOfWork) -> dict[str, Any]:
    """Numbers of pending and running jobs."""
    return {"jobs": job_stats.status(uow)}


@hookimpl
def netinv_metrics(uow: UnitOfWork) -> Iterable[Sample]:
    """Metrics of jobs."""
    return job_stats.samples(uow)


@hookimpl
def netinv_commands() -> dict[str, list[click.Command]]:
    """Commands for jobs and plans."""
    from netinv_extras.jobs.commands import jobs
    from netinv_extras.plans import commands as plan_commands

    return {"netinv": [jobs, plan_commands.plan, plan_commands.apply]}


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Checks of guards, folders, git and config contexts."""
    from netinv_extras import checks

    return checks.findings(engine, registry)


@hookimpl
def netinv_retention(registry: Registry) -> Iterable[Retention]:
    """Plans, and results of jobs with their logs."""
    return [plan_models.retention, job_results.retention]


@hookimpl
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """Tasks that sync Git repositories, find installed jobs, and run due jobs."""
    return [
        Task(git_models.SYNC, _sync, crontab(), run_at_startup=True),
        Task("find_jobs", job_models.refresh_if_changed, crontab(), run_at_startup=True),
        Task(job_results.RUN, _run_jobs, crontab(), run_at_startup=True),
    ]


def _sync(engine: Engine, registry: Registry) -> None:
    """Imports the Git worker on first use, so that a service process does not load it."""
    from netinv_extras.git import worker as git_worker

    git_worker.sync(engine, registry)


def _run_jobs(engine: Engine, registry: Registry) -> None:
    """Imports the job runner on first use, so that a service process does not load it."""
    from netinv_extras.jobs import runner

    runner.run_jobs(engine, registry)


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
