"""Cable paths: follows cables, patch panels and circuits from an end to the end at the other side.

All paths of a request advance together, one cable at a time. Each round takes one SELECT for the cables and one for
each model that paths lead on behind. The number of statements follows the longest path: neither the number of paths nor
the size of the network adds to it.

Position stack. A trunk cable between two rear ports carries several paths, each at a position of its own. A path that
enters the trunk through front port 3 pushes 3 on its stack (``NextHop.enters``). At the far rear port it leaves
through the front port whose position (``NextHop.leaves``) is on top of the stack, and that position is popped. A trunk
that runs inside another trunk pushes a second position, which is popped first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_dcim.cabling.models import Cable, Cabled, NextHop, PathEnd
from netinv_extras.statuses import Status

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

CONNECTED = "connected"
CABLE = "dcim.cable"
MAX_STACK_DEPTH = 32  # size of the position stack: trunks nested deeper than this form a loop


class End(NamedTuple):
    """An end of a cable: the label of its model, and its id."""

    label: str
    id: Any


class PathCable(NamedTuple):
    """A cable: its id, its two ends, and True in ``connected`` while its status is ``connected``."""

    id: Any
    a: End
    b: End
    connected: bool

    def beyond(self, end: End) -> End:
        """The end of the cable that is not ``end``."""
        return self.b if end == self.a else self.a


Stack = tuple[int, ...]  # positions in the trunks that a path is inside of, the innermost last


class Step(NamedTuple):
    """A cable on a path, from its near end to its far end."""

    near: End
    line: PathCable
    far: End


@dataclasses.dataclass
class Path:
    """A path from an end: its steps in order, and its destination.

    ``destination`` is ``None`` for an incomplete path; ``last`` is then the end without a cable at which it stops, if
    there is one. ``split`` is True when the path stops because several next hops exist and its position is not known.
    """

    origin: End
    steps: list[Step] = dataclasses.field(default_factory=list)
    destination: End | None = None
    last: End | None = None
    split: bool = False

    @property
    def active(self) -> bool:
        """True when the path has a destination and all its cables are connected."""
        return self.destination is not None and all(step.line.connected for step in self.steps)

    @property
    def nodes(self) -> list[End]:
        """The ends and cables of the path, in order."""
        nodes = [node for near, line, far in self.steps for node in (near, End(CABLE, line.id), far)]
        return [*nodes, self.last] if self.last else nodes

    @property
    def columns(self) -> dict[str, Any]:
        """The path's columns in the row of its origin (:class:`netinv_dcim.cabling.models.PathEnd`)."""
        label, key = self.destination or (None, None)
        reachable = self.active if self.steps else None
        return {
            "connected_endpoint_type": label,
            "connected_endpoint_id": key,
            "connected_endpoint_reachable": reachable,
        }


def ends_of(registry: Registry) -> dict[str, Endpoint]:
    """The endpoints whose objects take cables, by label."""
    return {label: endpoint for label, endpoint in registry.endpoints.items() if issubclass(endpoint.model, Cabled)}


class CableNetwork:
    """Cache of cables and next hops, loaded as far as the paths of one request need them.

    Objects that a running deletion removes (``uow.deleting``) are still part of the network for :meth:`origins`;
    :meth:`trace` leaves them out.
    """

    def __init__(self, uow: UnitOfWork) -> None:
        self.uow = uow
        self.kinds: dict[str, Any] = {label: endpoint.model for label, endpoint in ends_of(uow.registry).items()}
        self._lines: dict[End, PathCable | None] = {}
        self._hops: dict[End, Sequence[NextHop]] = {}

    # -- loading

    def lines_at(self, ends: Collection[End]) -> list[PathCable]:
        """The cables at these ends, each once; one statement for those that are not cached."""
        missing = list({end.id for end in ends if end not in self._lines})
        self._lines.update(dict.fromkeys([end for end in ends if end not in self._lines]))
        self.add(self._load_lines(missing) if missing else ())
        return list({line.id: line for end in ends if (line := self._lines[end]) is not None}.values())

    def line_at(self, end: End) -> PathCable | None:
        """The cable at an end, after :meth:`lines_at` of it."""
        return self._lines[end]

    def hops_behind(self, end: End) -> Sequence[NextHop]:
        """The next hops behind an end, after :meth:`load_hops` of it."""
        return self._hops[end]

    def add(self, lines: Iterable[PathCable]) -> None:
        """Adds cables to the cache."""
        for line in lines:
            self._lines[line.a] = self._lines[line.b] = line

    def _load_lines(self, keys: list[Any]) -> list[PathCable]:
        """The cables of which one end has one of these ids: a UNION of one SELECT for each side."""
        cable, status = Cable.__table__, Status.__table__
        columns = [cable.c[f"termination_{side}_{part}"] for side in "ab" for part in ("type", "id")]
        selected = sa.select(cable.c.id, *columns, status.c.slug).join(status, status.c.id == cable.c.status_id)
        halves = [selected.where(in_parameter(cable.c[f"termination_{side}_id"])) for side in "ab"]
        rows = self.uow.execute(sa.union(*halves), {"keys": keys})
        return [
            PathCable(key, End(a_type, a_id), End(b_type, b_id), slug == CONNECTED)
            for key, a_type, a_id, b_type, b_id, slug in rows
        ]

    def load_hops(self, ends: Iterable[End]) -> None:
        """Loads the next hops behind these ends into the cache, by model."""
        missing: dict[str, set[Any]] = {}
        for end in ends:
            if end not in self._hops:
                self._hops[end] = ()
                missing.setdefault(end.label, set()).add(end.id)
        for label, keys in missing.items():
            if label in self.kinds and leads_on(self.kinds[label]):
                hops_by_id = self.kinds[label].next_hops(self.uow, list(keys))
                self._hops.update({End(label, key): hops for key, hops in hops_by_id.items()})

    # -- searching backwards

    def origins(self, lines: Iterable[PathCable]) -> set[End]:
        """The ends whose paths lead through these cables."""
        return self._reachable_origins({(end, ()) for line in lines for end in (line.a, line.b)})

    def origins_through(self, end: End) -> set[End]:
        """The ends whose paths lead through this end, and the end itself when paths begin at it."""
        outward = {(line.beyond(end), ()) for line in self.lines_at([end])}
        return self._reachable_origins({(end, ()), *outward})

    def _reachable_origins(self, arrived: set[tuple[End, Stack]]) -> set[End]:
        """The origins that can be reached from the far ends ``arrived``, each given with its position stack.

        Breadth-first search. Paths are symmetric, so an origin that is reached from a cable has a path through it.
        """
        origins: set[End] = set()
        seen = set(arrived)
        while arrived:
            origins |= {end for end, _ in arrived if self._is_origin(end)}
            self.load_hops({end for end, _ in arrived})
            near_ends = {
                (End(hop.label, hop.id), stack_behind)
                for end, stack in arrived
                for hop, stack_behind in follow(self._hops[end], stack, all_of_them=True)
            }
            self.lines_at({end for end, _ in near_ends})
            far_ends = {(line.beyond(end), stack) for end, stack in near_ends if (line := self._lines[end]) is not None}
            arrived = far_ends - seen
            seen |= arrived
        return origins

    def _is_origin(self, end: End) -> bool:
        return end.label in self.kinds and issubclass(self.kinds[end.label], PathEnd)

    # -- tracing

    def trace(self, origins: Iterable[End]) -> dict[End, Path]:
        """Follows the paths from these ends; returns them by origin, without origins that are being deleted.

        ``heads`` holds each path that still goes on: the near end of its next cable, and its position stack there. A
        round of the loop has two halves. The first appends the cable at each head to its path. The second chooses the
        next hop behind the far end of that cable, which may push or pop a position (see the module docstring).

        A path stops at an end without a cable, at its destination, where it is split, or at a loop: a head that it has
        already had with the same stack.
        """
        deleting = self.uow.deleting
        paths = {origin: Path(origin) for origin in origins if origin.id not in deleting.get(origin.label, ())}
        heads: dict[End, tuple[End, Stack]] = {origin: (origin, ()) for origin in paths}
        seen: set[tuple[End, End, Stack]] = set()
        while heads:
            self.lines_at({near for near, _ in heads.values()})
            far_ends: dict[End, tuple[End, Stack]] = {}
            for origin, (near, stack) in heads.items():
                path, line = paths[origin], self._lines[near]
                if line is None or line.id in deleting.get(CABLE, ()):
                    path.last = near if path.steps else None
                elif (origin, near, stack) not in seen:
                    seen.add((origin, near, stack))
                    far = line.beyond(near)
                    path.steps.append(Step(near, line, far))
                    far_ends[origin] = (far, stack)
            self.load_hops({far for far, _ in far_ends.values()})
            heads = {}
            for origin, (far, stack) in far_ends.items():
                head = self._next_head(paths[origin], far, stack)
                if head is not None:
                    heads[origin] = head
        return paths

    def _next_head(self, path: Path, far: End, stack: Stack) -> tuple[End, Stack] | None:
        """The near end of a path's next cable, and the stack there; ``far`` is the far end of its last cable.

        Returns ``None`` where the path ends; sets its ``destination`` or ``split``.
        """
        if far.label in self.kinds and not leads_on(self.kinds[far.label]):
            path.destination = far
            return None
        hops = [hop for hop in self._hops[far] if hop.id not in self.uow.deleting.get(hop.label, ())]
        allowed = follow(hops, stack)
        path.split = not allowed and not stack and bool(hops)
        if not hops and far.label in self.kinds and self.kinds[far.label].ends_paths:
            path.destination = far
        if not allowed:
            return None
        hop, stack_behind = allowed[0]
        return End(hop.label, hop.id), stack_behind


def leads_on(model: type[Cabled]) -> bool:
    """True when paths can go on behind the ends of a model, such as rear ports; these are not destinations."""
    return model.next_hops.__func__ is not Cabled.next_hops.__func__  # type: ignore[attr-defined]


def follow(ways: Sequence[NextHop], stack: Stack, *, all_of_them: bool = False) -> list[tuple[NextHop, Stack]]:
    """The next hops that a path with this position stack can take, each with the stack behind it.

    - A hop that leaves a trunk at a position needs that position on top of the stack, and pops it.
    - A hop that enters a trunk pushes its position, up to ``MAX_STACK_DEPTH`` positions.
    - A hop that does neither leaves the stack as it is.

    An empty stack at the end of a trunk means that the path did not enter it through a front port (an interface is
    cabled to the rear port itself, or a search began at the trunk): its position is not known. It can then take no such
    hop, or each of them with ``all_of_them``, when the search is for every path that could lead here.
    """
    allowed: list[tuple[NextHop, Stack]] = []
    for hop in ways:
        if hop.leaves is not None:
            position_known = bool(stack)
            if position_known and hop.leaves == stack[-1]:
                allowed.append((hop, stack[:-1]))
            elif not position_known and all_of_them:
                allowed.append((hop, stack))
        elif hop.enters is None:
            allowed.append((hop, stack))
        elif len(stack) < MAX_STACK_DEPTH:
            allowed.append((hop, (*stack, hop.enters)))
    return allowed


def columns_of(paths: Mapping[End, Path]) -> dict[str, dict[Any, dict[str, Any]]]:
    """The path columns of the origins' rows, by label and id."""
    columns: dict[str, dict[Any, dict[str, Any]]] = {}
    for origin, path in paths.items():
        columns.setdefault(origin.label, {})[origin.id] = path.columns
    return columns
