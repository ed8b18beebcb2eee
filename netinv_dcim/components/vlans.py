"""Shared parts of the interfaces of devices and virtual machines: MAC addresses, and rules for VLANs (IEEE 802.1Q)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.fields.schema import TextNode
from netinv_core.resource import VersionChange
from netinv_core.sql.plans import plan_of

if TYPE_CHECKING:
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

TAGGED = "tagged"
MAC_LENGTH = 18

_MAC = re.compile(
    r"([0-9a-f]{1,2}[-:]){5}[0-9a-f]{1,2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}"
    r"|([0-9a-f]{4}[-:]){2}[0-9a-f]{4}|[0-9a-f]{6}-[0-9a-f]{6}|[0-9a-f]{12}",
    re.I,
)

_MAC_PART = re.compile(r"[-:.]?[0-9a-f]+(?:([-:.])[0-9a-f]+(?:\1[0-9a-f]+)*)?[-:.]?", re.I)

# Interfaces have a status since version 1.4. In earlier versions new interfaces are active.
status_since_1_4 = VersionChange("1.4", upgrade=lambda body: {**body, "status": "active"}, absent=("status",))


def mac_address(value: object) -> str | None:
    """Parses a MAC address (IEEE 802, EUI-48) in any usual notation: ``0050.56ab.cdef`` → ``00:50:56:AB:CD:EF``.

    Returns ``None`` for blank text.

    :raises ValueError: when the value is not a MAC address
    """
    text = TextNode().parse(value)
    if not text:
        return None
    if len(text) > MAC_LENGTH:
        raise ValueError(f"Ensure this field has no more than {MAC_LENGTH} characters.")
    if not _MAC.fullmatch(text):
        raise ValueError(f"Invalid MAC address format: {text}")
    parts = re.split(r"[-:]", text)
    digits = "".join(part.zfill(2) for part in parts) if len(parts) == 6 else re.sub(r"[-:.]", "", text)
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2)).upper()


def mac_address_parts(text: str, starts: bool, ends: bool) -> list[str]:
    """The stored notations of a part of a MAC address: ``ab-c`` → ``AB:C``, ``cdef`` → ``CD:EF`` and ``C:DE:F``.

    A separator, or the end of the address, tells where the pairs of digits begin; otherwise they may begin with the
    first digit or the second one. ``[]`` for what is no part of a MAC address.
    """
    if len(text) > MAC_LENGTH or not _MAC_PART.fullmatch(text):
        return []
    text = text.upper()
    if not re.search(r"[0-9A-F]{3}|\.", text):
        return [text.replace("-", ":")]
    groups = [group for group in re.split(r"[-:.]", text) if group]
    digits = "".join(groups)
    if starts or text[0] in "-:.":
        offsets = [0]
    elif ends:
        offsets = [len(digits) % 2]
    else:
        offsets = [len(groups[0]) % 2] if len(groups) > 1 else [0, 1]
    pairs = [":".join(filter(None, [digits[:n], *re.findall("..?", digits[n:])])) for n in offsets]
    return list(dict.fromkeys(f"{':' * (text[0] in '-:.')}{part}{':' * (text[-1] in '-:.')}" for part in pairs))


def tagged_vlans_need_the_mode(carried: Any) -> Rule:
    """Rule: only an interface in mode ``tagged`` has tagged VLANs. ``carried`` is the association table."""

    def rule(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects tagged VLANs of an interface that is not in mode ``tagged``."""
        unlisted = [draft for draft in drafts if not draft.new and "tagged_vlans" not in draft.many]
        left = [draft.id for draft in unlisted if draft.changed("mode") and draft["mode"] != TAGGED]
        owners = sa.select(carried.c.owner_id).where(carried.c.owner_id.in_(left))
        with_tagged_vlans = set(uow.execute(owners).scalars()) if left else set()
        for draft in drafts:
            if draft.many.get("tagged_vlans") and draft["mode"] != TAGGED:
                draft.reject("tagged_vlans", "Mode must be set to tagged when specifying tagged_vlans")
            elif draft.id in with_tagged_vlans:
                draft.reject("tagged_vlans", f"Clear tagged_vlans to set mode to {draft['mode'] or 'blank'}")

    return rule


def untagged_vlans_need_a_mode(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rule: only an interface with a mode has an untagged VLAN."""
    for draft in drafts:
        if draft["untagged_vlan_id"] is not None and not draft["mode"] and draft.changed("untagged_vlan_id", "mode"):
            draft.reject("untagged_vlan", "Mode must be set when specifying untagged_vlan")


def carries_vlans(table: Any) -> Any:
    """Condition for interfaces that may have an untagged VLAN or tagged ones."""
    return sa.or_(table.c.untagged_vlan_id.is_not(None), table.c.mode == TAGGED)


def draft_carries_vlans(draft: Draft) -> bool:
    """The same condition, of a draft."""
    return draft["untagged_vlan_id"] is not None or draft["mode"] == TAGGED


def vlans_are_of_the_site(
    owner: str,
    title: str,
    sites_of: Callable[[UnitOfWork, Collection[Any]], Mapping[Any, Any]],
    *,
    carried: Any,
) -> Rule:
    """Rule: the VLANs of an interface belong to the site of its device or virtual machine, or to no site.

    ``owner`` is the foreign key to the device or virtual machine, and ``title`` its name in error messages.
    ``sites_of(uow, keys)`` returns the site ids of owners by id. ``carried`` is the association
    table of tagged VLANs. Imports keep what they have: other services leave VLANs behind when a device moves.
    """
    rest = f"must belong to the same site as the interface's parent {title}, or it must be global."

    def rule(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects VLANs of another site than that of the interface."""
        vlan = uow.registry.get("ipam.vlan")
        carrying = [
            draft for draft in drafts if draft.changed("untagged_vlan_id", owner) or draft.many.get("tagged_vlans")
        ]
        tagged = _tagged_vlans(uow, carried, carrying, owner) if vlan is not None else {}
        carried_ids = [(draft["untagged_vlan_id"], *tagged[draft]) for draft in carrying if draft in tagged]
        keys = {key for ids in carried_ids for key in ids if key is not None}
        if vlan is None or not keys or uow.importing:
            return
        selected = sa.select(vlan.table.c.id, vlan.table.c.site_id).where(vlan.table.c.id.in_(keys))
        sites = dict(uow.execute(selected).tuples().all())
        owner_sites = sites_of(uow, {draft[owner] for draft in carrying})
        display = {key: item["display"] for key, item in plan_of(vlan, "nested").fetch(uow, list(keys))}
        for draft in carrying:
            allowed, untagged = (None, owner_sites.get(draft[owner])), draft["untagged_vlan_id"]
            if untagged is not None and sites[untagged] not in allowed:
                draft.reject("untagged_vlan", f"The untagged VLAN ({display[untagged]}) {rest}")
                continue
            wrong = [key for key in tagged[draft] if sites[key] not in allowed]
            for key in wrong[:1]:
                draft.reject("tagged_vlans", f"VLAN {display[key]} {rest}")

    return rule


def _tagged_vlans(uow: UnitOfWork, carried: Any, drafts: Sequence[Draft], owner: str) -> dict[Draft, list[Any]]:
    """The tagged VLANs of interfaces: those sent, or the stored ones of an interface that changes its ``owner``."""
    tagged = {draft: list(draft.many.get("tagged_vlans", ())) for draft in drafts}
    moved = {
        draft.id: draft
        for draft in drafts
        if not draft.new and draft.changed(owner) and "tagged_vlans" not in draft.many
    }
    if moved:
        stored = sa.select(carried.c.owner_id, carried.c.target_id).where(carried.c.owner_id.in_(list(moved)))
        for key, vlan in uow.execute(stored):
            tagged[moved[key]].append(vlan)
    return tagged
