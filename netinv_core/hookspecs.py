"""Every hook a package may implement, one function each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click
    from sqlalchemy.engine import Engine

    from netinv_core.app import App
    from netinv_core.auth.providers import IdentityProvider
    from netinv_core.changelog.change_set import Change
    from netinv_core.changelog.guards import ChangeGuard
    from netinv_core.changelog.recorder import RelatedInsert
    from netinv_core.endpoint import Endpoint
    from netinv_core.findings import Finding
    from netinv_core.http.list_formats import ListFormat
    from netinv_core.http.metrics import Sample
    from netinv_core.importing.dump import Declaration
    from netinv_core.read.filters import Filter
    from netinv_core.read.recognisers import SearchProvider
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory
    from netinv_core.tasks.queue import Task
    from netinv_core.tasks.retention import Retention
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.delete import GenericCascade
    from netinv_core.write.dry_run import Effects
    from netinv_core.write.table_rows import JoinedColumns

#: Decorator of the specification of a hook, in the module that ``App(hooks=…)`` names.
hookspec = pluggy.HookspecMarker("netinv")
#: Decorator of the implementation of a hook; ``@hookimpl(optionalhook=True)`` of one whose package may be missing.
hookimpl = pluggy.HookimplMarker("netinv")


@hookspec
def netinv_app() -> App:
    """The application this package contributes."""


@hookspec
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """Fields to attach to a resource of any package."""


@hookspec
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:
    """Query parameters to attach to a resource of any package."""


@hookspec
def netinv_dynamic_filters(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Filter]:
    """Query parameters of a resource that depend on the configuration.

    Called for a query that names an unknown parameter.
    """


@hookspec
def netinv_joined_columns(registry: Registry, endpoint: Endpoint) -> Iterable[JoinedColumns]:
    """Columns of a resource's tables that together name what several of its fields hold
    (:class:`netinv_core.write.table_rows.JoinedColumns`).
    """


@hookspec
def netinv_list_formats(registry: Registry) -> Iterable[ListFormat]:
    """Formats of lists besides pages of JSON, each requested by a query parameter
    (:class:`netinv_core.http.list_formats.ListFormat`).
    """


@hookspec
def netinv_search(registry: Registry) -> Iterable[SearchProvider]:
    """Recognisers of the search over all resources (:class:`netinv_core.read.recognisers.SearchProvider`)."""


@hookspec
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:
    """Relations (:class:`netinv_core.sql.relations.Relation`) to attach to a resource of any package, by name."""


@hookspec
def netinv_identity_providers(registry: Registry) -> Iterable[IdentityProvider]:
    """Ways to sign in besides stored passwords (:class:`netinv_core.auth.providers.IdentityProvider`)."""


@hookspec
def netinv_document_members(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Callable[..., None]]:
    """Members that the JSON objects of an endpoint may have (:mod:`netinv_core.sql.documents`), by name.

    Each has a function that raises ``ValueError`` for names within the member, a lookup and a value that do not fit.
    """


@hookspec
def netinv_preparations(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Functions that complete objects of a resource of any package before its rules; see
    :meth:`netinv_core.resource.Resource.prepare`.
    """


@hookspec
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Rules to attach to a resource of any package; see :meth:`netinv_core.resource.Resource.rule`."""


@hookspec
def netinv_written_rules(registry: Registry) -> Iterable[Any]:
    """Functions ``(uow, endpoint, drafts)`` that judge the objects of any resource after their rows are written, and
    reject drafts; see :mod:`netinv_core.write.written_rules`.
    """


@hookspec
def netinv_generic_cascades(registry: Registry) -> Iterable[GenericCascade]:
    """Rows that are deleted with an object of any model (:class:`netinv_core.write.delete.GenericCascade`)."""


@hookspec
def netinv_seed(uow: UnitOfWork) -> None:
    """Writes the initial rows of a database. Called after every migration, so it must be idempotent."""


@hookspec
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Declaration]:
    """Import of the models of another service, by their labels there (``dcim.site``); see
    :mod:`netinv_core.importing.dump`. The ``product`` is ``netbox``, ``nautobot`` (1.x) or ``nautobot2`` (2.x and
    3.x: what differs from 1.x).
    """


@hookspec
def netinv_commands() -> Mapping[str, Iterable[click.Command]]:
    """Commands for the command line, by the group they belong to: ``netinv`` itself, or ``import``."""


@hookspec
def netinv_change_guards(registry: Registry) -> Iterable[ChangeGuard]:
    """Guards that see objects before they are changed, and may refuse the changes
    (:class:`netinv_core.changelog.guards.ChangeGuard`).
    """


@hookspec
def netinv_change_inserts(uow: UnitOfWork, changes: Sequence[Change]) -> Iterable[RelatedInsert]:
    """Rows to insert together with the records of these changes, in one statement where the database allows it."""


@hookspec
def netinv_changes_recorded(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Called with the changes of a unit of work, in its transaction, after their records are written.

    What it changes itself is recorded in the same request, and the hook is called with these changes, too.
    """


@hookspec
def netinv_reverted(uow: UnitOfWork, changes: Sequence[Any]) -> None:
    """Called after an undo, in its transaction, with the net changes that it undid
    (:class:`netinv_undo.net_changes.NetChange`).
    """


@hookspec
def netinv_change_effects(uow: UnitOfWork, changes: Sequence[Change]) -> Mapping[str, Effects]:
    """Effects that these changes would have after their commit, by name, for the answer to a dry run.

    Called within the savepoint of the dry run, after the records of the changes are written.
    """


@hookspec
def netinv_tasks(registry: Registry) -> Iterable[Task]:
    """Tasks of the worker (:class:`netinv_core.tasks.queue.Task`)."""


@hookspec
def netinv_status(uow: UnitOfWork) -> dict[str, Any]:
    """Entries for ``/api/status/``."""


@hookspec
def netinv_metrics(uow: UnitOfWork) -> Iterable[Sample]:
    """Metrics for ``/metrics`` (:class:`netinv_core.http.metrics.Sample`)."""


@hookspec
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Findings of the self-check ``netinv check`` (:class:`netinv_core.findings.Finding`)."""


@hookspec
def netinv_retention(registry: Registry) -> Iterable[Retention]:
    """Rows that are deleted when they are too old (:class:`netinv_core.tasks.retention.Retention`)."""
