"""Plans of what takes the place of chosen cables: where their ends move to, and the ports of inserted panels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_core.errors import Invalid
from netinv_core.labels import title_of
from netinv_dcim.cabling.paths import End, ends_of
from netinv_dcim.components.pass_through import FRONT, REAR
from netinv_dcim.web.connect import ports, sides
from netinv_dcim.web.connect.ports import ConnectablePort, PortGroup
from netinv_dcim.web.connect.sides import GONE, ConnectSide, last_of
from netinv_dcim.web.recabling.cables import OldCable, Replacement, hosts_of_ends, with_freed
from netinv_web.forms.controls import Members

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

TO, END, WAY = "to", "end", "way"  # the chosen port, the end of the cables, and the order of many
WAYS = {"order": "the next ports that fit", "name": "ports with equal names"}
THERE, NONE_LEFT, NO_NAMESAKE = "the end is there", "No port that fits is left.", "No free port has the name {}."
Pairs = Sequence[tuple[ConnectablePort, ConnectablePort]]
Fit = Callable[
    [ConnectablePort, OldCable, ConnectablePort], Pairs | str
]  # the pairs with a port in the place of an end, or why it is none


@dataclasses.dataclass
class Recabling:
    """The form with its outcome.

    ``ends`` are the ends among which the user chooses, by address; ``near`` the cables with an end there, and
    ``staying`` the number of the others.
    """

    side: ConnectSide
    ends: Mapping[str, str]
    end: str
    way: str
    near: Sequence[tuple[OldCable, ConnectablePort]]
    staying: int
    replacements: Sequence[Replacement] = ()

    @property
    def applicable(self) -> bool:
        """True when nothing stands against it."""
        return bool(self.replacements) and not any(item.errors for item in self.replacements)


def plan_moves(uow: UnitOfWork, cables: Sequence[OldCable], members: Members) -> Recabling:
    """Each cable goes from the end that stays to another port."""
    form = _form(cables, members)
    _open_host(uow, form, cables, members, {end.host.end for _, end in form.near})
    registry = uow.registry

    def fit(port: ConnectablePort, cable: OldCable, end: ConnectablePort) -> Pairs | str:
        other = cable.other(end)
        reason = THERE if port.end == end.end else ports.reason(registry, port, other)
        return reason or ([(port, other)] if end is cable.ends[0] else [(other, port)])

    own = form.near[0][1].end.label if form.near else ""
    _choose(registry, form, members, fit, sorted(form.side.groups, key=lambda group: group.label != own))
    _assign(form, fit, {end.end for cable in cables for end in cable.ends} - {end.end for _, end in form.near})
    return form


def plan_insertions(uow: UnitOfWork, cables: Sequence[OldCable], members: Members) -> Recabling:
    """Each cable becomes two: from the chosen end to a front port, and from the rear port behind it to the other."""
    form = _form(cables, members)
    side = form.side
    side.heading = "Panel"
    side.kinds, side.limits = [("dcim.device", "Device")], {"has_front_ports": "true"}  # each is on a rear port
    _open_host(uow, form, cables, members, set())
    registry = uow.registry
    rears = {port.end.id: port for group in side.groups if group.label == REAR for port in group.ports}
    side.groups = [_with_rears(group, rears) for group in side.groups if group.label == FRONT]
    if side.host is not None and not side.groups:
        side.errors.append(f"{side.host.name} has no front ports.")

    def fit(port: ConnectablePort, cable: OldCable, end: ConnectablePort) -> Pairs | str:
        other, rear = cable.other(end), rears.get(port.row.rear_port_id)
        if rear is None:
            return "you may not view its rear port"
        if reason := ports.reason(registry, port, end):
            return reason
        if reason := ports.reason(registry, rear, other):
            return f"{rear.name}: {reason}"
        return [(end, port), (rear, other)] if end is cable.ends[0] else [(other, rear), (port, end)]

    _choose(registry, form, members, fit, side.groups)
    _assign(form, fit, {end.end for cable in cables for end in cable.ends})
    return form


def _with_rears(group: PortGroup, rears: Mapping[object, ConnectablePort]) -> PortGroup:
    """Front ports with the rear ports behind them."""
    shown = []
    for port in group.ports:
        rear = rears.get(port.row.rear_port_id)
        place = f" ({port.row.rear_port_position})" if rear is not None and rear.row.positions > 1 else ""
        shown.append(dataclasses.replace(port, type=f"{port.type} → {rear.name}{place}" if rear else port.type))
    return dataclasses.replace(group, ports=shown)


def _form(cables: Sequence[OldCable], members: Members) -> Recabling:
    """The choice of an end of the cables: of one its ports, of several the hosts.

    :raises Invalid: for another choice
    """
    ends = {address: f"{host.name} ({count})" for address, (host, count) in hosts_of_ends(cables).items()}
    if len(cables) == 1:
        ends = {port.address: port.full_name for port in cables[0].ends}
    way, end = last_of(members, WAY) or next(iter(WAYS)), last_of(members, END)
    if way not in WAYS:
        raise Invalid({WAY: [f'"{way[:100]}" is not a valid choice. Choices are {", ".join(WAYS)}.']})
    found = next((port for cable in cables if (port := cable.end_at(end)) is not None), None)
    if end and found is None:
        raise Invalid({END: [f'"{end[:100]}" is no end of these cables.']})
    if found is not None and end not in ends:
        end = found.address if len(cables) == 1 else found.host.address
    end = end or next(iter(ends))
    near = [(cable, port) for cable in cables if (port := cable.end_at(end)) is not None]
    near.sort(key=lambda pair: pair[0].place(pair[1]))
    return Recabling(ConnectSide(TO), ends, end, way, near, len(cables) - len(near))


def _open_host(
    uow: UnitOfWork, form: Recabling, cables: Sequence[OldCable], members: Members, hosts: Iterable[End]
) -> None:
    """Adds the chosen host with its ports, as they are without the cables. A single one of ``hosts`` is proposed."""
    side, proposed = form.side, list(hosts)
    end = sides.host_end(uow, side, members, proposed[0] if len(proposed) == 1 else None)
    shown = ports.hosts_of(uow, [] if end is None else [end])
    groups = with_freed(ports.ports_of(uow, shown.values()), cables)
    if end is not None:
        side.host, side.groups = shown.get(end), groups.get(end, ())
        if side.host is None:
            side.errors.append(GONE.format(title_of(uow.registry[end.label]).lower()))
    sides.add_pickers(uow, [side])


def _choose(registry: Registry, form: Recabling, members: Members, fit: Fit, ordered: Sequence[PortGroup]) -> None:
    """Sets the reasons against each port for the first cable, and proposes the first that fits."""
    side, text = form.side, last_of(members, TO)
    if not form.near:
        return
    cable, end = form.near[0]
    found = {port.end: fit(port, cable, end) for group in side.groups for port in group.ports}
    side.reasons = {key: value if isinstance(value, str) else "" for key, value in found.items()}
    side.fitting = frozenset(group.label for group in side.groups if side.free(group))
    side.chosen = side.port(ports.parse_end(registry, TO, text, ends_of(registry))) if text else None
    if side.chosen is None:
        side.chosen = next((p for group in ordered for p in group.ports if not side.reasons[p.end]), None)


def _assign(form: Recabling, fit: Fit, used: set[End]) -> None:
    """Gives each cable a port: the chosen one, of many the following ones of its kind or those with equal names."""
    side = form.side
    group = next((group for group in side.groups if side.chosen in group.ports), None)
    if side.chosen is None or group is None:
        return
    place = group.ports.index(side.chosen)
    replacements = []
    for cable, end in form.near:
        candidates, nothing = group.ports[place:], NONE_LEFT
        if form.way == "name" and len(form.near) > 1:
            candidates = [port for port in group.ports if port.name.casefold() == end.name.casefold()]
            nothing = NO_NAMESAKE.format(end.name)
        pairs: Pairs | str = nothing
        for port in candidates[:1] if len(form.near) == 1 else candidates:
            pairs = fit(port, cable, end)
            if not isinstance(pairs, str) and not _new_ends(pairs, cable) & used:
                break
            pairs = pairs if isinstance(pairs, str) and len(form.near) == 1 else nothing
        if isinstance(pairs, str):
            replacements.append(Replacement(cable, (), [pairs]))
        else:
            used |= _new_ends(pairs, cable)
            replacements.append(Replacement(cable, pairs))
    form.replacements = replacements


def _new_ends(pairs: Pairs, cable: OldCable) -> set[End]:
    """The ends of pairs that are not those of the cable in whose place they are."""
    return {port.end for pair in pairs for port in pair} - {port.end for port in cable.ends}
