"""The application ``users``: accounts, groups, tokens and permissions as resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import crypto, needed_rows
from netinv_core.app import App
from netinv_core.auth import granted_terms, password_policy
from netinv_core.auth import permissions as permits
from netinv_core.auth.audit import audit_after_commit
from netinv_core.auth.models import (
    Group,
    ObjectPermission,
    User,
    permission_groups,
    permission_types,
    permission_users,
    user_groups,
)
from netinv_core.errors import short
from netinv_core.hookspecs import hookimpl
from netinv_core.http.user_config import user_config
from netinv_core.models.associations import EVERY_TYPE
from netinv_core.presentation import MenuSection, Presentation
from netinv_core.read import filters
from netinv_core.resource import Resource, content_type_list, count_of, to_many
from netinv_core.tokens import tokens

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

UNKNOWN_ACTION = "'{}' is not an action. Choices are: {}."
MAX_FAULTS = 10  # models that an error about constraints names


def _user_count(registry: Any, table: Any) -> Any:
    return (
        sa.select(sa.func.count())
        .select_from(user_groups)
        .where(user_groups.c.target_id == table.c.id)
        .scalar_subquery()
    )


groups = Resource(
    Group,
    "groups",
    label="auth.group",
    fields=[count_of("user_count", _user_count)],
    search=["name"],
    recorded=False,
    configuration=True,
    exempt_by_name_only=True,
)

users = Resource(
    User,
    "users",
    type_order="~1 ",
    display="username",
    brief=["username"],
    order=["username"],
    natural="username",
    search=["username", "first_name", "last_name", "email"],
    fields=[to_many("groups", user_groups, "auth.group", default=[], related_name="users", plain=True)],
    filters=[
        filters.related("group_id", "groups", by=()),
        filters.related("group", "groups", by="name", ids=False),
    ],
    recorded=False,
    configuration=True,
    example={"password": "quartz-violet-anchor-58"},
    exempt_by_name_only=True,
)


@groups.permission_check
@users.permission_check
def only_tokens_for_accounts(uow: UnitOfWork, action: str) -> bool:
    """Permission check: a limited token changes accounts, groups and permissions only if its object types name these;
    an account could do more than the token.
    """
    return action not in ("add", "change") or not uow.identity.limited or uow.identity.limited_to_types


@users.prepare
def hash_passwords(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Replaces passwords by their hashes. Those that the policy refuses are errors of the field."""
    for draft in drafts:
        if "password" in draft.values:
            names = [draft[name] or "" for name in ("username", "email", "first_name", "last_name")]
            if faults := password_policy.faults(uow.registry.settings, draft["password"], names):
                draft.reject("password", *faults)
            draft["password"] = crypto.hash_password(draft["password"])


@users.after_save
def groups_grant_a_bounded_number_of_lookups(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Bounds what all permissions of an account compare, where its groups change."""
    granted_terms.check_users(uow, drafts)


@users.after_save
def audit_passwords(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Names changed passwords in the audit log, since no representation shows them."""
    for draft in drafts:
        if not draft.new and draft.changed("password"):
            audit_after_commit(uow, "user.password_changed", id=str(draft.id))


def by_type(uow: UnitOfWork, table: Any, values: list[str], lookup: str) -> Any:
    """Filter by content types, given as numbers or as labels."""
    numbers = {str(condition.id): label for label, condition in uow.registry.content_types.items()}
    labels = [numbers.get(value, value) for value in values]
    for value, label in zip(values, labels, strict=True):
        if label not in uow.registry.content_types and label != EVERY_TYPE:
            well_formed = value.isdecimal() or "." in value
            raise ValueError(
                f"Select a valid choice. {value} is not one of the available choices."
                if well_formed
                else f"“{value}” is not a valid value."
            )
    condition = table.c.id.in_(sa.select(permission_types.c.owner_id).where(permission_types.c.label.in_(labels)))
    return sa.not_(condition) if lookup else condition


permissions = Resource(
    ObjectPermission,
    "permissions",
    type_order="~1 ",
    label="users.objectpermission",
    title="permission",
    brief=["name", "enabled", "object_types", "groups", "users", "actions"],
    search=["name", "description"],
    fields=[
        content_type_list("object_types", permission_types, required=True, everything=True),
        to_many(
            "groups",
            permission_groups,
            "auth.group",
            default=[],
            related_name="object_permissions",
            brief_name="name",
            plain=True,
        ),
        to_many(
            "users",
            permission_users,
            "users.user",
            default=[],
            related_name="object_permissions",
            brief_name="username",
            plain=True,
        ),
    ],
    filters=[
        filters.custom("object_types", by_type, suffixes=("n",), listed=True),
        filters.related("user_id", "users", by=()),
        filters.related("user", "users", by="username"),
        filters.related("group_id", "groups", by=()),
        filters.related("group", "groups", by="name", ids=False),
    ],
    recorded=False,
    configuration=True,
    example={"actions": ["view"]},
    presentation=Presentation(
        fieldsets=[
            ("Permission", ["name", "description", "enabled"]),
            ("Actions and objects", ["object_types", "actions", "constraints"]),
            ("Granted to", ["groups", "users"]),
        ]
    ),
    exempt_by_name_only=True,
)


permissions.permission_check(only_tokens_for_accounts)


@permissions.rule
def actions_and_constraints_have_a_form(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Checks that actions are a list of strings, and constraints an object of lookups or a list of such objects."""
    for draft in drafts:
        actions, constraints = draft["actions"], draft["constraints"]
        if not actions:
            draft.reject("actions", "This field cannot be blank.")
        elif not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
            draft.reject("actions", "A list of action names is required.")
        options = constraints if isinstance(constraints, list) else [constraints or {}]
        if not all(isinstance(option, dict) for option in options):
            draft.reject("constraints", "An object of field lookups, or a list of them, is required.")


@permissions.rule
def actions_are_known(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects actions that nothing asks for. Those that a permission has or had, and those of imports, stay."""
    if uow.importing or uow.restoring:
        return
    known = uow.registry.permitted_actions
    for draft in drafts:
        former = draft.before.get("actions") or ()
        if draft.errors or not draft.changed("actions"):
            continue
        unknown = [action for action in draft["actions"] if action not in known and action not in former]
        if unknown:
            listed = ", ".join(sorted(known))
            draft.reject("actions", *(UNKNOWN_ACTION.format(short(action), listed) for action in unknown[:MAX_FAULTS]))


@permissions.rule
def constraints_make_sense(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Checks that constraints are valid filters of every model of the permission.

    PATCH may leave out the models: these are then read.
    """
    concerned = [
        draft
        for draft in drafts
        if draft["constraints"] and (draft.changed("constraints") or "object_types" in draft.many)
    ]
    types = {draft.id: draft.many["object_types"] for draft in concerned if "object_types" in draft.many}
    if unknown := [draft.id for draft in concerned if draft.id not in types]:
        columns = permission_types.c.owner_id, permission_types.c.label
        for key, label in uow.execute(sa.select(*columns).where(permission_types.c.owner_id.in_(unknown))):
            types.setdefault(key, []).append(label)
    for draft in concerned:
        listed = types.get(draft.id, ())
        labels = list(uow.registry.endpoints) if EVERY_TYPE in listed else listed
        endpoints = [endpoint for label in labels if (endpoint := uow.registry.get(label)) is not None]
        faults = {
            endpoint.label: fault
            for endpoint in endpoints
            if (fault := permits.constraint_error(uow, endpoint, draft["constraints"])) is not None
        }
        if faults:
            texts = [f"Invalid constraints for {label}: {fault}" for label, fault in sorted(faults.items())]
            more = [f"The same for {len(texts) - MAX_FAULTS} further models."] if len(texts) > MAX_FAULTS else []
            draft.reject("constraints", *texts[:MAX_FAULTS], *more)


@permissions.after_save
def accounts_are_granted_a_bounded_number_of_lookups(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Bounds what all permissions of an account compare, where one of them changes."""
    granted_terms.check_permissions(uow, drafts)


app = App(
    "users",
    "Users",
    [groups, users, tokens, permissions],
    migrations="netinv_core:migrations",
    extra_views={"config": user_config},
    distribution="netinv-core",
    menu=[MenuSection("Accounts", ["users", "groups", "permissions", "tokens"], "users", 750)],
)


@hookimpl
def netinv_app() -> App:
    """The application of the core itself."""
    return app


@hookimpl(tryfirst=True)  # what other packages insert may name content types
def netinv_seed(uow: UnitOfWork) -> None:
    """Inserts the rows that the core needs, among them the content type of every model."""
    needed_rows.insert(uow)
