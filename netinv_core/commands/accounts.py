"""Commands on accounts and their tokens."""

from __future__ import annotations

import datetime
import secrets
import string
import uuid

import click
import sqlalchemy as sa

from netinv_core.auth import crypto
from netinv_core.auth.identity import configuration_changed
from netinv_core.auth.models import Token, User
from netinv_core.commands.environment import Environment
from netinv_core.errors import Invalid
from netinv_core.models.base import now, table_of
from netinv_core.uow import UnitOfWork
from netinv_core.write import save

_users, _tokens = table_of(User), table_of(Token)


@click.group()
def user() -> None:
    """Create, list and change accounts."""


@user.command("create")
@click.argument("username")
@click.option("--superuser", is_flag=True, help="May do everything.")
@click.option("--password", envvar="NETINV_PASSWORD", show_envvar=True, help="Made at random, and printed, when not given.")
@click.option("--email", default="", help="The user's e-mail address.")
@click.option("--with-token", is_flag=True, help="Also make a token and print it.")
@click.option("--unless-any", is_flag=True, help="Do nothing when there already is an account.")
@click.pass_obj
def create_user(environment: Environment, username: str, superuser: bool, password: str | None, email: str, with_token: bool, unless_any: bool) -> None:
    """Create the account USERNAME; what is printed is not shown again."""
    chosen = password or secrets.token_urlsafe(12)
    with environment.unit_of_work() as uow:
        if unless_any and uow.execute(sa.select(_users.c.id)).first() is not None:
            return
        try:
            body = {"username": username, "password": chosen, "email": email}
            (made,) = save.create(uow, uow.registry["users.user"], [body], single=True)
        except Invalid as error:
            raise click.ClickException("; ".join(f"{name}: {' '.join(messages)}" for name, messages in error.body.items())) from None
        uow.write(sa.update(_users).where(_users.c.id == made["id"]).values(is_superuser=superuser, is_staff=superuser))
        key = make_token(uow, made["id"], "made with the account") if with_token else None
    click.echo(f"user      {username}")
    if password is None:
        click.echo(f"password  {chosen}")
    if key is not None:
        click.echo(f"token     {key}")


@user.command("list")
@click.pass_obj
def list_users(environment: Environment) -> None:
    """List the accounts."""
    with environment.unit_of_work() as uow:
        for row in uow.execute(sa.select(_users).order_by(_users.c.username)):
            marks = [word for word, shown in (("superuser", row.is_superuser), ("inactive", not row.is_active)) if shown]
            click.echo(f"{row.username:30} {' '.join(marks)}".rstrip())


@user.command("password")
@click.argument("username")
@click.option("--password", prompt=True, hide_input=True, confirmation_prompt=True, envvar="NETINV_PASSWORD", show_envvar=True)
@click.pass_obj
def set_password(environment: Environment, username: str, password: str) -> None:
    """Give USERNAME another password."""
    _change(environment, username, password=crypto.hash_password(password))
    click.echo(f"the password of {username} is changed")


@user.command("deactivate")
@click.argument("username")
@click.pass_obj
def deactivate(environment: Environment, username: str) -> None:
    """Turn away USERNAME and every token of theirs; nothing is deleted."""
    _change(environment, username, is_active=False)
    click.echo(f"{username} is inactive")


@user.command("activate")
@click.argument("username")
@click.pass_obj
def activate(environment: Environment, username: str) -> None:
    """Let USERNAME in again."""
    _change(environment, username, is_active=True)
    click.echo(f"{username} is active")


def _change(environment: Environment, username: str, **values: object) -> None:
    with environment.unit_of_work() as uow:
        found = uow.write(sa.update(_users).where(_users.c.username == username).values(values))
        if not found.rowcount:
            raise click.ClickException(f"no user is called {username!r}")
        configuration_changed(uow)


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@token.command("create")
@click.argument("username")
@click.option("--read-only", is_flag=True, help="Permit reading only.")
@click.option("--days", type=int, help="Expire after this many days.")
@click.option("--description", default="", help="What it is for.")
@click.option("--key", help="The key itself, 40 hexadecimal characters (to restore a token); made at random when not given.")
@click.pass_obj
def create_token(environment: Environment, username: str, read_only: bool, days: int | None, description: str, key: str | None) -> None:
    """Make a token for USERNAME and print its key, which is not shown again."""
    key = key and key.lower()
    if key is not None and (len(key) != crypto.KEY_LENGTH or set(key) - set(string.hexdigits)):
        raise click.BadParameter("Enter 40 hexadecimal digits.", param_hint="--key")
    with environment.unit_of_work(username) as uow:
        expires = now() + datetime.timedelta(days=days) if days is not None else None
        click.echo(make_token(uow, uow.identity.user_id, description, expires=expires, writes=not read_only, key=key))


@token.command("list")
@click.argument("username")
@click.pass_obj
def list_tokens(environment: Environment, username: str) -> None:
    """List the tokens of USERNAME by the first eight digits of their ids; nobody can read a key again."""
    with environment.unit_of_work(username) as uow:
        mine = sa.select(_tokens).where(_tokens.c.user_id == uow.identity.user_id).order_by(_tokens.c.created)
        for row in uow.execute(mine):
            expiry = f"expires {row.expires:%Y-%m-%d}" if row.expires else "does not expire"
            click.echo(f"{str(row.id)[:8]}  {'read, write' if row.write_enabled else 'read only'}  {expiry}  {row.description}")


@token.command("revoke")
@click.argument("username")
@click.argument("token")
@click.pass_obj
def revoke(environment: Environment, username: str, token: str) -> None:
    """Delete the TOKEN of USERNAME: the beginning of its id, as listed, or the whole key."""
    if len(token) < 4:
        raise click.BadParameter("Give at least four digits of the id.", param_hint="TOKEN")
    with environment.unit_of_work(username) as uow:
        rows = uow.execute(sa.select(_tokens).where(_tokens.c.user_id == uow.identity.user_id)).all()
        matches = [row.id for row in rows if str(row.id).startswith(token.lower()) or row.key_hash == crypto.digest(token)]
        if len(matches) != 1:
            raise click.ClickException(f"{len(matches) or 'no'} tokens of {username} have an id that begins with this, or this key")
        uow.write(sa.delete(_tokens).where(_tokens.c.id == matches[0]))
    click.echo("revoked")


def make_token(
    uow: UnitOfWork, user_id: object, description: str, *, expires: datetime.datetime | None = None, writes: bool = True, key: str | None = None
) -> str:
    """Writes a token for a user; its key."""
    key = key or crypto.new_key()
    values = {
        "id": uuid.uuid4(),
        "user_id": user_id,
        "created": now(),
        "expires": expires,
        "key_hash": crypto.digest(key),
        "write_enabled": writes,
        "description": description,
    }
    uow.write(sa.insert(_tokens).values(values))
    return key
