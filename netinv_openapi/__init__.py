"""OpenAPI documents of the API, its interactive documentation, and the command ``netinv openapi``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl

if TYPE_CHECKING:
    import click

app = App(
    "openapi",
    "OpenAPI",
    includes=["netinv_openapi.filterset_views", "netinv_openapi.views"],
    rooted=False,
    distribution="netinv-openapi",
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_commands() -> dict[str, Iterable[click.Command]]:
    """Returns the command ``netinv openapi``."""
    from netinv_openapi.commands import openapi  # local import: only the command line needs it

    return {"netinv": [openapi]}
