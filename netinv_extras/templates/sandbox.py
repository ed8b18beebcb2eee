"""Templates that users write (Jinja2): rendered in a process of their own, with limits on time, memory and length.

The renderings of a request are sent together (:func:`render`). One that fails has its own error; one that kills the process, or holds it
beyond its time, is left out and the others go on in a new process. A source that did so several times is refused for a while.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

from netinv_core.resource import Rule
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_extras.templates import renderer_pool
from netinv_extras.templates.renderer.values import encode

log = logging.getLogger(__name__)
RESULT_GRACE = 0.5  # seconds after its time that a renderer has to say so itself
TRIES = 3  # how often a source may run out of time or memory until it is refused for a while
REMEMBERED = 1024  # sources that ran out of time or memory lately
AT_ONCE = 4096  # renderings in one message
LOADS = 1000  # attributes loaded for one call of render()
LOADED = 1 << 22  # values of them
PLANNED = 100  # attributes that are sent along
FRUITLESS = 3  # processes that ended before they began with anything


class RenderError(ValueError):
    """A template that could not be rendered, and why."""


class RendererUnavailable(RenderError):
    """A template that was not tried, because no renderer was free in time, or none can be started."""


class Loader(Protocol):
    """Loads attributes of the objects that templates mention, for all objects of a batch.

    Loaders of one ``kind`` number their batches alike when they are asked for the same attributes in the same order.
    """

    kind: str

    def column(self, batch: int, name: str) -> list[Any] | None:
        """An attribute of every object of a batch, encoded; ``None`` for one that they do not have.

        :raises Unrendered: when it follows too many relations
        :raises IndexError: for a batch that there is not
        """


@dataclasses.dataclass(frozen=True)
class Rendering:
    """A source, and the variables that it is rendered with: without any it is only compiled.

    ``lines`` is for headers, where no expression may bring a line break.
    """

    source: str
    variables: Mapping[str, Any] | None
    lines: bool = False


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of renderings: seconds of one and of all together, characters of a source and of a result, seconds that a source is refused for."""

    pool: renderer_pool.Limits
    seconds: float
    total: float
    longest_source: int
    longest: int
    pause: float

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """As an ini file says."""
        names = ("template_timeout", "template_total_timeout", "template_max_size", "template_max_output", "template_pause")
        return cls(renderer_pool.Limits.of(settings), *(settings[name] for name in names))


class _Strikes:
    """The sources that lately ran out of time or memory, and how often."""

    def __init__(self) -> None:
        self._known: collections.OrderedDict[tuple[str, bool], tuple[int, float]] = collections.OrderedDict()
        self._lock = threading.Lock()

    def add(self, rendering: Rendering, pause: float) -> None:
        """Counts one."""
        key = (rendering.source, rendering.lines)
        with self._lock:
            count, since = self._known.pop(key, (0, 0.0))
            count = count if time.monotonic() < since + pause else 0
            self._known[key] = count + 1, time.monotonic()
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def refuses(self, rendering: Rendering, pause: float) -> bool:
        """True when a source failed too often."""
        count, since = self._known.get((rendering.source, rendering.lines), (0, 0.0))
        return count >= TRIES and time.monotonic() < since + pause


class _Plans:
    """The attributes that sources asked for when they were rendered last: they are sent along the next time, which saves the round trips."""

    def __init__(self) -> None:
        self._known: collections.OrderedDict[Any, list[tuple[int, str]]] = collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> list[tuple[int, str]]:
        """The batches and names, in order."""
        return list(self._known.get(key, ()))

    def set(self, key: Any, asked: list[tuple[int, str]]) -> None:
        """Remembers them."""
        with self._lock:
            self._known[key] = asked[:PLANNED]
            self._known.move_to_end(key)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)


_strikes = _Strikes()
_plans = _Plans()


def render(renderings: Sequence[Rendering], limits: Limits, loader: Loader | None = None) -> list[str | RenderError]:
    """The text of each rendering, or why it failed; ``loader`` loads what their variables refer to."""
    return _Session(renderings, limits, loader).run()


class _Session:
    """One call of :func:`render`: conversations with renderer processes until every rendering has its result."""

    def __init__(self, renderings: Sequence[Rendering], limits: Limits, loader: Loader | None) -> None:
        self._renderings, self._limits, self._loader = renderings, limits, loader
        self._results: dict[int, str | RenderError] = {}
        self._end = time.monotonic() + limits.total
        self._deaths: collections.Counter[int] = collections.Counter()
        self._progressed = False
        self._fruitless = self._loaded = 0
        self._plan = None if loader is None else (loader.kind, frozenset((rendering.source, rendering.lines) for rendering in renderings))
        self._asked = _plans.get(self._plan) if loader is not None else []
        self._reasons = {
            "late": f"there was no more time: the templates of one request have {limits.total:g} s together",
            "time": f"it takes longer than {limits.seconds:g} s",
            "memory": f"it needs more than {limits.pool.memory >> 20} MiB of memory",
            "death": "it ends the renderer",
        }

    def run(self) -> list[str | RenderError]:
        while pending := self._pending():
            if time.monotonic() > self._end:
                self._fail(pending, self._reasons["late"])
                break
            try:
                with renderer_pool.pool(self._limits.pool).borrow(self._end) as process:
                    self._converse(process, pending)
            except renderer_pool.PoolExhausted:
                self._fail(pending, "no renderer is free", RendererUnavailable)
            except renderer_pool.RendererDied as error:
                self._without_process(pending, str(error))
        return [self._results[number] for number in range(len(self._renderings))]

    def _converse(self, process: renderer_pool.Process, pending: Sequence[int]) -> None:
        """Has a process do the pending renderings; when it ends or is silent, the one that it was at has failed.

        :raises Gone: when the process is not to be used any more
        """
        process.begun()
        try:
            self._exchange(process, pending)
        except renderer_pool.RendererTimeout:
            self._blame(pending, process.begun(), "time" if time.monotonic() < self._end else "late")
            raise renderer_pool.RendererDied("the renderer does not answer") from None
        except renderer_pool.RendererDied as error:
            self._blame(pending, process.begun(), "death")
            raise renderer_pool.RendererDied(str(error)) from None

    def _blame(self, pending: Sequence[int], begun: int, kind: str) -> None:
        """The last rendering that was begun ended the process, unless its result is known; a death is forgiven once, it may have come from outside."""
        if not 0 < begun <= len(pending):
            return
        self._progressed = True
        number = pending[begun - 1]
        self._deaths[number] += 1
        if kind != "death" or self._deaths[number] > 1:
            self._take(number, kind, b"")

    def _without_process(self, pending: Sequence[int], reason: str) -> None:
        """Counts the processes that end before they begin with anything: too many, and there is no point in starting more."""
        self._fruitless = 0 if self._progressed else self._fruitless + 1
        self._progressed = False
        if self._fruitless >= FRUITLESS:
            log.error("templates cannot be rendered: %s", reason)
            self._fail(pending, reason, RendererUnavailable)

    def _pending(self) -> list[int]:
        """The renderings that are still to be done, at most so many as go into one message."""
        pending = []
        for number, rendering in enumerate(self._renderings):
            if number in self._results:
                continue
            if len(rendering.source) > self._limits.longest_source:
                self._fail([number], f"the template is longer than {self._limits.longest_source} characters")
            elif _strikes.refuses(rendering, self._limits.pause):
                self._fail([number], f"it ran out of time or memory {TRIES} times: it is not tried again for {self._limits.pause:g} s")
            else:
                pending.append(number)
        return pending[:AT_ONCE]

    def _fail(self, numbers: Sequence[int], reason: str, kind: type[RenderError] = RenderError) -> None:
        for number in numbers:
            self._results.setdefault(number, kind(reason))

    def _take(self, number: int, kind: str, body: bytes) -> None:
        """A result that the renderer sent, or that its end stands for."""
        if number in self._results:
            return
        if kind == "text":
            self._results[number] = body.decode("utf-8", "surrogatepass")
            return
        reason = self._reasons.get(kind) or body.decode("utf-8", "replace")
        if kind in ("time", "memory", "death"):
            source = self._renderings[number].source
            log.warning("a template was broken off, %s: %.100r", reason, source)
            _strikes.add(self._renderings[number], self._limits.pause)
        self._fail([number], reason)

    def _exchange(self, process: renderer_pool.Process, pending: Sequence[int]) -> None:
        """Sends the pending renderings, takes the results, and answers what is asked for meanwhile."""
        asked = set(pending)
        process.send(self._message(pending), self._deadline())
        while True:
            head, body = process.receive(self._deadline(), self._limits.longest * 4 + 4096)
            match head:
                case {"is": "result", "number": int(number), "kind": str(kind)} if number in asked:
                    self._take(number, kind, body)
                case {"is": "load", "batch": int(batch), "name": str(name)}:
                    process.send(self._load(batch, name), self._deadline())
                case {"is": "done", "cpu": float(cpu)} if asked <= self._results.keys():
                    process.worn = cpu > renderer_pool.MOST_CPU
                    if self._plan is not None:
                        _plans.set(self._plan, self._asked)
                    return
                case _:
                    raise renderer_pool.RendererDied("the renderer sent something unexpected")

    def _deadline(self) -> float:
        """Until when the process must be heard of: a rendering ends itself before."""
        now = time.monotonic()
        return max(min(now + self._limits.seconds, self._end), now) + RESULT_GRACE

    def _message(self, pending: Sequence[int]) -> dict[str, Any]:
        """The message that has renderings done; what several have in common is in it once."""
        sources: dict[tuple[str, bool], int] = {}
        places: dict[int, int] = {}
        variables: list[dict[str, Any]] = []
        jobs = []
        for number in pending:
            rendering = self._renderings[number]
            given = rendering.variables
            if given is not None and id(given) not in places:
                places[id(given)] = len(variables)
                variables.append({name: encode(value) for name, value in given.items()})
            source = sources.setdefault((rendering.source, rendering.lines), len(sources))
            jobs.append([number, source, None if given is None else places[id(given)]])
        columns = list(self._planned())
        total = max(self._end - time.monotonic(), 0)
        bounds = {"seconds": self._limits.seconds, "total": total, "longest": self._limits.longest}
        content = {"jobs": jobs, "sources": [list(source) for source in sources], "variables": variables, "columns": columns}
        return {"is": "jobs", **content, **bounds}

    def _planned(self) -> Iterator[list[Any]]:
        """The attributes that were asked for last time, as far as the same batches are there again."""
        asked, self._asked = self._asked, []
        with contextlib.suppress(IndexError, RenderError):
            for batch, name in asked:
                yield [batch, name, self._column(batch, name)]
                self._asked.append((batch, name))

    def _load(self, batch: int, name: str) -> dict[str, Any]:
        """The answer to a request for an attribute."""
        if len(self._asked) >= LOADS or self._loaded > LOADED:
            return {"refused": "it asks for too many attributes of too many objects"}
        try:
            values = self._column(batch, name)
        except RenderError as error:
            return {"refused": str(error)}
        except IndexError:
            raise renderer_pool.RendererDied("the renderer asked for objects that there are not") from None
        self._asked.append((batch, name))
        return {"values": values}

    def _column(self, batch: int, name: str) -> list[Any] | None:
        column = None if self._loader is None else self._loader.column(batch, name)
        self._loaded += len(column or ())
        return column


def faults(renderings: Sequence[Rendering], limits: Limits) -> list[str | None]:
    """Why sources without variables do not compile; ``None`` for those that do."""
    results = render(renderings, limits)
    return [f"This template does not compile. {_sentence(str(result))}" if isinstance(result, RenderError) else None for result in results]


def _sentence(reason: str) -> str:
    return reason if reason.startswith("Line ") else f"{reason[:1].upper()}{reason[1:]}."


def rule(*names: str, lines: Sequence[str] = ()) -> Rule:
    """A rule for a resource: what is written in these columns are templates that compile; ``lines`` are those of headers."""

    def templates_compile(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        limits = Limits.of(uow.registry.settings)
        wanted: list[tuple[Draft, str, Rendering]] = []
        for draft in drafts:
            for name in (*names, *lines):
                source = draft[name] if draft.changed(name) else ""
                if len(source) > limits.longest_source:
                    draft.reject(name, f"Ensure this field has no more than {limits.longest_source} characters.")
                elif source:
                    wanted.append((draft, name, Rendering(source, None, name in lines)))
        reasons = faults([rendering for *_, rendering in wanted], limits)
        for (draft, name, _), reason in zip(wanted, reasons, strict=True):
            if reason is not None:
                draft.reject(name, reason)

    return templates_compile
