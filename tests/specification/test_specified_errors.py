"""Errors and limits: a test for each row of the specification's tables."""

from __future__ import annotations

import re
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique

TENANTS, GROUPS, TOKENS = "/api/tenancy/tenants/", "/api/tenancy/tenant-groups/", "/api/users/tokens/"
SITES, RACKS, CUSTOM_FIELDS = "/api/dcim/sites/", "/api/dcim/racks/", "/api/extras/custom-fields/"

# -- errors


def test_an_absent_token_is_403_with_a_detail(anonymous: Api) -> None:
    """ "Token required but absent: 403 Forbidden; body has ``detail`` stating that credentials were not provided"."""
    assert "credentials were not provided" in anonymous.get(TENANTS, status=403)["detail"]


def test_an_unrecognized_filter_is_400(api: Api, configured: Any) -> None:
    """ "Unrecognized filter parameter with ``STRICT_FILTERING`` true: 400 Bad Request"."""
    for strict, status in ((True, 400), (False, 200)):
        with configured(strict_filtering=strict):
            api.get(TENANTS, {"colour": "red", "limit": 1}, status=status)


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_detail_without_its_slash_is_a_302_redirect(api: Api, unique: Unique, method: str) -> None:
    """ "Detail path requested without trailing slash: 302 redirect"."""
    tenant = api.get(api.post(TENANTS, {"name": unique()})["url"])
    response = api.send(method, tenant["url"].rstrip("/"), status=302)
    assert response.headers["Location"] == tenant["url"].removeprefix("http://localhost")
    assert api.get(tenant["url"]) == tenant


@pytest.mark.parametrize("matching", [0, 2])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_attributes_that_match_not_exactly_one_object_are_an_error(
    api: Api, unique: Unique, method: str, matching: int
) -> None:
    """ "Nested related-object attributes match zero or several objects: validation error"."""
    name = unique()
    sites = api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(2)])
    for site in sites[:matching]:
        api.post(RACKS, {"name": name, "site": site["id"], "status": "active"})
    role = api.post("/api/dcim/device-roles/", {"name": unique()})["id"]
    maker = api.post("/api/dcim/manufacturers/", {"name": unique()})["id"]
    model = api.post("/api/dcim/device-types/", {"manufacturer": maker, "model": unique()})["id"]
    device = {"name": unique(), "device_role": role, "device_type": model, "site": sites[0]["id"], "status": "active"}
    rack = {"rack": {"name": name}}
    if method == "POST":
        assert list(api.post("/api/dcim/devices/", {**device, **rack}, status=400)) == ["rack"]
    else:
        made = api.post("/api/dcim/devices/", device)
        assert list(api.patch(made["url"], rack, status=400)) == ["rack"]
        assert api.get(made["url"])["rack"] is None


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_one_invalid_object_aborts_a_bulk_update(api: Api, unique: Unique, method: str) -> None:
    """ "Any object in a bulk update … fails: whole operation aborted, nothing changed"."""
    made = api.post(TENANTS, [{"name": unique()} for _ in range(3)])
    tenants = [api.get(item["url"]) for item in made]
    bodies = [{"id": item["id"], "name": unique()} for item in tenants[:2]] + [{"id": tenants[2]["id"], "name": ""}]
    api.send(method, TENANTS, bodies, status=400)
    assert [api.get(item["url"]) for item in tenants] == tenants


def test_one_object_in_use_aborts_a_bulk_delete(api: Api, unique: Unique) -> None:
    """ "Any object in a bulk … delete fails: whole operation aborted, nothing changed"."""
    makers = api.post("/api/dcim/manufacturers/", [{"name": unique()} for _ in range(3)])
    api.post("/api/dcim/device-types/", {"manufacturer": makers[1]["id"], "model": unique()})
    answer = api.send("DELETE", "/api/dcim/manufacturers/", [{"id": item["id"]} for item in makers])
    assert answer.status_int in range(400, 500)
    assert [api.get(item["url"])["name"] for item in makers] == [item["name"] for item in makers]


def test_a_successful_delete_is_204_with_an_empty_body(api: Api, unique: Unique) -> None:
    """ "Successful DELETE of an object: 204 No Content, empty body"."""
    tenant = api.post(TENANTS, {"name": unique()})
    response = api.send("DELETE", tenant["url"], status=204)
    assert response.body == b""
    api.get(tenant["url"], status=404)


# -- limits


@pytest.fixture(scope="session")
def crowd(service: Service) -> str:
    """Prefix of the names of 1001 tags."""
    word = service.unique()
    service.api.post(
        "/api/extras/tags/",
        [
            {"name": f"{word} {number}", "slug": f"{word}-{number}", "content_types": ["dcim.site"]}
            for number in range(1001)
        ],
    )
    return word


def sizes(api: Api, word: str, **query: Any) -> tuple[int, int]:
    page = api.get("/api/extras/tags/", {"slug__isw": f"{word}-", "brief": 1, **query})
    return len(page["results"]), page["count"]


def test_the_default_page_size_is_50(api: Api, crowd: str) -> None:
    """ "Default page size (``PAGINATE_COUNT``): 50"."""
    assert sizes(api, crowd) == (50, 1001)


def test_the_maximum_page_size_is_1000(api: Api, crowd: str) -> None:
    """ "Maximum page size (``MAX_PAGE_SIZE``): 1000"."""
    assert sizes(api, crowd, limit=1000) == (1000, 1001)
    assert sizes(api, crowd, limit=1001) == (1000, 1001)


@pytest.mark.parametrize("nothing", [0, None])
def test_without_a_maximum_limit_0_returns_everything(
    api: Api, crowd: str, configured: Any, nothing: int | None
) -> None:
    """ "0 or None removes it, after which ``limit=0`` returns everything"."""
    with configured(max_page_size=nothing):
        assert sizes(api, crowd, limit=0) == (1001, 1001)


def test_a_key_has_160_bits(make_user: Any) -> None:
    """ "Token key length: 40 hexadecimal characters (160 bits)"."""
    key = make_user(("view add", "users.token")).api.post(TOKENS, {})["key"]
    assert re.fullmatch("[0-9a-f]{40}", key) and len(bytes.fromhex(key)) * 8 == 160


def test_the_expiry_of_a_token_is_optional(make_user: Any) -> None:
    """ "Token expiry: optional per token"."""
    mine = make_user(("view add", "users.token")).api
    assert mine.post(TOKENS, {"expires": None})["expires"] is None
    assert mine.post(TOKENS, {"expires": "2099-01-01T00:00:00Z"})["expires"].startswith("2099-01-01T00:00:00")


def test_a_custom_field_filter_takes_one_value(api: Api, unique: Unique) -> None:
    """ "Single-valued custom field filter without lookups: one value per filter"."""
    name = f"cf{unique()}"
    body = {"name": name, "slug": name, "label": name, "type": "integer", "content_types": ["tenancy.tenant"]}
    field = api.post(CUSTOM_FIELDS, body)
    made = api.post(TENANTS, [{"name": unique(), "custom_fields": {name: number}} for number in (1, 2)])
    query = [*(("id", item["id"]) for item in made), (f"cf_{name}", "1"), (f"cf_{name}", "2")]
    refused, found = api.get(TENANTS, query, status=400), api.get(TENANTS, query[:-1])
    api.delete(field["url"])
    assert list(refused) == [f"cf_{name}"]
    assert [item["id"] for item in found["results"]] == [made[0]["id"]]
