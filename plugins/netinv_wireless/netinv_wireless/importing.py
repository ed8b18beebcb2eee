"""Import of NetBox dumps: wireless LANs with their groups, and wireless links."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

LAN, INTERFACE = "wireless.wirelesslan", "dcim.interface"
SECRET = {"auth_psk": "secrets are not imported"}


def with_interfaces(dump: Any) -> None:
    """Lists interfaces at their wireless LANs."""
    interfaces: dict[Any, list[Any]] = {}
    for interface, fields in list(dump.objects.get(INTERFACE, {}).items()):
        lans = [key for key in fields.get("wireless_lans") or [] if dump.get(LAN, key)]
        for key in lans:
            interfaces.setdefault(key, []).append(interface)
        if lans:
            dump.set((INTERFACE, interface), wireless_lans=[])
    for key, owners in interfaces.items():
        dump.set((LAN, key), interfaces=owners)


def without_links(dump: Any) -> None:
    """Removes the links from interfaces, which name them there again."""
    for interface, fields in list(dump.objects.get(INTERFACE, {}).items()):
        if fields.get("wireless_link"):
            dump.set((INTERFACE, interface), wireless_link=None)


models = {
    "wireless.wirelesslangroup": Source("wireless.wirelesslangroup", by=("slug",)),
    LAN: Source(LAN, fixed_values={"status": "active"}, omit=SECRET, prepare=with_interfaces),
    "wireless.wirelesslink": Source(
        "wireless.wirelesslink",
        omit=SECRET,
        prepare=without_links,
        by=("interface_a_id", "interface_b_id"),
    ),
}
