"""Custom fields in the constraints of permissions: both spellings, each type and lookup, across references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

SITES, DEVICES, FIELDS = "/api/dcim/sites/", "/api/dcim/devices/", "/api/extras/custom-fields/"
PERMISSIONS = "/api/users/permissions/"
VALUES: dict[str, list[Any]] = {  # by type of field, the values of the sites; None for a site without
    "text": ["A", "a", "AB", "1", None],
    "integer": [1, 2, 10, -1, None],
    "boolean": [True, False, None, True, None],
    "date": ["2024-01-01", "2024-06-30", "2025-01-01", None, None],
    "json": [{"a": {"b": 1}, "-a": "y", "-": {"-1": 7}}, {"a": {"b": "x"}, "a-": "y"}, ["x", "y"], "x", None],
}
CASES: list[tuple[str, str, Any, list[int]]] = [  # type, lookup, value, the sites that are left
    ("text", "", "A", [0]),
    ("text", "__exact", "A", [0]),
    ("text", "", "1", [3]),
    ("text", "", None, [4]),
    ("text", "__iexact", "A", [0, 1]),
    ("text", "__contains", "A", [0, 2]),
    ("text", "__icontains", "a", [0, 1, 2]),
    ("text", "__startswith", "A", [0, 2]),
    ("text", "__iendswith", "b", [2]),
    ("text", "__regex", "^A.?$", [0, 2]),
    ("text", "__in", ["A", "1"], [0, 3]),
    ("text", "__in", [], []),
    ("text", "__isnull", True, [4]),
    ("text", "__isnull", False, [0, 1, 2, 3]),
    ("integer", "", 1, [0]),
    ("integer", "__in", [1, 10], [0, 2]),
    ("integer", "__gt", 1, [1, 2]),
    ("integer", "__lte", 1, [0, 3]),
    ("integer", "", None, [4]),
    ("boolean", "", True, [0, 3]),
    ("boolean", "", False, [1]),
    ("date", "__lt", "2024-12-31", [0, 1]),
    ("date", "", "2025-01-01", [2]),
    ("json", "__a__b", 1, [0]),
    ("json", "__a__b", "x", [1]),
    ("json", "__a-", "y", [1]),
    ("json", "__contains", ["x"], [2]),
    ("json", "", "x", [3]),
]
SUFFIXES: list[tuple[str, str, Any, list[int]]] = [  # those of the filters
    ("text", "__n", "A", [1, 2, 3, 4]),
    ("text", "__ic", "a", [0, 1, 2]),
    ("text", "__isw", "a", [0, 1, 2]),
    ("integer", "__gte", 2, [1, 2]),
]
REFUSED: list[tuple[str, str, Any]] = [
    ("text", "", 1),
    ("text", "__nope", "A"),
    ("text", "__regex", "("),
    ("text", "__contains", 1),
    ("integer", "", "one"),
    ("integer", "__in", 1),
    ("integer", "__gt", None),
    ("boolean", "", "yes"),
    ("date", "", "yesterday"),
    ("text", "__isnull", "perhaps"),
]


@pytest.fixture(scope="module")
def fields(service: Service) -> Iterator[dict[str, str]]:
    """The slug of a custom field of sites for each type; gone after the tests."""
    word = service.unique().lower()
    bodies = [
        {"label": f"{word} {kind}", "slug": f"{word}_{kind}", "type": kind, "content_types": ["dcim.site"]}
        for kind in VALUES
    ]
    made = service.api.post(FIELDS, bodies)
    yield {kind: item["slug"] for kind, item in zip(VALUES, made, strict=True)}
    service.api.delete(FIELDS, [{"id": item["id"]} for item in made])


@pytest.fixture(scope="module")
def sites(service: Service, fields: dict[str, str]) -> list[Any]:
    """Sites with the values."""
    word = service.unique()
    bodies = [
        {
            "name": f"{word} {number}",
            "facility": word,
            "status": "active",
            "custom_fields": {fields[kind]: values[number] for kind, values in VALUES.items()},
        }
        for number in range(5)
    ]
    return list(service.api.post(SITES, bodies))


@pytest.fixture(scope="session")
def limited(service: Service) -> Any:
    """``limited(label, constraints)``: a client that may view the objects that meet these."""
    clients: dict[str, tuple[Any, Any]] = {}

    def client(label: str, constraints: Any) -> Api:
        if label not in clients:
            user = service.user()
            clients[label] = user.api, service.permit("view", label, {"name": ""}, users=[user.id])
        api, permission = clients[label]
        service.api.patch(f"{PERMISSIONS}{permission['id']}/", {"constraints": constraints})
        return api

    return client


def positions(api: Api, sites: list[Any]) -> list[int]:
    """The positions of the sites that a client sees."""
    found = {item["id"] for item in api.get(SITES, {"facility": sites[0]["facility"]})["results"]}
    return [number for number, site in enumerate(sites) if site["id"] in found]


@pytest.mark.parametrize("spelling", ["_custom_field_data__{}", "cf_{}"])
@pytest.mark.night
def test_a_constraint_compares_the_value_of_a_custom_field(
    spelling: str, fields: dict[str, str], sites: list[Any], limited: Any
) -> None:
    for kind, lookup, value, expected in CASES + (SUFFIXES if spelling.startswith("cf_") else []):
        name = spelling.format(fields[kind]) + lookup
        assert (name, value, positions(limited("dcim.site", {name: value}), sites)) == (name, value, expected)
    both = [{spelling.format(fields["text"]): "A"}, {spelling.format(fields["integer"]): 2}]
    assert positions(limited("dcim.site", both), sites) == [0, 1]
    assert positions(limited("dcim.site", both[0] | both[1]), sites) == []


@pytest.mark.parametrize("spelling", ["site___custom_field_data__{}", "site__cf_{}"])
def test_a_constraint_follows_references_to_custom_fields(
    spelling: str, service: Service, fields: dict[str, str], sites: list[Any], limited: Any
) -> None:
    racks = service.api.post(
        "/api/dcim/racks/", [{"name": service.unique(), "site": site["id"], "status": "active"} for site in sites]
    )
    api = limited("dcim.rack", {f"{spelling.format(fields['text'])}__startswith": "A"})
    found = {item["id"] for item in api.get("/api/dcim/racks/", {"id": [rack["id"] for rack in racks]})["results"]}
    assert found == {racks[0]["id"], racks[2]["id"]}


def test_writes_stay_within_the_constraint(service: Service, fields: dict[str, str], unique: Unique) -> None:
    name = fields["text"]
    user = service.user(("view add change", "dcim.site", {f"_custom_field_data__{name}": "A"}))
    body = {"name": unique(), "status": "active"}
    user.api.post(SITES, {**body, "custom_fields": {name: "B"}}, status=403)
    site = user.api.post(SITES, {**body, "custom_fields": {name: "A"}})
    user.api.patch(site["url"], {"custom_fields": {name: "B"}}, status=403)
    assert user.api.patch(site["url"], {"description": "within"})["description"] == "within"


@pytest.mark.parametrize("spelling", ["_custom_field_data__{}", "cf_{}"])
def test_what_a_constraint_cannot_be_is_refused_by_its_name(spelling: str, api: Api, fields: dict[str, str]) -> None:
    def refused(name: str, value: Any, label: str = "dcim.site") -> str:
        body = {"name": "refused", "object_types": [label], "actions": ["view"], "constraints": {name: value}}
        return str(api.post(PERMISSIONS, body, status=400)["constraints"])

    for kind, lookup, value in REFUSED:
        name = spelling.format(fields[kind]) + lookup
        assert name in refused(name, value)
    assert "nosuchfield" in refused(spelling.format("nosuchfield"), 1)
    assert fields["text"] in refused(spelling.format(fields["text"]), "A", "dcim.rack")


@pytest.mark.parametrize(("names", "value"), [("-a", "y"), ("-__-1", 7)])
def test_a_member_whose_name_begins_with_a_hyphen_is_found_or_refused(
    service: Service, fields: dict[str, str], sites: list[Any], limited: Any, names: str, value: Any
) -> None:
    """MariaDB finds no such member, whatever it holds: a constraint that can never hold is not stored."""
    constraints = {f"cf_{fields['json']}__{names}": value}
    if service.engine.dialect.name in ("mysql", "mariadb"):
        body = {"name": "refused", "object_types": ["dcim.site"], "actions": ["view"], "constraints": constraints}
        assert "begins with a hyphen" in str(service.api.post(PERMISSIONS, body, status=400)["constraints"])
    else:
        shown = limited("dcim.site", constraints).get(SITES, {"limit": 0})["results"]
        assert [site["id"] for site in shown] == [sites[0]["id"]]


def test_the_name_alone_is_no_constraint(api: Api) -> None:
    for name in ("_custom_field_data", "cf_", "_custom_field_data__", "custom_field_data__x", "site__cf_x__y"):
        body = {"name": "refused", "object_types": ["dcim.site"], "actions": ["view"], "constraints": {name: "A"}}
        assert name.partition("__")[0] in str(api.post(PERMISSIONS, body, status=400)["constraints"])


def test_the_number_of_statements_does_not_grow(
    service: Service, fields: dict[str, str], sites: list[Any], limited: Any, statements: Any
) -> None:
    numbers = []
    for constraints in ({"name__isnull": False}, {f"cf_{fields['text']}__isnull": False}):
        client = limited("dcim.site", constraints)
        client.get(SITES, {"count": "none"})  # only lists of more than a page are counted
        with statements() as found:
            client.get(SITES, {"count": "none"})
        numbers.append(len(found))
    assert numbers[0] == numbers[1]
