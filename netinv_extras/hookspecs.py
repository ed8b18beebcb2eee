"""Hooks of this application that other packages may implement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookspec

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory
    from netinv_extras.change_requests.pictures import ChangePicture
    from netinv_extras.config_contexts.scopes import ContextScope
    from netinv_extras.git.sync import ContentKind
    from netinv_extras.jobs import Job
    from netinv_extras.secrets import SecretsProvider
    from netinv_extras.templates.members import Member


@hookspec
def netinv_context_scopes(registry: Registry) -> Iterable[ContextScope]:
    """Scopes of config contexts, and the models that have one
    (:class:`netinv_extras.config_contexts.scopes.ContextScope`).
    """


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
def netinv_change_pictures(changes: Sequence[Any]) -> Iterable[ChangePicture]:
    """Pictures that changes show in (:class:`netinv_extras.change_requests.pictures.ChangePicture`).

    A change has ``endpoint``, ``key``, and the representations ``before`` and ``after``, ``None`` for none.
    """


@hookspec
def netinv_secret_providers(registry: Registry) -> Mapping[str, SecretsProvider]:
    """Providers of the values of secrets, by name (:class:`netinv_extras.secrets.SecretsProvider`)."""


@hookspec
def netinv_jobs(registry: Registry) -> Iterable[type[Job]]:
    """Classes of jobs, which users start and the worker runs."""


@hookspec
def netinv_template_members(registry: Registry, endpoint: Endpoint) -> Mapping[str, Member]:
    """Attributes of objects in templates that are neither fields nor relations, by name
    (:class:`netinv_extras.templates.members.Member`).
    """


@hookspec
def netinv_template_filters(registry: Registry) -> Mapping[str, Callable[..., Any]]:
    """Filters of templates by name: functions of a module that imports neither netinv nor its own package, since it is
    loaded by the renderer.
    """
