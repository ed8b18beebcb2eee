"""Command that compares stored files with the database, after a crash or a restored backup."""

from __future__ import annotations

import time
from pathlib import Path

import click

from netinv_core.backups.writing import referenced_files
from netinv_core.environment import Environment
from netinv_core.models.base import Base
from netinv_core.storage.files import list_files

MIN_AGE_SECONDS = 24 * 60 * 60  # of files to report as unnamed: younger ones may belong to a running request


@click.command()
@click.option("--remove", is_flag=True, help="Delete unnamed files that are older than a day.")
@click.pass_obj
def files(environment: Environment, remove: bool) -> None:
    """Compare the stored files with the database.

    Lists unnamed files: no row of the database refers to them, as after a process was killed during a request. Lists
    missing files: a row refers to them, as after a backup without the folder. Exits with 1 when files are missing.
    """
    root = Path(environment.settings["media_root"])
    with environment.unit_of_work() as uow:
        written_at = dict(list_files(root))  # read before the names: a file written meanwhile does not count as unnamed
        named = referenced_files(uow.connection, uow.registry, Base.metadata.tables)
    missing = sorted(named - written_at.keys())
    for name in missing:
        click.secho(f"missing  {name}", fg="red")
    latest = time.time() - MIN_AGE_SECONDS
    unnamed = sorted(name for name, written in written_at.items() if name not in named and written < latest)
    for name in unnamed:
        click.echo(f"unnamed  {name}")
        if remove:
            (root / name).unlink(missing_ok=True)
    removed = ", removed" if remove and unnamed else ""
    click.echo(f"{len(written_at)} files; {len(unnamed)} that nothing names{removed}; {len(missing)} missing")
    raise SystemExit(1 if missing else 0)
