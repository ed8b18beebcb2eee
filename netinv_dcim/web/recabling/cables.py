"""Cables that are replaced: their ends as ports, and what the cables in their place take over from them."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Conflict, Invalid
from netinv_core.sql.plans import plan_of
from netinv_core.write import delete, save
from netinv_core.write.dry_run import dry_run
from netinv_dcim.cabling.cables import SIDES
from netinv_dcim.cabling.paths import End
from netinv_dcim.web.connect import ports
from netinv_dcim.web.connect.ports import ConnectablePort, PortGroup, PortHost
from netinv_web.bulk.preview import errors_by_key, messages_of
from netinv_web.bulk.selection import ROW
from netinv_web.forms.form import readable
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

HIDDEN = "You may not view both ends of one of the cables."
Groups = Mapping[End, Sequence[PortGroup]]


@dataclasses.dataclass(frozen=True)
class OldCable:
    """A cable that is replaced: its two ports, which are free for the cables in its place, and the fields that these
    take over. ``places`` are those of the ports among all of their hosts.
    """

    key: Any
    path: str
    ends: tuple[ConnectablePort, ConnectablePort]
    places: tuple[int, int]
    body: Mapping[str, Any]
    notes: str

    @property
    def name(self) -> str:
        """The cable by its ends."""
        return " ↔ ".join(port.full_name for port in self.ends)

    def end_at(self, address: str) -> ConnectablePort | None:
        """The end that is this port, or a port of this host."""
        return next((port for port in self.ends if address in (port.address, port.host.address)), None)

    def place(self, port: ConnectablePort) -> int:
        """The place of an end among the ports."""
        return self.places[0] if port is self.ends[0] else self.places[1]

    def other(self, port: ConnectablePort) -> ConnectablePort:
        """The end that is not this one."""
        return self.ends[1] if port is self.ends[0] else self.ends[0]


@dataclasses.dataclass
class Replacement:
    """A cable with the pairs of ports that cables in its place connect. ``errors`` say why they are refused."""

    cable: OldCable
    pairs: Sequence[tuple[ConnectablePort, ConnectablePort]] = ()
    errors: Sequence[str] = ()


def free_port(port: ConnectablePort) -> ConnectablePort:
    """The port as it is without its cable."""
    return dataclasses.replace(port, row=types.SimpleNamespace(**{**port.row._mapping, "cable_id": None}))


def read(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> list[OldCable]:
    """The cables with these ids. The number of statements does not depend on theirs.

    :raises Invalid: when the user may not view an end
    """
    items = dict(plan_of(endpoint).fetch(uow, keys))
    ends = {key: _ends(uow, item) for key, item in items.items()}
    owners = ports.host_ends(uow, [end for both in ends.values() for end in both])
    hosts = ports.hosts_of(uow, list(dict.fromkeys(owners.values())))
    known = list(all_ports(ports.ports_of(uow, hosts.values())))
    places = {port.end: place for place, port in enumerate(known)}
    if any(end not in places for both in ends.values() for end in both):
        raise Invalid({ROW: [HIDDEN]})
    found = []
    for key, item in items.items():
        a, b = (places[end] for end in ends[key])
        both = free_port(known[a]), free_port(known[b])
        path, kept = object_path(endpoint, key), _kept_values(endpoint, item)
        found.append(OldCable(key, path, both, (a, b), kept, _notes(endpoint, item)))
    return found


def _ends(uow: UnitOfWork, item: Mapping[str, Any]) -> list[End]:
    """The two ends of a cable, from its representation."""
    labels = [str(item[f"{side}_type"]) for side in SIDES]
    keys = [uow.registry[label].parse_key(str(item[f"{side}_id"])) for label, side in zip(labels, SIDES, strict=True)]
    return [End(label, key) for label, key in zip(labels, keys, strict=True)]


def all_ports(groups: Groups) -> Iterator[ConnectablePort]:
    """The ports of all hosts."""
    return (port for of_host in groups.values() for group in of_host for port in group.ports)


def with_freed(groups: Groups, cables: Iterable[OldCable]) -> dict[End, list[PortGroup]]:
    """The ports of hosts as they are without these cables."""
    free = {port.end: port for cable in cables for port in cable.ends}
    return {
        end: [dataclasses.replace(group, ports=[free.get(port.end, port) for port in group.ports]) for group in of_host]
        for end, of_host in groups.items()
    }


def _kept_values(endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a cable that can be written again, without its ends."""
    values: dict[str, Any] = {}
    for name, field in endpoint.writable.items():
        if name in item and not name.startswith(SIDES) and not field.confidential:
            value = item[name]
            values[name] = value if field.merges or value is None else field.to_body(value)
    return values


def _notes(endpoint: Endpoint, item: Mapping[str, Any]) -> str:
    """The type, the length and the label of a cable in words."""
    texts = [endpoint.fields[name].text(item[name]) for name in ("label", "type") if item.get(name)]
    if item.get("length"):
        texts.append(f"{item['length']} {item['length_unit']['value'] if item.get('length_unit') else ''}".strip())
    return ", ".join(texts)


# -- what is in their place


def _bodies(replacements: Sequence[Replacement]) -> list[tuple[Replacement, dict[str, Any]]]:
    """The new cables as bodies of the API."""
    bodies = []
    for item in replacements:
        for pair in item.pairs:
            ends: dict[str, Any] = {}
            for side, port in zip(SIDES, pair, strict=True):
                ends |= {f"{side}_type": port.end.label, f"{side}_id": str(port.end.id)}
            bodies.append((item, {**item.cable.body, **ends}))
    return bodies


def replace(uow: UnitOfWork, endpoint: Endpoint, replacements: Sequence[Replacement]) -> list[dict[str, Any]]:
    """Deletes the cables and creates those in their place; returns these. What is refused becomes the errors of the
    replacement, and nothing is written.
    """
    bodies = _bodies(replacements)
    try:
        with uow.savepoint():
            delete.delete(uow, endpoint, [{"id": str(item.cable.key)} for item in replacements])
            return save.create(uow, endpoint, [body for _, body in bodies])
    except (Invalid, Conflict) as error:
        found = errors_by_key(error, range(len(bodies)))
        for place, entry in found.items():
            bodies[place][0].errors = [*bodies[place][0].errors, *messages_of(entry)]
        if not found:
            replacements[0].errors = [readable(error.body)]
        return []


def try_out(uow: UnitOfWork, endpoint: Endpoint, replacements: Sequence[Replacement]) -> None:
    """Replaces the cables in a dry run."""
    with dry_run(uow):
        replace(uow, endpoint, replacements)


def hosts_of_ends(cables: Sequence[OldCable]) -> dict[str, tuple[PortHost, int]]:
    """The hosts of the ends with the number of cables there, by address, that with the most first."""
    counts: dict[str, tuple[PortHost, int]] = {}
    for cable in cables:
        for host in dict.fromkeys(port.host for port in cable.ends):
            counts[host.address] = (host, counts.get(host.address, (host, 0))[1] + 1)
    return dict(sorted(counts.items(), key=lambda item: -item[1][1]))
