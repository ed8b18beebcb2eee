"""Undo and history after definitions of attached fields changed: these are no changes of the objects."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique

CHANGES, SITES = "/api/extras/object-changes/", "/api/dcim/sites/"
DEFINITIONS = {
    "relationship": "/api/extras/relationships/",
    "custom field": "/api/extras/custom-fields/",
    "computed field": "/api/extras/computed-fields/",
}


def definition(kind: str, slug: str) -> dict[str, Any]:
    """A body for a definition of sites."""
    if kind == "relationship":
        ends = {"source_type": "dcim.site", "destination_type": "tenancy.tenant"}
        return {"name": slug, "slug": slug, "type": "many-to-many", **ends}
    if kind == "custom field":
        return {"name": slug, "slug": slug, "label": slug, "type": "text", "content_types": ["dcim.site"]}
    return {"label": slug, "slug": slug, "content_type": "dcim.site", "template": "{{ obj.name }}"}


def undo(api: Api, key: str, action: str, status: int = 200) -> Any:
    """The answer to the undo of the latest change of an object with an action."""
    query = {"changed_object_id": key, "action": action, "ordering": "-time", "limit": 1}
    (change,) = api.get(CHANGES, query)["results"]
    return api.post(f"{CHANGES}{change['id']}/revert/", status=status)


@pytest.fixture
def site(api: Api, unique: Unique) -> Any:
    """A site."""
    return api.post(SITES, {"name": unique(), "status": "active"})


@pytest.fixture
def tenant(api: Api, unique: Unique) -> Any:
    """A tenant."""
    return api.post("/api/tenancy/tenants/", {"name": unique()})


def associated(*tenants: Any) -> dict[str, Any]:
    """A side of a relationship with these tenants."""
    return {"destination": {"objects": [tenant["id"] for tenant in tenants]}}


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_definitions_of_later_are_no_change(kind: str, api: Api, unique: Unique, site: Any) -> None:
    path = f"{SITES}{site['id']}/"
    api.patch(path, {"facility": "B1"})
    api.post(DEFINITIONS[kind], definition(kind, unique()))
    undo(api, site["id"], "update")
    assert api.get(path)["facility"] == ""
    undo(api, site["id"], "create")
    undo(api, site["id"], "delete")
    assert api.get(path)["name"] == site["name"]


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_removed_definitions_are_no_change(kind: str, api: Api, unique: Unique, tenant: Any) -> None:
    slug = unique()
    defined = api.post(DEFINITIONS[kind], definition(kind, slug))
    values: dict[str, Any] = {
        "relationship": {"relationships": {slug: associated(tenant)}},
        "custom field": {"custom_fields": {slug: "x"}},
    }.get(kind, {})
    site = api.post(SITES, {"name": unique(), "status": "active", **values})
    path = f"{SITES}{site['id']}/"
    cleared = {"relationship": {"relationships": {slug: associated()}}, "custom field": {"custom_fields": {slug: None}}}
    api.patch(path, {"facility": "B1", **cleared.get(kind, {})})
    api.delete(f"{DEFINITIONS[kind]}{defined['id']}/")
    undo(api, site["id"], "update")
    assert api.get(path)["facility"] == ""
    undo(api, site["id"], "create")
    undo(api, site["id"], "delete")
    assert api.get(path)["name"] == site["name"]


def test_a_renamed_relationship_is_restored(api: Api, unique: Unique, site: Any, tenant: Any) -> None:
    slug, renamed, path = unique(), unique(), f"{SITES}{site['id']}/"
    defined = api.post(DEFINITIONS["relationship"], definition("relationship", slug))
    api.patch(path, {"relationships": {slug: associated(tenant)}})
    api.patch(path, {"relationships": {slug: associated()}})
    api.patch(f"{DEFINITIONS['relationship']}{defined['id']}/", {"name": renamed, "slug": renamed})
    undo(api, site["id"], "update")
    shown = api.get(path, {"include": "relationships"})["relationships"][renamed]["destination"]["objects"]
    assert [item["id"] for item in shown] == [tenant["id"]]


def test_an_association_of_later_is_a_change(api: Api, unique: Unique, site: Any, tenant: Any) -> None:
    slug, path = unique(), f"{SITES}{site['id']}/"
    api.post(DEFINITIONS["relationship"], definition("relationship", slug))
    api.patch(path, {"relationships": {slug: associated(tenant)}})
    refused = undo(api, site["id"], "create", status=409)
    assert [reason["field"] for reason in refused["objects"][0]["reasons"]] == ["relationships"]
    assert api.get(path)["id"] == site["id"]


def test_an_undone_update_names_fields_that_are_gone(api: Api, unique: Unique, site: Any) -> None:
    slug, path = unique(), f"{SITES}{site['id']}/"
    defined = api.post(DEFINITIONS["custom field"], definition("custom field", slug))
    api.patch(path, {"facility": "B1", "custom_fields": {slug: "x"}})
    api.delete(f"{DEFINITIONS['custom field']}{defined['id']}/")
    (entry,) = undo(api, site["id"], "update")["objects"]
    assert entry["not_restored"] == {f"custom_fields.{slug}": "The field is no longer defined."}
