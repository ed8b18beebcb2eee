"""Import of NetBox dumps: the models of sites, racks, devices, cables and power."""

from __future__ import annotations

import json

from netinv_core.importing.dump import Derived, Dump, Fields, Source

LOCATION_TYPE = "netbox-location"
NO_FILE = "the dump names the file and does not have it"
KINDS = [
    "consoleport",
    "consoleserverport",
    "powerport",
    "poweroutlet",
    "interface",
    "rearport",
    "frontport",
    "devicebay",
]
LOCATED = ["dcim.device", "dcim.powerpanel", "dcim.rack", "ipam.vlangroup"]


def location(dump: Dump, fields: Fields) -> Fields:
    """Converts a location.

    In NetBox, names and slugs are unique within a site, and every location has a site. Here slugs are unique among all
    locations, names among the topmost ones, and only the topmost ones have a site.
    """
    site = dump.get("dcim.site", fields["site"])
    shared = dump.uses("dcim.location", "slug")[fields["slug"]] > 1
    renamed = not fields["parent"] and dump.uses("dcim.location", "name")[fields["name"]] > 1
    return {
        **fields,
        "name": f"{fields['name']} ({site.get('name', fields['site'])})" if renamed else fields["name"],
        "slug": f"{site.get('slug', fields['site'])}-{fields['slug']}" if shared else fields["slug"],
        "site": None if fields["parent"] else fields["site"],
    }


def rack_reservation(dump: Dump, fields: Fields) -> Fields:
    """Converts a rack reservation. A NetBox dump contains its units as a JSON text."""
    units = fields["units"]
    return {**fields, "units": json.loads(units) if isinstance(units, str) else units}


models: dict[str, Source | Derived] = {
    "dcim.region": Source("dcim.region"),
    "dcim.site": Source("dcim.site"),
    "dcim.locationtype": Source("dcim.locationtype"),
    "dcim.location": Source(
        "dcim.location",
        adapt=location,
        fixed_values={"status": "active", "location_type": LOCATION_TYPE},
        by=("site_id", "parent_id", "name"),
        needs={
            "dcim.locationtype": {
                LOCATION_TYPE: {
                    "name": "NetBox location",
                    "slug": LOCATION_TYPE,
                    "nestable": True,
                    "content_types": LOCATED,
                },
            },
        },
    ),
    "dcim.rackrole": Source("dcim.rackrole"),
    "dcim.rack": Source("dcim.rack", by=("site_id", "location_id", "name")),
    "dcim.rackreservation": Source("dcim.rackreservation", adapt=rack_reservation),
    "dcim.manufacturer": Source("dcim.manufacturer"),
    "dcim.devicetype": Source(
        "dcim.devicetype",
        omit={"front_image": NO_FILE, "rear_image": NO_FILE},
        by=("manufacturer_id", "model"),
    ),
    "dcim.interfacetemplate": Source("dcim.interfacetemplate", by=("device_type_id", "name")),
    "dcim.devicerole": Source("dcim.devicerole"),
    "dcim.platform": Source("dcim.platform"),
    "dcim.device": Source("dcim.device", deferred=("primary_ip4", "primary_ip6"), by=("site_id", "tenant_id", "name")),
    "dcim.virtualchassis": Source("dcim.virtualchassis", deferred=("master",), by=("name",)),
    "dcim.interface": Source(
        "dcim.interface",
        fixed_values={"status": "active"},
        rename={"parent": "parent_interface"},
        drop=("cable",),
        by=("device_id", "name"),
    ),
    **{
        f"dcim.{kind}template": Source(f"dcim.{kind}template", by=("device_type_id", "name"))
        for kind in KINDS
        if kind != "interface"
    },
    **{
        f"dcim.{kind}": Source(f"dcim.{kind}", drop=("cable",), by=("device_id", "name"))
        for kind in KINDS
        if kind != "interface"
    },
    "dcim.inventoryitem": Source("dcim.inventoryitem", by=("device_id", "parent_id", "name")),
    "dcim.powerpanel": Source("dcim.powerpanel", by=("site_id", "name")),
    "dcim.powerfeed": Source("dcim.powerfeed", drop=("cable", "available_power"), by=("power_panel_id", "name")),
    "dcim.cable": Source("dcim.cable", by=("termination_a_type", "termination_a_id")),
    "dcim.cablepath": Derived("followed here along the cables"),
}
