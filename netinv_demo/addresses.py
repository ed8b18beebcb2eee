"""Addresses of devices: gateways, loopbacks, management, links between switches; and the primary addresses."""

from __future__ import annotations

import ipaddress

from netinv_demo.cabling import Components
from netinv_demo.company import DATA_CENTRE, DOMAIN, HUB
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.models import LOOPBACK, TWENTY_FIVE
from netinv_demo.networks import (
    CORPORATE,
    HYPERVISORS,
    LOOPBACKS,
    MANAGEMENT,
    SEGMENTS,
    WAN,
    DemoNetworks,
    fabric_network,
    public_network,
)
from netinv_demo.plan import INTERFACE, HardwarePlan, PlannedDevice, PlannedPort, PlannedSite

IPV4, IPV6 = "primary_ip4", "primary_ip6"
GATEWAYS = {DATA_CENTRE: "Border leaf", HUB: "Core switch"}  # offices: the firewall
INTERNET_HOST = 2  # of the router; 1 is the provider's
VIRTUAL_HOST = 1  # number of the host that redundant gateways share


class AddressBook:
    """Bodies of addresses, collected to be written in one go, and those that become primary."""

    def __init__(self, networks: DemoNetworks, interface_label: str = INTERFACE) -> None:
        self._networks, self._interface_label = networks, interface_label
        self.bodies: list[Body] = []
        self._primary: list[tuple[int, str, str]] = []

    def add(
        self,
        interface: str | None,
        address: str,
        vrf: str | None,
        *,
        primary: tuple[str, str] | None = None,
        **more: str,
    ) -> None:
        """Adds an address of an interface; ``primary`` is the id of the owner and the field to set."""
        if primary is not None:
            self._primary.append((len(self.bodies), *primary))
        body: Body = {"address": address, "vrf": vrf and self._networks.vrfs[vrf], "status": "active", **more}
        if interface is not None:
            body |= {"assigned_object_type": self._interface_label, "assigned_object_id": interface}
        self.bodies.append(body)

    def save(self, loader: DemoLoader, owners: str) -> list[str]:
        """Creates the addresses, sets the primary ones of owners of a model, and returns all ids."""
        ids = loader.create("ipam.ipaddress", self.bodies)
        fields: dict[str, Body] = {}
        for position, owner, field in self._primary:
            fields.setdefault(owner, {"id": owner})[field] = ids[position]
        for names in ({IPV4}, {IPV4, IPV6}):
            loader.update(owners, [body for body in fields.values() if body.keys() - {"id"} == names])
        return ids


def load_addresses(
    loader: DemoLoader,
    plan: HardwarePlan,
    networks: DemoNetworks,
    components: Components,
    wan_links: list[tuple[PlannedPort, PlannedPort]],
    internet_ports: dict[PlannedSite, PlannedPort],
) -> None:
    """Creates the addresses of all devices."""
    book = AddressBook(networks)
    for site in plan.sites:
        for device in site.devices:
            _add_device(book, networks, components, device)
    _add_links(loader, book, plan, networks, components, wan_links)
    for site, port in internet_ports.items():
        address = ipaddress.IPv4Network(public_network(site))[INTERNET_HOST]
        dns_name = f"internet.{site.code}.{DOMAIN}"
        book.add(components.id_of(port), f"{address}/29", None, dns_name=dns_name, description="Towards the provider")
    book.save(loader, "dcim.device")
    _load_gateways(loader, plan, networks)


def _add_device(book: AddressBook, networks: DemoNetworks, components: Components, device: PlannedDevice) -> None:
    """Adds the management address of a device, its loopback, or the address of a hypervisor."""
    assert device.id is not None
    name = f"{device.name}.{DOMAIN}"

    def add(interface: str, pool: str, *, is_primary: bool, with_ipv6: bool, dns_name: str) -> None:
        key = components.id_of(device.interface(interface))
        hosts = networks.pools[device.site, pool].next_host()
        if pool == LOOPBACKS:
            hosts = hosts[0].partition("/")[0] + "/32", hosts[1].partition("/")[0] + "/128"
        role = {"role": "loopback"} if pool == LOOPBACKS else {}
        for address, field in zip(hosts[: 1 + with_ipv6], (IPV4, IPV6), strict=False):
            primary = (device.id or "", field) if is_primary else None
            book.add(key, address, CORPORATE, primary=primary, dns_name=dns_name, **role)

    is_server = bool(device.model.ports(TWENTY_FIVE)) and not device.model.has_loopback
    is_primary = not is_server and not device.model.has_loopback
    if device.model.management:
        dns_name = name if is_primary else f"mgmt.{name}"
        add(device.model.management, MANAGEMENT, is_primary=is_primary, with_ipv6=False, dns_name=dns_name)
    if device.model.has_loopback:
        add(LOOPBACK, LOOPBACKS, is_primary=True, with_ipv6=True, dns_name=name)
    elif is_server:
        add("nic1", HYPERVISORS, is_primary=True, with_ipv6=True, dns_name=name)


def _add_links(
    loader: DemoLoader,
    book: AddressBook,
    plan: HardwarePlan,
    networks: DemoNetworks,
    components: Components,
    wan_links: list[tuple[PlannedPort, PlannedPort]],
) -> None:
    """Adds a /31 for each link between spine and leaf switches, and for each wavelength."""
    pools = {
        site: ipaddress.IPv4Network(fabric_network(site)).subnets(new_prefix=31)
        for site in plan.sites
        if site.profile.kind == DATA_CENTRE
    }
    wan = ipaddress.IPv4Network(WAN).subnets(new_prefix=31)
    links = [(near, far, next(pools[near.device.site]), near.device.site) for near, far in plan.fabric_links]
    pairs: list[tuple[PlannedPort, PlannedPort, ipaddress.IPv4Network, PlannedSite | None]] = [*links]
    pairs += [(near, far, next(wan), None) for near, far in wan_links]
    loader.create(
        "ipam.prefix",
        [
            {
                "prefix": str(network),
                "vrf": networks.vrfs[CORPORATE],
                "site": site and site.id,
                "status": "active",
                "role": networks.roles["Point-to-point"],
                "description": f"{near.device.name} – {far.device.name}",
            }
            for near, far, network, site in pairs
        ],
    )
    for near, far, network, _ in pairs:
        for port, address in zip((near, far), network, strict=True):
            book.add(components.id_of(port), f"{address}/31", CORPORATE, description=port.device.name)


def _load_gateways(loader: DemoLoader, plan: HardwarePlan, networks: DemoNetworks) -> None:
    """Creates an interface for each segment on the gateways of a site; two of them share a virtual address (VRRP)."""
    book, bodies, places = AddressBook(networks), [], []
    for site in plan.sites:
        devices = site.with_role(GATEWAYS.get(site.profile.kind, "Firewall"))
        for segment in SEGMENTS[site.profile.kind]:
            places.append((site, segment, len(devices)))
            bodies += [
                {
                    "device": device.id,
                    "name": f"Vlan{segment.vid}",
                    "type": "virtual",
                    "status": "active",
                    "description": f"Gateway of {segment.name}",
                }
                for device in devices
            ]
    interfaces = iter(loader.create(INTERFACE, bodies))
    shared: list[tuple[int, str, list[str]]] = []
    for site, segment, count in places:
        pool, ports = networks.pools[site, segment.name], [next(interfaces) for _ in range(count)]
        for number, port in enumerate(ports, VIRTUAL_HOST + (count > 1)):
            for address in pool.host(number):
                book.add(port, address, segment.vrf)
        if count > 1:
            shared.append((len(book.bodies), f"{site.code}-vlan{segment.vid}", ports))
            book.add(None, pool.host(VIRTUAL_HOST)[0], segment.vrf, role="vrrp", description="Virtual gateway")
    ids = book.save(loader, "dcim.device")
    groups = loader.create(
        "dcim.interfaceredundancygroup",
        [
            {
                "name": name,
                "status": "active",
                "protocol": "vrrp",
                "protocol_group_id": "1",
                "virtual_ip": ids[position],
            }
            for position, name, _ in shared
        ],
    )
    loader.create(
        "dcim.interfaceredundancygroupassociation",
        [
            {"interface_redundancy_group": group, "interface": port, "priority": 110 - 10 * number}
            for group, (_, _, ports) in zip(groups, shared, strict=True)
            for number, port in enumerate(ports)
        ],
    )
