"""The Model Context Protocol at ``/mcp/``: agents read the inventory and propose changes (docs/agents.md).

The SDK ``mcp`` is imported only where ``netinv.mcp`` is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.settings import SettingDefinitions, flag, positive, words

if TYPE_CHECKING:
    import click

NAME = "mcp"

settings: SettingDefinitions = {
    "mcp": (flag, False),
    "mcp_answer_size": (positive, 40_000),
    "mcp_origins": (words, ()),
}
app = App(
    NAME,
    "Model Context Protocol",
    settings=settings,
    includes=["netinv_mcp.endpoint"],
    rooted=False,
    program_paths=["/mcp/"],
    distribution="netinv-mcp",
    description="Agents read the inventory and propose changes",
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app


@hookimpl
def netinv_commands() -> dict[str, list[click.Command]]:
    """The command ``mcp``."""
    from netinv_mcp.stdio import mcp

    return {"netinv": [mcp]}
