"""Functions for users: config contexts, relationships, dynamic groups, templates, links, webhooks and notes."""

from __future__ import annotations

from netinv_demo.company import DATA_CENTRE, DOMAIN
from netinv_demo.device_types import Catalogue
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.plan import HardwarePlan

NTP, DNS = [f"ntp0{number}.{DOMAIN}" for number in (1, 2)], [f"dns0{number}.{DOMAIN}" for number in (1, 2)]
INVENTORY_CSV = """name,role,type,site,rack,position,serial
{% for device in queryset -%}
{{ device.name }},{{ device.device_role.name }},{{ device.device_type.model }},{{ device.site.name }},\
{{ device.rack.name or "" }},{{ device.position or "" }},{{ device.serial }}
{% endfor %}"""


def load_extras(loader: DemoLoader, plan: HardwarePlan, catalogue: Catalogue) -> None:
    """Creates the objects of this module."""
    _load_config_contexts(loader, plan, catalogue)
    _load_relationships(loader, plan)
    _load_dynamic_groups(loader)
    _load_links_and_templates(loader)
    _load_webhooks(loader)
    _load_notes(loader, plan)


def _load_config_contexts(loader: DemoLoader, plan: HardwarePlan, catalogue: Catalogue) -> None:
    """Creates contexts for everything, for data centres and for some roles."""
    centres = [site.id for site in plan.sites if site.profile.kind == DATA_CENTRE]
    switches = [catalogue.roles[name] for name in ("Spine switch", "Leaf switch", "Border leaf")]
    access = [catalogue.roles["Access switch"]]
    bodies: list[Body] = [
        {
            "name": "Company defaults",
            "weight": 100,
            "data": {"ntp_servers": NTP, "dns": {"domain": DOMAIN, "servers": DNS}},
        },
        {"name": "Data centre logging", "weight": 500, "sites": centres, "data": {"syslog": [f"log01.{DOMAIN}"]}},
        {
            "name": "Fabric routing",
            "weight": 1000,
            "roles": switches,
            "data": {"routing": {"protocol": "bgp", "maximum_paths": 4, "timers": {"keepalive": 3, "hold": 9}}},
        },
        {
            "name": "Access port defaults",
            "weight": 1000,
            "roles": access,
            "data": {"access_ports": {"storm_control": 1.0, "bpdu_guard": True}},
        },
    ]
    loader.create_named("extras.configcontext", bodies)


def _load_relationships(loader: DemoLoader, plan: HardwarePlan) -> None:
    """Creates relationships: the data centre that backs a site up, and the firewalls that protect a VLAN."""
    relationships = loader.create_named(
        "extras.relationship",
        [
            {
                "name": "Backup site",
                "type": "one-to-many",
                "source_type": "dcim.site",
                "source_label": "Backs up",
                "destination_type": "dcim.site",
                "destination_label": "Is backed up at",
            },
            {
                "name": "Protecting firewall",
                "type": "many-to-many",
                "source_type": "dcim.device",
                "source_label": "Protects",
                "source_filter": {"role": ["firewall"]},
                "destination_type": "ipam.vlan",
                "destination_label": "Is protected by",
            },
        ],
    )
    first, second = (site for site in plan.sites if site.profile.kind == DATA_CENTRE)
    pairs = [
        ("Backup site", "dcim.site", second.id if site is first else first.id, "dcim.site", site.id)
        for site in plan.sites
    ]
    pairs += [
        ("Protecting firewall", "dcim.device", firewall.id, "ipam.vlan", vlan)
        for site in plan.sites
        for firewall in site.with_role("Firewall")
        for vlan in site.vlans.values()
    ]
    loader.create(
        "extras.relationshipassociation",
        [
            {
                "relationship": relationships[name],
                "source_type": source_type,
                "source_id": source,
                "destination_type": destination_type,
                "destination_id": destination,
            }
            for name, source_type, source, destination_type, destination in pairs
        ],
    )


def _load_dynamic_groups(loader: DemoLoader) -> None:
    """Creates groups by filters, and one that combines two of them."""
    groups: dict[str, Body] = {
        "Active leaf switches": {"role": ["leaf-switch"], "status": ["active"]},
        "Firewalls and routers": {"role": ["firewall", "router"]},
        "Servers due for replacement": {"tag": ["refresh-2027"]},
        "Devices in the perimeter or due for replacement": {},
    }
    ids = loader.create_named(
        "extras.dynamicgroup",
        [{"name": name, "content_type": "dcim.device", "filter": query} for name, query in groups.items()],
    )
    parent = ids["Devices in the perimeter or due for replacement"]
    loader.create(
        "extras.dynamicgroupmembership",
        [
            {"parent_group": parent, "group": ids[name], "operator": "union", "weight": 10 * number}
            for number, name in enumerate(("Firewalls and routers", "Servers due for replacement"), 1)
        ],
    )


def _load_links_and_templates(loader: DemoLoader) -> None:
    """Creates custom links, a computed field and an export template."""
    links = {
        "Graphs": ("dcim.device", "Graphs", "https://graphs.{domain}/host/{{{{ obj.name }}}}"),
        "Runbook": ("dcim.site", "Runbook of {{ obj.name }}", "https://wiki.{domain}/runbooks/{{{{ obj.slug }}}}"),
        "Provider portal": (
            "circuits.circuit",
            "Ticket at {{ obj.provider.name }}",
            "{{{{ obj.provider.portal_url }}}}",
        ),
    }
    loader.create_named(
        "extras.customlink",
        [
            {
                "name": name,
                "content_type": label,
                "text": text,
                "target_url": url.format(domain=DOMAIN),
                "new_window": True,
            }
            for name, (label, text, url) in links.items()
        ],
    )
    loader.create_named(
        "extras.computedfield",
        [
            {
                "slug": "place",
                "label": "Place",
                "content_type": "dcim.device",
                "template": "{{ obj.site.name }}, {{ obj.rack.name }}, U{{ obj.position }}",
                "fallback_value": "not in a rack",
            }
        ],
        key="slug",
    )
    loader.create(
        "extras.exporttemplate",
        [
            {
                "name": "Inventory list",
                "content_type": "dcim.device",
                "description": "Devices with their place and serial number",
                "template_code": INVENTORY_CSV,
                "mime_type": "text/csv",
                "file_extension": "csv",
            }
        ],
    )


def _load_webhooks(loader: DemoLoader) -> None:
    """Creates webhooks, which are not enabled: their receivers do not exist."""
    hooks = {
        "Monitoring: devices": (["dcim.device", "virtualization.virtualmachine"], "monitoring"),
        "DNS: addresses": (["ipam.ipaddress"], "dns"),
        "Tickets: circuits": (["circuits.circuit"], "tickets"),
    }
    loader.create_named(
        "extras.webhook",
        [
            {
                "name": name,
                "content_types": labels,
                "type_create": True,
                "type_update": True,
                "type_delete": True,
                "enabled": False,
                "payload_url": f"https://{host}.{DOMAIN}/netinv",
                "retries": 3,
            }
            for name, (labels, host) in hooks.items()
        ],
    )


def _load_notes(loader: DemoLoader, plan: HardwarePlan) -> None:
    """Creates notes on sites, on firewalls and on a rack."""
    first = plan.sites[0]
    about = [("dcim.site", site.id, f"Key to the comms room: reception of {site.profile.name}.") for site in plan.sites]
    about += [
        ("dcim.device", device.id, "Failover was tested; it took less than two seconds.")
        for site in plan.sites
        for device in site.with_role("Firewall")[:1]
    ]
    about.append(("dcim.rack", first.racks[0].id, "The carriers' fibres enter at the top of this rack."))
    loader.create(
        "extras.note",
        [{"assigned_object_type": label, "assigned_object_id": key, "note": text} for label, key, text in about],
    )
