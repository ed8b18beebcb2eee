"""Networks: RIRs, aggregates, VRFs, VLANs and the hierarchy of prefixes of each site.

Site number n has 10.n.0.0/16 and 2001:db8:n::/48. Addresses are private (RFC 1918) or reserved for documentation
(RFC 5737, RFC 3849).
"""

from __future__ import annotations

import dataclasses
import ipaddress

import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_demo.company import ASN, DATA_CENTRE, HUB, INFRASTRUCTURE, OFFICE
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.plan import PlannedSite
from netinv_ipam.aggregates import Aggregate

CORPORATE, GUEST, AUTOMATION = "Corporate", "Guest", "Automation"
VRFS = {
    CORPORATE: (100, "Business applications and infrastructure"),
    GUEST: (200, "Internet access of visitors, separated from everything else"),
    AUTOMATION: (300, "Conveyors and sorters in the hubs"),
}
SHARED_SERVICES = 900  # route target of services that all VRFs import
PRIVATE, DOCUMENTATION = "Private (RFC 1918)", "Documentation (RFC 5737, RFC 3849)"
# Aggregate → RIR, description.
AGGREGATES = {
    "10.0.0.0/8": (PRIVATE, "Sites, one /16 each"),
    "172.16.0.0/12": (PRIVATE, "Automation in the hubs"),
    "192.168.0.0/16": (PRIVATE, "Guests, one /24 for each site"),
    "198.51.100.0/24": (DOCUMENTATION, "Internet access of sites, one /29 each"),
    "203.0.113.0/24": (DOCUMENTATION, "Public services"),
    "2001:db8::/32": (DOCUMENTATION, "Sites, one /48 each"),
}
PREFIX_ROLES = (
    "Management", "Servers", "Storage", "Users", "Voice", "Printers", "Wireless", "Guests", "Automation", "Loopbacks",
    "Point-to-point", "Internet",
)  # fmt: skip
MANAGEMENT, HYPERVISORS = "Management", "Hypervisors"
GUESTS, WIRELESS, USERS = "Guests", "Wireless", "Users"
LOOPBACKS, FABRIC, PUBLIC = "Loopbacks", "Fabric links", "Internet access"
WAN, SERVICES = "10.255.0.0/24", "203.0.113.0/24"
FIRST_HOST = 10  # lower host numbers are those of gateways


@dataclasses.dataclass(frozen=True)
class Segment:
    """A VLAN with its networks at every site of a kind: the third octet of IPv4, and the prefix length."""

    vid: int
    name: str
    role: str
    octet: int
    length: int
    vrf: str = CORPORATE


_CAMPUS = (
    Segment(10, MANAGEMENT, "Management", 0, 23),
    Segment(20, USERS, "Users", 16, 22),
    Segment(30, "Voice", "Voice", 20, 23),
    Segment(40, "Printers", "Printers", 22, 24),
    Segment(50, WIRELESS, "Wireless", 24, 22),
    Segment(60, GUESTS, "Guests", 0, 24, GUEST),
)
SEGMENTS = {
    DATA_CENTRE: (
        Segment(10, MANAGEMENT, "Management", 0, 21),
        Segment(100, HYPERVISORS, "Servers", 8, 21),
        Segment(110, "Web", "Servers", 16, 23),
        Segment(120, "Applications", "Servers", 18, 23),
        Segment(130, "Databases", "Servers", 20, 23),
        Segment(140, "Storage", "Storage", 24, 21),
        Segment(150, "Backup", "Storage", 32, 22),
    ),
    HUB: (
        *_CAMPUS,
        Segment(70, "Conveyors", "Automation", 0, 24, AUTOMATION),
        Segment(100, HYPERVISORS, "Servers", 8, 24),
        Segment(120, "Applications", "Servers", 9, 24),
    ),
    OFFICE: _CAMPUS,
}


@dataclasses.dataclass
class NetworkPool:
    """A pair of networks of both families, from which hosts are taken in order."""

    ipv4: ipaddress.IPv4Network
    ipv6: ipaddress.IPv6Network
    vrf: str | None
    used: int = FIRST_HOST

    def host(self, number: int) -> tuple[str, str]:
        """Returns the hosts with this number, with prefix lengths."""
        return (
            f"{self.ipv4[number]}/{self.ipv4.prefixlen}",
            f"{self.ipv6[number]}/{self.ipv6.prefixlen}",
        )

    def next_host(self) -> tuple[str, str]:
        """Returns the next hosts that are not used yet."""
        self.used += 1
        return self.host(self.used)


@dataclasses.dataclass
class DemoNetworks:
    """Ids of VRFs and prefix roles by name, and pools by site and name of the segment."""

    vrfs: dict[str, str]
    roles: dict[str, str]
    pools: dict[tuple[PlannedSite, str], NetworkPool] = dataclasses.field(default_factory=dict)


def load_networks(loader: DemoLoader, sites: list[PlannedSite], tenants: dict[str, str]) -> DemoNetworks:
    """Creates everything up to prefixes."""
    _load_aggregates(loader)
    roles = loader.create_named("ipam.role", [{"name": name} for name in PREFIX_ROLES])
    networks = DemoNetworks(_load_vrfs(loader, tenants), roles)
    _load_vlans(loader, sites, networks, tenants)
    _load_prefixes(loader, sites, networks, tenants)
    return networks


def _load_aggregates(loader: DemoLoader) -> None:
    """Creates the aggregates that do not overlap existing ones."""
    rirs = loader.create_named(
        "ipam.rir", [{"name": PRIVATE, "is_private": True}, {"name": DOCUMENTATION, "is_private": True}]
    )
    rows = loader.uow.execute(sa.select(table_of(Aggregate).c.prefix)).scalars()
    existing = [ipaddress.ip_network(prefix) for prefix in rows]
    loader.create(
        "ipam.aggregate",
        [
            {"prefix": prefix, "rir": rirs[rir], "description": text, "date_added": "2019-03-01"}
            for prefix, (rir, text) in AGGREGATES.items()
            if not any(ipaddress.ip_network(prefix).overlaps(other) for other in existing)
        ],
    )


def _load_vrfs(loader: DemoLoader, tenants: dict[str, str]) -> dict[str, str]:
    """Creates route targets and VRFs; all VRFs import the routes of shared services."""
    numbers = {**{name: number for name, (number, _) in VRFS.items()}, "Shared services": SHARED_SERVICES}
    targets = loader.create_named(
        "ipam.routetarget",
        [{"name": f"{ASN}:{number}", "description": name} for name, number in numbers.items()],
    )
    shared = targets[f"{ASN}:{SHARED_SERVICES}"]
    bodies = [
        {
            "name": name,
            "rd": f"{ASN}:{number}",
            "tenant": tenants[INFRASTRUCTURE],
            "description": text,
            "import_targets": [targets[f"{ASN}:{number}"], shared],
            "export_targets": [targets[f"{ASN}:{number}"], *([shared] if name == CORPORATE else [])],
        }
        for name, (number, text) in VRFS.items()
    ]
    return dict(zip(VRFS, loader.create("ipam.vrf", bodies), strict=True))


def _load_vlans(loader: DemoLoader, sites: list[PlannedSite], networks: DemoNetworks, tenants: dict[str, str]) -> None:
    """Creates a VLAN group for each site, and the VLANs of its segments."""
    groups = loader.create(
        "ipam.vlangroup",
        [{"name": f"{site.code.upper()} VLANs", "slug": f"{site.code}-vlans", "site": site.id} for site in sites],
    )
    places = [
        (site, group, segment)
        for site, group in zip(sites, groups, strict=True)
        for segment in SEGMENTS[site.profile.kind]
    ]
    bodies = [
        {
            "site": site.id,
            "group": group,
            "vid": segment.vid,
            "name": segment.name,
            "status": "active",
            "role": networks.roles[segment.role],
            "tenant": tenants["Warehousing" if segment.vrf == AUTOMATION else INFRASTRUCTURE],
        }
        for site, group, segment in places
    ]
    for (site, _, segment), key in zip(places, loader.create("ipam.vlan", bodies), strict=True):
        site.vlans[segment.name] = key


def _load_prefixes(
    loader: DemoLoader, sites: list[PlannedSite], networks: DemoNetworks, tenants: dict[str, str]
) -> None:
    """Creates the containers, and the prefixes of all segments; fills the pools."""
    corporate = networks.vrfs[CORPORATE]
    bodies: list[Body] = [
        {"prefix": "10.0.0.0/8", "vrf": corporate, "status": "container", "description": "All sites"},
        {"prefix": "2001:db8::/32", "vrf": corporate, "status": "container", "description": "All sites"},
        {"prefix": WAN, "vrf": corporate, "role": networks.roles["Point-to-point"], "description": "Wavelengths"},
        {"prefix": SERVICES, "role": networks.roles["Internet"], "is_pool": True, "description": "Public services"},
        {"prefix": "198.51.100.0/24", "status": "container", "description": "Internet access of sites"},
    ]
    for site in sites:
        bodies += _site_prefixes(site, networks)
    tenant = tenants[INFRASTRUCTURE]
    loader.create("ipam.prefix", [{"status": "active", "tenant": tenant, **body} for body in bodies])


def _site_prefixes(site: PlannedSite, networks: DemoNetworks) -> list[Body]:
    """Returns the prefixes of a site, containers first."""
    number, name = site.number, site.profile.name
    whole = f"10.{number}.0.0/16", f"2001:db8:{number:x}::/48"
    container = {"site": site.id, "vrf": networks.vrfs[CORPORATE], "status": "container", "description": name}
    bodies: list[Body] = [{"prefix": prefix, **container} for prefix in whole]
    for segment in SEGMENTS[site.profile.kind]:
        start = {GUEST: f"192.168.{number}.0", AUTOMATION: f"172.16.{number}.0"}.get(
            segment.vrf, f"10.{number}.{segment.octet}.0"
        )
        pool = _pool(networks, site, segment.name, f"{start}/{segment.length}", f"{segment.vid}", segment.vrf)
        vlan, role = site.vlans[segment.name], networks.roles[segment.role]
        bodies += _pool_bodies(site, networks, pool, {"vlan": vlan, "role": role, "description": segment.name})
    loopbacks = _pool(networks, site, LOOPBACKS, f"10.{number}.255.0/24", "ff00", CORPORATE)
    of_loopbacks = {"role": networks.roles["Loopbacks"], "is_pool": True, "description": LOOPBACKS}
    bodies += _pool_bodies(site, networks, loopbacks, of_loopbacks)
    bodies.append(
        {"prefix": public_network(site), "site": site.id, "role": networks.roles["Internet"], "description": PUBLIC}
    )
    if site.profile.kind == DATA_CENTRE:
        fabric = {"role": networks.roles["Point-to-point"], "status": "container", "description": FABRIC}
        bodies.append({"prefix": fabric_network(site), "site": site.id, "vrf": networks.vrfs[CORPORATE], **fabric})
    return bodies


def public_network(site: PlannedSite) -> str:
    """Returns the public network of a site's Internet access."""
    return f"198.51.100.{(site.number - 1) * 8}/29"


def fabric_network(site: PlannedSite) -> str:
    """Returns the network of which the links between spine and leaf switches take a /31 each."""
    return f"10.{site.number}.240.0/21"


def _pool(networks: DemoNetworks, site: PlannedSite, name: str, ipv4: str, ipv6_part: str, vrf: str) -> NetworkPool:
    ipv6 = ipaddress.IPv6Network(f"2001:db8:{site.number:x}:{ipv6_part}::/64")
    pool = networks.pools[site, name] = NetworkPool(ipaddress.IPv4Network(ipv4), ipv6, vrf)
    return pool


def _pool_bodies(site: PlannedSite, networks: DemoNetworks, pool: NetworkPool, more: Body) -> list[Body]:
    """Returns the prefixes of both families of a pool."""
    vrf = networks.vrfs[pool.vrf] if pool.vrf else None
    return [{"prefix": str(network), "site": site.id, "vrf": vrf, **more} for network in (pool.ipv4, pool.ipv6)]
