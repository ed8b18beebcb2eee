"""The specification's sections "Endpoints" and "Root and documentation", one test for each row and sentence."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique

TENANTS, GROUPS, PREFIXES = "/api/tenancy/tenants/", "/api/tenancy/tenant-groups/", "/api/ipam/prefixes/"
MODELS = (
    "circuits.provider",
    "dcim.site",
    "dcim.device",
    "ipam.vlan",
    "tenancy.tenant",
    "virtualization.virtualmachine",
)
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def tenants(api: Api, unique: Unique) -> list[Any]:
    """Three tenants, as the list shows them."""
    names = sorted(unique() for _ in range(3))
    api.post(TENANTS, [{"name": name} for name in names])
    found: list[Any] = api.get(TENANTS, {"name": names, "ordering": "name"})["results"]
    return found


def now(api: Api, tenants: list[Any]) -> list[Any]:
    """The tenants as they are now, in the same order; without those that are gone."""
    found: list[Any] = api.get(TENANTS, {"id": [item["id"] for item in tenants], "ordering": "name"})["results"]
    return found


# -- Endpoints


@pytest.mark.parametrize("path", ["/api/dcim/sites", "/api/tenancy/tenants", "/api/ipam/prefixes"])
def test_a_path_without_its_trailing_slash_is_redirected(api: Api, path: str) -> None:
    """A trailing slash is required; omitting it returns a 302 redirect."""
    answer = api.send("GET", path, status=302)
    assert answer.headers["Location"].removeprefix("http://localhost") == f"{path}/"


def test_json_is_the_payload_format_in_both_directions(api: Api, unique: Unique) -> None:
    """JSON is the payload format; writes set the `Content-Type` header to application/json."""
    name = unique()
    answer = api.send("POST", TENANTS, b'{"name": "%s"}' % name.encode(), status=201)
    assert answer.request.content_type == answer.content_type == "application/json"
    other = {"Content-Type": "text/plain"}
    api.send("POST", TENANTS, b'{"name": "%s"}' % unique().encode(), headers=other, status=415)
    assert api.get(TENANTS, {"name": name})["count"] == 1


# -- Generic list and detail endpoints


@pytest.mark.parametrize("label", MODELS)
def test_get_of_a_list_is_a_paginated_object(service: Service, label: str) -> None:
    """GET list: `count` (integer, total matches), `next` (URL or null), `previous` (URL or null), `results`."""
    case = Case(service, label)
    made = case.make_many(3)
    first = case.list_of(made, limit=2)
    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    second = service.api.get(first["next"])
    assert (second["count"], len(second["results"]), second["next"]) == (3, 1, None)
    assert service.api.get(second["previous"])["results"] == first["results"]


def test_post_of_one_object_answers_with_the_created_object(api: Api, unique: Unique) -> None:
    """POST list: one JSON object: the created object."""
    name = unique()
    made = api.post(TENANTS, {"name": name, "description": "of the test"})
    shown = api.get(made["url"])
    assert (made["id"], made["name"], made["description"]) == (shown["id"], name, "of the test")


def test_post_of_a_list_answers_with_a_list_of_created_objects(api: Api, unique: Unique) -> None:
    """POST list: a JSON list of objects for a multiple create: a list of created objects."""
    names = [unique() for _ in range(3)]
    made = api.post(TENANTS, [{"name": name} for name in names])
    assert [item["name"] for item in made] == names
    assert {item["id"] for item in made} == {item["id"] for item in api.get(TENANTS, {"name": names})["results"]}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_bulk_update_changes_each_object_by_its_own_attributes(
    api: Api, tenants: list[Any], unique: Unique, method: str
) -> None:
    """PUT or PATCH list: objects, each with `id` plus the attributes to change, which may differ per object. A bulk
    update with PUT or PATCH on the list path uses the same shape.
    """
    first, second, third = tenants
    name = f"{first['name']}{unique()}"
    mandatory = [{"name": item["name"], "slug": item["slug"]} if method == "PUT" else {} for item in (first, second)]
    changes = [{"id": first["id"], "name": name}, {"id": second["id"], "description": "changed"}]
    body = [required | change for required, change in zip(mandatory, changes, strict=True)]
    api.send(method, TENANTS, body, status=200)
    assert [(item["name"], item["description"]) for item in now(api, tenants)] == [
        (name, ""),
        (second["name"], "changed"),
        (third["name"], ""),
    ]


def test_a_bulk_delete_deletes_the_listed_objects(api: Api, tenants: list[Any]) -> None:
    """DELETE list: list of objects, each {id}."""
    api.delete(TENANTS, [{"id": item["id"]} for item in tenants[:2]])
    assert [item["id"] for item in now(api, tenants)] == [tenants[2]["id"]]


@pytest.mark.parametrize("label", MODELS)
def test_get_of_a_detail_path_is_one_object(service: Service, label: str) -> None:
    """GET detail: one object."""
    case = Case(service, label)
    made = case.make()
    shown = service.api.get(f"{case.path}{made['id']}/")
    assert (shown["id"], shown["display"]) == (made["id"], made["display"])
    service.api.get(f"{case.path}{case.nobody()}/", status=404)


def test_put_of_a_detail_path_answers_with_the_updated_object(api: Api, tenants: list[Any], unique: Unique) -> None:
    """PUT detail: complete representation: the updated object."""
    name, item = unique(), tenants[0]
    changed = api.put(item["url"], {**item, "name": name})
    assert (changed["id"], changed["name"], changed["slug"]) == (item["id"], name, item["slug"])
    assert api.get(item["url"])["name"] == name


def test_patch_of_a_detail_path_answers_with_the_updated_object(api: Api, tenants: list[Any]) -> None:
    """PATCH detail: only the attributes to change: the updated object."""
    item = tenants[0]
    changed = api.patch(item["url"], {"description": "changed"})
    assert (changed["id"], changed["name"], changed["description"]) == (item["id"], item["name"], "changed")
    assert api.get(item["url"])["description"] == "changed"


def test_delete_of_a_detail_path_is_204_without_data(api: Api, tenants: list[Any]) -> None:
    """DELETE detail: no body: 204 No Content, no data."""
    answer = api.send("DELETE", tenants[0]["url"], status=204)
    assert answer.body == b""
    api.get(tenants[0]["url"], status=404)
    assert len(now(api, tenants)) == 2


@pytest.mark.parametrize("body", [b"{}", b'[{"id": 1}]', b"x"])
def test_a_body_of_a_delete_of_one_object_is_ignored_or_refused(
    service: Service, api: Api, tenants: list[Any], body: bytes
) -> None:
    """DELETE detail: no body allowed. It changes nothing; where bodies are strict it is 400 and deletes nothing."""
    with service.configured(strict_bodies=True):
        refused = api.send("DELETE", tenants[0]["url"], body, status=400).json
        assert refused == {"non_field_errors": ["DELETE of one object takes no body."]}
    assert len(now(api, tenants)) == 3
    api.send("DELETE", tenants[0]["url"], body, status=204)
    assert len(now(api, tenants)) == 2


# -- OPTIONS


@pytest.mark.parametrize("kind", ["list", "detail"])
def test_options_tells_actions_and_parameters_of_a_list_or_detail_path(api: Api, tenants: list[Any], kind: str) -> None:
    """OPTIONS: list or detail path: supported actions and parameters."""
    path, method = (TENANTS, "POST") if kind == "list" else (tenants[0]["url"], "PUT")
    parameters = api.options(path)["actions"][method]
    assert [parameters["name"][key] for key in ("type", "required")] == ["string", True]
    assert [parameters["id"][key] for key in ("required", "read_only")] == [False, True]


@pytest.mark.parametrize(
    ("path", "field", "choice"),
    [
        ("/api/dcim/sites/", "status", {"value": "active", "display": "Active"}),
        (PREFIXES, "status", {"value": "container", "display": "Container"}),
        ("/api/dcim/racks/", "width", {"value": 19, "display": "19 inches"}),
    ],
)
def test_options_tells_the_choices_of_a_choice_field(api: Api, path: str, field: str, choice: Any) -> None:
    """OPTIONS: choices of a choice field are at actions.POST.<field>.choices, a list of {value, display}."""
    choices = api.options(path)["actions"]["POST"][field]["choices"]
    assert choice in choices
    assert all(item.keys() == {"value", "display"} for item in choices)


def test_options_tells_choices_to_those_who_may_post_only(service: Service) -> None:
    """OPTIONS: requires a token permitted to POST there."""
    reader = service.user(("view", "tenancy.tenant")).api.options(TENANTS)
    writer = service.user(("view add", "tenancy.tenant")).api.options(TENANTS)
    assert "POST" not in reader.get("actions", {})
    assert "name" in writer["actions"]["POST"]
    service.anonymous.options(TENANTS, status=(401, 403))


# -- All or none


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("fault", ["value", "id"])
def test_a_bulk_update_with_one_failure_changes_nothing(api: Api, tenants: list[Any], method: str, fault: str) -> None:
    """Bulk update is all-or-none: when any listed object fails (validation error), no object changes."""
    body = [{"id": item["id"], "name": item["name"], "description": "changed"} for item in tenants]
    if fault == "value":
        body[1]["name"] = ""
    else:
        body[1]["id"] = NOBODY
    api.send(method, TENANTS, body, status=(400, 404))
    assert [(item["name"], item["description"]) for item in now(api, tenants)] == [
        (item["name"], "") for item in tenants
    ]


def test_a_bulk_delete_with_one_dependency_deletes_nothing(service: Service, api: Api, tenants: list[Any]) -> None:
    """Bulk delete is all-or-none: a dependency by a related object on delete aborts the whole operation."""
    Case(service, "dcim.site").make(tenant=tenants[1]["id"])
    api.delete(TENANTS, [{"id": item["id"]} for item in tenants], status=409)
    assert [item["id"] for item in now(api, tenants)] == [item["id"] for item in tenants]


def test_interfaces_of_a_device_are_listed_by_its_id(service: Service) -> None:
    """Interfaces of a device are listed with GET /api/dcim/interfaces/?device_id=<device_id>."""
    case = Case(service, "dcim.interface")
    device, other = (Case(service, "dcim.device").make() for _ in range(2))
    made = {case.make(device=device["id"])["id"] for _ in range(2)}
    case.make(device=other["id"])
    page = service.api.get(case.path, {"device_id": device["id"]})
    assert (page["count"], {item["id"] for item in page["results"]}) == (2, made)


# -- Root and documentation


def test_the_root_lists_the_applications(api: Api) -> None:
    """GET /api/: API root listing applications."""
    named = {"circuits", "dcim", "extras", "ipam", "plugins", "tenancy", "users", "virtualization"}
    root = api.get("/api/")
    assert root.keys() >= named
    assert api.get(root["ipam"])["prefixes"] == f"http://localhost{PREFIXES}"


def test_the_documentation_is_a_page_that_a_browser_loads(api: Api) -> None:
    """GET /api/docs/: interactive documentation."""
    page = api.send("GET", "/api/docs/", headers={"Accept": "text/html"}, version=None, status=200)
    script = page.html.select_one("script[src]")["src"]
    assert "javascript" in api.send("GET", f"/api/docs/{script}", version=None, status=200).content_type


@pytest.mark.parametrize("version", ["1.2", "1.3", "1.4"])
@pytest.mark.parametrize("path", ["/api/", "/api/docs/"])
def test_root_and_documentation_show_a_specific_version(api: Api, path: str, version: str) -> None:
    """Both accept the query parameter api_version=<major.minor> to show a specific API version."""
    media = {"Accept": "text/html"} if path.endswith("docs/") else {"Accept": "application/json"}
    answer = api.send("GET", path, query={"api_version": version}, version=None, headers=media, status=200)
    assert answer.headers["API-Version"] == version
    if path.endswith("docs/"):
        assert f'"urls.primaryName": "version {version}"' in answer.text
    api.send("GET", path, query={"api_version": "99.9"}, version=None, headers=media, status=(404, 406))
