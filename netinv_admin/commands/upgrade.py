"""Command ``netinv upgrade``: check, backup, migration and check in one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from netinv_admin.checks import MissingMigrations
from netinv_admin.commands import backup, check, database
from netinv_core import start_check
from netinv_core.db import revisions
from netinv_core.environment import Environment
from netinv_core.findings import PROBLEM


@click.command()
@click.option(
    "--backup", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the backup to this new file."
)
@click.option("--no-backup", is_flag=True, help="Make no backup: there is one of another kind.")
@click.pass_obj
def upgrade(environment: Environment, file: Path | None, no_backup: bool) -> None:
    """Upgrade the database to the installed packages: check, back up, migrate, check again.

    Stop services and workers first. Stops before anything is changed if the check finds a problem, or the backup cannot
    be written. Changes nothing when no migration is missing.
    """
    if (file is None) == (not no_backup):
        raise click.UsageError("name the file of the backup with --backup FILE, or say --no-backup")
    missing = _check(environment)
    if not missing:
        click.echo("nothing to upgrade: the database has all migrations of the installed packages")
        return
    if file is not None:
        backup.write_backup(environment, file)
    try:
        database.apply_migrations(environment)
    except click.ClickException as error:
        raise click.ClickException(f"{error.message}{_way_back(environment, file)}") from None
    found = check.findings_of(environment)
    check.show(found)
    if any(finding.level == PROBLEM for finding in found):
        raise click.ClickException(f"the upgraded installation has problems{_way_back(environment, file)}")


def _check(environment: Environment) -> Sequence[str]:
    """The missing revisions, after a check that nothing else is wrong.

    :raises click.ClickException: for a problem
    """
    found = check.findings_of(environment)
    others = [finding for finding in found if finding.level == PROBLEM and not isinstance(finding, MissingMigrations)]
    if others:
        check.show(others)
        raise click.ClickException("nothing was changed: solve these problems first")
    return revisions.pending_heads(environment.engine, environment.registry)


def _way_back(environment: Environment, file: Path | None) -> str:
    """The sentence about going back to the former release."""
    if file is None:
        return ""
    command = f"{start_check.command(environment.ini)} restore {file}"
    return (
        "; to go back instead, install the former release, name an empty database in netinv.database_url, "
        f"and run `{command}`"
    )
