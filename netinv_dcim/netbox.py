"""Import of NetBox dumps: the models of sites, racks, devices, cables and power."""

from __future__ import annotations

import json

from netinv_core.importing.dump import Declaration, Derived, Dump, Excluded, Fields, NamedModel, Source
from netinv_dcim.netbox_folds import cable_without_an_end, folds, module, shown_cable_ends, whole

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
OF_COMPONENTS = {"module": "dcim.module"}
CONFIGURED = {"config_template": "extras.configtemplate"}
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


def site(dump: Dump, fields: Fields) -> Fields:
    """Converts a site: its first contact becomes the contact's name, phone and e-mail address."""
    contact: dict[str, str] = next(iter(fields.get("contacts", [])), {})
    return {
        **{f"contact_{name}": contact.get(name, "") for name in ("name", "phone", "email") if contact},
        **fields,
    }


def rack(dump: Dump, fields: Fields) -> Fields:
    """Converts a rack: since NetBox 4.1 its type is the form factor."""
    if "form_factor" not in fields:
        return fields
    return {**{name: value for name, value in fields.items() if name != "form_factor"}, "type": fields["form_factor"]}


def device_type(dump: Dump, fields: Fields) -> Fields:
    """Converts a device type: heights are whole units, rounded up."""
    return whole(fields, "u_height", up=True)


def device(dump: Dump, fields: Fields) -> Fields:
    """Converts a device: positions are whole units, rounded down."""
    return whole(fields, "position", up=False)


def template_of_a_module_type(dump: Dump, fields: Fields) -> str:
    """Why a component template has no place here: it belongs to a module type."""
    return "" if fields.get("device_type") else "a template of a module type: there are no module types here"


def component(kind: str) -> Source:
    """Returns the mapping of a kind of components."""
    return Source(f"dcim.{kind}", drop=("cable", "cable_end"), by=("device_id", "name"), refers=OF_COMPONENTS)


def template(kind: str) -> Source:
    """Returns the mapping of a kind of component templates."""
    return Source(
        f"dcim.{kind}template",
        by=("device_type_id", "name"),
        skip=template_of_a_module_type,
        drop=("module_type",),
        usual={"enabled": True},
    )


models: dict[str, Declaration] = {
    "dcim.region": Source("dcim.region"),
    "dcim.sitegroup": NamedModel(),
    "dcim.site": Source("dcim.site", adapt=site, refers={"group": "dcim.sitegroup"}),
    "dcim.rackgroup": Source("dcim.rackgroup", by=("site_id", "name")),
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
    "dcim.racktype": NamedModel(("u_height", "form_factor"), package="netinv-rack-types"),
    "dcim.rack": Source(
        "dcim.rack",
        adapt=rack,
        by=("site_id", "location_id", "name"),
        usual={"starting_unit": 1},
        refers={"rack_type": "dcim.racktype"},
    ),
    "dcim.rackreservation": Source("dcim.rackreservation", adapt=rack_reservation),
    "dcim.manufacturer": Source("dcim.manufacturer"),
    "dcim.devicetype": Source(
        "dcim.devicetype",
        adapt=device_type,
        omit={"front_image": NO_FILE, "rear_image": NO_FILE},
        by=("manufacturer_id", "model"),
        refers={"default_platform": "dcim.platform"},
    ),
    "dcim.devicerole": Source("dcim.devicerole", refers=CONFIGURED),
    "dcim.platform": Source("dcim.platform", refers=CONFIGURED),
    "dcim.device": Source(
        "dcim.device",
        adapt=device,
        rename={"role": "device_role"},
        drop=("parent_device",),
        deferred=("primary_ip4", "primary_ip6"),
        by=("site_id", "tenant_id", "name"),
        refers={"oob_ip": "ipam.ipaddress", **CONFIGURED},
    ),
    "dcim.virtualdevicecontext": NamedModel(("identifier", "status"), package="netinv-device-contexts"),
    "dcim.module": Source("dcim.inventoryitem", adapt=module),
    "dcim.modulebaytemplate": Excluded("install netinv-modules to import templates of module bays"),
    "dcim.moduletypeprofile": Excluded("there are no module types here"),
    "dcim.virtualchassis": Source("dcim.virtualchassis", deferred=("master",), by=("name",)),
    "dcim.interface": Source(
        "dcim.interface",
        fixed_values={"status": "active"},
        rename={"parent": "parent_interface"},
        drop=("cable", "cable_end", "primary_mac_address"),
        by=("device_id", "name"),
        refers=OF_COMPONENTS
        | {
            "vrf": "ipam.vrf",
            "vdcs": "dcim.virtualdevicecontext",
            "wireless_lans": "wireless.wirelesslan",
            "wireless_link": "wireless.wirelesslink",
            "qinq_svlan": "ipam.vlan",
            "vlan_translation_policy": "ipam.vlantranslationpolicy",
        },
    ),
    **{f"dcim.{kind}template": template(kind) for kind in KINDS},
    **{f"dcim.{kind}": component(kind) for kind in KINDS if kind != "interface"},
    "dcim.inventoryitemrole": NamedModel(),
    "dcim.inventoryitemtemplate": Excluded("there are no templates of inventory items here"),
    "dcim.inventoryitem": Source(
        "dcim.inventoryitem", by=("device_id", "parent_id", "name"), refers={"role": "dcim.inventoryitemrole"}
    ),
    "dcim.powerpanel": Source("dcim.powerpanel", by=("site_id", "name")),
    "dcim.powerfeed": Source(
        "dcim.powerfeed", drop=("cable", "cable_end", "available_power"), by=("power_panel_id", "name")
    ),
    "dcim.cable": Source(
        "dcim.cable",
        by=("termination_a_type", "termination_a_id"),
        prepare=shown_cable_ends,
        drop=("a_terminations", "b_terminations"),
        skip=cable_without_an_end,
        refers={"tenant": "tenancy.tenant"},
    ),
    "dcim.cablepath": Derived("followed here along the cables"),
    "wireless.wirelesslan": NamedModel(package="netinv-wireless"),
    "wireless.wirelesslangroup": Excluded("install netinv-wireless to import groups of wireless LANs"),
    "wireless.wirelesslink": NamedModel(package="netinv-wireless"),
    **folds,
}
