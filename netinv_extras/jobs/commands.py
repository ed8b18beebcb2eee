"""Commands for jobs: which there are, and finding them anew."""

from __future__ import annotations

import click
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from netinv_core.commands.environment import Environment
from netinv_core.models.base import table_of
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.models import Job


@click.group()
def jobs() -> None:
    """See to the jobs that packages, the folder `netinv.jobs_root` and Git repositories bring."""


@jobs.command("list")
@click.pass_obj
def list_jobs(environment: Environment) -> None:
    """List the jobs, by the paths of their classes."""
    table = table_of(Job)
    shown = Table("job", "name", "enabled", "installed", box=None, header_style="")
    with environment.unit_of_work() as uow:
        for row in uow.execute(sa.select(table).order_by(table.c.path, table.c.id)).mappings():
            shown.add_row(
                row["path"],
                f"{row['grouping']}: {row['name']}",
                *("yes" if row[name] else "no" for name in ("enabled", "installed")),
            )
    Console().print(shown)


@jobs.command()
@click.pass_obj
def refresh(environment: Environment) -> None:
    """Find the classes of jobs anew. Workers do so by themselves, within a minute."""
    with environment.unit_of_work() as uow:
        found = job_models.refresh(uow)
    click.echo(f"{len(found.added)} added, {len(found.changed)} changed, {len(found.gone)} gone")
