"""Dry runs: the answer is that of the write, and the database is as before."""

from __future__ import annotations

from typing import Any

from netinv_testing.cases import Case, check, writable

DRY = {"dry_run": "true"}
GENERATED = frozenset({"id", "url", "created", "last_updated"})
EXTRA_STATEMENTS = 4  # of a dry run: what the changes would lead to, and which of them the user may view
MAX_CHANGED_FIELDS = 4


def _dry_run(case: Case, method: str, path: str, body: Any, status: int | tuple[int, ...] = 200) -> Any:
    """The answer to a dry run, after which all tables have as many rows as before."""
    before = case.service.row_counts()
    response = case.api.send(method, path, body, query=DRY, status=status)
    assert case.service.row_counts() == before
    return response.json


def _insist_on_equal(
    case: Case, previews: tuple[dict[str, Any], dict[str, Any]], representation: dict[str, Any]
) -> None:
    """Compares the representation that a write answers with those of two dry runs of its body.

    Members in which the dry runs differ are generated: times and random names.
    """
    first, second = (_without_id(case, preview) for preview in previews)
    expected = {name: value for name, value in first.items() if second[name] == value}
    written = _without_id(case, representation)
    assert expected == {name: value for name, value in written.items() if name in expected}
    assert first.keys() == second.keys() == written.keys()


def _without_id(case: Case, representation: dict[str, Any]) -> dict[str, Any]:
    """The members as text, without the object's own id."""
    own_id = str(representation["id"]) if case.endpoint.key_type is not int else ""
    texts = {name: str(value) for name, value in representation.items() if name not in GENERATED}
    return {name: text.replace(own_id, "") if own_id else text for name, text in texts.items()}


@check(writable)
def a_dry_run_creates_nothing(case: Case) -> None:
    """Its answer has the objects that the request creates when it is sent again without the parameter."""
    body = case.body()
    single = _dry_run(case, "POST", case.path, body)
    listed = _dry_run(case, "POST", case.path, [body])
    created = case.api.post(case.path, body)
    assert (single["dry_run"], single["status"], listed["status"]) == (True, 201, 201)
    _insist_on_equal(case, (single["result"], listed["result"][0]), created)
    if case.endpoint.resource.recorded:
        change = single["changes"][0]
        assert (change["action"], change["object_type"], change["before"]) == ("create", case.endpoint.label, None)
        assert change["object_id"] == str(single["result"]["id"])


@check(writable)
def a_dry_run_changes_nothing(case: Case) -> None:
    """The same for PATCH of one object and of a list, and PUT."""
    item = case.make()
    for field, value in list(case.changes())[:MAX_CHANGED_FIELDS]:
        body, before = {field.name: value}, case.read(item)
        preview = _dry_run(case, "PATCH", case.at(item), body, (200, 400))
        listed = _dry_run(case, "PATCH", case.path, [{"id": item["id"], **body}], (200, 400))
        assert case.read(item) == before
        answer = case.api.send("PATCH", case.at(item), body, status=(200, 400))
        if answer.status_int == 400:
            assert preview == answer.json
            continue
        _insist_on_equal(case, (preview["result"], listed["result"][0]), answer.json)
    body, before = case.body(), case.read(item)
    replaced, again = (_dry_run(case, "PUT", case.at(item), body, (200, 400)) for _ in range(2))
    assert case.read(item) == before
    answer = case.api.send("PUT", case.at(item), body, status=(200, 400))
    if answer.status_int == 200:
        _insist_on_equal(case, (replaced["result"], again["result"]), answer.json)


@check(writable)
def a_dry_run_deletes_nothing(case: Case) -> None:
    """Its answer lists what is deleted, of one object and of a list."""
    item = case.make()
    preview = _dry_run(case, "DELETE", case.at(item), {})
    listed = _dry_run(case, "DELETE", case.path, [{"id": item["id"]}])
    assert (preview["status"], preview["result"]) == (204, None)
    assert _changed_objects(preview) == _changed_objects(listed)
    assert case.read(item)["id"] == item["id"]
    if case.endpoint.resource.recorded:
        assert ("delete", case.endpoint.label, str(item["id"])) in _changed_objects(preview)
    case.api.delete(case.at(item))


def _changed_objects(preview: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Action, content type and id of each change."""
    return [(change["action"], change["object_type"], change["object_id"]) for change in preview["changes"]]


@check(writable)
def a_dry_run_takes_the_statements_of_the_write(case: Case) -> None:
    """And a few more, however many objects it touches."""
    bodies, objects = [case.body() for _ in range(5)], case.make_many(5)
    items = [{"id": item["id"], "description": case.unique()} for item in objects]
    for method, body in (("POST", bodies), ("PATCH", items), ("DELETE", [{"id": item["id"]} for item in objects])):
        case.api.get(case.path, {"limit": 1})  # what the process caches is cached
        with case.service.statements() as dry:
            case.api.send(method, case.path, body, query=DRY, status=200)
        with case.service.statements() as real:
            case.api.send(method, case.path, body, status=(200, 201, 204))
        assert len(dry) <= len(real) + EXTRA_STATEMENTS, "\n".join(dry)
