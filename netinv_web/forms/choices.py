"""Choices of a picker that are searched for: ``<list>/_choices/?_q=acc01 eth1``, with the filters of the list.

Each word of the text has to be in a text of the object, or in a name that its name in context shows. Without a text,
the objects that ``_recent`` names come first. An id, or the address of an object's page, finds the object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid
from netinv_core.http.serialization import dumps
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read import listing, words
from netinv_core.read.listing import Parameters, Slice
from netinv_core.sql.plan import ReadPlan, Row
from netinv_core.sql.plans import custom_plan
from netinv_web.pages import query_text

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, RowSet
    from netinv_core.uow import UnitOfWork

LIMIT = 30  # objects of an answer
MAX_RECENT = 10  # ids of objects that come first
MAX_TEXT = 200  # characters
_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


def show(request: Request) -> Response:
    """The choices: value, name and colour of each, and whether there are more; four statements at most."""
    endpoint, uow = request.context.endpoint, request.uow
    parameters = [(name, list(values)) for name, values in uow.query.items() if not name.startswith("_")]
    keys = _keys(uow, endpoint, parameters, query_text(request, "_q").strip()[:MAX_TEXT], uow.query.get("_recent", ()))
    found = plan_for(endpoint, _key_column(endpoint, query_text(request, "_key"))).fetch(uow, keys[:LIMIT])
    by_key: Mapping[Any, Any] = dict(found)
    items = [by_key[key] for key in keys[:LIMIT] if key in by_key]
    body = dumps({"items": items, "more": len(keys) > LIMIT})
    return Response(body, content_type="application/json", charset="utf-8")


def plan_for(endpoint: Endpoint, key: str) -> ReadPlan:
    """The plan that reads the choices: by the column ``key``, that of the value."""

    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        paths = {"id": "id", "value": key, "name": NAME_IN_CONTEXT}
        readers = [(name, plan.read(place, path)) for name, path in paths.items()]
        color = plan.column(place, "color") if "color" in place.table.c else None

        def read(row: Row, page: RowSet) -> dict[str, Any]:
            item = {name: str(reader(row, page)) for name, reader in readers}
            return item if color is None else {**item, "color": row[color]}

        return read

    return custom_plan(endpoint, ("choices", key), build)


def _key_column(endpoint: Endpoint, name: str) -> str:
    """The column of the value of a choice.

    :raises Invalid: for a name that is no natural key of the resource
    """
    if name not in ("", "id", "slug", endpoint.natural_attribute) or (name and name not in endpoint.table.c):
        raise Invalid.field("_key", "This is no column that names objects.")
    return name or "id"


def _keys(uow: UnitOfWork, endpoint: Endpoint, parameters: Parameters, text: str, recent: Sequence[str]) -> list[Any]:
    """The ids of the choices in order, one more than are shown; one statement, and one for recent ones."""
    table = endpoint.table
    conditions = listing.conditions_of(uow, endpoint, table, parameters, "view")
    named = _ID.search(text.lower())
    key = endpoint.parse_key(named[0]) if named is not None else None
    if key is not None:
        return listing.selected(uow, endpoint, [*conditions, table.c.id == key], Slice(LIMIT + 1, 0))
    if text:
        conditions = [*conditions, words.condition(uow, endpoint, table, text)]
    keys = listing.selected(uow, endpoint, conditions, Slice(LIMIT + 1, 0))
    used = [endpoint.parse_key(value) for value in list(recent)[:MAX_RECENT]] if not text else []
    used = [key for key in used if key is not None]
    if not used:
        return keys
    allowed = set(listing.selected(uow, endpoint, [*conditions, table.c.id.in_(used)], Slice(MAX_RECENT, 0)))
    return list(dict.fromkeys([*(key for key in used if key in allowed), *keys]))
