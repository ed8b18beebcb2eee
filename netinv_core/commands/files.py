"""The command on stored files: what a crash or a restored backup left apart from the database."""

from __future__ import annotations

import time
from pathlib import Path

import click
import sqlalchemy as sa

from netinv_core.commands.environment import Environment
from netinv_core.storage.files import stored
from netinv_core.uow import UnitOfWork

DAY = 24 * 60 * 60


@click.command()
@click.option("--remove", is_flag=True, help="Delete the files that nothing names and that are older than a day.")
@click.pass_obj
def files(environment: Environment, remove: bool) -> None:
    """Compare the stored files with the database.

    Lists files that nothing in the inventory names (a process that was killed in the middle of a request leaves such a file), and
    files that are named and not there (a backup without the folder, say). Exits with 1 when some are missing.
    """
    root = Path(environment.settings["media_root"])
    with environment.unit_of_work() as uow:
        kept = dict(stored(root))  # before the names: what is written meanwhile is not taken for left over
        named = _named(uow)
    for name in sorted(named - kept.keys()):
        click.secho(f"missing  {name}", fg="red")
    left = sorted(name for name, written in kept.items() if name not in named and written < time.time() - DAY)
    for name in left:
        click.echo(f"unnamed  {name}")
        if remove:
            (root / name).unlink(missing_ok=True)
    click.echo(f"{len(kept)} files; {len(left)} that nothing names{', removed' if remove and left else ''}; {len(named - kept.keys())} missing")
    raise SystemExit(1 if named - kept.keys() else 0)


def _named(uow: UnitOfWork) -> set[str]:
    """The names of all files that rows name."""
    found: set[str] = set()
    for endpoint in uow.registry.endpoints.values():
        for field in endpoint.uploads.values():
            column = endpoint.table.c[field.attribute]
            found.update(uow.execute(sa.select(column).where(column.is_not(None))).scalars())
    return found
