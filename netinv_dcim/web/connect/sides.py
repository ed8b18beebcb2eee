"""The two sides of the page that connects a port: the host that is chosen, its ports, and the chosen port.

All is in the query, or in the posted form: ``a`` and ``b`` are ports, ``a_of`` and ``b_of`` the ids of hosts of the
models ``a_in`` and ``b_in``, ``a_after`` and ``b_after`` ports behind which the next free one is offered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_core.errors import Invalid
from netinv_core.labels import title_of
from netinv_dcim.cabling.fitting import model_of
from netinv_dcim.cabling.models import PathEnd
from netinv_dcim.cabling.paths import CableNetwork, End, ends_of
from netinv_dcim.web.connect import hosts, ports
from netinv_dcim.web.connect.ports import ConnectablePort, PortGroup, PortHost
from netinv_web.forms import pickers
from netinv_web.forms.controls import Control, Members

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

GONE = "This {} does not exist, or you may not view it."
TITLES = {"a": "From", "b": "To", "to": "To"}


@dataclasses.dataclass
class ConnectSide:
    """A side of the page. ``matches`` are hosts among which a text does not decide. ``kinds`` are the models of hosts
    that are offered, all without them, and ``limits`` query parameters of their lists.
    """

    name: str
    heading: str = ""
    kind: str = ""
    kinds: Sequence[tuple[str, str]] = ()
    limits: Mapping[str, str] = dataclasses.field(default_factory=dict)
    picker: Control | None = None
    host: PortHost | None = None
    matches: Sequence[PortHost] = ()
    groups: Sequence[PortGroup] = ()
    chosen: ConnectablePort | None = None
    errors: list[str] = dataclasses.field(default_factory=list)
    reasons: Mapping[End, str] = dataclasses.field(default_factory=dict)
    fitting: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """The heading."""
        return self.heading or TITLES[self.name]

    def port(self, end: End | None) -> ConnectablePort | None:
        """A port of the side."""
        return next((port for group in self.groups for port in group.ports if port.end == end), None)

    def free(self, group: PortGroup) -> int:
        """The number of ports of a group that fit."""
        return sum(not self.reasons[port.end] for port in group.ports)


def texts_of(members: Members, name: str) -> list[str]:
    """The texts of a parameter that are not blank."""
    return [text for text in members.get(name, ()) if isinstance(text, str) and text.strip()]


def last_of(members: Members, name: str) -> str:
    """The last text of a parameter that is not blank; empty without one."""
    return next(reversed(texts_of(members, name)), "")


def initial_ports(uow: UnitOfWork, members: Members) -> list[End]:
    """The ports that the page begins with, the current one first: those of ``a``, and the waiting ones of ``then``.

    :raises Invalid: for what is no port
    """
    labels = ends_of(uow.registry)
    texts = [*texts_of(members, "a"), *texts_of(members, "then")]
    if not texts and texts_of(members, "termination_a_id"):  # addresses of the form for cables
        texts = [f"{last_of(members, 'termination_a_type')}:{last_of(members, 'termination_a_id')}"]
    return list(dict.fromkeys(ports.parse_end(uow.registry, "a", text, labels) for text in texts))


def sides_of(uow: UnitOfWork, members: Members) -> dict[str, ConnectSide]:
    """Both sides, with their ports."""
    wanted: dict[str, End | None] = {"a": next(iter(initial_ports(uow, members)), None), "b": None}
    text = last_of(members, "b")
    if text:
        wanted["b"] = ports.parse_end(uow.registry, "b", text, ends_of(uow.registry))
    owners = ports.host_ends(uow, [end for end in wanted.values() if end is not None])
    sides = {name: ConnectSide(name) for name in wanted}
    ends = {name: host_end(uow, side, members, owners.get(wanted[name] or End("", ""))) for name, side in sides.items()}
    shown = ports.hosts_of(uow, [end for end in ends.values() if end is not None])
    groups = ports.ports_of(uow, shown.values())
    for name, side in sides.items():
        end, port = ends[name], wanted[name]
        side.host = shown.get(end) if end is not None else None
        side.groups = groups.get(end, ()) if end is not None else ()
        if end is not None and side.host is None:
            side.errors.append(GONE.format(title_of(uow.registry[end.label]).lower()))
        elif port is not None and port not in owners:
            side.errors.append(GONE.format("port"))
        side.chosen = side.port(port)
    _choose(uow, sides, members)
    add_pickers(uow, list(sides.values()))
    return sides


def _choose(uow: UnitOfWork, sides: Mapping[str, ConnectSide], members: Members) -> None:
    """Sets the reasons against each port, and proposes the next free port where none is chosen."""
    a, b = sides["a"], sides["b"]
    registry = uow.registry
    if a.chosen is not None and (taken := ports.reason(registry, a.chosen)):
        a.errors.append(f"{a.chosen.name}: {taken}. Choose another port.")
        a.chosen = None
    if a.chosen is None and not a.errors:
        a.chosen = ports.first_free(registry, a.groups, None, last_of(members, "a_after"))
    if b.chosen is None and not b.errors:
        b.chosen = ports.first_free(
            registry, b.groups, a.chosen, last_of(members, "b_after"), _far_kinds(uow, a.chosen)
        )
    for side, begun_port in ((a, None), (b, a.chosen)):
        side.reasons = {
            port.end: ports.reason(registry, port, begun_port) for group in side.groups for port in group.ports
        }
        side.fitting = frozenset(group.label for group in side.groups if side.free(group))


def _far_kinds(uow: UnitOfWork, port: ConnectablePort | None) -> set[str]:
    """The kinds of the ends at which the paths through a port of a panel begin, as far as they are connected."""
    if port is None or issubclass(model_of(uow.registry, port.end.label), PathEnd):
        return set()
    return {end.label for end in CableNetwork(uow).origins_through(port.end)}


def host_end(uow: UnitOfWork, side: ConnectSide, members: Members, owner: End | None) -> End | None:
    """The host that is chosen on a side: by id, by a text, or because of the port of the side."""
    offered = {label for label, _ in side.kinds}
    kinds = {
        label: host for label, host in ports.hosts_by_label(uow.registry).items() if not offered or label in offered
    }
    side.kinds = [(label, title_of(endpoint)) for label, endpoint in kinds.items()]
    kind, former = last_of(members, f"{side.name}_in"), last_of(members, f"{side.name}_was")
    side.kind = kind or (owner.label if owner is not None else next(iter(kinds)))
    if side.kind not in kinds:
        raise Invalid({f"{side.name}_in": [f'"{kind[:100]}" is not a valid choice. Choices are {", ".join(kinds)}.']})
    if former and former != side.kind:
        return None
    text = last_of(members, f"{side.name}_of")
    typed = last_of(members, f"{pickers.TEXT_PREFIX}{side.name}_of").strip()
    endpoint = kinds[side.kind]
    if typed:
        found = hosts.find(uow, side.kind, typed, side.limits)
        side.errors += [found.error] if found.error else []
        side.matches = found.matches
        return found.end
    if not text:
        return owner if owner is not None and owner.label == side.kind else None
    key = endpoint.parse_key(text)
    if key is None:
        raise Invalid({f"{side.name}_of": [f'"{text[:100]}" is not a valid id.']})
    return End(side.kind, key)


def add_pickers(uow: UnitOfWork, sides: Sequence[ConnectSide]) -> None:
    """Adds the pickers of hosts: two statements."""
    controls: list[Control] = []
    for side in sides:
        endpoint = uow.registry[side.kind]
        values = [str(side.host.end.id)] if side.host is not None else []
        side.picker = Control(
            f"{side.name}_of", title_of(endpoint), "picker", target=endpoint, values=values, parameters=side.limits
        )
        controls.append(side.picker)
    pickers.complete(uow, controls)
    for control in controls:
        control.may_add = False
