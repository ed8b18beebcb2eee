"""Imports in the background: the task that writes the rows of a file, and the page that follows it."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, RequestError
from netinv_core.labels import plural_of
from netinv_core.storage.files import Upload
from netinv_core.write.created_along import count_created_along
from netinv_web import runs
from netinv_web.background import Arguments, BackgroundTask, Progress, background_of
from netinv_web.bulk.preview import errors_by_key, messages_of
from netinv_web.bulk.selection import DIGEST
from netinv_web.exchange import import_preview, import_table, uploaded
from netinv_web.exchange.column_mapping import Stated
from netinv_web.exchange.import_preview import CREATED, UPDATED
from netinv_web.exchange.import_table import ImportTable
from netinv_web.forms.form import readable
from netinv_web.paths import page_path
from netinv_web.runs import Words

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_ERRORS = 100  # rows of which the errors are told
HIDDEN_ROWS = "{:,} more rows have errors."


@dataclasses.dataclass(frozen=True)
class ImportSource:
    """The content of an import, the name of its file (empty for pasted text), its format, its encoding where that is
    stated, and if keys are matched.
    """

    content: bytes = b""
    name: str = ""
    file_format: str = ""
    by_key: bool = False
    encoding: str = ""
    stated: Stated = dataclasses.field(default_factory=Stated)

    def digest(self, mapping: Mapping[str, str]) -> str:
        """The digest of all that decides what is written, with the fields of the columns."""
        text = f"{self.file_format} {self.by_key} {self.encoding} {sorted(mapping.items())} ".encode("utf-8", "replace")
        return hashlib.blake2b(text + self.content, digest_size=16).hexdigest()

    def hidden(self, mapping: Mapping[str, str]) -> list[tuple[str, str]]:
        """The hidden members that carry an uploaded file to the next step."""
        files = [Upload(self.name, self.content)] if self.name else []
        return [(DIGEST, self.digest(mapping)), *uploaded.hidden_members(files)]


def table_of(uow: UnitOfWork, endpoint: Endpoint, source: ImportSource) -> ImportTable:
    """The rows of a file, in the order in which they are written.

    :raises RequestError: for a file that cannot be read
    """
    table = import_table.read(uow, endpoint, source.content, source.file_format, source.encoding, source.stated)
    import_table.resolve(uow, endpoint, table)
    if source.by_key:
        import_table.match(uow, endpoint, table)
    import_table.arrange(uow, endpoint, table)
    return table


def counts_text(endpoint: Endpoint, counts: Mapping[str, int]) -> str:
    """The sentence about a written import."""
    numbers = " and ".join(f"{count:,} {state}" for state, count in counts.items() if count) or "nothing changed"
    return f"{plural_of(endpoint)}: {numbers}."


def created_along(uow: UnitOfWork, endpoint: Endpoint, table: ImportTable) -> Counter[str]:
    """The numbers of objects that are created along with those of the rows, by label."""
    new = [body for place, body in enumerate(table.bodies) if not table.changes(place)]
    return count_created_along(uow, endpoint, new)


def is_long(uow: UnitOfWork, table: ImportTable, created: Counter[str]) -> bool:
    """True for an import that writes more objects than ``netinv.import_background_rows``: its rows, and what is created
    along with them.
    """
    maximum: int = uow.registry.settings["import_background_rows"]
    return len(table.bodies) + created.total() > maximum


def start(uow: UnitOfWork, endpoint: Endpoint, source: ImportSource) -> str | None:
    """Asks for an import in the background; returns the path of its page, ``None`` where there is no background."""
    background = background_of(uow.registry)
    packed = base64.b64encode(zlib.compress(source.content)).decode()
    arguments = {
        "label": endpoint.label,
        "content": packed,
        "format": source.file_format,
        "by_key": source.by_key,
        "encoding": source.encoding,
        "columns": [[place, column] for place, column in source.stated.by_place.items()],
        "remembered": dict(source.stated.remembered),
    }
    run = None if background is None else background.start(uow, TASK, arguments)
    return None if run is None else f"{page_path(endpoint)}import/{run}/"


def write_in_background(uow: UnitOfWork, arguments: Arguments, progress: Progress) -> str:
    """Writes the rows of a file part by part; the errors of the first part that is refused end the import."""
    endpoint = uow.registry[arguments["label"]]
    content = zlib.decompress(base64.b64decode(arguments["content"]))
    try:
        stated = Stated(dict(arguments.get("columns", ())), arguments.get("remembered", {}))
        source = ImportSource(
            content, "", arguments["format"], arguments["by_key"], arguments.get("encoding", ""), stated
        )
        table = table_of(uow, endpoint, source)
    except RequestError as error:
        progress.fail(readable(error.body))
        return ""
    total, done = len(table.bodies), 0
    if any(table.errors):
        _fail(table, {place: error for place, error in enumerate(table.errors) if error}, progress)
        return ""
    created = created_along(uow, endpoint, table).total()
    for places in import_preview.parts_of(uow, endpoint, table, created):
        try:
            import_preview.write(uow, endpoint, table, places)
        except RequestError as error:
            _note_errors(table, places, error, progress)
            return ""
        done += len(places)
        progress.advance(done, total)
    new = sum(1 for place in range(total) if not table.changes(place))
    changed = len(uow.change_set.keys_of(endpoint)) - new
    return counts_text(endpoint, {CREATED: new, UPDATED: max(0, changed)})


def _note_errors(table: ImportTable, places: Sequence[int], error: RequestError, progress: Progress) -> None:
    errors = errors_by_key(error, places) if isinstance(error, Invalid) else {}
    if errors:
        _fail(table, errors, progress)
    else:
        progress.fail(readable(error.body))


def _fail(table: ImportTable, errors: Mapping[Any, Any], progress: Progress) -> None:
    """Tells the errors of rows, by their numbers."""
    for place in list(errors)[:MAX_ERRORS]:
        told = " ".join(messages_of(table.explain(place, errors[place])))
        progress.fail(f"Row {table.numbers[place]}: {told}")
    if len(errors) > MAX_ERRORS:
        progress.fail(HIDDEN_ROWS.format(len(errors) - MAX_ERRORS))


TASK = BackgroundTask("netinv_web.exchange.import_run:TASK", "Import", write_in_background)


# -- the page


def show(request: Request) -> Response:
    """The page of an import in the background; POST cancels it.

    :raises NotFound: for an import of another user, and one that was cancelled
    """
    endpoint = request.context.endpoint
    listed, again = page_path(endpoint), f"{page_path(endpoint)}import/"
    crumbs = ((plural_of(endpoint), listed), ("Import", again))
    title = f"Import of {endpoint.plural}"
    return runs.show(
        request,
        Words(title, "import", "rows", "imported", listed, "Show the list", again, "Import again", crumbs),
    )
