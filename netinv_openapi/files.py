"""OpenAPI descriptions of lists as files: media types of answers and bodies, and query parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_core.http import versions
from netinv_core.http.query_parameters import query

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_FILE: Schema = {"type": "string", "format": "binary"}
PARAMETERS = (
    query(
        "format",
        {"type": "string", "enum": ["json", "csv", "tsv", "xlsx", "yaml"]},
        "The form of the list, in place of the Accept header. "
        "Other than JSON it is a file with all objects that the filters select.",
    ),
    query(
        "columns",
        _TEXT,
        "Names of the columns of CSV, TSV and XLSX, separated by commas: fields, `cf_…`, and `field.member` of "
        "references.",
    ),
)
IMPORTS = frozenset({"create", "bulk_update", "bulk_partial_update"})


def answer_contents(schema: Schema) -> dict[str, Schema]:
    """The contents of a list's answer beside JSON; ``schema`` is that of the list of objects in YAML."""
    tables = {media_type: {"schema": _TEXT} for media_type in sorted(versions.TABLES)}
    return {**tables, versions.XLSX: {"schema": _FILE}, versions.YAML: {"schema": schema}}


def body_contents(contents: Mapping[str, Schema]) -> dict[str, Schema]:
    """The contents of a body that creates or changes a list: those of JSON in YAML, and tables."""
    return {**contents, **answer_contents(contents[versions.JSON]["schema"])}
