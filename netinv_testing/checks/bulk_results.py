"""Bulk writes answered item by item: upserts, and lists that go on after errors."""

from __future__ import annotations

from typing import Any

from netinv_core import fields
from netinv_core.write.identification import key_fields, natural_keys
from netinv_testing.cases import Case, check, writable

ON_ERROR = {"on_error": "continue"}
NO_OBJECT: Any = "no object"


def _results(case: Case, method: str, bodies: list[Any], **query: str) -> list[dict[str, Any]]:
    """The results of a bulk write, one for each item."""
    results: list[dict[str, Any]] = case.api.send(method, case.path, bodies, query=query, status=200).json
    assert len(results) == len(bodies)
    assert all(("errors" in result) == (result["status"] == "failed") for result in results), results
    return results


def _statuses(results: list[dict[str, Any]]) -> list[str]:
    return [result["status"] for result in results]


@check(writable)
def a_bulk_write_goes_on_after_errors(case: Case) -> None:
    """Items without an error are created, changed and deleted; the others have their errors and are not written."""
    created = _results(case, "POST", [case.body(), NO_OBJECT, case.body()], **ON_ERROR)
    assert _statuses(created) == ["created", "failed", "created"]
    first, second = ({"id": created[place]["object"]["id"]} for place in (0, 2))
    changed = _results(case, "PATCH", [first, {"id": case.nobody()}, second, second], **ON_ERROR)
    assert _statuses(changed) == ["unchanged", "failed", "unchanged", "failed"]
    assert list(changed[1]["errors"]) == list(changed[3]["errors"]) == ["id"]
    deleted = _results(case, "DELETE", [first, {"id": "zz"}, second], **ON_ERROR)
    assert _statuses(deleted) == ["deleted", "failed", "deleted"]
    case.api.get(case.at(first), status=404)


def _members_of_key(case: Case) -> dict[str, Any]:
    """A new object for each reference of the unique set of a number such as the VLAN id, whose values other tests use
    up: within a new group all of them are free.
    """
    natural = case.endpoint.natural_attribute
    if natural is None or getattr(case.endpoint.fields.get(natural), "python_type", None) is not int:
        return {}
    unique = next((key for key in natural_keys(case.endpoint) if natural in key), ())
    references = [field for name in unique if isinstance(field := case.endpoint.fields[name], fields.Reference)]
    return {field.name: case.samples.value(case.endpoint, field, another=True) for field in references}


def _bodies_without_match(case: Case, match: dict[str, str], count: int, members: dict[str, Any]) -> list[Any]:
    """Bodies that match no object, by dry runs: the numbers of samples begin anew where the values of a field end."""
    for tries in (count, 10 * count, 100 * count):
        bodies = [case.body(**members) for _ in range(tries)]
        query = {**match, **ON_ERROR, "dry_run": "true"}
        results = case.api.send("PATCH", case.path, bodies, query=query, status=200).json["result"]
        free = [body for body, status in zip(bodies, _statuses(results), strict=True) if status == "created"]
        if len(free) >= count:
            return free[:count]
    raise AssertionError(f"{case.endpoint.label}: {100 * count} samples match objects by {match['match']}")


@check(writable)
def an_upsert_creates_once_and_then_changes_nothing(case: Case) -> None:
    """By the fields of a unique set or a natural name, if a body has them; with the statements of one object."""
    members = _members_of_key(case)
    bodies = [case.body(**members) for _ in range(4)]
    key = key_fields(case.endpoint, set.intersection(*(set(body) for body in bodies)))
    values = [[body[name] for name in key or ()] for body in bodies]
    if key is None or any(value in (None, "") for row in values for value in row):
        return
    if len({str(row) for row in values}) < len(bodies):
        return
    match = {"match": ",".join(key)}
    bodies = _bodies_without_match(case, match, len(bodies), members)
    created = _results(case, "PATCH", bodies[:1], **match)
    assert _statuses(created) == ["created"]
    _results(case, "PATCH", bodies[1:], **match)
    item = case.read(created[0]["object"])
    again = _results(case, "PATCH", [{name: body[name] for name in key} for body in bodies], **match)
    assert _statuses(again) == ["unchanged"] * 4
    assert case.read(item) == item
    counts = []
    for some in (bodies[:1], bodies):
        with case.service.statements() as found:
            _results(case, "PATCH", some, **match)
        counts.append(len(found))
    assert counts[1] <= counts[0], "\n".join(found)
