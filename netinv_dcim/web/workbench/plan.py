"""Plans of cables: the query of the workbench, tried in a dry run, created by one request.

``left`` and ``right`` are hosts, ``left_kind`` and ``right_kind`` the models of the ports that are paired,
``left_only`` and ``right_only`` ids of the only ports that are listed, ``pair`` two ids of ports. The address of the
page is the plan, so it can be shared. Ids have no hyphens, which keeps it short.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid
from netinv_core.write import save
from netinv_core.write.dry_run import dry_run
from netinv_dcim.cabling.fitting import are_compatible
from netinv_dcim.cabling.paths import End, ends_of
from netinv_dcim.web.connect import ports
from netinv_dcim.web.connect.ports import ConnectablePort, PortGroup, PortHost
from netinv_web.bulk.preview import attempt, messages_of
from netinv_web.forms.patterns import expand
from netinv_web.lists.list_query import ListQuery

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

SIDES = ("left", "right")
PAIR, LABEL = "pair", "label"
ONLY = "_only"  # after the name of a side
MAX_PAIRS = 100  # an address of 100 pairs is 7 KB long, servers take 8
MAX_HOSTS = 12  # on a side
MAX_ONLY = 64  # ports that are listed alone; an address with these and their pairs is 7 KB long


@dataclasses.dataclass
class Bench:
    """A side of the workbench: its hosts with their ports, and the kind of ports that is paired."""

    name: str
    hosts: Sequence[PortHost] = ()
    groups: Mapping[End, Sequence[PortGroup]] = dataclasses.field(default_factory=dict)
    kind: str = ""
    only: Collection[uuid.UUID | None] = ()

    @property
    def ports(self) -> list[ConnectablePort]:
        """All ports, of every kind, in the order of the page."""
        return [port for host in self.hosts for group in self.groups.get(host.end, ()) for port in group.ports]

    def ports_to_show(self, host: PortHost) -> list[ConnectablePort]:
        """The ports of a host that are of the chosen kind and take cables; only the selected ones, if there are any."""
        return self.selected_ports(host) or [port for group in self.groups_of_kind(host) for port in group.listed]

    def selected_ports(self, host: PortHost) -> list[ConnectablePort]:
        """The ports of a host that were selected before, of the chosen kind."""
        return [port for group in self.groups_of_kind(host) for port in group.listed if port.end.id in self.only]

    def groups_of_kind(self, host: PortHost) -> list[PortGroup]:
        """The ports of a host that are of the chosen kind."""
        return [group for group in self.groups.get(host.end, ()) if group.label == self.kind]

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of ports of its hosts, with their titles."""
        return {group.label: group.title for host in self.hosts for group in self.groups.get(host.end, ())}


@dataclasses.dataclass
class Pair:
    """Two ports to connect. ``errors`` say why they are refused."""

    left: ConnectablePort
    right: ConnectablePort
    label: str = ""
    errors: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The pair as in the query."""
        return pair_text(self.left, self.right)


def pair_text(left: ConnectablePort, right: ConnectablePort) -> str:
    """Two ports as the query has them."""
    return f"{left.end.id.hex}-{right.end.id.hex}"


def benches_of(uow: UnitOfWork, query: ListQuery) -> dict[str, Bench]:
    """Both sides with the hosts and ports that the user may view.

    :raises Invalid: for hosts that do not exist, and for too many
    """
    benches = {name: Bench(name) for name in SIDES}
    labels = ports.hosts_by_label(uow.registry)
    ends = {name: [ports.parse_end(uow.registry, name, text, labels) for text in query.values(name)] for name in SIDES}
    found = ports.hosts_of(uow, [end for of_side in ends.values() for end in of_side])
    for name, of_side in ends.items():
        if len(of_side) > MAX_HOSTS:
            raise Invalid({name: [f"A side has at most {MAX_HOSTS} devices."]})
        if any(end not in found for end in of_side):
            raise Invalid({name: ["A device does not exist, or you may not view it."]})
        benches[name].hosts = [found[end] for end in dict.fromkeys(of_side)]
    groups = ports.ports_of(uow, found.values())
    for bench in benches.values():
        bench.groups = {host.end: groups.get(host.end, ()) for host in bench.hosts}
        texts = query.values(f"{bench.name}{ONLY}")
        bench.only = frozenset(_id_of(part, f"{bench.name}{ONLY}") for text in texts for part in text.split("-"))
    _choose_kinds(uow, benches, query)
    return benches


def _choose_kinds(uow: UnitOfWork, benches: Mapping[str, Bench], query: ListQuery) -> None:
    """Sets the kind of ports of each side: the stated one; else that with the most free ports, on the right one that
    fits those of the left, the same if there is one.
    """
    for name, bench in benches.items():
        stated = query.values(f"{name}_kind")
        if stated and stated[-1] not in ends_of(uow.registry):
            raise Invalid({f"{name}_kind": [f'"{stated[-1][:100]}" is not a kind of ports.']})
        if stated and stated[-1] in bench.kinds:
            bench.kind = stated[-1]
    left, right = (benches[name] for name in SIDES)
    left.kind = left.kind or _most_free(uow, left, "")
    right.kind = right.kind or (left.kind if left.kind in right.kinds else _most_free(uow, right, left.kind))


def _most_free(uow: UnitOfWork, bench: Bench, fitting: str) -> str:
    """The kind with the most free ports, among those that fit another kind."""
    counts: dict[str, int] = {}
    for port in bench.ports:
        label = port.end.label
        counts[label] = counts.get(label, 0) + (port.cable is None)
        if fitting and not are_compatible(uow.registry, fitting, label):
            counts[label] = -1
    return max(counts, key=lambda label: counts[label], default="")


def pairs_of(uow: UnitOfWork, query: ListQuery, benches: Mapping[str, Bench]) -> list[Pair]:
    """The pairs of a query, with the reasons why they do not fit, and their labels.

    :raises Invalid: for what is no pair of ports of the page
    """
    texts = list(dict.fromkeys(query.values(PAIR)))
    if len(texts) > MAX_PAIRS:
        raise Invalid({PAIR: [f"A plan has at most {MAX_PAIRS} pairs."]})
    known = {name: {port.end.id: port for port in bench.ports} for name, bench in benches.items()}
    pairs = []
    for text in texts:
        left, right = (known[name].get(_id_of(part)) for name, part in zip(SIDES, _parts(text), strict=True))
        if left is None or right is None:
            raise Invalid({PAIR: [f'"{text[:100]}" names a port that is not one of the devices of its side.']})
        why = ports.reason(uow.registry, right, left)
        pairs.append(Pair(left, right, errors=[why] if why else []))
    used: set[End] = set()
    for pair in pairs:
        again = [port.name for port in (pair.left, pair.right) if port.end in used]
        if again and not pair.errors:
            pair.errors = [f"{again[0]} is in another pair"]
        used |= {pair.left.end, pair.right.end}
    return pairs


def _parts(text: str) -> tuple[str, str]:
    left, _, right = text.partition("-")
    return left, right


def _id_of(text: str, name: str = PAIR) -> uuid.UUID | None:
    try:
        return uuid.UUID(hex=text)
    except ValueError:
        raise Invalid({name: [f'"{text[:100]}" is not the id of a port: <32 digits>-<32 digits>.']}) from None


def label_pairs(pairs: Sequence[Pair], text: str) -> str:
    """Gives the pairs the labels that a pattern stands for; returns the error of a pattern that does not suffice."""
    try:
        labels = expand(text) if text else []
    except ValueError as error:
        return str(error)
    if len(labels) == 1:
        labels *= len(pairs)
    if 0 < len(labels) < len(pairs):
        return f"The pattern stands for {len(labels)} labels, the plan has {len(pairs)} cables."
    for pair, label in zip(pairs, labels, strict=False):
        pair.label = label
    return ""


def bodies_of(pairs: Sequence[Pair], common: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cables of pairs, as bodies of the API."""
    return [
        {
            **common,
            **({"label": pair.label} if pair.label else {}),
            "termination_a_type": pair.left.end.label,
            "termination_a_id": str(pair.left.end.id),
            "termination_b_type": pair.right.end.label,
            "termination_b_id": str(pair.right.end.id),
        }
        for pair in pairs
    ]


def try_out(uow: UnitOfWork, endpoint: Endpoint, pairs: Sequence[Pair], common: Mapping[str, Any]) -> None:
    """Creates the cables of the pairs that fit in a dry run. What is refused becomes the errors of its pair."""
    fitting = [pair for pair in pairs if not pair.errors]
    if not fitting:
        return
    bodies = bodies_of(fitting, common)
    errors: dict[Any, Any] = {}
    with dry_run(uow):

        def create(places: Sequence[Any]) -> object:
            return save.create(uow, endpoint, [bodies[place] for place in places])

        attempt(uow, list(range(len(fitting))), create, errors)
    for place, entry in errors.items():
        fitting[place].errors = messages_of(entry)
