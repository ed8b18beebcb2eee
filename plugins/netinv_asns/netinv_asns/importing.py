"""Import of NetBox dumps: AS numbers, with the sites and providers that list them, and ranges of them."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

OWNERS = {"dcim.site": "sites", "circuits.provider": "providers"}


def with_owners(dump: Any) -> None:
    """Lists sites and providers at their AS numbers; the first number of each is its ``asn``, too."""
    owners: dict[Any, dict[str, list[Any]]] = {}
    for label, name in OWNERS.items():
        for owner, fields in list(dump.objects.get(label, {}).items()):
            numbers = [key for key in fields.get("asns") or [] if dump.get("ipam.asn", key)]
            for key in numbers:
                owners.setdefault(key, {}).setdefault(name, []).append(owner)
            if numbers:
                first = fields.get("asn") or dump.get("ipam.asn", numbers[0])["asn"]
                dump.set((label, owner), asns=[], asn=first)
    for key, lists in owners.items():
        dump.set(("ipam.asn", key), **lists)


models = {
    "ipam.asn": Source("asns.asn", prepare=with_owners, by=("asn",)),
    "ipam.asnrange": Source("asns.asnrange", by=("slug",)),
}
