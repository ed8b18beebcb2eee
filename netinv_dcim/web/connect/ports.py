"""Lists of the ports of devices, panels, circuits and power panels, with what they are connected to.

A *host* is the object that a port is part of (:attr:`netinv_dcim.cabling.models.Cabled.holder`). Objects that the user
may not view are left out. The number of statements depends neither on the number of hosts nor of ports.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid
from netinv_core.fields import Reference
from netinv_core.labels import plural_of, title_of
from netinv_core.presentation import within
from netinv_core.read.names import names_in_context
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.slugs import natural_key
from netinv_dcim.cabling.fitting import MisfitKind, are_compatible, misfit, model_of
from netinv_dcim.cabling.paths import End, ends_of
from netinv_dcim.components.base import component_display_name
from netinv_dcim.components.pass_through import REAR
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class PortHost:
    """An object with ports."""

    end: End
    name: str
    path: str

    @property
    def address(self) -> str:
        """The object in a query."""
        return address_of(self.end)


@dataclasses.dataclass(frozen=True)
class ConnectablePort:
    """A port of a host. ``peer`` is what its cable leads to; empty for what the user may not view. ``refusal`` is the
    reason why it never takes a cable, such as a virtual interface.
    """

    end: End
    host: PortHost
    name: str
    type: str
    row: Any
    peer: str = ""
    refusal: str = ""

    @property
    def address(self) -> str:
        """The port in a query."""
        return address_of(self.end)

    @property
    def full_name(self) -> str:
        """The name with that of the host."""
        return self.name if self.name.startswith(self.host.name) else within(self.host.name, self.name)

    @property
    def cable(self) -> Any:
        """The id of its cable."""
        return self.row.cable_id


@dataclasses.dataclass(frozen=True)
class PortGroup:
    """The ports of one kind: the label of their model and its title in the plural."""

    label: str
    title: str
    ports: Sequence[ConnectablePort]

    @property
    def listed(self) -> list[ConnectablePort]:
        """The ports that take cables, free or not."""
        return [port for port in self.ports if not port.refusal]

    @property
    def unlisted(self) -> Mapping[str, int]:
        """The number of the other ports by the reason."""
        return Counter(port.refusal for port in self.ports if port.refusal)


def address_of(end: End) -> str:
    """An object as the query of a page names it."""
    return f"{end.label}:{end.id}"


def parse_end(registry: Registry, name: str, text: str, labels: Iterable[str]) -> End:
    """The object that a parameter names: a port, or a host.

    :raises Invalid: for another text
    """
    label, _, key_text = text.partition(":")
    endpoint = registry.get(label) if label in labels else None
    key = endpoint.parse_key(key_text) if endpoint is not None else None
    if key is None:
        raise Invalid({name: [f'"{text[:100]}" is not a port or a device: <content type>:<id>.']})
    return End(label, key)


@cached_in_registry
def hosts_by_label(registry: Registry) -> Mapping[str, Endpoint]:
    """The models of hosts by label, devices first."""
    hosts: dict[str, Endpoint] = {}
    for endpoint in ends_of(registry).values():
        target = _host_of(registry, endpoint)
        if target is not None:
            hosts.setdefault(target.label, target)
    return dict(sorted(hosts.items(), key=lambda item: item[0] != "dcim.device"))


def _host_field(registry: Registry, label: str) -> str:
    return model_of(registry, label).holder


def _host_of(registry: Registry, endpoint: Endpoint) -> Endpoint | None:
    """The model of the hosts of a model of ports."""
    field = endpoint.fields[_host_field(registry, endpoint.label)]
    return field.target if isinstance(field, Reference) else None


def _ends_at(registry: Registry, host_label: str) -> list[Endpoint]:
    """The models of ports that a kind of host has."""
    return [endpoint for endpoint in ends_of(registry).values() if _host_of(registry, endpoint) is registry[host_label]]


# -- hosts


def hosts_of(uow: UnitOfWork, ends: Sequence[End]) -> dict[End, PortHost]:
    """The hosts that the user may view, in this order: one statement."""
    names = names_in_context(uow, ends) if ends else {}
    hosts: dict[End, PortHost] = {}
    for end in ends:
        name = names.get(end)
        if name is not None:
            hosts[end] = PortHost(end, name, object_path(uow.registry[end.label], end.id))
    return hosts


def host_ends(uow: UnitOfWork, ports: Sequence[End]) -> dict[End, End]:
    """The hosts of ports that the user may view: one statement for each model among the ports."""
    found: dict[End, End] = {}
    keys: dict[str, list[Any]] = {}
    for port in ports:
        keys.setdefault(port.label, []).append(port.id)
    for label, of_label in keys.items():
        endpoint = uow.registry[label]
        host = _host_of(uow.registry, endpoint)
        assert host is not None
        table, column = endpoint.table, endpoint.table.c[f"{_host_field(uow.registry, label)}_id"]
        chosen = in_parameter(table.c.id)
        statement = sa.select(table.c.id, column).where(chosen, *permissions.visible(uow, endpoint, table))
        found |= {
            End(label, key): End(host.label, owner)
            for key, owner in uow.execute(statement, {"keys": of_label}).tuples()
        }
    return found


# -- ports


def ports_of(uow: UnitOfWork, hosts: Iterable[PortHost]) -> dict[End, list[PortGroup]]:
    """The ports of hosts, in groups of one kind: one statement for each model of ports, and one for names."""
    owners: dict[str, dict[Any, PortHost]] = {}
    for host in hosts:
        owners.setdefault(host.end.label, {})[host.end.id] = host
    rows: dict[End, dict[str, list[Any]]] = {}
    for host_label, by_id in owners.items():
        for endpoint in _ends_at(uow.registry, host_label):
            attribute = f"{_host_field(uow.registry, endpoint.label)}_id"
            for row in _rows(uow, endpoint, attribute, list(by_id)):
                rows.setdefault(End(host_label, getattr(row, attribute)), {}).setdefault(endpoint.label, []).append(row)
    named = _names_needed(uow, rows)
    groups: dict[End, list[PortGroup]] = {}
    for end, by_label in rows.items():
        host = owners[end.label][end.id]
        groups[end] = [
            PortGroup(label, plural_of(uow.registry[label]), [_port(uow, host, label, row, named) for row in of_label])
            for label, of_label in by_label.items()
        ]
    return groups


def _rows(uow: UnitOfWork, endpoint: Endpoint, attribute: str, keys: Sequence[Any]) -> list[Any]:
    """The rows of a model's ports of hosts, in their natural order."""
    table = endpoint.table
    of_hosts = in_parameter(table.c[attribute])
    statement = sa.select(table).where(of_hosts, *permissions.visible(uow, endpoint, table))
    return sorted(uow.execute(statement, {"keys": list(keys)}).all(), key=_natural_order)


def _natural_order(row: Any) -> tuple[str, str]:
    key = getattr(row, "name_key", None) or natural_key(getattr(row, "name", None) or getattr(row, "term_side", ""))
    return key, str(row.id)


def _names_needed(uow: UnitOfWork, rows: Mapping[End, Mapping[str, Sequence[Any]]]) -> dict[Any, str]:
    """The names of the peers of these ports, and of those ports that have no column with a name."""
    needed: set[End] = set()
    for by_label in rows.values():
        for label, of_label in by_label.items():
            for row in of_label:
                if row.cable_peer_type:
                    needed.add(End(row.cable_peer_type, row.cable_peer_id))
                if not hasattr(row, "name"):
                    needed.add(End(label, row.id))
    return names_in_context(uow, needed) if needed else {}


def _port(uow: UnitOfWork, host: PortHost, label: str, row: Any, named: Mapping[Any, str]) -> ConnectablePort:
    end = End(label, row.id)
    name = component_display_name(row.name, getattr(row, "label", "")) if hasattr(row, "name") else named.get(end, "")
    peer = named.get(End(row.cable_peer_type, row.cable_peer_id), "") if row.cable_peer_type else ""
    refusal = model_of(uow.registry, label).cannot_be_cabled(row) or ""
    return ConnectablePort(end, host, name, _type_of(uow.registry[label], row), row, peer, refusal)


def _type_of(endpoint: Endpoint, row: Any) -> str:
    """The label of a port's type; empty without one."""
    choices = getattr(endpoint.fields.get("type"), "choices", None)
    value = getattr(row, "type", "")
    return str(choices.labels.get(value, value)) if choices is not None and value else ""


# -- what fits


def reason(registry: Registry, port: ConnectablePort, begun: ConnectablePort | None = None) -> str:
    """The reason why a port takes no cable, or none from the ``begun`` one, in the words of pages; empty if it fits."""
    if begun is None:
        return port.refusal or (_describe_connection(port) if port.cable is not None else "")
    found = misfit(registry, (begun.end, port.end), (begun.row, port.row))
    if found is None:
        return ""
    if found.kind is MisfitKind.SAME:
        return "the port itself"
    if found.kind is MisfitKind.INCOMPATIBLE:
        ends = (title_of(registry[end.label]).lower() for end in (begun.end, port.end))
        return "no cable leads from {} to {}".format(*map(_with_article, ends))
    if found.kind is MisfitKind.CABLED:
        return _describe_connection(port if found.place else begun)
    return found.message


def _describe_connection(port: ConnectablePort) -> str:
    return f"connected to {port.peer}" if port.peer else "has a cable"


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def first_free(
    registry: Registry,
    groups: Sequence[PortGroup],
    begun: ConnectablePort | None,
    after: str = "",
    kinds: Collection[str] = (),
) -> ConnectablePort | None:
    """The port to offer: the first that fits, behind the port with the address ``after`` within its group.

    Trunks lead from rear port to rear port, so from a rear port these come first, from others last. Then come ports
    of the kinds that the paths through the begun one have at their far ends, and those that these can be connected to.
    """
    own = begun.end.label if begun is not None else ""

    def order(group: PortGroup) -> tuple[bool, bool, bool, bool]:
        return (
            bool(after) and all(port.address != after for port in group.ports),
            (group.label == REAR) is not (own == REAR),
            group.label not in kinds or not are_compatible(registry, group.label, group.label),
            not any(are_compatible(registry, group.label, kind) for kind in kinds),
        )

    for group in sorted(groups, key=order):
        places = [place for place, port in enumerate(group.ports) if port.address == after]
        ports = group.ports[places[0] + 1 :] if places else group.ports
        for port in ports:
            if not reason(registry, port, begun):
                return port
    return None
