"""Files of tables (CSV, TSV, XLSX) and YAML: lists as files, bodies of requests in them, and the order of rows that
refer to each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookimpl
from netinv_core.http import versions
from netinv_core.http.list_formats import ListFormat
from netinv_tabular import list_bodies, list_files

if TYPE_CHECKING:
    from netinv_core.registry import Registry

FORMATS = (
    ListFormat(
        "format", list_files.render_table, media_type=versions.CSV, read=list_bodies.read_csv, reads=(versions.CSV,)
    ),
    ListFormat(
        "format", list_files.render_table, media_type=versions.TSV, read=list_bodies.read_tsv, reads=(versions.TSV,)
    ),
    ListFormat(
        "format", list_files.render_table, media_type=versions.XLSX, read=list_bodies.read_xlsx, reads=(versions.XLSX,)
    ),
    ListFormat(
        "format",
        list_files.render_yaml,
        media_type=versions.YAML,
        read=list_bodies.read_yaml,
        reads=list_bodies.YAML_MEDIA,
    ),
)


@hookimpl
def netinv_list_formats(registry: Registry) -> Iterable[ListFormat]:
    """CSV, TSV, XLSX and YAML."""
    return FORMATS
