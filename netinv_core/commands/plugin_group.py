"""Groups of commands that packages add to: what is built in is found first, and packages are loaded only when it is not enough."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pluggy
from pyramid.paster import get_appsettings

from netinv_core import hookspecs
from netinv_core.packages import Packages, discover

VARIABLE = "NETINV_INI"  # environment variable that names the ini file
DEFAULT_INI = "development.ini"


def packages(context: click.Context, plugins_dir: str) -> Packages:
    """The installed packages, with those of the folder of plugins. Loaded once for a command line, as is the log of those that fail.

    :raises click.ClickException: when there is no such folder
    """
    key = f"{__name__} {plugins_dir}"
    if key not in context.meta:
        try:
            context.meta[key] = discover(plugins_dir)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    loaded: Packages = context.meta[key]
    return loaded


def _plugins_dir(context: click.Context) -> str:
    """The folder of plugins that the ini file of the command line names; blank without one."""
    ini = context.find_root().params.get("config") or os.environ.get(VARIABLE, DEFAULT_INI)
    if not Path(ini.partition("#")[0]).is_file():
        return ""
    return get_appsettings(ini).get("netinv.plugins_dir", "")


class Extensible(click.Group):
    """A group of commands that packages add to, by the group's name, with the hook ``netinv_commands``."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The names of its own commands and of those that packages add."""
        return sorted({*super().list_commands(context), *[command.name or "" for command in self._added(context)]})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """A command by name; its own stand before those of packages."""
        return super().get_command(context, name) or next((command for command in self._added(context) if command.name == name), None)

    def _added(self, context: click.Context) -> Iterator[click.Command]:
        manager = pluggy.PluginManager("netinv")
        manager.add_hookspecs(hookspecs)
        for name, module in packages(context, _plugins_dir(context))[0]:
            manager.register(module, name)
        for found in reversed(manager.hook.netinv_commands()):
            yield from found.get(self.name or "", ())
