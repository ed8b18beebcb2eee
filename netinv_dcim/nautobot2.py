"""Differences of Nautobot 2.x and 3.x in the application ``dcim``: locations, roles, modules, software, controllers,
breakout cables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netinv_core.importing.dump import (
    Declaration,
    Derived,
    Dump,
    Excluded,
    Fields,
    Folded,
    Key,
    NamedModel,
    Source,
    content_type,
)
from netinv_core.write.slugs import slugify
from netinv_dcim.nautobot2_locations import BECOMES, LOCATION, REGION, SITE, TYPE, split
from netinv_dcim.netbox import OF_COMPONENTS, template_of_a_module_type
from netinv_dcim.netbox_folds import BAY, CABLE, MODULE, MODULE_TYPE, cable_without_an_end, folds, module

KINDS = ["consoleport", "consoleserverport", "powerport", "poweroutlet", "interface", "rearport", "frontport"]
CONTEXT = {
    f"local_config_context_{name}": f"local_context_{name}"
    for name in ("data", "schema", "data_owner_content_type", "data_owner_object_id")
}
CLUSTER_ASSIGNMENT = "dcim.deviceclusterassignment"
NO_MODULES = "install netinv-modules to import templates of module bays"
USUAL_POWER_FACTOR = {"power_factor": "0.95"}
NO_LOAD_BALANCERS, NO_VPNS = "there are no load balancers here", "there are no VPNs of this kind here"
VPN_POLICIES = (("vpn", ""), ("vpnprofile", "assignment"))
CERTIFICATES = ("loadbalancerpoolmember", "virtualserver")
LOAD_BALANCERS = (
    *("certificateprofile", "healthcheckmonitor", "loadbalancerpool", *CERTIFICATES),
    *(f"{owner}certificateprofileassignment" for owner in CERTIFICATES),
)
VPNS = (
    *("vpn", "vpnprofile", "vpntermination", "vpntunnel", "vpntunnelendpoint"),
    *(f"{owner}phase{phase}policy{suffix}" for phase in (1, 2) for owner, suffix in VPN_POLICIES),
)
OWNERS = {"device": "dcim.device", "circuit": "circuits.circuit", "power_panel": "dcim.powerpanel"}


def location_type(dump: Dump, fields: Fields) -> str:
    """Why a location type has no place here."""
    return str(fields.get(BECOMES, ""))


def device_role(dump: Dump, fields: Fields) -> Fields:
    """Converts a role of devices: one of virtual machines too is so here."""
    labels = {content_type(item) for item in fields.get("content_types", ())}
    return {**fields, "vm_role": "virtualization.virtualmachine" in labels} if "content_types" in fields else fields


def device_type(dump: Dump, fields: Fields) -> Fields:
    """Adds the slug, of the model; of a model that several manufacturers have with the manufacturer."""
    several = dump.uses("dcim.devicetype", "model")[fields["model"]] > 1
    name = f"{dump.name('dcim.manufacturer', fields.get('manufacturer'))} {fields['model']}"
    return {"slug": slugify(name if several else fields["model"]), **fields}


def modules(dump: Dump) -> None:
    """Gives modules their device and the name ``module_bay``, as NetBox has them, and components their device."""
    found: Mapping[Any, Fields] = dump.objects.get(MODULE, {})
    devices = {key: _device_of(dump, key) for key in found}
    for key, fields in found.items():
        dump.set((MODULE, key), module_bay=fields.get("parent_module_bay"), device=devices[key], parent_module_bay=None)
    for kind in KINDS:
        for key, fields in dump.objects.get(f"dcim.{kind}", {}).items():
            if fields.get("module") and not fields.get("device"):
                dump.set((f"dcim.{kind}", key), device=devices.get(fields["module"]))


def _device_of(dump: Dump, key: Any) -> Any:
    """Returns the device that a module is in, directly or in other modules."""
    seen: set[Any] = set()
    while key is not None and key not in seen:
        seen.add(key)
        bay = dump.get(BAY, dump.get(MODULE, key).get("parent_module_bay"))
        if bay.get("parent_device"):
            return bay["parent_device"]
        key = bay.get("parent_module")
    return None


def in_stock(dump: Dump, fields: Fields) -> str:
    """Why a module has no place here: it is in no device."""
    return "" if fields.get("device") else "a module in no device: inventory items here belong to one"


def clusters(dump: Dump) -> Mapping[Any, Key | str]:
    """Gives devices their cluster: the first; the names of further ones are listed."""
    results: dict[Any, Key | str] = {}
    for key, fields in dump.objects[CLUSTER_ASSIGNMENT].items():
        owner, cluster = ("dcim.device", fields.get("device")), fields.get("cluster")
        device = dump.get(*owner)
        if not device:
            results[key] = "its device is not in the source"
            continue
        if device.get("cluster") in (None, cluster):
            dump.set(owner, cluster=cluster)
        else:
            name = dump.name("virtualization.cluster", cluster)
            dump.set(owner, more_clusters=[*device.get("more_clusters", []), name])
        results[key] = owner
    return results


def breakouts(dump: Dump) -> None:
    """Lists the further ends of cables that have more than two (3.2 and later): ``B2: sw1 Ethernet3``."""
    for key, fields in dump.objects[CABLE].items():
        two = {fields.get("termination_a_id"), fields.get("termination_b_id")}
        ends = {place: end for place, end in (fields.get("terminations") or {}).items() if end}
        more = [f"{place.upper()}: {_name_of_end(dump, end)}" for place, end in ends.items() if end["id"] not in two]
        if more:
            dump.set((CABLE, key), more_ends=more)


def _name_of_end(dump: Dump, end: Mapping[str, Any]) -> str:
    """The name of a port or termination with that of what it belongs to."""
    label, key = end["object_type"], end["id"]
    fields = dump.get(label, key)
    owners = [dump.name(owner, fields[name]) for name, owner in OWNERS.items() if fields.get(name)]
    own = str(fields["term_side"]) if fields.get("term_side") else dump.name(label, key)
    return " ".join([*owners, own])


def component(label: str) -> Source:
    """Returns the difference of a kind of components: a module is kept as a name."""
    return Source(label, refers=OF_COMPONENTS, usual=USUAL_POWER_FACTOR)


def template(label: str) -> Source:
    """Returns the difference of a kind of component templates: those of module types have no place here."""
    renamed = {"rear_port_template": "rear_port", "power_port_template": "power_port"}
    return Source(
        label, rename=renamed, skip=template_of_a_module_type, drop=("module_type",), usual=USUAL_POWER_FACTOR
    )


models: dict[str, Declaration] = {
    LOCATION: Source(LOCATION, prepare=split),
    TYPE: Source(TYPE, skip=location_type),
    SITE: Source(SITE),
    REGION: Source(REGION, usual={"status": "active"}),
    "dcim.devicerole": Source("dcim.devicerole", adapt=device_role, drop=("content_types",)),
    "dcim.rackrole": Source("dcim.rackrole", drop=("content_types",)),
    "dcim.devicetype": Source("dcim.devicetype", adapt=device_type),
    "dcim.device": Source(
        "dcim.device", prepare=modules, rename={"role": "device_role", **CONTEXT}, drop=("clusters",)
    ),
    "dcim.powerfeed": Source("dcim.powerfeed", drop=("available_power",)),
    CABLE: Source(
        CABLE,
        prepare=breakouts,
        skip=cable_without_an_end,
        drop=("terminations", "total_lanes", "connected_lanes"),
    ),
    "dcim.cabletype": NamedModel(),
    "dcim.cablestocabletermination": Derived("the cable has its ends"),
    "dcim.rack": Source("dcim.rack", rename={"rack_group": "group"}),
    **{f"dcim.{kind}": component(f"dcim.{kind}") for kind in KINDS},
    **{f"dcim.{kind}template": template(f"dcim.{kind}template") for kind in KINDS},
    "dcim.interface": Source("dcim.interface", refers=OF_COMPONENTS, drop=("ip_addresses",)),
    MODULE: Source("dcim.inventoryitem", adapt=module, skip=in_stock, drop=("parent_module_bay",)),
    BAY: folds[BAY],
    MODULE_TYPE: folds[MODULE_TYPE],
    "dcim.modulebaytemplate": Excluded(NO_MODULES),
    "dcim.modulefamily": NamedModel(),
    "dcim.devicefamily": NamedModel(("description",)),
    "dcim.softwareversion": NamedModel(("alias",)),
    "dcim.softwareimagefile": NamedModel(("image_file_name",)),
    "dcim.controller": NamedModel(),
    "dcim.controllermanageddevicegroup": NamedModel(),
    "dcim.virtualdevicecontext": NamedModel(("identifier",)),
    "dcim.interfacevdcassignment": Excluded("the interface has the names of its virtual device contexts"),
    "dcim.devicetypetosoftwareimagefile": Excluded("the device type has the names of its software image files"),
    "dcim.devicetypestosoftwareimagefile": Excluded("the device type has the names of its software image files"),
    CLUSTER_ASSIGNMENT: Folded(clusters),
    **{f"wireless.{model}": NamedModel() for model in ("radioprofile", "supporteddatarate", "wirelessnetwork")},
    "wireless.controllermanageddevicegroupradioprofileassignment": Excluded("there are no wireless networks here"),
    "wireless.controllermanageddevicegroupwirelessnetworkassignment": Excluded("there are no wireless networks here"),
    **{
        f"cloud.{model}": NamedModel()
        for model in ("cloudaccount", "cloudnetwork", "cloudservice", "cloudresourcetype")
    },
    **{
        f"cloud.{model}": Excluded("there are no clouds here")
        for model in ("cloudnetworkprefixassignment", "cloudservicenetworkassignment")
    },
    **{f"load-balancers.{model}": Excluded(NO_LOAD_BALANCERS) for model in LOAD_BALANCERS},
    **{f"vpn.{model}": Excluded(NO_VPNS) for model in VPNS},
}
