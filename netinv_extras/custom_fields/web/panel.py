"""Panel with the values of custom fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_extras.custom_fields import values as value_types
from netinv_extras.custom_fields.field import NAME
from netinv_extras.custom_fields.models import definitions_of
from netinv_extras.web.members import FACT_GROUPS
from netinv_web.extensions import Panel
from netinv_web.markup import text_markup, url_markup
from netinv_web.objects import markdown

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


def _values(request: Request, endpoint: Endpoint, representation: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values of custom fields in the groups of their definitions; those without a group come first. Those without a
    value are named below.
    """
    values = representation.get(NAME) or {}
    groups: dict[str, list[tuple[str, Markup]]] = {}
    empty = []
    for slug, field in definitions_of(request.uow, endpoint.label).items():
        value, label = values.get(slug), field.label or field.name
        if value in (None, "", []):
            empty.append(label)
        else:
            groups.setdefault(field.grouping, []).append((label, _markup_of(request, field.type, value)))
    shown = {"groups": sorted(groups.items(), key=lambda group: group[0] != ""), "empty": empty}
    return shown if groups or empty else None


def _markup_of(request: Request, kind: str, value: Any) -> Markup:
    """The markup of a custom field's value by its type."""
    if kind == value_types.MARKDOWN:
        return markdown.render(request, value)
    return url_markup(value) if kind == value_types.URL else text_markup(value)


PANEL = Panel("custom-fields", "Custom fields", _values, "main", template=FACT_GROUPS, position=300)


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The values of an object."""
    return [PANEL] if NAME in endpoint.fields else []
