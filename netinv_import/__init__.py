"""Imports from other services, and comparisons with them: the commands ``netinv import`` and ``netinv compare``.

Packages declare how models of another service become their own with the hook ``netinv_importers``
(:mod:`netinv_core.importing.dump`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_import import hookspecs

if TYPE_CHECKING:
    import click

app = App("import", "Imports", hooks=hookspecs, rooted=False, distribution="netinv-import")


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_commands() -> dict[str, Iterable[click.Command]]:
    """Returns the commands ``netinv import`` and ``netinv compare``."""
    from netinv_import import commands, comparing  # local import: only the command line needs them

    return {"netinv": [commands.import_, comparing.compare_services]}
