"""Conversion of representations of a REST API to the terms of a dump."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from netinv_outgoing.urls import path_of

_LABEL = re.compile(r"[a-z_]+\.[a-z_]+\Z")
COMPUTED = """
id url display display_url display_name natural_slug notes_url object_type computed_fields config_context
link_peer link_peers link_peer_type link_peers_type cable_peer cable_peer_type network_driver_mappings
connected_endpoint connected_endpoints connected_endpoint_type connected_endpoints_type
connected_endpoint_reachable connected_endpoints_reachable connection_status _occupied occupied
family children primary_ip nat_outside mac_addresses utilization full_name
count_ipaddresses count_fhrp_groups l2vpn_termination tunnel_termination tagged_items size
termination_a_object termination_b_object is_occupied tree_depth nat_outside_list parent_bay
"""
VALIDATION = {  # lists of rules of Nautobot's data validation, a plugin until 2.x
    "regex-rules": "regularexpression",
    "min-max-rules": "minmax",
    "required-rules": "required",
    "unique-rules": "unique",
}
OTHER_LABELS = {
    "virtualization/interfaces": "virtualization.vminterface",
    "users/permissions": "users.objectpermission",
    **{
        f"{path}/{name}": f"nautobot_data_validation_engine.{kind}validationrule"
        for path in ("plugins/nautobot-data-validation-engine", "data-validation")
        for name, kind in VALIDATION.items()
    },
}
_COMPUTED = frozenset(COMPUTED.split())
LabelOf = Callable[[str], str]


def singular(path: str) -> str:
    """Returns the label of a list's model: ``dcim/power-panels`` is ``dcim.powerpanel``."""
    if (label := OTHER_LABELS.get(path.strip("/"))) is not None:
        return label
    app, _, name = path.strip("/").rpartition("/")
    last = name.rpartition("-")[2]
    if last.endswith("ies"):
        name = f"{name[:-3]}y"
    elif last.endswith(("sses", "shes", "xes", "uses")):
        name = name[:-2]
    elif last.endswith("s") and not last.endswith("is"):
        name = name[:-1]
    return f"{app.replace('/', '.')}.{name.replace('-', '')}"


def fields_of(
    label: str, item: Mapping[str, Any], label_of: LabelOf, references: dict[tuple[str, str], str]
) -> dict[str, Any]:
    """Returns the fields of an object: keys for nested objects, values for choices, pairs for content types.

    The models that nested objects belong to are added to ``references``.
    """
    fields: dict[str, Any] = {}
    for name, value in item.items():
        if name in _COMPUTED or f"{name}_type" in item:
            continue
        if name == "custom_fields":
            fields["custom_field_data"] = {key: plain(data) for key, data in (value or {}).items()}
            continue
        if target := _target(value, label_of):
            references[label, name] = target
        if isinstance(value, dict) and "username" in value:
            fields[name] = [value["username"]]
        elif name.endswith("_type") and isinstance(value, str) and _LABEL.match(value):
            fields[name] = value.split(".")
        elif name in ("content_types", "object_types") and isinstance(value, list):
            fields[name] = [str(entry).split(".") for entry in value]
        else:
            fields[name] = plain(value)
    return fields


def plain(value: Any) -> Any:
    """Returns the key of a nested object and the value of a choice; lists by member; other values as they are."""
    if isinstance(value, dict):
        if "id" in value and "url" in value:
            return value["id"]
        return value["value"] if value.keys() == {"value", "label"} else value
    return [plain(member) for member in value] if isinstance(value, list) else value


def _target(value: Any, label_of: LabelOf) -> str:
    """Returns the model of a nested object, or of the first of a list."""
    member = value[0] if isinstance(value, list) and value else value
    if not isinstance(member, dict) or "id" not in member or not isinstance(member.get("url"), str):
        return ""
    if _LABEL.match(str(member.get("object_type") or "")):
        return str(member["object_type"])
    path = path_of(member["url"]).partition("/api/")[2].strip("/").rpartition("/")[0]
    return label_of(path) if path else ""
