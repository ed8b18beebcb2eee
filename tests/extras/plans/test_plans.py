"""Plans: documents of several models, their differences from the inventory, and how they are applied."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import now
from netinv_core.tasks.retention import delete_old
from netinv_extras.plans.models import plan_table, retention
from netinv_testing import Api, Service, Unique
from netinv_web.testing import Browser
from tests.support.threads import at_once

PLANS, SITES, DEVICES = "/api/extras/plans/", "/api/dcim/sites/", "/api/dcim/devices/"
Document = dict[str, list[dict[str, Any]]]


@pytest.fixture
def plan(api: Api) -> Callable[..., Any]:
    """``plan(objects)``: a new plan, by the administrator."""

    def make(objects: Document, status: int = 201, **body: Any) -> Any:
        return api.post(PLANS, {"objects": objects, **body}, status=status)

    return make


@pytest.fixture
def apply(api: Api, plan: Any) -> Callable[..., Any]:
    """``apply(objects)``: a plan that is applied at once."""

    def make(objects: Document, **body: Any) -> Any:
        return api.post(f"{plan(objects, **body)['url']}apply/", {}, status=200)

    return make


def network(name: str, ports: int = 2) -> Document:
    """A site, a device in a rack of it, its interfaces, an address and a cable: out of order, and by names."""
    device = {"name": name, "site": name, "device_type": {"model": name}, "device_role": name, "status": "active"}
    return {
        "ipam.ipaddress": [
            {
                "address": "192.0.2.1/24",
                "description": name,
                "status": "active",
                "assigned_object_type": "dcim.interface",
                "assigned_object_id": {"device": {"name": name}, "name": "p1"},
            }
        ],
        "dcim.interface": [
            {"device": name, "name": f"p{number}", "type": "virtual", "status": "active", "mtu": 1500}
            for number in range(1, ports + 1)
        ],
        "dcim.device": [device],
        "dcim.devicetype": [{"manufacturer": name, "model": name, "slug": name, "u_height": 1}],
        "dcim.region": [{"name": f"{name} a", "parent": {"name": f"{name} b"}}, {"name": f"{name} b"}],
        "dcim.site": [{"name": name, "slug": name, "status": "active", "region": {"name": f"{name} a"}}],
        "dcim.manufacturer": [{"name": name, "slug": name}],
        "dcim.devicerole": [{"name": name, "slug": name, "color": "ffffff"}],
        "extras.tag": [{"name": name, "slug": name, "content_types": ["dcim.site"]}],
    }


MATCH = {"ipam.ipaddress": ["address", "description"]}


def actions_of(plan: Any) -> list[str]:
    """The changes of a plan, as ``action place``."""
    return sorted(f"{change['action']} {change['place']}" for change in plan["changes"])


def test_a_plan_shows_what_would_be_written_and_writes_nothing(api: Api, plan: Any, unique: Unique) -> None:
    name = unique()
    kept = api.post(SITES, {"name": name, "slug": name, "status": "active", "facility": "a"})
    stored = plan(
        {"dcim.site": [{"name": name, "slug": name, "facility": "b"}, {"name": unique(), "status": "active"}]}
    )
    assert [stored[count] for count in ("creates", "updates", "deletes", "unchanged")] == [1, 1, 0, 0]
    assert actions_of(stored) == ["create dcim.site[1]", "update dcim.site[0]"]
    (update,) = [change for change in stored["changes"] if change["action"] == "update"]
    assert (update["object_id"], update["display"]) == (kept["id"], name)
    assert update["fields"] == [{"field": "facility", "before": "a", "after": "b"}]
    assert api.get(kept["url"])["facility"] == "a" and api.get(SITES, {"q": name})["count"] == 1
    assert "changes" not in api.get(stored["url"]) and stored["state"]["value"] == "pending"
    assert api.get(stored["url"], {"include": "changes"})["changes"] == stored["changes"]
    assert "objects" not in stored
    api.delete(stored["url"])


def test_objects_of_several_models_are_written_in_the_right_order(
    api: Api, plan: Any, unique: Unique, service: Service
) -> None:
    name = unique()
    stored = plan(network(name), match=MATCH)
    assert stored["creates"] == 11 and stored["unchanged"] == 0
    applied = api.post(f"{stored['url']}apply/", {}, status=200)
    assert applied["state"]["value"] == "applied" and applied["request_id"]
    (address,) = api.get("/api/ipam/ip-addresses/", {"q": name})["results"]
    assert address["assigned_object"]["name"] == "p1" and address["assigned_object"]["device"]["name"] == name
    (site,) = api.get(SITES, {"name": name})["results"]
    assert site["region"]["name"] == f"{name} a"
    changes = api.get("/api/extras/object-changes/", {"request_id": applied["request_id"]})
    assert changes["count"] == 11
    assert api.post(f"{stored['url']}apply/", {}, status=200)["request_id"] == applied["request_id"]
    with service.statements() as statements:
        again = plan(network(name), match=MATCH)
    assert (again["changes"], again["unchanged"]) == ([], 11)
    assert not [line for line in statements if "UPDATE " in line and "FOR UPDATE" not in line]
    api.post(f"/api/extras/object-changes/{changes['results'][0]['id']}/revert/?request=true", {}, status=200)
    assert api.get(SITES, {"name": name})["count"] == 0


def test_components_that_come_with_a_device_are_updated(api: Api, plan: Any, apply: Any, unique: Unique) -> None:
    name = unique()
    document = network(name, ports=1)
    first = {key: document[key] for key in ("dcim.manufacturer", "dcim.devicetype")}
    apply(first | {"dcim.interfacetemplate": [{"device_type": {"model": name}, "name": "p1", "type": "other"}]})
    applied = apply(document, match=MATCH)
    (interface,) = api.get("/api/dcim/interfaces/", {"device": name})["results"]
    assert (interface["name"], interface["type"]["value"], interface["mtu"]) == ("p1", "virtual", 1500)
    assert [change["place"] for change in applied["changes"] if change["object_type"] == "dcim.interface"] == [
        "dcim.interface[0]"
    ]
    assert plan(document, match=MATCH)["changes"] == []


def test_absent_objects_are_deleted_children_first(api: Api, plan: Any, apply: Any, unique: Unique) -> None:
    name = unique()
    apply(network(name), match=MATCH)
    absent: Document = {
        "dcim.site": [{"slug": name, "absent": True}, {"slug": unique(), "absent": True}],
        "dcim.device": [{"name": name, "site": name, "absent": True}],
        "dcim.devicerole": [{"slug": name, "absent": True}],
    }
    api.post(PLANS, {"objects": {"dcim.site": absent["dcim.site"]}}, status=409)
    stored = plan(absent)
    assert stored["deletes"] == 6 and stored["unchanged"] == 1
    api.post(f"{stored['url']}apply/", {}, status=200)
    assert api.get(DEVICES, {"name": name})["count"] == 0 and api.get(SITES, {"name": name})["count"] == 0


def test_what_an_update_releases_is_deleted_after_it(api: Api, apply: Any, unique: Unique) -> None:
    one, other = unique(), unique()
    tenants = [{"name": one, "slug": one}, {"name": other, "slug": other}]
    site = {"name": one, "status": "active", "tenant": one}
    apply({"tenancy.tenant": tenants, "dcim.site": [site]})
    apply({"tenancy.tenant": [{"slug": one, "absent": True}], "dcim.site": [{**site, "tenant": other}]})
    (found,) = api.get(SITES, {"name": one})["results"]
    assert found["tenant"]["name"] == other and api.get("/api/tenancy/tenants/", {"slug": one})["count"] == 0


def test_what_left_the_document_of_an_owner_is_deleted(api: Api, plan: Any, apply: Any, unique: Unique) -> None:
    owner, other, one, two, three = (unique() for _ in range(5))
    sites = {name: {"name": name, "status": "active"} for name in (one, two, three)}
    apply({"dcim.site": list(sites.values())}, owner=owner)
    apply({"dcim.site": [sites[three]]}, owner=other)
    stored = plan({"dcim.site": [sites[one]]}, owner=owner)
    assert [(change["action"], change["display"]) for change in stored["changes"]] == [("delete", two)]
    api.post(f"{stored['url']}apply/", {}, status=200)
    assert [api.get(SITES, {"name": name})["count"] for name in sites] == [1, 0, 1]
    assert plan({"dcim.site": [sites[one]]}, owner=owner)["changes"] == []
    assert plan({}, owner=unique())["changes"] == []


def test_a_plan_is_refused_when_what_it_touches_has_changed(api: Api, plan: Any, unique: Unique) -> None:
    one, two, three = unique(), unique(), unique()
    sites = [api.post(SITES, {"name": name, "status": "active"}) for name in (one, two)]
    stored = plan({"dcim.site": [{"name": name, "status": "planned"} for name in (one, two, three)]})
    api.patch(sites[0]["url"], {"facility": "x"})
    api.post(SITES, {"name": three, "status": "active"})
    refused = api.post(f"{stored['url']}apply/", {}, status=409)
    assert refused["count"] == 2
    differences = {item["planned"]["display"]: item for item in refused["differences"]}
    assert [change["field"] for change in differences[one]["changed"]] == ["facility"]
    assert (differences[three]["planned"]["action"], differences[three]["now"]["action"]) == ("create", "update")
    assert api.get(sites[1]["url"])["status"]["value"] == "active"
    assert api.get(stored["url"])["state"]["value"] == "pending"
    api.delete(sites[1]["url"])
    assert api.post(f"{stored['url']}apply/", {}, status=409)["count"] == 3


@pytest.mark.parametrize(
    ("objects", "errors"),
    [
        ([], {"objects": ["An object with a list for each content type is expected."]}),
        (
            {"dcim.nothing": []},
            {"objects": {"dcim.nothing": ["There is no model dcim.nothing whose objects can be planned."]}},
        ),
        ({"dcim.site": [{"slug": "x"}, 1]}, {"objects": {"dcim.site": {"1": {"__all__": ["An object is expected."]}}}}),
        (
            {"dcim.site": [{"slug": "x", "colour": "red"}]},
            {"objects": {"dcim.site": {"0": {"colour": ["There is no such field, or it cannot be written."]}}}},
        ),
        (
            {"dcim.site": [{"slug": "x"}, {"slug": "x"}]},
            {"objects": {"dcim.site": {"1": {"slug": ["It is the object that dcim.site[0] describes already."]}}}},
        ),
        (
            {"dcim.site": [{"slug": "plan-1", "name": "plan-1", "status": "nope"}, {"slug": "plan-2"}]},
            {
                "objects": {
                    "dcim.site": {
                        "0": {"status": ["Object with slug=nope does not exist."]},
                        "1": {"name": ["This field is required."], "status": ["This field is required."]},
                    }
                }
            },
        ),
        (
            {
                "dcim.region": [
                    {"name": "plan-1", "parent": {"name": "plan-2"}},
                    {"name": "plan-2", "parent": {"name": "plan-1"}},
                ]
            },
            {
                "objects": {
                    "dcim.region": {
                        "0": {
                            "parent": ["These rows refer to each other in a circle: dcim.region[0], dcim.region[1]."]
                        },
                        "1": {
                            "parent": ["These rows refer to each other in a circle: dcim.region[0], dcim.region[1]."]
                        },
                    }
                }
            },
        ),
    ],
    ids=["no object", "model", "item", "field", "repeated", "values", "circle"],
)
def test_errors_name_model_index_and_field(plan: Any, objects: Any, errors: Any) -> None:
    assert plan(objects, status=400) == errors


def test_objects_without_a_key_need_a_match(plan: Any) -> None:
    prefix = {"prefix": "198.51.100.0/24", "status": "active"}
    assert "match" in str(plan({"dcim.cable": [{"label": "1"}]}, status=400)["objects"]["dcim.cable"]["0"])
    assert plan({"ipam.prefix": [prefix]}, match={"ipam.prefix": ["prefix"]})["creates"] == 1
    assert "match" in plan({}, match={"ipam.prefix": ["size"]}, status=400)
    assert "name" in str(plan({"dcim.site": [{"slug": "x"}]}, match={"dcim.site": ["name"]}, status=400))
    assert "match" in plan({}, match=1, status=400)


def test_it_takes_the_permissions_of_the_writes(api: Api, make_user: Any, unique: Unique) -> None:
    name = unique()
    body = {"objects": {"dcim.site": [{"name": name, "status": "active"}]}}
    make_user(("add view", "dcim.site")).api.post(PLANS, body, status=403)
    make_user(("add view", "extras.plan")).api.post(PLANS, body, status=403)
    planner = make_user(("add view", "extras.plan"), ("add view", "dcim.site"))
    stored = planner.api.post(PLANS, body)
    stranger = make_user(("add view", "extras.plan"), ("add view", "dcim.site")).api
    stranger.get(stored["url"], status=404)
    stranger.post(f"{stored['url']}apply/", {}, status=404)
    assert stored["user"]["username"] == planner.username
    assert planner.api.post(f"{stored['url']}apply/", {}, status=200)["state"]["value"] == "applied"


def test_secrets_are_masked(api: Api, plan: Any, unique: Unique, service: Service) -> None:
    name = unique()
    webhook = {"name": name, "content_types": ["dcim.site"], "type_create": True, "payload_url": "http://192.0.2.1/"}
    stored = plan({"extras.webhook": [{**webhook, "secret": "correct horse"}]})
    assert "correct" not in str(stored) and "****" in str(stored)
    with service.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM extras_plan").all()
    assert "correct" not in str(rows)
    api.post(f"{stored['url']}apply/", {}, status=200)
    assert plan({"extras.webhook": [{**webhook, "secret": "correct horse"}]})["changes"] == []


def test_a_dry_run_of_apply_writes_nothing(api: Api, plan: Any, unique: Unique) -> None:
    name = unique()
    stored = plan({"dcim.site": [{"name": name, "status": "active"}]})
    tried = api.post(f"{stored['url']}apply/?dry_run=true", {}, status=200)
    assert tried["count"]["changes"] == 1 and tried["changes"][0]["display"] == name
    assert api.get(stored["url"])["state"]["value"] == "pending"
    assert api.get(SITES, {"name": name})["count"] == 0


@pytest.mark.night
def test_the_number_of_statements_does_not_grow_with_the_objects(
    api: Api, service: Service, plan: Any, unique: Unique
) -> None:
    counts = []
    for ports in (2, 2, 40):
        name = unique()
        with service.statements() as planned:
            stored = plan(network(name, ports), match=MATCH)
        with service.statements() as applied:
            api.post(f"{stored['url']}apply/", {}, status=200)
        with service.statements() as unchanged:
            plan(network(name, ports), match=MATCH)
        counts.append((len(planned), len(applied), len(unchanged)))
    assert counts[1] == counts[2], counts


@pytest.mark.slow
@pytest.mark.night
def test_five_thousand_objects_are_planned_and_applied(api: Api, plan: Any, unique: Unique) -> None:
    name = unique()
    document = network(name, 1000)
    device = document["dcim.device"][0]
    document["dcim.device"] += [{**device, "name": f"{name}-{number}"} for number in range(4000)]
    stored = plan(document, match=MATCH)
    assert stored["creates"] == 5009
    api.post(f"{stored['url']}apply/", {}, status=200)
    assert plan(document, match=MATCH)["unchanged"] == 5009


def test_a_plan_is_shown_and_applied_on_its_page(api: Api, service: Service, plan: Any, unique: Unique) -> None:
    name, browser = unique(), Browser(service, service.admin)
    site = api.post(SITES, {"name": name, "status": "active"})
    plans = [plan({"dcim.site": [{"name": name, "status": status}]}) for status in ("planned", "retired")]
    pages = [browser.get(f"/extras/plans/{item['id']}/", status=200) for item in plans]
    assert "status: active → planned" in " ".join(pages[0].html.select_one("main").text.split())
    assert pages[0].html.select_one("#panel-changes tbody th").text == f"Site {name}"
    assert [title.text for title in pages[0].html.select(".detail h2")][:2] == ["Changes", "Plan"]
    forms = [next(form for form in page.forms.values() if form.action.endswith("/apply/")) for page in pages]
    assert "The plan was applied." in forms[0].submit().follow(status=200).text
    assert "The inventory has changed since" in forms[1].submit().follow(status=200).text
    assert api.get(site["url"])["status"]["value"] == "planned"


@pytest.mark.parametrize("match", [{}, {"ipam.prefix": ["prefix", "vrf"], "ipam.ipaddress": ["address", "vrf"]}])
def test_prefixes_and_addresses_are_identified_within_their_vrf(
    api: Api, plan: Any, apply: Any, unique: Unique, match: Any
) -> None:
    """Without ``vrf`` they are those of the global table, whatever VRFs have the same ones."""
    name, network = unique(), unique.ipv6()
    vrf = api.post("/api/ipam/vrfs/", {"name": name})
    prefix = {"prefix": f"{network}::/64", "status": "active"}
    address = {"address": f"{network}::1/64", "status": "active"}
    document = {
        "ipam.prefix": [prefix, {**prefix, "vrf": {"name": name}}],
        "ipam.ipaddress": [address, {**address, "vrf": {"name": name}}],
    }
    api.post("/api/ipam/prefixes/", {**prefix, "vrf": vrf["id"]})
    api.post("/api/ipam/ip-addresses/", {**address, "vrf": vrf["id"]})
    stored = plan(document, match=match)
    assert actions_of(stored) == ["create ipam.ipaddress[0]", "create ipam.prefix[0]"] and stored["unchanged"] == 2
    apply(document, match=match)
    assert plan(document, match=match)["unchanged"] == 4


def test_relationships_are_compared_with_what_is_stored(api: Api, plan: Any, unique: Unique) -> None:
    name, other = unique(), unique()
    body = {"name": name, "slug": name, "type": "many-to-many"}
    types = {"source_type": "dcim.rackrole", "destination_type": "tenancy.tenant"}
    relationship = api.post("/api/extras/relationships/", {**body, **types})
    tenants = [api.post("/api/tenancy/tenants/", {"name": word, "slug": word}) for word in (name, other)]

    def role(*objects: Any) -> Any:
        return {"name": name, "slug": name, "relationships": {name: {"destination": {"objects": list(objects)}}}}

    api.post("/api/dcim/rack-roles/", role(tenants[0]["id"]))
    equal = role({"name": name})
    assert plan({"dcim.rackrole": [equal]})["unchanged"] == 1
    (result,) = api.patch("/api/dcim/rack-roles/", [equal], query={"match": "name"})
    assert result["status"] == "unchanged"
    for different in (role(), role({"name": other}), role({"name": name}, {"name": other})):
        stored = plan({"dcim.rackrole": [different]})
        assert stored["unchanged"] == 0 and stored["changes"]
        (result,) = api.patch("/api/dcim/rack-roles/", [different], query={"match": "name", "dry_run": "true"})[
            "result"
        ]
        assert result["status"] == "updated"
    api.patch("/api/dcim/rack-roles/", [role({"name": unique()})], query={"match": "name"}, status=400)
    api.delete(relationship["url"])


def test_simultaneous_applications_of_a_plan_are_one(api: Api, plan: Any, unique: Unique) -> None:
    stored = plan({"dcim.site": [{"name": unique(), "status": "active"}]})
    answers = at_once(lambda number: api.post(f"{stored['url']}apply/", {}, status=200), 8)
    (request_id,) = {answer["request_id"] for answer in answers}
    assert api.get("/api/extras/object-changes/", {"request_id": request_id})["count"] == 1


def test_old_plans_are_deleted(api: Api, plan: Any, service: Service) -> None:
    old, new = plan({}), plan({})
    of_old = plan_table.c.id == uuid.UUID(old["id"])
    with service.engine.begin() as connection:
        connection.execute(sa.update(plan_table).where(of_old).values(created=now() - datetime.timedelta(days=4000)))
    with service.configured(plan_retention=0):
        assert delete_old(service.engine, service.registry, retention) == 0
    with service.configured(plan_retention=3650):
        assert delete_old(service.engine, service.registry, retention) == 1
    api.get(old["url"], status=404)
    api.get(new["url"])


def test_lists_name_objects_of_the_document_and_of_the_inventory(
    api: Api, plan: Any, apply: Any, unique: Unique
) -> None:
    one, two, name = unique(), unique(), unique()
    api.post("/api/extras/tags/", {"name": one, "slug": one, "content_types": ["dcim.site"]})
    document: Document = {
        "dcim.site": [{"name": name, "status": "active", "tags": [one, {"name": two}]}],
        "extras.tag": [{"name": two, "slug": two, "content_types": ["dcim.site"]}],
    }
    apply(document)
    (site,) = api.get(SITES, {"name": name})["results"]
    assert {tag["name"] for tag in site["tags"]} == {one, two}
    assert plan(document)["unchanged"] == 2 and api.get(site["url"])["last_updated"] == site["last_updated"]
    document["dcim.site"][0]["tags"] = [two]
    (change,) = plan(document)["changes"]
    assert (change["fields"][0]["field"], change["fields"][0]["after"]) == ("tags", [two])
    document["dcim.site"][0]["tags"] = {"add": [one]}
    assert plan(document)["changes"] == []


def test_contradictions_and_missing_objects_are_errors(api: Api, plan: Any, apply: Any, unique: Unique) -> None:
    name = unique()
    apply(network(name), match=MATCH)
    site, device = {"slug": name}, {"name": name, "site": name, "absent": True}
    interface = {"device": name, "name": "p1", "mtu": 9000}
    refused = plan({"dcim.interface": [interface], "dcim.device": [device]}, status=400)
    assert "deletes this object" in str(refused["objects"]["dcim.interface"]["0"])
    address = {"address": "192.0.2.9/24", "status": "active", "assigned_object_type": "dcim.interface"}
    address["assigned_object_id"] = {"name": "p9", "device": {"name": name}}
    refused = plan({"ipam.ipaddress": [address]}, status=400)
    assert "not found" in str(refused["objects"]["ipam.ipaddress"]["0"]["assigned_object_id"])
    refused = plan({"dcim.site": [{"id": "00000000-0000-4000-8000-000000000000", "facility": "x"}]}, status=400)
    assert refused["objects"]["dcim.site"]["0"] == {"id": ["There is no object with this id."]}
    refused = plan({"dcim.site": [{**site, "absent": "yes"}, site], "dcim.device": {}}, status=400)["objects"]
    assert "absent" in refused["dcim.site"]["0"] and refused["dcim.device"] == ["A list of objects is expected."]


def test_deletions_take_their_permission(api: Api, make_user: Any, unique: Unique) -> None:
    site = api.post(SITES, {"name": unique(), "status": "active"})
    body = {"objects": {"dcim.site": [{"id": site["id"], "absent": True}]}}
    limit = ("delete", "dcim.site", {"name": "another"})
    make_user(("add view", "extras.plan"), ("view", "dcim.site"), limit).api.post(PLANS, body, status=403)
    make_user(("add view", "extras.plan"), ("view", "dcim.site")).api.post(PLANS, body, status=403)
    assert api.post(PLANS, body)["deletes"] == 1


def test_a_document_that_became_invalid_is_refused(api: Api, plan: Any, unique: Unique) -> None:
    tenant, name = api.post("/api/tenancy/tenants/", {"name": unique()}), unique()
    stored = plan({"dcim.site": [{"name": name, "status": "active", "tenant": {"name": tenant["name"]}}]})
    api.delete(tenant["url"])
    refused = api.post(f"{stored['url']}apply/", {}, status=409)
    assert "tenant" in refused["errors"]["objects"]["dcim.site"]["0"]


def test_cables_name_the_components_that_come_with_devices(api: Api, plan: Any, apply: Any, unique: Unique) -> None:
    name = unique()
    document = {
        label: items for label, items in network(name).items() if label not in ("ipam.ipaddress", "dcim.interface")
    }
    (device,) = document["dcim.device"]
    ends = [{"device": f"{name}-{number}", "name": "p1"} for number in (1, 2)]
    cable: dict[str, Any] = {"status": "connected", "termination_a_type": "dcim.interface", "termination_a_id": ends[0]}
    cable |= {"termination_b_type": "dcim.interface", "termination_b_id": ends[1]}
    document |= {
        "dcim.device": [{**device, "name": end["device"]} for end in ends],
        "dcim.interfacetemplate": [{"device_type": {"model": name}, "name": "p1", "type": "1000base-t"}],
        "dcim.cable": [cable],
    }
    stored = apply(document, owner=name)
    assert stored["creates"] == 13 and stored["updates"] == 0
    (found,) = api.get("/api/dcim/interfaces/", {"device": ends[0]["device"]})["results"]
    assert found["connected_endpoint"]["device"]["name"] == ends[1]["device"]
    assert plan(document, owner=name)["unchanged"] == 11
    del document["dcim.cable"], document["dcim.device"][1]
    assert [change["action"] for change in plan(document, owner=name)["changes"]].count("delete") == 3


def test_of_simultaneous_plans_of_one_object_one_is_applied(api: Api, plan: Any, unique: Unique) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique(), "enforce_unique": False})
    prefix = {"prefix": "203.0.113.0/24", "status": "active", "vrf": {"name": vrf["name"]}}
    body = {"objects": {"ipam.prefix": [prefix]}, "match": {"ipam.prefix": ["prefix", "vrf"]}}
    plans = [api.post(PLANS, body) for _ in range(8)]
    answers = at_once(lambda number: api.send("POST", f"{plans[number]['url']}apply/", {}).status_int, 8)
    assert sorted(answers) == [200] + [409] * 7
    assert api.get("/api/ipam/prefixes/", {"vrf_id": vrf["id"]})["count"] == 1
