"""The lists of a made-up Nautobot 2.4 with regions, sites, rooms, devices, namespaces, and models unknown here."""

from __future__ import annotations

import uuid
from typing import Any

from tests.support.nautobot2 import Item, Nautobot2, choice

ROOM = ["dcim.device", "dcim.rack", "dcim.rackgroup", "ipam.prefix", "virtualization.cluster", "lifecycle.contract"]
EVERYWHERE = ["dcim.location", "dcim.device", "dcim.rack", "dcim.interface", "dcim.cable", "dcim.softwareversion"]
EVERYWHERE += ["circuits.circuit", "ipam.prefix", "ipam.ipaddress", "ipam.vlan", "ipam.vrf"]
EVERYWHERE += ["virtualization.virtualmachine", "virtualization.vminterface", "dcim.module"]


def everything(word: str, devices: int = 40) -> Nautobot2:
    """A Nautobot 2.4 with regions, sites, buildings, devices, addresses in namespaces, and models unknown here."""
    there = Nautobot2(word)
    active = there.add("extras/statuses", name="Active", color="4caf50", content_types=EVERYWHERE)
    there.add("users/users", username=f"{word}-somebody")
    tenants = there.named("tenancy/tenant-groups", "Customers", description="", parent=None)
    tenant = there.named("tenancy/tenants", "Shop", tenant_group=tenants, comments="", description="")
    places = _locations(there, active, tenant)
    _devices(there, active, tenant, places, devices)
    _addresses(there, active, places)
    _others(there, active, places)
    return there


def _locations(there: Nautobot2, active: Item, tenant: Item) -> dict[str, Item]:
    types = "dcim/location-types"
    region = there.named(types, "Region", content_types=["ipam.prefix"], nestable=True, parent=None)
    site = there.named(
        types, "Campus", content_types=["dcim.device", "dcim.rack", "ipam.prefix"], nestable=False, parent=region
    )
    room = there.named(types, "Room", content_types=ROOM, nestable=False, parent=site)
    common = {"status": active, "description": "", "facility": "", "asn": None, "latitude": None, "longitude": None}
    common |= {"physical_address": "", "contact_name": "", "comments": "", "tenant": None, "time_zone": None}

    def place(name: str, type_: Item, parent: Item | None, **fields: Any) -> Item:
        return there.named(
            "dcim/locations", name, location_type=type_, parent=parent, **{**common, **fields}, device_count=3
        )

    north = place("North", region, None)
    country = place("Country", region, north, comments="the whole country")
    first = place("First", site, country, asn=64512, tenant=tenant, physical_address="Street 1")
    second = place("Second", site, north)
    rooms = {f"room{n}": place("Machines", room, parent) for n, parent in enumerate((first, second))}
    return {"north": north, "country": country, "first": first, "second": second, **rooms}


def _devices(there: Nautobot2, active: Item, tenant: Item, places: dict[str, Item], number: int) -> None:
    maker = there.named("dcim/manufacturers", "Maker", description="")
    family = there.named("dcim/device-families", "Family", description="")
    type_ = there.add(
        "dcim/device-types",
        model=f"{there.word} M1",
        manufacturer=maker,
        device_family=family,
        part_number="",
        u_height=1,
    )
    platform = there.named("dcim/platforms", "OS", manufacturer=maker, network_driver="", napalm_driver="")
    software = there.add(
        "dcim/software-versions", version="17.3.1", alias="Amsterdam", platform=platform, status=active
    )
    controller = there.named("dcim/controllers", "Controller", status=active, location=places["first"])
    group = there.named("dcim/controller-managed-device-groups", "Access", controller=controller, parent=None)
    types = ["dcim.device", "dcim.rack", "virtualization.virtualmachine", "ipam.vlan", "circuits.circuit"]
    role = there.named("extras/roles", "Access", color="ff0000", content_types=types, weight=7, description="")
    uplink = there.named("extras/roles", "Uplink", color="00ff00", content_types=["dcim.interface"], weight=None)
    rack_group = there.named("dcim/rack-groups", "Row", location=places["room0"], parent=None, description="")
    rack = there.named(
        "dcim/racks",
        "R1",
        status=active,
        role=role,
        location=places["room0"],
        rack_group=rack_group,
        tenant=None,
        type=choice("4-post-cabinet"),
        width=choice(19),
        u_height=42,
        desc_units=False,
        serial="",
        outer_unit=None,
    )
    module_type = there.add("dcim/module-types", model="LC-48", manufacturer=maker, part_number="")
    for n in range(number):
        device = there.named(
            "dcim/devices",
            f"sw{n}",
            device_type=type_,
            role=role,
            status=active,
            platform=platform,
            tenant=tenant,
            location=places["room0"] if n else places["second"],
            rack=rack if n == 1 else None,
            position=None,
            face=None,
            serial="",
            asset_tag=None,
            comments="",
            software_version=software,
            controller_managed_device_group=group,
            cluster=None,
            virtual_chassis=None,
            primary_ip4=None,
            primary_ip6=None,
            local_config_context_data=None,
        )
        for port in range(4):
            there.add(
                "dcim/interfaces",
                name=f"e{port}",
                device=device,
                module=None,
                type=choice("1000base-t"),
                mode=None,
                status=active,
                role=uplink if port == 0 else None,
                enabled=True,
                label="",
                description="",
                mtu=None,
                ip_addresses=[],
                tagged_vlans=[],
                untagged_vlan=None,
                vrf=None,
                cable=None,
                mgmt_only=False,
            )
        if n == 0:
            bay = there.add("dcim/module-bays", name="Slot 1", parent_device=device, parent_module=None, position="1")
            module = there.add(
                "dcim/modules", module_type=module_type, parent_module_bay=bay, serial="S1", status=active
            )
            there.add(
                "dcim/interfaces",
                name="e1/1",
                device=None,
                module=module,
                type=choice("1000base-t"),
                mode=None,
                status=active,
                role=None,
                enabled=True,
                ip_addresses=[],
                tagged_vlans=[],
            )
    ends = [item for item in there.lists["dcim/interfaces"] if item["name"] == "e0"][:2]
    cable = there.add(
        "dcim/cables",
        termination_a_type="dcim.interface",
        termination_a_id=ends[0]["id"],
        status=active,
        type="cat6",
        termination_b_type="dcim.interface",
        termination_b_id=ends[1]["id"],
        label="",
        color="",
        length=None,
    )
    for end in ends:
        end["cable"] = cable


def _addresses(there: Nautobot2, active: Item, places: dict[str, Item]) -> None:
    everywhere = there.add("ipam/namespaces", name="Global", description="Default", location=None)
    shop = there.named("ipam/namespaces", "Shops", description="of the customer", location=places["first"])
    rir = there.named("ipam/rirs", "RIR", is_private=True, description="")
    loopback = there.add("extras/roles", name="Loopback", color="0000ff", content_types=["ipam.ipaddress"])

    def prefix(text: str, namespace: Item, parent: Item | None, kind: str = "network", **fields: Any) -> Item:
        given = {"status": active, "role": None, "tenant": None, "vlan": None, "rir": None, "date_allocated": None}
        given |= {"locations": [], "description": "", "ip_version": 4, "namespace": namespace, "parent": parent}
        return there.add("ipam/prefixes", prefix=text, type=choice(kind), **{**given, **fields})

    top = prefix(
        f"{there.network}.0.0/16",
        everywhere,
        None,
        "container",
        rir=rir,
        date_allocated="2020-05-01T00:00:00Z",
        locations=[places["country"]],
    )
    middle = prefix(f"{there.network}.0.0/20", everywhere, top, "container")
    pool = prefix(f"{there.network}.1.0/24", everywhere, middle, "pool", locations=[places["first"], places["second"]])
    own = prefix(f"{there.network}.1.0/24", shop, None, locations=[places["room0"]])
    routed = prefix(f"{there.network}.2.0/24", shop, None)
    vrf = there.named("ipam/vrfs", "Routed", rd=f"65000:{uuid.uuid4().int % 10**6}", namespace=shop, prefixes=[routed])
    vrf_item = there.of("ipam/vrfs", "Routed")
    vrf_item |= {"tenant": None, "status": None, "description": "", "import_targets": [], "export_targets": []}
    vrf_item["devices"] = [{key: there.of("dcim/devices", "sw1")[key] for key in ("id", "object_type", "url")}]
    there.add("ipam/vrf-device-assignments", vrf=vrf, device=vrf_item["devices"][0], rd="", name="")
    interfaces = [item for item in there.lists["dcim/interfaces"] if item["name"] in ("e1", "e2")]
    for n, (parent, start) in enumerate(
        ((pool, f"{there.network}.1"), (own, f"{there.network}.1"), (routed, f"{there.network}.2"))
    ):
        for host in range(1, 31):
            address = there.add(
                "ipam/ip-addresses",
                address=f"{start}.{host}/24",
                host=f"{start}.{host}",
                mask_length=24,
                ip_version=4,
                type=choice("dhcp" if host == 3 else "host"),
                status=active,
                role=loopback if host == 1 else None,
                parent=parent,
                nat_inside=None,
                tenant=None,
                dns_name="",
                description="",
                interfaces=[],
            )
            interface = interfaces[n * 20 + host] if n * 20 + host < len(interfaces) else None
            if interface and host < 20:
                there.add(
                    "ipam/ip-address-to-interface",
                    ip_address=address,
                    is_primary=host == 2,
                    vm_interface=None,
                    interface={key: interface[key] for key in ("id", "object_type", "url")},
                )
                if host == 5:
                    other = {key: interfaces[0][key] for key in ("id", "object_type", "url")}
                    there.add("ipam/ip-address-to-interface", ip_address=address, interface=other, vm_interface=None)
    group = there.named("ipam/vlan-groups", "Access", location=places["first"], range="1-4094", description="")
    role = {key: there.of("extras/roles", "Access")[key] for key in ("id", "object_type", "url")}
    for vid in range(2, 12):
        there.named(
            "ipam/vlans",
            f"VLAN {vid}",
            vid=vid,
            vlan_group=group,
            status=active,
            role=role,
            tenant=None,
            locations=[places["first"]],
            description="",
        )


def _others(there: Nautobot2, active: Item, places: dict[str, Item]) -> None:
    provider = there.named("circuits/providers", "Carrier", asn=None, account="", comments="")
    type_ = there.named("circuits/circuit-types", "Fibre", description="")
    role = {key: there.of("extras/roles", "Access")[key] for key in ("id", "object_type", "url")}
    circuit = there.add(
        "circuits/circuits",
        cid=f"{there.word}-1",
        provider=provider,
        circuit_type=type_,
        status=active,
        tenant=None,
        commit_rate=None,
        description="",
        comments="",
        circuit_termination_a=None,
        circuit_termination_z=None,
    )
    there.add(
        "circuits/circuit-terminations", circuit=circuit, term_side="A", location=places["second"], cloud_network=None
    )
    cluster_type = there.named("virtualization/cluster-types", "Hypervisor", description="")
    cluster_group = there.named("virtualization/cluster-groups", "Farm", description="")
    cluster = there.named(
        "virtualization/clusters",
        "C1",
        cluster_type=cluster_type,
        cluster_group=cluster_group,
        tenant=None,
        location=places["room1"],
        comments="",
    )
    for n in range(10):
        there.named(
            "virtualization/virtual-machines",
            f"vm{n}",
            cluster=cluster,
            status=active,
            role=role,
            tenant=None,
            platform=None,
            vcpus=2,
            memory=4096,
            disk=10,
            comments="",
            local_config_context_data={"a": n},
            primary_ip4=None,
        )
    tag = there.named(
        "extras/tags", "Blue", color="0000ff", description="", content_types=["dcim.location", "dcim.module"]
    )
    there.of("dcim/locations", "First")["tags"] = [tag]
    key = f"f_{there.word}".lower().replace("-", "_")
    there.add(
        "extras/custom-fields",
        key=key,
        label=f"{there.word} field",
        type=choice("text"),
        content_types=["dcim.location"],
        required=False,
        default=None,
        filter_logic=choice("loose"),
        weight=100,
        grouping="",
        advanced_ui=False,
    )
    there.of("dcim/locations", "North")["custom_fields"] = {key: "cold"}
    there.of("dcim/locations", "First")["custom_fields"] = {key: "warm"}
    team = there.named("extras/teams", "Operations", phone="1", email="", address="")
    contact = there.named("extras/contacts", "Ann", phone="2", email="ann@example.com", teams=[team])
    there.add(
        "extras/contact-associations",
        contact=contact,
        team=None,
        associated_object_type="dcim.location",
        associated_object_id=places["first"]["id"],
        role=role,
        status=active,
    )
    there.named(
        "extras/config-contexts",
        "Context",
        weight=1000,
        data={"ntp": ["192.0.2.1"]},
        is_active=True,
        description="",
        locations=[places["country"], places["second"], places["room0"]],
        roles=[role],
        config_context_schema=None,
    )
    there.add(
        "extras/notes",
        assigned_object_type="dcim.location",
        assigned_object_id=places["first"]["id"],
        note="Ring twice",
        user=None,
        user_name="",
    )
    relationship = there.add(
        "extras/relationships",
        key=f"{key}_r",
        label=f"{there.word} feeds",
        type=choice("many-to-many"),
        description="",
        source_type="dcim.location",
        destination_type="circuits.provider",
        source_filter=None,
        destination_filter=None,
        source_label="",
        destination_label="",
        source_hidden=False,
        destination_hidden=False,
        required_on="",
    )
    there.add(
        "extras/relationship-associations",
        relationship=relationship,
        source_type="dcim.location",
        source_id=places["first"]["id"],
        destination_type="circuits.provider",
        destination_id=provider["id"],
    )
    there.named("extras/graphql-queries", "Query", query="{ locations { name } }", variables={})
    there.add("extras/object-changes", action=choice("create"))
    there.named("plugins/lifecycle/contracts", "Contract")
    there.add("ipam/prefix-location-assignments", prefix=None, location=places["first"])
