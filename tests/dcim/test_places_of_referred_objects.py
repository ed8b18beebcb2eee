"""Moves of objects that others refer to: these go along, or the move is refused. Nothing is left in two places."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from netinv_dcim.moves import placed_at_locations
from netinv_testing import Api, Service, Unique
from netinv_testing.samples import Samples

LOCATIONS = "/api/dcim/locations/"


@pytest.fixture
def new(service: Service) -> Any:
    """``new(label, …)``: a new object."""
    return lambda label, **members: Samples(service).make(service.registry[label], **members)


@pytest.fixture
def site(make: Any) -> Any:
    """``site()``: a site."""
    return lambda: make("/api/dcim/sites/", status="active")["id"]


@pytest.fixture
def kind(service: Service, make: Any) -> Any:
    """A type of locations that nest and take everything that has a place."""
    labels = [endpoint.label for endpoint in placed_at_locations(service.registry)]
    return make("/api/dcim/location-types/", nestable=True, content_types=labels)["id"]


@pytest.fixture
def place(make: Any, kind: Any) -> Any:
    """``place(site=…)`` or ``place(parent=…)``: a location."""
    return lambda **members: make(LOCATIONS, location_type=kind, status="active", **members)


def sites_of(api: Api, *objects: Any) -> list[Any]:
    """The sites of objects."""
    return [api.get(item["url"])["site"]["id"] for item in objects]


def test_what_is_at_a_location_moves_with_it(
    service: Service, api: Api, new: Any, site: Any, place: Any, statements: Any
) -> None:
    here, there = site(), site()
    top = place(site=here)
    below = place(parent=top["id"])
    objects = [
        new(endpoint.label, site=here, location=below["id"])
        for endpoint in placed_at_locations(service.registry)
        if endpoint.label not in ("dcim.powerpanel", "circuits.circuittermination", "example.maintenancewindow")
    ]
    api.patch(top["url"], {"site": there})
    assert sites_of(api, *objects) == [there] * len(objects)
    for item in objects:
        [change, *_] = api.get("/api/extras/object-changes/", {"changed_object_id": item["id"]})["results"]
        assert (change["action"]["value"], change["object_data"]["site"]) == ("update", there)
        assert api.patch(item["url"], {"location": below["id"], "site": there})


def test_a_location_moves_below_one_of_another_site(api: Api, new: Any, site: Any, place: Any) -> None:
    here, there = site(), site()
    moved, parent = place(site=here), place(site=there)
    rack = new("dcim.rack", site=here, location=moved["id"], group=None)
    api.patch(moved["url"], {"site": None, "parent": parent["id"]})
    assert sites_of(api, rack) == [there]


def test_devices_and_vlans_follow_what_moves_with_a_location(api: Api, new: Any, site: Any, place: Any) -> None:
    here, there = site(), site()
    moved = place(site=here)
    rack = new("dcim.rack", site=here, location=moved["id"], group=None)
    device = new("dcim.device", site=here, rack=rack["id"], location=None, position=None, face="")
    group = new("ipam.vlangroup", site=here, location=moved["id"])
    vlan = new("ipam.vlan", site=here, location=None, group=group["id"])
    api.patch(moved["url"], {"site": there})
    assert sites_of(api, device, vlan) == [there, there]


def test_what_has_no_site_gets_none_from_a_location_that_moves(api: Api, new: Any, site: Any, place: Any) -> None:
    here, there = site(), site()
    moved = place(site=here)
    group = new("ipam.vlangroup", site=None, location=None)
    vlan = new("ipam.vlan", site=None, location=moved["id"], group=group["id"])
    cluster = new("virtualization.cluster", site=None, location=moved["id"])
    api.patch(moved["url"], {"site": there})
    for item in (vlan, cluster):
        shown = api.get(item["url"])
        assert (shown["site"], shown["location"]["id"]) == (None, moved["id"])
        assert api.put(item["url"], shown)["site"] is None


def test_a_location_and_its_racks_move_in_one_bulk_request(api: Api, new: Any, site: Any, place: Any) -> None:
    here, there = site(), site()
    first, second = place(site=here), place(site=here)
    rack = new("dcim.rack", site=here, location=second["id"], group=None)
    api.patch(LOCATIONS, [{"id": item["id"], "site": there} for item in (first, second)])
    assert sites_of(api, rack) == [there]


def test_a_location_stays_with_a_rack_whose_group_stays(api: Api, new: Any, site: Any, place: Any) -> None:
    here, there = site(), site()
    moved = place(site=here)
    group = new("dcim.rackgroup", site=here, location=None, parent=None)
    rack = new("dcim.rack", site=here, location=moved["id"], group=group["id"])
    [message] = api.patch(moved["url"], {"site": there}, status=400)["site"]
    assert message.endswith(
        "Assigned rack group must belong to parent site ({}).".format(api.get(f"/api/dcim/sites/{there}/")["name"])
    )
    assert sites_of(api, rack) == [here]


def test_a_location_stays_within_that_of_the_rack_group(api: Api, new: Any, site: Any, place: Any) -> None:
    here = site()
    outer, other = place(site=here), place(site=here)
    inner = place(parent=outer["id"])
    group = new("dcim.rackgroup", site=here, location=outer["id"], parent=None)
    new("dcim.rack", site=here, location=inner["id"], group=group["id"])
    [message] = api.patch(inner["url"], {"parent": other["id"]}, status=400)["parent"]
    assert "does not include location" in message


@pytest.mark.parametrize("moved", ["rack", "panel"])
def test_racks_and_panels_stay_at_one_site_with_their_feeds(api: Api, new: Any, site: Any, moved: str) -> None:
    here, there = site(), site()
    objects = {
        "rack": new("dcim.rack", site=here, location=None, group=None),
        "panel": new("dcim.powerpanel", site=here, location=None, rack_group=None),
    }
    new("dcim.powerfeed", rack=objects["rack"]["id"], power_panel=objects["panel"]["id"])
    [message] = api.patch(objects[moved]["url"], {"site": there}, status=400)["site"]
    assert message.endswith("are in different sites")


@pytest.mark.parametrize("carried", ["untagged_vlan", "tagged_vlans"])
def test_devices_and_the_vlans_of_their_interfaces_stay_at_one_site(
    api: Api, new: Any, site: Any, make: Any, carried: str
) -> None:
    here, there = site(), site()
    rack = new("dcim.rack", site=here, location=None, group=None)
    device = new("dcim.device", site=here, rack=rack["id"], location=None, position=None, face="")
    group = new("ipam.vlangroup", site=here, location=None)
    vlan = new("ipam.vlan", site=here, location=None, group=group["id"])
    port = make(
        "/api/dcim/interfaces/",
        device=device["id"],
        type="virtual",
        status="active",
        mode="tagged",
        **{carried: vlan["id"] if carried == "untagged_vlan" else [vlan["id"]]},
    )
    for moved in (rack, device, group):
        body = {"site": there} if moved is not device else {"site": there, "rack": None}
        [message] = api.patch(moved["url"], body, status=400)["site"]
        assert message.startswith(f"Interface {port['display']}: ")
    api.patch(port["url"], {"untagged_vlan": None, "tagged_vlans": []})
    for moved in (rack, group):
        api.patch(moved["url"], {"site": there})
    assert sites_of(api, device, vlan) == [there, there]


def test_clusters_stay_at_the_site_of_the_vlans_of_their_machines(api: Api, new: Any, site: Any, make: Any) -> None:
    here, there = site(), site()
    cluster, other = (new("virtualization.cluster", site=place, location=None) for place in (here, there))
    machine = new("virtualization.virtualmachine", cluster=cluster["id"])
    vlan = new("ipam.vlan", site=here, location=None, group=None)
    make(
        "/api/virtualization/interfaces/",
        virtual_machine=machine["id"],
        status="active",
        mode="tagged",
        tagged_vlans=[vlan["id"]],
    )
    assert "site" in api.patch(cluster["url"], {"site": there}, status=400)
    assert "cluster" in api.patch(machine["url"], {"cluster": other["id"]}, status=400)
    assert "site" in api.patch(vlan["url"], {"site": there}, status=400)


def test_a_rack_is_as_high_as_its_reservations(api: Api, new: Any, site: Any) -> None:
    rack = new("dcim.rack", site=site(), location=None, group=None, u_height=42)
    new("dcim.rackreservation", rack=rack["id"], units=[40, 41])
    [message] = api.patch(rack["url"], {"u_height": 40}, status=400)["u_height"]
    assert message.endswith("Invalid unit(s) for 40U rack: 41")
    assert api.patch(rack["url"], {"u_height": 41})["u_height"] == 41


@pytest.fixture
def device_type(make: Any, unique: Any) -> Any:
    """``device_type(role)``: a device type with a subdevice role and no height."""
    return lambda role: make(
        "/api/dcim/device-types/",
        model=unique(),
        manufacturer=make("/api/dcim/manufacturers/")["id"],
        subdevice_role=role,
        u_height=0,
    )


def test_device_bays_hold_children_in_parents(api: Api, new: Any, site: Any, make: Any, device_type: Any) -> None:
    at = site()
    parent, child, plain = (device_type(role) for role in ("parent", "child", ""))
    outer, inner, other = (
        new(
            "dcim.device",
            device_type=kind["id"],
            site=at,
            rack=None,
            location=None,
            position=None,
            face="",
            platform=None,
        )
        for kind in (parent, child, plain)
    )
    bay = make("/api/dcim/device-bays/", device=outer["id"])
    [message] = api.patch(bay["url"], {"installed_device": other["id"]}, status=400)["installed_device"]
    assert message.endswith("is not a child device type.")
    api.patch(bay["url"], {"installed_device": inner["id"]})
    assert "subdevice_role" in api.patch(child["url"], {"subdevice_role": ""}, status=400)
    assert "subdevice_role" in api.patch(parent["url"], {"subdevice_role": ""}, status=400)
    assert "device_type" in api.patch(inner["url"], {"device_type": plain["id"]}, status=400)
    assert "device_type" in api.patch(outer["url"], {"device_type": plain["id"]}, status=400)
    api.patch(bay["url"], {"installed_device": None})
    assert api.patch(child["url"], {"subdevice_role": ""})


def test_makers_of_types_and_platforms_stay_together(api: Api, new: Any, site: Any, make: Any, unique: Any) -> None:
    maker, other = (make("/api/dcim/manufacturers/")["id"] for _ in range(2))
    kind = make("/api/dcim/device-types/", model=unique(), manufacturer=maker)
    platform = make("/api/dcim/platforms/", manufacturer=maker)
    new(
        "dcim.device",
        device_type=kind["id"],
        platform=platform["id"],
        site=site(),
        rack=None,
        location=None,
        position=None,
        face="",
    )
    for item in (kind, platform):
        assert "manufacturer" in api.patch(item["url"], {"manufacturer": other}, status=400)


def test_roles_of_machines_stay_roles_of_machines(api: Api, new: Any, make: Any) -> None:
    role = make("/api/dcim/device-roles/", vm_role=True)
    new("virtualization.virtualmachine", role=role["id"])
    assert "vm_role" in api.patch(role["url"], {"vm_role": False}, status=400)


def test_a_vrf_with_duplicates_does_not_become_unique(api: Api, make: Any, unique: Any) -> None:
    vrf = make("/api/ipam/vrfs/", enforce_unique=False)
    for path, body in (
        ("/api/ipam/prefixes/", {"prefix": "10.99.0.0/24"}),
        ("/api/ipam/ip-addresses/", {"address": "10.99.0.1/24"}),
    ):
        _, second = (api.post(path, {**body, "vrf": vrf["id"], "status": "active"}) for _ in range(2))
        [message, *_] = api.patch(vrf["url"], {"enforce_unique": True}, status=400)["enforce_unique"]
        assert "Duplicate" in message
        api.delete(second["url"])
    assert api.patch(vrf["url"], {"enforce_unique": True})["enforce_unique"] is True


def test_what_would_have_the_name_of_another_there_keeps_its_location_where_it_is(
    service: Service, api: Api, new: Any, site: Any, place: Any, unique: Unique
) -> None:
    walked = set()
    for endpoint in placed_at_locations(service.registry):
        sets = [c for c in endpoint.table.constraints if isinstance(c, sa.UniqueConstraint) and "site_id" in c.columns]
        if not sets:
            continue
        here, there = site(), site()
        moved = place(site=here)
        named = {name: unique().lower() for name in ("name", "slug") if name in endpoint.writable}
        item = new(endpoint.label, site=here, location=moved["id"], **named)
        new(endpoint.label, site=there, location=None, **named)
        errors = api.patch(moved["url"], {"site": there}, status=400)
        assert f"{item['display']}: " in errors["non_field_errors"][0]
        assert sites_of(api, item) == [here]
        walked.add(endpoint.label)
    assert {"dcim.device", "dcim.rackgroup", "dcim.powerpanel", "ipam.vlangroup"} <= walked


@pytest.mark.parametrize("moved", ["rack", "group", "parent"])
def test_a_device_with_a_name_that_is_taken_keeps_what_it_is_in_where_it_is(
    api: Api, new: Any, site: Any, unique: Unique, moved: str
) -> None:
    here, there = site(), site()
    group = new("dcim.rackgroup", site=here, location=None)
    rack = new("dcim.rack", site=here, location=None, group=group["id"])
    hardware = {
        role: new("dcim.devicetype", subdevice_role=role, u_height=0 if role == "child" else 1)["id"]
        for role in ("parent", "child")
    }
    outer = {"site": here, "location": None, "rack": rack["id"], "position": None, "face": ""}
    parent = new("dcim.device", name=unique(), device_type=hardware["parent"], **outer)
    inner = new("dcim.device", name=unique(), device_type=hardware["child"], **outer)
    new("dcim.devicebay", device=parent["id"], installed_device=inner["id"])
    held = inner if moved == "parent" else parent
    new("dcim.device", site=there, location=None, rack=None, name=held["name"])
    url = {"rack": rack, "group": group, "parent": parent}[moved]["url"]
    body = {"site": there, "group": None} if moved == "rack" else {"site": there}
    errors = api.patch(url, body | ({"rack": None} if moved == "parent" else {}), status=400)
    assert held["display"] in str(errors)
