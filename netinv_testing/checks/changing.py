"""Changing: by field, by whole representation, in bulk; recorded with what was before and what is after."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.fields import NONE, ContentTypeList, ListValue, Reference, ToMany
from netinv_core.write.trees import is_tree
from netinv_testing.cases import Case, check, writable
from netinv_testing.samples import agree, same

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field

VOLATILE = ("last_updated",)


def _still(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in VOLATILE}


def _writable_again(case: Case, item: dict[str, Any]) -> dict[str, Any]:
    """A representation as a body for PUT: what is never shown is added."""
    secret = {
        name: case.samples.value(case.endpoint, field)
        for name, field in case.endpoint.writable.items()
        if field.write_only and field.required
    }
    return {**item, **secret}


@check(writable)
def patch_sets_what_was_sent_and_nothing_else(case: Case) -> None:
    """Each field reads back as sent, or is refused by a rule of the resource; other fields stay."""
    item = case.make()
    for field, value in case.changes():
        response = case.api.send("PATCH", case.at(item), {field.name: value}, status=(200, 400))
        if response.status_int == 400:
            assert response.json, f"{field.name}={value!r} was refused without a word"
            assert case.read(item) == item
            continue
        changed = case.read(item)
        assert same(response.json, changed)
        assert field.write_only or field.confidential or agree(field, value, changed[field.name]), (
            f"{field.name}: sent {value!r}, got {changed[field.name]!r}"
        )
        item = changed


@check(writable)
def lists_are_changed_by_difference(case: Case) -> None:
    """Items are added and removed beside the others; repeating it changes nothing, and anything else is refused."""
    item = case.make()
    for field, value in case.changes():
        if (
            not isinstance(field, ToMany | ContentTypeList | ListValue)
            or not isinstance(value, list)
            or field.write_only
        ):
            continue
        if not value:
            continue
        name, before = field.name, item[field.name]
        for difference in ({"add": value, "other": []}, {"add": "x"}, {"remove": None}):
            assert list(case.api.patch(case.at(item), {name: difference}, status=400)) == [name]
        case.api.patch(case.path, [{"id": item["id"], name: {"add": value}}], status=(200, 400))
        if case.read(item)[name] == before:
            continue
        added = case.api.patch(case.at(item), {name: {"add": value, "remove": []}})
        assert len(added[name]) == len(before) + len(value)
        assert case.read(item)[name] == added[name]
        case.api.patch(case.at(item), {name: {"remove": value}}, status=(200, 400))
        item = case.read(item)
        assert item[name] in (before, added[name])


@check(writable)
def an_empty_patch_changes_nothing(case: Case) -> None:
    """Neither do unknown and read-only members."""
    item = case.make()
    for body in ({}, {"no_such_field": 1}, {"id": case.nobody(), "url": "zz", "display": "zz"}):
        assert same(case.api.patch(case.at(item), body), item)
    if case.endpoint.key_type is uuid.UUID:
        assert _actions(case, item) in ([CREATE], [])


@check(writable)
def what_was_read_can_be_written_back(case: Case) -> None:
    """PUT of a representation as it was read is taken, changes nothing and leaves no record."""
    item = case.filled()
    before = _actions(case, item)
    assert same(case.api.put(case.at(item), _writable_again(case, item)), item)
    assert same(case.api.put(case.path, [_writable_again(case, item)])[0], item)
    assert _still(case.read(item)) == _still(item)
    assert _actions(case, item) == before


@check(writable)
def what_is_sent_as_it_is_stays_untouched(case: Case) -> None:
    """PATCH of each value as it is, and a difference without an effect: no new time, no new ETag, no record."""
    item = case.filled()
    sent: list[dict[str, Any]] = []
    for name, field in case.endpoint.writable.items():
        if name in item and not field.write_only:
            value = field.to_body(item[name])
            sent.append({name: value})
            if isinstance(field, ToMany | ContentTypeList | ListValue) and isinstance(value, list):
                sent.append({name: {"add": value, "remove": []}})
    sent.append({name: value for body in sent for name, value in body.items() if not isinstance(value, dict)})
    before, actions = case.api.send("GET", case.at(item)), _actions(case, item)
    for body in sent:
        case.api.send("PATCH", case.at(item), body, status=(200, 400))
    case.api.send("PATCH", case.path, [{"id": item["id"], **body} for body in sent[-1:]], status=(200, 400))
    after = case.api.send("GET", case.at(item))
    assert after.json == before.json, sent
    assert after.headers.get("ETag") == before.headers.get("ETag")
    assert _actions(case, item) == actions


@check(writable, reads=True)
def put_asks_for_what_is_required(case: Case) -> None:
    """PUT without the fields that OpenAPI and OPTIONS require is refused, and changes nothing; with them it is carried
    out, and fields with a default keep their values.
    """
    item = case.make()
    fields = case.endpoint.writable
    required = {name for name, field in fields.items() if field.required and field.default is NONE}
    described = case.api.send("OPTIONS", case.path, status=200).json["actions"]["POST"]
    assert {name for name in fields if described.get(name, {}).get("required")} == required
    if required:
        assert set(case.api.put(case.at(item), {}, status=400)) == required
        assert case.read(item) == item
    with_default = {name for name, field in fields.items() if field.required} - required
    if with_default:
        body = {name: value for name, value in _writable_again(case, item).items() if name not in with_default}
        changed = case.api.put(case.at(item), body)
        assert {name: changed[name] for name in with_default} == {name: item[name] for name in with_default}


@check(writable)
def bulk_changes_are_all_or_none(case: Case) -> None:
    """One bad item refuses the list: no id, an unknown, malformed or repeated one, a bad value."""
    first, second = case.make_many(2)
    field, value = _free_change(case, second)
    change = {field.name: value} if field is not None else {}
    first, second = case.read(first), case.read(second)
    name = next((name for name, f in case.endpoint.writable.items() if f.required), None)
    faults: list[Any] = [{}, {"id": case.nobody()}, {"id": "zz"}, {"id": first["id"]}, {"id": None}, "zz", None]
    faults += [{"id": second["id"], name: None}] if name is not None else []
    for method in ("PATCH", "PUT"):
        start = {**_writable_again(case, first), **change} if method == "PUT" else {"id": first["id"], **change}
        for fault in faults:
            refused = case.api.send(method, case.path, [start, fault], status=400)
            assert refused.json
            assert case.read(first) == first and case.read(second) == second, (method, fault)
        assert case.api.send(method, case.path, [], status=200).json == []
        case.api.send(method, case.path, {"id": first["id"]}, status=400)
    both = case.api.patch(case.path, [{"id": second["id"], **change}, {"id": first["id"]}])
    assert [item["id"] for item in both] == [second["id"], first["id"]]
    assert field is None or agree(field, value, both[0][field.name])


def _free_change(case: Case, item: dict[str, Any]) -> tuple[Field | None, Any]:
    """A field that may have one value in several objects and that no rule keeps from changing alone, with a value."""
    for field, value in case.changes():
        unique = field.attribute is not None and case.endpoint.table.c[field.attribute].unique
        if field.write_only or field.confidential or unique:
            continue
        if case.api.send("PATCH", case.at(item), {field.name: value}, status=(200, 400)).status_int == 200:
            return field, value
    return None, None


def _rows(case: Case, item: dict[str, Any]) -> list[Any]:
    table: Any = ObjectChange.__table__
    if case.endpoint.key_type is not uuid.UUID:
        return []
    key = uuid.UUID(item["id"])
    expected = sa.select(*record_columns()).where(
        table.c.changed_object_id == key, table.c.changed_object_type == case.endpoint.label
    )
    return case.service.rows(expected.order_by(table.c.time, table.c.position))


def _actions(case: Case, item: dict[str, Any]) -> list[str]:
    return [row.action for row in _rows(case, item)]


def _is_recorded(endpoint: Endpoint) -> bool:
    return endpoint.resource.recorded and endpoint.resource.writable


def _without_urls(shown: Any) -> Any:
    """A representation without what depends on the host it was asked from."""
    if isinstance(shown, dict):
        return {name: _without_urls(value) for name, value in shown.items() if name not in ("url", "notes_url")}
    return [_without_urls(item) for item in shown] if isinstance(shown, list) else shown


@check(_is_recorded)
def every_write_is_recorded(case: Case) -> None:
    """Create, update and delete leave a row each: who, in which request, before and after."""
    created, other = case.make_many(2)
    changed = created
    for field, value in case.changes():
        case.api.patch(case.at(created), {field.name: value}, status=(200, 400))
        changed = case.read(created)
        if _still(changed) != _still(created):
            break
    case.api.delete(case.at(created))
    rows = _rows(case, created)
    assert [row.action for row in rows] == [CREATE, UPDATE, DELETE]
    assert {row.user_name for row in rows} == {case.service.admin.username}
    assert len({row.request_id for row in rows}) == 3
    assert rows[0].request_id == _rows(case, other)[0].request_id
    states = [(None, created), (created, changed), (changed, None)]
    for row, (before, after) in zip(rows, states, strict=True):
        for stored, item in ((row.before, before), (row.after, after)):
            assert (stored is None) is (item is None)
            assert stored is None or same(_without_urls(stored), _without_urls(item))
        assert row.object_data


@check(lambda endpoint: is_tree(endpoint) and endpoint.resource.writable)
def moving_in_a_tree_keeps_order_and_depth(case: Case) -> None:
    """A parent comes before its children, siblings by name, wherever a node is moved; it never becomes its own
    ancestor.
    """
    word = case.unique()
    created = {letter: case.make(name=f"{word} {letter}") for letter in "abcd"}
    loose = [
        n for n, f in case.endpoint.writable.items() if isinstance(f, Reference) and f.nullable and created["a"][n]
    ]

    def move(child: str, parent: str | None, status: int = 200) -> None:
        roots_only = {name: None if parent else created[child][name]["id"] for name in loose}
        case.api.patch(
            case.at(created[child]), {"parent": created[parent]["id"] if parent else None, **roots_only}, status=status
        )

    def names() -> list[str]:
        return [item["name"][-1] for item in case.list_of(list(created.values()))["results"]]

    assert names() == ["a", "b", "c", "d"]
    move("a", "c")
    assert names() == ["b", "c", "a", "d"]
    move("c", "d")
    assert names() == ["b", "d", "c", "a"]
    case.api.patch(case.at(created["d"]), {"name": f"{word} 0"})
    assert names() == ["0", "c", "a", "b"]
    levels = {row.id: row.tree_level for row in case.service.rows(sa.select(case.endpoint.table))}
    assert [levels[uuid.UUID(created[letter]["id"])] for letter in "bdca"] == [0, 0, 1, 2]
    for child, parent in (("d", "d"), ("d", "a"), ("c", "a")):
        move(child, parent, status=400)
    move("c", None)
    assert names() == ["0", "b", "c", "a"]
