"""Jinja2 templates written by users: rendered in a child process, with limits on time, memory and length.

The renderings of a request are sent together (:func:`render`). Each failure has its own error. When a rendering
kills the process or exceeds its time, the others continue in a new process. A source that did so several times is
refused for a while.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import inspect
import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from netinv_core.caches import CacheCounts
from netinv_core.registry_cache import cached_in_registry
from netinv_extras.templates import renderer_pool
from netinv_extras.templates.renderer.values import ColumnValue, Unknown, encode

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

log = logging.getLogger(__name__)
RESULT_GRACE = 0.5  # seconds after the time limit in which the renderer has to report it itself
TRIES = 3  # times that a source may run out of time or memory before it is refused for a while
REMEMBERED = 1024  # entries of the caches of failed sources and of requested attributes
AT_ONCE = 4096  # renderings in one message
LOADS = 1000  # attributes loaded for one call of render()
LOADED = 1 << 22  # values loaded for one call of render()
PLANNED = 100  # attributes sent together with the renderings
FRUITLESS = 3  # consecutive processes that ended before they began a rendering


class RenderError(ValueError):
    """Failure of a template, with the reason."""


class RendererUnavailable(RenderError):
    """No renderer was free in time, or none can be started: the template was not tried."""


class AttributeLoader(Protocol):
    """Loads attributes of the objects that templates mention, for all objects of a batch at once.

    Loaders of the same ``kind`` number their batches alike if the same attributes are loaded in the same order.
    """

    kind: str

    def column(self, batch: int, name: str) -> ColumnValue | Unknown:
        """Returns an attribute of each object of a batch.

        :raises RenderError: when too many relations are followed
        :raises IndexError: for an unknown batch
        """


@dataclasses.dataclass(frozen=True)
class Rendering:
    """A template's source and variables; with ``None`` it is compiled only.

    ``lines`` is for HTTP headers: results of expressions may not contain line breaks.
    """

    source: str
    variables: Mapping[str, Any] | None
    lines: bool = False


@dataclasses.dataclass(frozen=True)
class RenderLimits:
    """Limits of renderings.

    ``seconds`` is for one rendering and ``total`` for all of a call; ``longest_source`` and ``longest`` are
    characters of a source and of a result; ``pause`` is the seconds for which a failing source is refused.
    """

    pool: renderer_pool.PoolLimits
    seconds: float
    total: float
    longest_source: int
    longest: int
    pause: float

    @classmethod
    def of(cls, settings: Mapping[str, Any], filters: tuple[tuple[str, str, str], ...] = ()) -> Self:
        """Returns the limits of the settings; ``filters`` are those of packages."""
        names = (
            "template_timeout",
            "template_total_timeout",
            "template_max_size",
            "template_max_output",
            "template_pause",
        )
        return cls(renderer_pool.PoolLimits.of(settings, filters), *(settings[name] for name in names))


def limits_of(registry: Registry) -> RenderLimits:
    """Returns the limits of the settings, with the filters of packages."""
    return RenderLimits.of(registry.settings, _filters_of(registry))


@cached_in_registry
def _filters_of(registry: Registry) -> tuple[tuple[str, str, str], ...]:
    """Returns name, file and function of the filters of packages."""
    added = registry.hooks.netinv_template_filters(registry=registry)
    functions = {name: function for filters in added for name, function in filters.items()}
    return tuple(sorted((name, inspect.getfile(given), given.__name__) for name, given in functions.items()))


class _Strikes:
    """Bounded cache of the sources that recently ran out of time or memory, with their number of failures."""

    def __init__(self) -> None:
        self._known: collections.OrderedDict[tuple[str, bool], tuple[int, float]] = collections.OrderedDict()
        self._lock = threading.Lock()

    def add(self, rendering: Rendering, pause: float) -> None:
        """Counts a failure."""
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
    """Bounded cache of the attributes that sources requested in their last rendering.

    They are sent with the next rendering, which saves the round trips.
    """

    def __init__(self) -> None:
        self._pairs_by_key: collections.OrderedDict[Any, list[tuple[int, str]]] = collections.OrderedDict()
        self._counts = CacheCounts("template attributes", self._pairs_by_key.__len__)
        self._lock = threading.Lock()

    def get(self, key: Any) -> list[tuple[int, str]]:
        """Returns pairs of batch and attribute name, in the order of the requests."""
        pairs = self._pairs_by_key.get(key)
        if pairs is None:
            self._counts.misses += 1
            return []
        self._counts.hits += 1
        return list(pairs)

    def set(self, key: Any, pairs: list[tuple[int, str]]) -> None:
        """Stores the first :data:`PLANNED` pairs."""
        with self._lock:
            self._pairs_by_key[key] = pairs[:PLANNED]
            self._pairs_by_key.move_to_end(key)
            if len(self._pairs_by_key) > REMEMBERED:
                self._pairs_by_key.popitem(last=False)


_strikes = _Strikes()
_plans = _Plans()


def render(
    renderings: Sequence[Rendering], limits: RenderLimits, loader: AttributeLoader | None = None
) -> list[str | RenderError]:
    """Returns the text or the error of each rendering. ``loader`` loads attributes of objects in the variables."""
    return _Session(renderings, limits, loader).run()


class _Session:
    """One call of :func:`render`: conversations with renderer processes until every rendering has its result."""

    def __init__(self, renderings: Sequence[Rendering], limits: RenderLimits, loader: AttributeLoader | None) -> None:
        self._renderings, self._limits, self._loader = renderings, limits, loader
        self._results: dict[int, str | RenderError] = {}
        self._end = time.monotonic() + limits.total
        self._deaths: collections.Counter[int] = collections.Counter()
        self._progressed = False
        self._fruitless = self._loaded = 0
        self._plan_key = None
        if loader is not None:
            self._plan_key = loader.kind, frozenset((rendering.source, rendering.lines) for rendering in renderings)
        self._requested = _plans.get(self._plan_key) if loader is not None else []
        self._reasons = {
            "late": f"there was no more time: the templates of one request have {limits.total:g} s together",
            "time": f"it takes longer than {limits.seconds:g} s",
            "memory": f"it needs more than {limits.pool.memory >> 20} MiB of memory",
            "death": "it ends the renderer",
        }

    def run(self) -> list[str | RenderError]:
        while pending := self._next_batch():
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
        """Sends the pending renderings to a process. If it ends or times out, its current rendering failed.

        :raises RendererDied: when the process must not be used any more
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
        """Records the failure of the rendering that was begun last, unless its result is known.

        The first death of a process is not counted: it may have been killed from outside.
        """
        if not 0 < begun <= len(pending):
            return
        self._progressed = True
        number = pending[begun - 1]
        self._deaths[number] += 1
        if kind != "death" or self._deaths[number] > 1:
            self._take(number, kind, b"")

    def _without_process(self, pending: Sequence[int], reason: str) -> None:
        """Counts consecutive processes that ended before they began a rendering; gives up after :data:`FRUITLESS`."""
        self._fruitless = 0 if self._progressed else self._fruitless + 1
        self._progressed = False
        if self._fruitless >= FRUITLESS:
            log.error("templates cannot be rendered: %s", reason)
            self._fail(pending, reason, RendererUnavailable)

    def _next_batch(self) -> list[int]:
        """Returns the numbers of the renderings without a result, at most :data:`AT_ONCE`; refuses some at once."""
        pending = []
        for number, rendering in enumerate(self._renderings):
            if number in self._results:
                continue
            if len(rendering.source) > self._limits.longest_source:
                self._fail([number], f"the template is longer than {self._limits.longest_source} characters")
            elif _strikes.refuses(rendering, self._limits.pause):
                pause = f"it is not tried again for {self._limits.pause:g} s"
                self._fail([number], f"it ran out of time or memory {TRIES} times: {pause}")
            else:
                pending.append(number)
        return pending[:AT_ONCE]

    def _fail(self, numbers: Sequence[int], reason: str, kind: type[RenderError] = RenderError) -> None:
        for number in numbers:
            self._results.setdefault(number, kind(reason))

    def _take(self, number: int, kind: str, body: bytes) -> None:
        """Stores a result sent by the renderer, or the failure that its end means."""
        if number in self._results:
            return
        if kind == "text":
            self._results[number] = _without_surrogates(body.decode("utf-8", "surrogatepass"))
            return
        reason = self._reasons.get(kind) or body.decode("utf-8", "replace")
        if kind in ("time", "memory", "death"):
            source = self._renderings[number].source
            log.warning("a template was broken off, %s: %.100r", reason, source)
            _strikes.add(self._renderings[number], self._limits.pause)
        self._fail([number], reason)

    def _exchange(self, process: renderer_pool.Process, pending: Sequence[int]) -> None:
        """Sends the pending renderings, receives the results, and answers the renderer's requests for attributes."""
        expected = set(pending)
        process.send(self._message(pending), self._deadline())
        while True:
            head, body = process.receive(self._deadline(), self._limits.longest * 4 + 4096)
            match head:
                case {"is": "result", "number": int(number), "kind": str(kind)} if number in expected:
                    self._take(number, kind, body)
                case {"is": "load", "batch": int(batch), "name": str(name)}:
                    process.send(self._load(batch, name), self._deadline())
                case {"is": "done", "cpu": float(cpu)} if expected <= self._results.keys():
                    process.worn = cpu > renderer_pool.MAX_CPU
                    if self._plan_key is not None:
                        _plans.set(self._plan_key, self._requested)
                    return
                case _:
                    raise renderer_pool.RendererDied("the renderer sent something unexpected")

    def _deadline(self) -> float:
        """Returns the time (monotonic) until which a message must arrive: the limit of a rendering plus a grace."""
        now = time.monotonic()
        return max(min(now + self._limits.seconds, self._end), now) + RESULT_GRACE

    def _message(self, pending: Sequence[int]) -> dict[str, Any]:
        """Builds the message for renderings. Sources and variables that they share are sent once."""
        sources: dict[tuple[str, bool], int] = {}
        places: dict[int, int] = {}
        variables: list[dict[str, Any]] = []
        jobs = []
        for number in pending:
            rendering = self._renderings[number]
            scope = rendering.variables
            if scope is not None and id(scope) not in places:
                places[id(scope)] = len(variables)
                variables.append({name: encode(value) for name, value in scope.items()})
            source = sources.setdefault((rendering.source, rendering.lines), len(sources))
            jobs.append([number, source, None if scope is None else places[id(scope)]])
        columns = list(self._plan_batches())
        total = max(self._end - time.monotonic(), 0)
        bounds = {"seconds": self._limits.seconds, "total": total, "longest": self._limits.longest}
        content = {
            "jobs": jobs,
            "sources": [list(source) for source in sources],
            "variables": variables,
            "columns": columns,
        }
        return {"is": "jobs", **content, **bounds}

    def _plan_batches(self) -> Iterator[list[Any]]:
        """Loads the attributes requested last time, until a batch does not exist."""
        planned, self._requested = self._requested, []
        with contextlib.suppress(IndexError, RenderError):
            for batch, name in planned:
                yield [batch, name, self._column(batch, name)]
                self._requested.append((batch, name))

    def _load(self, batch: int, name: str) -> dict[str, Any]:
        """Returns the answer to a request for an attribute."""
        if len(self._requested) >= LOADS or self._loaded > LOADED:
            return {"refused": "it asks for too many attributes of too many objects"}
        try:
            answer = self._column(batch, name)
        except RenderError as error:
            return {"refused": str(error)}
        except IndexError:
            raise renderer_pool.RendererDied("the renderer asked for objects that there are not") from None
        self._requested.append((batch, name))
        return answer

    def _column(self, batch: int, name: str) -> dict[str, Any]:
        """Returns a loaded attribute, or what is told about an unknown one."""
        column = Unknown("an object", "") if self._loader is None else self._loader.column(batch, name)
        if isinstance(column, ColumnValue):
            self._loaded += len(column.values)
        return column._asdict()


def _without_surrogates(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs, which no answer and no database can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def faults(renderings: Sequence[Rendering], limits: RenderLimits) -> list[str | None]:
    """Compiles sources; returns an error text for each that does not compile, ``None`` for the others."""
    results = render(renderings, limits)
    return [
        f"This template does not compile. {_sentence(str(result))}" if isinstance(result, RenderError) else None
        for result in results
    ]


def _sentence(reason: str) -> str:
    return reason if reason.startswith("Line ") else f"{reason[:1].upper()}{reason[1:]}."


def rule(*names: str, lines: Sequence[str] = ()) -> Rule:
    """Returns a rule for a resource: the columns ``names`` and ``lines`` (HTTP headers) hold templates that compile."""

    def templates_compile(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects templates with errors of syntax."""
        limits = limits_of(uow.registry)
        changed: list[tuple[Draft, str, Rendering]] = []
        for draft in drafts:
            for name in (*names, *lines):
                source = draft[name] if draft.changed(name) else ""
                if len(source) > limits.longest_source:
                    draft.reject(name, f"Ensure this field has no more than {limits.longest_source} characters.")
                elif source:
                    changed.append((draft, name, Rendering(source, None, name in lines)))
        reasons = faults([rendering for *_, rendering in changed], limits)
        for (draft, name, _), reason in zip(changed, reasons, strict=True):
            if reason is not None:
                draft.reject(name, reason)

    return templates_compile
