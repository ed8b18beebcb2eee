"""The pages of the buttons of a change request. A refusal is told on its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Invalid, RequestError, error_text
from netinv_core.http.views import key_of
from netinv_extras.change_requests import actions, comments, lifecycle, review
from netinv_extras.change_requests.models import check_open
from netinv_extras.change_requests.web.panel import FOLDER, PATH
from netinv_web import notices
from netinv_web.pages import form_of, form_text, page, see_other

REFUSED = f"{FOLDER}refused_step.jinja2"
WHOLE = "whole"  # member of the form of a comment on the whole change request
Step = Callable[..., Any]
WITHOUT_BODY: dict[str, tuple[Step, str]] = {
    "merge": (lifecycle.merge, "The change request was merged."),
    "revert": (lifecycle.revert, "The merge was taken back."),
    "close": (lifecycle.close, "The change request was closed."),
    "reopen": (lifecycle.reopen, "The change request was opened again."),
}
WITH_BODY: dict[str, tuple[str, Step, str]] = {
    "submit": ("change", lifecycle.submit, "The change request was submitted for review."),
    "approve": ("approve", lifecycle.approve, "You have approved the change request."),
    "reject": ("approve", lifecycle.reject, "You have rejected the change request."),
    "comment": ("view", comments.comment, "Your comment was added."),
}


def _answer(
    request: Request, step: Callable[[], Any], done: str, undo: str = "", body: Mapping[str, str] = MappingProxyType({})
) -> Response:
    """Leads back to the change request, with what was done or why it was refused. The text of a refused ``body`` is
    kept in a form.
    """
    notice = notices.Notice(done, undo=undo)
    try:
        with request.uow.savepoint():
            step()
    except (Conflict, Invalid) as error:
        if body.get("text", "").strip():
            return _show_refusal(request, error, body)
        notice = notices.Notice(_reason(error), kind="warning")
    return notices.add(request, see_other(PATH.format(key_of(request))), notice)


def _show_refusal(request: Request, error: RequestError, body: Mapping[str, str]) -> Response:
    """The page of a refused step: the reason, and a form that adds its text as a comment."""
    key = key_of(request)
    about = [(name, body[name]) for name in comments.REFERENCE if body.get(name)]
    values = {"name": lifecycle.row_of(request.uow, key, "view")["title"], "path": PATH.format(key), "about": about}
    values |= {"reason": _reason(error), "text": body["text"], "most": review.MAX_TEXT}
    return page(request, REFUSED, values, error.status)


def _reason(error: RequestError) -> str:
    names = [str(item.get("object_repr", "")) for item in error.body.get("objects", ())]
    text = error_text(error.body.get("detail", error.body))
    return f"{text} {', '.join(filter(None, names[:10]))}".strip()


def _without_body(name: str, step: Step, done: str) -> Callable[[Request], Response]:
    def view(request: Request) -> Response:
        uow, key = request.uow, key_of(request)
        undo = str(uow.request_id) if name == "merge" else ""
        return _answer(request, lambda: step(uow, key), done, undo)

    return view


def _with_body(step: Step, done: str) -> Callable[[Request], Response]:
    def view(request: Request) -> Response:
        uow, key, form = request.uow, key_of(request), form_of(request)
        names = ("text",) if form.get(WHOLE) else ("text", "last_updated", *comments.REFERENCE)
        body = {name: str(form.get(name, "")) for name in names}
        return _answer(request, lambda: step(uow, key, body), done, body=body)

    return view


def decide_conflict(request: Request) -> Response:
    """Keeps the proposed value or that of the inventory, of a field or a whole object."""
    uow, key, form = request.uow, key_of(request), form_of(request)
    names = ("object_type", "object_id", "field", "take")
    choice: Mapping[str, Any] = {name: str(form.get(name, "")) for name in names}

    def step() -> None:
        row = lifecycle.row_of(uow, key, "change")
        check_open(row)
        actions.decide(uow, row, [choice])

    return _answer(request, step, "The conflict was decided.")


def schedule(request: Request) -> Response:
    """Has the change request merged at a time in UTC; without a time, not any more."""
    uow, key = request.uow, key_of(request)
    text = form_text(request, "at").strip()
    at = f"{text}:00Z" if text.count(":") == 1 else f"{text}Z" if text else None
    done = "The change request is not merged at a time any more."
    if at is not None:
        done = f"The change request is merged at {text.replace('T', ' ')} UTC, if it can be then."
    return _answer(request, lambda: lifecycle.schedule(uow, key, {"at": at}), done)


def includeme(config: Any) -> None:
    """Adds the pages of the buttons."""

    def add(name: str, view: Any, permission: str) -> None:
        path = f"/extras/change-requests/{{id}}/{name}/"
        config.add_netinv_page(path, view, permission=permission, methods=["POST"], resource="extras/change-requests")

    for name, (step, done) in WITHOUT_BODY.items():
        add(name, _without_body(name, step, done), "change")
    for name, (permission, step, done) in WITH_BODY.items():
        add(name, _with_body(step, done), permission)
    add("decide-conflict", decide_conflict, "change")
    add("schedule", schedule, "change")
