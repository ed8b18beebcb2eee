"""Panel with the computed fields of an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_extras.templates import computed_fields
from netinv_extras.web.members import FACT_GROUPS
from netinv_web.extensions import Panel
from netinv_web.markup import text_markup
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

LABEL = "extras.computedfield"


def _render_computed(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The computed fields, rendered. Those who may change computed fields see why one has its fallback value."""
    uow, key = request.uow, representation["id"]
    facts = []
    for definition, text, error in computed_fields.results_of(uow, endpoint, [key]).get(key, ()):
        facts.append((definition.label, text_markup(text if error is None else definition.fallback)))
        if error is not None and may(uow, uow.registry[LABEL], "change"):
            facts.append((f"{definition.label}: error", text_markup(error)))
    return {"groups": [("", facts)]} if facts else None


PANEL = Panel("computed-fields", "Computed fields", _render_computed, lazy=True, template=FACT_GROUPS, position=320)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """Computed fields of an object."""
    return [PANEL] if computed_fields.NAME in endpoint.fields else []
