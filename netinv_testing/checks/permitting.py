"""Permission: nothing without it, and with constraints nothing outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netinv_core.http.methods import PERMISSIONS
from netinv_testing.cases import Case, check, writable

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

NOT_GIVEN = {"detail": "Authentication credentials were not provided."}
DENIED = {"detail": "You do not have permission to perform this action."}
READS = ("GET", "HEAD")
WRITES = ("POST", "PUT", "PATCH", "DELETE")


def _requests(case: Case, item: dict[str, Any], methods: tuple[str, ...]) -> list[tuple[str, str]]:
    offered = tuple(m for m in methods if m in READS or PERMISSIONS[m] in case.endpoint.resource.writes)
    return [(m, path) for m in offered for path in (case.path, case.at(item)) if (m, path) != ("POST", case.at(item))]


@check(reads=True)
def nobody_may_do_nothing(case: Case) -> None:
    """Without credentials every method is 403 and says so."""
    item = case.make()
    for method, path in _requests(case, item, (*READS, *WRITES)):
        response = case.service.anonymous.send(method, path, status=403)
        assert method == "HEAD" or response.json == NOT_GIVEN


@check(reads=True)
def without_a_permission_everything_is_denied(case: Case) -> None:
    """403 for every method, and OPTIONS offer no actions; a permission to read is not one to write."""
    item = case.make()
    stranger, reader = case.service.user(), case.service.user(("view", case.endpoint.label))
    for method, path in _requests(case, item, (*READS, *WRITES)):
        response = stranger.api.send(method, path, status=403)
        assert method == "HEAD" or response.json == DENIED
    for method, path in _requests(case, item, WRITES):
        assert reader.api.send(method, path, status=403).json == DENIED
    assert "actions" not in stranger.api.options(case.path)
    assert "actions" not in reader.api.options(case.path)
    assert case.read(item) == item
    reader.api.get(case.path, {"limit": 1})


@check(writable, reads=True)
def a_read_only_token_reads(case: Case) -> None:
    """Whatever its owner may do, it does not write, and OPTIONS offer it no actions."""
    item = case.make()
    reader = case.service.user(superuser=True, write_enabled=False)
    for method, path in _requests(case, item, WRITES):
        assert reader.api.send(method, path, status=403).json == DENIED
    assert "actions" not in reader.api.options(case.path)
    reader.api.get(case.path, {"limit": 1})
    assert case.read(item) == item


def _narrowable(endpoint: Endpoint) -> bool:
    return endpoint.resource.narrowing is None and (endpoint.resource.writable or not endpoint.resource.about)


@check(_narrowable)
def a_constraint_hides_the_rest(case: Case) -> None:
    """Lists, details, changes and deletions know only the objects within it."""
    inside, outside = case.make_many(2)
    others = [label for label in case.registry.endpoints if label != case.endpoint.label]
    holder = case.service.user(("view change delete", case.endpoint.label, {"id": inside["id"]}), ("view", others))
    assert [item["id"] for item in holder.api.get(case.path)["results"]] == [inside["id"]]
    holder.api.get(case.at(inside))
    for method, path in _requests(case, outside, READS):
        if path == case.at(outside):
            holder.api.send(method, path, status=404)
    if not case.endpoint.resource.writable:
        return
    holder.api.patch(case.at(outside), {}, status=404)
    holder.api.patch(case.path, [{"id": inside["id"]}, {"id": outside["id"]}], status=400)
    holder.api.delete(case.at(outside), status=404)
    holder.api.delete(case.path, [{"id": inside["id"]}, {"id": outside["id"]}], status=400)
    assert case.list_of([inside, outside])["count"] == 2
    holder.api.delete(case.at(inside))


@check(lambda endpoint: writable(endpoint) and _narrowable(endpoint))
def nothing_is_made_outside_of_a_constraint(case: Case) -> None:
    """A new object that is not within the constraint is refused, and not left behind."""
    other = case.make()
    others = [label for label in case.registry.endpoints if label != case.endpoint.label]
    maker = case.service.user(("add view", case.endpoint.label, {"id": other["id"]}), ("view", others))
    before = case.api.get(case.path, {"limit": 1})["count"]
    body = case.body()
    assert maker.api.post(case.path, body, status=403) == DENIED
    assert maker.api.post(case.path, [body], status=403) == DENIED
    assert case.api.get(case.path, {"limit": 1})["count"] == before
