"""Required relationships with a filter: only objects within the filter need the relationship, through every door."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique
from netinv_web.testing import Browser

ROLES, TENANTS, RELATIONSHIPS = "/api/dcim/rack-roles/", "/api/tenancy/tenants/", "/api/extras/relationships/"
ASSOCIATIONS = "/api/extras/relationship-associations/"
INSIDE, OUTSIDE = {"color": "ff0000"}, {"color": "00ff00"}


@pytest.fixture(params=["source", "destination"])
def needed(request: Any, api: Api, unique: Unique) -> Any:
    """A relationship that red rack roles must have, at either of its ends; gone after the test."""
    end, other = request.param, {"source": "destination", "destination": "source"}[request.param]
    name = unique().lower()
    made = api.post(
        RELATIONSHIPS,
        {
            "name": name,
            "slug": name.replace("-", "_"),
            "type": "many-to-many",
            f"{end}_type": "dcim.rackrole",
            f"{other}_type": "tenancy.tenant",
            f"{end}_filter": {"color": ["ff0000"]},
            "required_on": end,
        },
    )
    yield {**made, "other": other}
    api.delete(made["url"])


def body(needed: Any, ids: list[str]) -> Any:
    """The members of a body that associate an object."""
    return {"relationships": {needed["slug"]: {needed["other"]: {"objects": ids}}}}


def refusal(needed: Any) -> Any:
    """The answer for an object without the relationship."""
    message = f'You need to specify ["relationships"]["{needed["slug"]}"]["{needed["other"]}"]["objects"].'
    return {"relationships": {needed["slug"]: [message]}}


def test_an_object_is_created_without_it_outside_of_the_filter_alone(api: Api, unique: Unique, needed: Any) -> None:
    assert api.post(ROLES, {"name": unique(), **OUTSIDE})["id"]
    assert api.post(ROLES, {"name": unique(), **INSIDE}, status=400) == refusal(needed)
    tenant = api.post(TENANTS, {"name": unique()})
    assert api.post(ROLES, {"name": unique(), **INSIDE, **body(needed, [tenant["id"]])})["id"]


def test_each_item_of_a_list_is_judged_by_itself(api: Api, unique: Unique, needed: Any) -> None:
    items = [{"name": unique(), **OUTSIDE}, {"name": unique(), **INSIDE}]
    assert api.post(ROLES, items, status=400) == [{}, refusal(needed)]
    assert len(api.post(ROLES, items[:1])) == 1


def test_it_cannot_be_emptied_within_the_filter(api: Api, unique: Unique, needed: Any) -> None:
    tenant = api.post(TENANTS, {"name": unique()})
    role = api.post(ROLES, {"name": unique(), **INSIDE, **body(needed, [tenant["id"]])})
    assert api.patch(role["url"], body(needed, []), status=400) == refusal(needed)
    assert api.patch(role["url"], {**body(needed, []), **OUTSIDE})["color"] == "00ff00"
    assert api.patch(role["url"], body(needed, []))["id"] == role["id"]


def test_an_object_without_it_cannot_enter_the_filter(api: Api, unique: Unique, needed: Any) -> None:
    role = api.post(ROLES, {"name": unique(), **OUTSIDE})
    assert api.patch(role["url"], {"description": "unconcerned"})["description"] == "unconcerned"
    assert api.patch(role["url"], INSIDE, status=400) == refusal(needed)
    assert api.get(role["url"])["color"] == "00ff00"


def test_an_object_that_lacked_it_before_can_be_changed(api: Api, unique: Unique, needed: Any) -> None:
    api.patch(needed["url"], {"required_on": ""})
    role = api.post(ROLES, {"name": unique(), **INSIDE})
    api.patch(needed["url"], {"required_on": "source" if needed["other"] == "destination" else "destination"})
    assert api.patch(role["url"], {"description": "unconcerned"})["description"] == "unconcerned"
    put = {"name": role["name"], **INSIDE, "description": "put"}
    assert api.put(role["url"], put)["description"] == "put"


def test_forms_ask_for_it_as_the_api_does(api: Api, unique: Unique, needed: Any, browser: Browser) -> None:
    form = browser.get("/dcim/rack-roles/add/").form()
    name = unique()
    form["name"], form["slug"], form["color"] = name, name.lower(), "#ff0000"
    page = form.submit(status=422)
    assert "You need to specify" in page.text
    form["color"] = "#00ff00"
    form.submit(status=303)
    assert api.get(ROLES, {"name": name})["count"] == 1


@pytest.mark.parametrize("filtered", [False, True])
def test_what_is_put_back_as_it_was_read_is_accepted(api: Api, unique: Unique, needed: Any, filtered: bool) -> None:
    """An object that lacked it before; it cannot lose what it has been given, and a new one needs it."""
    end = "source" if needed["other"] == "destination" else "destination"
    api.patch(needed["url"], {"required_on": ""})
    role = api.post(ROLES, {"name": unique(), **INSIDE})
    outside = api.post(ROLES, {"name": unique(), **OUTSIDE})
    api.patch(needed["url"], {"required_on": end, **({} if filtered else {f"{end}_filter": None})})
    read = api.get(role["url"], {"include": "relationships"})
    assert read["relationships"][needed["slug"]][needed["other"]]["objects"] == []
    assert api.put(role["url"], read)["last_updated"] == role["last_updated"]
    assert api.put(role["url"], {**read, "description": "put"})["description"] == "put"
    assert api.patch(role["url"], body(needed, []))["id"] == role["id"]
    if filtered:
        assert api.patch(outside["url"], {**INSIDE, **body(needed, [])}, status=400) == refusal(needed)
    tenant = api.post(TENANTS, {"name": unique()})
    api.patch(role["url"], body(needed, [tenant["id"]]))
    assert api.put(role["url"], {**read, "description": ""}, status=400) == refusal(needed)
    assert api.post(ROLES, {"name": unique(), **INSIDE, **body(needed, [])}, status=400) == refusal(needed)


def test_the_last_association_of_an_object_that_needs_one_stays(
    api: Api, browser: Browser, make: Any, needed: Any
) -> None:
    first, second = (make(TENANTS) for _ in range(2))
    role = make(ROLES, **INSIDE, **body(needed, [first["id"]]))
    end = {"destination": "source", "source": "destination"}[needed["other"]]
    name = {"destination": "source", "source": "destination"}[needed["other"]]
    found = api.get(ASSOCIATIONS, {"relationship": needed["slug"], "peer_id": role["id"]})["results"]
    association = found[0]
    for path in (association["url"], first["url"]):  # the association, and the object at its other end
        assert role["display"] in api.delete(path, status=409)["detail"]
    emptied = {"relationships": {needed["slug"]: {name: {"objects": []}}}}
    assert role["display"] in str(api.patch(first["url"], emptied, status=400))
    other = make(ROLES, **OUTSIDE)
    assert end in api.patch(association["url"], {f"{end}_id": other["id"]}, status=400)
    api.patch(role["url"], body(needed, [first["id"], second["id"]]))
    api.delete(association["url"])
    assert role["display"] in api.delete(second["url"], status=409)["detail"]
    api.patch(role["url"], OUTSIDE)
    api.delete(second["url"])


def test_objects_that_need_each_other_are_deleted_together(api: Api, make: Any, needed: Any) -> None:
    tenant = make(TENANTS)
    role = make(ROLES, **INSIDE, **body(needed, [tenant["id"]]))
    api.delete(role["url"])
    api.delete(tenant["url"])
