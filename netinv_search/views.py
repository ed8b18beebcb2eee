"""The search over all resources, at ``/api/search/``."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request

from netinv_core.errors import Invalid
from netinv_core.http.actions import documented
from netinv_core.http.query_parameters import query
from netinv_core.http.root_views import root
from netinv_search import searching

TEXT, STRUCTURE = {"type": "string"}, {"type": "object", "additionalProperties": True}
_GROUP = {
    "type": "object",
    "properties": {
        "title": TEXT,
        "resource": TEXT,
        "exact": {"type": "boolean"},
        "url": {"type": "string", "format": "uri"},
        "count_more": {"type": "boolean"},
        "links": {"type": "array", "items": {"type": "object", "properties": {"title": TEXT, "url": TEXT}}},
        "results": {"type": "array", "items": STRUCTURE},
    },
}
_ANSWER = {"type": "object", "properties": {"query": TEXT, "groups": {"type": "array", "items": _GROUP}}}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": searching.MAX_LIMIT}
_QUERY = (
    query("q", TEXT, "An address, a prefix, a MAC address, an id, a name … or `in:devices` and a text."),
    query(
        "limit",
        _LIMIT,
        "Objects of each group; 5 by default.",
    ),
)


@documented(_ANSWER, query=_QUERY)
@root("Search", "Objects of all resources that a text identifies or names.")
def search_everything(request: Request) -> Any:
    """Objects of all resources that a text identifies or names, in groups."""
    parameters = request.uow.query
    limit = parameters.get("limit", [""])[-1] or "5"
    if not (limit.isascii() and limit.isdecimal() and len(limit) < 4 and 1 <= int(limit) <= searching.MAX_LIMIT):
        raise Invalid.field("limit", f"Enter a number from 1 to {searching.MAX_LIMIT}.")
    return searching.run(request, parameters.get("q", [""])[-1], int(limit), other_fields=True)


def includeme(config: Any) -> None:
    """Asks the packages for their recognisers, so that one that fails is quarantined."""
    searching.providers_of(config.registry.netinv)
