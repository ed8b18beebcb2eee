"""Organisation: tags, tenants, regions, sites with their locations."""

from __future__ import annotations

from netinv_demo.company import (
    ASN,
    COMPANY,
    CONTACTS,
    DATA_CENTRE,
    DOMAIN,
    HUB,
    INFRASTRUCTURE,
    REGIONS,
    SITES,
    TENANTS,
)
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.plan import PlannedSite
from netinv_tenancy.tenants import Tenant, TenantGroup

TAGGED = ["dcim.site", "dcim.rack", "dcim.device", "ipam.prefix", "circuits.circuit", "virtualization.virtualmachine"]
# Tag → colour, description.
TAGS = {
    "business-critical": ("c62828", "An outage stops freight"),
    "refresh-2027": ("ef6c00", "To be replaced in the refresh of 2027"),
    "automated": ("2e7d32", "Configured by automation only"),
    "audit-scope": ("4527a0", "In the scope of the yearly audit"),
}
HALL, COMMS, FLOOR = "Hall 1", "Comms room", "Floor"
LOCATED = [
    "dcim.rack",
    "dcim.rackgroup",
    "dcim.device",
    "dcim.powerpanel",
    "ipam.prefix",
    "circuits.circuittermination",
]


def load_tags(loader: DemoLoader) -> None:
    """Creates the tags."""
    loader.create_named(
        "extras.tag",
        [
            {"name": name, "slug": name, "color": color, "description": text, "content_types": TAGGED}
            for name, (color, text) in TAGS.items()
        ],
    )


def load_tenants(loader: DemoLoader) -> dict[str, str]:
    """Creates tenant groups and tenants; returns the ids of tenants by name."""
    of_model = loader.uow.registry.of_model
    groups = loader.create_named(of_model(TenantGroup).label, [{"name": name} for name in TENANTS])
    return loader.create_named(
        of_model(Tenant).label,
        [{"name": name, "group": groups[group]} for group, names in TENANTS.items() for name in names],
    )


def load_sites(loader: DemoLoader, tenants: dict[str, str]) -> list[PlannedSite]:
    """Creates regions, sites and locations."""
    continents = loader.create_named("dcim.region", [{"name": name} for name in REGIONS])
    regions = loader.create_named(
        "dcim.region",
        [{"name": country, "parent": continents[name]} for name, countries in REGIONS.items() for country in countries],
    )
    sites = [PlannedSite(profile, number) for number, profile in enumerate(SITES, 1)]
    bodies = [_site_body(loader, site, regions, tenants) for site in sites]
    for site, key in zip(sites, loader.create("dcim.site", bodies), strict=True):
        site.id = key
    _load_locations(loader, sites)
    return sites


def _site_body(loader: DemoLoader, site: PlannedSite, regions: dict[str, str], tenants: dict[str, str]) -> Body:
    profile = site.profile
    tags = ["business-critical", "audit-scope"] if profile.kind == DATA_CENTRE else []
    return {
        "name": profile.name,
        "slug": f"{profile.code}-{profile.kind.replace(' ', '-')}",
        "status": "active",
        "region": regions[profile.region],
        "tenant": tenants["Warehousing" if profile.kind == HUB else INFRASTRUCTURE],
        "facility": f"TW-{profile.code.upper()}",
        "asn": ASN + site.number - 1,
        "time_zone": profile.time_zone,
        "description": f"{COMPANY}: {profile.kind}",
        "physical_address": profile.address,
        "latitude": profile.latitude,
        "longitude": profile.longitude,
        "contact_name": loader.random.choice(CONTACTS),
        "contact_phone": f"+1-202-555-01{site.number:02}",
        "contact_email": f"{profile.code}@{DOMAIN}",
        "tags": [{"slug": tag} for tag in tags],
        "custom_fields": {"headcount": profile.headcount},
    }


def _load_locations(loader: DemoLoader, sites: list[PlannedSite]) -> None:
    """Creates a building for each site, and its rooms."""
    building = loader.create_named("dcim.locationtype", [{"name": "Building", "content_types": LOCATED}])["Building"]
    room = loader.create_named("dcim.locationtype", [{"name": "Room", "parent": building, "content_types": LOCATED}])[
        "Room"
    ]
    buildings = loader.create(
        "dcim.location",
        [
            {"name": f"{site.code.upper()} Building", "status": "active", "location_type": building, "site": site.id}
            for site in sites
        ],
    )
    names = [
        (site, parent, name)
        for site, parent in zip(sites, buildings, strict=True)
        for name in ((HALL,) if site.profile.kind == DATA_CENTRE else (COMMS, FLOOR))
    ]
    rooms = loader.create(
        "dcim.location",
        [
            {
                "name": name,
                "slug": f"{site.code}-{name.lower().replace(' ', '-')}",
                "status": "active",
                "location_type": room,
                "parent": parent,
            }
            for site, parent, name in names
        ],
    )
    for (site, _, name), key in zip(names, rooms, strict=True):
        site.rooms[name] = key
