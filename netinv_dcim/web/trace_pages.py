"""The path of cables through an end as a drawing: on its page, as the tab *Trace*, and as a file ``trace.svg``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyramid.path import AssetResolver
from pyramid.renderers import render
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.caches import lru_cache
from netinv_core.endpoint import Endpoint
from netinv_core.errors import NotFound
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_dcim.cabling.branches import branches_around
from netinv_dcim.cabling.models import Cabled
from netinv_dcim.cabling.paths import End
from netinv_dcim.rack_views.elevations import SEALED, SVG
from netinv_dcim.rack_views.svg_text import legible
from netinv_dcim.web.trace_drawing import drawing_of, length_of, networks_of, reasons_of
from netinv_dcim.web.trace_names import names_of
from netinv_web import static_files
from netinv_web.extensions import Panel, Tab
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_dcim:web/templates/trace.jinja2"
FILE = "netinv_dcim:web/templates/trace_file.jinja2"
STYLE = "netinv_dcim:web/static/trace.css"
TITLE = "Trace"
# The colours of a file, which has no style sheet of the service: those of the light scheme, by the name of the token.
COLORS: Mapping[str, str] = {
    "text": "#1e242e",
    "muted": "#5a626e",
    "line": "#dcdfe3",
    "edge": "#7c838c",
    "raised": "#ffffff",
    "sunken": "#f1f3f5",
    "accent": "#1f56c4",
    "accent-surface": "#e6effd",
    "warning": "#855500",
}
EndOf = Callable[[Endpoint, Mapping[str, Any]], End | None]  # the end whose path the page of an object shows


def trace_values(uow: UnitOfWork, end: End) -> dict[str, Any]:
    """The values of the templates for the path through an end."""
    root = branches_around(uow, end)
    names = names_of(uow, root)
    cables = {visit.line.id for visit in root.all() if visit.line is not None}
    length = length_of(root, names)
    return {
        "drawing": drawing_of(root, names, end),
        "reasons": reasons_of(root, names),
        "networks": networks_of(root, names),
        "cables": len(cables),
        "length": length,
        "name": legible(names.of(end)),
        "file": f"{object_path(uow.registry[end.label], end.id)}trace.svg",
        "origin": "",
    }


def end_of(endpoint: Endpoint, item: Mapping[str, Any]) -> End | None:
    """The end that an object is, for the pages of ends themselves."""
    return End(endpoint.label, endpoint.parse_key(str(item["id"])))


def end_of_cable(endpoint: Endpoint, cable: Mapping[str, Any]) -> End | None:
    """The first end of a cable, whose path leads through the cable."""
    label, key = cable["termination_a_type"], cable["termination_a_id"]
    return End(label, endpoint.registry[label].parse_key(str(key))) if label and key else None


def tab(end_of: EndOf = end_of) -> Tab:
    """The tab *Trace* of a resource; ``end_of`` returns the end of which an object shows the path."""

    def content(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any]:
        end = end_of(endpoint, item)
        values = trace_values(request.uow, end) if end is not None else {"cables": 0}
        return values | {"style": static_files.path_of(request, "trace.css", "dcim")}

    return Tab("trace", TITLE, content, TEMPLATE, position=100)


def panel(end_of: EndOf = end_of) -> Panel:
    """The panel with the drawing on the page of an object; there is none without a cable."""

    def content(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any] | None:
        end = end_of(endpoint, item)
        values = trace_values(request.uow, end) if end is not None else {"cables": 0}
        style = static_files.path_of(request, "trace.css", "dcim")
        return values | {"style": style} if values["cables"] else None

    return Panel("trace", TITLE, content, side="main", lazy=True, template=TEMPLATE, position=150)


def is_end(endpoint: Endpoint) -> bool:
    """True for resources whose objects take cables."""
    return issubclass(endpoint.model, Cabled) and endpoint.resource.of is None


def drawing_response(request: Request) -> Response:
    """The drawing as a file: an SVG document without scripts, that needs no other file.

    :raises NotFound: when the user may not view such an end
    """
    uow, endpoint, key = request.uow, request.context.endpoint, key_of(request)
    if not listing.rows(uow, endpoint, [key], "view"):
        raise NotFound()
    values = trace_values(uow, End(endpoint.label, key)) | {"origin": uow.base, "css": _style()}
    response = Response(render(FILE, values, request).encode(), content_type=SVG, charset=None)
    response.headers.update(SEALED)
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Content-Disposition"] = f'inline; filename="trace-{key}.svg"'
    return response


@lru_cache("constants", 1)
def _style() -> str:
    """The style sheet of drawings, with colours in the place of tokens."""
    text = Path(AssetResolver().resolve(STYLE).abspath()).read_text(encoding="utf-8")
    for name, color in COLORS.items():
        text = text.replace(f"var(--{name})", color)
    return text


def includeme(config: Any) -> None:
    """Adds the files of all resources whose objects take cables."""
    for endpoint in config.registry.netinv.endpoints.values():
        if is_end(endpoint):
            resource = endpoint.path.removeprefix("/api/").strip("/")
            config.add_netinv_page(
                f"/{resource}/{{id}}/trace.svg", drawing_response, permission="view", resource=resource
            )
