"""Prompts: the usual tasks, which a person chooses in a client and gives the particulars of."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

MAX_ARGUMENT = 1000  # characters
REVIEW = (
    "Propose with propose_changes in one change request, read the result with its id as `change_request`, correct it, "
    "and run validate_change_request. Then submit_change_request, and tell me what a reviewer should look at. Do not "
    "guess names, statuses or types: read them."
)


@dataclasses.dataclass(frozen=True)
class TaskPrompt:
    """A task: what clients show of it, its arguments with their descriptions, and its text with their places."""

    title: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def fill(self, arguments: Mapping[str, str]) -> str:
        """The text with arguments, cut to :data:`MAX_ARGUMENT` characters."""
        return self.text.format(**{name: arguments[name][:MAX_ARGUMENT] for name in self.arguments})


PROMPTS = {
    "turn_up_site": TaskPrompt(
        "Turn up a site",
        "Proposes a new site with racks, devices, interfaces, prefixes and addresses, after the pattern of another.",
        {"site": "The name of the new site", "like": "An existing site to follow", "needs": "What it should have"},
        "Turn up the site {site}, after the pattern of {like}. It needs: {needs}.\n"
        "1. Read {like}: its racks, devices with types and roles, interfaces, cables, prefixes, VLANs and addresses.\n"
        "2. Find a free prefix with free_space in the container that holds the prefixes of {like}.\n"
        "3. Write one document: site, racks, devices, interfaces, VLANs, prefixes, addresses, primary addresses.\n"
        f"4. {REVIEW}",
    ),
    "renumber_prefix": TaskPrompt(
        "Renumber a prefix",
        "Proposes the move of every address of a prefix to another one.",
        {"old": "The prefix to leave", "new": "The prefix to move to"},
        "Renumber {old} to {new}.\n"
        "1. Read {old} with its VRF, children, VLAN and addresses (list_objects ipam.ipaddress, filter parent), and "
        "what the addresses are assigned to. Check that {new} is free and has room.\n"
        "2. Keep the host part of each address where it fits; say where it does not.\n"
        "3. Write one document: the new prefix if it does not exist, and each address by its id with the new value, so "
        "that assignments and names stay. Mark {old} as deprecated; do not delete it.\n"
        f"4. {REVIEW}",
    ),
    "cable_cut": TaskPrompt(
        "What does a cable cut affect?",
        "Finds the devices, services and circuits behind a cable, port or path that is cut. Only reads.",
        {"cable": "The label or id of a cable, or a device and its port"},
        "The following is cut: {cable}. Tell me what it affects. Only read.\n"
        "1. Find the cable and its two ends. Trace from each end, through panels, to the interfaces at the ends.\n"
        "2. For each interface: its device, addresses, VLANs, LAG (are other members of it left?), and the circuit.\n"
        "3. List who loses all of its paths, who loses redundancy, and who is not affected, with sites, tenants and "
        "contacts. Say which of it the inventory does not tell.",
    ),
}
