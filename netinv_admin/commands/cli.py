"""The ``netinv`` command."""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
from typing import Any

import click

from netinv_admin.commands import (
    accounts,
    backup,
    check,
    deploy,
    files,
    permissions,
    plugins,
    rules,
    secret,
    serve,
    upgrade,
    upkeep,
)
from netinv_admin.commands import database as database_commands
from netinv_admin.commands.plugin_group import Extensible, packages
from netinv_admin.commands.readable_errors import readable_errors
from netinv_core import shared_state
from netinv_core.environment import DEFAULT_INI, VARIABLE, Environment
from netinv_core.telemetry import log_context


class Commands(Extensible):
    """Group of all commands; an error of any of them is one line, JSON with ``--json``, and an exit code."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parses the options of the command line."""
        with readable_errors(parent):
            return super().make_context(info_name, args, parent, **extra)

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Runs a command line, and ends the process where threads of packages would keep it from ending."""
        try:
            return super().main(*arguments, **options)
        except SystemExit as end:
            if any(thread.is_alive() for thread in shared_state.unended):
                logging.shutdown()
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(end.code if isinstance(end.code, int) else bool(end.code))
            raise

    def invoke(self, context: click.Context) -> Any:
        """Runs the command that the command line names."""
        prints_json = "--json" in context.args
        try:
            with readable_errors(context), log_context.task("command"):
                return super().invoke(context)
        except click.ClickException as error:
            if not prints_json:
                raise
            click.echo(json.dumps({"error": error.format_message()}, ensure_ascii=False))
            context.exit(error.exit_code)


@click.group("netinv", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "-c",
    "--config",
    default=DEFAULT_INI,
    envvar=VARIABLE,
    show_default=True,
    show_envvar=True,
    metavar="INI",
    is_eager=True,  # before --help, which lists the commands of its plugins
    help="The service's ini file.",
)
@click.option("--traceback", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="netinv-core", prog_name="netinv")
@click.pass_context
def cli(context: click.Context, config: str, traceback: bool) -> None:
    """Administer a netinv service: its database, accounts, worker and data.

    A first start:

    \b
      netinv -c production.ini migrate
      netinv -c production.ini user create admin --superuser
      netinv serve production.ini
    """
    context.obj = Environment(config, functools.partial(packages, context))


for command in (
    database_commands.migrate,
    upgrade.upgrade,
    serve.serve,
    database_commands.worker,
    database_commands.revision,
    check.check,
    deploy.deploy,
    rules.rules,
    files.files,
    accounts.user,
    accounts.token,
    permissions.group,
    permissions.permission,
    plugins.plugin,
    secret.secret,
    backup.backup,
    backup.restore,
    upkeep.upkeep,
):
    cli.add_command(command)
