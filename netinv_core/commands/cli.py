"""The ``netinv`` command."""

from __future__ import annotations

import functools
from typing import Any

import click
import sqlalchemy as sa

from netinv_core.commands import accounts, files, importing, permissions, rules
from netinv_core.commands import database as database_commands
from netinv_core.commands.environment import Environment
from netinv_core.commands.plugin_group import DEFAULT_INI, VARIABLE, Extensible, packages
from netinv_core.db import availability


class Commands(Extensible):
    """Group of all commands; an error of the database ends any of them with a readable reason."""

    def invoke(self, context: click.Context) -> Any:
        """Runs the command that the command line names."""
        try:
            return super().invoke(context)
        except sa.exc.SQLAlchemyError as error:
            message = availability.start_error(context.obj.engine, error)
            if message is None:
                raise
            raise click.ClickException(message) from None


@click.group("netinv", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "-c",
    "--config",
    default=DEFAULT_INI,
    envvar=VARIABLE,
    show_default=True,
    show_envvar=True,
    metavar="INI",
    help="The service's ini file.",
)
@click.version_option(package_name="netinv-core", prog_name="netinv")
@click.pass_context
def cli(context: click.Context, config: str) -> None:
    """Administer a netinv service: its database, accounts, worker and data.

    The service itself is started with `pserve INI`. A first start:

    \b
      netinv -c production.ini migrate
      netinv -c production.ini user create admin --superuser
      pserve production.ini
    """
    context.obj = Environment(config, functools.partial(packages, context))


for command in (
    database_commands.migrate,
    database_commands.worker,
    database_commands.openapi,
    database_commands.revision,
    rules.rules,
    files.files,
    accounts.user,
    accounts.token,
    permissions.group,
    permissions.permission,
    importing.import_,
):
    cli.add_command(command)
