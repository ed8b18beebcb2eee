"""Commands for the database, the worker and migrations."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING

import alembic.util
import click
import sqlalchemy as sa

from netinv_admin import migrate as migrating
from netinv_core import start_check
from netinv_core.db import availability, revisions
from netinv_core.environment import Environment
from netinv_core.packages import apps_of, reason_of
from netinv_core.tasks import queue as task_queue

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.db.revisions import Revisions


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when revisions are missing.")
@click.option("--plan", is_flag=True, help="Change nothing; list the missing revisions in their order.")
@click.option("--remove", metavar="APP", help="Drop the tables of the application APP before uninstalling its package.")
@click.pass_obj
def migrate(environment: Environment, check: bool, plan: bool, remove: str | None) -> None:
    """Migrate the database to the revisions of the installed packages.

    Applies missing revisions, one branch for each package, and inserts the initial rows. Repeating it changes nothing.
    Run it after installing or upgrading packages, before starting the service. If it is broken off, run it again: it
    goes on where it was. Of several runs at once one migrates, and the others wait.
    """
    if remove is not None:
        _remove(environment, remove)
        return
    found = _compare(environment)
    if check:
        if found.missing:
            click.echo(f"revisions are missing: {', '.join(found.missing)}")
        elif not found.unknown:
            click.echo("the database is up to date")
        raise SystemExit(1 if found.missing or found.unknown else 0)
    if plan:
        for revision, text in migrating.plan_revisions(environment.engine, environment.registry):
            click.echo(f"{revision}  {text}")
        return
    apply_migrations(environment)


def _compare(environment: Environment) -> Revisions:
    """Compares the revisions of the database with those of the installed packages.

    :raises click.ClickException: for a database that is newer than the built-in applications; newer tables of plugins
        are told, and left as they are
    """
    registry, engine = environment.registry, environment.engine
    found = revisions.revisions(engine, registry)
    for app in revisions.sort_apps(registry):
        if unknown := found.unknown_of[revisions.label(app)]:
            if not registry.is_plugin(registry.packages[app.name]):
                raise click.ClickException(start_check.newer(engine.url.render_as_string(), found.unknown))
            click.secho(revisions.newer(app, unknown), fg="red", err=True)
    return found


def apply_migrations(environment: Environment) -> None:
    """Applies the missing revisions, and names each of them.

    :raises click.ClickException: with the reason why the migration stopped
    """
    missing = _compare(environment).missing
    for item in environment.registry.broken:
        message = f"{item.name} ({item.distribution}) does not load and is left out: {item.reason}"
        click.secho(message, fg="red", err=True)
    engine, url = environment.engine, environment.engine.url.render_as_string()
    with _stopped_with_reason():
        try:
            migrating.upgrade(
                engine,
                environment.registry,
                lambda revision: click.echo(f"applied {revision}"),
                environment.registry_without,
            )
        except migrating.PluginsStopped as error:
            click.echo(f"migrated {url} without {', '.join(error.failures)}, which the service leaves out")
            raise
    click.echo(f"migrated {url}: {', '.join(missing) or 'nothing was missing'}")


@contextlib.contextmanager
def _stopped_with_reason() -> Iterator[None]:
    """Context manager of a migration, whose errors say what stopped it, and how to go on.

    :raises click.ClickException: for rows that a constraint forbids, and errors of migrations and of the database
    """
    try:
        yield
    except Exception as error:
        is_away = isinstance(error, sa.exc.DBAPIError) and availability.is_away(error)
        reason = None if is_away else _reason(error)
        if reason is None:
            raise
        if click.get_current_context().find_root().params.get("traceback"):
            for failure in error.failures.values() if isinstance(error, migrating.PluginsStopped) else [error]:
                traceback.print_exception(failure)
        raise click.ClickException(reason) from None


def _reason(error: BaseException) -> str | None:
    """Sentence about a migration that stopped; ``None`` for an error of something else."""
    if isinstance(error, migrating.PluginsStopped):
        return "\n".join(
            _reason(failure) or f"the initial rows of the package {package} are not written: {reason_of(failure)}"
            for package, failure in error.failures.items()
        )
    stopped = [*getattr(error, "__notes__", ())]  # of netinv_admin.migrate
    if isinstance(error, sa.exc.DBAPIError):
        stopped, reason = stopped or ["the migration stopped"], availability.reason(error)
    elif isinstance(error, alembic.util.CommandError) or type(error) is LookupError:
        reason = " ".join(str(error).split())
    elif stopped:
        reason = reason_of(error)
    else:
        return None
    advice = ". Remove the cause, and run it again: it goes on where it stopped" if stopped else ""
    return ": ".join([*stopped, reason]) + advice


def _app(environment: Environment, name: str, *, quarantined: bool = False) -> App:
    """Returns an application by name, also one that is ``quarantined``.

    :raises click.ClickException: for an unknown name
    """
    apps = dict(environment.registry.apps)
    if quarantined:
        apps = {app.name: app for app in apps_of(environment.packages[0]).values()} | apps
    if name not in apps:
        raise click.ClickException(f"no application is called {name!r}; there are {', '.join(apps)}")
    return apps[name]


def _remove(environment: Environment, name: str) -> None:
    app = _app(environment, name, quarantined=True)
    with _stopped_with_reason():
        tables = migrating.remove(environment.engine, environment.registry, app)
    click.echo(f"removed the tables of {name} ({', '.join(tables) or 'it had none'}); now uninstall its package")


@click.command()
@click.argument("ini", required=False)
@click.option("--threads", default=task_queue.THREADS, show_default=True, help="Number of tasks to run at once.")
@click.pass_context
def worker(context: click.Context, ini: str | None, threads: int) -> None:
    """Run background tasks until stopped.

    Takes tasks from the queue of the setting `netinv.queue_url`. Any number of workers may run on any number of
    machines. The settings are read from INI, as for `pserve INI`, or from the file of `netinv -c`.
    """
    root = context.find_root()
    if ini is not None:
        root.obj = Environment(ini, root.obj.discover)
    environment: Environment = root.obj
    huey = environment.worker_queue()
    click.echo(f"working on {environment.settings['queue_url']}; stop with Ctrl-C")
    huey.create_consumer(workers=threads, worker_type="thread").run()


@click.command()
@click.argument("app")
@click.option("-m", "--message", required=True, help="Short description of the revision.")
@click.pass_obj
def revision(environment: Environment, app: str, message: str) -> None:
    """Write a migration of the application APP after a change of its models.

    Compares the models with the database, which must be migrated, and writes the difference to the package's folder of
    revisions. Review the file before you commit it.
    """
    application = _app(environment, app)
    start_check.check(environment.engine, environment.registry, environment.ini)
    try:
        path, notes = migrating.revision(environment.engine, environment.registry, application, message)
    except LookupError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"wrote {path}")
    for note in notes:
        click.secho(note, fg="yellow", err=True)
