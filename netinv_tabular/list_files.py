"""Lists as files: CSV, TSV and XLSX with a column for each field, YAML with the representations.

A file holds all objects that the filters select, up to ``netinv.max_export_size``, or the part that ``limit`` and
``offset`` select. What was exported can be imported unchanged (:mod:`netinv_tabular.list_bodies`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyramid.response import Response

from netinv_core import answer_size
from netinv_core.errors import AnswerTooLarge, Invalid
from netinv_core.http import pagination, representations, sparse_fields, versions
from netinv_core.http.media import SEALED
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_tabular import columns as tables
from netinv_tabular import delimited, workbooks, yaml_documents

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.records import CellColumn

COLUMNS = "columns"  # query parameter of tables: names of columns
TOO_MANY = "At most {} objects are exported at once: filter them, or use limit and offset."
TOO_MANY_VALUES = (
    "The document would have more than {} values (netinv.max_yaml_values). "
    "Ask for fewer objects or members, or for JSON."
)
NO_FIELDS = "Tables have columns: name them in the parameter columns."
NO_PAGES = "Files have neither cursors nor a count: leave the parameter out."
EXTENSIONS = {versions.CSV: "csv", versions.TSV: "tsv", versions.XLSX: "xlsx", versions.YAML: "yaml"}
DELIMITERS = {versions.CSV: delimited.COMMA, versions.TSV: delimited.TAB}


def select_exported(uow: RequestUnitOfWork, endpoint: Endpoint, parameters: listing.Parameters, name: str) -> list[Any]:
    """The ids of the objects to export, in order.

    :param name: the query parameter that asks for the export, for the error
    :raises Invalid: for more objects than ``netinv.max_export_size``, or a parameter of pages
    """
    for parameter in sorted(pagination.PARAMETERS - endpoint.filters.keys()):
        if parameter in uow.query:
            raise Invalid.field(parameter, NO_PAGES)
    maximum = uow.registry.settings["max_export_size"]
    page_size = maximum + 1 if maximum else 0
    part = pagination.window(uow.query, {"paginate_count": page_size, "max_page_size": page_size})
    _, keys = listing.ids(uow, endpoint, parameters, part)
    if maximum and len(keys) > maximum:
        raise Invalid.field(name, TOO_MANY.format(maximum))
    answer_size.check(uow.registry, len(keys), 0)
    return keys


def render_table(
    uow: RequestUnitOfWork, endpoint: Endpoint, media_type: str, parameters: listing.Parameters
) -> Response:
    """The objects as CSV, TSV or XLSX, in the newest version; ``columns`` names the columns.

    :raises Invalid: for an unknown column, and as :func:`select_exported`
    """
    if sparse_fields.requested_members(uow, endpoint) is not None:
        raise Invalid.field(sparse_fields.PARAMETER, NO_FIELDS)
    columns = _columns(uow, endpoint)
    filters = [(name, values) for name, values in parameters if name != COLUMNS]
    keys = select_exported(uow, endpoint, filters, "format")
    without = (endpoint.opt_in | endpoint.costly) - {column.field for column in columns}
    items = plan_of(endpoint, "full", without).represent(uow, keys)
    table = tables.cells_of(uow, endpoint, columns, items)
    names = [column.name for column in columns]
    if media_type == versions.XLSX:
        return _file(endpoint, media_type, workbooks.write(names, table))
    text = delimited.write(names, table, DELIMITERS[media_type])
    return _file(endpoint, media_type, text.encode("utf-8", "replace"))


def _columns(uow: RequestUnitOfWork, endpoint: Endpoint) -> list[CellColumn]:
    names = [name.strip() for text in uow.query.get(COLUMNS, ()) for name in text.split(",")]
    chosen = [name for name in names if name]
    return tables.chosen_columns(uow, endpoint, chosen) if chosen else tables.default_columns(uow, endpoint)


def render_yaml(
    uow: RequestUnitOfWork, endpoint: Endpoint, media_type: str, parameters: listing.Parameters
) -> Response:
    """The objects as a list in YAML, in the requested version; ``brief``, ``include`` and ``exclude`` as in JSON.

    :raises AnswerTooLarge: for more bytes than ``netinv.max_answer_size``, or values than ``netinv.max_yaml_values``
    """
    shape, without = representations.shape_of(uow, endpoint)
    keys = select_exported(uow, endpoint, parameters, "format")
    items = representations.list_representations(uow, endpoint, keys, shape, without)
    most = uow.registry.settings["max_yaml_values"]

    def check(size: int, values: int) -> None:
        answer_size.check(uow.registry, 0, size)
        if most and values > most:
            raise AnswerTooLarge(TOO_MANY_VALUES.format(most))

    content = yaml_documents.dump(items, check)
    return _file(endpoint, media_type, content)


def _file(endpoint: Endpoint, media_type: str, content: bytes) -> Response:
    """The response with a file to download."""
    response = Response(body=content, charset=None)
    response.headers["Content-Type"] = media_type if media_type == versions.XLSX else f"{media_type}; charset=utf-8"
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name(endpoint, EXTENSIONS[media_type])}"'
    response.headers.update(SEALED)
    return response


def file_name(endpoint: Endpoint, extension: str) -> str:
    """A file name such as ``rack_groups.csv``: the model's plural and an extension."""
    name = f"{endpoint.plural}.{extension.lstrip('.')}" if extension.strip(".") else endpoint.plural
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
