"""An object gets a reference while the object it refers to changes: after both have ended, no rule is broken."""

from __future__ import annotations

import concurrent.futures
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa

from netinv_testing import Service
from netinv_testing.lock_waits import until_it_waits
from netinv_testing.samples import Samples


class Race(NamedTuple):
    """Two requests that must not both succeed: one changes an object, the other lets an object refer to it."""

    change: Callable[[], Any]
    refer: Callable[[], Any]


def lag(new: Callable[..., Any], service: Service) -> Race:
    """A LAG becomes a plain interface; an interface becomes its member."""
    api, port = service.api, new("dcim.interface", type="lag", lag=None, parent_interface=None, bridge=None)
    member = new("dcim.interface", device=port["device"]["id"], type="1000base-t", lag=None, parent_interface=None)
    return Race(
        lambda: api.send("PATCH", port["url"], {"type": "1000base-t"}, status=(200, 400)),
        lambda: api.send("PATCH", member["url"], {"lag": port["id"]}, status=(200, 400)),
    )


def rack(new: Callable[..., Any], service: Service) -> Race:
    """A rack is shrunk; its topmost unit is reserved."""
    api, shrunk = service.api, new("dcim.rack", u_height=42, location=None, group=None)
    user = api.get("/api/users/users/")["results"][0]["id"]
    body = {"rack": shrunk["id"], "units": [42], "user": user, "description": "r"}
    return Race(
        lambda: api.send("PATCH", shrunk["url"], {"u_height": 40}, status=(200, 400)),
        lambda: api.send("POST", "/api/dcim/rack-reservations/", body, status=(201, 400)),
    )


def status(new: Callable[..., Any], service: Service) -> Race:
    """A content type is removed from a status; an object of the type takes the status."""
    api = service.api
    made = api.post("/api/extras/statuses/", {"name": service.unique(), "content_types": ["dcim.site", "dcim.rack"]})
    body = {"name": service.unique(), "status": made["slug"]}
    return Race(
        lambda: api.send("PATCH", made["url"], {"content_types": ["dcim.rack"]}, status=(200, 400)),
        lambda: api.send("POST", "/api/dcim/sites/", body, status=(201, 400)),
    )


def feed(new: Callable[..., Any], service: Service) -> Race:
    """The rack of a power feed moves to another site; a feed of its panel gets the rack."""
    return _of_feed(new, service, "dcim.rack")


def panel(new: Callable[..., Any], service: Service) -> Race:
    """The panel of a power feed moves to another site; a feed of it gets a rack."""
    return _of_feed(new, service, "dcim.powerpanel")


def _of_feed(new: Callable[..., Any], service: Service, moved: str) -> Race:
    rack, site = new("dcim.rack", group=None, location=None), new("dcim.site")
    made = {"dcim.rack": rack}
    made["dcim.powerpanel"] = new("dcim.powerpanel", site=rack["site"]["id"], rack_group=None, location=None)
    fed = new("dcim.powerfeed", power_panel=made["dcim.powerpanel"]["id"], rack=None)
    return Race(
        lambda: service.api.send("PATCH", made[moved]["url"], {"site": site["id"]}, status=(200, 400)),
        lambda: service.api.send("PATCH", fed["url"], {"rack": rack["id"]}, status=(200, 400)),
    )


def vlan(new: Callable[..., Any], service: Service) -> Race:
    """A VLAN moves to another site; an interface gets it."""
    return _of_vlan(new, service, "access", lambda key: {"untagged_vlan": key})


def tagged(new: Callable[..., Any], service: Service) -> Race:
    """A VLAN moves to another site; an interface gets it among its tagged ones."""
    return _of_vlan(new, service, "tagged", lambda key: {"tagged_vlans": [key]})


def _of_vlan(new: Callable[..., Any], service: Service, mode: str, body: Callable[[str], Any]) -> Race:
    port = new("dcim.interface", mode=mode, untagged_vlan=None)
    site = service.api.get(port["device"]["url"])["site"]["id"]
    moved, other = new("ipam.vlan", site=site, group=None, location=None), new("dcim.site")
    return Race(
        lambda: service.api.send("PATCH", moved["url"], {"site": other["id"]}, status=(200, 400)),
        lambda: service.api.send("PATCH", port["url"], body(moved["id"]), status=(200, 400)),
    )


def bay(new: Callable[..., Any], service: Service) -> Race:
    """The type of a device is a parent no longer; the device gets a bay."""
    kind = new("dcim.devicetype", subdevice_role="parent")
    host = new("dcim.device", device_type=kind["id"])
    body = {"device": host["id"], "name": "Slot"}
    return Race(
        lambda: service.api.send("PATCH", kind["url"], {"subdevice_role": ""}, status=(200, 400)),
        lambda: service.api.send("POST", "/api/dcim/device-bays/", body, status=(201, 400)),
    )


def chassis(new: Callable[..., Any], service: Service) -> Race:
    """A virtual chassis is deleted; an interface of a member joins the LAG of another."""
    api, made = service.api, new("dcim.virtualchassis", master=None)
    hosts = [new("dcim.device", virtual_chassis=made["id"], vc_position=place) for place in (1, 2)]
    port = {"status": "active", "lag": None, "parent_interface": None}
    lag = new("dcim.interface", device=hosts[0]["id"], type="lag", **port)
    member = new("dcim.interface", device=hosts[1]["id"], type="1000base-t", **port)
    return Race(
        lambda: api.send("DELETE", made["url"], status=(204, 409)),
        lambda: api.send("PATCH", member["url"], {"lag": lag["id"]}, status=(200, 400)),
    )


def unique_space(new: Callable[..., Any], service: Service) -> Race:
    """A VRF becomes a unique space; an address is written there twice."""
    vrf = new("ipam.vrf", enforce_unique=False)
    body = {"address": "198.18.91.1/24", "vrf": vrf["id"], "status": "active"}
    service.api.post("/api/ipam/ip-addresses/", body)
    return Race(
        lambda: service.api.send("PATCH", vrf["url"], {"enforce_unique": True}, status=(200, 400)),
        lambda: service.api.send("POST", "/api/ipam/ip-addresses/", body, status=(201, 400)),
    )


def primary(new: Callable[..., Any], service: Service) -> Race:
    """An interface moves to another device; its address becomes the primary one of its device."""
    api, port, other = service.api, new("dcim.interface", lag=None, parent_interface=None), new("dcim.device")
    end = {"assigned_object_type": "dcim.interface", "assigned_object_id": port["id"]}
    address = api.post("/api/ipam/ip-addresses/", {"address": "198.18.92.1/24", "status": "active", **end})["id"]
    return Race(
        lambda: api.send("PATCH", port["url"], {"device": other["id"]}, status=(200, 400)),
        lambda: api.send("PATCH", port["device"]["url"], {"primary_ip4": address}, status=(200, 400)),
    )


def host(new: Callable[..., Any], service: Service) -> Race:
    """A cluster moves to another site; a device becomes its host."""
    device = new("dcim.device", rack=None, location=None, cluster=None)
    cluster = new("virtualization.cluster", site=device["site"]["id"], location=None)
    other = new("dcim.site")
    return Race(
        lambda: service.api.send("PATCH", cluster["url"], {"site": other["id"]}, status=(200, 400)),
        lambda: service.api.send("PATCH", device["url"], {"cluster": cluster["id"]}, status=(200, 400)),
    )


def accepting(new: Callable[..., Any], service: Service) -> Race:
    """A location type takes racks no longer; a rack gets a location of it."""
    kind = new("dcim.locationtype", content_types=["dcim.rack", "dcim.device"])
    place = new("dcim.location", location_type=kind["id"], parent=None)
    rack = new("dcim.rack", site=place["site"]["id"], location=None, group=None)
    return Race(
        lambda: service.api.send("PATCH", kind["url"], {"content_types": ["dcim.device"]}, status=(200, 400)),
        lambda: service.api.send("PATCH", rack["url"], {"location": place["id"]}, status=(200, 400)),
    )


def member(new: Callable[..., Any], service: Service) -> Race:
    """A member leaves a virtual chassis; an address of it becomes the primary one of the master."""
    api, chassis = service.api, new("dcim.virtualchassis", master=None)
    master, other = [new("dcim.device", virtual_chassis=chassis["id"], vc_position=place) for place in (1, 2)]
    api.patch(chassis["url"], {"master": master["id"]})
    port = new("dcim.interface", device=other["id"], mgmt_only=False, lag=None, parent_interface=None, bridge=None)
    end = {"assigned_object_type": "dcim.interface", "assigned_object_id": port["id"]}
    address = api.post("/api/ipam/ip-addresses/", {"address": "198.18.93.1/24", "status": "active", **end})["id"]
    return Race(
        lambda: api.send("PATCH", other["url"], {"virtual_chassis": None, "vc_position": None}, status=(200, 400)),
        lambda: api.send("PATCH", master["url"], {"primary_ip4": address}, status=(200, 400)),
    )


def above(new: Callable[..., Any], service: Service) -> Race:
    """The location above that of a rack leaves the location of a rack group; the rack joins the group."""
    api = service.api
    kind = new("dcim.locationtype", content_types=["dcim.rack", "dcim.rackgroup"], nestable=True, parent=None)
    top = new("dcim.location", location_type=kind["id"], parent=None)
    middle = new("dcim.location", location_type=kind["id"], parent=top["id"], site=None)
    bottom = new("dcim.location", location_type=kind["id"], parent=middle["id"], site=None)
    site = {"site": top["site"]["id"]}
    other = new("dcim.location", location_type=kind["id"], parent=None, **site)
    group = new("dcim.rackgroup", location=top["id"], parent=None, **site)
    rack = new("dcim.rack", location=bottom["id"], group=None, **site)
    return Race(
        lambda: api.send("PATCH", middle["url"], {"parent": other["id"]}, status=(200, 400)),
        lambda: api.send("PATCH", rack["url"], {"group": group["id"]}, status=(200, 400)),
    )


@pytest.fixture
def new(service: Service) -> Any:
    """``new(label, …)``: a new object."""
    return lambda label, **members: Samples(service).make(service.registry[label], **members)


@pytest.fixture
def pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    """A thread for the second request."""
    with concurrent.futures.ThreadPoolExecutor(1) as made:
        yield made


ORDERS = ("change first", "reference first")
RACES = [lag, rack, status, feed, panel, vlan, tagged, bay, chassis, unique_space, primary, host, accepting]
RACES += [member, above]
CASES = list(itertools.product(RACES, ORDERS))


@pytest.mark.parametrize(("setup", "order"), CASES, ids=lambda part: getattr(part, "__name__", part))
def test_of_a_change_and_a_reference_that_exclude_each_other_one_is_refused(
    service: Service, new: Any, pool: concurrent.futures.ThreadPoolExecutor, setup: Any, order: str
) -> None:
    race, here = setup(new, service), threading.get_ident()
    first, second = race if order == ORDERS[0] else reversed(race)
    started: list[concurrent.futures.Future[Any]] = []

    def before_commit(connection: Any) -> None:
        if threading.get_ident() == here and not started:
            started.append(pool.submit(second))
            until_it_waits(service.engine, started[0])

    sa.event.listen(service.engine, "commit", before_commit)
    try:
        accepted = first()
    finally:
        sa.event.remove(service.engine, "commit", before_commit)
    assert accepted.status_int < 400, accepted.json
    assert [future.result(timeout=60).status_int in (400, 409) for future in started] == [True]
