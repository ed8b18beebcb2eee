"""Conditional and repeated requests: entity tags, If-None-Match of reading, If-Match and Idempotency-Key of writing."""

from __future__ import annotations

import secrets
from typing import Any

from netinv_core.read import entity_tags
from netinv_testing.cases import Case, check, writable
from netinv_testing.client import Query

ETAG = "_etag"
INCLUDED = {"include": "etag"}
MAX_CHANGED_FIELDS = 4
OLD = '"1-0"'


def _tag(case: Case, item: dict[str, Any], query: Query = ()) -> str:
    """The tag of an object as GET gives it."""
    tag: str = case.api.send("GET", case.at(item), query=query, status=200).headers["ETag"]
    assert tag.startswith('"') and tag.endswith('"'), f"{tag} is not strong"
    return tag


@check(reads=True)
def tags_validate_what_was_read(case: Case) -> None:
    """The tag of an object and of a list is answered 304; each shape and version has another one."""
    item = case.filled()
    shapes: tuple[dict[str, Any], ...] = ({}, {"brief": 1})
    for query in shapes:
        tag = _tag(case, item, query)
        (listed,) = case.list_of([item], None, **query, **INCLUDED)["results"]
        shown = case.api.get(case.at(item), {**query, **INCLUDED})
        assert listed[ETAG] == shown[ETAG] or {**listed, ETAG: ""} != {**shown, ETAG: ""}
        assert shown[ETAG] == _tag(case, item, {**query, **INCLUDED})
        # Others say their revision in short forms if they are asked.
        if not query or entity_tags.has_time(case.endpoint):
            assert shown[ETAG] == tag
        for path in (case.at(item), case.path):
            page = {"limit": 1, **query}
            first = case.api.send("GET", path, query=page if path == case.path else query, status=200)
            headers = {"If-None-Match": f'"other", W/{first.headers["ETag"]}'}
            again = case.api.send("GET", path, query=page if path == case.path else query, headers=headers, status=304)
            assert (again.body, again.headers["ETag"]) == (b"", first.headers["ETag"])
            case.api.send(
                "GET", path, query=page if path == case.path else query, headers={"If-None-Match": OLD}, status=200
            )
    for header in ("If-Match", "If-None-Match"):
        assert list(case.api.get(case.at(item), headers={header: "abc"}, status=400)) == [header]


@check(writable)
def a_write_with_an_old_tag_is_refused(case: Case) -> None:
    """Each change gives the object another tag, which its answer has. With the one before, neither PATCH, PUT nor
    DELETE is carried out, of one object or of an item of a list; 412 shows the object as it is.
    """
    created = case.api.send("POST", case.path, case.body(), status=201)
    item = case.read(created.json)
    tag = _tag(case, item)
    assert created.headers.get("ETag", tag).partition("-")[0] == tag.partition("-")[0]
    for field, value in list(case.changes())[:MAX_CHANGED_FIELDS]:
        changed = case.api.send(
            "PATCH", case.at(item), {field.name: value}, headers={"If-Match": tag}, status=(200, 400)
        )
        before, tag = tag, _tag(case, item)
        if changed.status_int == 400:
            assert tag == before
            continue
        assert changed.headers["ETag"] == tag
        now = case.read(item)
        if {**now, "last_updated": ""} == {**item, "last_updated": ""}:
            continue
        assert tag.partition("-")[0] != before.partition("-")[0], field.name
        for method, body in (("PATCH", {field.name: value}), ("PUT", now), ("DELETE", {})):
            refused = case.api.send(method, case.at(item), body, headers={"If-Match": before}, status=412)
            assert (refused.json["current"], refused.headers["ETag"]) == (now, tag)
            listed = [{**body, "id": item["id"], ETAG: before}]
            (current,) = case.api.send(method, case.path, listed, status=412).json["current"]
            assert current == {**now, ETAG: tag}
        assert case.read(item) == now
        item = now
    case.api.send("PATCH", case.path, [{"id": item["id"], ETAG: "zz"}], status=400)
    case.api.send("DELETE", case.at(item), headers={"If-None-Match": "*"}, status=412)
    case.api.delete(case.path, [{"id": item["id"], ETAG: tag}])


@check(writable)
def a_condition_takes_no_statement(case: Case) -> None:
    """PATCH and DELETE take as many statements with If-Match as without it, of one object and of a list."""
    plain, conditional = case.make_many(2), [case.api.get(case.at(item), INCLUDED) for item in case.make_many(2)]
    case.api.get(case.path, {"limit": 1})  # what the process caches is cached
    methods = {"PATCH": 200, "DELETE": 204}
    if case.endpoint.resource.configuration:  # its deletion drops what the process caches
        del methods["DELETE"]
    for method, status in methods.items():
        counts = []
        for objects in (plain, conditional):
            tags = [{ETAG: _tag(case, item)} if objects is conditional else {} for item in objects]
            headers = {"If-Match": tags[0][ETAG]} if tags[0] else {}
            with case.service.statements() as one:
                case.api.send(method, case.at(objects[0]), {}, headers=headers, status=status)
            with case.service.statements() as listed:
                case.api.send(method, case.path, [{"id": objects[1]["id"], **tags[1]}], status=status)
            counts.append((len(one), len(listed)))
        assert counts[1] <= counts[0], method


@check(writable)
def a_repeated_write_is_answered_as_before(case: Case) -> None:
    """With its Idempotency-Key it is carried out once."""

    def twice(method: str, path: str, body: Any, status: int) -> Any:
        headers = {"Idempotency-Key": secrets.token_hex()}
        first = case.api.send(method, path, body, headers=headers, status=status)
        rows = case.service.row_counts()
        again = case.api.send(method, path, body, headers=headers, status=status)
        assert (again.body, again.headers["Idempotency-Replayed"]) == (first.body, "true")
        assert case.service.row_counts() == rows
        return first.json if first.body else None

    item = twice("POST", case.path, case.body(), 201)
    twice("PATCH", case.path, [{"id": item["id"]}], 200)
    twice("DELETE", case.at(item), {}, 204)
