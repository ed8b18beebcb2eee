"""Import of a Nautobot 3.x: what its lists have that those of 2.x have not. A double serves them over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from netinv_testing import Api
from tests.support.inventory_service import InventoryService, serving
from tests.support.nautobot2 import Nautobot2
from tests.support.nautobot2_lists import everything

pytestmark = pytest.mark.any_database  # what the service serves

LANES = {"total_lanes": 2, "connected_lanes": 2}


@pytest.fixture(scope="module")
def there() -> Nautobot2:
    """The objects of a 2.4, and a breakout cable, a range, a rule, a virtual server, a VPN profile and a workflow."""
    there = everything("t-nautobot3", devices=3)
    active = there.lists["extras/statuses"][0]
    ports = [item for item in there.lists["dcim/interfaces"] if item["name"] == "e3"]
    ends = dict(zip(("a1", "b1", "b2"), ports, strict=True))
    type_ = there.named("dcim/cable-types", "1x2 breakout", a_connectors=1, b_connectors=2)
    cable = there.add(
        "dcim/cables",
        status=active,
        cable_type=type_,
        terminations={
            place: {name: port[name] for name in ("id", "object_type", "url")} for place, port in ends.items()
        },
        **{f"termination_{place[0]}_type": "dcim.interface" for place in ends},
        **{f"termination_{place[0]}_id": ends[place]["id"] for place in ("a1", "b1")},
        **LANES,
    )
    for place, port in ends.items():
        there.add("dcim/cables-to-cable-terminations", cable=cable, cable_end=place[0].upper(), interface=port["id"])
    for device in there.lists["dcim/devices"]:
        device["clusters"] = [there.lists["virtualization/clusters"][0]]
    there.add(
        "ipam/ip-address-ranges",
        name="Pool",
        start_address=f"{there.network}.1.100",
        end_address=f"{there.network}.1.110",
        parent=there.lists["ipam/prefixes"][2],
        status=active,
    )
    there.named(
        "data-validation/regex-rules",
        "Names",
        content_type="dcim.device",
        field="name",
        regular_expression="^[a-z0-9 -]+",
        error_message="Lower case",
        enabled=False,
        context_processing=False,
    )
    there.named("data-validation/required-rules", "Required", content_type="dcim.location", field="name", enabled=False)
    there.named("load-balancers/virtual-servers", "VIP")
    there.named("vpn/vpn-profiles", "Profile")
    there.named("extras/approval-workflow-definitions", "Workflow")
    return there


@pytest.fixture(scope="module")
def imported(command: Any, there: Nautobot2) -> dict[str, Any]:
    """The reports of two imports, one after the other, as one: the second is below ``again``."""
    with serving(InventoryService("nautobot", "3.2.7", there.lists, page_size=50)) as service:
        reports = [json.loads(command("nautobot", service.url, "--json").stdout) for _ in range(2)]
    return {**reports[0], "again": reports[1]}


def test_every_object_has_an_outcome_and_a_second_import_changes_nothing(imported: dict[str, Any]) -> None:
    assert imported["total"].get("refused", 0) == 0 and not imported["incomplete"]
    again = imported["again"]["total"]
    assert [again.get(outcome, 0) for outcome in ("created", "updated", "refused")] == [0, 0, 0]
    reasons = {entry["model"]: entry["reason"] for entry in imported["objects"] if entry["outcome"] == "skipped"}
    assert reasons["load-balancers.virtualserver"] == "there are no load balancers here"
    assert reasons["vpn.vpnprofile"] == "there are no VPNs of this kind here"
    assert reasons["ipam.ipaddressrange"].startswith("install netinv-ip-ranges")
    assert "no such resource yet" not in {reasons[model] for model in reasons if not model.startswith("plugins.")}


def test_many_to_many_fields_are_asked_for(imported: dict[str, Any], there: Nautobot2, api: Api) -> None:
    """A 3.x leaves them out else: namespaces would lose the VRFs of their prefixes, sites their tags."""
    site = api.get(f"/api/dcim/sites/{there.of('dcim/locations', 'First')['id']}/")
    assert [tag["name"] for tag in site["tags"]] == [f"{there.word} Blue"]
    (vrf,) = api.get("/api/ipam/vrfs/", {"name": f"{there.word} Routed"})["results"]
    assert api.get("/api/ipam/prefixes/", {"vrf_id": vrf["id"]})["count"] == 1


def test_a_breakout_cable_has_its_first_ends_and_lists_the_others(
    imported: dict[str, Any], there: Nautobot2, api: Api
) -> None:
    first, second = (api.get(f"/api/dcim/cables/{item['id']}/") for item in there.lists["dcim/cables"])
    assert (first["custom_fields"]["nautobot_more_ends"], second["custom_fields"]["nautobot_more_ends"]) == (
        None,
        [f"B2: {there.word} sw2 e3"],
    )
    assert second["custom_fields"]["nautobot_cable_type"] == f"{there.word} 1x2 breakout"
    kept = {name for name, value in second["custom_fields"].items() if value is not None}
    assert not kept & {"nautobot_terminations", "nautobot_total_lanes", "nautobot_connected_lanes"}
    assert second["termination_b"]["name"] == "e3" and second["termination_b"]["device"]["name"].endswith("sw1")


def test_its_rules_become_validation_rules(imported: dict[str, Any], there: Nautobot2, api: Api) -> None:
    (rule,) = api.get("/api/extras/validation-rules/", {"name": f"{there.word} Names"})["results"]
    assert rule["requires"] == {"name__re": "^[a-z0-9 -]+"} and rule["message"] == "Lower case"


def test_a_rule_of_locations_is_one_of_all_that_they_become(
    imported: dict[str, Any], there: Nautobot2, api: Api
) -> None:
    rules = api.get("/api/extras/validation-rules/", {"name__isw": f"{there.word} Required"})["results"]
    word = f"{there.word} Required"
    assert {rule["name"]: rule["content_type"] for rule in rules} == {
        word: "dcim.location",
        f"{word} (regions)": "dcim.region",
        f"{word} (sites)": "dcim.site",
    }
    key = there.of("data-validation/required-rules", "Required")["id"]
    assert [rule["name"] for rule in rules if rule["id"] == key] == [word]
