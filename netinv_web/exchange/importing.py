"""Import page of a resource: rows of CSV, TSV, XLSX, JSON or YAML, pasted or uploaded, a preview, one transaction."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import fields
from netinv_core.errors import BadRequest, Denied, NotFound, RequestError
from netinv_core.http import versions
from netinv_core.http.media import SEALED
from netinv_core.labels import label_of, label_with_unit
from netinv_core.write import identification, references
from netinv_core.write.table_rows import ID
from netinv_tabular import delimited, encodings, headers, workbooks
from netinv_tabular.list_files import file_name
from netinv_web import notices
from netinv_web.bulk.editing import INVALID
from netinv_web.bulk.selection import APPLY, DIGEST, Members, members_of, step_of
from netinv_web.exchange import column_mapping, file_importing, import_preview, import_run, import_table, uploaded
from netinv_web.exchange.column_mapping import Stated
from netinv_web.exchange.file_importing import DATA
from netinv_web.exchange.import_preview import CREATED, UPDATED, ImportPreview
from netinv_web.exchange.import_run import ImportSource
from netinv_web.file_imports import FileImport
from netinv_web.forms.controls import Control
from netinv_web.forms.form import last_text, readable, writable_fields
from netinv_web.menu import may
from netinv_web.pages import page, see_other
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_web:templates/import.jinja2"
FORMAT, ENCODING, MATCH = "format", "encoding", "match"  # members of the form, with those of the rows and files
ABOUT_COLUMNS = ("Column", "Meaning", "Needed", "Format", "Choices", "More")
MAX_CHOICES = 40  # choices that the help names


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
        raise Denied(missing=(endpoint.label, min(writes)))
    if "_template" in uow.query:
        return _template_file(uow, endpoint, uow.query["_template"][-1])
    members = members_of(request)
    if request.method != "POST":
        return _page(request, endpoint, members, ImportSource())
    source = ImportSource()
    try:
        other = file_importing.show(request, endpoint, members)
        if other is not None:
            return other
        source = _source(members, column_mapping.stated_in(request, endpoint, members))
        table = import_run.table_of(uow, endpoint, source)
    except RequestError as error:
        return _page(request, endpoint, members, source, [readable(error.body)])
    created = import_run.created_along(uow, endpoint, table)
    is_current = last_text(members, DIGEST) == source.digest(table.mapping)
    if step_of(members) == APPLY and is_current and not any(table.errors):
        if table.names:
            column_mapping.remember(request, endpoint, table.names, table.mapping)
        path = import_run.start(uow, endpoint, source) if import_run.is_long(uow, table, created) else None
        if path is not None:
            return see_other(path)
        counts = _write_rows(uow, endpoint, table)
        if counts is not None:
            return _redirect_to_list(request, endpoint, counts)
    preview = import_preview.preview(uow, endpoint, table, created if import_run.is_long(uow, table, created) else None)
    outdated = step_of(members) == APPLY and not is_current
    return _page(request, endpoint, members, source, preview=preview, outdated=outdated)


def _source(members: Members, of_columns: Stated) -> ImportSource:
    """The uploaded file or the pasted text; or the text that the step before has kept.

    :raises BadRequest: when there is nothing
    """
    text = last_text(members, DATA).replace("\r\n", "\n")
    if files := uploaded.chosen_files(members):
        content, name = files[-1].content, files[-1].name or "file"
    elif text.strip():
        content, name = text.encode("utf-8", "replace"), ""
    elif files := uploaded.kept_files(members):
        content, name = files[-1].content, files[-1].name
    else:
        raise BadRequest("Choose a file, or paste rows.")
    stated = last_text(members, FORMAT)
    known = dict(import_table.FORMATS)
    file_format = stated if stated in known else import_table.recognise_format(content, name)
    encoding = last_text(members, ENCODING)
    encoding = encoding if encoding in dict(encodings.ENCODINGS) else ""
    return ImportSource(content, name, file_format, last_text(members, MATCH) == "true", encoding, of_columns)


def _write_rows(uow: UnitOfWork, endpoint: Endpoint, table: import_table.ImportTable) -> dict[str, int] | None:
    """Writes all rows, or none; returns the numbers of objects, ``None`` when a row is refused."""
    created = sum(1 for place in range(len(table.bodies)) if not table.changes(place))
    try:
        with uow.savepoint() as change_set:
            import_preview.write_all(uow, endpoint, table)
            changed = len(change_set.keys_of(endpoint)) - created
    except RequestError:
        return None  # the preview has the reasons
    return {CREATED: created, UPDATED: max(0, changed)}


def _redirect_to_list(request: Request, endpoint: Endpoint, counts: dict[str, int]) -> Response:
    notice = notices.Notice(import_run.counts_text(endpoint, counts), undo=str(request.uow.request_id))
    return notices.add(request, see_other(page_path(endpoint)), notice)


def _page(
    request: Request,
    endpoint: Endpoint,
    members: Members,
    source: ImportSource,
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
        "hidden": source.hidden({} if preview is None else preview.mapping) if source.content else [],
        "uploaded": source.name,
        "columns": columns_of(request.uow, endpoint),
        "max_rows": settings["max_bulk_objects"],
        "preview": preview,
        "fields": headers.columns_of(request.uow, endpoint).writable,
        "ignored": column_mapping.IGNORED,
        "encoding": "" if preview is None else preview.encoding,
        "outdated": outdated,
        "errors": errors,
    }
    is_refused = bool(errors) or (preview is not None and bool(preview.counts[import_preview.FAULTY]))
    return page(request, TEMPLATE, values, INVALID if is_refused else 200)


def _controls(endpoint: Endpoint, members: Members, source: ImportSource) -> list[Control]:
    """The controls of the form, with what was entered."""
    data = Control(DATA, "or paste rows", "json", attributes={"wrap": "off"}, values=[last_text(members, DATA)])
    others = file_importing.imports_of(endpoint)
    files = [_file_control(others), data, *file_importing.option_controls(others, members)]
    file_format = Control(FORMAT, "Format", "select", choices=import_table.FORMATS, help="Recognised if not stated.")
    file_format.values = [text for text in [last_text(members, FORMAT)] if text]
    encoding = Control(ENCODING, "Encoding", "select", choices=encodings.ENCODINGS, values=[source.encoding])
    encoding.help = "Recognised if not stated; state it where letters are wrong in the preview."
    key = identification.key_fields(endpoint, set(endpoint.writable))
    if key is None or "change" not in endpoint.resource.writes:
        return [*files, file_format, encoding]
    by_key = Control(MATCH, "Update what exists", "checkbox", values=["true"] if source.by_key else [])
    matched = ", ".join(label_of(endpoint.fields[name]) for name in key)
    by_key.help = f"A row without an id changes the object that has the same values, if there is one: {matched}."
    return [*files, file_format, encoding, by_key]


def _file_control(others: Sequence[FileImport]) -> Control:
    """The control of files; several where a package imports files of its own kind."""
    extensions = [*import_table.EXTENSIONS, *(extension for item in others for extension in item.extensions)]
    several = {"multiple": "multiple"} if others else {}
    file = Control(uploaded.FILE, "File", "file", attributes={"accept": ",".join(extensions), **several})
    file.help = " ".join(item.help for item in others)
    return file


def columns_of(uow: UnitOfWork, endpoint: Endpoint) -> list[ColumnHelp]:
    """The columns that a file can have, required ones first."""
    columns = [
        ColumnHelp(
            column.name,
            label_with_unit(field),
            field.required,
            _kind(field),
            _choices(uow, endpoint, field),
            field.help,
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
    if field.options().get("choices"):
        return "one of the choices"
    return "JSON" if field.kind == "field" else field.kind


def _choices(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> list[str]:
    """The values that a cell can have, of a field with choices or a status."""
    if isinstance(field, fields.Status):
        return [value for value, _ in references.statuses_for(uow, field, endpoint)][:MAX_CHOICES]
    entries = [str(entry["value"]) for entry in field.options().get("choices", ())]
    return entries[:MAX_CHOICES]


def _template_file(uow: UnitOfWork, endpoint: Endpoint, extension: str) -> Response:
    """A file with the names of the columns and no rows; a workbook has a second sheet about the columns. The first one
    is the id where objects can only be changed.
    """
    columns = columns_of(uow, endpoint)
    if "add" not in endpoint.resource.writes:
        columns.insert(0, ColumnHelp(ID, "ID", True, "id"))
    names = [column.name for column in columns]
    if extension == import_table.XLSX:
        about = [
            (
                column.name,
                column.label,
                "yes" if column.required else "",
                column.kind,
                ", ".join(column.choices),
                column.help,
            )
            for column in columns
        ]
        content = workbooks.write(names, [], [ABOUT_COLUMNS, *about])
        response = Response(body=content, content_type=versions.XLSX, charset=None)
    else:
        extension = import_table.CSV
        response = Response(body=delimited.write(names, []).encode(), content_type=versions.CSV, charset="utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name(endpoint, extension)}"'
    response.headers.update(SEALED)
    return response
