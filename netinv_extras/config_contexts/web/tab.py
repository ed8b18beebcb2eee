"""Tab with the config context of an object: each value with the context that it is from, and what it overrides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.http.serialization import dumps
from netinv_core.labels import label_of
from netinv_extras.config_contexts import limits
from netinv_extras.config_contexts.merge import Layer
from netinv_extras.config_contexts.origins import FIELD, layers_of, merged_values
from netinv_web.extensions import WARNING, Panel, Tab
from netinv_web.markup import link
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_extras:config_contexts/web/templates/config_context.jinja2"
CONTEXT = "extras.configcontext"
LOCAL_NAME = "Local data"
HIDDEN_NAME = "A context that you may not view"
LOST = (
    "This context applies to nothing: the last object of {} was deleted. List other objects there, or remove the limit "
    "by an empty list (PATCH in the API)."
)


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[Tab]:
    """The tab, for resources whose objects have a config context."""
    if FIELD not in endpoint.fields:
        return []
    return [Tab("config-context", "Config context", tab, template=TEMPLATE, position=700)]


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> list[Panel]:
    """The panel of config contexts that apply to nothing."""
    if endpoint.label != CONTEXT:
        return []
    return [Panel("lost-scopes", "Applies to nothing", lost_scopes, "main", template=WARNING, position=50)]


def lost_scopes(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, str] | None:
    """Says which scopes of a config context have lost their last object."""
    lost = limits.lost_scopes(request.uow, representation["id"])
    if not lost:
        return None
    names = ", ".join(label_of(endpoint.fields[name]) if name in endpoint.fields else name for name in lost)
    return {"text": LOST.format(names)}


def tab(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any]:
    """The values in their order, and the whole as JSON."""
    uow = request.uow
    layers = layers_of(uow, endpoint, representation["id"])
    contexts = uow.registry[CONTEXT]
    visible = permissions.visible_ids(uow, contexts, [layer.key for layer in layers if layer.key is not None])

    def origin(layer: Layer) -> Any:
        if layer.key is None:
            return LOCAL_NAME
        return link(object_path(contexts, layer.key), layer.name) if layer.key in visible else HIDDEN_NAME

    rows = [
        {
            "path": ".".join(value.path),
            "value": _code(value.value),
            "origin": origin(value.layer),
            "overridden": [
                (_code(former), origin(layer))
                for layer, former in reversed(value.overridden)
                if layer.key is None or layer.key in visible  # the merged context does not show the others' values
            ],
        }
        for value in merged_values(layers)
        if value.path
    ]
    whole = orjson.dumps(orjson.loads(dumps(representation.get(FIELD) or {})), option=orjson.OPT_INDENT_2).decode()
    return {"rows": rows, "layers": [origin(layer) for layer in layers], "whole": whole}


def _code(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()
