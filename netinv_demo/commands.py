"""Command ``netinv demo``."""

from __future__ import annotations

import click
import sqlalchemy as sa

from netinv_core.auth.models import User
from netinv_core.environment import Environment
from netinv_core.errors import RequestError, error_text
from netinv_core.models.base import table_of
from netinv_demo.generator import (
    DEFAULT_SEED,
    AlreadyLoadedError,
    CannotLoadError,
    check_empty,
    load_inventory,
    summary,
)
from netinv_demo.size import DEFAULT_DEVICES, MAX_DEVICES, MIN_DEVICES


@click.command("demo")
@click.option(
    "--devices",
    type=click.IntRange(MIN_DEVICES, MAX_DEVICES),
    default=DEFAULT_DEVICES,
    show_default=True,
    help="Number of devices; racks, cables, addresses and virtual machines grow with it.",
)
@click.option("--seed", default=DEFAULT_SEED, show_default=True, help="Seed of the random choices.")
@click.option("--user", metavar="NAME", help="The account that the change log names; the first superuser by default.")
@click.option("--force", is_flag=True, help="Also load it into an inventory that has devices.")
@click.pass_obj
def demo(environment: Environment, devices: int, seed: int, user: str | None, force: bool) -> None:
    """Load a demo inventory: a made-up company with 12 sites.

    It has racks, cabled devices, addresses, VLANs, circuits, virtual machines, and examples of custom fields,
    relationships, dynamic groups and templates. Everything is written as by the API, in one transaction: if the
    command is interrupted, nothing is changed. The same options give the same inventory.
    """
    username = user or _first_superuser(environment)
    try:
        with environment.unit_of_work(username) as uow:
            check_empty(uow, force=force)
            counts = load_inventory(uow, click.echo, devices=devices, seed=seed)
            click.echo("writing the change log …")
    except AlreadyLoadedError as error:
        raise click.ClickException(str(error)) from None
    except CannotLoadError as error:
        raise click.ClickException(f"{error}; --force loads the demo inventory beside them") from None
    except RequestError as error:
        raise click.ClickException(f"refused, nothing was changed: {error_text(error.body)}") from None
    click.echo(summary(counts))


def _first_superuser(environment: Environment) -> str:
    """Returns the name of the oldest active superuser.

    :raises click.ClickException: when there is none
    """
    users = table_of(User)
    oldest = sa.select(users.c.username).where(users.c.is_superuser, users.c.is_active).order_by(users.c.date_joined)
    with environment.unit_of_work() as uow:
        username = uow.execute(oldest.limit(1)).scalar()
    if username is None:
        raise click.ClickException("there is no superuser: make one with `netinv user create NAME --superuser`")
    return str(username)
