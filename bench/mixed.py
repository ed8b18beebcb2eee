"""A mixed load: many clients, several processes, reads and writes at once; times by kind, and proof that nothing was
lost.

Each client has a connection to each process and uses them in turn. Four of five requests read.
"""

from __future__ import annotations

import collections
import itertools
import random
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from bench.client import Client
from bench.service import Service
from bench.world import BLOCKS, PREFIXES, World, cable, network

COUNTERS = 8  # devices whose comments are counters
POOL = "100.66.0.0/16"  # addresses are allocated from it
OF_KIND = "mixed"  # the name of the webhook and of what the load makes
RECORDED = ("dcim.cable", "dcim.device", "ipam.ipaddress")  # what the load changes


class Load:
    """State that all clients share: their objects, the times of their requests, and their writes."""

    def __init__(self, service: Service, world: World, clients: int) -> None:
        self.service, self.world = service, world
        self.lock = threading.Lock()
        self.times: dict[str, list[float]] = collections.defaultdict(list)
        self.errors: dict[str, list[str]] = collections.defaultdict(list)
        self.written: collections.Counter[tuple[str, str]] = collections.Counter()  # by object and action
        self.allocated: list[str] = []
        self.counters = world.ids["dcim/devices/"][:COUNTERS]
        self.end = 0.0
        client = service.client()
        for device in self.counters:
            client.call("PATCH", f"dcim/devices/{device}/", {"comments": "0"})
        pool = client.call("POST", "ipam/prefixes/", {"prefix": POOL, "status": "active"}, expect=201)["id"]
        self.pool = f"ipam/prefixes/{pool}/available-ips/"
        owner = world.ids["dcim/devices/"][-1]
        bodies = [
            {"device": owner, "name": f"{OF_KIND} {number}", "type": "1000base-t", "status": "active"}
            for number in range(2 * clients)
        ]
        self.interfaces = [item["id"] for item in client.call("POST", "dcim/interfaces/", bodies, expect=201)]

    def run(self, clients: int, seconds: float) -> None:
        """Has all clients work for some seconds."""
        self.end = time.perf_counter() + seconds
        threads = [threading.Thread(target=_Visitor(self, number).work) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def kinds(self) -> list[dict[str, Any]]:
        """Figures of each kind of request, ms."""
        return [_figures(kind, times, self.errors[kind]) for kind, times in sorted(self.times.items())]


def _figures(kind: str, times: Sequence[float], errors: Sequence[str]) -> dict[str, Any]:
    found = [1000 * seconds for seconds in times]
    cuts = statistics.quantiles(found, n=100, method="inclusive") if len(found) > 1 else found * 99
    middle = statistics.median(found)
    return {
        "kind": kind,
        "requests": len(found),
        "median_ms": middle,
        "p95_ms": cuts[94],
        "p99_ms": cuts[98],
        "p99_to_median": cuts[98] / middle,
        "slowest_ms": max(found),
        "errors": list(errors),
    }


class _Visitor:
    """One client."""

    def __init__(self, load: Load, number: int) -> None:
        self._load, self._number = load, number
        self._random = random.Random(number)
        processes = len(load.service.urls)
        self._connections = itertools.cycle([load.service.client((number + n) % processes) for n in range(processes)])
        self._ends = load.interfaces[2 * number : 2 * number + 2]
        self._made: list[str] = []  # addresses to delete
        self._cable = ""
        self._numbers = itertools.count(1)
        reads: list[tuple[int, Callable[[], None]]] = [
            (25, lambda: self._read("GET a device", f"dcim/devices/{self._any('dcim/devices/')}/")),
            (10, lambda: self._read("GET an address", f"ipam/ip-addresses/{self._any('ipam/ip-addresses/')}/")),
            (10, lambda: self._read("GET devices, 50", f"dcim/devices/?limit=50&offset={self._upto(1000)}")),
            (10, self._read_interfaces),
            (8, lambda: self._read("GET addresses in a prefix", f"ipam/ip-addresses/?parent={self._network()}")),
            (7, lambda: self._read("GET devices, search", f"dcim/devices/?q=device-{self._upto(199):03}")),
            (5, lambda: self._read("GET the change log, 50", "extras/object-changes/?limit=50")),
            (5, self._read_changes),
        ]
        writes = [(5, self._create), (4, self._delete), (5, self._count), (4, self._allocate), (2, self._wire)]
        self._weights, self._actions = zip(*reads, *writes, strict=True)

    def work(self) -> None:
        """Makes requests until the time is over."""
        while time.perf_counter() < self._load.end:
            (action,) = self._random.choices(self._actions, self._weights)
            action()

    def _ask(
        self, kind: str, method: str, path: str, body: Any = None, *, expect: int = 200, **headers: str
    ) -> tuple[int, str, Any]:
        """Makes one request and notes its time, and as an error another status than expected or 412."""
        client: Client = next(self._connections)
        began = time.perf_counter()
        try:
            status, tag, found = client.ask(method, path, body, **headers)
        except Exception as error:
            status, tag, found = 0, "", repr(error).encode()
        taken = time.perf_counter() - began
        refused = status == 412 and "if_match" in headers
        with self._load.lock:
            self._load.times[f"{kind}, 412" if refused else kind].append(taken)
            if status != expect and not refused:
                self._load.errors[kind].append(f"{status} {found[:300].decode(errors='replace')}")
        return status, tag, orjson.loads(found) if found and status else None

    def _note(self, key: str, action: str) -> None:
        with self._load.lock:
            self._load.written[key, action] += 1

    def _upto(self, most: int) -> int:
        return self._random.randint(0, most)

    def _any(self, path: str) -> str:
        return self._random.choice(self._load.world.ids[path])

    def _network(self) -> str:
        return network(self._upto(BLOCKS * PREFIXES - 1))

    # -- reads

    def _read(self, kind: str, path: str) -> None:
        self._ask(kind, "GET", path)

    def _read_interfaces(self) -> None:
        self._read("GET interfaces of a device", f"dcim/interfaces/?device_id={self._any('dcim/devices/')}")

    def _read_changes(self) -> None:
        key = self._random.choice(self._load.counters)
        self._read("GET changes of an object", f"extras/object-changes/?changed_object_id={key}&limit=20")

    # -- writes

    def _create(self) -> None:
        number = next(self._numbers)
        address = f"172.{16 + self._number // 8}.{self._number % 8 * 32 + number // 256}.{number % 256}/12"
        status, _, made = self._ask(
            "POST an address", "POST", "ipam/ip-addresses/", {"address": address, "status": "active"}, expect=201
        )
        if status == 201:
            self._made.append(made["id"])
            self._note(made["id"], "create")

    def _delete(self) -> None:
        if not self._made:
            return self._create()
        key = self._made.pop()
        status, _, _ = self._ask("DELETE an address", "DELETE", f"ipam/ip-addresses/{key}/", expect=204)
        if status == 204:
            self._note(key, "delete")
        return None

    def _count(self) -> None:
        """Adds one to a counter, with If-Match, until it succeeds."""
        key = self._random.choice(self._load.counters)
        path = f"dcim/devices/{key}/"
        status, tag, found = self._ask("GET a counter", "GET", path)
        while status in (200, 412):
            value = {"comments": str(int(found["comments"]) + 1)}
            status, tag, found = self._ask("PATCH a counter, If-Match", "PATCH", path, value, if_match=tag)
            if status == 200:
                self._note(key, "update")
                return
            found = (found or {}).get("current")

    def _allocate(self) -> None:
        status, _, made = self._ask("allocate an address", "POST", self._load.pool, {"status": "active"}, expect=201)
        if status == 201:
            self._note(made["id"], "create")
            with self._load.lock:
                self._load.allocated.append(made["address"])

    def _wire(self) -> None:
        """Lays a cable between the two interfaces of this client, or takes it away."""
        if self._cable:
            key, self._cable = self._cable, ""
            status, _, _ = self._ask("DELETE a cable", "DELETE", f"dcim/cables/{key}/", expect=204)
            if status == 204:
                self._note(key, "delete")
            return
        body = cable("interface", self._ends[0], "interface", self._ends[1])
        status, _, made = self._ask("POST a cable", "POST", "dcim/cables/", body, expect=201)
        if status == 201:
            self._cable = made["id"]
            self._note(made["id"], "create")
