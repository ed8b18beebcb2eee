"""Lists of the REST API of a NetBox, made of the objects of its ``dumpdata``, in the shape of 3.4 or of 4.2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from netinv_import.representations import singular

BASE = "http://netbox.example.com"
Item = dict[str, Any]
PATHS = """
circuits/circuit-terminations circuits/circuit-types circuits/circuits circuits/provider-networks circuits/providers
dcim/cable-terminations dcim/cables dcim/console-port-templates dcim/console-ports dcim/device-bay-templates
dcim/device-bays dcim/device-roles dcim/device-types dcim/devices dcim/front-port-templates dcim/front-ports
dcim/interface-templates dcim/interfaces dcim/locations dcim/manufacturers dcim/module-bay-templates dcim/module-bays
dcim/module-types dcim/modules dcim/platforms dcim/power-feeds dcim/power-outlet-templates dcim/power-outlets
dcim/power-panels dcim/power-port-templates dcim/power-ports dcim/rack-reservations dcim/rack-roles dcim/racks
dcim/rear-port-templates dcim/rear-ports dcim/regions dcim/site-groups dcim/sites dcim/virtual-chassis
ipam/aggregates ipam/asns ipam/ip-addresses ipam/ip-ranges ipam/prefixes ipam/rirs ipam/roles ipam/route-targets
ipam/vlan-groups ipam/vlans ipam/vrfs extras/custom-fields extras/tags tenancy/contact-assignments
tenancy/contact-groups tenancy/contact-roles tenancy/contacts tenancy/tenant-groups tenancy/tenants
virtualization/cluster-groups virtualization/cluster-types virtualization/clusters virtualization/interfaces
virtualization/virtual-machines
"""
LABELS = {singular(path): path for path in PATHS.split()}
TARGETS = """
asns ipam.asn bay dcim.modulebay bridge dcim.interface cable dcim.cable circuit circuits.circuit cluster
virtualization.cluster contact tenancy.contact device dcim.device device_role dcim.devicerole device_type
dcim.devicetype export_targets ipam.routetarget import_targets ipam.routetarget installed_device dcim.device lag
dcim.interface location dcim.location manufacturer dcim.manufacturer master dcim.device module dcim.module
module_bay dcim.modulebay module_type dcim.moduletype nat_inside ipam.ipaddress platform dcim.platform power_panel
dcim.powerpanel power_port dcim.powerport primary_ip4 ipam.ipaddress primary_ip6 ipam.ipaddress provider
circuits.provider provider_network circuits.providernetwork rack dcim.rack rear_port dcim.rearport region dcim.region
rir ipam.rir site dcim.site tagged_vlans ipam.vlan tenant tenancy.tenant untagged_vlan ipam.vlan virtual_chassis
dcim.virtualchassis virtual_machine virtualization.virtualmachine vlan ipam.vlan vrf ipam.vrf
"""
REFERENCES = dict(zip(TARGETS.split()[::2], TARGETS.split()[1::2], strict=True))
OF_MODELS = """
circuits.circuit.type circuits.circuittype dcim.site.group dcim.sitegroup dcim.rack.role dcim.rackrole ipam.prefix.role
ipam.role ipam.vlan.role ipam.role ipam.iprange.role ipam.role ipam.vlan.group ipam.vlangroup tenancy.tenant.group
tenancy.tenantgroup tenancy.contact.group tenancy.contactgroup tenancy.contactassignment.role tenancy.contactrole
virtualization.cluster.type virtualization.clustertype virtualization.cluster.group virtualization.clustergroup
virtualization.virtualmachine.role dcim.devicerole dcim.poweroutlettemplate.power_port dcim.powerporttemplate
dcim.frontporttemplate.rear_port dcim.rearporttemplate
"""
OWN_REFERENCES = dict(zip(OF_MODELS.split()[::2], OF_MODELS.split()[1::2], strict=True))
CHOICES = ("status", "type", "face", "mode", "width", "supply", "phase", "feed_leg", "airflow", "subdevice_role")
TREE = ("lft", "rght", "tree_id", "level")


def lists_of(items: Iterable[Mapping[str, Any]], *, later: bool = False) -> dict[str, list[Item]]:
    """Returns the lists by path; ``later`` in the shape of 4.2: ``role`` of devices, scopes instead of sites."""
    lists: dict[str, list[Item]] = {path: [] for path in LABELS.values()}
    tags: dict[tuple[str, Any], list[Any]] = {}
    objects = list(items)
    for item in objects:
        if item["model"] == "extras.taggeditem":
            fields = item["fields"]
            tags.setdefault((".".join(fields["content_type"]), fields["object_id"]), []).append(fields["tag"])
    for item in objects:
        if (label := item["model"]) in LABELS and "pk" in item:
            shown = _shown(label, item["pk"], item["fields"])
            if (keys := tags.get((label, item["pk"]))) is not None:
                shown["tags"] = [_nested("extras.tag", key) for key in keys]
            lists[LABELS[label]].append(_later(label, shown) if later else shown)
    return lists


def _nested(label: str, key: Any) -> Item:
    return {"id": key, "url": f"{BASE}/api/{LABELS[label]}/{key}/", "display": f"{label} {key}"}


def _shown(label: str, key: Any, fields: Mapping[str, Any]) -> Item:
    """Returns an object as the API shows it: nested references, choices with labels, content types as text."""
    shown = _nested(label, key)
    for name, value in fields.items():
        target = OWN_REFERENCES.get(f"{label}.{name}") or (label if name == "parent" else REFERENCES.get(name))
        if name.startswith("_") or name in TREE:
            continue
        if name == "custom_field_data":
            shown["custom_fields"] = value
        elif target is not None and target in LABELS and isinstance(value, list):
            shown[name] = [_nested(target, member) for member in value]
        elif target is not None and target in LABELS:
            shown[name] = None if value is None else _nested(target, value)
        elif name == "user" and isinstance(value, list):
            shown[name] = {"id": 1, "url": f"{BASE}/api/users/users/1/", "display": value[0], "username": value[0]}
        elif name == "content_types":
            shown[name] = [".".join(member) for member in value]
        elif name.endswith("_type") and isinstance(value, list):
            shown[name] = ".".join(value)
        elif name in CHOICES and value not in (None, ""):
            shown[name] = {"value": value, "label": str(value).title()}
        else:
            shown[name] = value
    return shown


def _later(label: str, shown: Item) -> Item:
    """Converts an object to the shape of 4.2."""
    if label == "dcim.device":
        shown["role"] = shown.pop("device_role")
    if label in ("ipam.prefix", "virtualization.cluster"):
        site = shown.pop("site")
        shown |= {"scope_type": "dcim.site" if site else None, "scope_id": site and site["id"], "scope": site}
    if label == "circuits.circuittermination":
        places = {"dcim.site": shown.pop("site"), "circuits.providernetwork": shown.pop("provider_network")}
        kind, place = next(((kind, place) for kind, place in places.items() if place), (None, None))
        shown |= {"termination_type": kind, "termination_id": place and place["id"], "termination": place}
    return shown
