"""Clusters, virtual machines with interfaces and addresses, and the services that run on them."""

from __future__ import annotations

import dataclasses

from netinv_demo.addresses import IPV4, IPV6, AddressBook
from netinv_demo.company import DATA_CENTRE, DOMAIN, HUB, INFRASTRUCTURE
from netinv_demo.device_types import Catalogue
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.networks import CORPORATE, SERVICES, DemoNetworks
from netinv_demo.plan import HardwarePlan, PlannedSite, mac_address
from netinv_demo.size import DEFAULT_DEVICES
from netinv_ipam.addresses import VM_INTERFACE
from netinv_virt import MACHINE

PRODUCTION, EDGE = "Production", "Edge"
MACHINES = 0x02  # kind of MAC addresses
APPLICATION, DATABASE, INFRASTRUCTURE_SERVER = "Application server", "Database server", "Infrastructure server"


@dataclasses.dataclass(frozen=True)
class Workload:
    """Virtual machines of one purpose at a site; memory in GiB, disk in GB. The service is name, port and protocol."""

    name: str
    count: int
    role: str
    tenant: str
    segment: str
    size: tuple[int, int, int]  # virtual CPUs, memory, disk
    service: tuple[str, int, str]


WORKLOADS = {
    DATA_CENTRE: (
        Workload("web", 6, APPLICATION, "Freight", "Web", (4, 8, 60), ("HTTPS", 443, "tcp")),
        Workload("tracking", 6, APPLICATION, "Freight", "Applications", (8, 16, 80), ("Tracking API", 8443, "tcp")),
        Workload("customs", 3, APPLICATION, "Customs Services", "Applications", (4, 16, 80), ("Filing", 8443, "tcp")),
        Workload("ledger", 2, APPLICATION, "Finance", "Applications", (4, 16, 120), ("Ledger", 8443, "tcp")),
        Workload("db", 5, DATABASE, INFRASTRUCTURE, "Databases", (16, 64, 800), ("PostgreSQL", 5432, "tcp")),
        Workload("dns", 2, INFRASTRUCTURE_SERVER, INFRASTRUCTURE, "Applications", (2, 4, 20), ("DNS", 53, "udp")),
        Workload("ntp", 2, INFRASTRUCTURE_SERVER, INFRASTRUCTURE, "Applications", (1, 2, 20), ("NTP", 123, "udp")),
        Workload("dir", 2, INFRASTRUCTURE_SERVER, "People", "Applications", (4, 8, 60), ("LDAPS", 636, "tcp")),
        Workload("log", 2, INFRASTRUCTURE_SERVER, INFRASTRUCTURE, "Backup", (8, 32, 2000), ("Syslog", 6514, "tcp")),
    ),
    HUB: (
        Workload("sorter", 2, APPLICATION, "Warehousing", "Applications", (4, 8, 60), ("Sorter control", 9443, "tcp")),
        Workload("print", 1, APPLICATION, "Warehousing", "Applications", (2, 4, 40), ("IPP", 631, "tcp")),
    ),
}
PLATFORMS = ("Debian 12", "Ubuntu 24.04")


@dataclasses.dataclass(eq=False)
class Machine:
    """A virtual machine that is to be written."""

    name: str
    site: PlannedSite
    workload: Workload
    cluster: str
    id: str = ""


def load_machines(
    loader: DemoLoader,
    plan: HardwarePlan,
    networks: DemoNetworks,
    catalogue: Catalogue,
    tenants: dict[str, str],
    devices: int,
) -> None:
    """Creates clusters with their hosts, and virtual machines in proportion to the number of devices."""
    clusters = _load_clusters(loader, plan, tenants)
    factor = max(1, devices // DEFAULT_DEVICES)
    machines = [
        Machine(f"{site.code}-{workload.name}{number:02}", site, workload, cluster)
        for site, cluster in clusters.items()
        for workload in WORKLOADS[site.profile.kind]
        for number in range(1, workload.count * factor + 1)
    ]
    bodies = [_machine_body(loader, machine, catalogue, tenants) for machine in machines]
    for machine, key in zip(machines, loader.create(MACHINE, bodies), strict=True):
        machine.id = key
    _load_addresses(loader, machines, networks)


def _load_clusters(loader: DemoLoader, plan: HardwarePlan, tenants: dict[str, str]) -> dict[PlannedSite, str]:
    """Creates a cluster at each site with hypervisors, which become its hosts."""
    types = loader.create_named("virtualization.clustertype", [{"name": "KVM", "description": "Virtual machines"}])
    groups = loader.create_named("virtualization.clustergroup", [{"name": PRODUCTION}, {"name": EDGE}])
    sites = [site for site in plan.sites if site.profile.kind in WORKLOADS]
    bodies = [
        {
            "name": f"{site.code.upper()} {group.lower()}",
            "type": types["KVM"],
            "group": groups[group],
            "tenant": tenants[INFRASTRUCTURE],
            "site": site.id,
        }
        for site in sites
        for group in [PRODUCTION if site.profile.kind == DATA_CENTRE else EDGE]
    ]
    clusters = dict(zip(sites, loader.create("virtualization.cluster", bodies), strict=True))
    hosts = [{"id": host.id, "cluster": clusters[site]} for site in sites for host in site.with_role("Hypervisor")]
    loader.update("dcim.device", hosts)
    return clusters


def _machine_body(loader: DemoLoader, machine: Machine, catalogue: Catalogue, tenants: dict[str, str]) -> Body:
    workload = machine.workload
    cpus, memory, disk = workload.size
    return {
        "name": machine.name,
        "status": "staged" if loader.random.random() < 0.05 else "active",
        "cluster": machine.cluster,
        "role": catalogue.roles[workload.role],
        "tenant": tenants[workload.tenant],
        "platform": catalogue.platforms[loader.random.choice(PLATFORMS)],
        "vcpus": cpus,
        "memory": memory * 1024,
        "disk": disk,
        "custom_fields": {"backed_up": workload.role != APPLICATION},
        "tags": [{"slug": "business-critical"}] if workload.role == DATABASE else [],
    }


def _load_addresses(loader: DemoLoader, machines: list[Machine], networks: DemoNetworks) -> None:
    """Creates interfaces with primary addresses, public addresses of web servers, and services."""
    interfaces = loader.create(
        VM_INTERFACE,
        [
            {
                "virtual_machine": machine.id,
                "name": "eth0",
                "status": "active",
                "mtu": 1500,
                "mac_address": mac_address(number, MACHINES),
            }
            for number, machine in enumerate(machines, 1)
        ],
    )
    book = AddressBook(networks, VM_INTERFACE)
    inside: list[tuple[int, Machine]] = []
    for machine, interface in zip(machines, interfaces, strict=True):
        if machine.workload.segment == "Web":
            inside.append((len(book.bodies), machine))
        hosts = networks.pools[machine.site, machine.workload.segment].next_host()
        for address, field in zip(hosts, (IPV4, IPV6), strict=True):
            dns_name = f"{machine.name}.{DOMAIN}"
            book.add(interface, address, CORPORATE, primary=(machine.id, field), dns_name=dns_name)
    ids = book.save(loader, MACHINE)
    start = SERVICES.removesuffix("0/24")
    loader.create(
        "ipam.ipaddress",
        [
            {
                "address": f"{start}{number}/24",
                "status": "active",
                "nat_inside": ids[position],
                "dns_name": f"www{number}.{DOMAIN}",
                "description": f"Public address of {machine.name}",
            }
            for number, (position, machine) in enumerate(inside, 1)
        ],
    )
    loader.create(
        "ipam.service",
        [
            {"virtual_machine": machine.id, "name": name, "ports": [port], "protocol": protocol}
            for machine in machines
            for name, port, protocol in [machine.workload.service]
        ],
    )
