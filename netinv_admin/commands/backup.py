"""Commands ``netinv backup`` and ``netinv restore``."""

from __future__ import annotations

from pathlib import Path

import click

from netinv_admin import restore as restoring
from netinv_core import start_check
from netinv_core.auth.audit import audit
from netinv_core.backups import writing as backups
from netinv_core.backups.archive import ArchiveError
from netinv_core.db import revisions
from netinv_core.environment import Environment


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--leave-out", is_flag=True, help="Leave out tables that belong to no installed package.")
@click.pass_obj
def backup(environment: Environment, file: Path, leave_out: bool) -> None:
    """Write the database and the uploaded files to FILE, while the service runs.

    FILE can be restored to any kind of database, also by a later release. It does not contain `netinv.secret`: keep
    that in another place. With a secret that decrypts nothing of what is stored, FILE is marked so.
    """
    write_backup(environment, file, leave_out=leave_out)


def write_backup(environment: Environment, file: Path, *, leave_out: bool = False) -> None:
    """Writes a backup, of a database that may lack revisions of the installed packages, and says what it holds.

    :raises click.ClickException: when the file exists, or the database has tables of no installed package
    """
    engine, registry = environment.engine, environment.registry
    found = revisions.revisions(engine, registry)
    if found.unknown or not found.applied.get("core"):
        start_check.check_revisions(engine, registry, environment.ini)
    others = backups.left_out(engine, registry)
    if others and not leave_out:
        message = (
            f"these tables belong to no installed package: {', '.join(others)}; --leave-out makes a backup without"
        )
        raise click.ClickException(message)
    try:
        done = backups.write(file, engine, registry)
    except ArchiveError as error:
        raise click.ClickException(str(error)) from None
    for name in done.missing:
        click.secho(f"a row names the file {name}, which does not exist", fg="yellow", err=True)
    if not done.has_secret:
        message = (
            "netinv.secret decrypts nothing of what is stored, and the backup is marked so: keep the secret that was "
            "used before, or webhook secrets and tokens in it are lost"
        )
        click.secho(message, fg="yellow", err=True)
    size = file.stat().st_size / 2**20
    audit("backup.created", file=str(file))
    click.echo(
        f"wrote {file}: {sum(done.rows.values())} rows of {len(done.rows)} tables, {done.files} files, {size:.1f} MiB"
    )


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Delete what the database and the folder of files hold.")
@click.option("--any-secret", is_flag=True, help="Accept a backup that was made with another netinv.secret.")
@click.option("--check", is_flag=True, help="Only compare the digests of FILE, and whether it fits; change nothing.")
@click.pass_obj
def restore(environment: Environment, file: Path, replace: bool, any_secret: bool, check: bool) -> None:
    """Restore FILE, a backup, to the database and the folder of files that the settings name.

    Stop services and workers first. Creates the tables in an empty database. The database may be of another kind than
    that of the backup. A backup of an older release is restored to a database without tables, and migrated then.
    """
    registry = environment.registry
    options = restoring.Options(replace=replace, any_secret=any_secret)
    try:
        if check:
            manifest = restoring.examine(file, registry, options)
        else:
            manifest = restoring.restore(file, environment.engine, registry, options)
    except ArchiveError as error:
        raise click.ClickException(str(error)) from None
    rows = sum(entry["rows"] for entry in manifest.tables.values())
    counts = f"{rows} rows of {len(manifest.tables)} tables, {len(manifest.files)} files"
    origin = f"made {manifest.created} on {manifest.database}"
    if not check:
        audit("backup.restored", file=str(file))
    click.echo(f"{file} is whole and fits: {counts}, {origin}" if check else f"restored {file}: {counts}, {origin}")
