"""Labels of fields and models for people, from their names: ``primary_ip4`` → ``Primary IPv4``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from netinv_core.caches import lru_cache

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry

# Words that are not written in lower case, within labels.
_UPPER_CASE = (
    "AS ASN API BGP CA CID CPU CSV DNS GPS HTTP ID IP JSON LAG MAC MTU NAPALM NAT POE PP RD RIR SSL "
    "TCP TLS U UDP UI URL UUID VC VCPU VID VLAN VM VRF XML YAML"
)
ABBREVIATIONS = {
    **{word.lower(): word for word in _UPPER_CASE.split()},
    "a": "A",
    "b": "B",
    "email": "e-mail",
    "git": "Git",
    "graphql": "GraphQL",
    "ip4": "IPv4",
    "ip6": "IPv6",
    "ipaddress": "IP address",
    "ipaddresses": "IP addresses",
    "ips": "IPs",
    "mtus": "MTUs",
    "rirs": "RIRs",
    "urls": "URLs",
    "vcpus": "vCPUs",
    "vlans": "VLANs",
    "vms": "VMs",
    "vrfs": "VRFs",
    "z": "Z",
}
_ID = re.compile(r" \([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\)")
# Literals and roles of reStructuredText: ``queued``, :class:`netinv_core.resource.Resource`, `name`.
_MARKUP = re.compile(r"(?::[a-z:]+:)?(`{1,2})~?([^`]+)\1")


def capitalize(text: str) -> str:
    """The text with its first letter in upper case; the others stay as they are."""
    return text[:1].upper() + text[1:]


@lru_cache("constants", 5000)
def label_of_name(name: str) -> str:
    """The label of a name with underscores or spaces; its first letter is upper case."""
    words = [ABBREVIATIONS.get(word.lower(), word) for word in name.replace("_", " ").replace("-", " ").split()]
    text = " ".join(words)
    return capitalize(text)


def label_of(field: Field) -> str:
    """The label of a field: the declared one, or one from its name. ``rack_count`` is labelled ``Racks``.

    A declared one that differs from the name in capitals alone, as those of 1.x do, is written as the others:
    ``MAC address``.
    """
    if field.label:
        named = label_of_name(field.name)
        return named if named.casefold() == field.label.casefold() else field.label
    if field.name.endswith("_count"):
        return label_of_name(getattr(field, "counted", "") or _plural(field.name.removesuffix("_count")))
    return label_of_name(field.name)


def label_with_unit(field: Field) -> str:
    """The label of a field with the unit of its numbers, for tables: ``Commit rate (Kbps)``."""
    unit = getattr(getattr(field, "info", None), "unit", "")
    return f"{label_of(field)} ({unit})" if unit else label_of(field)


def _plural(name: str) -> str:
    if name.endswith("s"):
        return f"{name}es" if name.endswith("ss") else name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def title_of(endpoint: Endpoint) -> str:
    """The name of a model in the singular: ``Rack group``, ``IP address``."""
    return label_of_name(endpoint.title)


def title_of_type(registry: Registry, label: str) -> str:
    """The name of the model with a label in the singular; the label of one whose package is not installed."""
    endpoint = registry.get(label)
    return label if endpoint is None else title_of(endpoint)


def plural_of(endpoint: Endpoint) -> str:
    """The name of a model in the plural: ``Rack groups``, ``IP addresses``."""
    return label_of_name(endpoint.plural)


def without_id(name: str) -> str:
    """A display name without the id in parentheses that those of objects without a name have."""
    return _ID.sub("", name) if "(" in name else name


def description_of(endpoint: Endpoint) -> str:
    """The first line of a model's docstring, without its markup."""
    return _MARKUP.sub(r"\2", (endpoint.model.__doc__ or "").strip().partition("\n")[0])
