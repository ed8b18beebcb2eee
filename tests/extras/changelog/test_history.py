"""The history of an object, and the fields that changed since somebody read it."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from netinv_core.changelog.differences import differences
from netinv_core.changelog.later_changes import FieldChange, changes_since
from netinv_testing import Api, Service, Unique

SITES, TENANTS = "/api/dcim/sites/", "/api/tenancy/tenants/"


@pytest.fixture
def site(api: Api, unique: Unique) -> Any:
    """A site."""
    return api.post(SITES, {"name": unique(), "status": "active"})


def history(api: Api, site: Any, **query: Any) -> Any:
    """A page of the history of a site."""
    return api.get(f"{SITES}{site['id']}/history/", query)


def texts(entry: Any) -> dict[str, tuple[str, str]]:
    """The texts of an entry's changes, before and after, by field."""
    return {item["field"]: (item["before_text"], item["after_text"]) for item in entry["changes"]}


def since(service: Service, item: Any) -> dict[str, FieldChange]:
    """The changes of a site since this version of it."""
    moment = datetime.datetime.fromisoformat(item["last_updated"])
    with service.unit_of_work() as uow:
        endpoint = uow.registry["dcim.site"]
        return changes_since(uow, endpoint, endpoint.parse_key(item["id"]), moment)


def test_changes_are_listed_by_field_with_texts_newest_first(
    api: Api, service: Service, unique: Unique, site: Any
) -> None:
    tenant = api.post(TENANTS, {"name": unique()})
    tag = api.post("/api/extras/tags/", {"name": unique(), "slug": unique(), "content_types": ["dcim.site"]})
    path = f"{SITES}{site['id']}/"
    api.patch(path, {"status": "planned", "tenant": tenant["id"], "tags": [tag["id"]], "asn": 64512})
    page = history(api, site)
    assert [entry["action"] for entry in page["results"]] == ["update", "create"]
    update, create = page["results"]
    assert update["user_name"] == service.admin.username
    assert texts(update) == {
        "status": ("Active", "Planned"),
        "tenant": ("", tenant["name"]),
        "tags": ("", tag["name"]),
        "asn": ("", "64512"),
    }
    (status,) = [item for item in update["changes"] if item["field"] == "status"]
    assert status["before"] == {"value": "active", "label": "Active"}
    assert ("", site["name"]) in texts(create).values()


def test_pages_have_the_whole_count(api: Api, site: Any) -> None:
    for facility in "abc":
        api.patch(f"{SITES}{site['id']}/", {"facility": facility})
    page = history(api, site, limit=2, offset=1)
    assert page["count"] == 4 and page["next"] and page["previous"]
    assert [entry["changes"][0]["after"] for entry in page["results"]] == ["b", "a"]


def test_members_of_custom_fields_are_fields(api: Api, unique: Unique, site: Any) -> None:
    slug = unique()
    field = {"slug": slug, "name": slug, "label": slug, "type": "text", "content_types": ["dcim.site"]}
    api.post("/api/extras/custom-fields/", field)
    api.patch(f"{SITES}{site['id']}/", {"custom_fields": {slug: "x"}})
    (change,) = history(api, site)["results"][0]["changes"]
    assert (change["field"], change["before"], change["after"]) == (f"custom_fields.{slug}", None, "x")


def test_a_renamed_reference_is_no_change_of_the_object(api: Api, service: Service, unique: Unique) -> None:
    before = {"tenant": {"id": "1", "url": "/1/", "display": "a", "name": "a"}}
    after = {"tenant": {"id": "1", "url": "/1/", "display": "b", "name": "b"}, "device_count": 3}
    assert differences(service.registry, "dcim.site", before, after) == []
    assert [item.field for item in differences(service.registry, "gone.model", {"size": 1}, {"size": 2})] == ["size"]


def test_the_history_of_a_deleted_object_stays(api: Api, site: Any, make_user: Any) -> None:
    narrow = make_user(("view", "extras.objectchange"), ("view", "dcim.site", {"id": site["id"]}))
    assert history(narrow.api, site)["count"] == 1
    api.delete(f"{SITES}{site['id']}/")
    assert [entry["action"] for entry in history(api, site)["results"]] == ["delete", "create"]
    narrow.api.get(f"{SITES}{site['id']}/history/", status=404)


def test_it_takes_the_permission_to_view_the_object_and_its_changes(api: Api, site: Any, make_user: Any) -> None:
    path = f"{SITES}{site['id']}/history/"
    make_user(("view", "dcim.site")).api.get(path, status=403)
    make_user(("view", "extras.objectchange")).api.get(path, status=403)
    hidden = make_user(("view", "extras.objectchange"), ("view", "dcim.site", {"name": "another"}))
    hidden.api.get(path, status=404)
    api.get("/api/users/groups/1/history/", status=404)
    api.get(f"{SITES}00000000-0000-4000-8000-000000000000/history/", status=404)


def test_the_number_of_statements_does_not_grow_with_the_changes(api: Api, service: Service, site: Any) -> None:
    counts = []
    for facility in ("a", "b", "c", "d"):
        api.patch(f"{SITES}{site['id']}/", {"facility": facility})
        with service.statements() as statements:
            history(api, site)
        counts.append(len(statements))
    assert counts[0] == counts[-1]


def test_fields_that_others_changed_since_a_version_are_found_with_their_former_values(
    api: Api, service: Service, site: Any, make_user: Any
) -> None:
    path = f"{SITES}{site['id']}/"
    read = api.patch(path, {"facility": "a"})
    assert since(service, read) == {}
    other = make_user(("view change", "dcim.site"))
    other.api.patch(path, {"facility": "b", "description": "x"})
    other.api.patch(path, {"facility": "c", "description": ""})
    (change,) = since(service, read).values()
    assert (change.field, change.before, change.after) == ("facility", "a", "c")
    assert change.change.user_name == other.username
    api.delete(path)
    assert since(service, read)["name"].after is None
