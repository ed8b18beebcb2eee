"""Secrets: where a password or token is to be found, in groups by what it opens. The values themselves are never stored or sent."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyramid.request import Request
from sqlalchemy.orm import Mapped

from netinv_core.http.actions import documented
from netinv_core.http.views import key_of
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Model, Organizational, Primary
from netinv_core.models.columns import CASCADE, Choices, Description, Name, Ref, Slug, choice, foreign_key, json_document, required_text
from netinv_core.read import listing
from netinv_core.registry import Registry
from netinv_core.resource import Resource, reverse_fk
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import ALL, Draft
from netinv_extras import allowed_files

ACCESS_TYPES = Choices.of(*((name, name) for name in ("Generic", "Console", "gNMI", "HTTP(S)", "NETCONF", "REST", "RESTCONF", "SNMP", "SSH")))
SECRET_TYPES = Choices.of(*((name, name.capitalize()) for name in ("key", "password", "secret", "token", "username")))
LONGEST = 65536


class SecretError(Exception):
    """A value that cannot be had; its kind is told by the class, the reason by the message."""


class SecretParametersError(SecretError):
    """The secret does not say enough of where its value is."""


class SecretProviderError(SecretError):
    """What keeps the value cannot be asked."""


class SecretValueNotFoundError(SecretError):
    """There is no such value where the secret says."""


@dataclasses.dataclass(frozen=True)
class Provider:
    """Something that keeps values: its name in messages, the parameters it needs (texts), and how a value is read, given all that the secret says.

    ``read`` raises :class:`SecretError`; what else it raises counts as a provider that cannot be asked.
    """

    title: str
    needs: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], str]
    fault: Callable[[Mapping[str, Any]], str | None] = lambda parameters: None


def _from_environment(settings: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    variable = parameters["variable"]
    if not variable.startswith(tuple(settings["secrets_env_prefixes"])):
        raise SecretProviderError("The setting netinv.secrets_env_prefixes does not allow this variable.")
    try:
        return os.environ[variable]
    except (KeyError, ValueError):  # ValueError: no variable can have that name
        raise SecretValueNotFoundError(f'Undefined environment variable "{variable}"!') from None


def _from_file(settings: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """The first :data:`LONGEST` characters of an ordinary file; others may never end."""
    path = parameters["path"]
    try:
        place = allowed_files.resolve(path, settings, "secrets_file_folders")
        if not place.is_file():
            raise SecretValueNotFoundError(f'File "{path}" not found!')
        with place.open(encoding="utf-8") as file:
            return file.read(LONGEST).strip()
    except allowed_files.NotAllowed as error:
        raise SecretProviderError(str(error)) from None
    except UnicodeDecodeError:
        raise SecretProviderError(f'File "{path}" cannot be read: it is not UTF-8') from None
    except OSError as error:
        raise SecretProviderError(f'File "{path}" cannot be read: {error.strerror}') from None


def _path_fault(parameters: Mapping[str, Any]) -> str | None:
    path = parameters.get("path")
    return None if isinstance(path, str) and path.startswith("/") else "Path must be an absolute path, not a relative one"


def _own_providers(settings: Mapping[str, Any]) -> dict[str, Provider]:
    return {
        "environment-variable": Provider("EnvironmentVariableSecretsProvider", ("variable",), functools.partial(_from_environment, settings)),
        "text-file": Provider("TextFileSecretsProvider", ("path",), functools.partial(_from_file, settings), _path_fault),
    }


def providers(registry: Registry) -> dict[str, Provider]:
    """The providers of secrets by name: environment and files as far as the settings allow, and those of packages."""
    found = _own_providers(registry.settings)
    for some in registry.hooks.netinv_secret_providers(registry=registry):
        found |= some
    return found


class Secret(Primary):
    """Where one value is to be found: a provider, and what the provider is to be told."""

    __tablename__ = "extras_secret"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]
    provider: Mapped[str] = required_text(100)
    parameters: Mapped[dict[str, Any]] = json_document(default=dict)


class SecretsGroup(Organizational):
    """The secrets that together open something, each for a way of access and a use."""

    __tablename__ = "extras_secrets_group"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class SecretsGroupAssociation(Model):
    """A secret in a group: for which way of access, and as what."""

    __tablename__ = "extras_secrets_group_association"
    __table_args__ = (unique_set("group_id", "access_type", "secret_type"),)

    group_id: Mapped[Ref] = foreign_key(SecretsGroup, on_delete=CASCADE)
    access_type: Mapped[str] = choice(ACCESS_TYPES, 32, default=None, required=True, plain=True)
    secret_type: Mapped[str] = choice(SECRET_TYPES, 32, default=None, required=True, plain=True)
    secret_id: Mapped[Ref] = foreign_key(Secret, on_delete=CASCADE)


secrets = Resource(
    Secret,
    "secrets",
    brief=["name", "slug"],
    search=["name", "slug", "description"],
    example={"provider": "environment-variable", "parameters": {"variable": "HOME"}},
    exempt_by_name_only=True,
)

secrets_groups = Resource(
    SecretsGroup,
    "secrets-groups",
    brief=["name", "slug"],
    search=["name", "slug", "description"],
    fields=[reverse_fk("secrets", "extras.secretsgroupassociation", "group_id")],
    exempt_by_name_only=True,
)


def association_display_name(group: str, access_type: str, secret_type: str, secret: str) -> str:
    """How a secret in a group is called."""
    return f"{group}: {access_type} {secret_type}: {secret}"


secrets_groups_associations = Resource(
    SecretsGroupAssociation,
    "secrets-groups-associations",
    display=(association_display_name, "group.name", "access_type", "secret_type", "secret.name"),
    brief=["access_type", "secret_type", "secret"],
    order=["group.name", "access_type", "secret_type"],
    recorded=False,
    exempt_by_name_only=True,
)


@secrets.rule
def secrets_can_be_looked_up(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A secret has a provider that is there, and says where it keeps the value."""
    known = providers(uow.registry)
    for draft in drafts:
        if not draft["parameters"]:
            draft.reject("parameters", "This field cannot be blank.")
        elif not isinstance(draft["parameters"], dict):
            draft.reject("parameters", 'Parameters must be in object form. Example: {"variable": "TOKEN"}')
        elif draft["provider"] in known and (reason := known[draft["provider"]].fault(draft["parameters"])) is not None:
            draft.reject(ALL, reason)
        if draft["provider"] not in known:
            draft.reject("provider", f'No registered provider "{draft["provider"]}" is available')


def value_of(registry: Registry, secret: Mapping[str, Any]) -> str:
    """The value of a secret, given its representation; for the use of netinv itself.

    :raises SecretError: when it cannot be had
    """
    provider = providers(registry).get(secret["provider"])
    if provider is None:
        raise SecretProviderError(f'Secret "{secret["name"]}": no registered provider "{secret["provider"]}" is available')
    where = f'Secret "{secret["name"]}" (provider "{provider.title}")'
    for name in provider.needs:
        if not isinstance(given := secret["parameters"].get(name), str) or not given:
            raise SecretParametersError(f'{where}: The parameter "{name}" is missing!')
    try:
        return provider.read(secret["parameters"])
    except SecretError as error:
        raise type(error)(f"{where}: {error}") from None
    except Exception as error:  # a package's own; its words may hold what was read
        raise SecretProviderError(f"{where}: it failed ({type(error).__name__})") from None


_CHECKED = {
    "type": "object",
    "properties": {"result": {"type": "boolean"}, "message": {"type": "string"}},
    "required": ["result", "message"],
}


@documented(_CHECKED)
def check(request: Request) -> dict[str, Any]:
    """Whether the value of a secret can be had, and if not, why; never the value."""
    uow = request.uow
    secret = listing.detail(uow, request.context.endpoint, key_of(request))
    try:
        value_of(uow.registry, secret)
    except SecretError as error:
        return {"result": False, "message": f"{type(error).__name__}: {error}"}
    return {"result": True, "message": "Passed"}


def includeme(config: Any) -> None:
    """Adds ``secrets/{id}/check/``."""
    config.add_netinv_action("extras/secrets", "check", get=check, permission="view")
