"""Deleting: gone with what depends on it, or refused with the names of what protects it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.models.columns import CASCADE, PROTECT, SET_NULL, column_info
from netinv_testing.cases import Case, check, writable
from netinv_testing.samples import NoSample, as_written

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry


@check(writable)
def delete_leaves_nothing(case: Case) -> None:
    """204 without a body, then 404 for every method."""
    item = case.make()
    response = case.api.send("DELETE", case.at(item), status=204)
    assert response.body == b"" and "Content-Type" not in response.headers
    for method in ("GET", "DELETE"):
        case.api.send(method, case.at(item), status=404)
    for method in ("PUT", "PATCH"):
        case.api.send(method, case.at(item), {}, status=404)
    assert case.list_of([item])["results"] == []


@check(writable)
def bulk_deletion_is_all_or_none(case: Case) -> None:
    """One bad item refuses the list."""
    created = case.make_many(2)
    good: list[Any] = [{"id": item["id"]} for item in created]
    for fault in ({}, {"id": case.nobody()}, {"id": "zz"}, good[0], "zz", None):
        case.api.delete(case.path, [*good, fault], status=400)
        assert case.list_of(created)["count"] == 2, fault
    case.api.delete(case.path, {}, status=400)
    assert case.api.send("DELETE", case.path, good, status=204).body == b""
    assert case.list_of(created)["count"] == 0


def links_to(registry: Registry, endpoint: Endpoint, policy: str) -> Iterator[tuple[Endpoint, fields.Reference]]:
    """The fields of other resources that refer to this one, by what its deletion does to them."""
    for child in registry.endpoints.values():
        for field in child.writable.values():
            if isinstance(field, fields.Reference) and field.target is endpoint and child.resource.writable:
                link = column_info(child.table.c[field.attribute]).foreign_key
                if link is not None and link.on_delete == policy:
                    yield child, field


def _with_child(case: Case, policy: str) -> Iterator[tuple[dict[str, Any], Endpoint, fields.Reference, dict[str, Any]]]:
    """New objects, each with another object that refers to it; links that need more than a sample are left out."""
    for child, field in list(links_to(case.registry, case.endpoint, policy))[:4]:
        parent = case.make(**case.samples.allowing(case.endpoint, child))
        expected = parent["slug"] if isinstance(field, fields.Status) else parent["id"]
        try:
            body = case.samples.body(child, **{field.name: expected})
        except NoSample:
            continue
        created = case.api.post(child.path, body, status=(201, 400))
        shown = created.get(field.name)  # opt-in fields are not
        if "id" in created and shown and as_written(shown) == expected:
            yield parent, child, field, case.api.get(f"{child.path}{created['id']}/")


@check(lambda endpoint: writable(endpoint) and any(links_to(endpoint.registry, endpoint, PROTECT)))
def what_is_in_use_is_protected(case: Case) -> None:
    """409 naming the object that refers to it; nothing goes, alone or in bulk."""
    for parent, child, _, created in _with_child(case, PROTECT):
        bystander = case.make()
        for refused in (
            case.api.delete(case.at(parent), status=409),
            case.api.delete(case.path, [{"id": bystander["id"]}, {"id": parent["id"]}], status=409),
        ):
            assert refused["detail"].startswith("Unable to delete object. ")
            assert created["id"] in refused["detail"]
        assert case.read(parent) and case.read(bystander)
        assert case.api.get(f"{child.path}{created['id']}/") == created


@check(lambda endpoint: writable(endpoint) and any(links_to(endpoint.registry, endpoint, CASCADE)))
def what_belongs_to_it_goes_along(case: Case) -> None:
    """Objects that cannot be without it are deleted with it."""
    for parent, child, _, created in _with_child(case, CASCADE):
        response = case.api.send("DELETE", case.at(parent), status=(204, 409))
        if response.status_int == 204:
            case.api.get(f"{child.path}{created['id']}/", status=404)


@check(lambda endpoint: writable(endpoint) and any(links_to(endpoint.registry, endpoint, SET_NULL)))
def what_only_mentions_it_stays(case: Case) -> None:
    """References that may be empty are emptied."""
    for parent, child, field, created in _with_child(case, SET_NULL):
        case.api.delete(case.at(parent))
        assert case.api.get(f"{child.path}{created['id']}/")[field.name] is None
