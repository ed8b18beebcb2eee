"""Export templates of the kinds that people share: configurations of devices, zone files, DHCP, monitoring, inventories.

Each file of ``community/<content type>/`` has its output beside it, for the inventory of this module. Blank lines do
not count.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Api, Service

FOLDER = Path(__file__).with_name("community")
TEMPLATES = sorted(FOLDER.glob("*/*.j2"))
DEVICES, INTERFACES = "/api/dcim/devices/", "/api/dcim/interfaces/"
PATHS = {
    "dcim.device": (DEVICES, {"site": "porto-t"}),
    "dcim.interface": (INTERFACES, {"site": "porto-t"}),
    "ipam.vlan": ("/api/ipam/vlans/", {"site": "porto-t"}),
    "ipam.prefix": ("/api/ipam/prefixes/", {"vrf": "65000:77"}),
    "ipam.ipaddress": ("/api/ipam/ip-addresses/", {"vrf": "65000:77"}),
}


@pytest.fixture(scope="session")
def inventory(service: Service) -> Api:
    """Two cabled devices of a site, with addresses in a VRF of their own."""
    api = service.api
    site = api.post("/api/dcim/sites/", {"name": "Porto T", "slug": "porto-t", "status": "active"})["id"]
    maker = api.post("/api/dcim/manufacturers/", {"name": "Acme T", "slug": "acme-t"})["id"]
    kind = {"manufacturer": maker, "model": "R9 T", "slug": "r9-t", "u_height": 1}
    kind_id = api.post("/api/dcim/device-types/", kind)["id"]
    role = api.post("/api/dcim/device-roles/", {"name": "Edge Router T", "slug": "edge-router-t"})["id"]
    rack = api.post("/api/dcim/racks/", {"name": "R1", "site": site, "status": "active"})["id"]
    tag = api.post("/api/extras/tags/", {"name": "Core T", "slug": "core-t", "content_types": ["dcim.device"]})["id"]
    vrf = api.post("/api/ipam/vrfs/", {"name": "red T", "rd": "65000:77"})["id"]
    group = {"device_type": kind_id, "device_role": role, "site": site, "status": "active"}
    first, second = api.post(
        DEVICES,
        [
            {"name": "rt-1", "rack": rack, "position": 7, "face": "front", "asset_tag": "A77T", "tags": [tag], **group},
            {"name": "RT-2", "local_context_data": {"ntp": ["192.0.2.123"]}, **group},
        ],
    )
    vlans = [{"name": f"Users {vid}", "vid": vid, "site": site, "status": "active"} for vid in (20, 21, 30)]
    vlan_ids = [vlan["id"] for vlan in api.post("/api/ipam/vlans/", vlans)]
    uplink = {"type": "1000base-t", "status": "active"}
    ports = [
        {"device": first["id"], "name": "GigabitEthernet0/1", "description": "to RT-2", **uplink},
        {"device": first["id"], "name": "GigabitEthernet0/2", "mode": "tagged", "tagged_vlans": vlan_ids, **uplink},
        {"device": first["id"], "name": "Loopback0", "type": "virtual", "status": "active"},
        {"device": second["id"], "name": "GigabitEthernet0/1", "mac_address": "00:11:22:AA:BB:CC", **uplink},
        {"device": second["id"], "name": "GigabitEthernet0/9", "enabled": False, **uplink},
    ]
    ids = [port["id"] for port in api.post(INTERFACES, ports)]
    kinds = {"termination_a_type": "dcim.interface", "termination_b_type": "dcim.interface"}
    ends = {"termination_a_id": ids[0], "termination_b_id": ids[3], "label": "c-1", "status": "connected"}
    api.post("/api/dcim/cables/", {**kinds, **ends})
    common = {"vrf": vrf, "status": "active"}
    prefixes = [{"prefix": "10.77.10.0/24"}, {"prefix": "10.77.2.0/24", "site": site, "vlan": vlan_ids[0]}]
    api.post("/api/ipam/prefixes/", [{**prefix, **common} for prefix in [*prefixes, {"prefix": "2001:db8:77::/64"}]])
    given = [
        ("10.77.10.1/24", "rt-1.example.net", ids[0]),
        ("2001:db8:77::1/64", "rt-1.example.net", ids[0]),
        ("10.77.2.9/24", "rt-2.example.net", ids[3]),
        ("10.77.2.40/24", "", ids[2]),
    ]
    addresses = [
        {"address": text, "dns_name": name, "assigned_object_type": "dcim.interface", "assigned_object_id": port}
        for text, name, port in given
    ]
    made = api.post("/api/ipam/ip-addresses/", [{**address, **common} for address in addresses])
    api.patch(first["url"], {"primary_ip4": made[0]["id"], "primary_ip6": made[1]["id"]})
    api.patch(second["url"], {"primary_ip4": made[2]["id"]})
    return api


def lines(text: str) -> list[str]:
    """The lines of a text that are not blank."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_renders_what_it_did_on_1_x(inventory: Api, unique: Any, path: Path) -> None:
    label = path.parent.name
    body = {"name": unique(), "content_type": label, "template_code": path.read_text()}
    template = inventory.post("/api/extras/export-templates/", body)
    listed, filters = PATHS[label]
    answer = inventory.send("GET", listed, query={"export": template["name"], **filters}, status=[200, 400])
    inventory.delete(template["url"])
    text = answer.text if answer.status_int == 200 else answer.json["export"][0]
    assert lines(text) == lines(path.with_suffix(".txt").read_text())
