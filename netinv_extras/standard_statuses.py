"""Standard statuses: the colours and descriptions of those that models name as their initial ones."""

STANDARD: dict[str, tuple[str, str]] = {
    "Active": ("4caf50", "Unit is active"),
    "Available": ("4caf50", "Unit is available"),
    "Connected": ("4caf50", "Cable is connected"),
    "Container": ("9e9e9e", "Network contains children"),
    "Decommissioned": ("9e9e9e", "Circuit has been decommissioned"),
    "Decommissioning": ("ffc107", "Unit is being decommissioned"),
    "Deprecated": ("f44336", "Unit has been deprecated"),
    "Deprovisioning": ("ffc107", "Circuit is being deprovisioned"),
    "DHCP": ("4caf50", "Dynamically assigned IPv4/IPv6 address"),
    "Failed": ("f44336", "Unit has failed"),
    "Inventory": ("9e9e9e", "Device is in inventory"),
    "Maintenance": ("9e9e9e", "Unit is under maintenance"),
    "Offline": ("ffc107", "Unit is offline"),
    "Planned": ("00bcd4", "Unit has been planned"),
    "Provisioning": ("2196f3", "Circuit is being provisioned"),
    "Reserved": ("00bcd4", "Unit is reserved"),
    "Retired": ("f44336", "Site or Location has been retired"),
    "SLAAC": ("4caf50", "Dynamically assigned IPv6 address"),
    "Staged": ("2196f3", "Unit has been staged"),
    "Staging": ("2196f3", "Site or Location is in the process of being staged"),
}
