"""Command ``netinv secret``: the encryption of stored values."""

from __future__ import annotations

from pathlib import Path

import click

from netinv_core import start_check
from netinv_core.auth import stored_secrets
from netinv_core.environment import Environment
from netinv_core.settings import SHORTEST_SECRET


def _read(path: Path) -> str:
    """The secret in a file.

    :raises click.ClickException: when the file holds none
    """
    try:
        text = path.read_text().strip()
    except (OSError, ValueError):
        text = ""
    if len(text) < SHORTEST_SECRET:
        raise click.ClickException(f"{path} does not hold a secret: a text of at least {SHORTEST_SECRET} characters")
    return text


@click.group()
def secret() -> None:
    """Change the secret that stored values are encrypted with."""


@secret.command()
@click.option(
    "--old",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file with the former secret.",
)
@click.option("--discard-unreadable", is_flag=True, help="Clear values that neither secret decrypts.")
@click.pass_obj
def rotate(environment: Environment, old: Path | None, discard_unreadable: bool) -> None:
    """Encrypt all stored values with the secret of the ini file.

    Stop services and workers first: they would write with the former secret. The command can be interrupted and
    repeated. Exits with 1 when values remain that neither secret decrypts.
    """
    if old is None and not discard_unreadable:
        raise click.UsageError("name the file with the former secret (--old), or give --discard-unreadable")
    new = environment.settings["secret"]
    former = _read(old) if old is not None else new
    start_check.check_revisions(environment.engine, environment.registry, environment.ini)
    remaining = 0
    for column in stored_secrets.rotate(environment.engine, former, new, discard=discard_unreadable):
        cleared = "cleared" if discard_unreadable else "unreadable"
        counts = f"{column.changed} encrypted anew, {column.unchanged} unchanged, {column.unreadable} {cleared}"
        click.echo(f"{column.column}: {counts}")
        remaining += 0 if discard_unreadable else column.unreadable
    if remaining:
        message = f"neither secret decrypts {remaining} values; name another file, or give --discard-unreadable"
        raise click.ClickException(message)
