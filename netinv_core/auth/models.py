"""Models of accounts and permissions: users, groups, tokens, object permissions."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core.models.associations import content_type_table, many_to_many
from netinv_core.models.base import Base, Model, now
from netinv_core.models.columns import (
    CASCADE,
    ColumnInfo,
    Ref,
    boolean,
    column,
    email,
    foreign_key,
    json_document,
    required_text,
    text,
)
from netinv_core.models.types import Chars, Json


class Group(Base):
    """A set of users with common permissions."""

    __tablename__ = "core_group"

    id: Mapped[int] = mapped_column(
        sa.Integer,
        primary_key=True,
        autoincrement=True,
        sort_order=-10,
        info={"netinv": ColumnInfo(read_only=True, label="ID")},
    )
    name: Mapped[str] = required_text(150, unique=True)


class User(Model):
    """An account of a person or of a program.

    ``password`` holds an argon2 hash, ``config_data`` the user's preferences.
    """

    __tablename__ = "core_user"

    username: Mapped[str] = required_text(
        150,
        unique=True,
        pattern=r"^[\w.@+-]+\Z",
        pattern_error="Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.",
        taken_error="A user with that username already exists.",
        help="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
    )
    password: Mapped[str] = required_text(128, write_only=True, confidential=True)
    first_name: Mapped[str] = text(150)
    last_name: Mapped[str] = text(150)
    email: Mapped[str] = email(label="Email address")
    is_staff: Mapped[bool] = boolean(
        False, "Designates whether the user can log into this admin site.", label="Staff status"
    )
    is_active: Mapped[bool] = boolean(
        True,
        "Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
        label="Active",
    )
    date_joined: Mapped[datetime.datetime] = column(default=now)
    is_superuser: Mapped[bool] = boolean(False, hidden=True)
    config_data: Mapped[dict[str, Any]] = mapped_column(Json(), default=dict, info={"netinv": ColumnInfo(hidden=True)})


class Token(Model):
    """An API token, looked up by the hash of its key; the key itself is not stored.

    ``allowed_networks``, ``actions`` and ``object_types`` limit it further than its user; null stands for no limit.
    """

    __tablename__ = "core_token"

    user_id: Mapped[Ref] = foreign_key(User, on_delete=CASCADE, hidden=True)
    created: Mapped[datetime.datetime] = column(default=now, read_only=True)
    expires: Mapped[datetime.datetime | None] = column(default=None)
    key_hash: Mapped[str] = column(length=64, unique=True, hidden=True, confidential=True)
    write_enabled: Mapped[bool] = boolean(True, "Permit create/update/delete operations using this key")
    description: Mapped[str] = text(200)
    allowed_networks: Mapped[list[Any] | None] = column(Json(), default=None, kind="json")
    actions: Mapped[list[Any] | None] = column(Json(), default=None, kind="json")
    object_types: Mapped[list[Any] | None] = column(Json(), default=None, kind="json")
    last_used: Mapped[datetime.datetime | None] = column(default=None, read_only=True)


class ObjectPermission(Model):
    """A right of users and groups to take actions on models, limited by constraints."""

    __tablename__ = "core_permission"

    name: Mapped[str] = required_text(100)
    description: Mapped[str] = text(200)
    enabled: Mapped[bool] = boolean(True)
    actions: Mapped[list[Any]] = column(Json(), kind="json", help="The list of actions granted by this permission")
    constraints: Mapped[Any | None] = json_document(
        "Queryset filter matching the applicable objects of the selected type(s)"
    )


class ExternalIdentity(Base):
    """The account of a user of an identity provider; ``subject`` identifies the user there."""

    __tablename__ = "core_external_identity"

    provider: Mapped[str] = mapped_column(Chars(50), primary_key=True)
    subject: Mapped[str] = mapped_column(Chars(255), primary_key=True)
    user_id: Mapped[Ref] = mapped_column(sa.ForeignKey("core_user.id", ondelete="CASCADE"), index=True)
    created: Mapped[datetime.datetime] = mapped_column(default=now)


class SignInCounter(Base):
    """Counter of failed sign-ins ``since`` a time; ``known`` is the time of the last success.

    See :mod:`netinv_signin.passwords`.
    """

    __tablename__ = "core_sign_in_counter"

    bucket: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)
    failures: Mapped[int] = mapped_column(sa.Integer)
    since: Mapped[datetime.datetime]
    known: Mapped[datetime.datetime | None]


class ConfigurationVersion(Base):
    """Single row with the version of the configuration; every write to it invalidates the caches of all processes."""

    __tablename__ = "core_configuration_version"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(sa.BigInteger, default=0)


user_groups = many_to_many("core_user_group", "core_user", "core_group")
permission_users = many_to_many("core_permission_user", "core_permission", "core_user")
permission_groups = many_to_many("core_permission_group", "core_permission", "core_group")
permission_types = content_type_table("core_permission_type", "core_permission")
