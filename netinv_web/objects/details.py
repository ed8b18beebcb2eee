"""The page of an object: its fields in groups, panels, tabs and the way to what belongs to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from markupsafe import Markup, escape
from pyramid.request import Request

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.errors import NotFound
from netinv_core.http.views import key_of
from netinv_core.labels import capitalize, label_of
from netinv_core.models.columns import CASCADE
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read.listing import conditions_of
from netinv_core.read.names import display_of, represented_name
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import custom_plan
from netinv_web import marks
from netinv_web.extensions import actions_of
from netinv_web.lists.columns import NEVER, presentation_of
from netinv_web.marks import LiveState
from netinv_web.markup import EMPTY, text_markup
from netinv_web.menu import may
from netinv_web.objects import documents, markdown, object_head, panels, slugs, tab_links
from netinv_web.pages import fragment
from netinv_web.paths import endpoint_at, object_path, page_path, path_of_url

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

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
LAST = frozenset({COMMENTS, "tags"})  # fields that people fill in last
LAST_TITLE = "Comments and tags"


@dataclasses.dataclass(frozen=True)
class Fact:
    """A label and the markup of a value; ``live`` is that of the value as it is, where the page shows another one."""

    name: str
    label: str
    markup: Markup
    live: Markup | None = None


@dataclasses.dataclass(frozen=True)
class FactGroup:
    """A group of facts with a heading."""

    title: str
    facts: Sequence[Fact]


def fieldsets_of(endpoint: Endpoint, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The groups of the presentation, limited to ``names``; those without a group come first, below the model's
    name; comments and tags come last.
    """
    presentation = presentation_of(endpoint)
    stated = [(title, [name for name in group if name in names]) for title, group in presentation.fieldsets]
    grouped = {name for _, group in stated for name in group}
    rest = [name for name in names if name not in grouped]
    title = capitalize(endpoint.title)
    if stated and stated[0][0] == title:
        last = [name for name in rest if name in LAST] if COMMENTS in rest else []
        first = [*stated[0][1], *(name for name in rest if name not in last)]
        return [(title, first), *stated[1:], *([(LAST_TITLE, last)] if last else ())]
    return [(title, rest), *stated] if rest else stated


def shown_fields(endpoint: Endpoint) -> list[Field]:
    """The fields that the page of an object shows as facts. Costly ones have other places, and so have those of other
    rows that are read on request.
    """
    on_request = {name for name in endpoint.opt_in if not endpoint.fields[name].own}
    hidden = {*ELSEWHERE, *presentation_of(endpoint).hidden, *on_request, *endpoint.costly, *endpoint.derived}
    for field in endpoint.fields.values():
        if isinstance(field, fields.GenericForeignKey):  # one fact with a link, in place of a content type and an id
            hidden |= {field.type_attribute, field.id_attribute}
    return [
        field
        for name, field in endpoint.fields.items()
        if name not in hidden and not (field.write_only or field.confidential or isinstance(field, fields.Count))
    ]


def read_object(request: Request, endpoint: Endpoint, key: Any) -> tuple[dict[str, Any], dict[str, Markup]]:
    """The representation of an object, with its name in context, and the cells of its fields by name; one plan for
    each.

    :raises NotFound: when there is no such object, or the user may not view it
    """
    uow, table = request.uow, endpoint.table
    conditions = conditions_of(uow, endpoint, table, (), "view")
    if conditions and uow.execute(sa.select(table.c.id).where(table.c.id == key, *conditions)).first() is None:
        raise NotFound()
    names = [field.name for field in shown_fields(endpoint)]

    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        cells = [(name, documents.fact(plan, place, endpoint.fields[name])) for name in names]
        represented = [
            field for name, field in endpoint.fields.items() if not field.write_only and name not in endpoint.opt_in
        ]
        whole = [(field.name, plan.reader_of(place, field)) for field in represented]
        whole.append((NAME_IN_CONTEXT, plan.read(place, NAME_IN_CONTEXT)))

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
        return fragment(
            request, PANELS, {"panels": panels.requested_panels(request, endpoint, representation, names[-1])}
        )
    live = marks.live_of(request, endpoint, representation["id"])
    facts = {
        name: Fact(name, label_of(endpoint.fields[name]), markup, _other(live, name, markup))
        for name, markup in cells.items()
    }
    unset = {name for name in presentation_of(endpoint).flags if not representation.get(name)}
    filled = [
        name for name, fact in facts.items() if (fact.markup != EMPTY and name not in unset) or fact.live is not None
    ]
    values = object_values(request, endpoint, representation, "", cells)
    return values | {
        "groups": [
            FactGroup(title, [facts[name] for name in names])
            for title, names in fieldsets_of(endpoint, filled)
            if names
        ],
        "empty_facts": [fact for name, fact in facts.items() if name not in filled],
        "comments": markdown.render(request, comments) if (comments := representation.get(COMMENTS)) else "",
        "changed": object_head.last_change(request, endpoint, representation),
        "created": text_markup(created) if (created := representation.get("created")) else "",
        **panels.of_page(request, endpoint, representation, complete="_show" in request.uow.query),
    }


def _other(live: LiveState | None, name: str, markup: Markup) -> Markup | None:
    """The live value of a field whose shown value is another one."""
    value = markup if live is None else live.cells.get(name, markup)
    return None if value == markup else value


def object_values(
    request: Request,
    endpoint: Endpoint,
    representation: Mapping[str, Any],
    tab: str | None,
    cells: Mapping[str, Markup] | None = None,
) -> dict[str, Any]:
    """The values of the frame around every page of one object: name, summary, tabs, breadcrumb, actions.

    :param tab: the name of the current tab, empty for the overview; ``None`` for a page that is none of the tabs
    """
    uow, writes, parents = request.uow, endpoint.resource.writes, parents_of(request.uow, endpoint, representation)
    containers = presentation_of(endpoint).containers
    around = containers(uow, representation) if containers else []
    within = [(text, object_path(uow.registry[label], key)) for text, label, key in around]
    name = str(representation.get(NAME_IN_CONTEXT) or represented_name(endpoint, representation))
    return {
        "endpoint": endpoint,
        "object": representation,
        "path": object_path(endpoint, representation["id"]),
        "list_path": page_path(endpoint),
        "parents": [*parents, *within],
        "name": display_of(representation) if parents else name,
        "name_in_context": name,
        "tabs": tab_links.tabs_of(request, endpoint, representation, tab),
        "tab": tab,
        "mark": marks.mark_of(request, endpoint, representation["id"]),
        "summary": object_head.summary_of(uow, endpoint, representation, cells or {}),
        "may_add": "add" in writes and may(uow, endpoint, "add"),
        "may_change": "change" in writes and may(uow, endpoint, "change"),
        "may_delete": "delete" in writes and may(uow, endpoint, "delete"),
        "actions": actions_of(request, endpoint, "object", representation),
    }


def parents_of(uow: UnitOfWork, endpoint: Endpoint, representation: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The breadcrumb: title and path of the object that this one belongs to, by a required or cascading foreign key.

    There is none where the user may view no such objects, and no path where it may not view this one.
    """
    for attribute, column in endpoint.table.c.items():
        name = attribute.removesuffix("_id")
        field, value = endpoint.fields.get(name), representation.get(name)
        if not isinstance(field, fields.Reference) or isinstance(field, fields.Status) or not isinstance(value, dict):
            continue
        if field.link.on_delete == CASCADE or (not column.nullable and name == "site"):
            path = path_of_url(value["url"], uow.base)
            parent = endpoint_at(uow.registry, path)
            if parent is None or not may(uow, parent, "view"):
                return []
            viewable = permissions.visible_ids(uow, parent, [parent.parse_key(str(value["id"]))])
            return [(represented_name(parent, value), path if viewable else "")]
    return []
