"""Objects of a made-up Nautobot 2.x or 3.x, as its public REST API documentation describes them for ``depth=0``."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

BASE = "http://nautobot.example.com"
Item = dict[str, Any]
_numbers = itertools.count(1)
LABELS = """
extras/statuses extras.status
extras/roles extras.role
extras/tags extras.tag
extras/custom-fields extras.customfield
extras/contacts extras.contact
extras/teams extras.team
extras/contact-associations extras.contactassociation
extras/config-contexts extras.configcontext
extras/notes extras.note
extras/relationships extras.relationship
extras/relationship-associations extras.relationshipassociation
extras/graphql-queries extras.graphqlquery
extras/object-changes extras.objectchange
users/users users.user
tenancy/tenant-groups tenancy.tenantgroup
tenancy/tenants tenancy.tenant
dcim/location-types dcim.locationtype
dcim/locations dcim.location
dcim/manufacturers dcim.manufacturer
dcim/platforms dcim.platform
dcim/device-families dcim.devicefamily
dcim/device-types dcim.devicetype
dcim/software-versions dcim.softwareversion
dcim/controllers dcim.controller
dcim/controller-managed-device-groups dcim.controllermanageddevicegroup
dcim/rack-groups dcim.rackgroup
dcim/racks dcim.rack
dcim/devices dcim.device
dcim/module-types dcim.moduletype
dcim/module-bays dcim.modulebay
dcim/module-bay-templates dcim.modulebaytemplate
dcim/modules dcim.module
dcim/interfaces dcim.interface
dcim/cables dcim.cable
circuits/providers circuits.provider
circuits/circuit-types circuits.circuittype
circuits/circuits circuits.circuit
circuits/circuit-terminations circuits.circuittermination
ipam/namespaces ipam.namespace
ipam/rirs ipam.rir
ipam/vrfs ipam.vrf
ipam/vrf-device-assignments ipam.vrfdeviceassignment
ipam/prefixes ipam.prefix
ipam/prefix-location-assignments ipam.prefixlocationassignment
ipam/ip-addresses ipam.ipaddress
ipam/ip-address-to-interface ipam.ipaddresstointerface
ipam/vlan-groups ipam.vlangroup
ipam/vlans ipam.vlan
virtualization/cluster-types virtualization.clustertype
virtualization/cluster-groups virtualization.clustergroup
virtualization/clusters virtualization.cluster
virtualization/virtual-machines virtualization.virtualmachine
virtualization/interfaces virtualization.vminterface
plugins/lifecycle/contracts lifecycle.contract
dcim/cable-types dcim.cabletype
dcim/cables-to-cable-terminations dcim.cabletocabletermination
ipam/ip-address-ranges ipam.ipaddressrange
extras/approval-workflow-definitions extras.approvalworkflowdefinition
load-balancers/virtual-servers load_balancers.virtualserver
vpn/vpn-profiles vpn.vpnprofile
data-validation/regex-rules data_validation.regularexpressionvalidationrule
data-validation/required-rules data_validation.requiredvalidationrule
"""
MODELS = dict(line.split() for line in LABELS.strip().splitlines())


class Nautobot2:
    """The lists by path, with prefixes below ``network``, which no other has; :meth:`add` adds an object and returns the
    reference that others have to it. ``usual`` has the members of the objects of a list unless others are given.
    """

    def __init__(self, word: str) -> None:
        self.usual: dict[str, Item] = {}
        self.word = word
        self.network = f"11.{next(_numbers)}"
        self.lists: dict[str, list[Item]] = {path: [] for path in MODELS}

    def add(self, path: str, /, **fields: Any) -> Item:
        """Adds an object with the members that all objects have."""
        reference = {"id": str(uuid.uuid4()), "object_type": MODELS[path]}
        reference["url"] = f"{BASE}/api/{path}/{reference['id']}/"
        shown = fields.get("name") or fields.get("prefix") or fields.get("address") or reference["id"]
        common = {"display": shown, "natural_slug": f"x_{reference['id'][:4]}", "custom_fields": {}, "notes_url": "x"}
        times = {"created": "2024-01-01T00:00:00Z", "last_updated": "2024-02-01T00:00:00Z"}
        self.lists[path].append({**reference, **common, **times, "tags": [], **self.usual.get(path, {}), **fields})
        return reference

    def named(self, path: str, name: str, /, **fields: Any) -> Item:
        """Adds an object with a name that no other test has."""
        return self.add(path, name=f"{self.word} {name}", **fields)

    def of(self, path: str, name: str) -> Item:
        """The object of a name, as it is listed."""
        return next(item for item in self.lists[path] if item.get("name") == f"{self.word} {name}")


def choice(value: Any, label: str = "") -> Item:
    return {"value": value, "label": label or str(value).title()}
