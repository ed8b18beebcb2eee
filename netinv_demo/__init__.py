"""Demo inventory: a made-up company, for trials and benchmarks. Contributes the command ``netinv demo`` and a job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl

if TYPE_CHECKING:
    import click

    from netinv_core.registry import Registry


@hookimpl
def netinv_commands() -> dict[str, Iterable[click.Command]]:
    """Returns the command ``netinv demo``."""
    from netinv_demo import commands  # local import: only the command line needs it

    return {"netinv": [commands.demo]}


@hookimpl
def netinv_jobs(registry: Registry) -> Iterable[type]:
    """Returns the job that does the same as the command."""
    from netinv_demo.jobs import LoadDemoInventory  # local import: only processes that run or list jobs need it

    return [LoadDemoInventory]


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """Returns the module with the button that loads the inventory."""
    return ["netinv_demo.web.loading"]


@hookimpl
def netinv_web_first_steps(request: Any) -> Iterable[Any]:
    """Returns the button that loads the inventory."""
    from netinv_demo.web import loading  # local import: only the web interface needs it

    return loading.first_steps(request)
