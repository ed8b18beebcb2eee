"""Groups of commands that packages extend; packages are loaded only when a command is not built in."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import click
import pluggy
from pyramid.paster import get_appsettings

from netinv_core import hookspecs
from netinv_core.app import DISABLED
from netinv_core.environment import DEFAULT_INI, VARIABLE
from netinv_core.ini_files import loader_uri
from netinv_core.packages import PackageError, Packages, discover, errors_of, implementations, reason_of
from netinv_core.settings import before_packages, words

LOADED = f"{__name__} packages"  # begins the key of the packages of a command line


def packages(context: click.Context, plugins_dir: str) -> Packages:
    """Returns the installed packages and those of the plugin folder; loaded once for each command line.

    :raises click.ClickException: when the folder does not exist
    """
    key = f"{LOADED} {plugins_dir}"
    if key not in context.meta:
        try:
            context.meta[key] = discover(plugins_dir)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    found: Packages = context.meta[key]
    return found


def loaded_packages(context: click.Context) -> Packages:
    """The packages that the command line has loaded so far, which may be none."""
    return next((value for key, value in context.meta.items() if key.startswith(LOADED)), ([], []))


def _settings(context: click.Context) -> Mapping[str, str]:
    """Returns the settings of the command line's ini file, none without one, and of the environment."""
    ini = context.find_root().params.get("config") or os.environ.get(VARIABLE, DEFAULT_INI)
    try:
        settings: Mapping[str, str] = get_appsettings(loader_uri(ini))
    except Exception:  # the file is missing or broken, which a command that needs it reports; --help needs none
        settings = {}
    return before_packages(settings, os.environ)


class Extensible(click.Group):
    """Group of commands that packages extend, by the group's name, with the hook ``netinv_commands``."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Returns the names of built-in commands and of those of packages."""
        return sorted(
            {*super().list_commands(context), *[command.name or "" for command in self._package_commands(context)]}
        )

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Returns a command by name; built-in ones come first."""
        built_in = super().get_command(context, name)
        return built_in or next((command for command in self._package_commands(context) if command.name == name), None)

    def _package_commands(self, context: click.Context) -> Iterator[click.Command]:
        settings = _settings(context)
        disabled = words(settings.get(f"netinv.{DISABLED}", ""))
        for name, module in packages(context, settings.get("netinv.plugins_dir", ""))[0]:
            try:
                with errors_of(name):
                    added = _commands_of(name, module, disabled, self.name or "")
            except PackageError as error:
                reason = reason_of(error.__cause__ or error)
                _warn_once(context, name, f"the commands of the package {name} are left out: {reason}")
            else:
                yield from added


def _commands_of(name: str, module: Any, disabled: Collection[str], group: str) -> list[click.Command]:
    """The commands that a package adds to a group.

    :raises TypeError: when its hook returns anything else
    """
    manager = pluggy.PluginManager("netinv")
    manager.add_hookspecs(hookspecs)
    for plugin_name, plugin in implementations(name, module, disabled):
        manager.register(plugin, plugin_name)
    found = [command for commands in reversed(manager.hook.netinv_commands()) for command in commands.get(group, ())]
    for command in found:
        if not isinstance(command, click.Command):
            raise TypeError(f"netinv_commands returns {type(command).__name__} instead of Command")
    return found


def _warn_once(context: click.Context, package: str, message: str) -> None:
    key = f"{__name__} failed {package}"
    if key not in context.meta:
        context.meta[key] = True
        click.echo(f"Warning: {message}", err=True)
