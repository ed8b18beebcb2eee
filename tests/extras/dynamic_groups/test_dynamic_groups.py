"""Dynamic groups: what their filters find, what groups within groups give, and what is refused; the rest is in the
contract.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.auth.configuration_version import configuration_changed
from netinv_core.settings import OWN
from netinv_extras.dynamic_groups.models import MAX_DEPTH, MAX_DESCENDANTS
from netinv_extras.dynamic_groups.terms import TOGETHER, TOO_MANY
from netinv_extras.dynamic_groups.web.tab import MAX_STATEMENTS
from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser

GROUPS, MEMBERSHIPS, SITES = "/api/extras/dynamic-groups/", "/api/extras/dynamic-group-memberships/", "/api/dcim/sites/"
MAX_TERMS = OWN["max_compared_values"][1]
MANY = [f"zz{n}" for n in range(MAX_TERMS + 1)]


@pytest.fixture
def word(api: Api, unique: Unique) -> str:
    """The first part of the names of four sites, ``a`` to ``d``; the others are as the test makes them."""
    found = unique()
    api.post(
        SITES, [{"name": f"{found} {letter}", "slug": f"{found}-{letter}", "status": "active"} for letter in "abcd"]
    )
    return found


@pytest.fixture
def group(make: Any) -> Any:
    """``group(filter, …)``: a new group of sites."""
    return lambda filter=None, **fields: make(GROUPS, **{"content_type": "dcim.site", "filter": filter or {}, **fields})


@pytest.fixture
def of(api: Api, group: Any, word: str) -> Any:
    """``of("ab")``: a new group of those of the four sites; ``of((operator, group), …)``: a new group of groups, by
    weight.
    """

    def make(*what: Any) -> Any:
        if isinstance(what[0], str):
            return group({"name": [f"{word} {letter}" for letter in what[0]]})
        parent = group()
        put(api, parent, *what)
        return parent

    return make


def put(api: Api, parent: Any, *children: Any, **options: Any) -> Any:
    """Puts groups within another, in this order."""
    links = [
        {"parent_group": parent["id"], "group": child["id"], "operator": name, "weight": n}
        for n, (name, child) in enumerate(children)
    ]
    return api.post(MEMBERSHIPS, links, **options)


def members(api: Api, group: Any, **query: Any) -> Any:
    """A page of the members."""
    return api.get(f"{group['url']}members/", query)


def letters(api: Api, group: Any, **query: Any) -> str:
    """The members among the four sites, by the ends of their names."""
    return "".join(shown["name"][-1] for shown in members(api, group, **query)["results"])


def test_its_members_are_what_the_list_shows_for_its_filter(api: Api, word: str, group: Any) -> None:
    made = group({"name__isw": [word], "status": ["active"], "has_racks": False})
    found = members(api, made, include="comments")
    listed = api.get(SITES, {"name__isw": word})
    counted = {name for name in listed["results"][0] if name.endswith("_count")}
    assert found["count"] == 4
    assert found["results"] == [{n: v for n, v in shown.items() if n not in counted} for shown in listed["results"]]
    assert members(api, made, brief=1) == api.get(SITES, {"name__isw": word, "brief": 1})
    assert set(members(api, made, include=["rack_count", "relationships"])["results"][0]) >= {
        "rack_count",
        "relationships",
    }


def test_its_members_come_in_pages(api: Api, word: str, group: Any) -> None:
    made = group({"name__isw": [word]})
    page = members(api, made, limit=3, brief=1)
    assert (page["count"], len(page["results"]), page["previous"]) == (4, 3, None)
    assert page["next"] == f"{made['url']}members/?brief=1&limit=3&offset=3"
    assert [shown["name"] for shown in api.get(page["next"])["results"]] == [f"{word} d"]


def test_parameters_of_their_list_narrow_its_members(api: Api, word: str, of: Any) -> None:
    made = of("abc")
    assert letters(api, made, name__iew=["b", "d"]) == "b"
    assert api.get(f"{made['url']}members/", {"zz": 1}, status=400) == {"zz": ["Unknown filter field"]}


def test_a_group_without_a_filter_holds_everything(api: Api, group: Any, word: str) -> None:
    assert letters(api, group(), name__isw=word) == "abcd"


def test_names_hold_for_whatever_has_them(api: Api, make: Any, group: Any, word: str) -> None:
    above = make("/api/dcim/regions/")
    below = make("/api/dcim/regions/", parent=above["id"])
    sites = api.get(SITES, {"name__isw": word})["results"]
    api.patch(sites[0]["url"], {"region": below["id"]})
    inside, outside = (
        group({"region": [above["slug"]], "name__isw": [word]}),
        group({"region__n": [above["slug"]], "name__isw": [word]}),
    )
    assert (letters(api, inside), letters(api, outside)) == ("a", "bcd")
    api.patch(above["url"], {"slug": f"{above['slug']}-2"})
    assert (letters(api, inside), letters(api, outside)) == ("", "abcd")
    api.patch(below["url"], {"slug": above["slug"]})
    assert (letters(api, inside), letters(api, outside)) == ("a", "bcd")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("union", "ab")], "ab"),
        ([("union", "ab"), ("union", "bc")], "abc"),
        ([("union", "ab"), ("intersection", "bc")], "b"),
        ([("union", "ab"), ("difference", "bc")], "a"),
        ([("intersection", "ab"), ("union", "cd")], "abcd"),
        ([("difference", "ab")], "cd"),
        ([("difference", "ab"), ("union", "a")], "acd"),
        ([("union", "ab"), ("difference", "b"), ("union", "bc"), ("intersection", "cd")], "c"),
        ([("union", "a"), ("difference", "b"), ("difference", "a"), ("union", "d")], "d"),
    ],
)
def test_groups_are_put_together_in_the_order_of_their_weights(
    api: Api, of: Any, word: str, steps: Any, expected: str
) -> None:
    made = of(*[(name, of(those)) for name, those in steps])
    assert letters(api, made, name__isw=word) == expected


def test_groups_of_groups_are_put_together(api: Api, of: Any, word: str) -> None:
    inner = of(("union", of("abc")), ("difference", of("a")))
    twice = of(("union", inner), ("union", of("d")), ("intersection", of(("difference", inner))))
    assert letters(api, inner) == "bc"
    assert letters(api, twice) == "d"
    assert [child["display"] for child in api.get(inner["url"])["children"]] == [
        f"{inner['name']} > {child['operator']} ({n}) > {child['group']['name']}"
        for n, child in enumerate(api.get(inner["url"])["children"])
    ]


def test_nothing_unknown_counts_as_excluded(api: Api, word: str, of: Any, group: Any) -> None:
    """Of sites without a number it is not known whether it is below another: they are not in the group, so its
    exclusion leaves them.
    """
    numbered = group({"asn__lt": [100]})
    assert letters(api, of(("union", of("ab")), ("difference", numbered))) == "ab"


@pytest.mark.parametrize(
    ("filter", "refusal"),
    [
        ("zz", {"filter": ["Filter must be a dict"]}),
        ([], {"filter": ["Filter must be a dict"]}),
        (None, {"filter": ["This field may not be null."]}),
        (
            {"zz": 1, "limit": 5, "name__zz": ["a"]},
            {name: ["Unknown filter field"] for name in ("zz", "limit", "name__zz")},
        ),
        ({"region": "a", "zz": 1}, {"region": ["Enter a list of values."], "zz": ["Unknown filter field"]}),
        ({"has_racks": ["true", "false"]}, {"has_racks": ["Enter a single value."]}),
        ({"name": [{"a": 1}]}, {"name": ["Enter a valid value."]}),
        ({"has_racks": "zz"}, {"has_racks": ["Enter true or false."]}),
        ({"asn": ["zz"]}, {"asn": ["Enter a number."]}),
        ({"region": ["zz", "null"]}, {"region": ["Select a valid choice. zz is not one of the available choices."]}),
        ({"status": ["zz"]}, {"status": ["Select a valid choice. zz is not one of the available choices."]}),
        (
            {"name__re": ["("]},
            {"name__re": ["Invalid regular expression: missing ), unterminated subpattern at position 0"]},
        ),
    ],
)
def test_a_filter_is_one_of_the_list_of_its_objects(api: Api, unique: Unique, filter: Any, refusal: Any) -> None:
    body = {"name": unique(), "content_type": "dcim.site", "filter": filter}
    assert api.post(GROUPS, body, status=400) == refusal
    assert api.post(GROUPS, [{**body, "name": unique(), "filter": {}}, body], status=400) == [{}, refusal]


def test_many_filters_are_checked_at_once(api: Api, make: Any, statements: Any, unique: Unique) -> None:
    regions = [make("/api/dcim/regions/")["slug"] for _ in range(12)]

    def taken(count: int) -> int:
        bodies = [
            {"name": unique(), "content_type": "dcim.site", "filter": {"region": [slug], "status": ["active"]}}
            for slug in regions[:count]
        ]
        api.get(
            GROUPS, {"limit": 1, "include": ["relationships", "computed_fields"]}
        )  # what the process caches is cached
        make("/api/dcim/regions/")  # and what it caches for writes
        with statements() as found:
            api.post(GROUPS, bodies)
        return len(found)

    assert taken(1) == taken(12)


def test_the_content_type_stays(api: Api, group: Any) -> None:
    made = group()
    assert set(api.patch(made["url"], {"content_type": "dcim.rack"}, status=400)) == {"content_type"}
    api.patch(made["url"], {"content_type": "dcim.site", "description": "kept"})


def test_a_group_is_not_within_itself(api: Api, of: Any) -> None:
    child = of("a")
    middle = of(("union", child))
    top = of(("union", middle))
    for inner in (top, middle):
        assert set(put(api, middle, ("union", inner), status=400)[0]) == {"group"}
    link = api.get(top["url"])["children"][0]
    assert set(api.patch(link["url"], {"group": top["id"]}, status=400)) == {"group"}


def test_a_list_does_not_close_a_loop_either(api: Api, group: Any) -> None:
    made = [group() for _ in range(3)]
    pairs = zip(made, [*made[1:], made[0]], strict=True)
    links = [
        {"parent_group": parent["id"], "group": child["id"], "operator": "union", "weight": 1}
        for parent, child in pairs
    ]
    answer = api.post(MEMBERSHIPS, links, status=400)
    assert answer[:2] == [{}, {}] and set(answer[2]) == {"group"}


def test_a_membership_can_be_turned_round(api: Api, group: Any) -> None:
    one, two = group(), group()
    (link,) = put(api, one, ("union", two))
    turned = api.patch(link["url"], {"group": one["id"], "parent_group": two["id"]})
    assert turned["display"] == f"{two['name']} > union (0) > {one['name']}"


def test_groups_within_each_other_are_of_one_type(api: Api, of: Any, group: Any) -> None:
    racks = group(content_type="dcim.rack")
    assert set(put(api, of(("union", of("a"))), ("union", racks), status=400)[0]) == {"group"}


def test_a_group_has_a_filter_or_groups(api: Api, of: Any) -> None:
    leaf = of("a")
    parent = of(("union", leaf))
    assert set(put(api, leaf, ("union", parent), status=400)[0]) == {"parent_group"}
    assert set(api.patch(parent["url"], {"filter": {"name": ["a"]}}, status=400)) == {"filter"}
    api.patch(parent["url"], {"filter": {}, "description": "as it was"})


def test_a_group_within_others_is_protected_by_these(api: Api, of: Any) -> None:
    leaf = of("a")
    parent = of(("union", leaf))
    refused = api.delete(leaf["url"], status=409)
    assert refused == {
        "detail": f"Unable to delete object. 1 dependent objects were found: {parent['name']} ({parent['id']})"
    }
    link = api.get(parent["url"])["children"][0]
    api.delete(GROUPS, [{"id": leaf["id"]}, {"id": parent["id"]}])
    api.get(link["url"], status=404)


def test_a_group_takes_its_memberships_along(api: Api, of: Any) -> None:
    leaf = of("a")
    parent = of(("union", leaf))
    link = api.get(parent["url"])["children"][0]
    api.delete(parent["url"])
    api.get(link["url"], status=404)
    assert letters(api, leaf) == "a"


def test_changes_show_at_once(api: Api, of: Any, word: str) -> None:
    leaf = of("a")
    parent = of(("union", leaf))
    assert letters(api, parent) == "a"
    api.patch(leaf["url"], {"filter": {"name": [f"{word} b"]}})
    assert letters(api, parent) == "b"
    api.delete(api.get(parent["url"])["children"][0]["url"])
    assert letters(api, parent, name__isw=word) == "abcd"


def test_members_are_those_that_one_may_see(api: Api, make_user: Any, of: Any, word: str) -> None:
    made = of("abc")
    path = f"{made['url']}members/"
    make_user(("view", "dcim.site")).api.get(path, status=403)
    make_user(("view", "extras.dynamicgroup")).api.get(path, status=403)
    make_user(("view", "extras.dynamicgroup", {"name": "another"}), ("view", "dcim.site")).api.get(path, status=404)
    some = make_user(("view", "extras.dynamicgroup"), ("view", "dcim.site", {"name__endswith": "b"})).api
    assert letters(some, made) == "b"
    assert members(some, made)["count"] == 1
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert api.send(method, path, {}, status=405).headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("key", ["zz", "00000000-0000-4000-8000-000000000000"])
def test_only_groups_have_members(api: Api, key: str) -> None:
    api.get(f"{GROUPS}{key}/members/", status=404)


def test_members_are_shown_as_the_version_has_them(api: Api, make: Any, group: Any) -> None:
    kind = make("/api/dcim/location-types/")
    made = group({"slug": [kind["slug"]]}, content_type="dcim.locationtype")
    for version in ("1.2", "1.6"):
        assert api.get(f"{made['url']}members/", version=version) == api.get(
            "/api/dcim/location-types/", {"slug": kind["slug"]}, version=version
        )


def test_a_filter_that_lost_its_parameter_says_so(api: Api, of: Any, group: Any, unique: Unique, word: str) -> None:
    slug = unique()
    field = api.post(
        "/api/extras/custom-fields/", {"type": "text", "slug": slug, "label": slug, "content_types": ["dcim.site"]}
    )
    site = api.get(SITES, {"name": f"{word} b"})["results"][0]
    api.patch(site["url"], {"custom_fields": {slug: "here"}})
    made = group({f"cf_{slug}": "here", "name__isw": [word]})
    parent = of(("union", of("ab")), ("difference", made))
    assert (letters(api, made), letters(api, parent)) == ("b", "a")
    api.delete(field["url"])
    reason = f"The filter of the group “{made['name']}” can no longer be applied: cf_{slug}: Unknown filter field"
    for one in (made, parent):
        assert api.get(f"{one['url']}members/", status=400) == {"filter": [reason]}
    api.patch(made["url"], {"description": "still to be mended"})
    api.put(made["url"], api.get(made["url"]))
    api.patch(made["url"], {"filter": {"name__isw": [word]}})
    assert letters(api, made) == "abcd"


def test_a_group_of_a_package_that_is_gone_says_so(api: Api, service: Service, group: Any) -> None:
    made, table = group({"name": ["a"]}), service.registry["extras.dynamicgroup"].table
    with service.unit_of_work() as uow:
        uow.execute(sa.update(table).where(table.c.id == uuid.UUID(made["id"])).values(content_type="gone.thing"))
        configuration_changed(uow)
    assert set(api.get(f"{made['url']}members/", status=400)) == {"content_type"}
    assert set(api.patch(made["url"], {"filter": {"name": ["b"]}}, status=400)) == {"filter"}
    api.patch(made["url"], {"description": "still there"})
    api.delete(made["url"])


@pytest.mark.night
def test_what_the_database_refuses_is_refused(api: Api, group: Any) -> None:
    for given in ({"name__re": ["(?<=a)b"]}, {"name": [f"zz{n}" for n in range(70000)]}):
        made = group(given)
        assert api.send("GET", f"{made['url']}members/", status=(200, 400)).json
        api.delete(made["url"])


def test_groups_that_compare_too_many_values_are_not_evaluated(
    service: Service, api: Api, browser: Browser, group: Any, of: Any, statements: Any, word: str
) -> None:
    """Stored filters of more values than may be given today, alone or together."""
    few, met = group({"name__ic": [word, *MANY[:300]]}), group({"name__isw": [word]})
    other, stored = group({"name__isw": [word]}), group({"name__isw": [word]})
    parent, longer = of(("union", few), ("union", other)), {"name__ic": [word, *MANY[1:300]]}
    table = service.registry["extras.dynamicgroup"].table
    with service.unit_of_work() as uow:
        for one, values in ((stored, {"name__ic": MANY}), (other, longer)):
            uow.execute(sa.update(table).where(table.c.id == uuid.UUID(one["id"])).values(filter=values))
        configuration_changed(uow)
    site = api.get(SITES, {"name": f"{word} a"})["results"][0]
    with statements() as found:
        for one in (stored, parent):
            answer = api.get(f"{one['url']}members/", status=400)
            assert answer == {"filter": [TOO_MANY.format(name=one["name"], most=MAX_TERMS)]}
        page = browser.get(f"/dcim/sites/{site['id']}/dynamic-groups/")
    assert all(one["name"] in page.html.main.text for one in (few, other, met))
    assert stored["name"] not in page.html.main.text and "more groups of this content type were not checked" in page
    assert sum(" AS g0" in statement for statement in found) == 2  # together they compare more than MAX_TERMS
    api.patch(stored["url"], {"description": "still to be mended"})
    assert letters(api, met) == "abcd"
    for one in (parent, few, other, stored):
        api.delete(one["url"])


def test_no_change_leads_a_group_above_the_values_that_it_may_compare(
    api: Api, group: Any, of: Any, statements: Any, word: str
) -> None:
    """A membership is refused, and a filter of a group within others; what is no longer stays possible."""
    half = MAX_TERMS // 2 + 1
    first, second = group({"name__ic": MANY[:half]}), group({"name__ic": MANY[:half]})
    small, refused = group({"name__isw": [word]}), [TOGETHER.format(count=2 * half, most=MAX_TERMS)]
    inner = of(("union", first), ("union", small))
    outer = of(("intersection", inner))
    for parent, child in ((inner, second), (outer, second)):
        assert put(api, parent, ("difference", child), status=400) == [{"group": refused}]
    assert api.patch(small["url"], {"filter": second["filter"]}, status=400) == {"filter": refused}
    apart = of(("union", second))
    link = api.get(MEMBERSHIPS, {"parent_group": apart["id"]})["results"][0]
    assert api.patch(link["url"], {"parent_group": outer["id"]}, status=400) == {"group": refused}
    api.patch(link["url"], {"weight": 7})
    api.patch(first["url"], {"filter": {"name__ic": MANY[:half][::-1]}})
    counted = []
    for size in (1, 1, 6):  # the first fills caches
        parent = group()
        with statements() as found:
            put(api, parent, *[("union", small)] * size)
        counted.append(len(found))
        api.delete(parent["url"])
    assert counted[1] == counted[2]
    for made in (outer, inner, apart, first, second, small):
        api.delete(made["url"])


@pytest.mark.night
def test_the_tab_takes_few_statements_for_many_large_groups(
    api: Api, browser: Browser, group: Any, statements: Any, word: str
) -> None:
    met = group({"name__isw": [word]})
    large = [group({"name__ic": [word, *MANY[: MAX_TERMS - 1]]}) for _ in range(MAX_STATEMENTS + 2)]
    site = api.get(SITES, {"name": f"{word} a"})["results"][0]
    with statements() as found:
        page = browser.get(f"/dcim/sites/{site['id']}/dynamic-groups/")
    shown = sum(one["name"] in page.html.main.text for one in large)
    assert met["name"] in page and MAX_STATEMENTS - 1 <= shown <= MAX_STATEMENTS  # groups of other tests may be in one
    assert shown <= sum(" AS g0" in statement for statement in found) <= MAX_STATEMENTS
    for one in large:
        api.delete(one["url"])


@pytest.mark.night
def test_statements_grow_neither_with_members_nor_with_depth(
    api: Api, make: Any, make_user: Any, of: Any, group: Any, statements: Any, word: str
) -> None:
    region = make("/api/dcim/regions/")["slug"]
    few, many = of("a"), group({"name__isw": [word], "region__n": [region], "status": ["active"]})
    deep = many
    for name in ("union", "difference", "intersection", "union", "difference", "union"):
        deep = of(("union", group({"status": ["active"], "region__n": [region]})), (name, deep))
    some = make_user(("view", "extras.dynamicgroup"), ("view", "dcim.site", {"name__startswith": word})).api
    for client, most in ((api, 6), (some, 7)):
        counts = []
        for made in (few, many, deep):
            members(client, made, name__isw=word)  # what the process caches is cached
            with statements() as found:
                members(client, made, name__isw=word)
            counts.append(found)
        assert len(set(map(len, counts))) == 1 and len(counts[0]) <= most, "\n\n".join(map("\n".join, counts))


def test_groups_as_large_as_may_be_are_put_together(api: Api, of: Any, group: Any) -> None:
    leaf, wide = of("a"), group()
    links = [
        {"parent_group": wide["id"], "group": leaf["id"], "operator": "union", "weight": n}
        for n in range(MAX_DESCENDANTS + 1)
    ]
    assert set(api.post(MEMBERSHIPS, links, status=400)[0]) == {"group"}
    api.post(MEMBERSHIPS, links[:-1])
    assert letters(api, wide) == "a"
    assert set(put(api, group(), ("union", wide), status=400)[0]) == {"group"}


@pytest.mark.night
def test_groups_as_deep_as_may_be_are_put_together(api: Api, of: Any, group: Any) -> None:
    one, other = of("a"), of("b")
    deep, names, expected = one, ("union", "difference"), {"a"}
    for n in range(MAX_DEPTH - 1):
        deep = of(("union", other), (names[n % 2 - 1], deep))
        expected = {"b"} - expected if n % 2 == 0 else {"b"} | expected
    assert letters(api, deep) == "".join(sorted(expected))
    assert set(put(api, group(), ("union", deep), status=400)[0]) == {"group"}
    steps = [(names[n % 2], (other, one)[n % 2]) for n in range(MAX_DEPTH)]
    assert letters(api, of(*steps)) == "b"
    assert set(put(api, group(), *steps, ("union", one), status=400)[0]) == {"group"}
