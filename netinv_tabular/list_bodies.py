"""Bodies of requests in YAML, and as tables (CSV, TSV, XLSX)."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request

from netinv_core.http import bodies, versions
from netinv_core.write.table_rows import ParsedRows
from netinv_tabular import columns, delimited, generic_references, workbooks, yaml_documents
from netinv_tabular.named_references import NamedReferences

YAML_MEDIA = (versions.YAML, "application/x-yaml", "text/yaml", "text/x-yaml")


def read_yaml(request: Request) -> Any:
    """The value of a body in YAML."""
    settings = request.registry.netinv.settings
    text = delimited.decode(_content(request))
    return bodies.check_body(yaml_documents.load(text, max_values=settings["max_json_values"]), settings)


def read_csv(request: Request) -> ParsedRows:
    """The rows of a table in CSV, whose delimiter is recognised."""
    return _rows(request, None)


def read_tsv(request: Request) -> ParsedRows:
    """The rows of a table with tabs."""
    return _rows(request, delimited.TAB)


def read_xlsx(request: Request) -> ParsedRows:
    """The rows of the first sheet of a workbook."""
    settings = request.registry.netinv.settings
    limits = {"max_rows": settings["max_bulk_objects"], "max_values": settings["max_json_values"]}
    return _parse_rows(request, workbooks.read(_content(request), **limits))


def _rows(request: Request, delimiter: str | None) -> ParsedRows:
    """The rows of a table.

    :raises UnsupportedMedia: for another encoding than UTF-8
    """
    settings = request.registry.netinv.settings
    limits = {"max_rows": settings["max_bulk_objects"], "max_values": settings["max_json_values"]}
    return _parse_rows(request, delimited.read(_content(request), delimiter=delimiter, **limits))


def _parse_rows(request: Request, table: delimited.Table) -> ParsedRows:
    """The bodies of the rows, with ids in place of the names that people use."""
    uow, endpoint = request.uow, request.context.endpoint
    parsed = columns.parse(uow, endpoint, table)
    resource = endpoint.resource.of or endpoint.resource
    NamedReferences(uow, endpoint, parsed.bodies, resource.presentation.depends_on).resolve()
    generic_references.resolve(uow, endpoint, parsed.bodies, parsed.errors)
    return parsed


def _content(request: Request) -> bytes:
    """The bytes of a body in UTF-8.

    :raises UnsupportedMedia: for another ``charset``
    """
    bodies.require_utf8(request.headers.get("Content-Type", ""))
    return bodies.read_content(request, request.registry.netinv.settings["max_request_size"], "netinv.max_request_size")
