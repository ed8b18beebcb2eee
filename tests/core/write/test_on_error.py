"""Bulk writes with ``?on_error=continue``: items without errors are written, the others are told why not."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from tests.support.threads import at_once

TENANTS, SITES, GROUPS = "/api/tenancy/tenants/", "/api/dcim/sites/", "/api/tenancy/tenant-groups/"
ON = {"on_error": "continue"}
CLIENTS = 32


def statuses(results: Any) -> list[str]:
    """The statuses of the items."""
    return [result["status"] for result in results]


def count(api: Api, word: str) -> int:
    """The number of tenants whose name begins with a word."""
    return int(api.get(TENANTS, {"name__isw": word})["count"])


def test_new_objects_without_errors_are_created(api: Api, unique: Unique) -> None:
    word = unique()
    bodies: list[Any] = [{"name": f"{word} a"}, {"slug": "x"}, {"name": f"{word} b"}, {"name": f"{word} a"}, "text"]
    results = api.post(TENANTS, bodies, query=ON, status=200)
    assert statuses(results) == ["created", "failed", "created", "failed", "failed"]
    assert results[0]["object"]["name"] == f"{word} a" and "errors" not in results[0]
    assert results[1] == {"status": "failed", "errors": {"name": ["This field is required."]}}
    assert list(results[3]["errors"]) == ["name"]
    assert count(api, word) == 2
    assert api.get(f"{results[0]['object']['url']}history/")["count"] == 1
    assert api.post(TENANTS, [], query=ON, status=200) == []


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_changes_without_errors_are_made(api: Api, unique: Unique, method: str) -> None:
    tenants = api.post(TENANTS, [{"name": unique()} for _ in range(4)])
    items = [{"id": tenant["id"], "name": tenant["name"], "description": "x"} for tenant in tenants]
    items[1]["slug"] = "/"
    items[2] = {"id": items[2]["id"], "name": items[2]["name"]}
    items[3]["group"] = {"slug": "none"}
    missing = {"id": "00000000-0000-4000-8000-000000000000", "name": unique()}
    results = api.send(method, TENANTS, [*items, missing, {"name": "x"}], query=ON, status=200).json
    assert statuses(results) == ["updated", "failed", "unchanged", "failed", "failed", "failed"]
    assert [list(result.get("errors", ())) for result in results] == [[], ["slug"], [], ["group"], ["id"], ["id"]]
    assert [api.get(tenant["url"])["description"] for tenant in tenants] == ["x", "", "", ""]


def test_objects_that_nothing_protects_are_deleted(api: Api, unique: Unique) -> None:
    tenants = api.post(TENANTS, [{"name": unique()} for _ in range(4)])
    site = api.post(SITES, {"name": unique(), "status": "active", "tenant": tenants[2]["id"]})
    results = api.delete(TENANTS, [{"id": tenant["id"]} for tenant in tenants] + [{}], query=ON, status=200)
    assert statuses(results) == ["deleted", "deleted", "failed", "deleted", "failed"]
    assert site["id"] in results[2]["errors"]["detail"] and list(results[4]["errors"]) == ["id"]
    assert [api.send("GET", tenant["url"]).status_int for tenant in tenants] == [404, 404, 200, 404]


def test_an_upsert_goes_on_too(api: Api, unique: Unique) -> None:
    tenant, word = api.post(TENANTS, {"name": unique()}), unique()
    bodies = [{"name": tenant["name"]}, {"name": f"{word} a"}, {"name": f"{word} b", "slug": "/"}, {}]
    results = api.patch(TENANTS, bodies, query={**ON, "match": "name"})
    assert statuses(results) == ["unchanged", "created", "failed", "failed"]
    assert count(api, word) == 1


def test_items_outside_of_the_constraints_fail_alone(service: Service, unique: Unique) -> None:
    word = unique()
    user = service.user(("view add", "tenancy.tenant", {"name__startswith": word}))
    results = user.api.post(TENANTS, [{"name": f"{word} a"}, {"name": unique()}], query=ON, status=200)
    assert statuses(results) == ["created", "failed"]
    assert results[1]["errors"] == {"detail": "You do not have permission to perform this action."}
    service.user(("view", "tenancy.tenant")).api.post(TENANTS, [{"name": f"{word} b"}], query=ON, status=403)


def test_what_the_parameter_does_not_fit_is_refused(api: Api, unique: Unique) -> None:
    body = {"name": unique()}
    assert list(api.post(TENANTS, [body], query={"on_error": "retry"}, status=400)) == ["on_error"]
    assert list(api.post(TENANTS, body, query=ON, status=400)) == ["on_error"]
    api.patch(TENANTS, body, query=ON, status=400)
    assert api.post(TENANTS, [body, {}], query={"on_error": "abort"}, status=400)[0] == {}
    assert count(api, body["name"]) == 0


def test_a_dry_run_shows_results_and_writes_nothing(api: Api, unique: Unique) -> None:
    word = unique()
    preview = api.post(TENANTS, [{"name": word}, {}], query={**ON, "dry_run": "true"}, status=200)
    assert statuses(preview["result"]) == ["created", "failed"] and preview["count"]["changes"] == 1
    assert count(api, word) == 0


def test_rows_of_a_table_have_their_numbers(api: Api, unique: Unique) -> None:
    word = unique()
    text = f"name,slug\n{word},\n{word} b,/\n{word} c,\n".encode()
    headers = {"Content-Type": "text/csv"}
    answer = api.send("POST", f"{TENANTS}?on_error=continue", text, headers=headers, status=200).json
    assert statuses(answer) == ["created", "failed", "created"]
    assert answer[1]["errors"]["row"] == 3 and "slug" in answer[1]["errors"]


def test_statements_without_errors_are_those_of_the_bulk_write(api: Api, unique: Unique, statements: Any) -> None:
    """And the same, whatever the number of items, with errors of some."""
    counts = []
    api.post(TENANTS, [{"name": unique()}])  # fills the caches of the configuration
    for size, query in ((50, {}), (50, ON), (200, ON)):
        with statements() as found:
            api.post(TENANTS, [{"name": unique()} for _ in range(size)], query=query, status=(200, 201))
        counts.append(len(found))
    assert counts[0] == counts[1] == counts[2]
    for size in (10, 100):
        with statements() as found:
            api.post(
                TENANTS, [{"name": unique(), "slug": "/" if n % 2 else None} for n in range(size)], query=ON, status=200
            )
        counts.append(len(found))
    assert counts[3] == counts[4]


def test_clients_at_once_share_the_items(service: Service, api: Api, unique: Unique) -> None:
    """Each of many clients sends the same names in another order: each object is created once, others are told so."""
    word = unique()
    names = [f"{word} {number}" for number in range(8)]

    def send(number: int) -> Any:
        bodies = [{"name": name} for name in (*names[number % 8 :], *names[: number % 8])]
        return Api(service.app, api.token).post(TENANTS, bodies, query=ON, status=(200, 409))

    answers = [answer for answer in at_once(send, CLIENTS) if isinstance(answer, list)]
    done = [status for answer in answers for status in statuses(answer)]
    assert answers and done.count("created") == count(api, word) == len(names)


def test_items_with_another_etag_fail_alone(api: Api, unique: Unique) -> None:
    """In upserts too; the tags of what was written are shown on request."""
    query = {**ON, "include": "etag"}
    created = api.post(TENANTS, [{"name": unique()} for _ in range(2)], query=query, status=200)
    items = [result["object"] for result in created]
    api.patch(items[1]["url"], {"description": "later"})
    for more in ({}, {"match": "name"}):
        word = unique()
        bodies = [{"id": i["id"], "name": i["name"], "description": word, "_etag": i["_etag"]} for i in items]
        results = api.patch(TENANTS, bodies, query={**query, **more})
        assert statuses(results) == ["updated", "failed"] and "ETag" in results[1]["errors"]["detail"]
        items[0] = results[0]["object"]
    api.patch(TENANTS, [{"name": items[1]["name"], "_etag": items[1]["_etag"]}], query={"match": "name"}, status=412)
    api.patch(TENANTS, [{"name": unique(), "_etag": items[1]["_etag"]}], query={"match": "name"}, status=412)


def test_existing_objects_may_need_a_condition_and_new_ones_do_not(api: Api, unique: Unique, configured: Any) -> None:
    tenant = api.post(TENANTS, {"name": unique()}, query={"include": "etag"})
    with configured(require_if_match=["*"]):
        api.patch(TENANTS, [{"name": tenant["name"]}], query={"match": "name"}, status=428)
        bodies = [{"name": tenant["name"], "_etag": tenant["_etag"]}, {"name": unique()}]
        assert statuses(api.patch(TENANTS, bodies, query={"match": "name"})) == ["unchanged", "created"]
        failed, created = api.patch(
            TENANTS, [{"name": tenant["name"]}, {"name": unique()}], query={**ON, "match": "name"}
        )
    assert (failed["status"], created["status"]) == ("failed", "created")
