"""Initial statuses: name, colour, description and content types."""

INITIAL: list[tuple[str, str, str, list[str]]] = [
    (
        "Active",
        "4caf50",
        "Unit is active",
        [
            "circuits.circuit",
            "dcim.device",
            "dcim.deviceredundancygroup",
            "dcim.interface",
            "dcim.interfaceredundancygroup",
            "dcim.location",
            "dcim.powerfeed",
            "dcim.rack",
            "dcim.site",
            "ipam.ipaddress",
            "ipam.prefix",
            "ipam.vlan",
            "virtualization.virtualmachine",
            "virtualization.vminterface",
        ],
    ),
    (
        "Available",
        "4caf50",
        "Unit is available",
        [
            "dcim.rack",
        ],
    ),
    (
        "Connected",
        "4caf50",
        "Cable is connected",
        [
            "dcim.cable",
        ],
    ),
    (
        "Container",
        "9e9e9e",
        "Network contains children",
        [
            "ipam.prefix",
        ],
    ),
    (
        "Decommissioned",
        "9e9e9e",
        "Circuit has been decommissioned",
        [
            "circuits.circuit",
        ],
    ),
    (
        "Decommissioning",
        "ffc107",
        "Unit is being decommissioned",
        [
            "dcim.cable",
            "dcim.device",
            "dcim.deviceredundancygroup",
            "dcim.interface",
            "dcim.interfaceredundancygroup",
            "dcim.location",
            "dcim.site",
            "virtualization.virtualmachine",
            "virtualization.vminterface",
        ],
    ),
    (
        "Deprecated",
        "f44336",
        "Unit has been deprecated",
        [
            "dcim.rack",
            "ipam.ipaddress",
            "ipam.prefix",
            "ipam.vlan",
        ],
    ),
    (
        "Deprovisioning",
        "ffc107",
        "Circuit is being deprovisioned",
        [
            "circuits.circuit",
        ],
    ),
    (
        "DHCP",
        "4caf50",
        "Dynamically assigned IPv4/IPv6 address",
        [
            "ipam.ipaddress",
        ],
    ),
    (
        "Failed",
        "f44336",
        "Unit has failed",
        [
            "dcim.device",
            "dcim.interface",
            "dcim.powerfeed",
            "virtualization.virtualmachine",
            "virtualization.vminterface",
        ],
    ),
    (
        "Inventory",
        "9e9e9e",
        "Device is in inventory",
        [
            "dcim.device",
        ],
    ),
    (
        "Maintenance",
        "9e9e9e",
        "Unit is under maintenance",
        [
            "dcim.interface",
            "virtualization.vminterface",
        ],
    ),
    (
        "Offline",
        "ffc107",
        "Unit is offline",
        [
            "circuits.circuit",
            "dcim.device",
            "dcim.powerfeed",
            "virtualization.virtualmachine",
        ],
    ),
    (
        "Planned",
        "00bcd4",
        "Unit has been planned",
        [
            "circuits.circuit",
            "dcim.cable",
            "dcim.device",
            "dcim.deviceredundancygroup",
            "dcim.interface",
            "dcim.interfaceredundancygroup",
            "dcim.location",
            "dcim.powerfeed",
            "dcim.rack",
            "dcim.site",
            "virtualization.virtualmachine",
            "virtualization.vminterface",
        ],
    ),
    (
        "Provisioning",
        "2196f3",
        "Circuit is being provisioned",
        [
            "circuits.circuit",
        ],
    ),
    (
        "Reserved",
        "00bcd4",
        "Unit is reserved",
        [
            "dcim.rack",
            "ipam.ipaddress",
            "ipam.prefix",
            "ipam.vlan",
        ],
    ),
    (
        "Retired",
        "f44336",
        "Site or Location has been retired",
        [
            "dcim.deviceredundancygroup",
            "dcim.interfaceredundancygroup",
            "dcim.location",
            "dcim.site",
        ],
    ),
    (
        "SLAAC",
        "4caf50",
        "Dynamically assigned IPv6 address",
        [
            "ipam.ipaddress",
        ],
    ),
    (
        "Staged",
        "2196f3",
        "Unit has been staged",
        [
            "dcim.device",
            "virtualization.virtualmachine",
        ],
    ),
    (
        "Staging",
        "2196f3",
        "Site or Location is in the process of being staged",
        [
            "dcim.deviceredundancygroup",
            "dcim.interfaceredundancygroup",
            "dcim.location",
            "dcim.site",
        ],
    ),
]
