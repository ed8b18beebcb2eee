"""Import page of a resource: rows pasted or uploaded as CSV, TSV, JSON or YAML, a preview, then one transaction."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
from collections.abc import Sequence

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import fields
from netinv_core.errors import BadRequest, Denied, NotFound, RequestError
from netinv_core.http.list_files import file_name
from netinv_core.http.media import SEALED
from netinv_core.labels import label_of
from netinv_core.tabular import delimited, identification
from netinv_core.types import Endpoint, Field, UnitOfWork
from netinv_core.write import references
from netinv_web import notices
from netinv_web.bulk.editing import INVALID
from netinv_web.bulk.selection import APPLY, DIGEST, STEP, Members, members_of
from netinv_web.exchange import import_preview, import_run, import_table
from netinv_web.exchange.import_preview import CREATED, UPDATED, ImportPreview
from netinv_web.forms.control_values import is_upload
from netinv_web.forms.controls import Control
from netinv_web.forms.form import last_text, readable, writable_fields
from netinv_web.menu import may
from netinv_web.pages import page, see_other
from netinv_web.paths import page_path

TEMPLATE = "netinv_web:templates/import.jinja2"
DATA, FILE, FORMAT, MATCH = "data", "file", "format", "match"  # members of the form
CONTENT, NAME = "_content", "_file"  # members with an uploaded file in the further steps: its Base64, its name
MAX_CHOICES = 40  # choices that the help names


@dataclasses.dataclass(frozen=True)
class Source:
    """The content of an import, the name of its file (empty for pasted text), its format, and if keys are matched."""

    content: bytes = b""
    name: str = ""
    file_format: str = ""
    by_key: bool = False

    @property
    def digest(self) -> str:
        """The digest of all that decides what is written."""
        text = f"{self.file_format} {self.by_key} ".encode()
        return hashlib.blake2b(text + self.content, digest_size=16).hexdigest()

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The hidden members that carry an uploaded file to the next step."""
        if not self.name:
            return [(DIGEST, self.digest)]
        return [(DIGEST, self.digest), (CONTENT, base64.b64encode(self.content).decode()), (NAME, self.name)]


@dataclasses.dataclass(frozen=True)
class ColumnHelp:
    """A column that a file can have: its name, label, whether new objects need it, and its format."""

    name: str
    label: str
    required: bool
    kind: str
    choices: Sequence[str] = ()
    help: str = ""


def show(request: Request) -> Response:
    """The form, the preview of what was entered, and the import.

    :raises NotFound: for a resource that is not written
    :raises Denied: for users who may neither add nor change objects
    """
    endpoint, uow = request.context.endpoint, request.uow
    writes = endpoint.resource.writes & {"add", "change"}
    if not writes:
        raise NotFound()
    if not any(may(uow, endpoint, action) for action in writes):
        raise Denied()
    if "_template" in uow.query:
        return _template_file(uow, endpoint)
    members = members_of(request)
    if request.method != "POST":
        return _page(request, endpoint, members, Source())
    source = Source()
    try:
        source = _source(members)
        table = import_run.table_of(uow, endpoint, source.content, source.file_format, by_key=source.by_key)
    except RequestError as error:
        return _page(request, endpoint, members, source, [readable(error.body)])
    is_current = last_text(members, DIGEST) == source.digest
    if last_text(members, STEP) == APPLY and is_current and not any(table.errors):
        path = _started(uow, endpoint, source, table)
        if path is not None:
            return see_other(path)
        counts = _written(uow, endpoint, table)
        if counts is not None:
            return _imported(request, endpoint, counts)
    preview = import_preview.preview(uow, endpoint, table)
    outdated = last_text(members, STEP) == APPLY and not is_current
    return _page(request, endpoint, members, source, preview=preview, outdated=outdated)


def _started(uow: UnitOfWork, endpoint: Endpoint, source: Source, table: import_table.ImportTable) -> str | None:
    """Asks for a long import in the background; returns the path of its page, ``None`` to write it in the request."""
    if len(table.bodies) <= endpoint.registry.settings["import_background_rows"]:
        return None
    return import_run.start(uow, endpoint, source.content, source.file_format, by_key=source.by_key)


def _source(members: Members) -> Source:
    """The uploaded file or the pasted text; or the text that the step before has kept.

    :raises BadRequest: when there is nothing
    """
    uploads = [value for value in members.get(FILE, ()) if is_upload(value) and value.content]
    text = last_text(members, DATA).replace("\r\n", "\n")
    if uploads:
        content, name = uploads[-1].content, uploads[-1].name or "file"
    elif text.strip():
        content, name = text.encode("utf-8", "replace"), ""
    elif CONTENT in members:
        content, name = _decoded(last_text(members, CONTENT)), last_text(members, NAME) or "file"
    else:
        raise BadRequest("Paste rows, or choose a file.")
    stated = last_text(members, FORMAT)
    known = dict(import_table.FORMATS)
    file_format = stated if stated in known else import_table.recognised(content, name)
    return Source(content, name, file_format, last_text(members, MATCH) == "true")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("The uploaded file was not sent again as it was. Choose it again.") from None


def _written(uow: UnitOfWork, endpoint: Endpoint, table: import_table.ImportTable) -> dict[str, int] | None:
    """Writes all rows, or none; returns the numbers of objects, ``None`` when a row is refused."""
    created = sum(1 for place in range(len(table.bodies)) if not table.changes(place))
    try:
        with uow.savepoint() as change_set:
            import_preview.write_all(uow, endpoint, table)
            changed = len(change_set.keys_of(endpoint)) - created
    except RequestError:
        return None  # the preview has the reasons
    return {CREATED: created, UPDATED: max(0, changed)}


def _imported(request: Request, endpoint: Endpoint, counts: dict[str, int]) -> Response:
    notice = notices.Notice(import_run.counts_text(endpoint, counts), undo=str(request.uow.request_id))
    return notices.add(request, see_other(page_path(endpoint)), notice)


def _page(
    request: Request,
    endpoint: Endpoint,
    members: Members,
    source: Source,
    errors: Sequence[str] = (),
    *,
    preview: ImportPreview | None = None,
    outdated: bool = False,
) -> Response:
    """The form with what was entered, and the preview. Nothing of the transaction is kept."""
    if request.method == "POST":
        request.tm.doom()
    settings = endpoint.registry.settings
    values = {
        "endpoint": endpoint,
        "list_path": page_path(endpoint),
        "controls": _controls(endpoint, members, source),
        "hidden": source.hidden if source.content else [],
        "uploaded": source.name,
        "columns": columns_of(request.uow, endpoint),
        "max_rows": settings["max_bulk_objects"],
        "preview": preview,
        "outdated": outdated,
        "errors": errors,
    }
    is_refused = bool(errors) or (preview is not None and bool(preview.counts[import_preview.FAULTY]))
    return page(request, TEMPLATE, values, INVALID if is_refused else 200)


def _controls(endpoint: Endpoint, members: Members, source: Source) -> list[Control]:
    """The controls of the form, with what was entered."""
    data = Control(DATA, "Rows", "json", attributes={"wrap": "off"}, values=[last_text(members, DATA)])
    file = Control(FILE, "or a file", "file", attributes={"accept": ",".join(import_table.EXTENSIONS)})
    file_format = Control(FORMAT, "Format", "select", choices=import_table.FORMATS, help="Recognised if not stated.")
    file_format.values = [text for text in [last_text(members, FORMAT)] if text]
    key = identification.key_fields(endpoint, set(endpoint.writable))
    if key is None or "change" not in endpoint.resource.writes:
        return [data, file, file_format]
    by_key = Control(MATCH, "Update what exists", "checkbox", values=["true"] if source.by_key else [])
    by_key.help = f"Rows without id change the object with the same {', '.join(key)}, if there is one."
    return [data, file, file_format, by_key]


def columns_of(uow: UnitOfWork, endpoint: Endpoint) -> list[ColumnHelp]:
    """The columns that a file can have, required ones first."""
    columns = [
        ColumnHelp(
            column.name, label_of(field), field.required, _kind(field), _choices(uow, endpoint, field), field.help
        )
        for field in writable_fields(endpoint).values()
        for column in field.cell_columns(uow)
    ]
    return sorted(columns, key=lambda column: not column.required)


def _kind(field: Field) -> str:
    """The words for the format of a column."""
    if isinstance(field, fields.Status):
        return "one of the choices"
    if isinstance(field, fields.Reference) and field.target is not None:
        return f"{field.target.natural_attribute or 'id'} or id of a {field.target.title}"
    if isinstance(field, fields.ToMany) and field.target is not None:
        return f"list, separated by commas: {field.target.natural_attribute or 'id'} or id of each {field.target.title}"
    if isinstance(field, fields.ContentTypeList):
        return "list of content types, separated by commas"
    return {"field": "JSON", "choice": "one of the choices"}.get(field.kind, field.kind)


def _choices(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> list[str]:
    """The values that a cell can have, of a field with choices or a status."""
    if isinstance(field, fields.Status):
        return [value for value, _ in references.statuses_for(uow, field, endpoint)][:MAX_CHOICES]
    entries = [str(entry["value"]) for entry in field.options().get("choices", ())]
    return entries[:MAX_CHOICES]


def _template_file(uow: UnitOfWork, endpoint: Endpoint) -> Response:
    """A CSV file with the names of the columns and no rows."""
    text = delimited.write([column.name for column in columns_of(uow, endpoint)], [])
    response = Response(body=text.encode(), content_type="text/csv", charset="utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name(endpoint, "csv")}"'
    response.headers.update(SEALED)
    return response
