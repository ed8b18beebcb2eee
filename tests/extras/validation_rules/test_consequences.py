"""Validation rules judge what the service itself writes to an object in consequence of another write."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_core.models.columns import SET_NULL
from netinv_testing import Api, Samples, Service, Unique

RULES = "/api/extras/validation-rules/"
Made = dict[str, Any]
AddRule = Callable[..., Made]


@pytest.fixture
def add_rule(api: Api, unique: Unique) -> Iterator[AddRule]:
    """``add_rule(label, key, requires)`` makes a rule about one object, which is deleted after the test."""
    made: list[Made] = []

    def add(label: str, keys: Any, requires: Any, **fields: Any) -> Made:
        body = {"name": unique(), "content_type": label, "applies_to": {"id": keys}, "requires": requires, **fields}
        made.append(api.post(RULES, body))
        return made[-1]

    yield add
    for rule in made:
        api.send("DELETE", rule["url"])


@pytest.fixture
def samples(service: Service) -> Samples:
    return Samples(service)


@dataclasses.dataclass(frozen=True)
class Case:
    """A write with a consequence for another object: ``requires`` is what that keeps only without the write."""

    label: str
    changed: Made
    requires: Made
    method: str
    path: str
    body: Any = None


CASES: dict[str, Callable[[Api, Samples, Service], Case]] = {}


def case(function: Callable[[Api, Samples, Service], Case]) -> Callable[[Api, Samples, Service], Case]:
    CASES[function.__name__.replace("_", " ")] = function
    return function


def make(samples: Samples, label: str, **members: Any) -> Made:
    return dict(samples.make(samples.registry[label], **members))


@case
def a_region_is_deleted(api: Api, samples: Samples, service: Service) -> Case:
    region = make(samples, "dcim.region")
    site = make(samples, "dcim.site", region=region["id"])
    return Case("dcim.site", site, {"region__isnull": False}, "DELETE", region["url"])


@case
def a_primary_address_is_deleted(api: Api, samples: Samples, service: Service) -> Case:
    device = make(samples, "dcim.device")
    interface = make(samples, "dcim.interface", device=device["id"])
    bound = {"assigned_object_type": "dcim.interface", "assigned_object_id": interface["id"]}
    address = make(samples, "ipam.ipaddress", address=f"{service.unique.ipv6()}::1/64", **bound)
    api.patch(device["url"], {"primary_ip6": address["id"]})
    return Case("dcim.device", device, {"has_primary_ip": True}, "DELETE", address["url"])


@case
def a_tag_is_deleted(api: Api, samples: Samples, service: Service) -> Case:
    tag = make(samples, "extras.tag", content_types=["dcim.site"])
    site = make(samples, "dcim.site", tags=[tag["id"]])
    return Case("dcim.site", site, {"tag": [tag["slug"]]}, "DELETE", tag["url"])


@case
def a_virtual_chassis_gets_a_master(api: Api, samples: Samples, service: Service) -> Case:
    device = make(samples, "dcim.device", name=service.unique())
    body = {"name": service.unique(), "master": device["id"]}
    return Case("dcim.device", device, {"virtual_chassis__isnull": True}, "POST", "/api/dcim/virtual-chassis/", body)


@case
def a_virtual_chassis_is_deleted(api: Api, samples: Samples, service: Service) -> Case:
    chassis = make(samples, "dcim.virtualchassis")
    device = make(samples, "dcim.device", name=service.unique(), virtual_chassis=chassis["id"], vc_position=2)
    return Case("dcim.device", device, {"virtual_chassis__isnull": False}, "DELETE", chassis["url"])


@case
def a_device_is_installed_in_a_bay(api: Api, samples: Samples, service: Service) -> Case:
    types = [make(samples, "dcim.devicetype", u_height=u, subdevice_role=r) for u, r in ((1, "parent"), (0, "child"))]
    sites = [make(samples, "dcim.site") for _ in types]
    places = [{"site": site["id"], "location": None, "rack": None} for site in sites]
    outer, inner = (
        make(samples, "dcim.device", device_type=kind["id"], **place) for kind, place in zip(types, places, strict=True)
    )
    bay = make(samples, "dcim.devicebay", device=outer["id"], installed_device=None)
    body = {"installed_device": inner["id"]}
    return Case("dcim.device", inner, {"site": [sites[1]["slug"]]}, "PATCH", bay["url"], body)


@case
def a_rack_moves(api: Api, samples: Samples, service: Service) -> Case:
    here, there = (make(samples, "dcim.site") for _ in range(2))
    rack = make(samples, "dcim.rack", site=here["id"], location=None, group=None)
    device = make(samples, "dcim.device", site=here["id"], location=None, rack=rack["id"])
    return Case("dcim.device", device, {"site": [here["slug"]]}, "PATCH", rack["url"], {"site": there["id"]})


@case
def a_rack_group_moves(api: Api, samples: Samples, service: Service) -> Case:
    """Two steps away from the device."""
    here, there = (make(samples, "dcim.site") for _ in range(2))
    group = make(samples, "dcim.rackgroup", site=here["id"], location=None, parent=None)
    rack = make(samples, "dcim.rack", site=here["id"], location=None, group=group["id"])
    device = make(samples, "dcim.device", site=here["id"], location=None, rack=rack["id"])
    return Case("dcim.device", device, {"site": [here["slug"]]}, "PATCH", group["url"], {"site": there["id"]})


@case
def a_group_of_vlans_moves(api: Api, samples: Samples, service: Service) -> Case:
    here, there = (make(samples, "dcim.site") for _ in range(2))
    group = make(samples, "ipam.vlangroup", site=here["id"], location=None)
    vlan = make(samples, "ipam.vlan", site=here["id"], location=None, group=group["id"])
    return Case("ipam.vlan", vlan, {"site": [here["slug"]]}, "PATCH", group["url"], {"site": there["id"]})


@case
def a_location_moves(api: Api, samples: Samples, service: Service) -> Case:
    here, there = (make(samples, "dcim.site") for _ in range(2))
    kind = make(samples, "dcim.locationtype", content_types=["dcim.device"], parent=None)
    location = make(samples, "dcim.location", location_type=kind["id"], site=here["id"], parent=None)
    device = make(samples, "dcim.device", site=here["id"], location=location["id"], rack=None)
    return Case("dcim.device", device, {"site": [here["slug"]]}, "PATCH", location["url"], {"site": there["id"]})


@case
def a_cable_is_deleted(api: Api, samples: Samples, service: Service) -> Case:
    ends = [make(samples, "dcim.interface", device=make(samples, "dcim.device")["id"], type="1000base-t") for _ in "ab"]
    named = {f"termination_{s}_type": "dcim.interface" for s in "ab"}
    named |= {f"termination_{s}_id": end["id"] for s, end in zip("ab", ends, strict=True)}
    cable = make(samples, "dcim.cable", **named)
    return Case("dcim.interface", ends[0], {"cable__isnull": False}, "DELETE", cable["url"])


@pytest.mark.parametrize("name", CASES)
def test_a_consequence_that_breaks_a_rule_is_refused_or_warned_of_with_the_object_and_the_rule(
    service: Service, api: Api, samples: Samples, add_rule: AddRule, name: str
) -> None:
    made = CASES[name](api, samples, service)
    before = api.get(made.changed["url"])
    add_rule(made.label, [made.changed["id"]], made.requires, enabled=False)
    rule = add_rule(made.label, [made.changed["id"]], made.requires)
    refused = api.send(made.method, made.path, made.body)
    assert refused.status_int == (409 if made.method == "DELETE" else 400), refused.text
    name = before.get("name") or before["display"]
    assert rule["name"] in refused.text and name in refused.text
    assert api.get(made.changed["url"]) == before
    api.patch(rule["url"], {"severity": "warn"})
    preview = api.send(made.method, f"{made.path}?dry_run=true", made.body)
    done = api.send(made.method, made.path, made.body, status=(200, 201, 204))
    for warnings in (preview.json["warnings"], json.loads(done.headers["API-Warnings"])["warnings"]):
        (warning,) = [one for one in warnings if rule["name"] in one["message"]]
        assert (warning["object_type"], warning["object_id"]) == (made.label, made.changed["id"])
        assert name in warning["message"]
    assert api.get(made.changed["url"]) != before


#: Members that an object needs with a reference, and those of its target.
NEEDED: dict[str, tuple[Made, Made]] = {
    "lag": ({"type": "1000base-t"}, {"type": "lag"}),
    "virtual_chassis": ({"vc_position": 2}, {}),
    "local_context_schema": ({"local_context_data": {"a": 1}}, {}),
    "untagged_vlan": ({"mode": "access"}, {}),
}
#: References that need more than members; a case above has one of each kind.
PREPARED = {"installed_device", "primary_ip4", "primary_ip6"}


def nulled_references(service: Service) -> list[tuple[str, str, str]]:
    """Every writable reference that the deletion of its target sets to null: labels of target and owner, and field."""
    return [
        (target.label, child.label, name)
        for target in service.registry.endpoints.values()
        for child, attribute, policy in target.incoming_foreign_keys
        if (name := attribute.removesuffix("_id")) in child.writable and name not in PREPARED
        if policy == SET_NULL and child.resource.recorded
    ]


def test_every_reference_that_a_deletion_sets_to_null_is_judged(
    service: Service, api: Api, samples: Samples, add_rule: AddRule
) -> None:
    found = nulled_references(service)
    assert len(found) > 20
    for target, label, name in found:
        own, of_target = NEEDED.get(name, ({}, {}))
        referred = make(samples, target, **of_target)
        made = make(samples, label, **own, **{name: referred["id"]})
        assert made[name], (label, name)
        rule = add_rule(label, [made["id"]], {f"{name}__isnull": False})
        assert rule["name"] in api.delete(referred["url"], status=409)["detail"], (label, name)


def test_the_object_of_a_list_that_leads_to_a_broken_rule_is_refused_alone(
    api: Api, samples: Samples, add_rule: AddRule
) -> None:
    here, there = (make(samples, "dcim.site") for _ in range(2))
    racks = [make(samples, "dcim.rack", site=here["id"], location=None, group=None) for _ in range(3)]
    place = {"site": here["id"], "location": None}
    devices = [make(samples, "dcim.device", rack=rack["id"], **place) for rack in racks]
    add_rule("dcim.device", [devices[1]["id"]], {"site": [here["slug"]]})
    bodies = [{"id": rack["id"], "site": there["id"]} for rack in racks]
    results = api.patch("/api/dcim/racks/?on_error=continue", bodies)
    assert [one["status"] for one in results] == ["updated", "failed", "updated"]
    regions = [make(samples, "dcim.region") for _ in range(2)]
    sites = [make(samples, "dcim.site", region=region["id"]) for region in regions]
    add_rule("dcim.site", [sites[0]["id"]], {"region__isnull": False})
    bodies = [{"id": region["id"]} for region in regions]
    results = api.send("DELETE", "/api/dcim/regions/?on_error=continue", bodies, status=200).json
    assert [one["status"] for one in results] == ["failed", "deleted"]


def test_what_a_consequence_does_not_change_is_not_judged(api: Api, samples: Samples, add_rule: AddRule) -> None:
    """A rule that was broken before, and objects that are deleted with their parent."""
    here, there = (make(samples, "dcim.site") for _ in range(2))
    rack = make(samples, "dcim.rack", site=here["id"], location=None, group=None)
    device = make(samples, "dcim.device", site=here["id"], location=None, rack=rack["id"])
    interface = make(samples, "dcim.interface", device=device["id"])
    add_rule("dcim.device", [device["id"]], {"has_primary_ip": True})
    add_rule("dcim.device", [device["id"]], {"name__ic": "no such name"})
    add_rule("dcim.interface", [interface["id"]], {"description__n": ""})
    api.patch(device["url"], {"comments": "as before"})
    api.patch(rack["url"], {"site": there["id"]})
    assert api.get(device["url"])["site"]["id"] == there["id"]
    api.delete(device["url"])


def test_the_number_of_statements_of_a_deletion_does_not_grow_with_its_consequences(
    api: Api, samples: Samples, add_rule: AddRule, statements: Any
) -> None:
    counted = {}
    for severity in ("refuse", "warn"):
        for count in (1, 1, 6):
            region = make(samples, "dcim.region")
            sites = [make(samples, "dcim.site", region=region["id"])["id"] for _ in range(count)]
            met = {"region__isnull": severity == "refuse"}
            rules = [add_rule("dcim.site", sites, met, severity=severity, enabled=False) for _ in range(2)]
            api.patch(RULES, [{"id": rule["id"], "enabled": True} for rule in rules])
            api.get("/api/dcim/sites/", {"limit": 1})
            with statements() as found:
                answer = api.send("DELETE", region["url"], status=204)
            assert ("API-Warnings" in answer.headers) == (severity == "warn")
            counted[severity, count] = len(found)
    assert counted["refuse", 1] == counted["refuse", 6] and counted["warn", 1] == counted["warn", 6], counted


def test_warnings_name_no_objects_that_the_user_may_not_view(
    service: Service, api: Api, samples: Samples, add_rule: AddRule
) -> None:
    region = make(samples, "dcim.region")
    hidden = make(samples, "dcim.site", region=region["id"])
    rule = add_rule("dcim.site", [hidden["id"]], {"region__isnull": False})
    narrow = service.user(("view", "dcim.region"), ("delete", "dcim.region")).api
    refused = narrow.send("DELETE", region["url"], status=409)
    assert hidden["name"] not in refused.text and hidden["id"] not in refused.text and rule["name"] not in refused.text
    api.patch(rule["url"], {"severity": "warn"})
    assert "API-Warnings" not in narrow.send("DELETE", region["url"], status=204).headers


def test_an_undo_is_judged_by_its_consequences_and_restores_what_a_rule_requires(
    api: Api, samples: Samples, add_rule: AddRule
) -> None:
    region = make(samples, "dcim.region")
    site = make(samples, "dcim.site", region=region["id"])
    rule = add_rule("dcim.site", [site["id"]], {"region__isnull": False}, enabled=False)
    api.delete(region["url"])
    changes = "/api/extras/object-changes/"
    (deletion,) = api.get(changes, {"changed_object_id": region["id"], "action": "delete"})["results"]
    api.send("POST", f"{deletion['url']}revert/", {}, status=200)
    api.patch(site["url"], {"region": region["id"]})
    api.patch(rule["url"], {"enabled": True})
    creation = api.get(changes, {"changed_object_id": region["id"], "action": "create"})["results"][0]
    refused = api.send("POST", f"{creation['url']}revert/", {})
    assert refused.status_int in (400, 409) and rule["name"] in refused.text, refused.text
