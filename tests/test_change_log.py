"""The change log: what its flat form holds of an object."""

from __future__ import annotations

from typing import Any

from netinv_core.contract import Api

CHANGES = "/api/extras/object-changes/"


def flat(api: Api, made: Any) -> Any:
    """The flat form of a new object."""
    (change,) = api.get(CHANGES, {"changed_object_id": made["id"]})["results"]
    return change["object_data"]


def test_it_holds_what_is_written_and_nothing_that_is_only_worked_out(api: Api, unique: Any) -> None:
    made = api.post("/api/tenancy/tenants/", {"name": unique()})
    words = {"name": made["name"], "slug": made["slug"], "group": None, "description": "", "comments": ""}
    found = flat(api, made)
    assert {name: found.pop(name) for name in words} == words
    assert set(found) == {"tags", "custom_fields", "created", "last_updated"}


def test_it_holds_numbers_in_a_list_as_text(api: Api, unique: Any) -> None:
    site = api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    rack = api.post("/api/dcim/racks/", {"name": unique(), "site": site["id"], "status": "active"})
    user = api.get("/api/users/users/", {"limit": 1})["results"][0]["id"]
    reserved = api.post("/api/dcim/rack-reservations/", {"rack": rack["id"], "units": [12, 11], "user": user, "description": "d"})
    assert flat(api, reserved)["units"] == '["12", "11"]'


def test_a_note_is_named_after_what_the_log_calls_its_object(api: Api, unique: Any) -> None:
    provider = api.post("/api/circuits/providers/", {"name": unique()})
    network = api.post("/api/circuits/provider-networks/", {"name": unique(), "provider": provider["id"]})
    note = api.post(f"{network['url']}notes/", {"note": "n"})
    assert network["display"] == f"{provider['name']} {network['name']}"
    assert note["slug"].startswith(f"{network['name']}-2")


def test_what_has_no_nested_form_is_shown_by_its_name(api: Api, unique: Any) -> None:
    field = api.post("/api/extras/custom-fields/", {"label": unique(), "slug": unique(), "type": "select", "content_types": ["dcim.site"]})
    made = api.post("/api/extras/custom-field-choices/", {"field": field["id"], "value": "silver"})
    (change,) = api.get(CHANGES, {"changed_object_id": made["id"]})["results"]
    assert change["changed_object"] == "silver"
    api.delete(made["url"])
    assert [change["changed_object"] for change in api.get(CHANGES, {"changed_object_id": made["id"]})["results"]] == [None, None]
