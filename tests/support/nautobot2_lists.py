"""The lists of a made-up Nautobot 2.4 with regions, sites, rooms, devices, namespaces, and models unknown here."""

from __future__ import annotations

import uuid
from typing import Any

from tests.support.nautobot2 import Item, Nautobot2, choice

ROOM = ["dcim.device", "dcim.rack", "dcim.rackgroup", "ipam.prefix", "virtualization.cluster", "lifecycle.contract"]
EVERYWHERE = ["dcim.location", "dcim.device", "dcim.rack", "dcim.interface", "dcim.cable", "dcim.softwareversion"]
EVERYWHERE += ["circuits.circuit", "ipam.prefix", "ipam.ipaddress", "ipam.vlan", "ipam.vrf"]
EVERYWHERE += ["virtualization.virtualmachine", "virtualization.vminterface", "dcim.module"]
ROLE = ["dcim.device", "dcim.rack", "virtualization.virtualmachine", "ipam.vlan", "circuits.circuit"]
# The members of objects unless others are given; those without a value are null in the first table, blank in the second.
NULLS = {
    "tenancy/tenant-groups": "parent",
    "dcim/location-types": "parent",
    "dcim/locations": "asn latitude longitude tenant time_zone",
    "dcim/rack-groups": "parent",
    "dcim/racks": "tenant outer_unit",
    "dcim/controller-managed-device-groups": "parent",
    "dcim/devices": "rack position face asset_tag cluster virtual_chassis primary_ip4 primary_ip6 "
    "local_config_context_data",
    "dcim/interfaces": "device module mode role mtu untagged_vlan vrf cable",
    "dcim/module-bays": "parent_module",
    "dcim/cables": "length",
    "ipam/namespaces": "location",
    "ipam/vrfs": "tenant status",
    "ipam/prefixes": "role tenant vlan rir date_allocated parent",
    "ipam/ip-addresses": "role nat_inside tenant",
    "ipam/ip-address-to-interface": "vm_interface",
    "ipam/vlans": "tenant",
    "ipam/prefix-location-assignments": "prefix",
    "circuits/providers": "asn",
    "circuits/circuits": "tenant commit_rate circuit_termination_a circuit_termination_z",
    "circuits/circuit-terminations": "cloud_network",
    "virtualization/clusters": "tenant",
    "virtualization/virtual-machines": "tenant platform primary_ip4",
    "extras/custom-fields": "default",
    "extras/contact-associations": "team",
    "extras/config-contexts": "config_context_schema",
    "extras/notes": "user",
    "extras/relationships": "source_filter destination_filter",
}
BLANKS = {
    "tenancy/tenant-groups": "description",
    "tenancy/tenants": "comments description",
    "dcim/locations": "description facility physical_address contact_name comments",
    "dcim/manufacturers": "description",
    "dcim/device-families": "description",
    "dcim/device-types": "part_number",
    "dcim/platforms": "network_driver napalm_driver",
    "dcim/rack-groups": "description",
    "dcim/racks": "serial",
    "dcim/module-types": "part_number",
    "dcim/devices": "serial comments",
    "dcim/interfaces": "label description",
    "dcim/cables": "label color",
    "ipam/vrfs": "description",
    "ipam/vrf-device-assignments": "rd name",
    "ipam/prefixes": "description",
    "ipam/ip-addresses": "dns_name description",
    "ipam/vlan-groups": "description",
    "ipam/vlans": "description",
    "circuits/providers": "account comments",
    "circuits/circuit-types": "description",
    "circuits/circuits": "description comments",
    "virtualization/cluster-types": "description",
    "virtualization/cluster-groups": "description",
    "virtualization/clusters": "comments",
    "virtualization/virtual-machines": "comments",
    "extras/tags": "description",
    "extras/custom-fields": "grouping",
    "extras/teams": "email address",
    "extras/config-contexts": "description",
    "extras/notes": "user_name",
    "extras/relationships": "description source_label destination_label required_on",
}
VALUES: dict[str, Item] = {
    "dcim/locations": {"device_count": 3},
    "dcim/racks": {"type": choice("4-post-cabinet"), "width": choice(19), "u_height": 42, "desc_units": False},
    "dcim/device-types": {"u_height": 1},
    "dcim/interfaces": {"type": choice("1000base-t"), "enabled": True, "mgmt_only": False}
    | {"ip_addresses": [], "tagged_vlans": []},
    "ipam/vrfs": {"import_targets": [], "export_targets": []},
    "ipam/prefixes": {"locations": [], "ip_version": 4},
    "ipam/ip-addresses": {"mask_length": 24, "ip_version": 4, "interfaces": []},
    "virtualization/virtual-machines": {"vcpus": 2, "memory": 4096, "disk": 10},
    "extras/custom-fields": {"required": False, "filter_logic": choice("loose"), "weight": 100, "advanced_ui": False},
    "extras/config-contexts": {"weight": 1000, "is_active": True},
    "extras/relationships": {"source_hidden": False, "destination_hidden": False},
}
WITH_STATUS = "dcim/locations dcim/racks dcim/software-versions dcim/controllers dcim/devices dcim/interfaces"
WITH_STATUS += " dcim/modules dcim/cables ipam/prefixes ipam/ip-addresses ipam/vlans circuits/circuits"
WITH_STATUS += " virtualization/virtual-machines extras/contact-associations"


def everything(word: str, devices: int = 40) -> Nautobot2:
    """A Nautobot 2.4 with regions, sites, buildings, devices, addresses in namespaces, and models unknown here."""
    there = Nautobot2(word)
    active = there.add("extras/statuses", name="Active", color="4caf50", content_types=EVERYWHERE)
    there.usual = _usual_members(active)
    there.add("users/users", username=f"{word}-somebody")
    tenants = there.named("tenancy/tenant-groups", "Customers")
    tenant = there.named("tenancy/tenants", "Shop", tenant_group=tenants)
    role = there.named("extras/roles", "Access", color="ff0000", content_types=ROLE, weight=7, description="")
    places = _locations(there, tenant)
    _devices(there, tenant, role, places, devices)
    _modules_and_cables(there)
    _addresses(there, _prefixes(there, places))
    _vlans(there, role, places)
    provider = _circuits(there, places)
    _virtual_machines(there, role, places)
    _configuration(there, role, places)
    _fields_and_relationships(there, places, provider)
    return there


def _usual_members(active: Item) -> dict[str, Item]:
    """The members of the objects of each list unless others are given."""
    members: dict[str, Item] = {path: {"status": active} for path in WITH_STATUS.split()}
    for value, names in ((None, NULLS), ("", BLANKS)):
        for path, text in names.items():
            members.setdefault(path, {}).update(dict.fromkeys(text.split(), value))
    for path, values in VALUES.items():
        members[path] |= values
    return members


def _locations(there: Nautobot2, tenant: Item) -> dict[str, Item]:
    types = "dcim/location-types"
    region = there.named(types, "Region", content_types=["ipam.prefix"], nestable=True)
    in_site = ["dcim.device", "dcim.rack", "ipam.prefix"]
    site = there.named(types, "Campus", content_types=in_site, nestable=False, parent=region)
    room = there.named(types, "Room", content_types=ROOM, nestable=False, parent=site)

    def place(name: str, type_: Item, parent: Item | None, **fields: Any) -> Item:
        return there.named("dcim/locations", name, location_type=type_, parent=parent, **fields)

    north = place("North", region, None)
    country = place("Country", region, north, comments="the whole country")
    first = place("First", site, country, asn=64512, tenant=tenant, physical_address="Street 1")
    second = place("Second", site, north)
    rooms = {f"room{n}": place("Machines", room, parent) for n, parent in enumerate((first, second))}
    return {"north": north, "country": country, "first": first, "second": second, **rooms}


def _devices(there: Nautobot2, tenant: Item, role: Item, places: dict[str, Item], number: int) -> None:
    maker = there.named("dcim/manufacturers", "Maker")
    family = there.named("dcim/device-families", "Family")
    type_ = there.add("dcim/device-types", model=f"{there.word} M1", manufacturer=maker, device_family=family)
    platform = there.named("dcim/platforms", "OS", manufacturer=maker)
    software = there.add("dcim/software-versions", version="17.3.1", alias="Amsterdam", platform=platform)
    controller = there.named("dcim/controllers", "Controller", location=places["first"])
    group = there.named("dcim/controller-managed-device-groups", "Access", controller=controller)
    uplink = there.named("extras/roles", "Uplink", color="00ff00", content_types=["dcim.interface"], weight=None)
    rack_group = there.named("dcim/rack-groups", "Row", location=places["room0"])
    rack = there.named("dcim/racks", "R1", role=role, location=places["room0"], rack_group=rack_group)
    there.add("dcim/module-types", model="LC-48", manufacturer=maker)
    for n in range(number):
        device = there.named(
            "dcim/devices",
            f"sw{n}",
            device_type=type_,
            role=role,
            platform=platform,
            tenant=tenant,
            location=places["room0"] if n else places["second"],
            rack=rack if n == 1 else None,
            software_version=software,
            controller_managed_device_group=group,
        )
        for port in range(4):
            there.add("dcim/interfaces", name=f"e{port}", device=device, role=None if port else uplink)


def _modules_and_cables(there: Nautobot2) -> None:
    """A module of the first device, with an interface; and a cable between the first two."""
    (module_type,) = there.lists["dcim/module-types"]
    bay = there.add(
        "dcim/module-bays", name="Slot 1", parent_device=_reference(there.of("dcim/devices", "sw0")), position="1"
    )
    module = there.add("dcim/modules", module_type=_reference(module_type), parent_module_bay=bay, serial="S1")
    there.add("dcim/interfaces", name="e1/1", module=module)
    ends = [item for item in there.lists["dcim/interfaces"] if item["name"] == "e0"][:2]
    sides = {
        f"termination_{side}_{name}": value
        for side, end in zip("ab", ends, strict=True)
        for name, value in {"type": "dcim.interface", "id": end["id"]}.items()
    }
    cable = there.add("dcim/cables", type="cat6", **sides)
    for end in ends:
        end["cable"] = cable


def _prefixes(there: Nautobot2, places: dict[str, Item]) -> list[tuple[Item, str]]:
    """Prefixes in two namespaces. Returns those that have addresses, each with the first three numbers of these."""
    everywhere = there.add("ipam/namespaces", name="Global", description="Default")
    shop = there.named("ipam/namespaces", "Shops", description="of the customer", location=places["first"])
    rir = there.named("ipam/rirs", "RIR", is_private=True, description="")

    def prefix(ending: str, namespace: Item, kind: str = "network", **fields: Any) -> Item:
        return there.add(
            "ipam/prefixes", prefix=f"{there.network}.{ending}", type=choice(kind), namespace=namespace, **fields
        )

    allocated = {"rir": rir, "date_allocated": "2020-05-01T00:00:00Z", "locations": [places["country"]]}
    top = prefix("0.0/16", everywhere, "container", **allocated)
    middle = prefix("0.0/20", everywhere, "container", parent=top)
    pool = prefix("1.0/24", everywhere, "pool", parent=middle, locations=[places["first"], places["second"]])
    own = prefix("1.0/24", shop, locations=[places["room0"]])
    routed = prefix("2.0/24", shop)
    there.add("ipam/prefix-location-assignments", location=places["first"])
    device = _reference(there.of("dcim/devices", "sw1"))
    routes = {"rd": f"65000:{uuid.uuid4().int % 10**6}", "namespace": shop, "prefixes": [routed], "devices": [device]}
    vrf = there.named("ipam/vrfs", "Routed", **routes)
    there.add("ipam/vrf-device-assignments", vrf=vrf, device=device)
    return [(pool, f"{there.network}.1"), (own, f"{there.network}.1"), (routed, f"{there.network}.2")]


def _addresses(there: Nautobot2, parents: list[tuple[Item, str]]) -> None:
    """Addresses in three prefixes, some of them assigned to interfaces, one of those to two."""
    loopback = there.add("extras/roles", name="Loopback", color="0000ff", content_types=["ipam.ipaddress"])
    interfaces = [_reference(item) for item in there.lists["dcim/interfaces"] if item["name"] in ("e1", "e2")]
    assignments = "ip-address-to-interface"
    for n, (parent, start) in enumerate(parents):
        for host in range(1, 31):
            address = there.add(
                "ipam/ip-addresses",
                address=f"{start}.{host}/24",
                host=f"{start}.{host}",
                type=choice("dhcp" if host == 3 else "host"),
                role=loopback if host == 1 else None,
                parent=parent,
            )
            if host < 20 and n * 20 + host < len(interfaces):
                first = interfaces[n * 20 + host]
                there.add(f"ipam/{assignments}", ip_address=address, is_primary=host == 2, interface=first)
                if host == 5:
                    there.add(f"ipam/{assignments}", ip_address=address, interface=interfaces[0])


def _vlans(there: Nautobot2, role: Item, places: dict[str, Item]) -> None:
    first = places["first"]
    group = there.named("ipam/vlan-groups", "Access", location=first, range="1-4094")
    for vid in range(2, 12):
        there.named("ipam/vlans", f"VLAN {vid}", vid=vid, vlan_group=group, role=role, locations=[first])


def _circuits(there: Nautobot2, places: dict[str, Item]) -> Item:
    """A circuit with one end. Returns its provider."""
    provider = there.named("circuits/providers", "Carrier")
    type_ = there.named("circuits/circuit-types", "Fibre")
    circuit = there.add("circuits/circuits", cid=f"{there.word}-1", provider=provider, circuit_type=type_)
    there.add("circuits/circuit-terminations", circuit=circuit, term_side="A", location=places["second"])
    return provider


def _virtual_machines(there: Nautobot2, role: Item, places: dict[str, Item]) -> None:
    type_ = there.named("virtualization/cluster-types", "Hypervisor")
    group = there.named("virtualization/cluster-groups", "Farm")
    of_cluster = {"cluster_type": type_, "cluster_group": group, "location": places["room1"]}
    cluster = there.named("virtualization/clusters", "C1", **of_cluster)
    for n in range(10):
        context = {"local_config_context_data": {"a": n}}
        there.named("virtualization/virtual-machines", f"vm{n}", cluster=cluster, role=role, **context)


def _configuration(there: Nautobot2, role: Item, places: dict[str, Item]) -> None:
    """A tag, a contact, a config context, a note; and what is unknown here."""
    models = ["dcim.location", "dcim.module"]
    tag = there.named("extras/tags", "Blue", color="0000ff", content_types=models)
    there.of("dcim/locations", "First")["tags"] = [tag]
    team = there.named("extras/teams", "Operations", phone="1")
    contact = there.named("extras/contacts", "Ann", phone="2", email="ann@example.com", teams=[team])
    first = places["first"]["id"]
    of_contact = {"associated_object_type": "dcim.location", "associated_object_id": first, "role": role}
    there.add("extras/contact-associations", contact=contact, **of_contact)
    scopes = {"locations": [places["country"], places["second"], places["room0"]], "roles": [role]}
    there.named("extras/config-contexts", "Context", data={"ntp": ["192.0.2.1"]}, **scopes)
    of_note = {"assigned_object_type": "dcim.location", "assigned_object_id": first}
    there.add("extras/notes", note="Ring twice", **of_note)
    there.named("extras/graphql-queries", "Query", query="{ locations { name } }", variables={})
    there.add("extras/object-changes", action=choice("create"))
    there.named("plugins/lifecycle/contracts", "Contract")


def _fields_and_relationships(there: Nautobot2, places: dict[str, Item], provider: Item) -> None:
    """A custom field of locations, and a relationship between them and providers, both with values."""
    key = f"f_{there.word}".lower().replace("-", "_")
    kind, models = choice("text"), ["dcim.location"]
    there.add("extras/custom-fields", key=key, label=f"{there.word} field", type=kind, content_types=models)
    there.of("dcim/locations", "North")["custom_fields"] = {key: "cold"}
    there.of("dcim/locations", "First")["custom_fields"] = {key: "warm"}
    ends = {"source_type": "dcim.location", "destination_type": "circuits.provider"}
    feeds = {"key": f"{key}_r", "label": f"{there.word} feeds", "type": choice("many-to-many")}
    relationship = there.add("extras/relationships", **feeds, **ends)
    ids = {"source_id": places["first"]["id"], "destination_id": provider["id"]}
    there.add("extras/relationship-associations", relationship=relationship, **ends, **ids)


def _reference(item: Item) -> Item:
    """The reference to a listed object."""
    return {key: item[key] for key in ("id", "object_type", "url")}
