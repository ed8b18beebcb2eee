"""Commands for groups and permissions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import sqlalchemy as sa

from netinv_core.auth.models import Group, ObjectPermission, User, user_groups
from netinv_core.command_output import json_option, print_json
from netinv_core.environment import Environment
from netinv_core.errors import Invalid, error_text
from netinv_core.models.associations import EVERY_TYPE
from netinv_core.models.base import table_of
from netinv_core.sql.plans import plan_of
from netinv_core.write import delete, save

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

VIEW_EVERYTHING = "View everything"  # name of the permission of users without further ones
USERS, GROUPS, PERMISSIONS = "users.user", "auth.group", "users.objectpermission"
_users, _groups, _permissions = table_of(User), table_of(Group), table_of(ObjectPermission)


def command_error(error: Invalid) -> click.ClickException:
    """The error of a command for that of the write path."""
    return click.ClickException("; ".join(f"{name}: {error_text(texts)}" for name, texts in error.body.items()))


def _create(uow: UnitOfWork, label: str, **body: object) -> dict[str, Any]:
    try:
        (created,) = save.create(uow, uow.registry[label], [body], single=True)
    except Invalid as error:
        raise command_error(error) from None
    return created


def _id_of(uow: UnitOfWork, column: Any, name: str, kind: str) -> Any:
    """The id of the row with a name.

    :raises click.ClickException: when none or several have it
    """
    ids = uow.execute(sa.select(column.table.c.id).where(column == name).limit(2)).scalars().all()
    if len(ids) != 1:
        raise click.ClickException(f"{'several' if ids else 'no'} {kind}s are called {name!r}")
    return ids[0]


def _delete(environment: Environment, label: str, column: Any, name: str, kind: str) -> None:
    """Deletes the object of a resource with a name, and says so."""
    with environment.unit_of_work() as uow:
        key = _id_of(uow, column, name, kind)
        delete.delete(uow, uow.registry[label], [{"id": key}], single=True)
    click.echo(f"the {kind} {name} is deleted")


def _users_named(uow: UnitOfWork, names: Sequence[str]) -> list[str]:
    return [str(_id_of(uow, _users.c.username, name, "user")) for name in names]


# -- groups


@click.group()
def group() -> None:
    """Create, list and change groups of users."""


@group.command("create")
@click.argument("name")
@click.argument("usernames", nargs=-1)
@click.pass_obj
def create_group(environment: Environment, name: str, usernames: Sequence[str]) -> None:
    """Create the group NAME with the users USERNAMES."""
    with environment.unit_of_work() as uow:
        _create(uow, GROUPS, name=name)
        _change_members(uow, name, "add", usernames)
    click.echo(f"the group {name} is created")


@group.command("list")
@json_option
@click.pass_obj
def list_groups(environment: Environment, as_json: bool) -> None:
    """List the groups with their users."""
    with environment.unit_of_work() as uow:
        members: dict[int, list[str]] = {}
        pairs = sa.select(user_groups.c.target_id, _users.c.username).join(
            _users, _users.c.id == user_groups.c.owner_id
        )
        for group_id, username in uow.execute(pairs.order_by(_users.c.username)):
            members.setdefault(group_id, []).append(username)
        rows = uow.execute(sa.select(_groups).order_by(_groups.c.name)).all()
        if as_json:
            print_json({"id": row.id, "name": row.name, "users": members.get(row.id, [])} for row in rows)
            return
        for row in rows:
            click.echo(f"{row.name:30} {', '.join(members.get(row.id, ()))}".rstrip())


@group.command("add")
@click.argument("name")
@click.argument("usernames", nargs=-1, required=True)
@click.pass_obj
def add_members(environment: Environment, name: str, usernames: Sequence[str]) -> None:
    """Add the users USERNAMES to the group NAME."""
    with environment.unit_of_work() as uow:
        _change_members(uow, name, "add", usernames)
    click.echo(f"added to {name}: {', '.join(usernames)}")


@group.command("remove")
@click.argument("name")
@click.argument("usernames", nargs=-1, required=True)
@click.pass_obj
def remove_members(environment: Environment, name: str, usernames: Sequence[str]) -> None:
    """Remove the users USERNAMES from the group NAME."""
    with environment.unit_of_work() as uow:
        _change_members(uow, name, "remove", usernames)
    click.echo(f"removed from {name}: {', '.join(usernames)}")


@group.command("delete")
@click.argument("name")
@click.pass_obj
def delete_group(environment: Environment, name: str) -> None:
    """Delete the group NAME; its users lose what only the group may."""
    _delete(environment, GROUPS, _groups.c.name, name, "group")


def _change_members(uow: UnitOfWork, name: str, change: str, usernames: Sequence[str]) -> None:
    """Changes the groups of users by a difference, ``add`` or ``remove``."""
    key = _id_of(uow, _groups.c.name, name, "group")
    bodies = [{"id": user_id, "groups": {change: [key]}} for user_id in _users_named(uow, usernames)]
    if bodies:
        save.update(uow, uow.registry[USERS], bodies, partial=True)


# -- permissions


@click.group()
def permission() -> None:
    """Create, list and delete permissions of users and groups."""


@permission.command("create")
@click.argument("name")
@click.option("--action", "actions", multiple=True, required=True, metavar="NAME", help="view, add …; repeatable.")
@click.option("--type", "types", multiple=True, metavar="MODEL", help="An object type; repeatable.")
@click.option("--all-types", is_flag=True, help="All object types, of packages installed later too.")
@click.option("--user", "usernames", multiple=True, metavar="NAME", help="Grant it to this user; repeatable.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Grant it to this group; repeatable.")
@click.option("--constraints", metavar="JSON", help="Limit it to the objects that these filters match.")
@click.pass_obj
def create_permission(
    environment: Environment,
    name: str,
    actions: Sequence[str],
    types: Sequence[str],
    all_types: bool,
    usernames: Sequence[str],
    groups: Sequence[str],
    constraints: str | None,
) -> None:
    """Create the permission NAME for actions on object types."""
    if bool(types) == all_types:
        raise click.UsageError("Name object types with --type, or all with --all-types.")
    try:
        limits = json.loads(constraints) if constraints is not None else None
    except ValueError as error:
        raise click.BadParameter(f"This is not JSON: {error}.", param_hint="--constraints") from None
    with environment.unit_of_work() as uow:
        body = {
            "name": name,
            "actions": list(actions),
            "object_types": [EVERY_TYPE] if all_types else list(types),
            "constraints": limits,
            "users": _users_named(uow, usernames),
            "groups": [_id_of(uow, _groups.c.name, group_name, "group") for group_name in groups],
        }
        _create(uow, PERMISSIONS, **body)
    click.echo(f"the permission {name} is created")


@permission.command("list")
@json_option
@click.pass_obj
def list_permissions(environment: Environment, as_json: bool) -> None:
    """List the permissions: name, actions, object types, holders, constraints."""
    with environment.unit_of_work() as uow:
        ids = uow.execute(sa.select(_permissions.c.id).order_by(_permissions.c.name, _permissions.c.id)).scalars().all()
        permissions = plan_of(uow.registry[PERMISSIONS]).represent(uow, ids)
        if as_json:
            print_json(permissions)
            return
        for shown in permissions:
            holders = [item["display"] for item in [*shown["groups"], *shown["users"]]]
            limits = json.dumps(shown["constraints"]) if shown["constraints"] else ""
            columns = ", ".join(shown["actions"]), ", ".join(shown["object_types"]), ", ".join(holders), limits
            state = "" if shown["enabled"] else "disabled"
            click.echo("  ".join(filter(None, [f"{shown['name']:30}", *columns, state])).rstrip())


@permission.command("delete")
@click.argument("name")
@click.pass_obj
def delete_permission(environment: Environment, name: str) -> None:
    """Delete the permission NAME."""
    _delete(environment, PERMISSIONS, _permissions.c.name, name, "permission")


def permit_viewing(uow: UnitOfWork, user_id: object) -> None:
    """Adds a user to the permission to view everything, which is created if it does not exist."""
    found = sa.select(_permissions.c.id).where(_permissions.c.name == VIEW_EVERYTHING).order_by(_permissions.c.id)
    key = uow.execute(found).scalars().first()
    if key is None:
        body = {"name": VIEW_EVERYTHING, "actions": ["view"], "object_types": [EVERY_TYPE], "users": [str(user_id)]}
        _create(uow, PERMISSIONS, **body)
        return
    change = {"id": key, "users": {"add": [str(user_id)]}}
    save.update(uow, uow.registry[PERMISSIONS], [change], partial=True, single=True)
