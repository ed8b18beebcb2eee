"""Ordering: lists are ordered by every name that they offer, ascending and descending."""

from __future__ import annotations

from typing import Any

from netinv_core import fields
from netinv_core.read.ordering import orderings_of
from netinv_testing.cases import Case, check


def _list_in_order(case: Case, created: list[dict[str, Any]], ordering: str) -> list[dict[str, Any]]:
    """The objects as the list has them in an order."""
    results: list[dict[str, Any]] = case.list_of(created, limit=0, ordering=ordering)["results"]
    return results


@check(reads=True)
def lists_are_ordered_by_every_name_they_offer(case: Case) -> None:
    """The same objects in every order; nulls last; descending is the reverse of ascending."""
    created = [case.filled(), *case.make_many(4 if case.endpoint.resource.writable else 2)]
    ids = {item["id"] for item in created}
    shown = set(case.shown_names())
    for name in case.drawn(sorted(orderings_of(case.endpoint))):
        ascending, descending = _list_in_order(case, created, name), _list_in_order(case, created, f"-{name}")
        assert {item["id"] for item in ascending} == {item["id"] for item in descending} == ids, name
        if name not in shown or not isinstance(case.endpoint.fields[name], fields.Value | fields.Count):
            continue
        up, down = ([item[name] for item in listed] for listed in (ascending, descending))
        count = sum(value is not None for value in up)
        assert up[count:] == down[count:] == [None] * (len(up) - count), f"{name}: {up} {down}"
        assert up[:count] == down[:count][::-1], f"{name}: {up} {down}"


@check(reads=True)
def several_names_make_one_order(case: Case) -> None:
    """References are followed by a dot and a name of theirs; the id decides between equals; the count is the same."""
    created = case.make_many(3)
    references = [name for name, field in case.endpoint.fields.items() if isinstance(field, fields.Reference)]
    dotted = [f"-{name}.id" for name in references if name in orderings_of(case.endpoint)]
    ids = {item["id"] for item in created}
    for ordering in (",".join([*dotted[:6], "-id"]), "id", "id,-id"):
        page = case.list_of(created, limit=2, ordering=ordering)
        rest = case.list_of(created, limit=2, offset=2, ordering=ordering)
        assert [item["id"] in ids for item in [*page["results"], *rest["results"]]] == [True] * len(ids)
        assert page["count"] == len(ids)
        assert page["next"] is None or "ordering=" in page["next"]


@check(reads=True)
def unknown_orderings_are_refused(case: Case) -> None:
    """The answer names the parameter and the choices."""
    for ordering in (
        "no_such_field",
        "-id,no_such_field",
        "id.id",
        "no_such.name",
        "a.b.c.d.e",
        "id," * 9,
        "-",
        "--id",
        "\x00",
    ):
        message = case.api.get(case.path, {"ordering": ordering, "limit": 1}, status=400)
        assert list(message) == ["ordering"]
        if ordering == "no_such_field":
            assert all(name in message["ordering"][0] for name in orderings_of(case.endpoint))
    assert case.api.options(case.path)["ordering"] == sorted(orderings_of(case.endpoint))
