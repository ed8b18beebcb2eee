"""The values that a filter compares one by one: each is a condition of the statement, so there is a bound, which every
way to give a filter has. Values that are compared as one list may be many.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from netinv_core.errors import Invalid
from netinv_core.read import parameters
from netinv_core.read.parameters import parse_parameters
from netinv_core.settings import OWN
from netinv_extras.graphql import arguments
from netinv_extras.graphql.arguments import MAX_VALUES, TOO_MANY_VALUES
from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.read.filters import Filter

GROUPS = "/api/extras/dynamic-groups/"
SITES = "/api/dcim/sites/"
MAX = OWN["max_compared_values"][1]
TOO_MANY = parameters.TOO_MANY.format(most=MAX)
TOO_MANY_TERMS = arguments.TOO_MANY_TERMS.format(most=MAX)
MANY = [f"zz{n}" for n in range(MAX + 1)]
LONGER = 3 * MAX
KINDS = (
    lambda n: f"zz{n}",
    lambda n: str(uuid.UUID(int=n)),
    str,
    lambda n: f"10.0.{n // 256}.{n % 256}",
    lambda n: f"02:00:00:00:{n // 256:02x}:{n % 256:02x}",
    lambda n: f"{2000 + n // 28 % 1000}-01-{n % 28 + 1:02}",
)


def most_likes(statements: Sequence[str]) -> int:
    """The most comparisons by LIKE of one of the statements."""
    return max((statement.upper().count(" LIKE ") for statement in statements), default=0)


def taking_many(endpoint: Endpoint) -> Iterator[tuple[Filter, str, str]]:
    """The filters of a list that take several values, with each lookup and the name of the parameter."""
    for item in endpoint.filters.values():
        for lookup in ("", *item.lookups):
            if not item.is_single(lookup):
                yield item, lookup, f"{item.name}__{lookup}" if lookup else item.name


def choices_of(item: Filter, n: int) -> list[str]:
    """Values among the choices of a filter."""
    known = [str(key) for key, _ in item.choices.items] if item.choices is not None else []
    return [known[number % len(known)] for number in range(n)] if known else []


def size(service: Service, endpoint: Endpoint, item: Filter, name: str, n: int) -> int | None:
    """The length of the statement for so many values, but for the values themselves; ``None`` for values of a kind that
    the filter does not take.
    """
    types = list(service.registry.content_types)
    for kind in (*KINDS, lambda n: types[n % len(types)]):
        values = choices_of(item, n) or [kind(number) for number in range(n)]
        with service.unit_of_work() as uow:
            try:
                conditions = parse_parameters(
                    uow.without_lookups(), endpoint, endpoint.table, [(name, values)], strict=True
                )
            except Invalid:
                continue
        return len(str(sa.select(endpoint.table.c.id).where(*conditions).compile(dialect=service.engine.dialect)))
    return None


@pytest.mark.any_database
@pytest.mark.night
def test_every_filter_bounds_its_values_or_compares_them_as_one_list(service: Service) -> None:
    bounded = compared = 0
    for endpoint in service.registry.endpoints.values():
        for item, lookup, name in taking_many(endpoint):
            if item.terms(lookup, MANY) > MAX:
                bounded += 1
                with service.unit_of_work() as uow, pytest.raises(Invalid) as caught:
                    parse_parameters(uow, endpoint, endpoint.table, [(name, MANY)], strict=True)
                assert caught.value.body == {name: [TOO_MANY]}, (endpoint.label, name)
            elif lookup != "n":
                few, many = (size(service, endpoint, item, name, n) for n in (20, LONGER))
                compared += few is not None
                assert few is None or (many is not None and many < few + 400), (endpoint.label, name)
    assert bounded > 1000 and compared > 500


def test_lists_of_addresses_and_of_networks_are_bounded(api: Api) -> None:
    path = "/api/ipam/ip-addresses/query/"
    hosts = [f"10.0.{n // 250}.{n % 250 + 1}" for n in range(MAX + 1)]
    made = api.post("/api/ipam/ip-addresses/", {"address": "10.0.1.7/32", "status": "active"})
    for name in ("address", "host", "host__iexact"):
        found = api.send("POST", path, {name: hosts}, status=200).json["results"]
        assert made["id"] in {one["id"] for one in found}, name
    found = api.send("POST", path, {"address": [f"{host}/32" for host in hosts]}, status=200).json["results"]
    assert made["id"] in {one["id"] for one in found}
    for name, given in (
        ("host__net_in", ",".join(hosts)),
        ("host__net_contains", hosts[:20]),
        ("host__net_host", hosts[:20]),
        ("host__net_contained", hosts),
        ("host__startswith", hosts),
    ):
        assert api.send("POST", path, {name: given}, status=400).json == {name: [TOO_MANY]}
        few = given[:300] if isinstance(given, str) else given[:5]
        assert api.send("POST", path, {name: few.rstrip(",0.") if isinstance(few, str) else few}, status=200).json


def test_all_parameters_of_a_filter_count_together(api: Api) -> None:
    half = MANY[: MAX // 2 + 1]
    answer = api.send("POST", f"{SITES}query/", {"name__ic": half, "name": MANY, "slug__n": MANY, "slug__ic": half})
    assert (answer.status_int, answer.json) == (400, {"slug__ic": [TOO_MANY]})
    assert api.send("POST", f"{SITES}query/", {"name__ic": MANY[:-1], "name": MANY}, status=200).json["count"] == 0


def test_a_setting_bounds_the_values_of_every_filter(service: Service, api: Api) -> None:
    with service.configured(max_compared_values=3):
        refused = parameters.TOO_MANY.format(most=3)
        for path in (SITES, f"{SITES}?name=zz"):
            assert api.send("GET", path, query={"name__ic": MANY[:4]}, status=400).json == {"name__ic": [refused]}
        assert api.send("GET", SITES, query={"name__ic": MANY[:3]}, status=200).json["count"] == 0
        given = {"name": "zz few", "slug": "zz-few", "content_type": "dcim.site", "filter": {"name__ic": MANY[:4]}}
        assert api.post(GROUPS, given, status=400) == {"name__ic": [refused]}
        permission = {"name": "zz few", "object_types": ["dcim.site"], "actions": ["view"]}
        lookups = [{"name__icontains": text} for text in MANY[:4]]
        assert "at most 3" in str(
            api.post("/api/users/permissions/", permission | {"constraints": lookups}, status=400)
        )


def test_regular_expressions_count_by_their_length(service: Service, api: Api) -> None:
    """One in each of many parameters too: one value of a short text counts as none."""
    fields = [item.name for item in service.registry["dcim.site"].filters.values() if "re" in item.lookups]
    query = {f"{name}__{lookup}": "z" * 990 for name in fields for lookup in ("re", "nre", "ire", "nire")}
    with service.configured(max_compared_values=len(fields)):
        answer = api.send("POST", f"{SITES}query/", query, status=400).json
        assert list(answer.values()) == [[parameters.TOO_MANY.format(most=len(fields))]]
        assert api.send("POST", f"{SITES}query/", dict.fromkeys(query, "zz"), status=200).json["count"] == 0


@pytest.mark.parametrize("lookup", ["re", "nre", "ire", "nire"])
def test_each_of_several_regular_expressions_counts_four_times(api: Api, lookup: str) -> None:
    name = f"name__{lookup}"
    answer = api.send("POST", f"{SITES}query/", {name: MANY[: MAX // 4 + 1]}, status=400)
    assert answer.json == {name: [TOO_MANY]}
    api.send("POST", f"{SITES}query/", {name: MANY[: MAX // 4]}, status=200)


def test_each_text_of_a_search_counts_ten_times_for_each_field(service: Service, api: Api) -> None:
    """It is looked for as a part of texts, along references, too; one text alone is always taken."""
    fields = len(service.registry["dcim.device"].filters["q"].searched)
    most = MAX // (10 * fields)
    path = "/api/dcim/devices/"
    assert api.get(path, {"q": MANY[: most + 1]}, status=400) == {"q": [TOO_MANY]}
    assert api.send("POST", f"{path}query/", {"q": MANY[: most + 1]}, status=400).json == {"q": [TOO_MANY]}
    assert api.get(path, {"q": MANY[:most]})["count"] == 0
    with service.configured(max_compared_values=1):
        assert api.get(path, {"q": "zz none"})["count"] == 0


def of_query(name: str, count: int, inner: str = "sites({}:$n){{id}}") -> str:
    """A GraphQL query whose variable is given to a filter of so many fields."""
    fields = " ".join(f"a{number}: {inner.format(name)}" for number in range(count))
    return f"query($n: [String]) {{ {fields} }}"


@pytest.mark.parametrize(
    ("text", "values", "refusal"),
    [
        (of_query("name__ic", 3), MANY[: MAX // 2], TOO_MANY_TERMS),
        (of_query("name", 2), ["no such site"] * (MAX_VALUES // 2 + 1), TOO_MANY_VALUES),
        (of_query("name__ic", 2, "regions {{ sites({}:$n) {{ id }} }}"), MANY[: MAX // 2 + 1], TOO_MANY_TERMS),
    ],
)
def test_filters_of_all_fields_of_a_query_count_together(
    api: Api, make: Any, statements: Any, text: str, values: list[str], refusal: str
) -> None:
    make("/api/dcim/regions/")
    with statements() as found:
        answer = api.post("/api/graphql/", {"query": text, "variables": {"n": values}}, status=400)
    assert [error["message"] for error in answer["errors"]] == [refusal]
    assert most_likes(found) <= MAX
    few = {"query": text, "variables": {"n": values[: MAX // 3]}}
    assert "errors" not in api.post("/api/graphql/", few, status=200)


@pytest.mark.night
def test_every_way_to_give_a_filter_has_the_bound(
    service: Service, api: Api, browser: Browser, make: Any, unique: Unique, statements: Any
) -> None:
    """Lists by URL and by body, CSV, pages, GraphQL, the members of a group, groups and relationships."""
    empty, name = make(GROUPS, content_type="dcim.site", filter={}), unique()
    ends = {"source_type": "dcim.site", "destination_type": "dcim.rack", "type": "one-to-many"}
    graphql = {"query": "query($n: [String]) { sites(name__ic: $n) { id } }", "variables": {"n": MANY}}
    with statements() as found:
        for path, query in ((SITES, {}), (f"{empty['url']}members/", {}), (SITES, {"format": "csv"})):
            assert TOO_MANY in api.send("GET", path, query={"name__ic": MANY, **query}, status=400).text
        assert api.send("POST", f"{SITES}query/", {"name__ic": MANY}, status=400).json == {"name__ic": [TOO_MANY]}
        assert TOO_MANY in api.send("POST", "/api/graphql/", graphql).text
        given = {"name": name, "slug": name, "content_type": "dcim.site", "filter": {"name__ic": MANY}}
        assert api.post(GROUPS, given, status=400) == {"name__ic": [TOO_MANY]}
        given = {"name": name, "slug": name, **ends, "source_filter": {"name__ic": MANY}}
        assert TOO_MANY in str(api.post("/api/extras/relationships/", given, status=400))
        assert TOO_MANY in browser.get("/dcim/sites/?" + "&".join(f"name__ic={value}" for value in MANY)).html.text
    assert most_likes(found) < 50
    api.delete(empty["url"])


def test_constraints_of_permissions_are_bounded(api: Api, unique: Unique) -> None:
    base = {"object_types": ["dcim.site"], "actions": ["view"], "users": [], "groups": []}
    path = "/api/users/permissions/"
    for constraints in (
        [{"name__icontains": value} for value in MANY],
        [{"name__icontains": value, "slug": value} for value in MANY[:300]],
    ):
        body = {"name": unique(), **base, "constraints": constraints}
        assert "at most 500 lookups" in str(api.post(path, body, status=400)["constraints"])
    for constraints in ([{"name__icontains": value} for value in MANY[:-1]], {"name__in": MANY}):
        made = api.post(path, {"name": unique(), **base, "constraints": constraints})
        api.delete(made["url"])
