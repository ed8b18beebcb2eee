"""The page of an object: its fields in groups, panels, tabs and the way to what belongs to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from markupsafe import Markup, escape
from pyramid.request import Request

from netinv_core import fields
from netinv_core.errors import NotFound
from netinv_core.http.views import key_of
from netinv_core.labels import label_of, plural_of
from netinv_core.models.columns import CASCADE
from netinv_core.read.listing import conditions_of
from netinv_core.read.plan import Row
from netinv_core.read.plans import custom_plan
from netinv_core.types import Endpoint, Field, IncomingForeignKey, JoinedTable, Plan, RowSet, UnitOfWork
from netinv_web.cells import EMPTY, cell, list_parameter, text_markup
from netinv_web.extensions import ListTab, Tab, actions_of, extensions_of, log_failure, may_further
from netinv_web.lists.columns import NEVER, presentation_of
from netinv_web.menu import may
from netinv_web.objects import markdown, object_head, panels, slugs
from netinv_web.pages import fragment
from netinv_web.paths import endpoint_at, object_path, page_path, path_of_url

TEMPLATE = "netinv_web:templates/detail.jinja2"
PANELS = "netinv_web:templates/loaded_panels.jinja2"
# Fields that other parts of the page show.
ELSEWHERE = NEVER | {
    "created",
    "last_updated",
    "notes_url",
    "custom_fields",
    "computed_fields",
    "relationships",
    "tags",
    "comments",
}
COMMENTS = "comments"


@dataclasses.dataclass(frozen=True)
class Fact:
    """A label and the markup of a value."""

    name: str
    label: str
    markup: Markup


@dataclasses.dataclass(frozen=True)
class Group:
    """A group of facts with a heading."""

    title: str
    facts: Sequence[Fact]


def fieldsets_of(endpoint: Endpoint, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The groups of the presentation, limited to ``names``; those without a group come first, below the model's
    name.
    """
    presentation = presentation_of(endpoint)
    stated = [(title, [name for name in group if name in names]) for title, group in presentation.fieldsets]
    grouped = {name for _, group in stated for name in group}
    rest = [name for name in names if name not in grouped]
    title = endpoint.title[:1].upper() + endpoint.title[1:]
    if stated and stated[0][0] == title:
        return [(title, [*stated[0][1], *rest]), *stated[1:]]
    return [(title, rest), *stated] if rest else stated


def shown_fields(endpoint: Endpoint) -> list[Field]:
    """The fields that the page of an object shows as facts. Costly ones have other places, and so have those of other
    rows that are read on request.
    """
    on_request = {name for name in endpoint.opt_in if not endpoint.fields[name].own}
    hidden = {*ELSEWHERE, *presentation_of(endpoint).hidden, *on_request, *endpoint.costly}
    return [
        field
        for name, field in endpoint.fields.items()
        if name not in hidden and not (field.write_only or field.confidential or isinstance(field, fields.Count))
    ]


def read_object(request: Request, endpoint: Endpoint, key: Any) -> tuple[dict[str, Any], dict[str, Markup]]:
    """The representation of an object, and the cells of its fields by name; one plan for each.

    :raises NotFound: when there is no such object, or the user may not view it
    """
    uow, table = request.uow, endpoint.table
    conditions = conditions_of(uow, endpoint, table, (), "view")
    if conditions and uow.execute(sa.select(table.c.id).where(table.c.id == key, *conditions)).first() is None:
        raise NotFound()
    names = [field.name for field in shown_fields(endpoint)]

    def build(plan: Plan, place: JoinedTable) -> Any:
        cells = [(name, cell(plan, place, endpoint.fields[name])) for name in names]
        represented = [
            field for name, field in endpoint.fields.items() if not field.write_only and name not in endpoint.opt_in
        ]
        whole = [(field.name, plan.reader_of(place, field)) for field in represented]

        def read(row: Row, page: RowSet) -> Any:
            return {name: value(row, page) for name, value in whole}, {
                name: escape(value(row, page)) for name, value in cells
            }

        return read

    rows = custom_plan(endpoint, ("detail",), build).fetch(uow, [key])
    if not rows:
        raise NotFound()
    pair: Any = rows[0][1]
    representation, cells = pair
    return representation, cells


def show(request: Request) -> Any:
    """The page of an object. ``_panel`` asks for lazy panels only; with ``_show=all`` they are part of the page.

    A slug in the place of the id leads to the object's page.
    """
    endpoint = request.context.endpoint
    if (response := slugs.redirect(request)) is not None:
        return response
    representation, cells = read_object(request, endpoint, key_of(request))
    names = request.uow.query.get("_panel")
    if names is not None:
        return fragment(request, PANELS, {"panels": panels.requested(request, endpoint, representation, names[-1])})
    facts = {name: Fact(name, label_of(endpoint.fields[name]), markup) for name, markup in cells.items()}
    filled = [name for name, fact in facts.items() if fact.markup != EMPTY]
    values = object_values(request, endpoint, representation, "", cells)
    return values | {
        "groups": [
            Group(title, [facts[name] for name in names]) for title, names in fieldsets_of(endpoint, filled) if names
        ],
        "empty_facts": [fact for name, fact in facts.items() if name not in filled],
        "comments": markdown.render(request, comments) if (comments := representation.get(COMMENTS)) else "",
        "changed": object_head.last_change(request, endpoint, representation),
        "created": text_markup(created) if (created := representation.get("created")) else "",
        **panels.of_page(request, endpoint, representation, complete="_show" in request.uow.query),
    }


def object_values(
    request: Request,
    endpoint: Endpoint,
    representation: Mapping[str, Any],
    tab: str,
    cells: Mapping[str, Markup] | None = None,
) -> dict[str, Any]:
    """The values of the frame around every page of one object: name, summary, tabs, breadcrumb, actions."""
    uow, writes = request.uow, endpoint.resource.writes
    return {
        "endpoint": endpoint,
        "object": representation,
        "path": object_path(endpoint, representation["id"]),
        "list_path": page_path(endpoint),
        "parents": parents_of(uow, endpoint, representation),
        "tabs": tabs_of(request, endpoint, representation),
        "tab": tab,
        "summary": object_head.summary_of(uow, endpoint, representation, cells or {}),
        "may_add": "add" in writes and may(uow, endpoint, "add"),
        "may_change": "change" in writes and may(uow, endpoint, "change"),
        "may_delete": "delete" in writes and may(uow, endpoint, "delete"),
        "actions": actions_of(request, endpoint, "object", representation),
    }


def parents_of(uow: UnitOfWork, endpoint: Endpoint, representation: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The breadcrumb: title and path of the object that this one belongs to, by a required or cascading foreign key.

    There is none where the user may view no such objects.
    """
    for attribute, column in endpoint.table.c.items():
        name = attribute.removesuffix("_id")
        field, value = endpoint.fields.get(name), representation.get(name)
        if not isinstance(field, fields.Reference) or isinstance(field, fields.Status) or not isinstance(value, dict):
            continue
        if field.link.on_delete == CASCADE or (not column.nullable and name == "site"):
            path = path_of_url(value["url"], uow.base)
            parent = endpoint_at(uow.registry, path)
            return [(str(value.get("display", "")), path)] if parent is not None and may(uow, parent, "view") else []
    return []


@dataclasses.dataclass(frozen=True)
class TabLink:
    """A tab in the bar of an object's page."""

    name: str
    title: str
    path: str
    count: int | None = None


def child_tabs(endpoint: Endpoint) -> list[tuple[str, IncomingForeignKey]]:
    """The tabs with lists of what belongs to the objects of a resource: models with a cascading foreign key to it."""
    tabs: dict[str, IncomingForeignKey] = {}
    for incoming in endpoint.incoming_foreign_keys:
        child = incoming.child
        if incoming.on_delete == CASCADE and list_parameter(incoming) and child.resource.of is None:
            tabs.setdefault(child.resource.name, incoming)
    return list(tabs.items())


def own_tabs(endpoint: Endpoint) -> list[Tab | ListTab]:
    """The tabs of packages."""
    return extensions_of(endpoint.registry.hooks.netinv_web_tabs, endpoint, registry=endpoint.registry)


def tabs_of(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> list[TabLink]:
    """The tabs of an object that the user may open."""
    uow, base = request.uow, object_path(endpoint, representation["id"])
    tabs = [TabLink("", "Overview", base)]
    for name, incoming in child_tabs(endpoint):
        if may(uow, incoming.child, "view"):
            tabs.append(TabLink(name, plural_of(incoming.child), f"{base}{name}/"))
    for tab in own_tabs(endpoint):
        if isinstance(tab, ListTab):
            if may_further(uow, (tab.label_for(representation), "view")):
                tabs.append(TabLink(tab.name, tab.title, f"{base}{tab.name}/"))
            continue
        if may_further(uow, tab.permission) and _applies(request, tab, representation):
            tabs.append(TabLink(tab.name, tab.title, f"{base}{tab.name}/", _count_of(request, tab, representation)))
    return tabs


def _applies(request: Request, tab: Tab, representation: Mapping[str, Any]) -> bool:
    """True when an object has a package's tab; false where the answer fails, which is logged."""
    try:
        return tab.applies(request, representation)
    except Exception:
        log_failure("the tab %r failed on %s", tab.name, request.path)
        return False


def _count_of(request: Request, tab: Tab, representation: Mapping[str, Any]) -> int | None:
    """The number beside the title of a package's tab; ``None`` where counting fails, which is logged."""
    try:
        return tab.count(request, representation) if tab.count is not None else None
    except Exception:
        log_failure("the count of the tab %r failed on %s", tab.name, request.path)
        return None
