"""Change requests in the browser: a person enters one by a button, and is in it until they leave it.

A signed cookie that is bound to the session names it. Every page is then served in it, with a bar that says so; what
belongs to the person, such as preferences, is not part of it. Once it is merged, closed or deleted, the next page
leaves it with a notice.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Denied, Invalid, NotFound, RequestError, error_text
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_extras.change_requests import entering
from netinv_extras.change_requests.entering import COOKIE, View
from netinv_extras.change_requests.models import COUNTED, LABEL, check_open
from netinv_extras.change_requests.proposals import Proposal
from netinv_extras.change_requests.web import proposing
from netinv_extras.change_requests.web.marks import ProposedMarks
from netinv_web import notices
from netinv_web.auth.sessions import current, forget_cookie, signed_cookie
from netinv_web.errors import is_page
from netinv_web.extensions import Banner
from netinv_web.pages import finish, local_path, query_text, see_other
from netinv_web.paths import endpoint_at, object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

LEAVE = "/extras/leave-change-request/"
WRITES = frozenset({"add", "change", "delete"})  # permissions of pages that write objects
GONE = "The change request does not exist any more, or you may not view it."
LEFT = "{} You have left it: this is the inventory as it is."
NOT_SAVED = "{} Nothing was saved, and you have left it."
REFUSED = "{} Leave the change request first, by the button at the top."


def entered_id(request: Request) -> uuid.UUID | None:
    """The id of the change request that the session of a request entered; ``None`` outside of any."""
    session = current(request)
    if session is None or COOKIE not in request.cookies:
        return None
    values: Any = _cookie(request).get_value()
    if not isinstance(values, list) or len(values) != 2 or values[0] != str(session.id):
        return None
    return uuid.UUID(values[1])


def _cookie(request: Request) -> Any:
    lifetime = int(request.registry.netinv.settings["session_lifetime"])
    return signed_cookie(request, COOKIE, "netinv change request", lifetime)


def _forget(request: Request, response: Response) -> None:
    forget_cookie(request, response, COOKIE)


class BrowserPages:
    """Serves the requests of browsers (:class:`netinv_extras.change_requests.entering.AsidePages`)."""

    def serve(self, view: View, context: Any, request: Request, options: Mapping[str, Any]) -> Response:
        """The answer of a view in the change request that the session entered, or with its changes proposed."""
        key = entered_id(request)
        if key is None:
            return proposing.propose_or_serve(view, context, request)
        self.mark(request)
        if options.get("personal") or entering.is_outside(context, request):
            return view(context, request)
        writes, runs = options.get("permission") in WRITES and not options.get("read_only"), options.get("runs_aside")
        if is_page(request) and not runs and (request.uow.writing or (writes and hasattr(context, "endpoint"))):
            try:
                entering.check_writable(context)
            except Invalid as error:
                raise Conflict(REFUSED.format(error_text(error.body))) from error
        return entering.run(
            view, context, request, key, lambda error: _leave_ended(view, context, request, error), runs=bool(runs)
        )

    def mark(self, request: Request) -> None:
        """Puts the bar on top of the page."""
        request.netinv_banners = banners

    def show_proposed(self, view: View, context: Any, request: Request, proposed: Sequence[Proposal]) -> View:
        """The view of a page with marks; a deleted object's page says that it is one."""
        if not is_page(request) or request.method not in ("GET", "HEAD"):
            return view
        marks = request.netinv_marks = ProposedMarks(request, proposed)
        marks.read_live(context)

        def explained(context: Any, request: Request) -> Response:
            try:
                return view(context, request)
            except NotFound as error:
                raise marks.explain(context, error) from error

        return explained

    def finish(self, request: Request, response: Response) -> None:
        """Removes links of a page while the changes are made."""
        finish(response, request)


def _leave_ended(view: View, context: Any, request: Request, error: RequestError) -> Response:
    """The answer in a change request that is not open any more: the page leaves it, a form is refused."""
    reason = GONE if isinstance(error, Invalid) else error_text(error.body)
    if request.method not in ("GET", "HEAD"):
        request.add_response_callback(_forget)
        raise Conflict(NOT_SAVED.format(reason)) from error
    if not is_page(request):
        return view(context, request)
    response = notices.add(request, see_other(request.path_qs), notices.Notice(LEFT.format(reason), kind="warning"))
    _forget(request, response)
    return response


def enter(request: Request) -> Response:
    """Enters a change request.

    :raises Conflict: when it is merged or closed
    """
    endpoint, key, session = request.context.endpoint, key_of(request), current(request)
    row = _row(request, endpoint, key)
    if row is None or session is None:
        raise Denied()
    check_open(row)
    text = f"You are in {row['title']}: pages show its changes, and what you save is added to them."
    response = notices.add(request, see_other(object_path(endpoint, key)), notices.Notice(text))
    _cookie(request).set_cookies(response, [str(session.id), str(key)])
    return response


def leave(request: Request) -> Response:
    """Leaves the change request, for the page with the path ``next``: that of an object that is not there outside leads
    to the list.
    """
    path = local_path(query_text(request, "next", "/"))
    response = see_other(_there(request, path))
    _forget(request, response)
    return notices.add(request, response, notices.Notice("You have left the change request."))


def _there(request: Request, path: str) -> str:
    """The path, or that of the list for an object that does not exist."""
    parts = path.partition("?")[0].split("/")
    for end in range(len(parts), 3, -1):
        above = "/".join(parts[:end])
        endpoint = endpoint_at(request.registry.netinv, above)
        key = None if endpoint is None else endpoint.parse_key(parts[end - 1] or parts[end - 2])
        if endpoint is not None and key is not None:
            return path if _row(request, endpoint, key) else page_path(endpoint)
    return path


def _row(request: Request, endpoint: Endpoint, key: Any) -> Mapping[str, Any] | None:
    """The row of an object that the user may view."""
    try:
        return listing.rows(request.uow, endpoint, [key], "view").get(key)
    except Denied:
        return None


def banners(request: Request) -> list[Banner]:
    """The bar of a page, which says which change request one is in."""
    row, key = getattr(request, "netinv_change_request", None), entered_id(request)
    if row is None and key is not None:
        row = _row(request, request.registry.netinv[LABEL], key)
    if row is None:
        return []
    count = sum(row[name] for name in COUNTED.values())
    number = f"{count:,} {'change' if count == 1 else 'changes'}"
    links = [("Review", object_path(request.registry.netinv[LABEL], row["id"]))]
    following = request.path_qs if request.method == "GET" else request.path
    buttons = [("Leave", f"{LEAVE}?{urlencode({'next': following})}")] if key is not None else []
    return [Banner(f"Change request: {row['title']}, {number}", "aside", links, buttons)]


def includeme(config: Any) -> None:
    """Adds the pages, and serves the requests of browsers."""
    config.registry.netinv_change_request_pages = BrowserPages()
    config.registry.netinv_banners = banners  # of the pages of errors
    enter_path = "/extras/change-requests/{id}/enter/"
    config.add_netinv_page(enter_path, enter, permission="view", methods=["POST"], resource="extras/change-requests")
    config.add_netinv_page(LEAVE, leave, methods=["POST"], personal=True)
