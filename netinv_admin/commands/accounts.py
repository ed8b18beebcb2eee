"""Commands for accounts and their tokens."""

from __future__ import annotations

import datetime
import string
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import colander
import sqlalchemy as sa

from netinv_admin.commands.permissions import command_error, permit_viewing
from netinv_core import crypto, tokens
from netinv_core.auth import password_policy
from netinv_core.auth.audit import audit_after_commit
from netinv_core.auth.models import Token, User
from netinv_core.command_output import json_option, print_json
from netinv_core.environment import Environment
from netinv_core.errors import Invalid
from netinv_core.models.base import now, table_of
from netinv_core.token_limits import LimitList
from netinv_core.write import save

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

_users, _tokens = table_of(User), table_of(Token)


@click.group()
def user() -> None:
    """Create, list and change accounts."""


@user.command("create")
@click.argument("username")
@click.option("--superuser", is_flag=True, help="Grant all permissions.")
@click.option("--read-only", is_flag=True, help="Grant the permission to view everything.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Add the user to this group; repeatable.")
@click.option("--password", envvar="NETINV_PASSWORD", show_envvar=True, help="Generated and printed by default.")
@click.option("--email", default="", help="The user's e-mail address.")
@click.option("--with-token", is_flag=True, help="Also create a token and print its key.")
@click.option("--unless-any", is_flag=True, help="Do nothing when an account exists already.")
@click.pass_obj
def create_user(
    environment: Environment,
    username: str,
    superuser: bool,
    read_only: bool,
    groups: Sequence[str],
    password: str | None,
    email: str,
    with_token: bool,
    unless_any: bool,
) -> None:
    """Create the account USERNAME. A generated password and the key of a token are printed once."""
    new_password = password or password_policy.generate_password(environment.settings)
    with environment.unit_of_work() as uow:
        if unless_any and uow.execute(sa.select(_users.c.id)).first() is not None:
            return
        try:
            members = [{"name": name} for name in groups]
            body = {"username": username, "password": new_password, "email": email, "groups": members}
            (account,) = save.create(uow, uow.registry["users.user"], [body], single=True)
        except Invalid as error:
            raise command_error(error) from None
        if read_only:
            permit_viewing(uow, account["id"])
        is_account = _users.c.id == account["id"]
        uow.execute(sa.update(_users).where(is_account).values(is_superuser=superuser, is_staff=superuser))
        key = create_token_row(uow, account["id"], description="created with the account") if with_token else None
    click.echo(f"user      {username}")
    if not password:
        click.echo(f"password  {new_password}")
    if key is not None:
        click.echo(f"token     {key}")


@user.command("list")
@json_option
@click.pass_obj
def list_users(environment: Environment, as_json: bool) -> None:
    """List the accounts."""
    names = ("id", "username", "email", "is_superuser", "is_active", "date_joined")
    with environment.unit_of_work() as uow:
        rows = uow.execute(sa.select(_users).order_by(_users.c.username)).all()
        if as_json:
            print_json({name: getattr(row, name) for name in names} for row in rows)
            return
        for row in rows:
            flags = {"superuser": row.is_superuser, "inactive": not row.is_active}
            click.echo(f"{row.username:30} {' '.join(name for name, is_set in flags.items() if is_set)}".rstrip())


@user.command("password")
@click.argument("username")
@click.option(
    "--password",
    prompt=True,
    hide_input=True,
    confirmation_prompt=True,
    envvar="NETINV_PASSWORD",
    show_envvar=True,
)
@click.pass_obj
def set_password(environment: Environment, username: str, password: str) -> None:
    """Change the password of USERNAME."""
    _change(environment, username, password=password)
    click.echo(f"the password of {username} is changed")


@user.command("deactivate")
@click.argument("username")
@click.pass_obj
def deactivate(environment: Environment, username: str) -> None:
    """Reject USERNAME and all tokens of the account; nothing is deleted."""
    _change(environment, username, is_active=False)
    click.echo(f"{username} is inactive")


@user.command("activate")
@click.argument("username")
@click.pass_obj
def activate(environment: Environment, username: str) -> None:
    """Accept USERNAME again."""
    _change(environment, username, is_active=True)
    click.echo(f"{username} is active")


def _change(environment: Environment, username: str, **values: object) -> None:
    """Changes an account by the write path, whose rules end the account's sessions where there are any."""
    with environment.unit_of_work() as uow:
        user_id = uow.execute(sa.select(_users.c.id).where(_users.c.username == username)).scalar()
        if user_id is None:
            raise click.ClickException(f"no user is called {username!r}")
        try:
            save.update(uow, uow.registry["users.user"], [{"id": user_id, **values}], partial=True, single=True)
        except Invalid as error:
            raise command_error(error) from None


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@token.command("create")
@click.argument("username")
@click.option("--read-only", is_flag=True, help="Permit reading only.")
@click.option("--days", type=click.IntRange(1, 36500), help="Expire after this many days.")
@click.option("--description", default="", help="Purpose of the token.")
@click.option(
    "--network", "networks", multiple=True, metavar="CIDR", help="Accept it from this network only; repeatable."
)
@click.option("--action", "actions", multiple=True, metavar="NAME", help="Limit it to this action; repeatable.")
@click.option("--type", "types", multiple=True, metavar="MODEL", help="Limit it to this object type; repeatable.")
@click.option("--key", help="The key, 40 hexadecimal characters, to restore a token; generated by default.")
@click.pass_obj
def create_token(
    environment: Environment,
    username: str,
    read_only: bool,
    days: int | None,
    description: str,
    networks: Sequence[str],
    actions: Sequence[str],
    types: Sequence[str],
    key: str | None,
) -> None:
    """Create a token for USERNAME and print its key, which cannot be read again."""
    key = key and key.lower()
    if key is not None and (len(key) != crypto.KEY_LENGTH or set(key) - set(string.hexdigits)):
        raise click.BadParameter("Enter 40 hexadecimal digits.", param_hint="--key")
    with environment.unit_of_work(username) as uow:
        limits = {
            "allowed_networks": _limit(uow, "allowed_networks", networks, "--network"),
            "actions": _limit(uow, "actions", actions, "--action"),
            "object_types": _limit(uow, "object_types", types, "--type"),
        }
        expires = now() + datetime.timedelta(days=days) if days is not None else None
        values = {"description": description, "expires": expires, "write_enabled": not read_only, **limits}
        click.echo(create_token_row(uow, uow.identity.user_id, key=key, **values))


def _limit(uow: UnitOfWork, name: str, items: Sequence[str], option: str) -> list[str] | None:
    """The parsed items of a list that limits a token.

    :raises click.BadParameter: for an invalid item
    """
    field = uow.registry["users.token"].fields[name]
    assert isinstance(field, LimitList)
    try:
        return field.parse_items(list(items)) or None
    except colander.Invalid as error:
        raise click.BadParameter(str(error.msg), param_hint=option) from None


@token.command("list")
@click.argument("username", required=False)
@json_option
@click.pass_obj
def list_tokens(environment: Environment, username: str | None, as_json: bool) -> None:
    """List the tokens of USERNAME, or of all accounts, by the first eight digits of their ids.

    Keys cannot be read again.
    """
    names = ("id", "created", "expires", "last_used", "write_enabled", "allowed_networks", "actions", "object_types")
    with environment.unit_of_work(username) if username else environment.unit_of_work() as uow:
        statement = sa.select(_tokens, _users.c.username).join(_users, _users.c.id == _tokens.c.user_id)
        statement = statement.order_by(_users.c.username, _tokens.c.created)
        if username is not None:
            statement = statement.where(_tokens.c.user_id == uow.identity.user_id)
        rows = uow.execute(statement).all()
        if as_json:
            print_json(
                {"user": row.username} | {name: getattr(row, name) for name in (*names, "description")} for row in rows
            )
            return
        for row in rows:
            owner = [] if username else [f"{row.username:20}"]
            access = "read, write" if row.write_enabled else "read only"
            expiry = f"expires {row.expires:%Y-%m-%d}" if row.expires else "does not expire"
            used = f"used {row.last_used:%Y-%m-%d %H:%M}" if row.last_used else "not used"
            lists = ("from", row.allowed_networks), ("actions", row.actions), ("types", row.object_types)
            limits = [f"{word} {', '.join(items)}" for word, items in lists if items]
            click.echo("  ".join([*owner, str(row.id)[:8], access, expiry, used, *limits, row.description]).rstrip())


@token.command("revoke")
@click.argument("username")
@click.argument("token")
@click.pass_obj
def revoke(environment: Environment, username: str, token: str) -> None:
    """Delete a token of USERNAME; TOKEN is the beginning of its id, as listed, or the whole key."""
    if len(token) < 4:
        raise click.BadParameter("Give at least four digits of the id.", param_hint="TOKEN")
    with environment.unit_of_work(username) as uow:
        rows = uow.execute(sa.select(_tokens).where(_tokens.c.user_id == uow.identity.user_id)).all()
        digest = crypto.digest(token)
        matches = [row.id for row in rows if str(row.id).startswith(token.lower()) or row.key_hash == digest]
        if len(matches) != 1:
            count = len(matches) or "no"
            raise click.ClickException(f"{count} tokens of {username} have an id that begins with this, or this key")
        uow.execute(sa.delete(_tokens).where(_tokens.c.id == matches[0]))
        audit_after_commit(uow, "token.deleted", id=str(matches[0]), name=tokens.token_name(matches[0], username))
    click.echo("revoked")


def create_token_row(uow: UnitOfWork, user_id: object, *, key: str | None = None, **columns: object) -> str:
    """Inserts a token of a user with these columns; returns its key."""
    key = key or crypto.new_key()
    values = {
        "id": uuid.uuid4(),
        "user_id": user_id,
        "created": now(),
        "key_hash": crypto.digest(key),
        **columns,
    }
    uow.execute(sa.insert(_tokens).values(values))
    audit_after_commit(uow, "token.created", id=str(values["id"]), owner=str(user_id))
    return key
