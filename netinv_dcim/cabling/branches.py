"""Branches of a path: where cables lead from an end, in all directions, and why each of them ends.

A trace (:meth:`netinv_dcim.cabling.paths.CableNetwork.trace`) stops where a path is split. Here each of the ends behind
goes on as a branch. All branches advance together, so the number of statements follows the longest of them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from netinv_dcim.cabling.models import NextHop
from netinv_dcim.cabling.paths import CableNetwork, End, PathCable, Stack, follow, leads_on

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_VISITS = 400  # ends that are followed: trunks of many positions behind each other would be thousands


class Stop(Enum):
    """The reason why a branch ends, other than that it is complete."""

    NO_CABLE = "no cable is connected"
    NO_PORT = "no port leads on"
    NO_POSITION = "no front port has this position"
    LOOP = "a loop"
    MANY = "not drawn, as there are too many branches"


@dataclasses.dataclass(eq=False)
class Visit:
    """An end on a path. From there the path goes on by a cable to the end ``beyond``, and inside the same device or
    circuit to the ``hops``: several where it splits.

    ``position`` is the one in the trunk at which the path leaves or enters it. ``stop`` says why it does not go on.
    """

    end: End
    position: int | None = None
    line: PathCable | None = None
    beyond: Visit | None = None
    hops: list[Visit] = dataclasses.field(default_factory=list)
    stop: Stop | None = None

    def next_visits(self) -> Iterator[Visit]:
        """The ends that come next."""
        yield from self.hops
        if self.beyond is not None:
            yield self.beyond

    def all(self) -> Iterator[Visit]:
        """The end and all behind it, each before those that come next."""
        waiting = [self]
        while waiting:
            visit = waiting.pop()
            yield visit
            waiting += [*visit.next_visits()][::-1]


@dataclasses.dataclass(frozen=True)
class _Head:
    """An end whose cable is followed next; ``seen`` are those before it, with their stacks."""

    visit: Visit
    stack: Stack
    seen: frozenset[tuple[End, Stack]] = frozenset()


class _BranchWalk:
    """A walk along all branches; ``left`` is the number of ends that may still be visited."""

    def __init__(self, uow: UnitOfWork) -> None:
        self.network, self.left = CableNetwork(uow), MAX_VISITS

    def follow(self, heads: Sequence[_Head]) -> None:
        """Follows the cables at these ends, and all that is behind them."""
        while heads:
            self.network.lines_at([head.visit.end for head in heads])
            arrived = [head for head in heads if self._cross(head)]
            heads = self.enter([_Head(_beyond(head), head.stack, head.seen) for head in arrived])

    def _cross(self, head: _Head) -> bool:
        """Follows the cable at an end; False where there is none."""
        visit, line = head.visit, self.network.line_at(head.visit.end)
        visit.line = line
        if line is None:
            visit.stop = Stop.NO_CABLE
            return False
        visit.beyond = Visit(line.beyond(visit.end))
        return True

    def enter(self, arrived: Sequence[_Head]) -> list[_Head]:
        """Goes on inside the devices and circuits at which cables have arrived; returns the ends behind."""
        self.network.load_hops([head.visit.end for head in arrived])
        heads: list[_Head] = []
        for head in arrived:
            visit, model = head.visit, self.network.kinds.get(head.visit.end.label)
            if model is None or not leads_on(model):
                continue
            hops = self.network.hops_behind(visit.end)
            allowed = follow(hops, head.stack, all_of_them=True)
            if not allowed and not (model.ends_paths and not hops):
                visit.stop = Stop.NO_POSITION if hops else Stop.NO_PORT
            heads += self._behind(head, allowed)
        return heads

    def _behind(self, head: _Head, allowed: Sequence[tuple[NextHop, Stack]]) -> Iterator[_Head]:
        visit = head.visit
        for hop, stack in allowed:
            if self.left <= 0:
                visit.stop = Stop.MANY
                return
            self.left -= 1
            behind = Visit(End(hop.label, hop.id), hop.leaves if hop.leaves is not None else hop.enters)
            visit.hops.append(behind)
            if (behind.end, stack) in head.seen:
                behind.stop = Stop.LOOP
            else:
                yield _Head(behind, stack, head.seen | {(behind.end, stack)})


def _beyond(head: _Head) -> Visit:
    if head.visit.beyond is None:
        raise ValueError(f"no cable was followed from {head.visit.end}")
    return head.visit.beyond


def branches_around(uow: UnitOfWork, end: End) -> Visit:
    """The branches of the paths through an end, from the end at which they begin.

    Where only one way leads to ``end`` the branches begin at the far end of it; else at ``end`` itself, from which they
    lead to both sides.
    """
    walk, origin = _BranchWalk(uow), Visit(end)
    inward = walk.enter([_Head(origin, ())])
    stop_inside, origin.stop = origin.stop, None
    walk.follow([_Head(origin, (), frozenset({(end, ())})), *inward])
    if origin.stop is None:
        origin.stop = stop_inside if origin.line is None else None
    return _turn(origin) if origin.hops else origin


def _turn(origin: Visit) -> Visit:
    """The branches from the far end of the only way that leads out of ``origin`` by its cable, if there is one."""
    chain = [origin]
    following = [origin.beyond] if origin.beyond is not None else []
    while following:
        if len(following) > 1:
            return origin
        chain.append(following[0])
        following = [*following[0].next_visits()]
    turned = Visit(origin.end, origin.position, hops=origin.hops, stop=origin.stop if len(chain) == 1 else None)
    for near, far in itertools.pairwise(chain):
        if far in near.hops:
            turned = Visit(far.end, far.position, hops=[turned], stop=far.stop)
        else:
            turned = Visit(far.end, far.position, line=near.line, beyond=turned, stop=far.stop)
    return turned
