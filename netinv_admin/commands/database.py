"""Commands for the database, the worker and migrations."""

from __future__ import annotations

import click

from netinv_core.db import migrate as migrating
from netinv_core.db import revisions
from netinv_core.environment import Environment
from netinv_core.tasks import queue as task_queue
from netinv_core.types import App


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when revisions are missing.")
@click.option("--remove", metavar="APP", help="Drop the tables of the application APP before uninstalling its package.")
@click.pass_obj
def migrate(environment: Environment, check: bool, remove: str | None) -> None:
    """Migrate the database to the revisions of the installed packages.

    Applies missing revisions, one branch for each package, and inserts the initial rows. Repeating it changes nothing.
    Run it after installing or upgrading packages, before starting the service.
    """
    if remove is not None:
        _remove(environment, remove)
        return
    missing = revisions.pending(environment.engine, environment.registry)
    if check:
        click.echo("the database is up to date" if not missing else f"revisions are missing: {', '.join(missing)}")
        raise SystemExit(1 if missing else 0)
    for item in environment.registry.broken:
        message = f"{item.name} ({item.distribution}) does not load and is left out: {item.reason}"
        click.secho(message, fg="red", err=True)
    try:
        migrating.upgrade(environment.engine, environment.registry)
    except LookupError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"migrated {environment.engine.url.render_as_string()}: {', '.join(missing) or 'nothing was missing'}")


def _app(environment: Environment, name: str) -> App:
    """Returns an application by name.

    :raises click.ClickException: for an unknown name
    """
    apps = environment.registry.apps
    if name not in apps:
        raise click.ClickException(f"no application is called {name!r}; there are {', '.join(apps)}")
    return apps[name]


def _remove(environment: Environment, name: str) -> None:
    app = _app(environment, name)
    try:
        migrating.remove(environment.engine, environment.registry, app)
    except LookupError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"removed the tables of {name}; now uninstall its package")


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
    try:
        path = migrating.revision(environment.checked_engine, environment.registry, application, message)
    except LookupError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"wrote {path}")
