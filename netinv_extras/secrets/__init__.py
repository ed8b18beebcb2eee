"""Secrets: references to passwords and tokens at a provider, and groups of them. Values are never stored or sent."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from sqlalchemy.orm import Mapped

from netinv_core import setting_variables
from netinv_core.http.actions import documented
from netinv_core.http.views import key_of
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Model, Organizational, Primary
from netinv_core.models.columns import (
    CASCADE,
    Choices,
    Description,
    Name,
    Ref,
    Slug,
    choice,
    foreign_key,
    json_document,
    required_text,
)
from netinv_core.read import listing
from netinv_core.resource import Resource, reverse_fk
from netinv_core.write.draft import ALL
from netinv_extras import allowed_files

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

ACCESS_TYPES = Choices.of(
    *((name, name) for name in ("Generic", "Console", "gNMI", "HTTP(S)", "NETCONF", "REST", "RESTCONF", "SNMP", "SSH"))
)
SECRET_TYPES = Choices.of(*((name, name.capitalize()) for name in ("key", "password", "secret", "token", "username")))
MAX_VALUE_LENGTH = 65536  # characters


class SecretError(Exception):
    """Failure to read the value of a secret. Clients see the name of the class and the message."""


class SecretParametersError(SecretError):
    """Missing parameter of a secret."""


class SecretProviderError(SecretError):
    """Missing or failing provider."""


class SecretValueNotFoundError(SecretError):
    """Missing value at the provider."""


@dataclasses.dataclass(frozen=True)
class SecretsProvider:
    """Source of values, such as environment variables or a vault.

    ``title`` names it in messages; ``needs`` lists the required parameters, which are texts. ``read`` returns the value
    for a secret's parameters or raises :class:`SecretError`; other exceptions count as a failing provider. ``fault``
    returns the error text for invalid parameters, or ``None``.
    """

    title: str
    needs: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], str]
    fault: Callable[[Mapping[str, Any]], str | None] = lambda parameters: None


def _from_environment(settings: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    variable = parameters["variable"]
    is_own = setting_variables.is_of_setting(variable, settings)  # netinv's database and secret are not for users
    if is_own or not variable.startswith(tuple(settings["secrets_env_prefixes"])):
        raise SecretProviderError("The setting netinv.secrets_env_prefixes does not allow this variable.")
    try:
        return os.environ[variable]
    except (KeyError, ValueError):  # ValueError: no variable can have that name
        raise SecretValueNotFoundError(f'Undefined environment variable "{variable}"!') from None


def _from_file(settings: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """Reads at most :data:`MAX_VALUE_LENGTH` characters of a regular file."""
    path = parameters["path"]
    try:
        resolved = allowed_files.resolve(path, settings, "secrets_file_folders")
        if not resolved.is_file():
            raise SecretValueNotFoundError(f'File "{path}" not found!')
        with resolved.open(encoding="utf-8") as file:
            return file.read(MAX_VALUE_LENGTH).strip()
    except allowed_files.PathNotAllowed as error:
        raise SecretProviderError(str(error)) from None
    except UnicodeDecodeError:
        raise SecretProviderError(f'File "{path}" cannot be read: it is not UTF-8') from None
    except OSError as error:
        raise SecretProviderError(f'File "{path}" cannot be read: {error.strerror}') from None


def _path_fault(parameters: Mapping[str, Any]) -> str | None:
    path = parameters.get("path")
    is_absolute = isinstance(path, str) and path.startswith("/")
    return None if is_absolute else "Path must be an absolute path, not a relative one"


def _builtin_providers(settings: Mapping[str, Any]) -> dict[str, SecretsProvider]:
    environment, file = functools.partial(_from_environment, settings), functools.partial(_from_file, settings)
    return {
        "environment-variable": SecretsProvider("EnvironmentVariableSecretsProvider", ("variable",), environment),
        "text-file": SecretsProvider("TextFileSecretsProvider", ("path",), file, _path_fault),
    }


def providers(registry: Registry) -> dict[str, SecretsProvider]:
    """Returns the providers by name: the builtin ones, and those of the hook ``netinv_secret_providers``."""
    by_name = _builtin_providers(registry.settings)
    for contributed in registry.hooks.netinv_secret_providers(registry=registry):
        by_name |= contributed
    return by_name


class Secret(Primary):
    """A reference to a value that is kept elsewhere: a provider and its parameters."""

    __tablename__ = "extras_secret"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]
    provider: Mapped[str] = required_text(100)
    parameters: Mapped[dict[str, Any]] = json_document(default=dict)


class SecretsGroup(Organizational):
    """A set of secrets that belong together, such as user name and password of a device."""

    __tablename__ = "extras_secrets_group"

    name: Mapped[Name] = required_text(100, unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class SecretsGroupAssociation(Model):
    """A secret in a group, with the type of access and its use."""

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
    """Returns the display name of a secret in a group."""
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
def provider_and_parameters_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects unknown providers, and parameters that are missing or invalid."""
    provider_by_name = providers(uow.registry)
    for draft in drafts:
        if not draft["parameters"]:
            draft.reject("parameters", "This field cannot be blank.")
        elif not isinstance(draft["parameters"], dict):
            draft.reject("parameters", 'Parameters must be in object form. Example: {"variable": "TOKEN"}')
        elif (
            draft["provider"] in provider_by_name
            and (reason := provider_by_name[draft["provider"]].fault(draft["parameters"])) is not None
        ):
            draft.reject(ALL, reason)
        if draft["provider"] not in provider_by_name:
            draft.reject("provider", f'No registered provider "{draft["provider"]}" is available')


def value_of(registry: Registry, secret: Mapping[str, Any]) -> str:
    """Reads the value of a secret; for internal use, never for an answer.

    :param secret: the row or representation of the secret
    :raises SecretError: when this fails
    """
    provider = providers(registry).get(secret["provider"])
    if provider is None:
        raise SecretProviderError(
            f'Secret "{secret["name"]}": no registered provider "{secret["provider"]}" is available'
        )
    where = f'Secret "{secret["name"]}" (provider "{provider.title}")'
    for name in provider.needs:
        if not isinstance(value := secret["parameters"].get(name), str) or not value:
            raise SecretParametersError(f'{where}: The parameter "{name}" is missing!')
    try:
        return provider.read(secret["parameters"])
    except SecretError as error:
        raise type(error)(f"{where}: {error}") from None
    except Exception as error:  # raised by a package's provider; its text may contain the value
        raise SecretProviderError(f"{where}: it failed ({type(error).__name__})") from None


_CHECKED = {
    "type": "object",
    "properties": {"result": {"type": "boolean"}, "message": {"type": "string"}},
    "required": ["result", "message"],
}


@documented(_CHECKED)
def check(request: Request) -> dict[str, Any]:
    """Checks that the value of a secret can be read. The answer holds the error text, never the value."""
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
