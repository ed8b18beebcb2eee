"""Pages of work in the background: how far it is, its outcome or its errors, and a button that cancels it."""

from __future__ import annotations

import dataclasses
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import NotFound
from netinv_web import notices
from netinv_web.background import background_of
from netinv_web.pages import form_of, fragment, page, query_text, see_other

TEMPLATE = "netinv_web:templates/run.jinja2"
STATE = "netinv_web:templates/run_state.jinja2"
STEP, CANCEL = "_step", "cancel"  # member of the form of the page, and its value
PART, STATE_PART = "_part", "state"  # parameter, and its value for the part that a script reloads


@dataclasses.dataclass(frozen=True)
class Words:
    """Texts on the page of a run: ``title``, ``work`` (an import), its ``items`` (rows) and the participle of what is
    done to them; ``back`` leads on after the end, and ``again`` to where the work is asked for.
    """

    title: str
    work: str
    items: str
    done: str
    back: str
    back_title: str
    again: str
    again_title: str
    crumbs: tuple[tuple[str, str], ...] = ()


def show(request: Request, words: Words) -> Response:
    """The page of a run; POST cancels it.

    :raises NotFound: for a run of another user, and one that was cancelled
    """
    uow, run = request.uow, request.matchdict["run"]
    background = background_of(uow.registry)
    state = None if background is None else background.state(uow, run)
    if background is None or state is None:
        raise NotFound()
    if request.method == "POST":
        if form_of(request).get(STEP) != CANCEL or not background.cancel(uow, run):
            return see_other(request.path)
        notice = notices.Notice(f"The {words.work} was cancelled: nothing was {words.done}.")
        return notices.add(request, see_other(words.again), notice)
    values: dict[str, Any] = {"words": words, "state": state, "path": request.path}
    if query_text(request, PART) == STATE_PART:
        return fragment(request, STATE, values)
    return page(request, TEMPLATE, values)
