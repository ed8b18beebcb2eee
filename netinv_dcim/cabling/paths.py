"""Cable paths: which end lies at the far end of a way through cables, panels and circuits.

The network is looked at level by level, all paths of a request together: a level takes one statement for the cables and one for
each kind of end that a path goes on behind. So the cost follows the longest path, not the number of paths, and never the size
of the network.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from netinv_core.db.engine import in_parameter
from netinv_core.endpoint import Endpoint
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_dcim.cabling.models import Cable, Cabled, NextHop, PathEnd
from netinv_extras.statuses import Status

CONNECTED = "connected"
CABLE = "dcim.cable"
MAX_STEPS = 32  # trunks within trunks; what goes deeper goes round in a circle


class End(NamedTuple):
    """An end of a cable: the label of its model, and its id."""

    label: str
    id: Any


class Line(NamedTuple):
    """A cable as paths see it."""

    id: Any
    a: End
    b: End
    connected: bool

    def beyond(self, end: End) -> End:
        """The other end."""
        return self.b if end == self.a else self.a


Stack = tuple[int, ...]


class Step(NamedTuple):
    """A cable on a path, from its near end to its far end."""

    near: End
    line: Line
    far: End


@dataclasses.dataclass
class Path:
    """The way from an end: its steps, and where they lead.

    ``destination`` is ``None`` while it leads nowhere; then ``last`` may be an end without a cable that it stops at. A path is ``split`` where
    several go on and nothing says which is its own.
    """

    origin: End
    steps: list[Step] = dataclasses.field(default_factory=list)
    destination: End | None = None
    last: End | None = None
    split: bool = False

    @property
    def active(self) -> bool:
        """Whether it leads somewhere, over cables that are all connected."""
        return self.destination is not None and all(step.line.connected for step in self.steps)

    @property
    def nodes(self) -> list[End]:
        """Everything on it, in order: ends and cables."""
        found = [node for near, line, far in self.steps for node in (near, End(CABLE, line.id), far)]
        return [*found, self.last] if self.last else found

    @property
    def columns(self) -> dict[str, Any]:
        """What its origin's row says of it (:class:`netinv_dcim.cabling.models.PathEnd`)."""
        label, key = self.destination or (None, None)
        reachable = self.active if self.steps else None
        return {"connected_endpoint_type": label, "connected_endpoint_id": key, "connected_endpoint_reachable": reachable}


def ends_of(registry: Registry) -> dict[str, Endpoint]:
    """The resources whose objects take cables, by label."""
    return {label: endpoint for label, endpoint in registry.endpoints.items() if issubclass(endpoint.model, Cabled)}


class Network:
    """The part of the network that was looked at.

    What a running deletion takes along (``context.leaving``) is still seen while looking for :meth:`origins`, and gone for :meth:`trace`.
    """

    def __init__(self, uow: UnitOfWork) -> None:
        self.uow = uow
        self.kinds: dict[str, Any] = {label: endpoint.model for label, endpoint in ends_of(uow.registry).items()}
        self._lines: dict[End, Line | None] = {}
        self._ways: dict[End, Sequence[NextHop]] = {}

    # -- looking

    def lines_at(self, ends: Collection[End]) -> list[Line]:
        """The cables at these ends."""
        missing = list({end.id for end in ends if end not in self._lines})
        self._lines.update(dict.fromkeys([end for end in ends if end not in self._lines]))
        self.add(self._load(missing) if missing else ())
        return list({line.id: line for end in ends if (line := self._lines[end]) is not None}.values())

    def add(self, lines: Iterable[Line]) -> None:
        """Takes cables that are known."""
        for line in lines:
            self._lines[line.a] = self._lines[line.b] = line

    def _load(self, keys: list[Any]) -> list[Line]:
        cable, status = Cable.__table__, Status.__table__
        columns = [cable.c[f"termination_{side}_{part}"] for side in "ab" for part in ("type", "id")]
        found = sa.select(cable.c.id, *columns, status.c.slug).join(status, status.c.id == cable.c.status_id)
        halves = [found.where(in_parameter(self.uow.registry.dialect, cable.c[f"termination_{side}_id"])) for side in "ab"]
        rows = self.uow.execute(sa.union(*halves), {"keys": keys})
        return [Line(key, End(*a), End(*b), slug == CONNECTED) for key, *ends, slug in rows for a, b in ((ends[:2], ends[2:]),)]

    def _look_behind(self, ends: Iterable[End]) -> None:
        """Finds the ways on behind these ends."""
        missing: dict[str, set[Any]] = {}
        for end in ends:
            if end not in self._ways:
                self._ways[end] = ()
                missing.setdefault(end.label, set()).add(end.id)
        for label, keys in missing.items():
            if label in self.kinds and leads_on(self.kinds[label]):
                found = self.kinds[label].next_hops(self.uow, list(keys))
                self._ways.update({End(label, key): ways for key, ways in found.items()})

    # -- going

    def origins(self, lines: Iterable[Line]) -> set[End]:
        """The ends whose paths lead through these cables."""
        return self._reached({(end, ()) for line in lines for end in (line.a, line.b)})

    def origins_through(self, end: End) -> set[End]:
        """The ends whose paths lead through the inside of this one, or begin at it."""
        outward = {(line.beyond(end), ()) for line in self.lines_at([end])}
        return self._reached({(end, ()), *outward})

    def _reached(self, arrived: set[tuple[End, Stack]]) -> set[End]:
        """The ends of paths that can be reached by going on from where one has arrived, with the positions one has to leave at."""
        found: set[End] = set()
        seen = set(arrived)
        while arrived:
            found |= {end for end, _ in arrived if self._is_origin(end)}
            self._look_behind({end for end, _ in arrived})
            near = {(End(way.label, way.id), stack) for end, held in arrived for way, stack in _followed(self._ways[end], held, all_of_them=True)}
            self.lines_at({end for end, _ in near})
            arrived = {(line.beyond(end), stack) for end, stack in near if (line := self._lines[end]) is not None} - seen
            seen |= arrived
        return found

    def _is_origin(self, end: End) -> bool:
        return end.label in self.kinds and issubclass(self.kinds[end.label], PathEnd)

    def trace(self, origins: Iterable[End]) -> dict[End, Path]:
        """The paths from these ends."""
        leaving = self.uow.deleting
        found = {origin: Path(origin) for origin in origins if origin.id not in leaving.get(origin.label, ())}
        going: dict[End, tuple[End, Stack]] = {origin: (origin, ()) for origin in found}
        seen: set[tuple[End, End, Stack]] = set()
        while going:
            self.lines_at({near for near, _ in going.values()})
            arrived: dict[End, tuple[End, Stack]] = {}
            for origin, (near, stack) in going.items():
                line = self._lines[near]
                if line is None or line.id in leaving.get(CABLE, ()):
                    found[origin].last = near if found[origin].steps else None
                elif (origin, near, stack) not in seen:
                    seen.add((origin, near, stack))
                    found[origin].steps.append(Step(near, line, line.beyond(near)))
                    arrived[origin] = (line.beyond(near), stack)
            self._look_behind({far for far, _ in arrived.values()})
            going = {}
            for origin, (far, stack) in arrived.items():
                following = self._follow(found[origin], far, stack)
                if following is not None:
                    going[origin] = following
        return found

    def _follow(self, path: Path, far: End, stack: Stack) -> tuple[End, Stack] | None:
        """Where a path goes on from the far end of a cable; ``None`` where it ends."""
        if far.label in self.kinds and not leads_on(self.kinds[far.label]):
            path.destination = far
            return None
        ways = [way for way in self._ways[far] if way.id not in self.uow.deleting.get(way.label, ())]
        followed = _followed(ways, stack)
        path.split = not followed and not stack and bool(ways)
        if not ways and far.label in self.kinds and self.kinds[far.label].ends_paths:
            path.destination = far
        return (End(followed[0][0].label, followed[0][0].id), followed[0][1]) if followed else None


def leads_on(model: type[Cabled]) -> bool:
    """Whether paths can go on behind ends of a model; those that lead on are no destinations."""
    return model.next_hops.__func__ is not Cabled.next_hops.__func__  # type: ignore[attr-defined]


def _followed(ways: Sequence[NextHop], stack: Stack, *, all_of_them: bool = False) -> list[tuple[NextHop, Stack]]:
    """The ways that a path with these positions to leave at can take, each with the positions then.

    Where it does not know its position it can take none, or ``all_of_them`` when every path that could have come here is wanted.
    """
    found: list[tuple[NextHop, Stack]] = []
    for way in ways:
        if way.leaves is not None and stack and way.leaves == stack[-1]:
            found.append((way, stack[:-1]))
        elif way.leaves is not None and not stack and all_of_them:
            found.append((way, stack))
        elif way.leaves is None and way.enters is not None and len(stack) < MAX_STEPS:
            found.append((way, (*stack, way.enters)))
        elif way.leaves is None and way.enters is None:
            found.append((way, stack))
    return found


def columns_of(paths: Mapping[End, Path]) -> dict[str, dict[Any, dict[str, Any]]]:
    """What the rows of the origins say of their paths, by label and id."""
    found: dict[str, dict[Any, dict[str, Any]]] = {}
    for origin, path in paths.items():
        found.setdefault(origin.label, {})[origin.id] = path.columns
    return found
