"""Commands for authors of plugins."""

from __future__ import annotations

from pathlib import Path

import click

from netinv_admin.new_plugin import NewPlugin, check_names, write
from netinv_core.command_output import with_number
from netinv_core.environment import Environment
from netinv_core.packages import apps_of

NEXT = """
Next:

  cd {folder}
  pip install -e ".[test]"
  pytest
"""


@click.group()
def plugin() -> None:
    """Write plugins."""


@plugin.command("new")
@click.argument("name")
@click.option("--model", default="Item", show_default=True, help="The class of its first model, such as CableLabel.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the project, by default netinv-NAME.",
)
@click.pass_obj
def new(environment: Environment, name: str, model: str, folder: Path | None) -> None:
    """Write the project of a plugin, with the application NAME.

    It is a distribution with a model that belongs to sites, its migration, its pages, tests and a workflow for
    continuous integration. Its tests pass at once. Needs no ini file.
    """
    project = NewPlugin(name, model)
    modules, broken = environment.discover("")
    installed = {*apps_of(modules), *(app.name for app in apps_of(modules).values()), *(item.name for item in broken)}
    try:
        check_names(project, installed)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    folder = folder or Path(project.distribution)
    try:
        written = write(project, folder)
    except FileExistsError:
        raise click.ClickException(f"{folder} exists already: choose another folder with --folder") from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {with_number(len(written), 'file')} to {folder}")
    click.echo(NEXT.format(folder=folder), nl=False)
