"""Creating: one object or many, all or none, and never an error of ours whatever is sent."""

from __future__ import annotations

import itertools
from typing import Any

from netinv_core import fields
from netinv_testing.cases import Case, check, writable
from netinv_testing.samples import agree, same

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**18, -(10**30), 1e300, "", " ", "zz", "null", "-1", "(", "é" * 300,
    "a\x00b", "\ud7ff\uffff", [], [None], [[]], ["zz"], [{}], {}, {"id": None}, {"zz": 1}, {"id": "zz"},
    {"name": {"zz": []}}, {"name__regex": "("}, {"value": [], "label": 1},
)  # fmt: skip


@check(writable)
def a_new_object_is_answered_with_its_address(case: Case) -> None:
    """201, the representation, and ``Location`` equal to its ``url``, which can be read."""
    body = case.body()
    response = case.api.send("POST", case.path, body, status=201)
    item = response.json
    assert response.headers["Location"] == item["url"]
    once = {name: value for name, value in item.items() if not case.endpoint.fields[name].confidential}
    assert same(once, case.api.get(response.headers["Location"]))
    assert set(item) >= {name for name in case.shown_names() if case.endpoint.fields[name].nested != "absent"}
    for name, sent in body.items():
        field = case.endpoint.writable[name]
        if not (field.write_only or field.confidential):
            assert agree(field, sent, item[name]), f"{name}: sent {sent!r}, got {item[name]!r}"


@check(writable, reads=True)
def required_fields_are_those_that_options_say(case: Case) -> None:
    """``POST {}`` complains about all the fields that OPTIONS call required at once, but for those that have a
    default.
    """
    described = case.api.options(case.path)["actions"]["POST"]
    required = {name for name, entry in described.items() if entry["required"]}
    missed = {name for name in required if case.endpoint.fields[name].default is fields.NONE}
    if missed:
        assert case.api.post(case.path, {}, status=400) == {name: ["This field is required."] for name in missed}


@check(writable)
def a_list_creates_all(case: Case) -> None:
    """A list is answered with the objects in its order; an empty list with an empty list."""
    bodies = [case.body() for _ in range(3)]
    created = case.api.post(case.path, bodies)
    assert len({item["id"] for item in created}) == 3
    for body, item in zip(bodies, created, strict=True):
        shown_as_sent = {
            n: field
            for n, field in case.endpoint.writable.items()
            if n in body and not (field.write_only or field.confidential)
        }
        assert all(agree(field, body[n], item[n]) for n, field in shown_as_sent.items())
    assert case.api.post(case.path, []) == []


@check(writable)
def a_list_with_one_fault_creates_none(case: Case) -> None:
    """The answer has one entry for each object, empty for those without a fault; nothing is left behind."""
    good = case.body()
    before = case.api.get(case.path, {"limit": 1})["count"]
    incomplete = {name: None for name, field in case.endpoint.writable.items() if field.required}
    faults: list[Any] = [*([incomplete] if incomplete else []), "zz", None, []]
    for bad in faults:
        refused = case.api.post(case.path, [good, bad], status=400)
        assert len(refused) == 2 and refused[0] == {} and refused[1], refused
    assert case.api.get(case.path, {"limit": 1})["count"] == before
    case.api.post(case.path, good)


@check(writable, reads=True)
def bodies_that_are_no_objects_are_refused(case: Case) -> None:
    """Anything but an object or a list of objects is 400."""
    for body in ("zz", 1, None, True, 1.5):
        case.api.post(case.path, body, status=400)


@check(writable)
def junk_is_refused_not_failed_at(case: Case) -> None:
    """Every JSON type in every field is taken or answered 400 naming something, on creation and on change. What was
    taken is deleted: configuration of junk would judge what other checks write.
    """
    item = case.make()
    values = JUNK if case.thorough else JUNK[:: 1 if len(case.endpoint.writable) < 12 else 2]
    body = case.body()
    for name, value in case.drawn(itertools.product(case.endpoint.writable, values)):
        response = case.api.send("PATCH", case.at(item), {name: value}, status=(200, 400))
        assert response.status_int == 200 or response.json, f"{name}={value!r} was refused without a word"
    for name in case.drawn(case.endpoint.writable):
        response = case.api.send("POST", case.path, {**body, name: {"zz": [1]}}, status=(201, 400))
        if response.status_int == 201:
            case.api.delete(case.at(response.json))
    case.read(item)
    case.api.delete(case.at(item))
