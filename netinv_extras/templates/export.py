"""Export of lists: ``?export=<name of an export template>`` answers with the rendered template as a file.

The template sees of the objects what the API shows to the user (:mod:`netinv_extras.templates.objects`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.response import Response

from netinv_core.errors import Invalid
from netinv_core.http import media_types
from netinv_core.http.list_formats import ListFormat
from netinv_core.http.media import SEALED
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_extras.content_types import has_pages
from netinv_extras.templates import sandbox
from netinv_extras.templates.export_templates import ExportTemplate
from netinv_extras.templates.objects import ObjectLoader
from netinv_tabular import list_files

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PARAMETER = "export"
MAX_FILE_LENGTH = 1 << 24  # characters
_table = table_of(ExportTemplate)


def export(uow: RequestUnitOfWork, endpoint: Endpoint, name: str, parameters: listing.Parameters) -> Response:
    """Renders an export template with the objects that the parameters select.

    :raises Invalid: for an unknown template, a failing one, and more objects than ``netinv.max_export_size``
    """
    template = _template(uow, endpoint, name)
    loader = ObjectLoader(uow)
    objects = loader.add(
        endpoint, list_files.select_exported(uow, endpoint, parameters, PARAMETER), open=True
    ).objects()
    rendering = sandbox.Rendering(template["template_code"], {"queryset": objects})
    (text,) = sandbox.render([rendering], _limits(uow), loader)
    if isinstance(text, sandbox.RenderError):
        raise Invalid.field(PARAMETER, f"The template failed: {text}")
    response = Response(body=text.encode("utf-8", "replace"), charset=None)
    response.headers["Content-Type"] = media_types.safe_media_type(template["mime_type"])
    file_name = list_files.file_name(endpoint, template["file_extension"])
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
    response.headers.update(SEALED)
    return response


def _limits(uow: UnitOfWork) -> sandbox.RenderLimits:
    """Returns the limits of exports: those of other templates, but a longer result and the time ``export_timeout``."""
    settings = uow.registry.settings
    seconds = settings["export_timeout"]
    total = seconds + 2 * sandbox.RESULT_GRACE
    return dataclasses.replace(sandbox.limits_of(uow.registry), seconds=seconds, total=total, longest=MAX_FILE_LENGTH)


def _template(uow: UnitOfWork, endpoint: Endpoint, name: str) -> Mapping[str, Any]:
    """Returns the row of a content type's template. One without an owner takes precedence over others of its name.

    :raises Invalid: for an unknown name
    """
    statement = sa.select(_table).where(_table.c.content_type == endpoint.label, _table.c.name == name)
    rows = list(uow.execute(statement).mappings()) if "\x00" not in name else []
    if not rows:
        raise Invalid.field(PARAMETER, f"There is no export template of this name for {endpoint.plural}.")
    return dict(min(rows, key=lambda row: (row["owner_object_id"] is not None, str(row["id"]))))


list_format = ListFormat(
    PARAMETER,
    export,
    has_pages,
    "The name of an export template of the content type: the answer is the file that it makes of the list.",
)
