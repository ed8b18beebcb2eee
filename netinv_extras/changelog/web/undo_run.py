"""Undo in the background: the task that undoes many changes, the page that follows it, and the reasons of a refusal."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import RequestError, error_text
from netinv_core.labels import label_of_name
from netinv_undo.refusals import WHOLE, RevertRefused
from netinv_undo.reverting import revert
from netinv_web import runs
from netinv_web.background import Arguments, BackgroundTask, Progress, background_of
from netinv_web.runs import Words

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_REASONS = 100  # that a run tells
LOG = "/extras/changelog/"


def start(uow: UnitOfWork, change_id: uuid.UUID, *, whole_request: bool) -> str | None:
    """Asks for an undo in the background; returns the id of the run, ``None`` where there is no background."""
    background = background_of(uow.registry)
    arguments = {"change": str(change_id), "request": whole_request}
    return None if background is None else background.start(uow, TASK, arguments)


def undo_in_background(uow: UnitOfWork, arguments: Arguments, progress: Progress) -> str:
    """Undoes changes; the reasons against it are the errors of the run."""
    key = uuid.UUID(arguments["change"])
    try:
        reverted = revert(uow, key, whole_request=arguments["request"], advance=progress.advance)
    except RequestError as error:
        texts = [f"{name}: {text}" if name else text for name, found in refusals(error) for text in found]
        for text in texts[:MAX_REASONS]:
            progress.fail(text)
        if len(texts) > MAX_REASONS:
            progress.fail(f"{len(texts) - MAX_REASONS:,} more reasons are not listed.")
        return ""
    return f"The changes of {len(reverted):,} objects were undone."


TASK = BackgroundTask("netinv_extras.changelog.web.undo_run:TASK", "Undo", undo_in_background)


def show(request: Request) -> Response:
    """The page of an undo in the background; POST cancels it."""
    words = Words(
        "Undo of a request", "undo", "objects", "undone", LOG, "Change log", LOG, "Change log", (("Change log", LOG),)
    )
    return runs.show(request, words)


def refusals(error: RequestError) -> list[tuple[str, list[str]]]:
    """The reasons of a refusal by the name of the object; those without an object come under a blank name."""
    if not isinstance(error, RevertRefused):
        return [("", [error_text(error.body)])]
    objects: Any = error.body["objects"]
    reasons = [[_reason(reason) for reason in item["reasons"]] for item in objects]
    return list(zip(error.names, reasons, strict=True))


def _reason(reason: dict[str, Any]) -> str:
    message = str(reason["message"])
    return message if reason["field"] == WHOLE else f"{label_of_name(reason['field'])}: {message}"
