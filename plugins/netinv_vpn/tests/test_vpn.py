"""Tunnels and layer-2 VPNs: their ends, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, named

PATH = "/api/plugins/vpn"
TUNNELS, TERMINATIONS, L2VPNS, L2VPN_TERMINATIONS = (
    f"{PATH}/{name}/" for name in ("tunnels", "tunnel-terminations", "l2vpns", "l2vpn-terminations")
)


@pytest.fixture
def interface(service: Service) -> Any:
    """An interface of a device."""
    return Case(service, "dcim.interface").make()


def test_a_tunnel_ends_at_an_interface_once(api: Api, unique: Unique, interface: Any) -> None:
    tunnel = api.post(TUNNELS, {"name": unique(), "status": "active", "encapsulation": "gre"})
    end = {"tunnel": tunnel["id"], "termination_type": "dcim.interface", "termination_id": interface["id"]}
    made = api.post(TERMINATIONS, {**end, "role": "hub"})
    assert made["display"] == f"{tunnel['name']} (Hub)"
    api.post(TERMINATIONS, end, status=400)
    assert list(api.patch(f"{TERMINATIONS}{made['id']}/", {"termination_type": "dcim.site"}, status=400)) == [
        "termination_type"
    ]
    api.delete(f"/api/dcim/interfaces/{interface['id']}/")
    api.get(f"{TERMINATIONS}{made['id']}/", status=404)


def test_an_interface_or_vlan_is_of_one_layer_2_vpn(api: Api, service: Service, make: Any) -> None:
    first, second = (make(L2VPNS, type="vxlan", identifier=5000, status="active") for _ in range(2))
    vlan = Case(service, "ipam.vlan").make()
    end = {"assigned_object_type": "ipam.vlan", "assigned_object_id": vlan["id"]}
    made = api.post(L2VPN_TERMINATIONS, {**end, "l2vpn": first["id"]})
    assert made["assigned_object"]["id"] == vlan["id"]
    api.post(L2VPN_TERMINATIONS, {**end, "l2vpn": second["id"]}, status=400)


def test_interfaces_have_tabs(api: Api, service: Service, unique: Unique, make: Any, interface: Any) -> None:
    tunnel = api.post(TUNNELS, {"name": unique(), "status": "active"})
    l2vpn = make(L2VPNS, status="active")
    body = {"tunnel": tunnel["id"], "termination_type": "dcim.interface", "termination_id": interface["id"]}
    api.post(TERMINATIONS, body)
    end = {"assigned_object_type": "dcim.interface", "assigned_object_id": interface["id"]}
    api.post(L2VPN_TERMINATIONS, {**end, "l2vpn": l2vpn["id"]})
    browser, page = Browser(service, service.admin), f"/dcim/interfaces/{interface['id']}/"
    assert tunnel["name"] in browser.get(f"{page}tunnels/").text
    assert l2vpn["name"] in browser.get(f"{page}l2vpns/").text


@pytest.mark.parametrize("app", ["ipam", "vpn"])
def test_vpns_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique, app: str) -> None:
    name = unique()
    report = load_dump(
        named("ipam.vlangroup", 1, name),
        item("ipam.vlan", 1, vid=10, name=name, status="active", group=1),
        item("ipam.routetarget", 1, name=name[-21:]),
        named(f"{app}.l2vpn", 1, name, type="vxlan", identifier=7, import_targets=[1], export_targets=[]),
        item(f"{app}.l2vpntermination", 1, l2vpn=1, assigned_object_type=["ipam", "vlan"], assigned_object_id=1),
        named("vpn.tunnelgroup", 1, name),
        item("vpn.tunnel", 1, name=name, status="active", group=1, encapsulation="gre", tunnel_id=None,
             ipsec_profile=None),
    )  # fmt: skip
    for label in (f"{app}.l2vpn", f"{app}.l2vpntermination", "vpn.tunnelgroup", "vpn.tunnel"):
        assert report.counts()[label] == {"created": 1}, report.reasons
    (l2vpn,) = api.get(L2VPNS, {"name": name})["results"]
    assert [target["name"] for target in l2vpn["import_targets"]] == [name[-21:]]
    (end,) = api.get(L2VPN_TERMINATIONS, {"l2vpn": l2vpn["slug"]})["results"]
    assert end["assigned_object"]["name"] == name
