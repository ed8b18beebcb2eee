"""*Propose* beside *Save*: a form is carried out aside, and what it would change is added to a change request.

The button posts the form to its own path with the member ``_propose``: blank values lead to a new change request, or to
the choice between that and the open ones of the user; an id names one.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.errors import Conflict, Invalid, error_text
from netinv_core.hookspecs import hookimpl
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.labels import label_of_name, title_of
from netinv_core.read import listing
from netinv_core.read.names import recorded_name
from netinv_core.write import save
from netinv_extras.change_requests import entering, proposals, requirements
from netinv_extras.change_requests.entering import View
from netinv_extras.change_requests.models import LABEL, OPEN_STATES, request_table
from netinv_extras.change_requests.requirements import REASON, ReviewRequired, Rule
from netinv_web import notices
from netinv_web.bulk.selection import STEP
from netinv_web.extensions import SaveButton
from netinv_web.following import HOME, page_of_object
from netinv_web.forms.control_values import is_upload
from netinv_web.forms.form import SHOW_AGAIN
from netinv_web.menu import may
from netinv_web.pages import form_of, form_text, page, see_other

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MEMBER, ASK, NEW = "_propose", "ask", "new"
TEMPLATE = "netinv_extras:change_requests/web/templates/propose.jinja2"
HELP = "Keeps this as a proposal in a change request, and changes nothing yet"
SOME = "Some changes here need a review: {}."
PARTIAL = {"_field", "_quick"}  # parameters of forms within another page
MAX_OFFERED = 20  # open change requests of the user
MAX_TITLE = 200  # characters
VERBS = {"create": ("Add", "add"), "update": ("Change", "change"), "delete": ("Delete", "delete")}


@hookimpl
def netinv_web_save_buttons(request: Request, endpoint: Endpoint) -> list[SaveButton]:
    """The button of a form, for those who may add change requests: in place of *Save* where a review rule refuses every
    change, with a hint where it refuses some.
    """
    uow = request.uow
    if uow.aside or not proposals.is_offered(endpoint):
        return []
    shown = getattr(request.context, "endpoint", None)
    key = getattr(request.context, "key", None) if shown is endpoint else None
    every, some = requirements.expected_rules(uow, endpoint, key)
    instead = REASON.format(endpoint.plural, ", ".join(rule.name for rule in every)) if every else ""
    hint = SOME.format(", ".join(_name_rule(rule) for rule in some)) if some and not every else ""
    if not may(uow, uow.registry[LABEL], "add"):
        return [SaveButton("", instead=instead, hint=hint)] if instead or hint else []
    return [SaveButton("Propose", MEMBER, ASK, HELP, instead=instead, hint=hint)]


def _name_rule(rule: Rule) -> str:
    """The name of a rule, with the labels of its fields: ``Core sites (ASN, Status)``."""
    labels = sorted(label_of_name(name) for name in rule.field_names)
    return f"{rule.name} ({', '.join(labels)})" if labels else rule.name


def propose_or_serve(view: View, context: Any, request: Request) -> Response:
    """The answer of a view; where its form is to be proposed, that of the change request."""
    proposing = request.method == "POST" and entering.PROPOSE in request.body
    target = form_text(request, MEMBER) if proposing else ""
    if not target:
        return _direct(view, context, request)
    uow, endpoint = request.uow, request.context.endpoint
    try:
        entering.check_writable(context)
    except Invalid as error:
        raise Conflict(error_text(error.body)) from error
    row = None if target in (ASK, NEW) else _open_one(uow, target)
    if row is None:
        permissions.check(uow, uow.registry[LABEL], "add")
    proposed = [] if row is None else proposals.load(uow, row["id"])
    response, made = entering.run_with(view, context, request, proposed)
    if response.status_int >= 400 or not made.changes:
        return response
    title = title_for(endpoint, made.changes)
    offered = _open_ones(uow) if target == ASK else []
    if offered:
        return _ask(request, endpoint, title, offered)
    if row is None:
        (new,) = save.create(uow, uow.registry[LABEL], [{"title": title}], single=True)
        (row,) = listing.lock(uow, request_table, [uuid.UUID(str(new["id"]))]).values()
    entering.keep(uow, row, proposed, made)
    notice = notices.Notice(f"Proposed: {title}. Nothing is changed until the change request is merged.")
    following = page_of_object(uow, uow.registry[LABEL], row["id"], HOME)
    return notices.add(request, see_other(following), notice)


def _direct(view: View, context: Any, request: Request) -> Response:
    """The answer of a view; where a review rule refuses what it wrote, the page that offers to propose it.

    :raises ReviewRequired: for what cannot be proposed by the user
    """
    response, uow = view(context, request), request.uow
    endpoint = getattr(context, "endpoint", None)
    if not uow.writing or response.status_int >= 400 or not requirements.enabled_rules(uow):
        return response
    changes = uow.change_set.pending
    try:
        uow.change_set.check(uow)
    except ReviewRequired as error:
        if endpoint is None or not (proposals.is_offered(endpoint) and may(uow, uow.registry[LABEL], "add")):
            raise
        offered = _open_ones(uow)
        response = _ask(request, endpoint, title_for(endpoint, changes), offered, error.reason)
        response.status_int = error.status  # nothing of a refused request is committed
    return response


def _open_one(uow: RequestUnitOfWork, text: str) -> Mapping[str, Any]:
    """The row of the open change request that a form names.

    :raises Conflict: when there is none
    """
    try:
        return entering.open_request(uow, uuid.UUID(text), locked=True)
    except (ValueError, Invalid) as error:
        raise Conflict(entering.UNKNOWN) from error


def title_for(endpoint: Endpoint, changes: Sequence[Any]) -> str:
    """Title of a change request that says what changes do: those of the form's own resource, if there are any."""
    own = [change for change in changes if change.endpoint is endpoint] or list(changes)
    first = own[0]
    verb = VERBS[proposals.action_of(first.before, first.after)][0]
    if len({change.key for change in own}) == 1:
        name = recorded_name(first.endpoint, first.before, first.after, first.name)
        return f"{verb} {title_of(first.endpoint)} {name}"[:MAX_TITLE]
    return f"{verb} {len(own):,} {first.endpoint.plural}"[:MAX_TITLE]


def _open_ones(uow: UnitOfWork) -> list[tuple[str, str]]:
    """Ids and titles of the user's open change requests that they may change, the latest first; one statement."""
    endpoint, table = uow.registry[LABEL], request_table
    if not may(uow, endpoint, "change"):
        return []
    limits = [limit for action in ("change", "view") for limit in permissions.limits(uow, endpoint, action, table)]
    statement = (
        sa.select(table.c.id, table.c.title)
        .where(table.c.user_id == uow.identity.user_id, table.c.state.in_(OPEN_STATES))
        .where(*limits)
        .order_by(table.c.last_updated.desc(), table.c.id)
        .limit(MAX_OFFERED)
    )
    return [(str(row.id), row.title) for row in uow.execute(statement)]


def _back(request: Request) -> tuple[str, str] | None:
    """The member by which the page of a form shows it again with what was entered; ``None`` for one that has none."""
    view = request.path.rstrip("/").rpartition("/")[2]
    if view in ("edit", "grid", "rename") and getattr(request.context, "key", None) is None:
        return STEP, "form"
    return (SHOW_AGAIN, "1") if view in ("add", "edit") and not request.uow.query.keys() & PARTIAL else None


def _ask(
    request: Request, endpoint: Endpoint, title: str, offered: Sequence[tuple[str, str]], reason: str = ""
) -> Response:
    """The page that asks for the change request. It has what the form had, the reason why it was not saved, and the way
    back to it.
    """
    fields = [
        (name, value)
        for name, value in form_of(request).items()
        if name != MEMBER and not is_upload(value) and isinstance(value, str)
    ]
    values = {"endpoint": endpoint, "title": title, "fields": fields, "offered": offered, "path": request.path_qs}
    values |= {"reason": reason, "back": _back(request) if reason else None}
    return page(request, TEMPLATE, {**values, "member": MEMBER, "new": NEW})
