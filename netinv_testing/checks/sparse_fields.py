"""Sparse fields: representations have the members that are asked for, and no others are read."""

from __future__ import annotations

from typing import Any

from netinv_core import fields
from netinv_core.http.versions import DEFAULT, NEWEST
from netinv_testing.cases import Case, check

_FORMS: tuple[dict[str, int], ...] = ({}, {"brief": 1})


def _nested_names(item: dict[str, Any]) -> list[str]:
    """A name of each nested object and list of nested objects in a representation."""
    inner = {name: value[0] if isinstance(value, list) and value else value for name, value in item.items()}
    return [
        f"{name}.{next(iter(part))}"
        for name, part in inner.items()
        if isinstance(part, dict) and part and "." not in next(iter(part))
    ]


def _member(item: Any, name: str) -> Any:
    """The representation with one member, which may be dotted."""
    head, _, rest = name.partition(".")
    value = item[head]
    if rest and isinstance(value, list):
        return {head: [_member(part, rest) for part in value]}
    return {head: _member(value, rest) if rest and value is not None else value}


@check(reads=True)
def representations_have_the_members_that_are_asked_for(case: Case) -> None:
    """Lists and objects, full and brief, in the oldest and the newest version; the values are those of the whole
    representation.
    """
    item = case.filled()
    for version in (DEFAULT, NEWEST):
        for brief in _FORMS:
            whole = case.api.get(case.at(item), brief, version=version)
            names = [*list(whole)[::3], *_nested_names(whole)]
            expected: dict[str, Any] = {}
            for name in names:
                expected = {**_member(whole, name), **expected}
            query: dict[str, Any] = {**brief, "fields": ",".join(names)}
            assert case.api.get(case.at(item), query, version=version) == expected
            if version == NEWEST:
                assert case.list_of([item], **query)["results"] == [expected]


@check(reads=True)
def fields_that_are_not_asked_for_take_no_statement(case: Case) -> None:
    """The id alone takes one statement for the page and one for its objects, without a join; it may be left out."""
    created = case.make_many(2)
    with case.service.statements() as result:
        page = case.list_of(created, fields="id", cursor="")
    assert len(result) <= 4, "\n".join(result)
    assert "JOIN" not in result[-1], result[-1]
    assert sorted(page["results"], key=str) == sorted(({"id": item["id"]} for item in created), key=str)
    counters = [name for name, field in case.endpoint.fields.items() if isinstance(field, fields.Count)]
    for name in (*counters[:2], "url"):
        assert [list(item) for item in case.list_of(created, fields=name)["results"]] == [[name]] * len(created)


@check(reads=True)
def unknown_fields_are_refused(case: Case) -> None:
    """The answer names the parameter and the choices; members of fields that have none are refused too."""
    names = case.shown_names()
    item = case.make()
    for path in (case.path, case.at(item)):
        for unknown in ("no_such", f"{names[0]},no_such", "id.no_such", ".", "id.", ".".join(["a"] * 9), "a" * 3000):
            for brief in _FORMS:
                message = case.api.get(path, {"fields": unknown, **brief}, status=400)
                assert list(message) == ["fields"], unknown
        choices = case.api.get(path, {"fields": "no_such"}, status=400)["fields"][0]
        assert all(name in choices for name in names)
