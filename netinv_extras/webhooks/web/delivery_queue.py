"""The queue of webhook deliveries: filters by webhook and state, last answers, and sending failed ones again."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import sqlalchemy as sa
from markupsafe import Markup
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Invalid, error_text
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_core.read.names import Pair, names_in_context
from netinv_extras.webhooks.deliveries import FAILED, QUEUED, STATES, SUCCEEDED, retry_selected
from netinv_web import frame, notices
from netinv_web.lists.list_query import query_of
from netinv_web.lists.listing import Pages
from netinv_web.markup import EMPTY, link, nested_link, time_markup
from netinv_web.menu import may
from netinv_web.pages import form_of, form_text, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PATH = "/extras/webhook-deliveries/queue/"
RETRY = "/extras/webhook-deliveries/retry/"
TEMPLATE = "netinv_extras:webhooks/web/templates/delivery_queue.jinja2"
LATELY = datetime.timedelta(hours=24)
MAX_WEBHOOKS = 500  # choices of the filter
MAX_ANSWER = 50  # characters of an answer in a row
STATE_ICONS = {"queued": "clock", "succeeded": "check-circle", "failed": "exclamation-triangle"}


def show(request: Request) -> dict[str, Any]:
    """The page with the queue."""
    uow, endpoint = request.uow, request.context.endpoint
    number, size = _number(uow.query.get("page")), frame.of(request).preferences.per_page
    size = min(size, uow.registry.settings["max_page_size"] or size)
    parameters, error = query_of(request).filters, ""
    deliveries, count = [], 0
    try:
        page = listing.list_page(uow, endpoint, parameters, Slice(size, (number - 1) * size))
        deliveries, count = page.results, page.count
    except Invalid as invalid:
        error = error_text(invalid.body)
    webhooks, names = _webhooks(uow), names_of(uow, deliveries)
    paused = {str(row.id): row.paused for row in webhooks}
    chosen = {"webhook_id": "", "state": "", "q": "", **{name: values[-1] for name, values in parameters}}
    return {
        "rows": [_row(uow, delivery, paused, names) for delivery in deliveries],
        "pages": Pages(number, size, count),
        "query": query_of(request),
        "counts": _counts(uow, endpoint),
        "chosen": chosen,
        "filtered": bool(parameters),
        "states": STATES.items,
        "webhooks": [(str(row.id), row.name) for row in webhooks],
        "may_retry": may(uow, endpoint, "change"),
        "retry_path": f"{RETRY}?{urlencode(_pairs(parameters))}",
        "path": PATH,
        "error": error,
    }


def _pairs(parameters: list[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    return [(name, value) for name, values in parameters for value in values]


def _number(texts: list[str] | None) -> int:
    text = (texts or ["1"])[-1]
    return max(int(text), 1) if text.isascii() and text.isdecimal() and len(text) < 9 else 1


def _counts(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, int]:
    """The numbers of queued and of failed deliveries that the user may view, and of those sent in :data:`LATELY`: one
    statement.
    """
    table = endpoint.table
    limits = permissions.limits(uow, endpoint, "view", table)
    sent = sa.and_(table.c.state == SUCCEEDED, table.c.finished > uow.now - LATELY)
    counted = sa.or_(table.c.state.in_((QUEUED, FAILED)), sent)
    of_state = sa.select(table.c.state, sa.func.count()).where(counted, *limits)
    counts = dict(uow.execute(of_state.group_by(table.c.state)).all())
    return {state: counts.get(state, 0) for state in (FAILED, QUEUED, SUCCEEDED)}


def _webhooks(uow: UnitOfWork) -> list[Any]:
    """Id, name and ``paused`` of the webhooks that the user may view: choices of the filter."""
    endpoint = uow.registry["extras.webhook"]
    table = endpoint.table
    limits = permissions.visible(uow, endpoint, table)
    columns = table.c.id, table.c.name, table.c.paused
    return list(uow.execute(sa.select(*columns).where(*limits).order_by(table.c.name).limit(MAX_WEBHOOKS)))


def names_of(uow: UnitOfWork, deliveries: Sequence[Mapping[str, Any]]) -> Mapping[Pair, str]:
    """The names in context of the changed objects that are there, and that the user may view; one statement."""
    return names_in_context(uow, map(_changed_object, deliveries))


def _changed_object(delivery: Mapping[str, Any]) -> Pair:
    return delivery["changed_object_type"], delivery["changed_object_id"]


def _row(
    uow: UnitOfWork, delivery: Mapping[str, Any], paused: Mapping[str, bool], names: Mapping[Pair, str]
) -> dict[str, Any]:
    state, webhook = delivery["state"]["value"], delivery["webhook"]
    waits = state == QUEUED and webhook is not None and paused.get(str(webhook["id"]), False)
    return {
        "id": delivery["id"],
        "path": f"/extras/webhook-deliveries/{delivery['id']}/",
        "time": time_markup(delivery["time"]),
        "webhook": EMPTY if webhook is None else nested_link(uow, webhook, str(webhook["id"]) in paused),
        "event": delivery["event"]["label"],
        "object": object_link(uow, delivery, names),
        "attempts": delivery["attempts"],
        "answer": last_answer(delivery["history"]),
        "next": time_markup(delivery["due"]) if state == QUEUED and not waits else EMPTY,
        "paused": waits,
        "late": state == QUEUED and not waits and delivery["due"] < uow.now - datetime.timedelta(minutes=2),
        "state": delivery["state"]["label"],
        "icon": STATE_ICONS[state],
        "failed": state == FAILED,
        "done": state == SUCCEEDED,
    }


def object_link(uow: UnitOfWork, delivery: Mapping[str, Any], names: Mapping[Pair, str]) -> Markup:
    """A link to the changed object by its name, of :func:`names_of`; else the recorded name alone."""
    endpoint, changed = uow.registry.get(delivery["changed_object_type"]), _changed_object(delivery)
    path = object_path(endpoint, delivery["changed_object_id"]) if endpoint is not None and changed in names else ""
    title = "" if endpoint is None else endpoint.title
    return link(path, names.get(changed) or delivery["object_repr"] or title)


def last_answer(history: list[dict[str, Any]]) -> str:
    """The outcome of the last attempt: its error, or status and beginning of the answer."""
    if not history:
        return ""
    attempt = history[-1]
    text = attempt["error"] or f"{attempt['status']} {' '.join(attempt['answer'].split())}"
    return text if len(text) <= MAX_ANSWER else f"{text[:MAX_ANSWER]}…"


def retry(request: Request) -> Response:
    """Sends failed deliveries again: those selected (``pk``), or with ``all`` those that the query's filters select."""
    uow, endpoint = request.uow, request.context.endpoint
    parameters = query_of(request).filters
    within: list[Any] = []
    following = form_text(request, "following") or f"{PATH}?{urlencode(_pairs(parameters))}"
    if "all" not in form_of(request):
        keys = [endpoint.parse_key(text) for text in form_of(request).getall("pk") if isinstance(text, str)]
        parameters, within = [], [endpoint.table.c.id.in_([key for key in keys if key is not None])]
    count = retry_selected(uow, endpoint, parameters, within)
    text = "1 delivery is sent again." if count == 1 else f"{count} deliveries are sent again."
    notice = notices.Notice(text) if count else notices.Notice("No failed delivery was selected.", "warning")
    return notices.add(request, see_other(_own_path(following)), notice)


def _own_path(path: str) -> str:
    """The path to return to, if it is one of the pages of deliveries."""
    return path if path.startswith("/extras/webhook-deliveries/") and path.isprintable() else PATH
