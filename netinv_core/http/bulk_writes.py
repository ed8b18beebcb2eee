"""Bulk writes answered item by item: upserts (``?match=``), and lists that go on after errors (``?on_error=continue``).

The answer is 200 with a result for each item, in order: its ``status``, with the ``object`` or the ``errors``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.errors import Invalid, cut_to_limits
from netinv_core.http import conditional, query_parameters, representations
from netinv_core.http.list_bodies import ListBody, upserted_items
from netinv_core.http.serialization import single_value
from netinv_core.write import delete, save
from netinv_core.write import upsert as upserts
from netinv_core.write.identification import natural_keys
from netinv_core.write.item_results import (
    CREATED,
    DELETED,
    FAILED,
    ON_ERROR,
    UNCHANGED,
    UPDATED,
    ItemResult,
    Write,
    write_each,
)
from netinv_core.write.table_rows import ROW_NUMBER
from netinv_core.write.upsert import MATCH

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

ABORT, CONTINUE = "abort", "continue"
INVALID = f"Must be one of {ABORT}, {CONTINUE}."
NO_LIST = "This is for a list of objects."
SCHEMA_NAME = "ItemResult"
Results = list[dict[str, Any]]


def continues(request: Request) -> bool:
    """True for a request that asks to write the items without errors.

    :raises Invalid: for an unknown value
    """
    if ON_ERROR not in request.uow.query:
        return False
    value = single_value(request.uow.query, ON_ERROR)
    if value not in (ABORT, CONTINUE):
        raise Invalid.field(ON_ERROR, INVALID)
    return bool(value == CONTINUE)


def matching_names(endpoint: Endpoint) -> list[str]:
    """The values of the parameter ``match`` that always identify at most one object, and the natural name."""
    if not {"add", "change"} <= endpoint.resource.writes:
        return []
    return [",".join(names) for names in natural_keys(endpoint) if all(upserts.identifies(endpoint, n) for n in names)]


def upsert(request: Request) -> Results:
    """Creates or changes the objects of a list, which the fields of the parameter ``match`` identify.

    :raises Invalid: for another method than PATCH
    """
    uow, endpoint = request.uow, request.context.endpoint
    if request.method != "PATCH":
        raise Invalid.field(MATCH, "Objects are matched by PATCH only.")
    names = upserts.key_names(endpoint, ",".join(uow.query[MATCH]))
    items = upserted_items(request)

    def write(positions: Sequence[int]) -> list[ItemResult]:
        items.raise_errors(positions)
        bodies, new_bodies = items.at(positions), [items.new_bodies[position] for position in positions]
        preconditions = conditional.of_items(request, bodies, existing=False)
        required = conditional.is_required(uow)
        sent = upserts.UpsertItems(names, bodies, new_bodies, preconditions, required)
        return upserts.upsert(uow, endpoint, sent)

    if continues(request):
        return _each(request, items, write)
    with items.numbered_errors(), conditional.shows_current(request, single=False):
        return _downgrade_results(request, items, write(range(len(items.bodies))))


def create_each(request: Request, items: ListBody) -> Results:
    """Creates the objects of a list that are valid.

    :raises Invalid: for anything but a list
    """
    uow, endpoint = request.uow, request.context.endpoint
    if items.single:
        raise Invalid.field(ON_ERROR, NO_LIST)

    def write(positions: Sequence[int]) -> list[ItemResult]:
        items.raise_errors(positions)
        return [ItemResult(CREATED, created) for created in save.create(uow, endpoint, items.at(positions))]

    return _each(request, items, write)


def change_each(request: Request, items: ListBody, optional: frozenset[str]) -> Results:
    """Changes the objects of a list whose changes are valid."""
    uow, endpoint, partial = request.uow, request.context.endpoint, request.method == "PATCH"

    def write(positions: Sequence[int]) -> list[ItemResult]:
        items.raise_errors(positions)
        bodies = items.at(positions)
        preconditions = conditional.of_items(request, bodies)
        changed = save.update(uow, endpoint, bodies, partial=partial, optional=optional, preconditions=preconditions)
        recorded = uow.change_set.keys_of(endpoint)
        return [ItemResult(UPDATED if item["id"] in recorded else UNCHANGED, item) for item in changed]

    return _each(request, items, write)


def delete_each(request: Request, bodies: list[Any]) -> Results:
    """Deletes the objects of a list that can be deleted."""
    uow, endpoint, items = request.uow, request.context.endpoint, ListBody(bodies)

    def write(positions: Sequence[int]) -> list[ItemResult]:
        bodies = items.at(positions)
        delete.delete(uow, endpoint, bodies, preconditions=conditional.of_items(request, bodies))
        return [ItemResult(DELETED) for _ in positions]

    return _each(request, items, write)


def _each(request: Request, items: ListBody, write: Write) -> Results:
    return _downgrade_results(request, items, write_each(request.uow, len(items.bodies), write))


def _downgrade_results(request: Request, items: ListBody, results: Sequence[ItemResult]) -> Results:
    """The results in the version of the request; errors of rows of a table have their numbers."""
    uow, endpoint = request.uow, request.context.endpoint
    written = [dict(result.representation) for result in results if result.representation is not None]
    answered = representations.downgrade_representation(uow, endpoint, written)
    objects = iter(conditional.tag_written(request, written, answered, single=False))
    shown: Results = []
    for place, result in enumerate(results):
        entry: dict[str, Any] = {"status": result.status}
        if result.representation is not None:
            entry["object"] = next(objects)
        if result.errors:
            number = {} if items.rows is None else {ROW_NUMBER: items.rows.numbers[place]}
            entry["errors"] = cut_to_limits({**number, **result.errors})
        shown.append(entry)
    return shown


# -- OpenAPI

_STATUSES = [CREATED, UPDATED, UNCHANGED, DELETED, FAILED]
_OBJECT = {"type": "object", "additionalProperties": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "What became of an item of a list: its `object`, or the `errors` of one that failed.",
    "properties": {"status": {"type": "string", "enum": _STATUSES}, "object": _OBJECT, "errors": _OBJECT},
    "required": ["status"],
}
_PARAMETERS = {
    ON_ERROR: query_parameters.query(
        ON_ERROR,
        {"type": "string", "enum": [ABORT, CONTINUE]},
        f"`{CONTINUE}` writes the items without errors; the answer is a list of `{SCHEMA_NAME}`.",
    ),
    MATCH: query_parameters.query(
        MATCH,
        {"type": "string"},
        "Names of fields, separated by commas, that identify the objects: those that are missing are created, those "
        f"that differ are changed. Items need no id; the answer is a list of `{SCHEMA_NAME}`.",
    ),
}


def describe(endpoint: Endpoint, operation: dict[str, Any], method: str) -> None:
    """Adds the parameters, and the answer 200 that they lead to, to the OpenAPI operation of a bulk write."""
    upserts_objects = method == "patch" and "add" in endpoint.resource.writes
    names = (ON_ERROR, MATCH) if upserts_objects else (ON_ERROR,)
    operation.setdefault("parameters", []).extend(dict(_PARAMETERS[name]) for name in names)
    results = {"type": "array", "items": {"$ref": f"#/components/schemas/{SCHEMA_NAME}"}}
    answer = operation["responses"].setdefault("200", {"description": "The result of each item"})
    media = answer.setdefault("content", {}).setdefault("application/json", {})
    media["schema"] = {"anyOf": [media["schema"], results]} if "schema" in media else results
