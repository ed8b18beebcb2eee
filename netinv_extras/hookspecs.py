"""Hooks of this application that other packages may implement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookspec

if TYPE_CHECKING:
    from netinv_core.types import Endpoint, FieldFactory, Registry
    from netinv_extras.config_contexts.scopes import Scope
    from netinv_extras.git.sync import ContentKind
    from netinv_extras.secrets import Provider


@hookspec
def netinv_context_scopes(registry: Registry) -> Iterable[Scope]:
    """Scopes of config contexts, and the models that have one (:class:`netinv_extras.config_contexts.scopes.Scope`)."""


@hookspec
def netinv_git_content_kinds(registry: Registry) -> Mapping[str, ContentKind]:
    """Kinds of contents that a Git repository may provide, by label (:class:`netinv_extras.git.sync.ContentKind`)."""


@hookspec
def netinv_graphql_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """Fields of a resource of any package that only GraphQL shows."""


@hookspec
def netinv_known_statuses(registry: Registry) -> Iterable[str]:
    """Slugs of statuses that the package looks up by slug. These statuses keep their slug and cannot be deleted."""


@hookspec
def netinv_secret_providers(registry: Registry) -> Mapping[str, Provider]:
    """Providers of the values of secrets, by name (:class:`netinv_extras.secrets.Provider`)."""


@hookspec
def netinv_jobs(registry: Registry) -> Iterable[type]:
    """Classes of jobs, which users start and the worker runs."""
