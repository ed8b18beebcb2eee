"""Filtering: every parameter with every lookup answers, whatever its value."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.read.derived_filters import labels_of_types
from netinv_testing.cases import Case, check

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter

JUNK = (
    *("zz", "null", "-1", "0", "1", "true", "99999999999999999999", "00000000-0000-4000-8000-000000000000"),
    *("(", "é%_\\", "\x00", "10.0.0.0/8", "", "1e400", "2026-13-45"),
)


def _requests(case: Case) -> Iterator[tuple[str, str]]:
    """Every parameter and lookup with values: all of them when thorough, else some, others for each parameter and
    seed.
    """
    for name, item in case.endpoint.filters.items():
        for suffix in ("", *item.lookups):
            parameter = f"{name}__{suffix}" if suffix else name
            if case.thorough:
                yield from ((parameter, value) for value in JUNK)
                continue
            start = zlib.crc32(f"{parameter} {case.seed}".encode()) % len(JUNK)
            yield from (
                (parameter, value)
                for value in itertools.islice(itertools.cycle(JUNK), start, start + (1 if suffix else 2))
            )


@check(reads=True)
def every_parameter_takes_any_value(case: Case) -> None:
    """200 or 400, never an error of ours, whatever the value."""
    for parameter, value in case.drawn(_requests(case)):
        response = case.api.send("GET", case.path, query={parameter: value, "limit": 1, "brief": 1}, status=(200, 400))
        if response.status_int == 400:
            assert list(response.json) in ([parameter], ["non_field_errors"]), f"{parameter}={value!r}: {response.json}"


def _closed_filters(endpoint: Endpoint) -> list[str]:
    """The filters whose values are choices or content types."""
    labels = labels_of_types(endpoint)
    return [
        name
        for name, item in endpoint.filters.items()
        if item.choices is not None
        or name in labels
        or isinstance(endpoint.fields.get(name), fields.Choice | fields.ContentTypeList)
    ]


@check(lambda endpoint: bool(_closed_filters(endpoint)), reads=True)
def a_value_that_is_no_choice_is_refused(case: Case) -> None:
    """The error names the parameter and the value, also of the negation and beside a choice."""
    for name in _closed_filters(case.endpoint):
        item = case.endpoint.filters[name]
        for parameter in (name, *(f"{name}__{suffix}" for suffix in item.lookups if suffix == "n")):
            refused = case.api.get(case.path, {parameter: "zz", "limit": 1}, status=400)
            assert list(refused) == [parameter]
            assert any(word in refused[parameter][0] for word in ("zz", "That choice", "Enter a number")), refused


@check(reads=True)
def parameters_combine(case: Case) -> None:
    """Repeating one means either, different ones mean both; the negation of a parameter is the rest."""
    created = case.make_many(3)
    one, two = created[0]["id"], created[1]["id"]
    ids = [shown["id"] for shown in created]
    assert case.api.get(case.path, {"id": [one, two]})["count"] == 2
    if "n" in case.endpoint.filters["id"].lookups:
        assert {item["id"] for item in case.api.get(case.path, {"id": ids, "id__n": one})["results"]} == set(ids) - {
            one
        }
        assert case.api.get(case.path, {"id": one, "id__n": one})["count"] == 0


OTHERS = ("zz", "1", "2001-01-01", "10.9.0.0/16", "02:00:00:00:00:01", "00000000-0000-4000-8000-000000000000")


def _values_of(case: Case, item: Filter, shown: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The value by which a filter finds an object, with each that it may be given beside it."""
    value = shown.get(item.name)
    value = value.get("value", value.get("id")) if isinstance(value, dict) else value
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value == "":
        return
    choices = [str(choice) for choice, _ in item.choices.items if choice not in ("", value)] if item.choices else ()
    yield from ((str(value), other) for other in (*choices[:1], *OTHERS) if other != str(value))


@check(reads=True)
def either_value_of_a_repeated_parameter_finds(case: Case) -> None:
    """In either order, and the negation neither; two different values of a boolean are an error."""
    shown = case.read(case.filled())
    one = {"id": shown["id"], "limit": 1}
    for name, item in case.drawn((name, item) for name, item in case.endpoint.filters.items() if name != "id"):
        if item.kind == "boolean":
            assert list(case.api.get(case.path, {**one, name: ["true", "false"]}, status=400)) == [name]
            continue
        for value, other in _values_of(case, item, shown):
            alone = [case.api.get(case.path, {**one, name: text}, status=(200, 400)) for text in (value, other)]
            if [answer.get("count") for answer in alone] != [1, 0]:
                continue
            for values in ([value, other], [other, value]):
                assert case.api.get(case.path, {**one, name: values})["count"] == 1, (name, values)
                if "n" in item.lookups:
                    assert case.api.get(case.path, {**one, f"{name}__n": values})["count"] == 0, (name, values)
            break


@check(reads=True)
def unknown_parameters_are_refused(case: Case) -> None:
    """All of them are named; with ``strict_filtering`` off they are ignored."""
    unknown = {"no_such_field": "1", "id__zz": "1", "__n": "1"}
    assert case.api.get(case.path, {**unknown, "limit": 1}, status=400) == {
        name: ["Unknown filter field"] for name in unknown
    }
    with case.service.configured(strict_filtering=False):
        assert (
            case.api.get(case.path, {**unknown, "limit": 1})["count"] == case.api.get(case.path, {"limit": 1})["count"]
        )


@check(lambda endpoint: any(item.kind == "boolean" for item in endpoint.filters.values()), reads=True)
def the_negation_of_a_boolean_is_the_rest(case: Case) -> None:
    """``name=true`` and ``name__n=true`` divide the objects: each is found by one of them."""
    created = case.make_many(2)
    for name, item in case.endpoint.filters.items():
        if item.kind == "boolean" and "n" in item.lookups:
            query = {"id": [shown["id"] for shown in created]}
            counts = [
                case.api.get(case.path, {**query, parameter: "true"})["count"] for parameter in (name, f"{name}__n")
            ]
            assert sum(counts) == len(created), f"{name}: {counts}"
