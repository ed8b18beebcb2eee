"""Custom fields: what users add to the objects of any package, how values are checked, read, filtered and kept
right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_core.auth import identity
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import rollback
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_testing import Api, Service
from tests.support.custom_fields import CHANGES, CHOICES, FIELDS, ROLE, ROLES, TENANTS, define, refused, role, values

__all__ = ["define", "role"]


# -- definitions


def test_a_field_has_what_was_given_and_the_usual_for_the_rest(define: Any) -> None:
    field = define("integer", validation_minimum=1, validation_maximum=2**40, default=3, description="how many")
    assert field["type"] == {"value": "integer", "label": "Integer"}
    assert field["filter_logic"] == {"value": "loose", "label": "Loose"}
    assert (field["validation_minimum"], field["validation_maximum"], field["default"], field["weight"]) == (
        1,
        2**40,
        3,
        100,
    )
    assert (field["display"], field["content_types"], field["required"]) == (field["slug"].upper(), [ROLE], False)


def test_versions_up_to_1_3_know_fields_by_name(api: Api, unique: Any) -> None:
    word = unique().replace("-", "_")
    old = api.post(FIELDS, {"type": "text", "name": f"old {word}", "content_types": [ROLE]}, version="1.2")
    assert (old["name"], old["label"], old["slug"]) == (f"old {word}", f"old {word}", f"old_{word}")
    new = api.get(old["url"])
    assert "name" not in new and new["slug"] == f"old_{word}"
    assert api.get(old["url"], {"brief": 1})["name"] == f"old {word}"
    assert api.patch(old["url"], {"name": "ignored"})["slug"] == f"old_{word}"
    assert "name" not in api.options(FIELDS)["actions"]["POST"]
    assert api.options(FIELDS, version="1.3")["actions"]["POST"]["name"]["read_only"] is False
    api.delete(old["url"])


@pytest.mark.parametrize("slug", ["-", "-1", -1, "--a"])
def test_a_slug_begins_with_no_hyphen(api: Api, slug: Any) -> None:
    """MariaDB has no JSON path for such a member."""
    body = {"type": "text", "slug": slug, "label": "L", "content_types": [ROLE]}
    assert api.post(FIELDS, body, status=400) == {"slug": ["Begin with a letter, a digit or an underscore."]}


@pytest.mark.parametrize("version", ["1.2", "1.3", "1.4", "1.6"])
def test_a_name_given_with_its_slug_stays_usable(api: Api, unique: Any, role: Any, version: str) -> None:
    """It is the key up to 1.3, and names the query parameter, whatever version the field was made in."""
    slug = unique().replace("-", "_")
    name = f"Name of {slug}"
    field = api.post(
        FIELDS, {"type": "text", "name": name, "slug": slug, "label": "L", "content_types": [ROLE]}, version=version
    )
    assert api.get(field["url"], version="1.3")["name"] == name
    shown = role(**{slug: "a"})
    assert values(api, shown, version="1.3")[name] == "a"
    assert api.patch(shown["url"], {"custom_fields": {name: "b"}}, version="1.2")["custom_fields"][name] == "b"
    for parameter in (f"cf_{name}", f"cf_{slug}", f"cf_{name}__ic"):
        assert api.get(ROLES, {parameter: "b"})["count"] == 1
    api.delete(field["url"])


def test_values_have_their_names_as_keys_up_to_1_3_and_their_slugs_since(api: Api, unique: Any, role: Any) -> None:
    word = unique().replace("-", "_")
    field = api.post(FIELDS, {"type": "text", "name": f"old {word}", "content_types": [ROLE]}, version="1.3")
    name, slug = f"old {word}", f"old_{word}"
    shown = role(**{slug: "a"})
    assert (shown["custom_fields"][slug], values(api, shown, version="1.3")[name]) == ("a", "a")
    assert api.patch(shown["url"], {"custom_fields": {name: "b"}}, version="1.2")["custom_fields"][name] == "b"
    assert api.patch(ROLES, [{"id": shown["id"], "custom_fields": {slug: "c"}}])[0]["custom_fields"][slug] == "c"
    (listed,) = api.get(ROLES, {"id": shown["id"]}, version="1.2")["results"]
    assert listed["custom_fields"][name] == "c"
    assert api.get(ROLES, {f"cf_{name}": "c"})["count"] == api.get(ROLES, {f"cf_{slug}": "c"})["count"] == 1
    (latest, *_) = api.get(CHANGES, {"changed_object_id": shown["id"]})["results"]
    assert latest["object_data"]["custom_fields"][name] == "c"
    api.delete(field["url"])


def test_type_and_slug_stay_as_they_were_made(api: Api, define: Any) -> None:
    field = define()
    assert api.patch(field["url"], {"type": "integer", "slug": "other"}, status=400) == {
        "type": ["Type cannot be changed once created"],
        "slug": ["Slug cannot be changed once created"],
    }
    assert api.patch(field["url"], {"type": "text", "label": "Other"})["display"] == "Other"


@pytest.mark.parametrize(
    ("kind", "members", "error"),
    [
        (
            "text",
            {"validation_minimum": 0},
            {"validation_minimum": ["A minimum value may be set only for numeric fields"]},
        ),
        (
            "date",
            {"validation_maximum": 5},
            {"validation_maximum": ["A maximum value may be set only for numeric fields"]},
        ),
        (
            "integer",
            {"validation_regex": "x"},
            {"validation_regex": ["Regular expression validation is supported only for text, URL and select fields"]},
        ),
        ("text", {"validation_regex": "("}, {"validation_regex": ["( is not a valid regular expression."]}),
        ("text", {"default": 5}, {"default": ['Invalid default value "5": Value must be a string']}),
        ("integer", {"default": "abc"}, {"default": ['Invalid default value "abc": Value must be an integer.']}),
        (
            "integer",
            {"default": 1, "validation_minimum": 2},
            {"default": ['Invalid default value "1": Value must be at least 2']},
        ),
        (
            "select",
            {"default": "a"},
            {"default": ['Invalid default value "a": Invalid choice (a). Available choices are: ']},
        ),
        (
            "select",
            {"default": []},
            {"default": ['Invalid default value "[]": Invalid choice ([]). Available choices are: ']},
        ),
        ("text", {"default": []}, {"default": ['Invalid default value "[]": Value must be a string']}),
        ("text", {"content_types": ["extras.note"]}, {"content_types": ["Invalid content type: extras.note"]}),
        (
            "text",
            {"content_types": ["extras.customfield"]},
            {"content_types": ["Invalid content type: extras.customfield"]},
        ),
    ],
)
def test_a_definition_makes_sense(api: Api, kind: str, members: dict[str, Any], error: Any) -> None:
    body = {"type": kind, "slug": "never", "label": "Never", "content_types": [ROLE], **members}
    assert api.post(FIELDS, body, status=400) == error


def test_only_selections_have_choices(api: Api, define: Any) -> None:
    text, choice = define(), define("select", validation_regex="^[a-z]+$")
    body = {"field": text["id"], "value": "x"}
    assert api.post(CHOICES, body, status=400)["__all__"] == [
        "Custom field choices can only be assigned to selection fields."
    ]
    assert api.post(CHOICES, {"field": choice["id"], "value": "X"}, status=400) == {
        "value": ["Value must match regex ^[a-z]+$ got X."]
    }
    made = api.post(CHOICES, {"field": {"slug": choice["slug"]}, "value": "x"})
    assert (made["display"], made["field"]["name"]) == ("x", choice["slug"])
    taken = {"non_field_errors": ["The fields field, value must make a unique set."]}
    assert api.post(CHOICES, {"field": choice["id"], "value": "x"}, status=400) == taken


# -- values


def test_every_defined_field_is_there_and_null_without_a_value(api: Api, define: Any, role: Any) -> None:
    first, second = define(weight=2), define(weight=1)
    shown = role()
    mine = [slug for slug in shown["custom_fields"] if slug in (first["slug"], second["slug"])]
    assert mine == [second["slug"], first["slug"]]
    assert shown["custom_fields"][first["slug"]] is None
    assert "custom_fields" not in api.get(shown["url"], {"brief": 1})


def test_new_objects_have_the_defaults_of_what_they_do_not_say(define: Any, role: Any) -> None:
    count, flag, text = define("integer", default=3), define("boolean", default=False), define()
    silent, some = role()["custom_fields"], role(**{count["slug"]: None, text["slug"]: "x"})["custom_fields"]
    assert (silent[count["slug"]], silent[flag["slug"]], silent[text["slug"]]) == (3, False, None)
    assert (some[count["slug"]], some[flag["slug"]], some[text["slug"]]) == (None, False, "x")


def test_a_patch_sets_what_it_names_and_ignores_what_nobody_defined(api: Api, define: Any, role: Any) -> None:
    one, two = define()["slug"], define()["slug"]
    shown = role(**{one: "a", two: "b"})
    after = api.patch(shown["url"], {"custom_fields": {two: "c", "nobody_defined": 1}})["custom_fields"]
    assert (after[one], after[two], "nobody_defined" in after) == ("a", "c", False)
    assert api.patch(shown["url"], {"custom_fields": {one: None}})["custom_fields"][one] is None
    assert api.patch(shown["url"], {"custom_fields": None}, status=400) == {
        "custom_fields": ["This field may not be null."]
    }
    assert api.patch(shown["url"], {"custom_fields": [1]}, status=400) == {
        "custom_fields": ["An object of custom field values is required."]
    }


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("text", ["a", ""], {5: "Value must be a string"}),
        ("url", ["http://example.org", "nope"], {5: "Value must be a string"}),
        ("markdown", ["# a"], {True: "Value must be a string"}),
        (
            "integer",
            [0, -5, 2**62, 7.0],
            {
                (): "Value must be an integer.",
                "5": "Value must be an integer.",
                1.5: "Value must be an integer.",
                10**30: "Value must be an integer.",
            },
        ),
        ("boolean", [True, False, 1], {"true": "Value must be true or false.", 2: "Value must be true or false."}),
        (
            "date",
            ["2020-01-31"],
            {
                "2020-13-01": "Date values must be in the format YYYY-MM-DD.",
                5: "Date values must be in the format YYYY-MM-DD.",
            },
        ),
        ("json", [{"a": [1]}, 5, "x", False], {}),
    ],
)
def test_a_value_is_of_its_type(
    api: Api, define: Any, role: Any, kind: str, good: list[Any], bad: dict[Any, str]
) -> None:
    slug = define(kind)["slug"]
    shown = role()
    for value in good:
        assert api.patch(shown["url"], {"custom_fields": {slug: value}})["custom_fields"][slug] == value
    for value, message in bad.items():
        assert refused(api, shown, slug, [] if value == () else value) == message


def test_bounds_patterns_and_choices_hold(api: Api, define: Any, role: Any) -> None:
    shown = role()
    count = define("integer", validation_minimum=1, validation_maximum=10)["slug"]
    assert (refused(api, shown, count, 0), refused(api, shown, count, 11)) == (
        "Value must be at least 1",
        "Value must not exceed 10",
    )
    code = define(validation_regex="^[A-Z]{2}$")["slug"]
    assert refused(api, shown, code, "ab") == "Value must match regex '^[A-Z]{2}$'"
    grade, zones = (
        define("select", choices=("tin", "gold"))["slug"],
        define("multi-select", choices=("north", "south"))["slug"],
    )
    assert refused(api, shown, grade, "iron") == "Invalid choice (iron). Available choices are: tin, gold"
    assert refused(api, shown, zones, ["west"]) == "Invalid choice(s) (['west']). Available choices are: north, south"
    assert refused(api, shown, zones, "north") == "Invalid choice(s) (north). Available choices are: north, south"
    after = api.patch(shown["url"], {"custom_fields": {grade: "gold", zones: ["south", "north"]}})["custom_fields"]
    assert (after[grade], after[zones]) == ("gold", ["south", "north"])
    assert api.patch(shown["url"], {"custom_fields": {grade: ""}})["custom_fields"][grade] is None


def test_a_required_field_has_a_value(api: Api, define: Any, role: Any, make: Any, unique: Any) -> None:
    before = role()
    slug = define(required=True)["slug"]
    name = unique()
    empty = {"__all__": [f"Invalid value for custom field '{slug}': Required field cannot be empty."]}
    missing = {"__all__": [f"Missing required custom field '{slug}'."]}
    assert api.post(ROLES, {"name": name, "slug": name}, status=400) == empty
    assert api.post(ROLES, {"name": name, "slug": name, "custom_fields": {slug: None}}, status=400) == empty
    assert api.post(ROLES, {"name": name, "slug": name, "custom_fields": {"other": 1}}, status=400) == missing
    assert api.patch(before["url"], {"custom_fields": {slug: ""}}, status=400) == empty
    assert role(**{slug: "x"})["custom_fields"][slug] == "x"
    two = api.post(ROLES, [{"name": unique(), "custom_fields": {slug: "y"}}, {"name": unique()}], status=400)
    assert two == [{}, empty]


def test_definitions_that_become_stricter_judge_changed_values_only(api: Api, define: Any, role: Any) -> None:
    number, text = define("integer")["slug"], define()["slug"]
    shown = role(**{number: 1, text: "abc"})
    for slug, fields in ((number, {"validation_minimum": 5}), (text, {"validation_regex": "^x", "required": True})):
        [definition] = api.get("/api/extras/custom-fields/", {"slug": slug})["results"]
        api.patch(definition["url"], fields)
    define(required=True)
    assert api.patch(shown["url"], {"description": "d"})["custom_fields"][number] == 1
    whole = api.get(shown["url"])
    again = api.put(shown["url"], {name: whole[name] for name in ("name", "slug", "description", "custom_fields")})
    assert again["custom_fields"] == whole["custom_fields"]
    assert refused(api, shown, number, 2) == "Value must be at least 5"
    assert refused(api, shown, text, "abd") == "Value must match regex '^x'"
    assert refused(api, shown, text, None) == "Required field cannot be empty."


def test_choices_of_a_narrowed_field_can_be_edited(api: Api, define: Any) -> None:
    field = define("select", choices=("tin",))
    api.patch(field["url"], {"validation_regex": "^x"})
    [choice] = api.get("/api/extras/custom-field-choices/", {"field_id": field["id"]})["results"]
    assert api.patch(choice["url"], {"weight": 7})["weight"] == 7
    assert "value" in api.patch(choice["url"], {"value": "lead"}, status=400)


def test_the_change_log_has_values_before_and_after(api: Api, define: Any, role: Any) -> None:
    slug, other = define()["slug"], define()["slug"]
    shown = role(**{slug: "a"})
    api.patch(shown["url"], {"custom_fields": {slug: "b"}})
    api.patch(shown["url"], {"custom_fields": {slug: "b"}})
    changes = api.get(CHANGES, {"changed_object_id": shown["id"]})["results"]
    assert [change["action"]["value"] for change in changes] == ["update", "create"]
    assert [change["object_data"]["custom_fields"].get(slug) for change in changes] == ["b", "a"]
    assert other not in changes[0]["object_data"]["custom_fields"]


def test_what_the_service_writes_without_a_request_is_checked_too(service: Service, define: Any, unique: Any) -> None:
    slug = define("integer", default=4)["slug"]
    with session_factory(service.engine)() as session:
        uow = UnitOfWork(service.registry, session, identity.Identity(superuser=True), writing=True)
        (made,) = save.create(uow, service.registry[ROLE], [{"name": unique()}])
        assert made["custom_fields"][slug] == 4
        rollback(session)


# -- filters


@pytest.fixture
def found(api: Api) -> Callable[..., str]:
    """``found(roles, parameter=value)``: the positions of those rack roles that a query finds, as a word."""

    def query(roles: list[Any], **parameters: Any) -> str:
        shown = {item["id"] for item in api.get(ROLES, {"id": [item["id"] for item in roles], **parameters})["results"]}
        return "".join(str(n) for n, item in enumerate(roles) if item["id"] in shown)

    return query


def test_text_is_found_by_parts_or_exactly(define: Any, role: Any, found: Any) -> None:
    loose, exact = define()["slug"], define(filter_logic="exact")["slug"]
    roles = [role(**{loose: "Hello World", exact: "AB12"}), role(**{loose: "hello", exact: "AB1"}), role()]
    assert found(roles, **{f"cf_{loose}": "HELLO"}) == "01" and found(roles, **{f"cf_{loose}": "World"}) == "0"
    assert found(roles, **{f"cf_{exact}": "AB1"}) == "1" and found(roles, **{f"cf_{exact}": "ab1"}) == ""
    assert found(roles, **{f"cf_{exact}__n": "AB1"}) == "02" and found(roles, **{f"cf_{exact}__ie": "ab1"}) == "1"
    assert found(roles, **{f"cf_{loose}__isw": "HELLO W"}) == "0" and found(roles, **{f"cf_{loose}__iew": "LO"}) == "1"
    assert (
        found(roles, **{f"cf_{loose}__nic": "world"}) == "1"
        and found(roles, **{f"cf_{loose}__re": "^[Hh]ello$"}) == "1"
    )
    assert (
        found(roles, **{f"cf_{loose}__nire": "^hello$"}) == "0"
        and found(roles, **{f"cf_{loose}__ic": ["wor", "zz"]}) == "0"
    )
    assert found(roles, **{f"cf_{loose}": "null"}) == "2" and found(roles, **{f"cf_{loose}": ""}) == "012"


def test_what_says_nothing_is_not_compared_with_what_is_excluded(api: Api, define: Any, role: Any, found: Any) -> None:
    """A value that was set to null is neither like a text nor unlike it; one that was never given is unlike it."""
    slug, other = define()["slug"], define()["slug"]
    roles = [role(**{slug: "a"}), role(**{slug: None}), role(**{other: "x"})]
    assert found(roles, **{f"cf_{slug}__nic": "a"}) == "2" and found(roles, **{f"cf_{slug}__n": "a"}) == "12"


def test_numbers_compare_as_numbers(api: Api, define: Any, role: Any, found: Any) -> None:
    slug = define("integer")["slug"]
    roles = [role(**{slug: 9}), role(**{slug: 10}), role(**{slug: -2}), role()]
    assert found(roles, **{f"cf_{slug}": 10}) == "1" and found(roles, **{f"cf_{slug}__n": [9, 10]}) == "23"
    assert found(roles, **{f"cf_{slug}__gt": 9}) == "1" and found(roles, **{f"cf_{slug}__gte": 9}) == "01"
    assert found(roles, **{f"cf_{slug}__lt": 10}) == "02" and found(roles, **{f"cf_{slug}__lte": -2}) == "2"
    for bad in ("abc", "1.5", 2**63):
        assert api.get(ROLES, {f"cf_{slug}": bad}, status=400) == {f"cf_{slug}": ["Enter a whole number."]}


def test_dates_compare_as_dates(api: Api, define: Any, role: Any, found: Any) -> None:
    slug = define("date")["slug"]
    roles = [role(**{slug: "2020-05-17"}), role(**{slug: "2021-01-02"}), role()]
    assert (
        found(roles, **{f"cf_{slug}": "2020-05-17"}) == "0" and found(roles, **{f"cf_{slug}__lt": "2021-01-02"}) == "0"
    )
    assert (
        found(roles, **{f"cf_{slug}__gte": "2020-05-17"}) == "01"
        and found(roles, **{f"cf_{slug}__n": "2020-05-17"}) == "12"
    )
    assert api.get(ROLES, {f"cf_{slug}": "notadate"}, status=400) == {f"cf_{slug}": ["Enter a valid date."]}


def test_flags_selections_and_documents_are_found(api: Api, define: Any, role: Any, found: Any) -> None:
    flag, grade = define("boolean")["slug"], define("select", choices=("tin", "gold"))["slug"]
    zones, data = define("multi-select", choices=("north", "northwest"))["slug"], define("json")["slug"]
    exact = define("json", filter_logic="exact")["slug"]
    roles = [
        role(**{flag: True, grade: "gold", zones: ["north"], data: {"Key": [1]}, exact: {"a": [1, 2]}}),
        role(**{flag: False, grade: "tin", zones: ["northwest", "north"], data: 5, exact: "x"}),
        role(),
    ]
    assert [found(roles, **{f"cf_{flag}": word}) for word in ("true", "false", "null")] == ["0", "1", "2"]
    assert found(roles, **{f"cf_{grade}": "gold"}) == "0" and found(roles, **{f"cf_{grade}": "gol"}) == ""
    assert found(roles, **{f"cf_{grade}__ic": "OL"}) == "0" and found(roles, **{f"cf_{grade}__n": "gold"}) == "12"
    assert found(roles, **{f"cf_{zones}": "north"}) == "01" and found(roles, **{f"cf_{zones}": "northwest"}) == "1"
    assert found(roles, **{f"cf_{data}": "KEY"}) == "0" and found(roles, **{f"cf_{data}": "5"}) == "1"
    assert found(roles, **{f"cf_{exact}": '{"a": [1,2]}'}) == "0" and found(roles, **{f"cf_{exact}": '"x"'}) == "1"


def test_strict_filtering_knows_which_parameters_there_are(api: Api, define: Any) -> None:
    disabled, markdown, text = define(filter_logic="disabled")["slug"], define("markdown")["slug"], define()["slug"]
    for name in (f"cf_{disabled}", f"cf_{markdown}__ic", f"cf_{text}__gt", "cf_nobody_defined", f"cf_{text}__"):
        assert api.get(ROLES, {name: "1"}, status=400) == {name: ["Unknown filter field"]}
    assert api.get(TENANTS, {f"cf_{text}": "1"}, status=400) == {f"cf_{text}": ["Unknown filter field"]}
    assert api.get(ROLES, {f"cf_{text}__re": "("}, status=400)[f"cf_{text}__re"][0].startswith(
        "Invalid regular expression"
    )
