"""Views for building filter forms: the lookups of a query parameter, and the HTML element for its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jinja2
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.http.actions import documented
from netinv_core.http.query_parameters import query
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.root_views import RootView, add_root_view, root
from netinv_core.http.serialization import single_value
from netinv_core.read import filters
from netinv_core.sql.lookups import SUFFIXES
from netinv_openapi import parameters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter

PATH = "/core/filterset-fields/"
REQUIRED = "This parameter is required."
TEXT, URI = {"type": "string"}, {"type": "string", "format": "uri", "nullable": True}
_CHOICE = {"type": "object", "properties": {"id": TEXT, "name": TEXT}}
_PAGE = {"count": {"type": "integer"}, "next": URI, "previous": URI, "results": {"type": "array", "items": _CHOICE}}
_QUERY = (
    query("content_type", TEXT, "The resource, as `app.model`."),
    query("field_name", TEXT, "One of its query parameters."),
)
_INPUTS = {"integer": "number", "number": "number", "date": "date", "date-time": "datetime-local"}
_ELEMENT = jinja2.Environment(autoescape=True).from_string(
    '{% if choices %}<select name="{{ name }}"{% if several %} multiple{% endif %}>'
    '{% for choice in choices %}<option value="{{ choice }}">{{ choice }}</option>{% endfor %}</select>'
    '{% else %}<input type="{{ type }}" name="{{ name }}">{% endif %}'
)


@documented({"type": "object", "properties": _PAGE}, query=_QUERY)
@root(
    "Get Filter Set Field Lookup Expression Choices Api",
    "API View that gets all lookup expression choices for a FilterSet field.",
)
def lookup_choices(request: Request) -> Any:
    """The lookups of a query parameter."""
    endpoint, filter_, _ = _requested_filter(request.uow)
    choices = [
        {"id": item["name"], "name": _lookup_name(filter_.name, item)}
        for item in parameters.of_filter(endpoint, filter_)
    ]
    return {"count": len(choices), "next": None, "previous": None, "results": choices}


@documented({"type": "object", "properties": {"dom_element": TEXT}}, query=_QUERY)
@root(
    "Get Filter Set Field Lookup Value Dom Element Api",
    "API View that gets the element of a form for the values of a FilterSet field.",
)
def value_element(request: Request) -> Any:
    """The element of an HTML form that takes the values of a query parameter."""
    endpoint, filter_, suffix = _requested_filter(request.uow)
    name = f"{filter_.name}__{suffix}" if suffix else filter_.name
    schema = next(item["schema"] for item in parameters.of_filter(endpoint, filter_) if item["name"] == name)
    value = schema.get("items", schema)
    choices = value.get("enum") or (("true", "false") if value.get("type") == "boolean" else ())
    kind = _INPUTS.get(value.get("format", ""), _INPUTS.get(value.get("type", ""), "text"))
    return {"dom_element": _ELEMENT.render(name=name, type=kind, choices=choices, several="items" in schema)}


def _requested_filter(uow: RequestUnitOfWork) -> tuple[Endpoint, Filter, str]:
    """The resource, the filter and the lookup that the query names.

    :raises Invalid: for a missing or unknown name
    :raises Denied: without permission to view the resource
    """
    missing = {name: [REQUIRED] for name in ("content_type", "field_name") if not single_value(uow.query, name)}
    if missing:
        raise Invalid(missing)
    label = single_value(uow.query, "content_type")
    endpoint = uow.registry.get(label)
    if endpoint is None:
        raise Invalid.field("content_type", f"Invalid content type: {label}")
    permissions.check(uow, endpoint, "view")
    filter_and_lookup = filters.filter_finder(uow, endpoint)(single_value(uow.query, "field_name"))
    if filter_and_lookup is None:
        raise Invalid.field("field_name", filters.UNKNOWN)
    return endpoint, *filter_and_lookup


def _lookup_name(name: str, parameter: dict[str, Any]) -> str:
    suffix = parameter["name"].removeprefix(name).removeprefix("__")
    lookup, negated = SUFFIXES.get(suffix, (suffix, False))
    text = f"{'not ' * negated}{parameters.WORDS.get(lookup, lookup)}"
    return f"{text} ({suffix})" if suffix else text


VIEWS: dict[str, RootView] = {"lookup-choices": lookup_choices, "lookup-value-dom-element": value_element}


def includeme(config: Any) -> None:
    """Adds the routes."""
    for name, view in VIEWS.items():
        add_root_view(config, f"/api{PATH}{name}/", view)
