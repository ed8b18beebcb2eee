"""Generator of the demo inventory: plans the hardware in memory, then writes everything in stages.

All stages run in the transaction of the caller, so an interrupted run leaves nothing behind.
"""

from __future__ import annotations

import collections
import contextlib
import random
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_dcim.devices import Device
from netinv_dcim.sites import Site as SiteModel
from netinv_demo.addresses import load_addresses
from netinv_demo.cabling import Components, load_cables
from netinv_demo.campuses import plan_hub, plan_office
from netinv_demo.circuits import load_circuits
from netinv_demo.company import COMPANY, DATA_CENTRE, HUB, SITES
from netinv_demo.data_centres import plan_data_centre
from netinv_demo.definitions import load_custom_fields
from netinv_demo.device_types import load_catalogue
from netinv_demo.devices import load_devices
from netinv_demo.extras import load_extras
from netinv_demo.loader import DemoLoader
from netinv_demo.networks import load_networks
from netinv_demo.organisation import load_sites, load_tags, load_tenants
from netinv_demo.plan import HardwarePlan, PlannedSite
from netinv_demo.racks import load_racks
from netinv_demo.size import DEFAULT_DEVICES, DemoSize
from netinv_demo.switching import load_switch_ports
from netinv_demo.virtualization import load_machines

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

DEFAULT_SEED = 1
SUMMARIZED = {
    "dcim.site": "sites",
    "dcim.rack": "racks",
    "dcim.device": "devices",
    "dcim.cable": "cables",
    "ipam.prefix": "prefixes",
    "ipam.ipaddress": "addresses",
    "circuits.circuit": "circuits",
    "virtualization.virtualmachine": "virtual machines",
}
# A resource of each feature whose objects it has.
OF_FEATURES = (
    *("extras.tag", "extras.customfield", "extras.configcontext", "extras.relationship"),
    *("extras.dynamicgroup", "extras.customlink", "extras.webhook", "extras.note"),
)
Report = Callable[[str], None]


class CannotLoadError(Exception):
    """The demo inventory cannot be loaded into this inventory."""


class NotEmptyError(CannotLoadError):
    """The inventory has devices already."""


class AlreadyLoadedError(NotEmptyError):
    """The inventory has sites of the demo company already."""


def check_empty(uow: UnitOfWork, *, force: bool = False) -> None:
    """Checks that the inventory has no devices and no sites of the demo company; with ``force``, only the latter.

    :raises NotEmptyError: otherwise
    :raises AlreadyLoadedError: when it has sites of the demo company
    :raises CannotLoadError: when a feature is disabled whose objects it would have
    """
    if disabled := [label for label in OF_FEATURES if uow.registry.get(label) is None]:
        raise CannotLoadError(f"the demo inventory has objects of disabled features: {', '.join(disabled)}")
    table = table_of(SiteModel)
    of_company = table.c.name.in_([site.name for site in SITES])
    if uow.execute(sa.select(table.c.id).where(of_company).limit(1)).first() is not None:
        raise AlreadyLoadedError(f"the inventory has sites of {COMPANY} already: the demo inventory can be loaded once")
    if not force and uow.execute(sa.select(table_of(Device).c.id).limit(1)).first() is not None:
        raise NotEmptyError("the inventory is not empty: it has devices")


def load_inventory(
    uow: UnitOfWork, report: Report, *, devices: int = DEFAULT_DEVICES, seed: int = DEFAULT_SEED
) -> collections.Counter[str]:
    """Writes the demo inventory; returns the number of created objects by label, without components of devices.

    :param report: called with one line of text after each stage
    :param devices: the number of devices, from ``MIN_DEVICES`` to ``MAX_DEVICES`` of :mod:`netinv_demo.size`
    :param seed: the same seed and number give the same inventory, except for ids and times
    :raises ValueError: for another number of devices
    :raises RequestError: when an object is refused, for example because its name exists already
    """
    size, loader = DemoSize.for_devices(devices), DemoLoader(uow, random.Random(seed))
    with _stage(loader, report, "organisation"):
        load_tags(loader)
        load_custom_fields(loader)
        tenants = load_tenants(loader)
        sites = load_sites(loader, tenants)
    with _stage(loader, report, "device types"):
        catalogue = load_catalogue(loader)
    plan = make_plan(sites, size, loader.random)
    with _stage(loader, report, "racks and power"):
        feeds = load_racks(loader, plan, tenants)
    with _stage(loader, report, "devices"):
        load_devices(loader, plan, catalogue, tenants)
    with _stage(loader, report, "cables"):
        components = Components.of_plan(loader, plan)
        load_cables(loader, plan, components, feeds)
    with _stage(loader, report, "circuits"):
        wan_links, internet_ports = load_circuits(loader, plan, components, tenants)
    with _stage(loader, report, "networks and addresses"):
        networks = load_networks(loader, sites, tenants)
        load_addresses(loader, plan, networks, components, wan_links, internet_ports)
    with _stage(loader, report, "VLANs of switch ports"):
        load_switch_ports(loader, plan, components)
    with _stage(loader, report, "virtual machines"):
        load_machines(loader, plan, networks, catalogue, tenants, devices)
    with _stage(loader, report, "contexts, groups, links, webhooks"):
        load_extras(loader, plan, catalogue)
    return loader.counts


def summary(counts: collections.Counter[str]) -> str:
    """Returns the numbers of created objects as a line of text."""
    named = ", ".join(f"{counts[label]} {title}" for label, title in SUMMARIZED.items())
    return f"loaded {named}; {counts.total()} objects besides the components of devices"


def make_plan(sites: list[PlannedSite], size: DemoSize, chance: random.Random) -> HardwarePlan:
    """Plans racks, devices and cables of all sites."""
    plan = HardwarePlan(sites)
    centres = [site for site in sites if site.profile.kind == DATA_CENTRE]
    first_servers = size.servers * size.compute_racks[0] // sum(size.compute_racks)
    servers = (first_servers, size.servers - first_servers)
    for site, racks, number in zip(centres, size.compute_racks, servers, strict=True):
        plan_data_centre(plan, site, racks, number, chance)
    for site in sites:
        if site.profile.kind == HUB:
            plan_hub(plan, site, size.access_points[HUB])
        elif site.profile.kind != DATA_CENTRE:
            plan_office(plan, site, size.access_points[site.profile.kind])
    return plan


@contextlib.contextmanager
def _stage(loader: DemoLoader, report: Report, name: str) -> Iterator[None]:
    """Reports what the block created, and how long it took."""
    before, start = loader.counts.total(), time.perf_counter()
    yield
    report(f"{name}: {loader.counts.total() - before} objects in {time.perf_counter() - start:.1f} s")
