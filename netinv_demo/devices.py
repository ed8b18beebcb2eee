"""Devices of the plan, with blades in bays, stacks, inventory items and redundancy groups."""

from __future__ import annotations

from netinv_demo.company import HUB, INFRASTRUCTURE
from netinv_demo.device_types import Catalogue
from netinv_demo.loader import Body, DemoLoader
from netinv_demo.models import CHASSIS, COMPUTE, EDGE_ROUTER, LARGE_SERVER, SERVER, SPINE, SWITCHING
from netinv_demo.plan import HardwarePlan, PlannedDevice

DEVICE_BATCH = 100  # devices of one batch, with some thousand components
SUPPORT = ("4 hours", "Next business day", "None")
PLANNED_SHARE, STAGED_SHARE = 0.02, 0.02
# Parts by model: name, part identifier.
PARTS = {
    SERVER: (("CPU 1", "KC-6430"), ("CPU 2", "KC-6430"), ("Disk 0", "KD-1920"), ("Disk 1", "KD-1920")),
    LARGE_SERVER: (("CPU 1", "KC-6450"), ("CPU 2", "KC-6450"), ("RAID controller", "KR-12"), ("Disk 0", "KD-7680")),
    SPINE: (("Fan 1", "AF-40"), ("Fan 2", "AF-40")),
    EDGE_ROUTER: (("Route processor", "AR-RP2"), ("Line card", "AR-LC24")),
}


def load_devices(loader: DemoLoader, plan: HardwarePlan, catalogue: Catalogue, tenants: dict[str, str]) -> None:
    """Creates the devices; their components follow from their types."""
    devices = list(plan.devices)
    bodies = [_device_body(loader, device, number, catalogue, tenants) for number, device in enumerate(devices, 1)]
    for device, key in zip(devices, loader.create("dcim.device", bodies, batch=DEVICE_BATCH), strict=True):
        device.id = key
    _install_blades(loader, devices)
    _load_stacks(loader, plan)
    _load_redundancy_groups(loader, plan)
    _load_parts(loader, devices, catalogue)


def _device_body(
    loader: DemoLoader, device: PlannedDevice, number: int, catalogue: Catalogue, tenants: dict[str, str]
) -> Body:
    chance = loader.random
    platform, rack = device.model.platform, device.rack
    is_server = device.model.manufacturer == COMPUTE
    status = "active"
    if is_server and device.model is not CHASSIS:
        draw = chance.random()
        status = "planned" if draw < PLANNED_SHARE else "staged" if draw < PLANNED_SHARE + STAGED_SHARE else "active"
    body: Body = {
        "name": device.name,
        "device_type": catalogue.types[device.model.model],
        "device_role": catalogue.roles[device.role],
        "platform": platform and catalogue.platforms[platform],
        "tenant": tenants["Warehousing" if device.site.profile.kind == HUB else INFRASTRUCTURE],
        "site": device.site.id,
        "location": device.site.rooms[device.room],
        "status": status,
        "serial": f"{device.model.manufacturer[:2].upper()}{chance.randrange(16**9):09X}",
        "asset_tag": f"TW-{number:05}",
        "comments": device.comments or device.model.comments,
        "tags": _tags(loader, device),
        "custom_fields": {
            "support_level": chance.choice(SUPPORT[:2]) if device.model.power_ports else SUPPORT[2],
            "support_until": f"{chance.randint(2027, 2031)}-{chance.randint(1, 12):02}-01",
        },
    }
    if rack is not None and device.parent is None:
        body |= {"rack": rack.id}
        if device.position is not None:
            body |= {"position": device.position, "face": "front"}
    return body


def _tags(loader: DemoLoader, device: PlannedDevice) -> list[Body]:
    """Returns references to tags: network devices are automated, some servers are due for replacement."""
    if device.role in ("Firewall", "Router", "Border leaf"):
        return [{"slug": "business-critical"}, {"slug": "automated"}]
    if device.model.manufacturer == SWITCHING:
        return [{"slug": "automated"}]
    return [{"slug": "refresh-2027"}] if device.role == "Hypervisor" and loader.random.random() < 0.2 else []


def _install_blades(loader: DemoLoader, devices: list[PlannedDevice]) -> None:
    """Installs the blades into the bays of their chassis, in order."""
    blades = [device for device in devices if device.parent is not None]
    chassis = {device.parent.id: device.parent for device in blades if device.parent is not None and device.parent.id}
    bays = loader.components("dcim.devicebay", chassis)
    used: dict[str, int] = {}
    bodies = []
    for blade in blades:
        assert blade.parent is not None and blade.parent.id is not None
        number = used[blade.parent.id] = used.get(blade.parent.id, 0) + 1
        bodies.append({"id": bays[blade.parent.id, f"bay{number}"], "installed_device": blade.id})
    loader.update("dcim.devicebay", bodies)
    loader.update(
        "dcim.device", [{"id": blade.id, "rack": blade.rack.id} for blade in blades if blade.rack is not None]
    )


def _load_stacks(loader: DemoLoader, plan: HardwarePlan) -> None:
    """Creates a virtual chassis for each stack; the first member is its master."""
    bodies = [{"name": name, "master": members[0].id, "domain": name} for name, members in plan.stacks.items()]
    ids = loader.create("dcim.virtualchassis", bodies)
    loader.update(
        "dcim.device",
        [
            {"id": member.id, "virtual_chassis": key, "vc_position": position, "vc_priority": 200 - position}
            for key, members in zip(ids, plan.stacks.values(), strict=True)
            for position, member in enumerate(members[1:], 2)
        ],
    )


def _load_redundancy_groups(loader: DemoLoader, plan: HardwarePlan) -> None:
    """Creates a redundancy group for each pair of firewalls."""
    pairs = {site: pair for site in plan.sites if len(pair := site.with_role("Firewall")) == 2}
    bodies = [
        {"name": f"{site.code}-firewalls", "status": "active", "failover_strategy": "active-passive"} for site in pairs
    ]
    ids = loader.create("dcim.deviceredundancygroup", bodies)
    loader.update(
        "dcim.device",
        [
            {"id": device.id, "device_redundancy_group": key, "device_redundancy_group_priority": 100 - number}
            for key, pair in zip(ids, pairs.values(), strict=True)
            for number, device in enumerate(pair)
        ],
    )


def _load_parts(loader: DemoLoader, devices: list[PlannedDevice], catalogue: Catalogue) -> None:
    """Creates inventory items: the parts of servers, spines and routers."""
    loader.create(
        "dcim.inventoryitem",
        [
            {
                "device": device.id,
                "name": name,
                "manufacturer": catalogue.manufacturers[device.model.manufacturer],
                "part_id": part,
                "serial": f"P{loader.random.randrange(10**9):09}",
                "discovered": True,
            }
            for device in devices
            if device.parent is None
            for name, part in PARTS.get(device.model, ())
        ],
    )
