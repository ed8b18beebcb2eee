"""Every hook a package may implement, one function each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click

    from netinv_core.app import App
    from netinv_core.changes import Change
    from netinv_core.context import Context
    from netinv_core.dumps import Derived, Part, Source
    from netinv_core.http.metrics import Sample
    from netinv_core.http.renditions import Rendition
    from netinv_core.read.filters import Filter
    from netinv_core.recording import Follower
    from netinv_core.registry import Endpoint, Registry
    from netinv_core.resource import Spec
    from netinv_core.work import Task

hookspec = pluggy.HookspecMarker("netinv")
hookimpl = pluggy.HookimplMarker("netinv")


@hookspec
def netinv_app() -> App:  # type: ignore[empty-body]
    """The application this package contributes."""


@hookspec
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[Spec]:  # type: ignore[empty-body]
    """Fields to attach to a resource of any package."""


@hookspec
def netinv_filters(registry: Registry, endpoint: Endpoint) -> Iterable[Filter]:  # type: ignore[empty-body]
    """Query parameters to attach to a resource of any package."""


@hookspec
def netinv_parameters(context: Context, endpoint: Endpoint) -> Mapping[str, Filter]:  # type: ignore[empty-body]
    """Query parameters of a resource that depend on the configuration; asked when a query names one that the resource itself does not have."""


@hookspec
def netinv_renditions(registry: Registry) -> Iterable[Rendition]:  # type: ignore[empty-body]
    """Other forms of lists than pages of JSON, each asked for by a query parameter (:class:`netinv_core.http.renditions.Rendition`)."""


@hookspec
def netinv_relations(registry: Registry, endpoint: Endpoint) -> dict[str, Any]:  # type: ignore[empty-body]
    """Steps (:class:`netinv_core.read.paths.Relation`) to attach to a resource of any package, by name."""


@hookspec
def netinv_rules(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:  # type: ignore[empty-body]
    """Rules to attach to a resource of any package; see :meth:`netinv_core.resource.Resource.rule`."""


@hookspec
def netinv_dependents(registry: Registry) -> Iterable[Any]:  # type: ignore[empty-body]
    """Rows that go with an object of any model (:class:`netinv_core.write.delete.Dependents`)."""


@hookspec
def netinv_seed(context: Context) -> None:
    """Writes the rows a fresh database starts with; called after every migration, so it must not repeat itself."""


@hookspec
def netinv_importers(registry: Registry) -> Mapping[str, Source | Part | Derived]:  # type: ignore[empty-body]
    """What the models of a NetBox dump become here, by their names there (``dcim.site``); see :mod:`netinv_core.dumps`."""


@hookspec
def netinv_commands() -> Mapping[str, Iterable[click.Command]]:  # type: ignore[empty-body]
    """Commands for the command line, by the group they belong to: ``netinv`` itself, or ``import``."""


@hookspec
def netinv_followers(context: Context, changes: Sequence[Change]) -> Iterable[Follower]:  # type: ignore[empty-body]
    """Rows to be written along with the records of these changes, in their statement where the database allows it."""


@hookspec
def netinv_recorded(context: Context, changes: Sequence[Change]) -> None:
    """Told of the changes of a unit of work, in its transaction, once their records are written."""


@hookspec
def netinv_tasks(registry: Registry) -> Iterable[Task]:  # type: ignore[empty-body]
    """What the worker does beside the core's own tasks (:class:`netinv_core.work.Task`)."""


@hookspec
def netinv_status(context: Context) -> dict[str, Any]:  # type: ignore[empty-body]
    """Entries for ``/api/status/``."""


@hookspec
def netinv_metrics(context: Context) -> Iterable[Sample]:  # type: ignore[empty-body]
    """Figures for ``/metrics`` (:class:`netinv_core.http.metrics.Sample`)."""
