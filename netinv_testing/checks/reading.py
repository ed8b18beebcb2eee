"""Reading: lists and details say the same, in one order, in every version."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.http import versions
from netinv_core.http.methods import PERMISSIONS
from netinv_core.http.versions import SUPPORTED
from netinv_core.models.columns import column_info
from netinv_core.sql.records import nested_fields
from netinv_testing.cases import Case, check

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field


@check(reads=True)
def a_list_is_paged_in_a_total_order(case: Case) -> None:
    """The envelope is count, next, previous, results; pages joined are the list, each object once."""
    created = case.make_many(5)
    whole = case.list_of(created, limit=100)
    assert list(whole) == ["count", "next", "previous", "results"]
    assert (whole["count"], whole["next"], whole["previous"]) == (5, None, None)
    result, page = [], case.list_of(created, limit=2)
    assert page["previous"] is None
    while True:
        assert page["count"] == 5
        result += page["results"]
        if page["next"] is None:
            break
        following = case.api.get(page["next"])
        assert following["previous"] is not None
        page = following
    assert [item["id"] for item in result] == [item["id"] for item in whole["results"]]
    assert {item["id"] for item in result} == {item["id"] for item in created}


def _confidential(endpoint: Endpoint) -> list[Field]:
    return [field for field in endpoint.writable.values() if field.confidential] if endpoint.resource.writable else []


@check(lambda endpoint: bool(_confidential(endpoint)))
def what_is_confidential_is_not_shown_again(case: Case) -> None:
    """Not by the object, its list and its brief form, nor by the change log; a value that is written back as it was
    read stays.
    """
    endpoint, columns = case.endpoint, [column for column in case.endpoint.table.c if column_info(column).confidential]
    secrets = {
        field.name: case.unique() + case.unique()
        for field in _confidential(endpoint)
        if isinstance(field, fields.Value)
    }
    created = case.api.post(case.path, {**case.body(), **secrets})
    values = [
        *secrets.values(),
        *(created[f.name] for f in _confidential(endpoint) if f.name not in secrets and f.name in created),
    ]
    stored = case.service.rows(sa.select(*columns).where(endpoint.table.c.id == endpoint.parse_key(str(created["id"]))))
    item = case.read(created)
    for name in (field.name for field in _confidential(endpoint) if field.name in item):
        item = case.api.patch(case.at(created), {name: item[name]})
    assert (
        case.service.rows(sa.select(*columns).where(endpoint.table.c.id == endpoint.parse_key(str(created["id"]))))
        == stored
    )
    text = [item, case.list_of([created]), case.list_of([created], brief=1), case.api.options(case.at(created))]
    text += [
        row._mapping
        for row in case.service.rows(
            sa.select(*record_columns()).where(ObjectChange.changed_object_id == uuid.UUID(created["id"]))
        )
    ]
    assert values and not [value for value in [*values, *stored[0]] if value and value in str(text)]
    for field in _confidential(endpoint):
        for name in (
            f"{field.name}__ic",
            f"{field.name}__isw",
            f"{field.attribute or field.name}__startswith",
            f"{field.name}__re",
        ):
            case.api.get(case.path, {name: "a"}, status=400)
    for value in values:
        assert not endpoint.resource.search or case.api.get(case.path, {"q": value})["count"] == 0


def _sorted_naturally(endpoint: Endpoint) -> bool:
    columns = [endpoint.table.c.get(name.strip("-?")) for name in endpoint.resource.order]
    return endpoint.resource.writable and any(
        column is not None and column_info(column).sort_key_of == "name" for column in columns
    )


@check(_sorted_naturally)
def names_sort_by_the_numbers_in_them(case: Case) -> None:
    """``eth2`` comes before ``eth10``, in the usual order and in that of the name."""
    word = case.unique()
    created = [case.make(name=f"{word}eth{number}") for number in ("10", "9", "1/10", "100", "1/9")]
    expected = ["eth1/9", "eth1/10", "eth9", "eth10", "eth100"]
    for ordering, order in (("", expected), ("name", expected), ("-name", expected[::-1])):
        listed = case.list_of(created, ordering=ordering)["results"]
        assert [item["name"].removeprefix(word) for item in listed] == order


@check(reads=True)
def a_detail_is_what_the_list_shows(case: Case) -> None:
    """List, detail and brief forms of one object agree; ``url`` leads to it."""
    item = case.filled()
    (listed,) = case.list_of([item])["results"]
    assert listed == case.read(item)
    assert list(listed) == case.shown_names()
    if "url" in item:
        assert case.api.get(item["url"]) == listed


@check(reads=True)
def the_brief_form_holds_the_declared_fields(case: Case) -> None:
    """``brief`` gives display, id, url and the declared fields, in lists and details alike."""
    item = case.make()
    (listed,) = case.list_of([item], brief=1)["results"]
    assert listed == case.api.get(case.at(item), {"brief": "true"})
    declared = {field.name for field in case.endpoint.brief}
    assert set(listed) == (declared or set(case.shown_names()))
    assert listed["id"] == item["id"]


@check(reads=True)
def a_reference_shows_the_brief_form(case: Case) -> None:
    """An object nested in another is its brief form, without the counters that only its own list computes, or what the
    reference shows instead.
    """
    item = case.filled()
    for name, field in case.endpoint.fields.items():
        if not isinstance(field, fields.Reference) or isinstance(field, fields.Status) or field.plain:
            continue
        if not item.get(name):  # null, or a field that only a request asks for
            continue
        target = field.target
        assert target is not None
        whole = case.api.get(f"{target.path}{item[name]['id']}/", {} if field.nested_fields else {"brief": 1})
        stored = {
            f.name: None if f.nested == "null" else whole[f.name] for f in nested_fields(target, field.nested_fields)
        }
        assert item[name] == stored, f"{case.endpoint.label}.{name}"


@check(reads=True)
def head_is_get_without_a_body(case: Case) -> None:
    """HEAD answers with the headers of GET."""
    item = case.make()
    for path in (case.path, case.at(item)):
        got, head = case.api.send("GET", path, status=200), case.api.send("HEAD", path, status=200)
        assert head.body == b""
        for name in ("Content-Type", "API-Version", "Allow", "Content-Length"):
            assert head.headers[name] == got.headers[name], name


@check(reads=True)
def what_is_not_there_is_404(case: Case) -> None:
    """An id that no object has, and one that cannot be an id."""
    for key in (case.nobody(), "zz", "0", "%00", "%C3%A9"):
        assert case.api.get(f"{case.path}{key}/", status=404) == {"detail": "Not found."}


@check(reads=True)
def every_version_answers(case: Case) -> None:
    """Lists and details in all supported versions, by header and by parameter, say which version they are."""
    item = case.filled()
    for version in SUPPORTED:
        detail = case.api.send("GET", case.at(item), version=version, status=(200, 412))
        listed = case.api.send(
            "GET", case.path, query={"id": item["id"], "api_version": version}, version=None, status=(200, 412)
        )
        assert detail.headers["API-Version"] == listed.headers["API-Version"] == version
        assert detail.status_int == listed.status_int
        if detail.status_int == 200 and versions.former_listing(case.endpoint, version) is None:
            assert listed.json["results"] == [detail.json]


@check(reads=True)
def options_describe_every_field(case: Case) -> None:
    """OPTIONS lists the fields of GET that the reference API has; methods that are not allowed have no description."""
    result = case.api.options(case.path)
    assert set(result) >= {"name", "description", "renders", "parses"}
    actions = result.get("actions", {})
    assert set(actions) == {
        method for method in ("POST", "PUT") if PERMISSIONS[method] in case.endpoint.resource.writes
    }
    if not actions:
        assert "actions" not in result
        return
    described = next(iter(actions.values()))
    own = {name for name, field in case.endpoint.fields.items() if field.own}
    assert set(described) == set(case.endpoint.fields) - own - versions.absent(case.endpoint, versions.NEWEST)
    for name, entry in described.items():
        assert {"type", "required", "read_only", "label"} <= set(entry), name
        assert entry["read_only"] is (name not in case.endpoint.writable), name
        for choice in entry.get("choices", ()):
            assert set(choice) == {"value", "display"}
