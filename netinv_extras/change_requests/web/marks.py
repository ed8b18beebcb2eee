"""Marks of proposed values on pages: new, changed and deleted rows of lists, and the live values of changed fields.

What they show of the inventory as it is, is read before the changes are made, with the permissions of the user: a few
statements for the list or the object of the page, and none for pages without proposed changes of theirs.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.errors import NotFound, RequestError
from netinv_core.hookspecs import hookimpl
from netinv_core.write.dry_run import visible_changes
from netinv_extras.change_requests import lifecycle
from netinv_extras.change_requests.proposals import Proposal, is_offered
from netinv_extras.changelog.web.differences import sentences_of
from netinv_web import marks
from netinv_web.extensions import Panel
from netinv_web.lists import listing
from netinv_web.lists.rows import ListRow
from netinv_web.marks import LiveState
from netinv_web.objects import details, tab_links
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

NEW, CHANGED, DELETED = "new", "changed", "deleted"
MAX_DELETED = 50  # rows of deleted objects below a list
GONE = "The change request deletes this object."
BESIDE_FACTS = ("tags", "custom_fields", "relationships", "comments")  # fields that no fact of a page shows
TEMPLATE = "netinv_extras:change_requests/web/templates/changed_values.jinja2"


class ProposedMarks:
    """The marks of the proposals of a change request (:class:`netinv_web.marks.Marks`)."""

    def __init__(self, request: Request, proposed: Sequence[Proposal]) -> None:
        self._request = request
        self._proposed = {(item.endpoint, str(item.key)): item for item in proposed}
        self._visible: dict[Endpoint, set[tuple[str, str]]] = {}
        self._deleted: dict[Endpoint, Sequence[ListRow]] = {}
        self._live: dict[tuple[Endpoint, str], LiveState] = {}

    def read_live(self, context: Any) -> None:
        """Reads what a page shows of the inventory as it is."""
        endpoint, key = getattr(context, "endpoint", None), getattr(context, "key", None)
        if endpoint is None:
            return
        path, tab = self._request.path_info, (self._request.matchdict or {}).get("tab")
        if path == page_path(endpoint):
            self._read_list(endpoint)
        elif key is not None and path == object_path(endpoint, key):
            self._read_object(endpoint, key)
        elif key is not None and tab is not None:
            self._read_visible(endpoint)
            incoming = dict(tab_links.child_tabs(endpoint)).get(tab)
            if incoming is not None:
                within = [incoming.child.table.c[incoming.attribute] == key]
                self._read_list(incoming.child, within, incoming.attribute.removesuffix("_id"))

    def _of(self, endpoint: Endpoint, action: str) -> list[Proposal]:
        return [item for (owner, _), item in self._proposed.items() if owner is endpoint and item.action == action]

    def _read_visible(self, endpoint: Endpoint) -> None:
        """Reads which changed objects a user with constraints may view as they are; one statement at most."""
        if lifecycle.limit_of(self._request.uow, endpoint) is lifecycle.CONSTRAINED:
            changed = self._of(endpoint, UPDATE)
            self._visible[endpoint] = visible_changes(self._request.uow, changed) if changed else set()

    def _read_list(self, endpoint: Endpoint, within: Sequence[Any] = (), parent: str = "") -> None:
        self._read_visible(endpoint)
        keys = [item.key for item in self._of(endpoint, DELETE)]
        if keys and lifecycle.limit_of(self._request.uow, endpoint) is not lifecycle.NONE:
            limits = [*within, endpoint.table.c.id.in_(keys)]
            rows = listing.matching_rows(self._request, endpoint, limits, MAX_DELETED, left_out=(parent,))
            self._deleted[endpoint] = [row._replace(mark=DELETED) for row in rows]

    def _read_object(self, endpoint: Endpoint, key: uuid.UUID) -> None:
        self._read_visible(endpoint)
        item = self._proposed.get((endpoint, str(key)))
        if item is not None and item.action != CREATE:
            try:
                self._live[endpoint, str(key)] = LiveState(*details.read_object(self._request, endpoint, key))
            except RequestError:
                return  # the user may not view it as it is

    def mark(self, endpoint: Endpoint, key: str) -> str:
        """The mark of an object. For users who may not view it as it is, a changed object is a new one; without that
        knowledge there is no mark.
        """
        item = self._proposed.get((endpoint, key))
        if item is None or item.action == DELETE:
            return ""
        if item.action == CREATE:
            return NEW
        visible = self._visible.get(endpoint)
        if visible is not None:
            return CHANGED if (endpoint.label, key) in visible else NEW
        return CHANGED if lifecycle.limit_of(self._request.uow, endpoint) is lifecycle.ALL else ""

    def deleted_rows(self, endpoint: Endpoint) -> Sequence[ListRow]:
        """The rows of deleted objects that the filters of the list match."""
        return self._deleted.get(endpoint, ())

    def live(self, endpoint: Endpoint, key: str) -> LiveState | None:
        """The object of the page as it is."""
        return self._live.get((endpoint, key))

    def explain(self, context: Any, error: NotFound) -> NotFound:
        """The error of the page of an object, which says where the change request deletes the object."""
        key = getattr(context, "key", None)
        return error if key is None or self.live(context.endpoint, str(key)) is None else NotFound(GONE)


def changed_values(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Panel of the changed fields that no fact shows: tags, custom fields, relationships and comments."""
    live = marks.live_of(request, endpoint, representation["id"])
    if live is None:
        return None
    before, after = (
        {name: state[name] for name in BESIDE_FACTS if name in state} for state in (live.representation, representation)
    )
    found = sentences_of(endpoint.registry, endpoint.label, before, after)
    return {"sentences": found} if found else None


PANEL = Panel("changed-values", "Changed in the change request", changed_values, template=TEMPLATE, position=5)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The changed values on the pages of what a change request can change."""
    return [PANEL] if is_offered(endpoint) else []
