"""The home page: what needs attention, how many objects there are, and widgets of packages.

An empty inventory gets ways to begin instead of the numbers, one with few objects both.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.backups import schedule as backups
from netinv_core.db import revisions
from netinv_core.hookspecs import hookimpl
from netinv_core.http.security_policy import API_ACCESS
from netinv_core.labels import description_of, plural_of
from netinv_core.read.shared_selects import OwnedSelect, rows_of_all
from netinv_core.registry_cache import cached_in_registry
from netinv_core.tasks import workers
from netinv_web.extensions import (
    Attention,
    CountedAttention,
    FirstStep,
    Rendered,
    Widget,
    call_of_extension,
    extensions_of,
    items_for,
    owned_items_for,
    render_safely,
)
from netinv_web.failures import log_failure
from netinv_web.lists import pinned_views
from netinv_web.lists.columns import presentation_of
from netinv_web.menu import declared_sections, may
from netinv_web.pages import fragment
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

SYSTEM = "/system/"  # path of the page with packages that do not start, and pending migrations
WIDGETS = "netinv_web:templates/loaded_widgets.jinja2"
CONDITION = "the condition of an entry under Needs attention"
FEW_OBJECTS = 10  # of an inventory that has just begun


@dataclasses.dataclass(frozen=True)
class ResourceCount:
    """The number of the objects of a resource that the user may view."""

    endpoint: Endpoint
    title: str
    path: str
    count: int


def show(request: Request) -> Any:
    """The home page. ``_widget`` asks for lazy widgets only; with ``_show=all`` they are part of the page."""
    uow, widgets = request.uow, _widgets(request)
    if (names := uow.query.get("_widget")) is not None:
        wanted = names[-1].split(",")
        return fragment(
            request, WIDGETS, {"widgets": _render_widgets(request, [w for w in widgets if w.name in wanted])}
        )
    lazy = [] if "_show" in uow.query else [widget for widget in widgets if widget.lazy]
    counts = counts_of(uow)
    total = sum(item.count for item in counts)
    begins = total == 0 or (uow.identity.superuser and total <= FEW_OBJECTS)
    return {
        "tiles": pinned_views.tiles_of(request),
        "attention": attention(request),
        "counts": counts,
        "begins": begins,
        "first_steps": first_steps(request, counts) if begins else [],
        "empty": total == 0,
        "widgets": _render_widgets(request, widgets, lazy),
        "lazy_widgets": lazy,
    }


def _widgets(request: Request) -> list[Widget]:
    """The widgets that the page has. One whose answer fails is left out, which is logged."""
    found = []
    registry = request.registry.netinv
    for widget in extensions_of(registry.hooks.netinv_web_widgets, registry=registry):
        try:
            if call_of_extension(request, widget, "applies", widget.applies):
                found.append(widget)
        except Exception:
            log_failure(registry, "the widget %r failed on %s", widget.name, request.path)
    return found


def _render_widgets(
    request: Request, widgets: Sequence[Widget], lazy: Sequence[Widget] = ()
) -> list[tuple[Widget, Rendered | None]]:
    """Widgets as they are shown, without those that have nothing to show; of those that are loaded later, the place."""
    rendered = [(widget, None if widget in lazy else render_safely(request, widget)) for widget in widgets]
    return [(widget, result) for widget, result in rendered if result is not None or widget in lazy]


@cached_in_registry
def counted_endpoints(registry: Registry) -> tuple[Endpoint, ...]:
    """The resources whose objects are counted, in the order of the navigation."""
    names = [
        (app, name) for section, app in declared_sections(registry) for name in section.entries if isinstance(name, str)
    ]
    endpoints = [registry.by_path[name] for name in names if name in registry.by_path]
    return tuple(endpoint for endpoint in endpoints if presentation_of(endpoint).counted)


def counts_of(uow: UnitOfWork) -> list[ResourceCount]:
    """The numbers of objects that the user may view; one statement for all resources."""
    endpoints = [endpoint for endpoint in counted_endpoints(uow.registry) if may(uow, endpoint, "view")]
    queries: list[Any] = []
    for number, endpoint in enumerate(endpoints):
        table = endpoint.table.alias()
        limits = permissions.visible(uow, endpoint, table)
        position: Any = sa.literal_column(str(number))
        queries.append(sa.select(position, sa.func.count()).select_from(table).where(*limits))
    counts = dict(uow.execute(sa.union_all(*queries)).tuples().all()) if queries else {}
    return [
        ResourceCount(endpoint, plural_of(endpoint), page_path(endpoint), counts[number])
        for number, endpoint in enumerate(endpoints)
    ]


def first_steps(request: Request, counts: list[ResourceCount]) -> list[FirstStep]:
    """Ways to begin: form and import for the first resource that the user may add objects of, and those of packages."""
    steps: list[FirstStep] = []
    for item in counts:
        endpoint = item.endpoint
        if "add" in endpoint.resource.writes and may(request.uow, endpoint, "add"):
            steps.append(FirstStep(f"Add a {endpoint.title}", f"{item.path}add/", description_of(endpoint)))
            text = (
                f"From a spreadsheet or a file: CSV, YAML or JSON. Every row is checked before {item.title} are saved."
            )
            steps.append(FirstStep(f"Import {endpoint.plural}", f"{item.path}import/", text))
            break
    return steps + items_for(
        request, "netinv_web_first_steps", FirstStep, lambda text: FirstStep("Show the status", "/api/status/", text)
    )


def attention(request: Request) -> list[Attention]:
    """The entries of all packages; those that count objects take one statement together."""
    items = owned_items_for(request, "netinv_web_attention", Attention, Attention)
    counts = _count_attention(
        request.uow, [(package, item) for package, item in items if isinstance(item, CountedAttention)]
    )
    shown = []
    for _, item in items:
        if not isinstance(item, CountedAttention):
            shown.append(item)
        elif number := counts.get(id(item)):
            text = item.one if number == 1 else item.text.replace("{:,}", f"{number:,}")
            shown.append(Attention(text, item.path, item.link_text))
    return shown


def _count_attention(uow: UnitOfWork, items: Sequence[tuple[str, CountedAttention]]) -> dict[int, int]:
    """The numbers of objects that the user may view, by ``id(entry)``, of entries with their packages; one statement,
    none without entries. The entry of a plugin whose condition fails is left out.
    """
    viewed = [
        (package, item, endpoint)
        for package, item in items
        if (endpoint := uow.registry.get(item.label)) is not None and may(uow, endpoint, "view")
    ]
    queries: list[OwnedSelect] = []
    for number, (package, item, endpoint) in enumerate(viewed):
        limits = permissions.visible(uow, endpoint, endpoint.table)
        position: Any = sa.literal_column(str(number))
        counted = sa.select(position, sa.func.count()).select_from(endpoint.table)
        try:
            queries.append((package, counted.where(item.condition, *limits)))
        except sa.exc.ArgumentError as error:
            uow.registry.leave_out(package, error, CONDITION, uow)
    counts = dict(rows_of_all(uow, queries, CONDITION))
    return {id(item): counts[number] for number, (_, item, _) in enumerate(viewed) if number in counts}


@hookimpl
def netinv_web_attention(request: Request) -> list[Attention]:
    """Packages that do not start, migrations that are not applied, and background work that stands still; for
    superusers.
    """
    if not request.uow.identity.superuser:
        return []
    registry = request.registry.netinv
    items = [Attention(f"The package {item.name} does not start: {item.reason}", SYSTEM) for item in registry.broken]
    missing = pending_migrations(registry, request.registry.netinv_engine)
    if missing:
        text = f"The database lacks migrations ({', '.join(missing)}): run `netinv migrate` and restart the service."
        items.append(Attention(text, SYSTEM))
        return items
    return items + attention_of_workers(request.uow.connection, registry.settings)


def attention_of_workers(connection: sa.Connection, settings: Mapping[str, Any]) -> list[Attention]:
    """No worker, tasks that fail, and backups that failed or are overdue; two statements."""
    items = []
    alive, failing = workers.live(connection)
    if settings["queue_url"] and not alive:
        items.append(Attention("No worker is running: webhooks, jobs and other background work wait.", SYSTEM))
    if failing:
        text = f"Background work failed at its last run, see the log of the worker: {', '.join(failing)}"
        items.append(Attention(text, SYSTEM))
    if settings["backup_folder"]:
        state = backups.state(connection)
        if state.failed:
            items.append(Attention("The last backup failed: see the log of the worker.", SYSTEM))
        elif state.is_overdue(settings["backup_interval"]):
            items.append(Attention("A backup is overdue: see the log of the worker.", SYSTEM))
    return items


def pending_migrations(registry: Registry, engine: sa.Engine) -> list[str]:
    """The migrations that the database lacks. They are not looked for again once there are none."""
    if registry in _migrated:
        return []
    missing = revisions.pending_heads(engine, registry)
    if not missing:
        _migrated.add(registry)
    return missing


_migrated: weakref.WeakSet[Registry] = weakref.WeakSet()


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page("/", show, "netinv_web:templates/home.jinja2", permission=API_ACCESS)
