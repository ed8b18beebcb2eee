"""Groups of commands that packages add to: what is built in is found first, and packages are loaded only when it is not enough."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pluggy

from netinv_core import hookspecs
from netinv_core.app import Packages, discover


def packages(context: click.Context) -> Packages:
    """The installed packages, loaded once for a command line: one that does not load says another thing the second time."""
    found: Packages = context.meta.setdefault(__name__, ()) or discover()
    context.meta[__name__] = found
    return found


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
        for name, module in packages(context)[0]:
            manager.register(module, name)
        for found in reversed(manager.hook.netinv_commands()):
            yield from found.get(self.name or "", ())
