"""Benchmark of parts in the place of Pyramid's and of left out imports: requests and starts with and without each."""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import subprocess
import sys
from collections.abc import Callable
from unittest.mock import patch

from pyramid.urldispatch import RoutesMapper

from bench.in_process import InProcess
from bench.service import Service
from bench.special import Special
from bench.world import World
from netinv_core import main
from netinv_core.http import traversal

ROUNDS, REQUESTS, STARTS = 20, 40, 5
# A start with and without the part, in an interpreter of its own; prints MiB, seconds of processor time and modules.
START = """
import contextlib, os, sys, time
import netinv_core.imports
if sys.argv[1] == "without":
    netinv_core.imports.without = lambda *names: contextlib.nullcontext()
import netinv_core.main, netinv_core.worker_tasks, netinv_core.tasks.redis_queue
pages = int(open("/proc/self/statm").read().split()[1])
print(pages * os.sysconf("SC_PAGESIZE") / 2**20, time.process_time(), len(sys.modules))
"""
WithoutPart = Callable[[], contextlib.AbstractContextManager[object]]


@dataclasses.dataclass(frozen=True)
class Part:
    """A part, and the context in which an application is made without it."""

    name: str
    without: WithoutPart


PARTS = (
    Part("one class for all requests", lambda: patch.object(main, "keep_request_class", lambda app: None)),
    Part("routes by their first segments", lambda: patch.object(traversal, "PrefixRoutesMapper", RoutesMapper)),
)


def measure(service: Service, world: World, tell: Callable[[str], None]) -> Special:
    """Measures requests with and without each part of HTTP, and starts with and without the left out imports."""
    device = world.ids["dcim/devices/"][0]
    paths = {
        "GET 1 site of a page": "dcim/sites/?limit=1",
        "GET a device": f"dcim/devices/{device}/",
        "GET 50 devices": "dcim/devices/?limit=50",
        "GET 1 cluster of a page": "virtualization/clusters/?limit=1",
    }
    tell("starting")
    complete = InProcess(service.ini, service.headers)
    rows = []
    for part in PARTS:
        with part.without():
            bare = InProcess(service.ini, service.headers)
        for name, path in paths.items():
            tell(f"{part.name}: {name}")
            with_part, without_part = _alternate(complete, bare, path)
            saved = (1 - with_part / without_part) * 100
            times = {"with µs": f"{with_part * 1e6:.0f}", "without µs": f"{without_part * 1e6:.0f}"}
            rows.append({"kind": part.name, "request": name, **times, "saved %": f"{saved:.1f}"})
        bare.engine.dispose()
    tell("imports")
    return Special("processor time of a request in the process, median", {"part": rows, "start": _starts()})


def _alternate(one: InProcess, other: InProcess, path: str) -> tuple[float, float]:
    """The medians of the processor time of a request, of both applications in turn, in seconds."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for client, of_client in zip((one, other), times, strict=True):
            for _ in range(REQUESTS):
                client.call("GET", path)
                of_client.append(client.seconds)
    return statistics.median(times[0]), statistics.median(times[1])


def _starts() -> list[dict[str, str]]:
    """Memory, processor time and modules of starts with the imports left out, and with all of them."""
    found: dict[str, list[list[float]]] = {"with": [], "without": []}
    for _ in range(STARTS):
        for way, figures in found.items():
            done = subprocess.run([sys.executable, "-c", START, way], capture_output=True, text=True, check=True)
            figures.append([float(word) for word in done.stdout.split()])
    rows = []
    for way, figures in found.items():
        memory, seconds, modules = (statistics.median(column) for column in zip(*figures, strict=True))
        kind = "optional imports left out" if way == "with" else "all imports"
        rows.append({"kind": kind, "MiB": f"{memory:.1f}", "s": f"{seconds:.2f}", "modules": f"{modules:.0f}"})
    return rows
