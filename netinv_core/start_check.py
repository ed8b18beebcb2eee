"""Check of a database before a service, a worker or a command uses it: its migrations and its secret must fit.

Rows that the service needs are added where they are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.engine import Engine

from netinv_core import needed_rows
from netinv_core.auth import stored_secrets
from netinv_core.db import revisions
from netinv_core.db.revisions import SHOWN

if TYPE_CHECKING:
    from netinv_core.registry import Registry

MIGRATIONS = "migrations"  # name of the check


class UnusableDatabase(Exception):
    """A database that the installed packages cannot work on, with the reason and the remedy in one line."""


def check(engine: Engine, registry: Registry, ini: str = "") -> None:
    """Compares the database with the installed packages and the secret, and adds the rows that it lacks.

    :param ini: path of the ini file, for the command in the message
    :raises UnusableDatabase: when it lacks migrations, is newer, or was encrypted with another ``netinv.secret``
    """
    check_revisions(engine, registry, ini)
    with engine.connect() as connection:
        found = stored_secrets.readability(connection, registry.settings["secret"])
    if found.is_other_secret:
        raise UnusableDatabase(f"{other_secret(found)}; {secret_remedy(ini)}")
    needed_rows.restore(engine, registry)


def check_revisions(engine: Engine, registry: Registry, ini: str = "") -> None:
    """Compares the migrations of the database with those of the installed packages.

    :raises UnusableDatabase: when it lacks some, or has others
    """
    found, name = revisions.revisions(engine, registry), engine.url.render_as_string()
    if found.unknown:
        raise UnusableDatabase(newer(name, found.unknown))
    if found.missing and not found.applied.get("core"):
        raise UnusableDatabase(f"the database {name} has no tables of netinv yet; run `{command(ini)} migrate` first")
    if found.missing:
        raise UnusableDatabase(f"{lacking_migrations(name, found.missing)}; run `{command(ini)} migrate` first")


def command(ini: str) -> str:
    """The command line of ``netinv`` for an ini file."""
    return f"netinv -c {ini}" if ini else "netinv"


def lacking_migrations(name: str, missing: list[str]) -> str:
    """A sentence about missing migrations."""
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    return f"the database {name} lacks migrations: {', '.join(missing[:SHOWN])}{more}"


def newer(name: str, unknown: list[str]) -> str:
    """A sentence about migrations that no installed package has, with the remedy."""
    return (
        f"the database {name} is newer than the installed packages, which do not have its migrations "
        f"{', '.join(unknown[:SHOWN])}; install the release that made them, or restore a backup of this one"
    )


def other_secret(found: stored_secrets.Readability) -> str:
    """A sentence about a secret that decrypts nothing."""
    return f"netinv.secret is not the one that the database was encrypted with ({', '.join(found.columns)})"


def secret_remedy(ini: str) -> str:
    """Remedy: the ways to go on with another secret, or without the former one."""
    return (
        f"set the former secret again, or run `{command(ini)} secret rotate --old FILE`, "
        "or without it `secret rotate --discard-unreadable`, which clears these values"
    )
