"""Pages of the web interface: processor time of the service's process, and bytes of the answer, compressed."""

from __future__ import annotations

import dataclasses
import gzip
import http.client
import statistics
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench.service import Service
from bench.world import World

ROUNDS, FEW_ROUNDS, WARM = 40, 5, 3
SELECTED = 1000  # devices of the bulk preview
COLUMNS = "status,device_role,device_type,site,rack,position,tenant,platform,primary_ip4,serial,asset_tag,last_updated"
FORM = "application/x-www-form-urlencoded"
LEVEL = 6  # of gzip, as reverse proxies have it


@dataclasses.dataclass(frozen=True)
class PageResult:
    """Processor time of one page in ms, and the size of its HTML in bytes."""

    name: str
    best_ms: float
    median_ms: float
    bytes: int
    compressed: int
    aim_ms: float | None = None


class Visitor:
    """A signed-in browser without scripts, on one open connection."""

    def __init__(self, service: Service) -> None:
        address = urlsplit(service.url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=600)
        self._headers = {"Accept": "text/html", "Origin": service.url}
        body = urlencode({"username": service.username, "password": service.password, "next": "/"})
        _, cookie = self.send("POST", "/login/", body, expect=303)
        self._headers["Cookie"] = cookie.partition(";")[0]

    def send(self, method: str, path: str, body: str | None = None, *, expect: int = 200) -> tuple[bytes, str]:
        """The body of the answer, and its cookie.

        :raises RuntimeError: when the status is another than expected
        """
        headers = {**self._headers, **({"Content-Type": FORM} if body is not None else {})}
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != expect:
            raise RuntimeError(
                f"{method} {path}: {answer.status} instead of {expect}: {content[:300].decode(errors='replace')}"
            )
        return content, answer.headers.get("Set-Cookie", "")


def processor_time(process: int) -> float:
    """The processor time of all threads of a process, in ms (``/proc/<pid>/task/<tid>/schedstat``, Linux)."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6


def measure(service: Service, world: World, progress: Callable[[str], None]) -> list[PageResult]:
    """Measures the main pages."""
    devices = world.ids["dcim/devices/"]
    device = f"/dcim/devices/{devices[0]}/"
    bulk = urlencode([*(("pk", key) for key in devices[:SELECTED]), ("comments", "changed"), ("_step", "preview")])
    pages: list[tuple[str, str, str | None, float | None]] = [
        ("home", "/", None, None),
        ("devices, 50", "/dcim/devices/", None, 8),
        ("devices, 50 × 12 columns", f"/dcim/devices/?_columns={COLUMNS}", None, 8),
        ("device", device, None, 10),
        ("search", "/search/?q=device-0001", None, 15),
        ("form of a device", f"{device}edit/", None, None),
        (f"preview of {SELECTED} changed devices", "/dcim/devices/edit/?_fields=comments", bulk, 1000),
    ]
    visitor = Visitor(service)
    results = []
    for name, path, body, aim in pages:
        progress(f"page: {name}")
        results.append(_measured(service, visitor, name, path, body, aim))
    return results


def _measured(
    service: Service, visitor: Visitor, name: str, path: str, body: str | None, aim: float | None
) -> PageResult:
    method, rounds = ("GET", ROUNDS) if body is None else ("POST", FEW_ROUNDS)
    times: list[float] = []
    content = b""
    for number in range(WARM + rounds):
        before = processor_time(service.process.pid)
        content, _ = visitor.send(method, path, body)
        if number >= WARM:
            times.append(processor_time(service.process.pid) - before)
    compressed = len(gzip.compress(content, LEVEL))
    return PageResult(name, min(times), statistics.median(times), len(content), compressed, aim)
