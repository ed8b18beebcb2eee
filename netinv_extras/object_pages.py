"""Actions that list objects of another resource, with the parameters of its list (``members/``, ``violations/``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.http import query_parameters, views

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

_STRINGS: query_parameters.Schema = {"type": "array", "items": {"type": "string"}}
QUERY = [
    query_parameters.query("brief", {"type": "boolean"}, "Objects in their nested form."),
    query_parameters.query("include", _STRINGS, "Adds fields that are left out by default."),
    query_parameters.query("exclude", _STRINGS, "Leaves out fields that are costly to compute."),
    query_parameters.query("fields", {"type": "string"}, "Names of members to show, separated by commas."),
    query_parameters.query("ordering", {"type": "string"}, "Names to order by, as in the list of the objects."),
    *query_parameters.PAGING,
]


def page(request: Request, endpoint: Endpoint, conditions: Sequence[Any]) -> dict[str, Any]:
    """A page of the objects that meet conditions and that the user may view."""
    costly = endpoint.costly | views.counters_of(endpoint)
    return views.list_page(request, endpoint, views.parameters_of(request.uow, endpoint), list(conditions), costly)
