"""Commands ``netinv jobs list`` and ``netinv jobs refresh``."""

from __future__ import annotations

import click
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from netinv_core.environment import Environment
from netinv_core.models.base import table_of
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.models import Job


@click.group()
def jobs() -> None:
    """Manage the jobs of packages, of the folder `netinv.jobs_root` and of Git repositories."""


@jobs.command("list")
@click.pass_obj
def list_jobs(environment: Environment) -> None:
    """List the jobs, ordered by the paths of their classes."""
    table = table_of(Job)
    output = Table("job", "name", "enabled", "installed", box=None, header_style="")
    with environment.unit_of_work() as uow:
        for row in uow.execute(sa.select(table).order_by(table.c.path, table.c.id)).mappings():
            output.add_row(
                row["path"],
                f"{row['grouping']}: {row['name']}",
                *("yes" if row[name] else "no" for name in ("enabled", "installed")),
            )
    Console().print(output)


@jobs.command()
@click.pass_obj
def refresh(environment: Environment) -> None:
    """Refresh the jobs from the installed classes. Workers do so every minute."""
    with environment.unit_of_work() as uow:
        result = job_models.refresh(uow)
    added, changed, removed = len(result.added), len(result.changed), len(result.removed)
    click.echo(f"{added} added, {changed} changed, {removed} gone")
