"""Bar of tabs on the pages of an object: lists of what belongs to it, tabs of packages, and the number of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.fields import Reference
from netinv_core.labels import plural_of
from netinv_core.models.columns import CASCADE
from netinv_web.cells import list_parameter
from netinv_web.extensions import ListTab, Tab, call_of_extension, copy_for_plugin, extensions_of, may_further
from netinv_web.failures import log_failure
from netinv_web.lists.columns import presentation_of
from netinv_web.menu import may
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint, IncomingForeignKey
    from netinv_core.uow import UnitOfWork

MAX_COUNT = 1000  # objects of a tab that are counted


@dataclasses.dataclass(frozen=True)
class TabLink:
    """A tab in the bar of an object's page. ``folded`` ones are in the menu of those without contents. Scripts ask
    ``count_path`` for the number of one whose list takes long to count.
    """

    name: str
    title: str
    path: str
    count: int | None = None
    folded: bool = False
    count_path: str = ""

    @property
    def number(self) -> str:
        """The number as text."""
        if self.count is None:
            return ""
        return f"{MAX_COUNT:,}+" if self.count > MAX_COUNT else f"{self.count:,}"


def child_tabs(endpoint: Endpoint) -> list[tuple[str, IncomingForeignKey]]:
    """The tabs with lists of what belongs to the objects of a resource: models with a cascading foreign key to it.

    Those that the presentation names come first.
    """
    tabs: dict[str, IncomingForeignKey] = {}
    for incoming in endpoint.incoming_foreign_keys:
        child = incoming.child
        if incoming.on_delete == CASCADE and list_parameter(incoming) and child.resource.of is None:
            tabs.setdefault(child.resource.name, incoming)
    first = [name for name in presentation_of(endpoint).tabs if name in tabs]
    return [(name, tabs[name]) for name in dict.fromkeys([*first, *tabs])]


def own_tabs(endpoint: Endpoint) -> list[Tab | ListTab]:
    """The tabs of packages."""
    return extensions_of(endpoint.registry.hooks.netinv_web_tabs, endpoint, registry=endpoint.registry)


def tabs_of(
    request: Request, endpoint: Endpoint, representation: Mapping[str, Any], current: str | None = None
) -> list[TabLink]:
    """The tabs of an object that the user may open. Those without contents are folded, except for the current one."""
    uow, base = request.uow, object_path(endpoint, representation["id"])
    tabs = [TabLink("", "Overview", base)]
    listed: dict[str, tuple[Endpoint, Sequence[Any]]] = {}
    for name, incoming in child_tabs(endpoint):
        child = incoming.child
        if may(uow, child, "view"):
            tabs.append(TabLink(name, plural_of(child), f"{base}{name}/"))
            listed[name] = (child, [child.table.c[incoming.attribute] == representation["id"]])
    for tab in own_tabs(endpoint):
        link = TabLink(tab.name, tab.title, f"{base}{tab.name}/")
        if isinstance(tab, ListTab):
            label = tab.label_for(representation)
            if may_further(uow, (label, "view")):
                path = tab.api_path(representation) if not tab.counted else ""
                tabs.append(dataclasses.replace(link, count_path=f"{path}?limit=1" if path else ""))
                conditions = within(request, tab, representation) if tab.counted else None
                if conditions is not None:
                    listed[tab.name] = (uow.registry[label], conditions)
        elif may_further(uow, tab.permission) and _applies(request, tab, representation):
            tabs.append(dataclasses.replace(link, count=_count_of(request, tab, representation)))
    return _with_counts(tabs, _counts(uow, listed), current)


def _with_counts(tabs: Iterable[TabLink], counts: Mapping[str, int], current: str | None) -> list[TabLink]:
    """The tabs with the numbers of those with lists."""
    links: list[TabLink] = []
    for tab in tabs:
        count = counts.get(tab.name, tab.count)
        links.append(dataclasses.replace(tab, count=count, folded=count == 0 and tab.name != current))
    return links


def _counts(uow: UnitOfWork, listed: Mapping[str, tuple[Endpoint, Sequence[Any]]]) -> dict[str, int]:
    """The numbers of objects in lists by name, each up to one more than ``MAX_COUNT``; one statement for all."""
    queries: list[Any] = []
    for number, (child, conditions) in enumerate(listed.values()):
        limits = permissions.visible(uow, child, child.table)
        some: Any = sa.select(sa.literal_column("1").label("one")).select_from(child.table).where(*conditions, *limits)
        counted = some.limit(sa.literal_column(str(MAX_COUNT + 1))).subquery()
        queries.append(sa.select(sa.literal_column(str(number)), sa.func.count()).select_from(counted))
    if not queries:
        return {}
    names = list(listed)
    rows = uow.execute(sa.union_all(*queries) if len(queries) > 1 else queries[0]).tuples()
    return {names[int(number)]: count for number, count in rows}


def within(request: Request, tab: ListTab, representation: Mapping[str, Any]) -> Sequence[Any] | None:
    """The conditions of a package's list; ``None`` where they fail, which is logged."""
    try:
        conditions: Sequence[Any] | None = call_of_extension(
            request, tab, "within", lambda own: tab.within(own, copy_for_plugin(request, tab, representation))
        )
        return conditions
    except Exception:
        log_failure(request.registry.netinv, "the tab %r failed on %s", tab.name, request.path)
        return None


def reference_in(child: Endpoint, filters: Mapping[str, str]) -> str:
    """The reference that filters limit a list by, which has the same value in every row; empty without one."""
    names = [name.removesuffix("_id") for name in filters if name.endswith("_id")]
    return next((name for name in names if isinstance(child.fields.get(name), Reference)), "")


def _applies(request: Request, tab: Tab, representation: Mapping[str, Any]) -> bool:
    """True when an object has a package's tab; false where the answer fails, which is logged."""
    item = copy_for_plugin(request, tab, representation)
    try:
        return bool(call_of_extension(request, tab, "applies", lambda own: tab.applies(own, item)))
    except Exception:
        log_failure(request.registry.netinv, "the tab %r failed on %s", tab.name, request.path)
        return False


def _count_of(request: Request, tab: Tab, representation: Mapping[str, Any]) -> int | None:
    """The number beside the title of a package's tab; ``None`` where counting fails, which is logged."""
    try:
        count = tab.count
        if count is None:
            return None
        item = copy_for_plugin(request, tab, representation)
        number: int | None = call_of_extension(request, tab, "count", lambda own: count(own, item))
        return number
    except Exception:
        log_failure(request.registry.netinv, "the count of the tab %r failed on %s", tab.name, request.path)
        return None
