"""The hooks that this application asks other packages to implement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookspec

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory
    from netinv_extras.config_contexts.scopes import Scope
    from netinv_extras.secrets import Provider


@hookspec
def netinv_context_scopes(registry: Registry) -> Iterable[Scope]:  # type: ignore[empty-body]
    """What config contexts may be limited to, and which objects have one (:class:`netinv_extras.config_contexts.scopes.Scope`)."""


@hookspec
def netinv_graphql_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:  # type: ignore[empty-body]
    """Fields of a resource of any package that GraphQL alone shows."""


@hookspec
def netinv_secret_providers(registry: Registry) -> Mapping[str, Provider]:  # type: ignore[empty-body]
    """What keeps the values of secrets, by the name that a secret gives (:class:`netinv_extras.secrets.Provider`)."""


@hookspec
def netinv_jobs(registry: Registry) -> Iterable[type]:  # type: ignore[empty-body]
    """Classes of work that users ask for and the worker does."""
