"""Revert of changes: former values and deleted objects come back, and nothing that was changed later is overwritten."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.models.base import table_of
from netinv_testing import Api, Service, Unique
from tests.support.images import GIF

CHANGES, SITES, DEVICES = "/api/extras/object-changes/", "/api/dcim/sites/", "/api/dcim/devices/"
INTERFACES, ADDRESSES, VLANS, TAGS = (
    "/api/dcim/interfaces/",
    "/api/ipam/ip-addresses/",
    "/api/ipam/vlans/",
    "/api/extras/tags/",
)


class Log:
    """The change log of a service, and reverts by an administrator."""

    def __init__(self, service: Service) -> None:
        self.service, self.api = service, service.api

    def change(self, key: str, action: str) -> Any:
        """The latest record of an object with an action."""
        table = table_of(ObjectChange)
        statement = sa.select(*record_columns()).where(
            table.c.changed_object_id == uuid.UUID(key), table.c.action == action
        )
        return self.service.rows(statement.order_by(table.c.time.desc(), table.c.position.desc()))[0]

    def path(self, key: str, action: str) -> str:
        """Where the latest such change is reverted."""
        return f"{CHANGES}{self.change(key, action).id}/revert/"

    def revert(self, key: str, action: str, status: int = 200, **query: Any) -> Any:
        """The answer to the revert of the latest such change."""
        return self.api.post(self.path(key, action), status=status, query=query)

    def reasons(self, key: str, action: str, **query: Any) -> dict[str, list[str]]:
        """The reasons of a refused revert, by field."""
        reasons: dict[str, list[str]] = {}
        for entry in self.revert(key, action, status=409, **query)["objects"]:
            for reason in entry["reasons"]:
                reasons.setdefault(reason["field"], []).append(reason["message"])
        return reasons


@pytest.fixture
def log(service: Service) -> Log:
    """The change log."""
    return Log(service)


@pytest.fixture
def site(api: Api, unique: Unique) -> Any:
    """A site."""
    return api.post(SITES, {"name": unique(), "status": "active"})


class Rack:
    """Devices of one type, which has two interfaces, at one site."""

    def __init__(self, api: Api, unique: Unique, site: Any) -> None:
        self.api, self.unique = api, unique
        maker = api.post("/api/dcim/manufacturers/", {"name": unique()})["id"]
        role = api.post("/api/dcim/device-roles/", {"name": unique()})["id"]
        kind = api.post("/api/dcim/device-types/", {"manufacturer": maker, "model": unique()})["id"]
        ports = [{"device_type": kind, "name": name, "type": "1000base-t"} for name in ("eth0", "eth1")]
        api.post("/api/dcim/interface-templates/", ports)
        self.body = {"device_type": kind, "device_role": role, "site": site["id"], "status": "active"}

    def device(self, **members: Any) -> Any:
        """A new device."""
        return self.api.post(DEVICES, {**self.body, "name": self.unique(), **members})

    def interfaces(self, device: Any) -> list[Any]:
        """The interfaces of a device."""
        found: list[Any] = self.api.get(INTERFACES, {"device_id": device["id"]})["results"]
        return found


@pytest.fixture
def rack(api: Api, unique: Unique, site: Any) -> Rack:
    """Devices with interfaces."""
    return Rack(api, unique, site)


def own(item: Any) -> Any:
    """A representation without the time of the last change."""
    return {name: value for name, value in item.items() if name != "last_updated"}


def test_an_update_is_undone_in_the_fields_that_it_changed(api: Api, log: Log, site: Any) -> None:
    path = f"{SITES}{site['id']}/"
    api.patch(path, {"facility": "B1", "status": "planned"})
    undone = log.path(site["id"], "update")
    api.patch(path, {"description": "later"})
    answer = api.post(undone, status=200)
    now = api.get(path)
    assert (now["facility"], now["status"]["value"], now["description"]) == ("", "active", "later")
    (entry,) = answer["objects"]
    assert entry["action"] == "update" and entry["object"]["facility"] == "" and entry["not_restored"] == {}
    record = log.change(site["id"], "update")
    assert str(record.request_id) == answer["request_id"] and record.after["facility"] == ""


def test_a_later_change_of_the_same_field_is_named(api: Api, log: Log, site: Any, make_user: Any) -> None:
    path = f"{SITES}{site['id']}/"
    api.patch(path, {"facility": "B1", "asn": 64512})
    undone = log.path(site["id"], "update")
    other = make_user(("view change", "dcim.site"))
    other.api.patch(path, {"facility": "B2"})
    later = log.change(site["id"], "update")
    refused = api.post(undone, status=409)
    (reason,) = refused["objects"][0]["reasons"]
    assert reason["field"] == "facility" and reason["change"]["id"] == str(later.id)
    assert reason["change"]["user_name"] == other.username and other.username in reason["message"]
    assert api.get(path)["asn"] == 64512


def test_changes_are_undone_one_after_the_other_and_an_undo_is_undone(api: Api, log: Log, site: Any) -> None:
    path = f"{SITES}{site['id']}/"
    undos = []
    for facility in ("B1", "B2"):
        api.patch(path, {"facility": facility})
        undos.append(log.path(site["id"], "update"))
    assert "facility" in log.api.post(undos[0], status=409)["objects"][0]["reasons"][0]["field"]
    api.post(undos[1], status=200)
    assert api.get(path)["facility"] == "B1"
    redo = log.path(site["id"], "update")
    api.post(undos[0], status=200)
    assert api.get(path)["facility"] == ""
    api.post(undos[0], status=409)
    api.post(log.path(site["id"], "update"), status=200)
    api.post(redo, status=200)
    assert api.get(path)["facility"] == "B2"


def test_a_deleted_device_comes_back_with_its_components_addresses_cables_and_tags(
    api: Api, log: Log, rack: Rack, unique: Unique
) -> None:
    tag = api.post(TAGS, {"name": unique(), "slug": unique(), "content_types": ["dcim.device"]})
    device, peer = rack.device(tags=[tag["id"]]), rack.device()
    first, second = rack.interfaces(device)
    far = rack.interfaces(peer)[0]
    address = api.post(
        ADDRESSES,
        {
            "address": f"{unique.ipv6()}::1/64",
            "status": "active",
            "assigned_object_type": "dcim.interface",
            "assigned_object_id": first["id"],
        },
    )
    api.patch(f"{DEVICES}{device['id']}/", {"primary_ip6": address["id"]})
    api.patch(f"{INTERFACES}{second['id']}/", {"mac_address": "02:00:00:00:00:01", "description": "uplink"})
    ends = {"termination_a_type": "dcim.interface", "termination_a_id": second["id"]}
    cable = api.post(
        "/api/dcim/cables/",
        {**ends, "termination_b_type": "dcim.interface", "termination_b_id": far["id"], "status": "connected"},
    )
    note = api.post(f"{DEVICES}{device['id']}/notes/", {"note": "mind the fan"})
    paths = [f"{DEVICES}{device['id']}/", f"{ADDRESSES}{address['id']}/", f"/api/dcim/cables/{cable['id']}/"]
    paths += [f"{INTERFACES}{item['id']}/" for item in (first, second, far)]
    before = [own(api.get(path)) for path in paths]
    api.delete(paths[0])
    assert api.get(paths[-1])["cable"] is None
    log.revert(device["id"], "delete")
    assert [own(api.get(path)) for path in paths] == before
    assert len(rack.interfaces(device)) == 2
    assert [item["id"] for item in api.get(f"{DEVICES}{device['id']}/notes/")["results"]] == [note["id"]]


def test_references_and_lists_that_lost_a_deleted_object_get_it_back(
    api: Api, log: Log, rack: Rack, unique: Unique
) -> None:
    platform = api.post("/api/dcim/platforms/", {"name": unique()})
    device = rack.device(platform=platform["id"])
    vlan = api.post(VLANS, {"name": unique(), "vid": 77, "status": "active"})
    port = f"{INTERFACES}{rack.interfaces(device)[0]['id']}/"
    api.patch(port, {"mode": "tagged", "tagged_vlans": [vlan["id"]]})
    tag = api.post(TAGS, {"name": unique(), "slug": unique(), "content_types": ["dcim.device", "dcim.site"]})
    api.patch(f"{DEVICES}{device['id']}/", {"tags": [tag["id"]]})
    for path, key in ((VLANS, vlan["id"]), (TAGS, tag["id"]), ("/api/dcim/platforms/", platform["id"])):
        api.delete(f"{path}{key}/")
        log.revert(key, "delete")
    assert [item["id"] for item in api.get(port)["tagged_vlans"]] == [vlan["id"]]
    now = api.get(f"{DEVICES}{device['id']}/")
    assert [item["id"] for item in now["tags"]] == [tag["id"]] and now["platform"]["id"] == platform["id"]


def test_members_of_a_deleted_virtual_chassis_return_to_their_positions(
    api: Api, log: Log, rack: Rack, unique: Unique
) -> None:
    chassis = api.post("/api/dcim/virtual-chassis/", {"name": unique()})
    members = [rack.device(virtual_chassis=chassis["id"], vc_position=number) for number in (3, 4)]
    api.delete(f"/api/dcim/virtual-chassis/{chassis['id']}/")
    assert api.get(f"{DEVICES}{members[0]['id']}/")["vc_position"] is None
    log.revert(chassis["id"], "delete")
    now = [api.get(f"{DEVICES}{member['id']}/") for member in members]
    assert [(item["virtual_chassis"]["id"], item["vc_position"]) for item in now] == [
        (chassis["id"], 3),
        (chassis["id"], 4),
    ]


def test_one_of_several_deletions_of_a_request_is_undone_alone(api: Api, log: Log, rack: Rack) -> None:
    first, second = rack.device(), rack.device()
    ports = rack.interfaces(first)
    api.delete(DEVICES, [{"id": first["id"]}, {"id": second["id"]}])
    answer = log.revert(first["id"], "delete")
    assert {entry["changed_object_id"] for entry in answer["objects"]} == {first["id"], *(port["id"] for port in ports)}
    api.get(f"{DEVICES}{second['id']}/", status=404)
    refused = log.revert(first["id"], "delete", status=409, request="true")
    assert refused["objects"][0]["reasons"][0]["message"].startswith("An object with this id exists again.")


def test_a_request_is_undone_as_a_whole(api: Api, log: Log, rack: Rack) -> None:
    created = api.post(DEVICES, [{**rack.body, "name": rack.unique()} for _ in range(2)])
    answer = log.revert(created[0]["id"], "create", request="true")
    assert {entry["changed_object_id"] for entry in answer["objects"]} >= {item["id"] for item in created}
    for item in created:
        api.get(f"{DEVICES}{item['id']}/", status=404)
    log.revert(created[1]["id"], "delete", request="true")
    assert [len(rack.interfaces(item)) for item in created] == [2, 2]


def test_a_tree_comes_back_parents_first(api: Api, log: Log, unique: Unique, site: Any) -> None:
    names = [unique() for _ in range(3)]
    parent: Any = None
    items = []
    for name in names:
        parent = api.post("/api/dcim/regions/", {"name": name, "parent": parent and parent["id"]})
        items.append(parent)
    api.delete("/api/dcim/regions/", [{"id": item["id"]} for item in reversed(items)])
    log.revert(items[0]["id"], "delete", request="1")
    now = [api.get(f"/api/dcim/regions/{item['id']}/") for item in items]
    assert [item["parent"] and item["parent"]["id"] for item in now] == [None, items[0]["id"], items[1]["id"]]


def test_what_stands_against_the_return_of_an_object_is_named_by_field(api: Api, log: Log, unique: Unique) -> None:
    group = api.post("/api/tenancy/tenant-groups/", {"name": unique()})
    tenant = api.post("/api/tenancy/tenants/", {"name": unique(), "group": group["id"]})
    api.delete(f"/api/tenancy/tenants/{tenant['id']}/")
    api.delete(f"/api/tenancy/tenant-groups/{group['id']}/")
    assert "not found" in log.reasons(tenant["id"], "delete")["group"][0]
    log.revert(group["id"], "delete")
    api.post("/api/tenancy/tenants/", {"name": tenant["name"], "slug": unique()})
    assert list(log.reasons(tenant["id"], "delete")) == ["name"]
    api.get(f"/api/tenancy/tenants/{tenant['id']}/", status=404)


def test_a_creation_that_others_depend_on_is_protected(api: Api, log: Log, rack: Rack, site: Any) -> None:
    device = rack.device()
    (message,) = log.reasons(site["id"], "create")["non_field_errors"]
    assert device["id"] in message
    assert api.get(f"{SITES}{site['id']}/")


def test_a_change_of_an_object_that_is_gone_is_refused(api: Api, log: Log, site: Any, service: Service) -> None:
    api.patch(f"{SITES}{site['id']}/", {"facility": "B1"})
    api.delete(f"{SITES}{site['id']}/")
    for action in ("update", "create"):
        (message,) = log.reasons(site["id"], action)["non_field_errors"]
        assert message.startswith("The object does not exist any more.") and service.admin.username in message


def test_secrets_are_not_restored_and_the_answer_says_so(api: Api, log: Log, unique: Unique) -> None:
    body = {
        "name": unique(),
        "content_types": ["dcim.site"],
        "type_create": True,
        "payload_url": "https://example.org/",
    }
    webhook = api.post("/api/extras/webhooks/", {**body, "secret": "of nobody else"})
    path = f"/api/extras/webhooks/{webhook['id']}/"
    api.patch(path, {"secret": "another one"})
    assert list(log.reasons(webhook["id"], "update")) == ["secret"]
    api.patch(path, {"secret": "a third one", "enabled": False})
    answer = log.revert(webhook["id"], "update")
    assert answer["objects"][0]["not_restored"] == {"secret": "The change log does not keep its value."}
    assert api.get(path)["enabled"] is True
    api.delete(path)
    answer = log.revert(webhook["id"], "delete")
    assert list(answer["objects"][0]["not_restored"]) == ["secret"] and api.get(path)["secret"] == ""


def test_files_are_not_restored_and_the_answer_says_so(api: Api, log: Log, rack: Rack) -> None:
    path = f"/api/dcim/device-types/{rack.body['device_type']}/"
    image = f"data:image/gif;base64,{base64.b64encode(GIF).decode()}"
    api.patch(path, {"front_image": image})
    api.patch(path, {"front_image": None, "comments": "new"})
    answer = log.revert(rack.body["device_type"], "update")
    assert answer["objects"][0]["not_restored"] == {"front_image": "The file was deleted with the change."}
    assert api.get(path)["comments"] == ""


def test_the_author_of_a_note_stays_its_author(api: Api, log: Log, site: Any, make_user: Any) -> None:
    author = make_user(("view", "dcim.site"), ("view add delete", "extras.note"))
    note = author.api.post(f"{SITES}{site['id']}/notes/", {"note": "mine"})
    author.api.delete(f"/api/extras/notes/{note['id']}/")
    log.revert(note["id"], "delete")
    now = api.get(f"/api/extras/notes/{note['id']}/")
    assert (now["user"]["username"], now["slug"], now["created"]) == (author.username, note["slug"], note["created"])


def test_custom_field_values_are_undone_one_by_one(api: Api, log: Log, unique: Unique, site: Any) -> None:
    slugs = [unique().replace("-", "_") for _ in range(2)]
    for slug in slugs:
        field = {"slug": slug, "name": slug, "label": slug, "type": "text", "content_types": ["dcim.site"]}
        api.post("/api/extras/custom-fields/", field)
    path = f"{SITES}{site['id']}/"
    api.patch(path, {"custom_fields": {slugs[0]: "a"}})
    undone = log.path(site["id"], "update")
    api.patch(path, {"custom_fields": {slugs[1]: "b"}})
    api.post(undone, status=200)
    now = api.get(path)["custom_fields"]
    assert (now[slugs[0]], now[slugs[1]]) == (None, "b")


def test_relationships_of_a_deleted_object_come_back(api: Api, log: Log, unique: Unique, site: Any, rack: Rack) -> None:
    slug = unique()
    ends = {"type": "many-to-many", "source_type": "dcim.site", "destination_type": "dcim.device"}
    api.post("/api/extras/relationships/", {"name": slug, "slug": slug, **ends})
    device = rack.device()
    other = api.post(SITES, {"name": unique(), "status": "active"})
    path = f"{SITES}{other['id']}/"
    api.patch(path, {"relationships": {slug: {"destination": {"objects": [device["id"]]}}}})
    associations = api.get("/api/extras/relationship-associations/", {"peer_id": other["id"]})["results"]
    api.delete(path)
    log.revert(other["id"], "delete")
    assert api.get("/api/extras/relationship-associations/", {"peer_id": other["id"]})["results"] == associations


def test_permissions_with_constraints_hold_for_every_object(log: Log, api: Api, unique: Unique, make_user: Any) -> None:
    mine, theirs = (
        api.post("/api/tenancy/tenants/", {"name": unique(), "description": word}) for word in ("mine", "theirs")
    )
    account = make_user(
        ("view", ["extras.objectchange", "tenancy.tenant"]),
        ("add change delete", "tenancy.tenant", {"description": "mine"}),
    )
    account.api.post(log.path(mine["id"], "create"), status=200)
    account.api.post(log.path(mine["id"], "delete"), status=200)
    account.api.post(log.path(theirs["id"], "create"), status=403)
    api.delete(f"/api/tenancy/tenants/{theirs['id']}/")
    account.api.post(log.path(theirs["id"], "delete"), status=403)


def test_a_request_with_changes_that_the_user_may_not_view_is_denied(log: Log, rack: Rack, make_user: Any) -> None:
    device = rack.device()
    account = make_user(("view", "extras.objectchange"), ("view delete", "dcim.device"))
    account.api.post(log.path(device["id"], "create"), query={"request": "true"}, status=403)
    account.api.post(log.path(device["id"], "create"), status=200)


def test_the_number_of_statements_does_not_grow_with_the_objects(
    log: Log, api: Api, unique: Unique, service: Service
) -> None:
    def cost(count: int) -> list[int]:
        tenants = api.post("/api/tenancy/tenants/", [{"name": unique()} for _ in range(count)])
        api.patch("/api/tenancy/tenants/", [{"id": item["id"], "description": "x"} for item in tenants])
        key, counts = tenants[0]["id"], []
        paths = [log.path(key, "update")]
        for action in ("create", "delete"):
            with service.statements() as statements:
                api.post(paths[-1], status=200, query={"request": "true"})
            counts.append(len(statements))
            paths.append(log.path(key, action))
        with service.statements() as statements:
            api.post(paths[-1], status=200, query={"request": "true"})
        return [*counts, len(statements)]

    cost(1)  # fills caches, such as that of the content types
    assert cost(3) == cost(30)


def test_a_dry_run_shows_the_undo_and_writes_nothing(log: Log, api: Api, rack: Rack) -> None:
    device = rack.device()
    api.delete(f"{DEVICES}{device['id']}/")
    api.post(log.path(device["id"], "delete"), query={"dry_run": "true"}, status=200)
    api.get(f"{DEVICES}{device['id']}/", status=404)
    log.revert(device["id"], "delete")


@pytest.mark.parametrize("value", ["maybe", "2"])
def test_the_flag_for_the_whole_request_is_a_boolean(log: Log, api: Api, site: Any, value: str) -> None:
    assert "request" in api.post(log.path(site["id"], "create"), query={"request": value}, status=400)
    api.post(f"{CHANGES}{uuid.uuid4()}/revert/", status=404)
    api.post(f"{CHANGES}nothing/revert/", status=404)
