"""Custom fields that change: their objects follow; numbers of statements."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.auth import identity
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import rollback
from netinv_core.uow import UnitOfWork
from netinv_core.write import delete, save
from netinv_testing import Api, Service
from tests.support.custom_fields import CHANGES, CHOICES, FIELDS, ROLE, ROLES, TENANTS, define, role, values

__all__ = ["define", "role"]


# -- kept right


def test_objects_follow_the_content_types_of_a_field(api: Api, define: Any, role: Any, make: Any) -> None:
    shown, tenant = role(), make(TENANTS)
    field = define("integer", default=5)
    slug = field["slug"]
    assert values(api, shown)[slug] == 5 and slug not in values(api, tenant)
    api.patch(field["url"], {"content_types": ["tenancy.tenant"]})
    assert values(api, tenant)[slug] == 5 and slug not in values(api, shown)
    api.patch(field["url"], {"default": None, "content_types": ["tenancy.tenant", ROLE]})
    assert values(api, shown)[slug] is None and values(api, tenant)[slug] == 5


def test_a_field_takes_its_values_along(api: Api, service: Service, define: Any, role: Any) -> None:
    field = define("select", choices=("a",))
    slug = field["slug"]
    shown = role(**{slug: "a"})
    api.delete(field["url"])
    assert slug not in values(api, shown)
    assert api.get(CHOICES, {"field_id": field["id"]}, status=400)
    again = define(slug=slug)
    assert values(api, shown)[slug] is None
    api.patch(again["url"], {"content_types": [ROLE]})


def test_a_choice_that_is_renamed_is_renamed_in_objects_and_in_the_default(api: Api, define: Any, role: Any) -> None:
    grade, zones = define("select", choices=("tin", "gold")), define("multi-select", choices=("north", "northwest"))
    api.patch(grade["url"], {"default": "gold"})
    shown = role(**{grade["slug"]: "gold", zones["slug"]: ["northwest", "north"]})
    other = role(**{grade["slug"]: "tin", zones["slug"]: ["northwest"]})
    (gold,) = api.get(CHOICES, {"field_id": grade["id"], "value": "gold"})["results"]
    (north,) = api.get(CHOICES, {"field_id": zones["id"], "value": "north"})["results"]
    api.patch(CHOICES, [{"id": gold["id"], "value": 'a "fine" one'}, {"id": north["id"], "value": "nörd"}])
    after, left = values(api, shown), values(api, other)
    assert (after[grade["slug"]], after[zones["slug"]]) == ('a "fine" one', ["northwest", "nörd"])
    assert (left[grade["slug"]], left[zones["slug"]]) == ("tin", ["northwest"])
    assert api.get(grade["url"])["default"] == 'a "fine" one'


def test_many_choices_take_the_names_of_each_other(api: Api, define: Any, role: Any) -> None:
    """In more than one statement; each name is free once the choice before has its new one."""
    field = define("multi-select", choices=tuple(f"c{n}" for n in range(12)))
    slug = field["slug"]
    first, last = role(**{slug: ["c9", "c0"]}), role(**{slug: ["c10", "c11"]})
    choices = api.get(CHOICES, {"field_id": field["id"], "limit": 50})["results"]
    renamed = {choice["id"]: int(choice["value"][1:]) + 1 for choice in choices}
    bodies = [{"id": key, "value": f"c{number}"} for key, number in renamed.items()]
    api.patch(CHOICES, sorted(bodies, key=lambda body: renamed[body["id"]], reverse=True))
    assert (values(api, first)[slug], values(api, last)[slug]) == (["c10", "c1"], ["c11", "c12"])


def test_a_choice_stays_while_it_is_used(api: Api, define: Any, role: Any) -> None:
    field, other = define("multi-select", choices=("a", "b", "c")), define("select", choices=("x",))
    role(**{field["slug"]: ["a"]})
    api.patch(field["url"], {"default": ["b"]})
    used, default, free = api.get(CHOICES, {"field_id": field["id"]})["results"]
    assert api.delete(used["url"], status=409) == {"detail": "Cannot delete the choice a because it is in active use."}
    assert api.delete(default["url"], status=409) == {
        "detail": "Cannot delete the choice b because it is a default of its field."
    }
    assert api.patch(used["url"], {"field": other["id"]}, status=400) == {"field": ["This choice is in active use."]}
    api.delete(free["url"])


@pytest.mark.night
def test_another_process_knows_a_field_as_soon_as_it_is_there(service: Service, define: Any) -> None:
    other = Service(service.engine)
    before = other.api.get(ROLES, {"limit": 1})
    slug = define()["slug"]
    assert before is not None and other.api.get(ROLES, {f"cf_{slug}": "x"})["count"] == 0


@pytest.mark.night
def test_many_fields_and_choices_change_at_once(api: Api, role: Any, unique: Any) -> None:
    """More than one statement could take."""
    shown, word = role(), unique().replace("-", "_")
    bodies = [
        {
            "type": "integer",
            "slug": f"{word}_{n}",
            "label": "x",
            "content_types": [ROLE],
            "default": n if n % 2 else None,
        }
        for n in range(70)
    ]
    many = api.post(FIELDS, bodies)
    mine = values(api, shown)
    assert [mine[field["slug"]] for field in many] == [n if n % 2 else None for n in range(70)]
    api.delete(FIELDS, [{"id": field["id"]} for field in many])
    assert not values(api, shown).keys() & {field["slug"] for field in many}
    field = api.post(
        FIELDS, {"type": "multi-select", "slug": word, "label": "x", "content_types": [ROLE, "tenancy.tenant"]}
    )
    choices = api.post(CHOICES, [{"field": field["id"], "value": f"v{n}"} for n in range(70)])
    api.patch(shown["url"], {"custom_fields": {word: ["v1", "v10", "v69"]}})
    api.patch(CHOICES, [{"id": choice["id"], "value": f"{choice['value']}x"} for choice in choices])
    assert values(api, shown)[word] == ["v1x", "v10x", "v69x"]
    assert api.delete(CHOICES, [{"id": choice["id"]} for choice in choices], status=409)["detail"].endswith(
        "because it is in active use."
    )
    api.delete(field["url"])
    assert api.get(CHOICES, {"id": [choice["id"] for choice in choices]})["count"] == 0


# -- budgets


def test_lists_and_writes_take_no_statement_more(
    api: Api, statements: Any, define: Any, make: Any, unique: Any
) -> None:
    shown = make(ROLES)

    def counted() -> list[int]:
        found = []
        names = [unique() for _ in range(50)]
        for run in (
            lambda: api.get(ROLES, {"id": shown["id"], "limit": 50}),
            lambda: api.patch(shown["url"], {"description": unique()}),
            lambda: api.post(ROLES, [{"name": name, "slug": name} for name in names]),
        ):
            api.get(ROLES, {"limit": 1})
            with statements() as these:
                run()
            found.append(len(these))
        return found

    before = counted()
    slugs = [
        define(kind, **members)["slug"]
        for kind, members in (("text", {}), ("integer", {"default": 1}), ("select", {"choices": ("a",)}))
    ]
    api.patch(shown["url"], {"custom_fields": {slugs[0]: "x"}})
    assert counted() == before
    with statements() as filtered:
        api.get(ROLES, {"limit": 0, **{f"cf_{slug}": "null" for slug in slugs[:2]}})
    assert len(filtered) <= before[0]


def test_without_a_request_the_statements_do_not_grow_either(
    service: Service, statements: Any, define: Any, unique: Any
) -> None:
    define("select", choices=("a",))
    found = []
    for number in (2, 30):
        with session_factory(service.engine)() as session, statements() as these:
            uow = UnitOfWork(service.registry, session, identity.Identity(superuser=True), writing=True)
            made = save.create(uow, service.registry[ROLE], [{"name": unique()} for _ in range(number)])
            save.update(
                uow, service.registry[ROLE], [{"id": shown["id"], "description": "d"} for shown in made], partial=True
            )
            delete.delete(uow, service.registry[ROLE], [{"id": shown["id"]} for shown in made])
            rollback(session)
        found.append(len(these))
    assert found[0] == found[1]


def test_a_bulk_change_of_values_does_not_grow(api: Api, statements: Any, define: Any, role: Any) -> None:
    slug = define()["slug"]
    roles = [role(**{slug: "a"}) for _ in range(20)]
    found = []
    for some in (roles[:2], roles):
        with statements() as these:
            changed = api.patch(
                ROLES, [{"id": shown["id"], "custom_fields": {slug: f"v{n}"}} for n, shown in enumerate(some)]
            )
        found.append(len(these))
    assert [shown["custom_fields"][slug] for shown in changed] == [f"v{n}" for n in range(20)]
    assert found[0] == found[1]


def test_changing_a_definition_takes_as_many_statements_for_many_objects(
    api: Api, statements: Any, define: Any, role: Any
) -> None:
    found = []
    for number in (1, 30):
        for _ in range(number):
            role()
        with statements() as these:
            field = define("integer", default=1)
        found.append(len(these))
        with statements() as these:
            api.delete(field["url"])
        found.append(len(these))
    assert found[:2] == found[2:]


def test_a_selection_without_choices_is_null(api: Api, define: Any, role: Any) -> None:
    """However the last choice is removed; the filter for null finds it."""
    slug = define("multi-select", choices=("a", "b"))["slug"]
    shown = role(**{slug: ["a"]})
    path, own = "/api/dcim/rack-roles/", {"id": shown["id"], f"cf_{slug}": "null"}
    for empty in ([], {"remove": ["a"]}, None):
        api.patch(shown["url"], {"custom_fields": {slug: ["a"]}})
        assert (values(api, shown)[slug], api.get(path, own)["count"]) == (["a"], 0)
        api.patch(shown["url"], {"custom_fields": {slug: empty}})
        assert (values(api, shown)[slug], api.get(path, own)["count"]) == (None, 1)


RENAMES: dict[str, list[dict[str, str]]] = {
    "one": [{"a": "z"}],
    "two after each other": [{"b": "c"}, {"a": "b"}],
    "two at once": [{"b": "c", "a": "b"}],
    "an exchange": [{"a": "b", "b": "a"}],
}


@pytest.mark.parametrize("renames", RENAMES.values(), ids=RENAMES)
@pytest.mark.parametrize("kind", ["select", "multi-select"])
def test_the_undo_of_renamed_choices_gives_objects_and_the_default_their_values(
    api: Api, define: Any, role: Any, kind: str, renames: list[dict[str, str]]
) -> None:
    field, default = define(kind, choices=("a", "b")), "a" if kind == "select" else ["a"]
    api.patch(field["url"], {"default": default})
    shown = role()
    undone = []
    for names in renames:
        listed = {item["value"]: item for item in api.get(CHOICES, {"field_id": field["id"]})["results"]}
        api.patch(CHOICES, [{"id": listed[old]["id"], "value": new} for old, new in names.items()])
        key = listed[next(iter(names))]["id"]
        undone.append(api.get(CHANGES, {"changed_object_id": key, "action": "update", "limit": 1})["results"][0]["id"])
    renamed = api.get(field["url"])["default"]
    for change in reversed(undone):
        answer = api.post(f"{CHANGES}{change}/revert/", status=200, query={"request": "true"})
    assert api.get(field["url"])["default"] == default
    assert values(api, shown)[field["slug"]] == default
    if len(undone) == 1:
        change = api.get(CHANGES, {"request_id": answer["request_id"], "limit": 1})["results"][0]["id"]
        api.post(f"{CHANGES}{change}/revert/", status=200, query={"request": "true"})
        assert api.get(field["url"])["default"] == renamed == values(api, shown)[field["slug"]]
