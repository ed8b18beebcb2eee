"""Imports in the background: the task that writes the rows of a file, and the page that follows it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, NotFound, RequestError
from netinv_core.labels import plural_of
from netinv_core.types import Endpoint, UnitOfWork
from netinv_web import notices
from netinv_web.background import Arguments, Background, Progress, State, Task, background_of
from netinv_web.bulk.preview import errors_by_key, messages_of
from netinv_web.bulk.selection import STEP, members_of
from netinv_web.exchange import import_preview, import_table
from netinv_web.exchange.import_preview import CREATED, UPDATED
from netinv_web.exchange.import_table import ImportTable
from netinv_web.forms.form import last_text, readable
from netinv_web.pages import fragment, page, query_text, see_other
from netinv_web.paths import page_path

TEMPLATE = "netinv_web:templates/import_run.jinja2"
STATE = "netinv_web:templates/import_state.jinja2"
CANCEL = "cancel"  # value of STEP
PART, STATE_PART = "_part", "state"  # parameter, and its value for the part that a script reloads
MAX_ERRORS = 100  # rows of which the errors are told
HIDDEN_ROWS = "{:,} more rows have errors."


def table_of(uow: UnitOfWork, endpoint: Endpoint, content: bytes, file_format: str, *, by_key: bool) -> ImportTable:
    """The rows of a file, in the order in which they are written.

    :raises RequestError: for a file that cannot be read
    """
    table = import_table.read(uow, endpoint, content, file_format)
    if by_key:
        import_table.match(uow, endpoint, table)
    import_table.arrange(endpoint, table)
    return table


def counts_text(endpoint: Endpoint, counts: Mapping[str, int]) -> str:
    """The sentence about a written import."""
    numbers = " and ".join(f"{count:,} {state}" for state, count in counts.items() if count) or "nothing changed"
    return f"{plural_of(endpoint)}: {numbers}."


def start(uow: UnitOfWork, endpoint: Endpoint, content: bytes, file_format: str, *, by_key: bool) -> str | None:
    """Asks for an import in the background; returns the path of its page, ``None`` where there is no background."""
    background = background_of(uow.registry)
    packed = base64.b64encode(zlib.compress(content)).decode()
    arguments = {"label": endpoint.label, "content": packed, "format": file_format, "by_key": by_key}
    run = None if background is None else background.start(uow, TASK, arguments)
    return None if run is None else f"{page_path(endpoint)}import/{run}/"


def write_in_background(uow: UnitOfWork, arguments: Arguments, progress: Progress) -> str:
    """Writes the rows of a file part by part; the errors of the first part that is refused end the import."""
    endpoint = uow.registry[arguments["label"]]
    content = zlib.decompress(base64.b64decode(arguments["content"]))
    try:
        table = table_of(uow, endpoint, content, arguments["format"], by_key=arguments["by_key"])
    except RequestError as error:
        progress.fail(readable(error.body))
        return ""
    total, done = len(table.bodies), 0
    if any(table.errors):
        _fail(table, {place: error for place, error in enumerate(table.errors) if error}, progress)
        return ""
    for places in import_preview.parts_of(table):
        try:
            import_preview.write(uow, endpoint, table, places)
        except RequestError as error:
            _refused(table, places, error, progress)
            return ""
        done += len(places)
        progress.advance(done, total)
    created = sum(1 for place in range(total) if not table.changes(place))
    changed = len(uow.change_set.keys_of(endpoint)) - created
    return counts_text(endpoint, {CREATED: created, UPDATED: max(0, changed)})


def _refused(table: ImportTable, places: Sequence[int], error: RequestError, progress: Progress) -> None:
    errors = errors_by_key(error, places) if isinstance(error, Invalid) else {}
    if errors:
        _fail(table, errors, progress)
    else:
        progress.fail(readable(error.body))


def _fail(table: ImportTable, errors: Mapping[Any, Any], progress: Progress) -> None:
    """Tells the errors of rows, by their numbers."""
    for place in list(errors)[:MAX_ERRORS]:
        progress.fail(f"Row {table.numbers[place]}: {' '.join(messages_of(errors[place]))}")
    if len(errors) > MAX_ERRORS:
        progress.fail(HIDDEN_ROWS.format(len(errors) - MAX_ERRORS))


TASK = Task("netinv_web.exchange.import_run:TASK", "Import", write_in_background)


# -- the page


def show(request: Request) -> Response:
    """The page of an import in the background: how far it is, its outcome or its errors; POST cancels it.

    :raises NotFound: for an import of another user, and one that was cancelled
    """
    endpoint, uow = request.context.endpoint, request.uow
    background, run = background_of(uow.registry), request.matchdict["run"]
    state = None if background is None else background.state(uow, run)
    if background is None or state is None:
        raise NotFound()
    if request.method == "POST":
        return _cancelled(request, endpoint, background, run)
    values = _values(request, endpoint, state)
    if query_text(request, PART) == STATE_PART:
        return fragment(request, STATE, values)
    return page(request, TEMPLATE, values)


def _values(request: Request, endpoint: Endpoint, state: State) -> dict[str, Any]:
    return {"endpoint": endpoint, "state": state, "list_path": page_path(endpoint), "path": request.path}


def _cancelled(request: Request, endpoint: Endpoint, background: Background, run: str) -> Response:
    if last_text(members_of(request), STEP) != CANCEL or not background.cancel(request.uow, run):
        return see_other(request.path)
    notice = notices.Notice("The import was cancelled: nothing was imported.")
    return notices.add(request, see_other(f"{page_path(endpoint)}import/"), notice)
