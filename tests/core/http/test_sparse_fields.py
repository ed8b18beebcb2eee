"""The parameter ``fields`` of lists and objects."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from netinv_testing import Api, Samples, Service, Unique

pytestmark = pytest.mark.any_database  # members of representations

SITES, DEVICES, ADDRESSES, GROUPS = (
    "/api/dcim/sites/",
    "/api/dcim/devices/",
    "/api/ipam/ip-addresses/",
    "/api/extras/dynamic-groups/",
)


@pytest.fixture(scope="session")
def device(service: Service) -> dict[str, Any]:
    """A device."""
    return Samples(service).make(service.registry["dcim.device"])


def test_members_of_references_are_chosen_after_a_dot(api: Api, device: dict[str, Any]) -> None:
    query = {"fields": "site.name,device_type.manufacturer.slug,status.value,name"}
    expected = {
        "name": device["name"],
        "device_type": {"manufacturer": {"slug": device["device_type"]["manufacturer"]["slug"]}},
        "site": {"name": device["site"]["name"]},
        "status": {"value": device["status"]["value"]},
    }
    assert api.get(f"{DEVICES}{device['id']}/", query) == expected
    repeated = {"id": device["id"], "fields": query["fields"].split(","), "cursor": "", "ordering": "-name"}
    assert api.get(DEVICES, repeated)["results"] == [expected]
    assert api.post(f"{DEVICES}query/", repeated, status=200)["results"] == [expected]
    whole = api.get(DEVICES, {"id": device["id"], "fields": ["site.name,site", ""]})["results"]
    assert whole == [{"site": device["site"]}]


def test_tables_that_no_chosen_member_needs_are_not_joined(service: Service, api: Api, device: dict[str, Any]) -> None:
    """A device type is shown with its manufacturer, unless one asks for the slug alone."""
    for fields, joined in (("device_type", True), ("device_type.slug", False), ("device_type.manufacturer.id", True)):
        with service.statements() as statements:
            api.get(f"{DEVICES}{device['id']}/", {"fields": fields})
        assert ("dcim_manufacturer" in statements[-1]) is joined
        assert "dcim_site" not in statements[-1]


def test_fields_of_other_parameters_are_shown_too(api: Api, device: dict[str, Any]) -> None:
    """``include`` adds to the names, ``exclude`` takes from them; a name alone includes what is not shown usually."""
    path = f"{DEVICES}{device['id']}/"
    added = api.get(path, {"fields": "name", "include": ["computed_fields", "etag"]})
    assert added.keys() == {"name", "computed_fields", "_etag"}
    assert api.get(path, {"fields": "name,config_context", "exclude": "config_context"}).keys() == {"name"}
    assert api.get(path, {"fields": "relationships"}).keys() == {"relationships"}
    assert api.get(DEVICES, {"id": device["id"], "fields": "name", "include": "etag"})["results"][0].keys() == {
        "name",
        "_etag",
    }


def test_tags_of_some_fields_meet_the_condition_of_a_write(api: Api, device: dict[str, Any]) -> None:
    path, query = f"{DEVICES}{device['id']}/", {"fields": "name"}
    tag = api.send("GET", path, query=query, status=200).headers["ETag"]
    api.send("GET", path, query=query, headers={"If-None-Match": tag}, status=304)
    api.patch(path, {"comments": "x"}, headers={"If-Match": tag})
    api.patch(path, {"comments": "y"}, headers={"If-Match": tag}, status=412)


def test_older_versions_convert_what_is_asked_for(service: Service, api: Api, unique: Unique) -> None:
    """The first outside address in version 1.2, all in later ones; without the field nothing of it is read."""
    inside = api.post(ADDRESSES, {"address": f"{unique.ipv6()}::1/64", "status": "active"})
    outside = api.post(ADDRESSES, {"address": f"{unique.ipv6()}::1/64", "status": "active", "nat_inside": inside["id"]})
    path, named = f"{ADDRESSES}{inside['id']}/", {"address": outside["address"]}
    query = {"fields": "nat_outside.address"}
    assert api.get(path, query, version="1.2") == {"nat_outside": named}
    assert api.get(path, query) == {"nat_outside": [named]}
    with service.statements() as statements:
        assert api.get(path, {"fields": "address"}, version="1.2") == {"address": inside["address"]}
    assert len(statements) == 2


def test_what_a_user_may_not_view_is_not_chosen_either(service: Service, api: Api, device: dict[str, Any]) -> None:
    """No name leads beyond what the whole representation shows, and secrets have none."""
    limited = service.user(("view", "dcim.device")).api
    path = f"{DEVICES}{device['id']}/"
    whole = limited.get(path)
    for name in whole:
        assert limited.get(path, {"fields": name}) == {name: whole[name]}
    assert list(limited.get(path, {"fields": "site.facility"}, status=400)) == ["fields"]
    assert list(api.get("/api/users/users/", {"fields": "password"}, status=400)) == ["fields"]
    limited.get(SITES, {"fields": "name"}, status=403)


def test_other_forms_of_a_list_have_fields_or_refuse_them(api: Api, device: dict[str, Any], make: Any) -> None:
    query = {"id": device["id"], "fields": "site.name"}
    expected = [{"site": {"name": device["site"]["name"]}}]
    as_yaml = api.send("GET", DEVICES, query={**query, "format": "yaml"}, status=200)
    assert yaml.safe_load(as_yaml.body) == expected
    assert list(api.get(DEVICES, {**query, "format": "csv"}, status=400)) == ["fields"]
    page = api.send("GET", DEVICES, query=query, headers={"Accept": "text/html"}, status=200)
    assert device["site"]["name"] in page.text
    group = make(GROUPS, content_type="dcim.device", filter={"q": device["name"]})
    api.get(f"{GROUPS}{group['id']}/members/", {"fields": "name"})
    path = f"{DEVICES}{device['id']}/"
    time = api.get(f"{path}history/")["results"][-1]["time"]
    past = api.get(path, {"fields": "site.name", "as_of": time})
    assert past == expected[0]
