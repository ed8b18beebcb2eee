"""Command that runs the service: what stops its start is one line with the remedy, in place of a traceback."""

from __future__ import annotations

import click

from netinv_core import ini_files
from netinv_core.environment import Environment
from netinv_core.telemetry import log_context


@click.command()
@click.argument("arguments", nargs=-1, metavar="[INI] [NAME=VALUE]...")
@click.pass_obj
def serve(environment: Environment, arguments: tuple[str, ...]) -> None:
    """Run the service until stopped.

    Serves the application of INI by the server of its [server:main], as `pserve INI` does; without INI, those of the
    file of `netinv -c`. NAME=VALUE is a value for %(NAME)s in the file; port=8001 serves at another port.
    """
    ini, options = _parse_arguments(arguments)
    environment = environment if ini is None else Environment(ini)
    environment.read_ini(options)
    ini_files.set_up_logging(environment.ini, options)
    token = log_context.enter(None)  # the lines of a service are those of no command
    try:
        server = ini_files.server(environment.ini, options)
        server(ini_files.application(environment.ini, options))
    except SystemExit as end:
        if not isinstance(end.code, str):
            raise
        raise click.ClickException(end.code) from None
    finally:
        log_context.leave(token)


def _parse_arguments(arguments: tuple[str, ...]) -> tuple[str | None, dict[str, str]]:
    """The ini file and the values of the arguments.

    :raises click.UsageError: for a further file
    """
    options: dict[str, str] = {}
    ini = None
    for argument in arguments:
        name, is_value, value = argument.partition("=")
        if is_value:
            options[name] = value
        elif ini is None:
            ini = argument
        else:
            raise click.UsageError(f"{argument!r} is a second ini file; values are written as NAME=VALUE")
    return ini, options
