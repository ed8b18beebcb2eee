"""Panel with the computed fields of an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request

from netinv_core.types import Endpoint
from netinv_extras.templates import computed_fields
from netinv_extras.web.members import FACT_GROUPS, member
from netinv_web.cells import text_markup
from netinv_web.extensions import Panel


def _computed(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The computed fields, rendered."""
    definitions = computed_fields.definitions_of(request.uow, endpoint.label)
    if not definitions:
        return None
    values = member(request.uow, endpoint, computed_fields.NAME, representation["id"])
    facts = [(definition.label, text_markup(values.get(definition.slug))) for definition in definitions]
    return {"groups": [("", facts)]}


PANEL = Panel("computed-fields", "Computed fields", _computed, lazy=True, template=FACT_GROUPS, position=320)
