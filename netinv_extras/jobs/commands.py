"""Commands ``netinv jobs list``, ``netinv jobs refresh`` and ``netinv jobs check``."""

from __future__ import annotations

import json
from pathlib import Path

import click
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from netinv_core.command_output import json_option, print_json, table_width
from netinv_core.environment import Environment
from netinv_core.models.base import table_of
from netinv_extras.jobs import catalog
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs.models import Job


@click.group()
def jobs() -> None:
    """Manage the jobs of packages, of the folder `netinv.jobs_root` and of Git repositories."""


@jobs.command("list")
@json_option
@click.pass_obj
def list_jobs(environment: Environment, as_json: bool) -> None:
    """List the jobs, ordered by the paths of their classes."""
    table = table_of(Job)
    output = Table("job", "name", "enabled", "installed", box=None, header_style="")
    names = ("path", "grouping", "name", "enabled", "installed")
    with environment.unit_of_work() as uow:
        rows = uow.execute(sa.select(table).order_by(table.c.path, table.c.id)).mappings().all()
        if as_json:
            print_json({name: row[name] for name in names} for row in rows)
            return
        for row in rows:
            output.add_row(
                row["path"],
                f"{row['grouping']}: {row['name']}",
                *("yes" if row[name] else "no" for name in ("enabled", "installed")),
            )
    Console(width=table_width()).print(output)


@jobs.command()
@click.pass_obj
def refresh(environment: Environment) -> None:
    """Refresh the jobs from the installed classes. Workers do so every minute."""
    with environment.unit_of_work() as uow:
        result = job_models.refresh(uow)
    added, changed, removed = len(result.added), len(result.changed), len(result.removed)
    click.echo(f"{added} added, {changed} changed, {removed} gone")
    for name, reason in catalog.errors_of_folder(environment.registry).items():
        click.echo(f"{name} cannot be imported: {reason}", err=True)


@jobs.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of path, line, what and replacement.")
def check(paths: tuple[Path, ...], as_json: bool) -> None:
    """List the lines of jobs written for Nautobot that have to change.

    The files are read, never executed. The exit code is 1 if any line has to change.
    """
    from netinv_extras.jobs import porting

    found = [file for path in paths for file in porting.files(path)]
    remarks = [remark for file in found for remark in porting.check(file.read_bytes(), str(file))]
    if as_json:
        click.echo(json.dumps([porting.as_json(remark) for remark in remarks], indent=2, ensure_ascii=False))
    else:
        for remark in remarks:
            click.echo(f"{remark.path}:{remark.line}: {remark.what}\n    {remark.replacement}")
        click.echo(f"{len(found)} files: {len(remarks) or 'nothing'} to change")
    if remarks:
        raise click.exceptions.Exit(1)
