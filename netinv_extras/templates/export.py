"""Exporting: ``?export=<name of an export template>`` on any list gives what the template makes of it, as a file.

A template sees of the objects what the API shows to whoever asks (:mod:`netinv_extras.templates.objects`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.response import Response

from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid
from netinv_core.http import pagination
from netinv_core.http.list_formats import ListFormat
from netinv_core.http.media import SEALED
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_extras.content_types import has_pages
from netinv_extras.templates import sandbox
from netinv_extras.templates.export_templates import ExportTemplate
from netinv_extras.templates.objects import ObjectLoader

PARAMETER = "export"
LONGEST = 1 << 24  # characters of a file
_WORD = r"[\w!#$&^.+-]+"
_MEDIA = re.compile(rf"{_WORD}/{_WORD}(\s*;\s*{_WORD}={_WORD})*", re.ASCII)
_table = table_of(ExportTemplate)


def export(uow: RequestUnitOfWork, endpoint: Endpoint, name: str, parameters: listing.Parameters) -> Response:
    """The file that a template makes of the objects that the parameters select.

    :raises Invalid: for an unknown name, a template that fails, and more objects than are exported at once
    """
    template = _template(uow, endpoint, name)
    loader = ObjectLoader(uow)
    objects = loader.add(endpoint, _selected(uow, endpoint, parameters), open=True).objects()
    (text,) = sandbox.render([sandbox.Rendering(template["template_code"], {"queryset": objects})], _limits(uow), loader)
    if isinstance(text, sandbox.RenderError):
        raise Invalid.field(PARAMETER, f"The template failed: {text}")
    response = Response(body=text.encode("utf-8", "replace"), charset=None)
    response.headers["Content-Type"] = _media_type(template["mime_type"])
    response.headers["Content-Disposition"] = f'attachment; filename="{_file_name(endpoint, template["file_extension"])}"'
    response.headers.update(SEALED)
    return response


def _limits(uow: UnitOfWork) -> sandbox.Limits:
    """Those of other templates, with a longer result and a time of their own."""
    settings = uow.registry.settings
    seconds = settings["export_timeout"]
    return dataclasses.replace(sandbox.Limits.of(settings), seconds=seconds, total=seconds + 2 * sandbox.RESULT_GRACE, longest=LONGEST)


def _template(uow: UnitOfWork, endpoint: Endpoint, name: str) -> Mapping[str, Any]:
    """The row of a content type's template; one that nobody owns goes before others of its name.

    :raises Invalid: when there is none
    """
    wanted = sa.select(_table).where(_table.c.content_type == endpoint.label, _table.c.name == name)
    found = list(uow.execute(wanted).mappings()) if "\x00" not in name else []
    if not found:
        raise Invalid.field(PARAMETER, f"There is no export template of this name for {endpoint.plural}.")
    return dict(min(found, key=lambda row: (row["owner_object_id"] is not None, str(row["id"]))))


def _selected(uow: RequestUnitOfWork, endpoint: Endpoint, parameters: listing.Parameters) -> list[Any]:
    """The ids of all that is selected, or of the part that ``limit`` and ``offset`` name, in order.

    :raises Invalid: when they are too many
    """
    most = uow.registry.settings.get("max_export_size") or 0
    edge = most + 1 if most else 0
    part = pagination.window(uow.query, {"paginate_count": edge, "max_page_size": edge})
    _, keys = listing.ids(uow, endpoint, parameters, part)
    if most and len(keys) > most:
        raise Invalid.field(PARAMETER, f"At most {most} objects are exported at once: filter them, or use limit and offset.")
    return keys


def _media_type(given: str) -> str:
    """A template's media type, when it is one, else that of plain text."""
    found = given if _MEDIA.fullmatch(given) else "text/plain"
    return f"{found}; charset=utf-8" if found.startswith("text/") and "charset" not in found else found


def _file_name(endpoint: Endpoint, extension: str) -> str:
    """``rack_groups.csv``: the model's plural, and the template's extension."""
    name = f"{endpoint.plural}.{extension.lstrip('.')}" if extension.strip(".") else endpoint.plural
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)


list_format = ListFormat(PARAMETER, export, has_pages, "The name of an export template of the content type: the answer is the file that it makes of the list.")
