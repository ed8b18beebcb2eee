"""A command: the windows that are active."""

from __future__ import annotations

from typing import Any

import click

from netinv_core import listing

WINDOWS = "example.maintenancewindow"


@click.command("maintenance")
@click.pass_obj
def maintenance(environment: Any) -> None:
    """List the maintenance windows that are active."""
    with environment.unit_of_work() as uow:
        active = [("active_at", [uow.now.isoformat()])]
        found = listing.list_page(uow, uow.registry[WINDOWS], active, listing.Slice(limit=0, offset=0))
        for window in found.results:
            click.echo(f"{window['site']['name']}: {window['name']}, until {window['end']:%Y-%m-%d %H:%M}")
