"""Command ``netinv upkeep``: deletes what is kept for a limited time."""

from __future__ import annotations

import click

from netinv_core import upkeep as upkeeping
from netinv_core.environment import Environment


@click.command()
@click.option("--dry-run", is_flag=True, help="Delete nothing; print how many rows would be deleted.")
@click.pass_obj
def upkeep(environment: Environment, dry_run: bool) -> None:
    """Delete change records, deliveries, sessions and other rows that are older than the settings say.

    Workers do so once an hour. Prints the number of deleted rows of each table.
    """
    engine, registry = environment.checked_engine, environment.registry
    done = upkeeping.counts(engine, registry) if dry_run else upkeeping.run(engine, registry)
    total = 0
    try:
        for table, count in done:
            click.echo(f"{count:10}  {table}")
            total += count
    except upkeeping.Busy:
        raise click.ClickException("another process does the upkeep") from None
    click.echo(f"{total:10}  rows {'would be ' if dry_run else ''}deleted")
