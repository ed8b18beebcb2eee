"""Memory of the service's process while it answers requests of endless variety."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from bench.pages import Visitor
from bench.service import Service
from bench.special import Special
from bench.variety import requests
from bench.world import World

WARM = 5000  # requests that fill the caches
PARTS = 10
GROWTH = 1.05  # the most wanted, as a ratio to the memory after the caches were filled


def measure(service: Service, world: World, number: int, tell: Callable[[int], None]) -> Special:
    """Sends ``number`` requests after :data:`WARM` others; the memory before them, after each tenth, and its ratio."""
    client, visitor = service.client(), Visitor(service)
    mixed = requests(1, world.ids["dcim/devices/"])
    rows = []
    for part in range(PARTS + 1):
        for done, request in enumerate(itertools.islice(mixed, number // PARTS if part else WARM)):
            if request.is_page:
                visitor.send(request.method, request.path)
            else:
                client.call(request.method, request.path, request.body)
            if done % 100 == 0:
                tell(max(part - 1, 0) * number // PARTS + done)
        memory = service.memory()
        first = rows[0]["MiB"] if rows else memory
        kind = f"after {part * number // PARTS:,}" if part else f"warm, after {WARM:,}"
        ratio = round(memory / first, 3)
        errors = [f"{kind}: {ratio} times the memory"] if ratio > GROWTH else []
        rows.append({"kind": kind, "MiB": memory, "ratio": f"{ratio:.3f}", "errors": errors})
    return Special(f"{number:,} requests, peak {service.peak_memory():.0f} MiB", {"requests": rows})
