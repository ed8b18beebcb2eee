"""Menu *Views* of lists: saves the current query under a name, and deletes own views.

Every signed-in user keeps private views. To share them takes the permission to add saved views.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Denied, Invalid, NotFound, error_text
from netinv_core.write import delete, save
from netinv_core.write.slugs import slugify
from netinv_web import frame, notices
from netinv_web.auth.sessions import current
from netinv_web.lists import pinned_views, saved_views
from netinv_web.lists.column_choice import posted_query
from netinv_web.lists.list_query import MOMENTARY, ListQuery
from netinv_web.menu import may
from netinv_web.pages import form_of, form_text, see_other

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

LABEL = "web.savedview"
MEMBERS = ("_name", "_shared", "_is_default", "_delete", "_pin")


@dataclasses.dataclass(frozen=True)
class View:
    """A view in the menu; ``own`` is the id of one that the user may delete, empty for others. ``key`` is its id."""

    name: str
    path: str
    shared: bool
    is_default: bool
    current: bool
    own: str
    key: str
    pinned: bool


def menu_of(request: Request, rows: Sequence[Any], query: ListQuery) -> list[View]:
    """The views of a list for its menu."""
    user_id, pins = request.uow.identity.user_id, frame.of(request).preferences.pinned_views
    pairs = sorted(query.without().pairs)
    return [
        View(
            row["name"],
            dataclasses.replace(query, pairs=tuple(saved)).url,
            row["shared"],
            row["is_default"] and row["owner_id"] == user_id,
            sorted(saved) == pairs,
            str(row["id"]) if row["owner_id"] == user_id else "",
            str(row["id"]),
            str(row["id"]) in pins,
        )
        for row in rows
        for saved in [[pair for pair in parse_qsl(row["query"]) if pair[0] not in MOMENTARY]]
    ]


def may_share(request: Request) -> bool:
    """True when the user may share views."""
    endpoint = request.registry.netinv.get(LABEL)
    return endpoint is not None and may(request.uow, endpoint, "add")


def post(request: Request) -> Response:
    """Saves the query that the form sent along, deletes a view, or pins it to the home page.

    :raises Denied: without a session
    :raises NotFound: for a view of somebody else, or to pin one that the user does not see
    """
    if current(request) is None:
        raise Denied()
    endpoint: Endpoint = request.context.endpoint
    query = posted_query(request, endpoint).without(*MEMBERS)
    if "_delete" in form_of(request):
        return _delete(request, endpoint, query)
    if "_pin" in form_of(request):
        pinned = pinned_views.toggle(request, str(form_of(request)["_pin"]))
        text = "The view is on the home page." if pinned else "The view is no longer on the home page."
        return notices.add(request, see_other(query.url), notices.Notice(text))
    name = form_text(request, "_name").strip()
    slug = slugify(name)[:100]
    body = {
        "content_type": endpoint.label,
        "name": name,
        **({"slug": slug} if slug else {}),
        "query": query.text,
        "shared": "_shared" in form_of(request) and may_share(request),
        "is_default": "_is_default" in form_of(request),
    }
    try:
        _save(request, endpoint, body)
    except (Invalid, Conflict) as error:
        return notices.add(request, see_other(query.url), notices.Notice(error_text(error.body), "danger"))
    return notices.add(request, see_other(query.url), notices.Notice(f"The view “{name}” was saved."))


def _save(request: Request, endpoint: Endpoint, body: dict[str, Any]) -> None:
    """Creates a view of the user, or changes the one of this name.

    :raises Invalid: for filters that the list does not have, or that name objects which the user may not view
    """
    (errors,) = saved_views.query_errors(request.uow, [(endpoint, body["query"])])
    if errors:
        raise Invalid({"query": errors})
    uow, resource = request.uow.as_system(), request.registry.netinv[LABEL]
    key = saved_views.own_view(uow, endpoint, saved_views.has_slug(body["slug"])) if "slug" in body else None
    if key is None:
        save.create(uow, resource, [body], single=True)
    else:
        save.update(uow, resource, [{**body, "id": key}], partial=True, single=True)


def _delete(request: Request, endpoint: Endpoint, query: ListQuery) -> Response:
    uow, resource = request.uow.as_system(), request.registry.netinv[LABEL]
    key = resource.parse_key(str(form_of(request)["_delete"]))
    if key is None or saved_views.own_view(uow, endpoint, saved_views.with_id(key)) is None:
        raise NotFound()
    delete.delete(uow, resource, [{"id": key}], single=True)
    return notices.add(request, see_other(query.url), notices.Notice("The view was deleted."))
