"""Filters: the same answer on every database, whatever its own rules for case, order, nulls and patterns are."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

TENANTS = "/api/tenancy/tenants/"
TAGS = "/api/extras/tags/"

# name → description; the names of the module's tenants come after a common word and a space
ROWS = {
    "Ärger": "eins",
    "ärger": "Eins",
    "ÄRGER 2": "",
    "Arger": "50%_off",
    "ΣΊΓΜΑ": "50xxoff",
    "日本 ": "a\\b",
    "eth10": "a.b",
    "eth2": "a+b",
}


@pytest.fixture(scope="session")
def word(service: Service) -> str:
    """Prefix of the names of this module's tenants."""
    word = service.unique()
    group = service.api.post("/api/tenancy/tenant-groups/", {"name": f"{word} g"})["id"]
    bodies = [
        {
            "name": f"{word} {name}",
            "slug": f"{word}-{number}",
            "description": text,
            "group": group if number < 3 else None,
        }
        for number, (name, text) in enumerate(ROWS.items())
    ]
    service.api.post(TENANTS, bodies)
    return word


def found(api: Api, word: str, **query: Any) -> list[str]:
    page = api.get(TENANTS, {"slug__isw": f"{word}-", "limit": 100, **query})
    return sorted(item["name"].removeprefix(f"{word} ") for item in page["results"])


def those(*names: str) -> list[str]:
    return sorted(name.strip() for name in names)


ALL = those(*ROWS)


@pytest.mark.parametrize(
    ("lookup", "value", "expected"),
    [
        ("", "{} Ärger", ["Ärger"]),
        ("", "{} Arger", ["Arger"]),
        ("", "{} Ärger ", []),
        ("", "{} ärGER", []),
        ("__ie", "{} ÄRGER", ["Ärger", "ärger"]),
        ("__ic", "ärge", ["Ärger", "ärger", "ÄRGER 2"]),
        ("__ic", "ÄRGE", ["Ärger", "ärger", "ÄRGER 2"]),
        ("__ic", "arge", ["Arger"]),
        ("__ic", "σίγμ", ["ΣΊΓΜΑ"]),
        ("__isw", "{} äR", ["Ärger", "ärger", "ÄRGER 2"]),
        ("__iew", "ÄRGER", ["Ärger", "ärger"]),
        ("__iew", "本", ["日本"]),
        ("__re", "Ä(r|R)", ["Ärger", "ÄRGER 2"]),
        ("__re", "^{} .rger$", ["Ärger", "ärger", "Arger"]),
        ("__re", "[0-9]{{2}}$", ["eth10"]),
        ("__re", r"\d$", ["ÄRGER 2", "eth10", "eth2"]),
        ("__re", "ärger|eth2", ["ärger", "eth2"]),
        ("__ire", "ÄRGER$", ["Ärger", "ärger"]),
        ("__ire", "^{} (arger|ETH)", ["Arger", "eth10", "eth2"]),
        ("__ic", "%", []),
        ("__ic", "_", []),
    ],
)
def test_names_compare_by_the_same_rules_everywhere(
    api: Api, word: str, lookup: str, value: str, expected: list[str]
) -> None:
    text = value.format(word)
    assert found(api, word, **{f"name{lookup}": text}) == those(*expected)
    negated = {"": "__n", "__re": "__nre", "__ire": "__nire"}.get(lookup, f"__n{lookup[2:]}")
    assert found(api, word, **{f"name{negated}": text}) == those(
        *(name for name in ROWS if name.strip() not in expected)
    )


SIGNS = [
    ("50%", ["Arger"]),
    ("0%_o", ["Arger"]),
    ("_", ["Arger"]),
    ("\\", ["日本"]),
    (".", ["eth10"]),
    ("+", ["eth2"]),
    ("eins", ["Ärger", "ärger"]),
]


@pytest.mark.parametrize(("value", "expected"), SIGNS)
def test_signs_of_patterns_are_only_signs_in_text(api: Api, word: str, value: str, expected: list[str]) -> None:
    assert found(api, word, description__ic=value) == those(*expected)


def test_text_is_compared_by_code_point(api: Api, word: str) -> None:
    assert found(api, word, description="eins") == ["Ärger"]
    assert found(api, word, description="Eins") == ["ärger"]


def test_repetition_means_either_and_its_negation_neither(api: Api, word: str) -> None:
    two = [f"{word} eth2", f"{word} eth10"]
    assert found(api, word, name=two) == those("eth2", "eth10")
    assert found(api, word, name__n=two) == those(*(set(ROWS) - {"eth2", "eth10"}))
    assert found(api, word, name=two, description="a+b") == ["eth2"]
    assert found(api, word, name__ic=["ETH2", "本"]) == those("eth2", "日本")


def test_an_empty_value_is_no_filter(api: Api, word: str) -> None:
    assert found(api, word, name="", description="", group="") == ALL


def test_null_finds_what_has_none(api: Api, word: str) -> None:
    with_group = those("Ärger", "ärger", "ÄRGER 2")
    without = those(*(set(ROWS) - {"Ärger", "ärger", "ÄRGER 2"}))
    for name in ("group", "group_id"):
        assert found(api, word, **{name: "null"}) == without
        assert found(api, word, **{f"{name}__n": "null"}) == with_group
    assert found(api, word, group=[f"{word}-g", "null"]) == ALL


def test_a_negation_includes_what_has_none(api: Api, word: str) -> None:
    assert found(api, word, group__n=f"{word}-g") == those(*(set(ROWS) - {"Ärger", "ärger", "ÄRGER 2"}))
    assert found(api, word, group=f"{word}-g", group__n=f"{word}-g") == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("group", "no-such-group"),
        ("group_id", "zz"),
        ("group_id", "00000000-0000-0000-0000-000000000000"),
        ("tag", "zz"),
        ("id", "zz"),
        ("created", "zz"),
        ("created__gte", "2026-13-01"),
        ("last_updated", "zz"),
        ("name__re", "("),
        ("name__ire", "[z-a]"),
        ("name", "a\x00b"),
    ],
)
def test_senseless_values_are_refused_by_name(api: Api, name: str, value: str) -> None:
    refused = api.get(TENANTS, {name: value}, status=400)
    assert list(refused) in ([name], ["non_field_errors"])


def test_times_compare_as_instants(api: Api, word: str) -> None:
    (one,) = api.get(TENANTS, {"name": f"{word} eth2"})["results"]
    moment, day = one["last_updated"], one["created"]
    assert "eth2" in found(api, word, last_updated=moment)
    assert "eth2" in found(api, word, last_updated__gte=moment, last_updated__lte=moment)
    assert "eth2" in found(api, word, last_updated__gte=moment.replace("Z", "+00:00"))
    assert found(api, word, last_updated__gte="2999-01-01T00:00:00Z") == []
    assert found(api, word, created=day) == ALL
    assert found(api, word, created__lte="2001-01-01") == []


def test_a_tree_filter_includes_what_lies_below(api: Api, unique: Any) -> None:
    word, groups = unique(), "/api/tenancy/tenant-groups/"
    top = api.post(groups, {"name": f"{word} 1"})
    middle = api.post(groups, {"name": f"{word} 2", "parent": top["id"]})
    low = api.post(groups, {"name": f"{word} 3", "parent": middle["id"]})
    api.post(
        TENANTS,
        [
            {"name": f"{word} {n}", "group": g and g["id"]}
            for n, g in (("t", top), ("m", middle), ("l", low), ("-", None))
        ],
    )

    def tenants(**query: Any) -> str:
        return "".join(sorted(item["name"][-1] for item in api.get(TENANTS, {"name__isw": word, **query})["results"]))

    for name, key in (("group", "slug"), ("group_id", "id")):
        assert [tenants(**{name: group[key]}) for group in (top, middle, low)] == ["lmt", "lm", "l"]
        assert tenants(**{name: [low[key], "null"]}) == "-l"
        assert tenants(**{f"{name}__n": middle[key]}) == "-t"
    assert [item["tenant_count"] for item in api.get(groups, {"name__isw": word})["results"]] == [3, 2, 1]


def test_a_tree_filter_includes_hundreds_of_nodes(api: Api, unique: Any) -> None:
    word, groups = unique(), "/api/tenancy/tenant-groups/"
    top, other = api.post(groups, [{"name": f"{word} {n}"} for n in ("top", "other")])
    children = api.post(groups, [{"name": f"{word} {n}", "parent": top["id"]} for n in range(501)])
    homes = {"top": top, "other": other, "first": children[0], "last": children[-1]}
    api.post(TENANTS, [{"name": f"{word} {name}", "group": home["id"]} for name, home in homes.items()])

    def tenants(**query: Any) -> list[str]:
        page = api.get(TENANTS, {"name__isw": word, **query})
        return sorted(item["name"].removeprefix(f"{word} ") for item in page["results"])

    assert tenants(group=top["slug"]) == ["first", "last", "top"]
    assert tenants(group=[top["slug"], other["id"]]) == ["first", "last", "other", "top"]
    assert tenants(group__n=top["slug"]) == ["other"]
    assert tenants(group=children[-1]["slug"]) == ["last"]


def test_paths_may_reach_one_model_several_times(api: Api, unique: Any, service: Service, make_user: Any) -> None:
    """A path to the parent of a parent, in constraints and in filters by objects that these limit."""
    word, groups = unique(), "/api/tenancy/tenant-groups/"
    keys: dict[str, Any] = {}
    for name, parent in (("a", None), ("aa", "a"), ("aaa", "aa"), ("b", None), ("bb", "b"), ("bbb", "bb")):
        keys[name] = api.post(groups, {"name": f"{word} {name}", "parent": parent and keys[parent]})["id"]
    api.post(TENANTS, [{"name": f"{word} {name}", "group": key} for name, key in keys.items()])
    account = make_user(
        ("view", "tenancy.tenantgroup", {"parent__parent__name": f"{word} a"}),
        ("view", "tenancy.tenant", {"group__parent__parent__name__in": [f"{word} a", f"{word} b"]}),
    )

    def names(path: str, **query: Any) -> list[str]:
        page = account.api.get(path, {"name__isw": word, **query})
        return sorted(item["name"].removeprefix(f"{word} ") for item in page["results"])

    assert names(groups) == ["aaa"]
    assert names(TENANTS) == ["aaa", "bbb"]
    assert names(TENANTS, group=keys["aaa"]) == ["aaa"]
    refused = account.api.get(TENANTS, {"group": keys["bbb"]}, status=400)
    assert list(refused) == ["group"]


def test_tags_combine_with_and(api: Api, unique: Any) -> None:
    word = unique()
    one, two = api.post(
        TAGS, [{"name": f"{word} {n}", "slug": f"{word}-{n}", "content_types": ["tenancy.tenant"]} for n in (1, 2)]
    )
    api.post(
        TENANTS,
        [
            {"name": f"{word} {n}", "tags": [tag["id"] for tag in tags]}
            for n, tags in (("both", [one, two]), ("one", [one]), ("none", []))
        ],
    )

    def tenants(**query: Any) -> list[str]:
        return sorted(
            item["name"].removeprefix(f"{word} ") for item in api.get(TENANTS, {"name__isw": word, **query})["results"]
        )

    assert tenants(tag=one["slug"]) == ["both", "one"]
    assert tenants(tag=[one["slug"], two["slug"]]) == ["both"]
    assert tenants(tag__n=two["slug"]) == ["none", "one"]


def test_search_looks_for_words_anywhere_without_regard_to_case(api: Api, word: str) -> None:
    page = api.get(TENANTS, {"q": f"{word.upper()} ÄRGER"})
    assert sorted(item["name"].removeprefix(f"{word} ") for item in page["results"]) == those(
        "Ärger", "ärger", "ÄRGER 2"
    )
    assert api.get(TENANTS, {"q": f"  {word} eth2 "})["count"] == 1
    assert api.get(TENANTS, {"q": "%", "slug__isw": f"{word}-"})["count"] == 1


def test_lists_sort_by_code_point_nulls_where_they_belong(api: Api, unique: Any) -> None:
    word = unique()
    names = ["b", "B", "a", "Z", "ä", "_", "0"]
    api.post(TENANTS, [{"name": f"{word} {name}"} for name in names])
    shown = [item["name"].removeprefix(f"{word} ") for item in api.get(TENANTS, {"name__isw": word})["results"]]
    assert shown == sorted(names)


def test_of_a_choice_that_is_one_value_in_version_1_6_either_counts(api: Api, unique: Unique) -> None:
    links, word = "/api/extras/custom-links/", unique()
    template = {"content_type": "dcim.site", "text": "a", "target_url": "b", "new_window": False}
    api.post(
        links,
        [{**template, "name": f"{word} {button}", "button_class": button} for button in ("default", "link", "danger")],
    )
    for parameter, count in (("button_class", 2), ("button_class__n", 1)):
        assert api.get(links, {"name__isw": word, parameter: ["default", "link"]})["count"] == count
    assert api.get(links, {"name__isw": word, "button_class": ""})["count"] == 3


def test_a_content_type_is_named_by_its_number(api: Api) -> None:
    assert api.get("/api/extras/notes/", {"assigned_object_type_id": "abc"}, status=400) == {
        "assigned_object_type_id": ["Select a valid choice. That choice is not one of the available choices."]
    }


def new_tag(api: Api, service: Service) -> dict[str, Any]:
    """A tag of tenants."""
    name = service.unique()
    made: dict[str, Any] = api.post(TAGS, {"name": name, "slug": name, "content_types": ["tenancy.tenant"]})
    return made


def test_names_in_several_parameters_are_looked_up_in_one_statement(api: Api, service: Service, word: str) -> None:
    """By slug and by id, in one parameter or several, with a negated one; each finds its own objects."""
    group = api.get("/api/tenancy/tenant-groups/", {"name": f"{word} g"})["results"][0]
    tag = new_tag(api, service)
    first = api.get(TENANTS, {"slug": f"{word}-1"})["results"][0]
    api.patch(f"{TENANTS}{first['id']}/", {"tags": [tag["id"]]})
    other_group = api.post("/api/tenancy/tenant-groups/", {"name": service.unique()})["id"]
    queries: list[dict[str, Any]] = [
        {"group": group["slug"]},
        {"group": [group["slug"], group["id"]], "tag": tag["slug"], "group_id__n": other_group},
    ]
    numbers, names = [], []
    for query in queries:
        with service.statements() as statements:
            names.append(found(api, word, **query))
        numbers.append(len(statements))
    assert names == [those("Ärger", "ärger", "ÄRGER 2"), ["ärger"]]
    assert numbers[1] <= numbers[0]


def test_a_name_without_an_object_is_an_error_of_its_parameter(api: Api, service: Service, word: str) -> None:
    tag = new_tag(api, service)["slug"]
    body = api.get(TENANTS, {"tag": tag, "group": "nowhere"}, status=400)
    assert list(body) == ["group"]
    body = api.get(TENANTS, {"tag": "nowhere", "group_id": "no id"}, status=400)
    assert list(body) == ["tag"]
