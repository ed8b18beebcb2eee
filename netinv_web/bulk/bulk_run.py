"""Bulk edits, deletions and creations by patterns in the background: their tasks, and the page that follows them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, RequestError
from netinv_core.http.serialization import dumps
from netinv_core.labels import plural_of
from netinv_core.write import delete, save
from netinv_core.write.created_along import count_created_along
from netinv_web import runs
from netinv_web.background import Arguments, BackgroundTask, Progress, background_of
from netinv_web.bulk.preview import errors_by_key, messages_of, names_of
from netinv_web.forms.control_values import is_upload
from netinv_web.forms.form import readable
from netinv_web.paths import page_path
from netinv_web.runs import Words

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_ERRORS = 100  # objects of which the errors are told
MAX_PART = 500  # objects, with what is created along with them, that are written together


def is_long(uow: UnitOfWork, count: int) -> bool:
    """True for more objects than ``netinv.bulk_background_objects``, those that change along included."""
    maximum: int = uow.registry.settings["bulk_background_objects"]
    return count > maximum


def start(
    uow: UnitOfWork, endpoint: Endpoint, task: BackgroundTask, items: Sequence[Mapping[str, Any]], along: int = 0
) -> str | None:
    """Asks for a long change of objects; returns the path of its page.

    ``None`` for a short one, for one with files, and where there is no background.

    :param along: the number of objects that are created or deleted along
    """
    if not is_long(uow, len(items) + along):
        return None
    if any(is_upload(value) for item in items for value in item.values()):
        return None
    background = background_of(uow.registry)
    arguments = {"label": endpoint.label, "items": json.loads(dumps(list(items)))}
    run = None if background is None else background.start(uow, task, arguments)
    return None if run is None else f"{page_path(endpoint)}bulk/{run}/"


def _update(uow: UnitOfWork, arguments: Arguments, progress: Progress) -> str:
    """Updates objects, all or none."""
    endpoint, items = uow.registry[arguments["label"]], arguments["items"]
    try:
        with uow.savepoint():
            save.update(uow, endpoint, items, partial=True, listed=True)
    except RequestError as error:
        _tell_errors(uow, endpoint, items, error, progress)
        return ""
    return f"{len(items):,} {endpoint.plural} were changed."


def _create(uow: UnitOfWork, arguments: Arguments, progress: Progress) -> str:
    """Creates objects part by part; the errors of the first part that is refused end it."""
    endpoint, items = uow.registry[arguments["label"]], arguments["items"]
    most = max(1, MAX_PART * len(items) // (len(items) + count_created_along(uow, endpoint, items).total()))
    for first in range(0, len(items), most):
        part = items[first : first + most]
        try:
            save.create(uow, endpoint, part)
        except RequestError as error:
            errors = errors_by_key(error, range(len(part)))
            for place in list(errors)[:MAX_ERRORS]:
                progress.fail(f"{part[place].get('name', first + place + 1)}: {' '.join(messages_of(errors[place]))}")
            if not errors:
                progress.fail(readable(error.body))
            return ""
        progress.advance(first + len(part), len(items))
    return f"{len(items):,} {endpoint.plural} were created."


def _delete(uow: UnitOfWork, arguments: Arguments, progress: Progress) -> str:
    """Deletes objects, all or none."""
    endpoint, items = uow.registry[arguments["label"]], arguments["items"]
    try:
        delete.delete(uow, endpoint, items)
    except RequestError as error:
        progress.fail(readable(error.body))
        return ""
    return f"{len(items):,} {endpoint.plural} were deleted."


def _tell_errors(
    uow: UnitOfWork, endpoint: Endpoint, items: Sequence[Any], error: RequestError, progress: Progress
) -> None:
    """Tells the errors of objects by their names."""
    keys = [endpoint.parse_key(item["id"]) for item in items]
    errors = errors_by_key(error, keys) if isinstance(error, Invalid) else {}
    names = names_of(uow, endpoint, list(errors)[:MAX_ERRORS])
    for key in list(errors)[:MAX_ERRORS]:
        progress.fail(f"{names.get(key, key)}: {' '.join(messages_of(errors[key]))}")
    if not errors:
        progress.fail(readable(error.body))
    elif len(errors) > MAX_ERRORS:
        progress.fail(f"{len(errors) - MAX_ERRORS:,} more objects have errors.")


CREATE = BackgroundTask("netinv_web.bulk.bulk_run:CREATE", "Creation", _create)
UPDATE = BackgroundTask("netinv_web.bulk.bulk_run:UPDATE", "Bulk edit", _update)
DELETE = BackgroundTask("netinv_web.bulk.bulk_run:DELETE", "Bulk deletion", _delete)


def show(request: Request) -> Response:
    """The page of a bulk change in the background; POST cancels it."""
    endpoint = request.context.endpoint
    listed = page_path(endpoint)
    crumbs = ((plural_of(endpoint), listed),)
    title = f"Change of {endpoint.plural}"
    words = Words(title, "change", "objects", "changed", listed, "Show the list", listed, "Back to the list", crumbs)
    return runs.show(request, words)
