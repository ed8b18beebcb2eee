"""Entering a change request: a request with the header ``X-Change-Request``, or ``?change_request=``, runs as if the
changes of the change request were made.

A view deriver opens a savepoint, carries the proposals out, runs the view with its rendering, and rolls back. The
changes of a write are added to the change request afterwards, in the transaction of the request. Nothing else sees
them: no webhook, no feed, no number of a change. A run of a job does the same in its own transaction.

Browsers name it by a cookie, and *Propose* by a member of a form: :mod:`netinv_extras.change_requests.web.entered`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.aside import Aside
from netinv_core.errors import Conflict, Denied, Invalid
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import query_of
from netinv_core.read import listing
from netinv_extras.change_requests import proposals, requirements
from netinv_extras.change_requests.models import LABEL, check_open
from netinv_extras.change_requests.proposals import Proposal
from netinv_extras.change_requests.repeated_replays import repeat_or_carry_out
from netinv_extras.change_requests.replay import RequestConflicts, keep_versions, replay
from netinv_extras.change_requests.requirements import RulesMet

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

HEADER, PARAMETER = "X-Change-Request", "change_request"
LIVE = "none"  # as the parameter: the inventory as it is, also where a browser entered a change request
COOKIE, PROPOSE = "netinv_change_request", b"_propose"  # of browsers, and the member of their forms
_KEY = "HTTP_X_CHANGE_REQUEST"
RUNS = frozenset({"extras.jobresult", "extras.joblogentry"})  # of jobs
MALFORMED = "Must be the id of a change request."
DIFFERENT = "The header X-Change-Request names another change request."
UNKNOWN = "There is no such change request."
OUTSIDE = "This path cannot write in a change request."
View = Callable[[Any, Request], Response]


@dataclasses.dataclass(eq=False)
class BlockEffects:
    """Effects of a block while proposals are carried out: its changes beyond them, the review rules that both meet, and
    the runs that it starts.
    """

    aside: Aside
    changes: Sequence[Any] = ()
    rules: RulesMet = dataclasses.field(default_factory=dict)


class AsidePages(Protocol):
    """The part of the web interface: it serves requests of browsers that entered a change request, or propose."""

    def serve(self, view: View, context: Any, request: Request, options: Mapping[str, Any]) -> Response:
        """The answer of a view to a request with the cookie, or with the member of a form."""

    def mark(self, request: Request) -> None:
        """Puts the bar of the change request on top of the page."""

    def show_proposed(self, view: View, context: Any, request: Request, proposed: Sequence[Proposal]) -> View:
        """The view of a page with the marks of the proposed changes, for which it reads the inventory as it is."""

    def finish(self, request: Request, response: Response) -> None:
        """Finishes a page while the changes are made."""


def change_request_view(view: View, info: Any) -> View:
    """Deriver that runs a view in a change request, where the request names one."""
    options = info.options
    if info.exception_only or options.get("permission") == NO_PERMISSION_REQUIRED:
        return view
    is_page, runs = options.get("versioned") is False, bool(options.get("runs_aside"))

    def wrapper(context: Any, request: Request) -> Response:
        environ = request.environ
        if _KEY in environ or PARAMETER in request.query_string:
            if reads_live(request):
                return view(context, request)
            key = requested_id(request)
            if key is not None:
                if is_outside(context, request):
                    return view(context, request)
                return run(view, context, request, key, runs=runs)
        written = is_page and environ["REQUEST_METHOD"] == "POST"
        proposing = written and (PROPOSE in request.body or requirements.enabled_rules(request.uow))
        if proposing or COOKIE in environ.get("HTTP_COOKIE", ""):
            pages = _pages(request)
            if pages is not None:
                return pages.serve(view, context, request, options)
        response = view(context, request)
        uow = request.uow
        if environ["REQUEST_METHOD"] in UNSAFE_METHODS and uow.writing and uow.change_set.pending:
            uow.change_set.check(uow)
        return response

    return wrapper


def _pages(request: Request) -> AsidePages | None:
    return getattr(request.registry, "netinv_change_request_pages", None)


def is_outside(context: Any, request: Request) -> bool:
    """True for what is never part of a change request: the paths of change requests themselves, and what is read of
    the runs of jobs, which can be followed while one locks its change request.
    """
    label = getattr(getattr(context, "endpoint", None), "label", None)
    return label == LABEL or (label in RUNS and request.method in ("GET", "HEAD"))


def reads_live(request: Request) -> bool:
    """True for a read with the parameter :data:`LIVE`, which is removed."""
    query = request.uow.query
    if request.method not in ("GET", "HEAD") or query.get(PARAMETER) != [LIVE] or HEADER in request.headers:
        return False
    query.pop(PARAMETER)
    return True


def requested_id(request: Request) -> uuid.UUID | None:
    """The id of the change request that a request names; ``None`` without one. The parameter is removed.

    :raises Invalid: for anything but one id
    """
    named = {*(query_of(request).get(PARAMETER) or ())}
    request.uow.query.pop(PARAMETER, None)
    if header := request.headers.get(HEADER, "").strip():
        named.add(header)
    if not named:
        return None
    try:
        keys = {uuid.UUID(text) for text in named}
    except ValueError:
        raise Invalid.field(PARAMETER, MALFORMED) from None
    if len(keys) > 1:
        raise Invalid.field(PARAMETER, DIFFERENT)
    return keys.pop()


def run(
    view: View,
    context: Any,
    request: Request,
    key: uuid.UUID,
    ended: Callable[[Invalid | Conflict], Response] | None = None,
    *,
    runs: bool = False,
) -> Response:
    """The answer of the view in the change request; what it writes is added to the proposals.

    :param ended: the answer where the change request is not there any more, or not open; by default the error
    :param runs: the view starts a job that runs in the change request
    """
    uow: RequestUnitOfWork = request.uow
    writing = uow.writing
    if not writing:
        uow.write_in_savepoints()
    elif not runs:
        check_writable(context)
    try:
        row = request.netinv_change_request = open_request(uow, key, locked=writing)
    except (Invalid, Conflict) as error:
        if ended is None:
            raise
        return ended(error)
    proposed = proposals.load(uow, key)
    # What a read sees of a change request is the same until it is changed, or the configuration is.
    number = uow.configuration.number
    version = None if writing or number is None else (key, row["last_updated"], number)
    response, made = run_with(view, context, request, proposed, key, version)
    if writing and response.status_int < 400:
        keep(uow, row, proposed, made)
    response.headers[HEADER] = str(key)
    return response


def run_with(
    view: View,
    context: Any,
    request: Request,
    proposed: Sequence[Proposal],
    key: uuid.UUID | None = None,
    version: Hashable = None,
) -> tuple[Response, BlockEffects]:
    """The answer of the view while proposals are carried out, and what it does beyond them.

    :param key: the id of the change request, if there is one already
    :param version: of what a view that only reads sees (:mod:`netinv_extras.change_requests.repeated_replays`)
    :raises Conflict: when they cannot be carried out
    """
    uow: RequestUnitOfWork = request.uow
    pages = _pages(request)
    if pages is not None:
        pages.mark(request)
        view = pages.show_proposed(view, context, request, proposed)
    with carried_out(uow, proposed, key, version) as made:
        response = view(context, request)
        _complete(response)
        if pages is not None:
            pages.finish(request, response)
    return response, made


@contextlib.contextmanager
def carried_out(
    uow: UnitOfWork, proposed: Sequence[Proposal], key: uuid.UUID | None, version: Hashable = None
) -> Iterator[BlockEffects]:
    """Runs the block as if proposals were made, and rolls back; yields what it does beyond them, complete at its end.

    :raises Conflict: when they cannot be carried out
    """
    made = BlockEffects(Aside(key))
    uow.aside = made.aside
    try:
        with uow.rolled_back() as change_set:
            try:
                enter(uow, proposed, version)
            except RequestConflicts as error:
                raise Conflict(error.body["detail"]) from error
            yield made
            made.changes = change_set.pending
            made.rules = requirements.matches(uow, [*proposed, *made.changes]) if made.changes else {}
    finally:
        uow.aside = None


def keep(uow: UnitOfWork, row: Mapping[str, Any], proposed: Sequence[Proposal], made: BlockEffects) -> None:
    """Adds what a block has changed to a change request, given by its locked row, and starts what it asked for."""
    if made.changes:
        proposals.add(uow, row, proposed, made.changes, made.rules)
    for function in made.aside.then:
        function()


def enter(uow: UnitOfWork, proposed: Sequence[Proposal], version: Hashable = None) -> None:
    """Carries proposals out on behalf of the service: what the user may see of them is up to each read."""

    def carry_out(system: UnitOfWork) -> None:
        replay(system, proposed)
        keep_versions(system, proposed)

    with uow.collecting():
        if version is None or not proposed:
            carry_out(uow.as_system())
        else:
            repeat_or_carry_out(uow, version, proposed, carry_out)


def check_writable(context: Any) -> None:
    """Checks that a path writes objects that change requests may change.

    :raises Invalid: if not
    """
    endpoint = getattr(context, "endpoint", None)
    if endpoint is None:
        raise Invalid.field(PARAMETER, OUTSIDE)
    proposals.check_offered(endpoint)


def open_request(uow: UnitOfWork, key: uuid.UUID, *, locked: bool) -> Mapping[str, Any]:
    """The row of a change request that the user may view, and with ``locked`` change, and that is open.

    :raises Invalid: when it does not exist or the user may not view it
    :raises Denied: without permission to change it
    :raises Conflict: when it is merged or closed
    """
    endpoint = uow.registry[LABEL]
    try:
        row: Mapping[str, Any] | None = listing.rows(uow, endpoint, [key], "view").get(key)
    except Denied:
        row = None
    if row is None:
        raise Invalid.field(PARAMETER, UNKNOWN)
    if locked:
        row = listing.rows_for_change(uow, endpoint, [key], "change").get(key)
        if row is None:
            raise Denied()
    check_open(row)
    return row


def _complete(response: Response) -> None:
    """Reads the whole body of an answer, which may be read from the database while it is sent."""
    if not isinstance(response.app_iter, list | tuple):
        response.body = response.body


def includeme(config: Any) -> None:
    """Adds the deriver, around the rendering of every view."""
    config.add_view_deriver(change_request_view, "change_request_view", under="idempotent_view", over="rendered_view")
