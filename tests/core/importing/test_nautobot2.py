"""Import of a Nautobot 2.x, of which a double serves the lists over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from netinv_testing import Api
from tests.support.inventory_service import InventoryService, serving
from tests.support.nautobot2 import MODELS, Nautobot2
from tests.support.nautobot2_lists import everything


@pytest.fixture(scope="module")
def there() -> Nautobot2:
    """The objects of the other service."""
    return everything(f"t{uuid4().hex[:10]}")


@pytest.fixture(scope="module")
def nautobot(there: Nautobot2) -> Iterator[InventoryService]:
    """A Nautobot 2.4 that serves them in pages."""
    with serving(InventoryService("nautobot", "2.4.5", there.lists, page_size=50)) as service:
        yield service


@pytest.fixture(scope="module")
def imported(command: Any, nautobot: InventoryService) -> dict[str, Any]:
    """The report of an import."""
    done = command("nautobot", nautobot.url, "--json")
    report: dict[str, Any] = json.loads(done.stdout)
    problems = [entry for entry in report["objects"] if entry["outcome"] == "refused"] + report["incomplete"]
    assert done.exit_code == 0 and not problems, (done.output[-2000:], problems[:9])
    return report


def found(api: Api, path: str, name: str) -> Any:
    """The one object of a name."""
    (only,) = api.get(path, {"name": name})["results"]
    return only


def test_every_object_has_an_outcome_and_a_second_run_changes_nothing(
    imported: dict[str, Any], there: Nautobot2, command: Any, nautobot: InventoryService
) -> None:
    for path, items in there.lists.items():
        label = MODELS[path] if not path.startswith("plugins") else "plugins.lifecycle.contract"
        if label not in ("dcim.location", "ipam.prefix"):
            assert sum(imported["models"].get(label, {}).values()) >= len(items), label
    kinds = {label: imported["models"][label]["created"] for label in ("dcim.region", "dcim.site", "dcim.location")}
    assert kinds == {"dcim.region": 2, "dcim.site": 2, "dcim.location": 2}
    assert sum(map(len, there.lists.values())) > 400
    reasons = {entry["model"]: entry["reason"] for entry in imported["objects"]}
    assert reasons["plugins.lifecycle.contract"] == "no such resource yet"
    assert reasons["extras.graphqlquery"].startswith("it is written for the objects of the other service")
    again = json.loads(command("nautobot", nautobot.url, "--json").stdout)
    changed = {label: counts for label, counts in again["models"].items() if counts.keys() & {"created", "updated"}}
    assert not changed
    assert again["total"]["created"] == again["total"]["updated"] == again["total"]["refused"] == 0
    first = imported["total"]  # other tests may have made an object that is equal to one of them
    assert again["total"]["unchanged"] == first["created"] + first["updated"] + first["unchanged"]


def test_locations_become_regions_sites_and_locations_with_their_ids(
    imported: dict[str, Any], there: Nautobot2, api: Api
) -> None:
    first, second = (there.of("dcim/locations", name) for name in ("First", "Second"))
    site = api.get(f"/api/dcim/sites/{first['id']}/")
    country = there.of("dcim/locations", "Country")
    assert (site["region"]["id"], site["asn"], site["status"]["value"]) == (country["id"], 64512, "active")
    assert site["tenant"]["name"] == f"{there.word} Shop" and [tag["name"] for tag in site["tags"]] == [
        f"{there.word} Blue"
    ]
    assert site["custom_fields"][there.lists["extras/custom-fields"][0]["key"]] == "warm"
    (contact,) = site["custom_fields"]["nautobot_contacts"]
    assert (contact["name"], contact["teams"]) == (f"{there.word} Ann", [f"{there.word} Operations"])
    region = api.get(f"/api/dcim/regions/{country['id']}/")
    assert region["parent"]["id"] == there.of("dcim/locations", "North")["id"]
    assert region["custom_fields"]["nautobot_comments"] == "the whole country"
    rooms = [item for item in there.lists["dcim/locations"] if item["name"].endswith("Machines")]
    shown = [api.get(f"/api/dcim/locations/{room['id']}/") for room in rooms]
    assert [room["site"]["id"] for room in shown] == [first["id"], second["id"]]
    assert shown[0]["name"] == f"{there.word} Machines ({there.word} First)"
    (note,) = api.get(f"/api/dcim/sites/{first['id']}/notes/")["results"]
    assert note["note"] == "Ring twice"
    context = found(api, "/api/extras/config-contexts/", f"{there.word} Context")
    assert [[item["id"] for item in context[name]] for name in ("regions", "sites", "locations")] == [
        [country["id"]],
        [second["id"]],
        [rooms[0]["id"]],
    ]


def test_one_role_becomes_a_role_of_each_kind(imported: dict[str, Any], there: Nautobot2, api: Api) -> None:
    key = there.of("extras/roles", "Access")["id"]
    shown = api.get(f"/api/dcim/device-roles/{key}/")
    assert shown["vm_role"] is True and shown["custom_fields"]["nautobot_weight"] == 7
    assert api.get(f"/api/dcim/rack-roles/{key}/")["color"] == "ff0000"
    assert api.get(f"/api/ipam/roles/{key}/")["weight"] == 7
    device = found(api, "/api/dcim/devices/", f"{there.word} sw1")
    assert (device["device_role"]["id"], device["rack"]["name"]) == (key, f"{there.word} R1")
    assert device["site"]["id"] == there.of("dcim/locations", "First")["id"]
    assert device["location"]["name"].startswith(f"{there.word} Machines")
    assert device["custom_fields"]["nautobot_software_version"] == "17.3.1 (Amsterdam)"
    assert device["custom_fields"]["nautobot_controller_managed_device_group"] == f"{there.word} Access"
    (uplink,) = api.get("/api/dcim/interfaces/", {"device_id": device["id"], "name": "e0"})["results"]
    assert uplink["custom_fields"]["nautobot_role"] == f"{there.word} Uplink" and uplink["cable"]
    (module,) = api.get("/api/dcim/inventory-items/", {"device": f"{there.word} sw0"})["results"]
    assert (module["name"], module["part_id"]) == ("Slot 1", "LC-48")
    machine = found(api, "/api/virtualization/virtual-machines/", f"{there.word} vm3")
    assert (machine["role"]["id"], machine["local_context_data"]) == (key, {"a": 3})


def test_namespaces_become_vrfs_and_containers_aggregates(imported: dict[str, Any], there: Nautobot2, api: Api) -> None:
    namespace = there.of("ipam/namespaces", "Shops")["id"]
    prefixes = {(item["prefix"], item["namespace"]["id"] == namespace): item for item in there.lists["ipam/prefixes"]}

    def shown(prefix: str, *, of_shop: bool, path: str = "prefixes") -> Any:
        return api.get(f"/api/ipam/{path}/{prefixes[there.network + prefix, of_shop]['id']}/")

    top = shown(".0.0/16", of_shop=False, path="aggregates")
    assert (top["rir"]["name"], top["date_added"]) == (f"{there.word} RIR", "2020-05-01")
    assert shown(".0.0/20", of_shop=False)["status"]["value"] == "container"
    pool = shown(".1.0/24", of_shop=False)
    assert (pool["is_pool"], pool["vrf"]) == (True, None)
    assert pool["custom_fields"]["nautobot_other_locations"] == [f"{there.word} Second"]
    assert shown(".1.0/24", of_shop=True)["vrf"]["id"] == namespace
    assert shown(".2.0/24", of_shop=True)["vrf"]["id"] == there.of("ipam/vrfs", "Routed")["id"]
    addresses = [item for item in there.lists["ipam/ip-addresses"] if item["address"] == f"{there.network}.1.1/24"]
    both = [api.get(f"/api/ipam/ip-addresses/{item['id']}/") for item in addresses]
    assert [(item["vrf"] or {}).get("id") for item in both] == [None, namespace]
    assert both[0]["role"]["value"] == "loopback" and both[0]["assigned_object"]["name"] in ("e1", "e2")
    dynamic = next(item for item in there.lists["ipam/ip-addresses"] if item["address"] == f"{there.network}.1.3/24")
    assert api.get(f"/api/ipam/ip-addresses/{dynamic['id']}/")["status"]["value"] == "dhcp"
    shared = next(item for item in there.lists["ipam/ip-addresses"] if item["address"] == f"{there.network}.1.5/24")
    (more,) = api.get(f"/api/ipam/ip-addresses/{shared['id']}/")["custom_fields"]["nautobot_more_assignments"]
    assert more == f"{there.word} sw0 e1"


@pytest.mark.night
def test_a_rule_names_the_types_that_become_sites(unique: Any, command: Any) -> None:
    there = everything(unique())
    with serving(InventoryService("nautobot", "2.4.5", there.lists, page_size=50)) as nautobot:
        done = command("nautobot", nautobot.url, "--rule", f"site-type={there.word} Room", "--dry-run", "--json")
    models = json.loads(done.stdout)["models"]
    assert (models["dcim.site"]["created"], models["dcim.region"]["created"]) == (2, 4)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("site-type=Nowhere", "there is no location type Nowhere"),
        ("cite-type=Room", "there is no rule cite-type for this source"),
        ("Room", "has not the form name=value"),
    ],
)
def test_a_wrong_rule_ends_in_one_line(nautobot: InventoryService, command: Any, rule: str, message: str) -> None:
    done = command("nautobot", nautobot.url, "--rule", rule)
    assert done.exit_code == 1 and message in done.output and "Traceback" not in done.output
