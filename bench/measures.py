"""Measures: a table of calls, and the clock around them."""

from __future__ import annotations

import dataclasses
import itertools
import secrets
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.client import Client
from bench.world import World, cable, network

FEWEST, MAX = 10, 1000
READ_RATIO, WRITE_RATIO, BULK_RATIO = 2.0, 2.0, 3.0  # aims, as multiples of the floor


@dataclasses.dataclass(frozen=True)
class Measure:
    """One kind of request: ``call`` makes it with what ``prepare`` made (outside of the clock) and gives the number of
    objects.

    ``aim`` is the median wanted at scale 1 on PostgreSQL with one client, ms; ``ratio`` is the processor time wanted,
    as a multiple of the floor (:mod:`bench.floor`). ``clients`` fixes the number of clients.
    """

    name: str
    call: Callable[[Client, Any], int]
    prepare: Callable[[Client], Any] | None = None
    aim: float | None = None
    clients: int | None = None
    ratio: float | None = None


@dataclasses.dataclass
class Result:
    """Result of one measure: times in ms, rates per second of all clients together."""

    name: str
    clients: int
    requests: int
    median_ms: float
    p95_ms: float
    requests_s: float
    objects_s: float
    errors: list[str]
    aim_ms: float | None = None
    best_ms: float = 0.0


def measures(world: World) -> list[Measure]:
    """Everything that is measured on a world."""
    return [*_reads(world), *_writes(world), *_cables(world), *_allocations()]


def _listing(name: str, path: str, aim: float | None = None) -> Measure:
    return Measure(name, lambda client, _: len(client.call("GET", path)["results"]), aim=aim, ratio=READ_RATIO)


def _reads(world: World) -> list[Measure]:
    devices, deep = world.ids["dcim/devices/"], len(world.ids["ipam/ip-addresses/"]) * 9 // 10
    turn = itertools.cycle(devices)
    wired = itertools.cycle(devices[: len(world.ids["dcim/interfaces/"]) // 10])

    def detail(client: Client, _: Any) -> int:
        return len([client.call("GET", f"dcim/devices/{next(turn)}/")])

    def interfaces(client: Client, _: Any) -> int:
        return len(client.call("GET", f"dcim/interfaces/?device_id={next(wired)}")["results"])

    return [
        Measure("GET a device", detail, aim=2.0, ratio=READ_RATIO),
        _listing("GET devices, 50", "dcim/devices/?limit=50", aim=6),
        _listing("GET devices, 1000 in one page", "dcim/devices/?limit=1000", aim=120),
        _listing("GET devices, brief, 50", "dcim/devices/?brief=1&limit=50"),
        _listing("GET addresses, 50", "ipam/ip-addresses/?limit=50", aim=5),
        _listing("GET addresses, 50, deep offset", f"ipam/ip-addresses/?limit=50&offset={deep}"),
        _listing("GET devices, name__ic", "dcim/devices/?name__ic=CE-001", aim=5),
        _listing("GET devices in a region's tree", "dcim/devices/?region=continent-1"),
        Measure("GET interfaces of a device", interfaces, aim=6, ratio=READ_RATIO),
        _listing("GET addresses in a prefix", f"ipam/ip-addresses/?parent={network(7)}"),
        _listing("GET prefixes that contain an address", "ipam/prefixes/?contains=10.1.20.9"),
        Measure("OPTIONS devices", lambda client, _: len([client.call("OPTIONS", "dcim/devices/")])),
        Measure("GET without a token (403)", lambda client, _: _refused(client)),
        Measure("GET /api/", lambda client, _: len([client.call("GET", "")])),
    ]


def _refused(client: Client) -> int:
    token = client.headers.pop("Authorization")
    try:
        client.call("GET", "dcim/devices/", expect=403)
    finally:
        client.headers["Authorization"] = token
    return 1


def _cables(world: World) -> list[Measure]:
    """In a network of 10,000 cables: to lay some, to follow a path, to connect and take away a trunk that 48 paths
    share.
    """
    numbers, devices, wired = (
        itertools.count(1),
        world.ids["dcim/devices/"],
        itertools.cycle(world.ids["dcim/interfaces/"]),
    )

    drawn = secrets.token_hex(4)  # a kept database has those of other runs

    def free(client: Client, number: int) -> list[str]:
        bodies = [
            {"device": devices[0], "name": f"free {drawn} {next(numbers)}", "type": "1000base-t", "status": "active"}
            for _ in range(number)
        ]
        return [item["id"] for item in client.call("POST", "dcim/interfaces/", bodies, expect=201)]

    def ends(client: Client, number: int) -> list[dict[str, Any]]:
        found = free(client, 2 * number)
        return [cable("interface", a, "interface", b) for a, b in zip(found[::2], found[1::2], strict=True)]

    def lay(client: Client, body: Any) -> int:
        client.call("POST", "dcim/cables/", body, expect=201)
        return len(body) if isinstance(body, list) else 1

    def laid(client: Client) -> list[dict[str, Any]]:
        return [{"id": item["id"]} for item in client.call("POST", "dcim/cables/", ends(client, 100), expect=201)]

    def take(client: Client, body: list[Any]) -> int:
        client.call("DELETE", "dcim/cables/", body, expect=204)
        return len(body)

    def trace(client: Client, _: Any) -> int:
        return len(client.call("GET", f"dcim/interfaces/{next(wired)}/trace/"))

    return [
        _listing("GET cables, 50", "dcim/cables/?limit=50"),
        _listing("GET interfaces with their ends, 50", "dcim/interfaces/?limit=50"),
        Measure("GET a trace through two panels", trace),
        Measure("POST 1 cable", lay, lambda client: ends(client, 1)[0], aim=10),
        Measure("POST 100 cables", lay, lambda client: ends(client, 100)),
        Measure("DELETE 100 cables", take, laid),
        Measure("PATCH the status of a trunk, 48 paths", _switch(world)),
    ]


def _switch(world: World) -> Callable[[Client, Any], int]:
    trunk, states = (
        world.ids["dcim/cables/"][len(world.ids["dcim/front-ports/"])],
        itertools.cycle(["planned", "connected"]),
    )
    return lambda client, _: len([client.call("PATCH", f"dcim/cables/{trunk}/", {"status": next(states)})])


def _writes(world: World) -> list[Measure]:
    numbers, turn = itertools.count(1), itertools.cycle(world.ids["dcim/devices/"])
    prefixes = world.ids["ipam/prefixes/"]

    def bodies(number: int) -> list[dict[str, Any]]:
        taken = [next(numbers) for _ in range(number)]
        return [{"address": f"172.{16 + n // 65536}.{n // 256 % 256}.{n % 256}/12", "status": "active"} for n in taken]

    def create(client: Client, body: Any) -> int:
        client.call("POST", "ipam/ip-addresses/", body, expect=201)
        return len(body) if isinstance(body, list) else 1

    def made(client: Client) -> list[dict[str, Any]]:
        return [{"id": item["id"]} for item in client.call("POST", "ipam/ip-addresses/", bodies(100), expect=201)]

    def delete(client: Client, body: list[Any]) -> int:
        client.call("DELETE", "ipam/ip-addresses/", body, expect=204)
        return len(body)

    def change_one(client: Client, _: Any) -> int:
        return len([client.call("PATCH", f"dcim/devices/{next(turn)}/", {"comments": f"change {next(numbers)}"})])

    def change_many(client: Client, _: Any) -> int:
        text = f"change {next(numbers)}"
        return len(
            client.call("PATCH", "ipam/prefixes/", [{"id": key, "description": text} for key in prefixes[-100:]])
        )

    return [
        Measure("POST 1 address", create, lambda client: bodies(1)[0], aim=4.5, ratio=WRITE_RATIO),
        Measure("POST 100 addresses", create, lambda client: bodies(100), ratio=BULK_RATIO),
        Measure("POST 1000 addresses", create, lambda client: bodies(1000), aim=180, ratio=BULK_RATIO),
        Measure("PATCH a device", change_one, aim=6, ratio=WRITE_RATIO),
        Measure("PATCH 100 prefixes", change_many, ratio=BULK_RATIO),
        Measure("DELETE 100 addresses", delete, made, ratio=BULK_RATIO),
    ]


def _allocations() -> list[Measure]:
    """Each kind allocates from a prefix of its own, and no address may be given twice."""
    found = []
    for block, clients in ((64, 1), (65, 8)):
        found.append(
            Measure(
                f"allocate an address, {clients} client{'s' * (clients > 1)}",
                _allocator(f"100.{block}.0.0/16"),
                clients=clients,
            )
        )
    return found


def _allocator(prefix: str) -> Callable[[Client, Any], int]:
    lock, given, path = threading.Lock(), set[str](), list[str]()

    def allocate(client: Client, _: Any) -> int:
        with lock:
            if not path:
                made = client.call("POST", "ipam/prefixes/", {"prefix": prefix, "status": "active"}, expect=201)
                path.append(f"ipam/prefixes/{made['id']}/available-ips/")
        address = client.call("POST", path[0], {"status": "active"}, expect=201)["address"]
        with lock:
            if address in given:
                raise RuntimeError(f"{address} was given twice")
            given.add(address)
        return 1

    return allocate


def run(measure: Measure, open_client: Callable[[], Client], clients: int, seconds: float) -> Result:
    """Makes the calls of all clients at once, for about ``seconds``, and sums them up."""
    number = measure.clients or clients
    times: list[float] = []
    errors: list[str] = []
    objects = 0
    for answer in _together(measure, [open_client() for _ in range(number)], seconds):
        if isinstance(answer, str):
            errors.append(answer)
        else:
            times.append(answer[0])
            objects += answer[1]
    if not times:
        return Result(measure.name, number, 0, 0, 0, 0, 0, errors, measure.aim)
    spent = sum(times) / number
    p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    middle = statistics.median(times)
    return Result(
        measure.name,
        number,
        len(times),
        middle * 1000,
        p95 * 1000,
        len(times) / spent,
        objects / spent,
        errors,
        measure.aim,
        min(times) * 1000,
    )


def _together(measure: Measure, clients: list[Client], seconds: float) -> Iterator[tuple[float, int] | str]:
    answers: list[tuple[float, int] | str] = []
    start = threading.Barrier(len(clients))
    threads = [threading.Thread(target=_repeat, args=(measure, client, seconds, start, answers)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield from answers


def _repeat(measure: Measure, client: Client, seconds: float, start: threading.Barrier, answers: list[Any]) -> None:
    """One client's calls; the first is for warming up and not counted. Ends at the first error."""
    for n in itertools.count():
        try:
            prepared = measure.prepare(client) if measure.prepare is not None else None
            if n == 1:
                start.wait()
                end = time.perf_counter() + seconds
            began = time.perf_counter()
            objects = measure.call(client, prepared)
            now = time.perf_counter()
        except threading.BrokenBarrierError:
            return  # another client could not begin, and has said why
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
            start.abort()
            return
        if n:
            answers.append((now - began, objects))
            if (n >= FEWEST and now > end) or n >= MAX:
                return
