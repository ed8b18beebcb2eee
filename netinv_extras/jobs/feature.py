"""Feature ``jobs``: job classes, their runs, schedules, approvals, buttons and hooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from huey import crontab
from sqlalchemy.engine import Engine

from netinv_core import settings
from netinv_core.app import Feature
from netinv_core.changelog.guards import ChangeGuard
from netinv_core.changelog.recorder import RelatedInsert
from netinv_core.findings import PROBLEM, Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.http.metrics import Sample
from netinv_core.presentation import MenuSection
from netinv_core.tasks.queue import Task
from netinv_core.tasks.retention import Retention
from netinv_core.write.dry_run import Effects
from netinv_extras.git.sync import ContentKind
from netinv_extras.jobs import buttons, catalog, git_source, hooks, models, results, schedules, stats

if TYPE_CHECKING:
    import click

    from netinv_core.changelog.change_set import Change
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

feature = Feature(
    "jobs",
    "Jobs",
    [
        models.jobs,
        results.job_results,
        results.job_logs,
        schedules.scheduled_jobs,
        hooks.job_hooks,
        buttons.job_buttons,
    ],
    includes=[
        "netinv_extras.jobs.run_views",
        "netinv_extras.jobs.legacy_views",
        "netinv_extras.jobs.results",
        "netinv_extras.jobs.approval_views",
        "netinv_extras.jobs.buttons",
    ],
    web=[
        "netinv_extras.jobs.web.pages",
        "netinv_extras.jobs.web.states",
        "netinv_extras.jobs.web.background",
    ],
    settings={
        "jobs_root": (str, ""),
        "git_jobs": (settings.flag, False),
        "job_processes": (int, 2),
        "job_soft_time_limit": (settings.seconds, 300.0),
        "job_time_limit": (settings.seconds, 600.0),
        "job_result_retention": (settings.count, 90),
        "job_lease": (settings.seconds, 60.0),
    },
    menu=[
        MenuSection(
            "Operations",
            ["jobs", "job-results", "job-logs", "scheduled-jobs", "job-hooks", "job-buttons"],
            icon="queue-list",
            position=701,
        )
    ],
)
git_source.register()


@hookimpl
def netinv_git_content_kinds(registry: Registry) -> Mapping[str, ContentKind]:
    """Jobs."""
    return {models.LABEL: git_source.CONTENT_KIND}


@hookimpl
def netinv_seed(uow: UnitOfWork) -> None:
    """Writes a row for each installed job."""
    models.refresh(uow)


@hookimpl
def netinv_change_guards(registry: Registry) -> Iterable[ChangeGuard]:
    """The conditions of job hooks look at objects before they are changed."""
    return [hooks.judge.guard]


@hookimpl
def netinv_change_inserts(uow: UnitOfWork, changes: Sequence[Change]) -> Iterable[RelatedInsert]:
    """Judges changes by the conditions of job hooks; inserts nothing."""
    hooks.judge_changes(uow, changes)
    return ()


@hookimpl
def netinv_changes_recorded(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Enqueues runs of the jobs that changes start."""
    hooks.enqueue_jobs(uow, changes)


@hookimpl
def netinv_change_effects(uow: UnitOfWork, changes: Sequence[Change]) -> Mapping[str, Effects]:
    """Job hooks whose jobs the changes would run."""
    return {"job_hooks": hooks.effects(uow, changes)}


@hookimpl
def netinv_status(uow: UnitOfWork) -> dict[str, Any]:
    """Numbers of pending and running jobs."""
    return {"jobs": stats.status(uow)}


@hookimpl
def netinv_metrics(uow: UnitOfWork) -> Iterable[Sample]:
    """Metrics of jobs."""
    return stats.samples(uow)


@hookimpl
def netinv_commands() -> dict[str, list[click.Command]]:
    """The command ``jobs``."""
    from netinv_extras.jobs.commands import jobs

    return {"netinv": [jobs]}


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Checks that the folder of local jobs exists, that its files can be imported, and conditions of job hooks."""
    from netinv_extras import checks

    path, found = registry.settings["jobs_root"], [*checks.conditions(engine, registry, hooks.judge)]
    if not path:
        return found
    failed = [
        Finding("jobs", PROBLEM, f"{name} cannot be imported: {reason}", "see `netinv jobs check`")
        for name, reason in catalog.errors_of_folder(registry).items()
    ]
    return [*checks.missing_folders([("jobs_root", path)]), *failed, *found]


@hookimpl
def netinv_retention(registry: Registry) -> Iterable[Retention]:
    """Results of jobs with their logs."""
    return [results.retention]


@hookimpl
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """Tasks that find installed jobs, and run due ones."""
    return [
        Task("find_jobs", models.refresh_if_changed, crontab(), run_at_startup=True),
        Task(results.RUN, _run_jobs, crontab(), run_at_startup=True),
    ]


def _run_jobs(engine: Engine, registry: Registry) -> None:
    """Imports the runner on first use, so that a service process does not load it."""
    from netinv_extras.jobs import runner

    runner.run_jobs(engine, registry)


@hookimpl
def netinv_jobs(registry: Registry) -> Iterable[type]:
    """The job that runs tasks of pages, where there are pages."""
    if not registry.hooks.netinv_web_background.has_spec():
        return []
    from netinv_extras.jobs.web import background

    return [background.RunTask]
