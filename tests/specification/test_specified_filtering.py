"""Filtering lists: a test for each sentence and each row of the specification's tables, except those of networks."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

TENANTS, GROUPS, TAGS = "/api/tenancy/tenants/", "/api/tenancy/tenant-groups/", "/api/extras/tags/"
SITES, VLANS, CUSTOM_FIELDS = "/api/dcim/sites/", "/api/ipam/vlans/", "/api/extras/custom-fields/"
ENDS = ("Alpha", "alpha", "Beta", "beta bloc")


@pytest.fixture(scope="session")
def word(service: Service) -> str:
    """Prefix of the names of this module's tenants; two have a group and a description."""
    word = service.unique()
    group = service.api.post(GROUPS, {"name": word, "slug": word})
    service.api.post(
        TENANTS,
        [
            {
                "name": f"{word} {end}",
                "slug": f"{word}-{number}",
                "description": "big" if number % 2 else "small",
                "group": group["id"] if number < 2 else None,
            }
            for number, end in enumerate(ENDS)
        ],
    )
    return word


def found(api: Api, word: str, *pairs: tuple[str, str]) -> set[str]:
    """The ends of the names that a filter leaves of this module's tenants."""
    page = api.get(TENANTS, [("slug__isw", f"{word}-"), *pairs])
    assert page["count"] == len(page["results"])
    return {item["name"].removeprefix(f"{word} ") for item in page["results"]}


# -- rules


def test_a_filter_is_a_field_and_a_value(api: Api, word: str) -> None:
    """Rule 1: "each filter is a query parameter ``<field>=<value>``"."""
    assert found(api, word) == set(ENDS)
    assert found(api, word, ("name", f"{word} Beta")) == {"Beta"}


def test_different_parameters_combine_with_and(api: Api, word: str) -> None:
    """Rule 1: "different parameters combine with AND"."""
    assert found(api, word, ("group", word)) == {"Alpha", "alpha"}
    assert found(api, word, ("description", "big")) == {"alpha", "beta bloc"}
    assert found(api, word, ("group", word), ("description", "big")) == {"alpha"}


def test_repeating_one_parameter_combines_the_values_with_or(api: Api, word: str) -> None:
    """Rule 2: "repeating one parameter combines the values with OR"."""
    assert found(api, word, ("name", f"{word} Beta"), ("name", f"{word} alpha")) == {"Beta", "alpha"}


def test_repeated_tags_combine_with_and(api: Api, unique: Unique) -> None:
    """Rule 2: "except for multi-valued fields such as tags (parameter ``tag``), where it combines with AND"."""
    words = [unique(), unique()]
    both = [api.post(TAGS, {"name": name, "slug": name, "content_types": ["tenancy.tenant"]})["id"] for name in words]
    made = [api.post(TENANTS, {"name": unique(), "tags": tags}) for tags in (both, both[:1], both[1:])]
    assert {item["id"] for item in api.get(TENANTS, {"tag": words[0]})["results"]} == {made[0]["id"], made[1]["id"]}
    assert [item["id"] for item in api.get(TENANTS, {"tag": words})["results"]] == [made[0]["id"]]


def test_strict_filtering_is_the_default(service: Service, word: str) -> None:
    """Rule 3: "``STRICT_FILTERING`` is true (its default, from version 1.4.0)"."""
    assert service.settings["strict_filtering"] is True


@pytest.mark.parametrize("name", ["no_such_field", "name__nolookup", "cf_no_such_field"])
def test_an_unrecognized_filter_is_400_when_filtering_is_strict(
    api: Api, word: str, configured: Any, name: str
) -> None:
    """Rule 3: "an unrecognized filter parameter yields 400 Bad Request; otherwise it is ignored"."""
    assert list(api.get(TENANTS, {"slug__isw": f"{word}-", name: "x"}, status=400)) == [name]
    with configured(strict_filtering=False):
        assert found(api, word, (name, "x")) == set(ENDS)


# -- custom fields


@pytest.fixture
def custom_field(api: Api, unique: Unique) -> Any:
    """``custom_field(type, …)``: the key of a custom field of sites; gone after the test."""
    made = []

    def make(kind: str, **members: Any) -> str:
        name = f"cf{unique()}"
        body = {"name": name, "slug": name, "label": name, "type": kind, "content_types": ["dcim.site"], **members}
        made.append(api.post(CUSTOM_FIELDS, body))
        return str(body["name"])

    yield make
    for field in made:
        api.delete(field["url"])


def sites_with(api: Api, unique: Unique, field: str, *values: Any) -> dict[str, Any]:
    """New sites with these values, which their names end with; names by id."""
    base = unique()
    bodies = [{"name": f"{base} {value}", "status": "active", "custom_fields": {field: value}} for value in values]
    return {item["id"]: item["custom_fields"][field] for item in api.post(SITES, bodies)}


def values_found(api: Api, sites: dict[str, Any], *pairs: tuple[str, str]) -> list[Any]:
    """The values of the sites that filters leave."""
    page = api.get(SITES, [*(("id", key) for key in sites), *pairs])
    return sorted(sites[item["id"]] for item in page["results"])


@pytest.mark.parametrize(
    ("kind", "values", "given"),
    [
        ("text", ["one", "two"], "two"),
        ("url", ["http://a.example/", "http://b.example/"], "http://b.example/"),
        ("integer", [1, 2], "2"),
        ("date", ["2020-01-01", "2021-01-01"], "2021-01-01"),
        ("boolean", [False, True], "true"),
    ],
)
def test_custom_fields_are_filtered_by_name(
    api: Api, unique: Unique, custom_field: Any, kind: str, values: list[Any], given: str
) -> None:
    """Rule 4: "custom fields are filtered with ``cf_<custom field name>=<value>``"."""
    field = custom_field(kind, filter_logic="exact")
    sites = sites_with(api, unique, field, *values)
    assert values_found(api, sites, (f"cf_{field}", given)) == values[1:]


def test_a_custom_field_filter_without_lookup_takes_a_single_value(api: Api, unique: Unique, custom_field: Any) -> None:
    """Rule 4: "only a single value is accepted per such filter (without lookups)"."""
    field = custom_field("text", filter_logic="exact")
    sites = sites_with(api, unique, field, "one", "two", "three")
    query = [*(("id", key) for key in sites), (f"cf_{field}", "one"), (f"cf_{field}", "two")]
    assert list(api.get(SITES, query, status=400)) == [f"cf_{field}"]
    assert values_found(api, sites, (f"cf_{field}", "one")) == ["one"]


@pytest.mark.parametrize(("logic", "expected"), [("loose", ["one", "stone"]), ("exact", ["one"])])
def test_a_custom_text_matches_partially_or_fully_as_it_was_defined(
    api: Api, unique: Unique, custom_field: Any, logic: str, expected: list[str]
) -> None:
    """Rule 4: "a custom string field matches partially or fully depending on whether it was defined with loose or exact
    filtering".
    """
    field = custom_field("text", filter_logic=logic)
    sites = sites_with(api, unique, field, "one", "stone", "two")
    assert values_found(api, sites, (f"cf_{field}", "one")) == expected


@pytest.mark.parametrize(
    ("kind", "values", "lookup", "given", "expected"),
    [
        ("text", ["One", "stone", "two"], "ic", "ONE", ["One", "stone"]),
        ("url", ["http://a.example/", "http://b.example/"], "isw", "http://A", ["http://a.example/"]),
        ("integer", [1, 2, 3], "gte", "2", [2, 3]),
        ("date", ["2020-01-01", "2021-01-01"], "lt", "2021-01-01", ["2020-01-01"]),
    ],
)
def test_custom_fields_accept_lookups(
    api: Api,
    unique: Unique,
    custom_field: Any,
    kind: str,
    values: list[Any],
    lookup: str,
    given: str,
    expected: list[Any],
) -> None:
    """Rule 5: "custom fields of type text, url, select, integer and date accept them as ``cf_<name>__<lookup>``"."""
    field = custom_field(kind)
    sites = sites_with(api, unique, field, *values)
    assert values_found(api, sites, (f"cf_{field}__{lookup}", given)) == expected


def test_custom_selections_accept_lookups(api: Api, unique: Unique, custom_field: Any) -> None:
    """Rule 5: "select"."""
    field = custom_field("select")
    (shown,) = api.get(CUSTOM_FIELDS, {"name": field})["results"]
    for value in ("low", "high"):
        api.post("/api/extras/custom-field-choices/", {"field": shown["id"], "value": value})
    sites = sites_with(api, unique, field, "low", "high")
    assert values_found(api, sites, (f"cf_{field}__n", "low")) == ["high"]
    assert values_found(api, sites, (f"cf_{field}__iew", "OW")) == ["low"]


@pytest.mark.parametrize("weight", [1, 1000], ids=["the field with the slug first", "the field with the slug last"])
def test_custom_fields_are_filtered_by_the_name_and_not_the_slug(
    api: Api, unique: Unique, custom_field: Any, weight: int
) -> None:
    """Rule 5: "the field name, not the slug", where the name of one field is the slug of another."""
    word = unique()
    custom_field("text", name=word, slug=f"{word}s", weight=100)
    custom_field("text", name=f"{word}n", slug=word, weight=weight)
    values = {f"{word}s": "of the name", word: "of the slug"}
    made = api.post(SITES, {"name": unique(), "status": "active", "custom_fields": values})
    for value, count in (("OF THE NAME", 1), ("OF THE SLUG", 0)):
        assert api.get(SITES, {"id": made["id"], f"cf_{word}__ie": value})["count"] == count


# -- lookups


@pytest.mark.parametrize(
    ("lookup", "expected"),
    [
        ("n", {1, 3}),
        ("lt", {1}),
        ("lte", {1, 2}),
        ("gt", {3}),
        ("gte", {2, 3}),
    ],
)
def test_numeric_fields_have_the_lookup(
    service: Service, api: Api, lookup: str, expected: set[int], vlans: dict[str, int]
) -> None:
    """Table of lookups: "Numeric: ``n`` (not equal), ``lt``, ``lte``, ``gt``, ``gte``"."""
    page = api.get(VLANS, {"id": list(vlans), f"vid__{lookup}": 2})
    assert {vlans[item["id"]] for item in page["results"]} == expected


@pytest.fixture(scope="session")
def vlans(service: Service) -> dict[str, int]:
    """The numbers of three VLANs, by id."""
    name = service.unique()
    group = service.api.post("/api/ipam/vlan-groups/", {"name": name, "slug": name})["id"]
    bodies = [{"vid": vid, "name": f"{name} {vid}", "status": "active", "group": group} for vid in (1, 2, 3)]
    return {item["id"]: item["vid"] for item in service.api.post(VLANS, bodies)}


STRING_LOOKUPS = {
    "n": ("{} Alpha", {"alpha", "Beta", "beta bloc"}),
    "ic": ("ALPH", {"Alpha", "alpha"}),
    "nic": ("ALPH", {"Beta", "beta bloc"}),
    "isw": ("{} BET", {"Beta", "beta bloc"}),
    "nisw": ("{} BET", {"Alpha", "alpha"}),
    "iew": ("ETA", {"Beta"}),
    "niew": ("ETA", {"Alpha", "alpha", "beta bloc"}),
    "ie": ("{} ALPHA", {"Alpha", "alpha"}),
    "nie": ("{} ALPHA", {"Beta", "beta bloc"}),
    "re": ("(A|B)[a-z]+$", {"Alpha", "Beta"}),
    "nre": ("(A|B)[a-z]+$", {"alpha", "beta bloc"}),
    "ire": ("^{} (A|B)[a-z]+$", {"Alpha", "alpha", "Beta"}),
    "nire": ("^{} (A|B)[a-z]+$", {"beta bloc"}),
}


@pytest.mark.parametrize("lookup", STRING_LOOKUPS)
@pytest.mark.parametrize("version", [None, "1.3"])
def test_string_fields_have_the_lookup(api: Api, word: str, lookup: str, version: str | None) -> None:
    """Table of lookups: "String" and "String, from 1.3.0"."""
    value, expected = STRING_LOOKUPS[lookup]
    page = api.get(TENANTS, {"slug__isw": f"{word}-", f"name__{lookup}": value.format(word)}, version=version)
    assert {item["name"].removeprefix(f"{word} ") for item in page["results"]} == expected


def test_foreign_keys_have_the_lookup_n(api: Api, word: str) -> None:
    """Table of lookups: "Foreign key and others: ``n``"."""
    (group,) = api.get(GROUPS, {"slug": word})["results"]
    assert found(api, word, ("group_id", group["id"])) == {"Alpha", "alpha"}
    assert found(api, word, ("group_id__n", group["id"])) == {"Beta", "beta bloc"}
    assert found(api, word, ("group__n", word)) == {"Beta", "beta bloc"}


@pytest.mark.parametrize("lookup", ["lt", "lte", "gt", "gte", "ic", "nic", "isw", "iew", "ie", "re", "ire"])
def test_foreign_keys_have_no_other_lookup(api: Api, word: str, lookup: str) -> None:
    """Table of lookups: "Foreign key and others: ``n`` only"."""
    assert list(api.get(TENANTS, {f"group_id__{lookup}": word}, status=400)) == [f"group_id__{lookup}"]
