"""Providers and circuits, with terminations that are cabled to routers."""

from __future__ import annotations

import dataclasses

from netinv_circuits.circuits import TERMINATION
from netinv_demo.cabling import Components, ends
from netinv_demo.company import DATA_CENTRE, HUB, INFRASTRUCTURE
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.models import BRANCH_ROUTER, FIBRE_PANEL, GE, TEN
from netinv_demo.plan import FRONT_PORT, REAR_PORT, HardwarePlan, PlannedPort, PlannedSite

VPN_CARRIER, FIBRE_CARRIER, ISP, EXCHANGE = (
    "Northlight Carrier",
    "Sundvik Fibre",
    "Meridia Networks",
    "Portside Exchange",
)
# Provider → AS number, account.
PROVIDERS = {
    VPN_CARRIER: (64500, "NL-204417"),
    FIBRE_CARRIER: (64501, "7700-3321"),
    ISP: (64502, "TARNWELL-01"),
    EXCHANGE: (64503, "PX-088"),
}
# Provider network → provider, description.
PROVIDER_NETWORKS = {
    "Northlight IP VPN": (VPN_CARRIER, "Backbone of the private network"),
    "Meridia Internet": (ISP, "Transit"),
    "Portside LAN": (EXCHANGE, "Peering LAN of the exchange"),
}
VPN, TRANSIT, PEERING, WAVELENGTH = "IP VPN", "Internet transit", "Peering", "Wavelength"
CIRCUIT_TYPES = {
    VPN: "Private network of a carrier",
    TRANSIT: "Access to the Internet",
    PEERING: "Port at an exchange",
    WAVELENGTH: "Dedicated wavelength between two sites",
}
GIGABIT = 1_000_000  # kbit/s


@dataclasses.dataclass(frozen=True)
class PlannedCircuit:
    """A circuit from a site to another site, or to a provider network; its rate in kbit/s and its cost in euros."""

    cid: str
    provider: str
    type: str
    site: PlannedSite
    far_end: PlannedSite | str
    rate: int
    cost: int


def load_circuits(
    loader: DemoLoader, plan: HardwarePlan, components: Components, tenants: dict[str, str]
) -> tuple[list[tuple[PlannedPort, PlannedPort]], dict[PlannedSite, PlannedPort]]:
    """Creates providers, circuits, terminations and their cables.

    Returns the pairs of router interfaces that wavelengths connect, and the interface of each site to the Internet.
    """
    circuits = _circuits(plan)
    ids = _load_circuit_rows(loader, circuits, tenants)
    networks = _load_provider_networks(loader)
    bodies: list[Body] = []
    for circuit, key in zip(circuits, ids, strict=True):
        body = {"circuit": key, "port_speed": circuit.rate}
        bodies.append({**body, "term_side": "A", **_place(circuit.site, networks)})
        bodies.append({**body, "term_side": "Z", **_place(circuit.far_end, networks)})
    terminations = iter(loader.create(TERMINATION, bodies))
    cables: list[Body] = []
    wan_links: list[tuple[PlannedPort, PlannedPort]] = []
    internet_ports: dict[PlannedSite, PlannedPort] = {}
    for circuit in circuits:
        near = _cable(cables, components, circuit.site, circuit.type, next(terminations))
        far_termination = next(terminations)
        if isinstance(circuit.far_end, PlannedSite):
            wan_links.append((near, _cable(cables, components, circuit.far_end, circuit.type, far_termination)))
        elif circuit.type == TRANSIT:
            internet_ports[circuit.site] = near
    loader.create("dcim.cable", cables)
    return wan_links, internet_ports


def _circuits(plan: HardwarePlan) -> list[PlannedCircuit]:
    """Returns the circuits: private network and transit for all sites, wavelengths between data centres and hubs."""
    circuits = []
    centres = [site for site in plan.sites if site.profile.kind == DATA_CENTRE]
    for site in plan.sites:
        small = site.profile.kind not in (DATA_CENTRE, HUB)
        rate, suffix = (GIGABIT // 2 if small else 10 * GIGABIT), f"{site.code.upper()}-{site.number:03}"
        circuits.append(
            PlannedCircuit(f"NL-{suffix}", VPN_CARRIER, VPN, site, "Northlight IP VPN", rate, 420 if small else 2900)
        )
        circuits.append(
            PlannedCircuit(f"MN-{suffix}", ISP, TRANSIT, site, "Meridia Internet", rate, 260 if small else 1800)
        )
        if site in centres:
            circuits.append(PlannedCircuit(f"PX-{suffix}", EXCHANGE, PEERING, site, "Portside LAN", 10 * GIGABIT, 950))
    pairs = [(centres[0], centres[1], number) for number in (1, 2)]
    pairs += [(site, centre, 1) for site in plan.sites if site.profile.kind == HUB for centre in centres]
    for site, far_end, number in pairs:
        cid = f"SF-{site.code}-{far_end.code}-{number}".upper()
        circuits.append(PlannedCircuit(cid, FIBRE_CARRIER, WAVELENGTH, site, far_end, 10 * GIGABIT, 5400))
    return circuits


def _load_circuit_rows(loader: DemoLoader, circuits: list[PlannedCircuit], tenants: dict[str, str]) -> list[str]:
    """Creates providers, circuit types and circuits; returns the ids of the circuits."""
    providers = loader.create_named(
        "circuits.provider",
        [
            {"name": name, "asn": number, "account": account, "portal_url": f"https://{_slug(name)}.example/portal"}
            for name, (number, account) in PROVIDERS.items()
        ],
    )
    types = loader.create_named(
        "circuits.circuittype", [{"name": name, "description": text} for name, text in CIRCUIT_TYPES.items()]
    )
    return loader.create(
        "circuits.circuit",
        [
            {
                "cid": circuit.cid,
                "provider": providers[circuit.provider],
                "type": types[circuit.type],
                "status": "active",
                "tenant": tenants[INFRASTRUCTURE],
                "install_date": f"{loader.random.randint(2019, 2025)}-{loader.random.randint(1, 12):02}-15",
                "commit_rate": circuit.rate,
                "description": f"{circuit.type}, {circuit.site.profile.name}",
                "custom_fields": {"monthly_cost": circuit.cost},
                "tags": [{"slug": "business-critical"}] if circuit.type == WAVELENGTH else [],
            }
            for circuit in circuits
        ],
    )


def _load_provider_networks(loader: DemoLoader) -> dict[str, str]:
    """Creates the provider networks; returns their ids by name."""
    names = [name for name, _ in PROVIDERS.items()]
    providers = loader.find_existing("circuits.provider", "name", names)
    bodies = [
        {"provider": providers[provider], "name": name, "description": text}
        for name, (provider, text) in PROVIDER_NETWORKS.items()
    ]
    return dict(zip(PROVIDER_NETWORKS, loader.create("circuits.providernetwork", bodies), strict=True))


def _place(end: PlannedSite | str, networks: dict[str, str]) -> Body:
    return {"site": end.id} if isinstance(end, PlannedSite) else {"provider_network": networks[end]}


def _cable(
    cables: list[Body], components: Components, site: PlannedSite, circuit_type: str, termination: str
) -> PlannedPort:
    """Adds the cables from a termination to a router, in data centres through a patch panel; returns the interface."""
    routers = site.with_role("Router")
    router = min(routers, key=lambda device: device.used[TEN])
    small = router.model is BRANCH_ROUTER and circuit_type != WAVELENGTH
    port, kind = router.next_interface(GE if small else TEN), "cat6" if small else "smf-os2"
    near: tuple[str, str] = (TERMINATION, termination)
    panel = next((device for device in site.devices if device.model is FIBRE_PANEL), None)
    if panel is not None:
        rear = panel.next_component(REAR_PORT)
        cables.append({**ends(*near, REAR_PORT, components.id_of(rear)), "type": "smf-os2"})
        near = (FRONT_PORT, components.id_of(PlannedPort(panel, FRONT_PORT, f"F{rear.name[1:]}")))
    cables.append({**ends(*near, port.label, components.id_of(port)), "type": kind, "color": "8e24aa"})
    return port


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")
