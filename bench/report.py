"""The results as a table, as JSON, and against those of another run."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.browser import BrowserResult
from bench.floor import Floor
from bench.measures import Result
from bench.pages import PageResult
from bench.plans import Offender
from bench.special import Special
from bench.world import World

UNFOLDED = 120
GROWTH = 1.5  # of a request's time from the small set to the large one, at most
AIMS = {
    "cold start, s": 1.5,
    "peak memory, MiB": 140.0,
    "addresses seeded/s": 2500.0,
    "a webhook adds to a create, %": 10.0,
    "a webhook adds to 1000 in bulk, %": 10.0,
    "deliveries/s": 300.0,
}


@dataclasses.dataclass
class Run:
    """Everything one run of the benchmark found."""

    database: str
    scale: int
    clients: int
    cold_start_s: float
    memory_mib: float
    world: World
    results: list[Result]
    floors: list[Floor] = dataclasses.field(default_factory=list)
    told: dict[str, float] = dataclasses.field(default_factory=dict)
    pages: list[PageResult] = dataclasses.field(default_factory=list)
    visits: list[BrowserResult] = dataclasses.field(default_factory=list)
    scans: list[Offender] = dataclasses.field(default_factory=list)
    small: dict[str, Any] = dataclasses.field(default_factory=dict)  # of a large set: the data of the small one

    @property
    def comparable(self) -> bool:
        """Whether the aims are for such a run."""
        return (self.database, self.scale, self.clients) == ("PostgreSQL", 1, 1)

    @property
    def is_wrong(self) -> bool:
        """True if a request was answered otherwise than expected, or read a large table from end to end."""
        is_answered_wrong = any(result.errors for result in self.results)
        return is_answered_wrong or any(scan.is_sequential for scan in self.scans)

    def show(self, other: dict[str, Any] | None) -> None:
        """Prints the run, beside another one when given."""
        show(self, other)

    def data(self) -> dict[str, Any]:
        """The run as it is kept in a file."""
        return {
            "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "machine": {"system": platform.platform(), "python": platform.python_version(), "cpus": os.cpu_count()},
            "database": self.database,
            "scale": self.scale,
            "clients": self.clients,
            "whole": self.whole(),
            "seeded": {
                path: {"objects": n, "seconds": self.world.seconds[path]} for path, n in self.world.counts().items()
            },
            "measures": {result.name: dataclasses.asdict(result) for result in self.results},
            "floors": {floor.name: floor.data() for floor in self.floors},
            "pages": {result.name: dataclasses.asdict(result) for result in self.pages},
            "small": self.small.get("measures", {}),
            "scans": [dataclasses.asdict(scan) for scan in self.scans],
            "visits": {result.name: dataclasses.asdict(result) for result in self.visits},
        }

    def whole(self) -> dict[str, float]:
        """Figures of the service as a whole; smaller is better, but for what is counted per second."""
        objects, seconds, addresses = (
            sum(self.world.counts().values()),
            sum(self.world.seconds.values()),
            "ipam/ip-addresses/",
        )
        return {
            "cold start, s": self.cold_start_s,
            "peak memory, MiB": self.memory_mib,
            "seeding, s": seconds,
            "objects seeded/s": objects / seconds,
            "addresses seeded/s": self.world.counts()[addresses] / self.world.seconds[addresses],
            **self.told,
        }


def show(run: Run, other: dict[str, Any] | None) -> None:
    """Prints the run, beside another one when given."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=UNFOLDED)
    console.print(f"{_conditions(run.data())}, {sum(run.world.counts().values())} objects")
    if other:
        console.print(f"× {_conditions(other)}, {other['when']}")
    if run.results:
        console.print(_requests(run, other))
    if run.small:
        console.print(_sizes(run))
    if run.floors:
        console.print(_floors(run, other))
    if run.pages:
        console.print(_pages(run, other))
    if run.visits:
        console.print(_visits(run))
    if run.scans:
        console.print(_scans(run))
    console.print(_whole(run, other))
    for result in run.results:
        for error in result.errors[:3]:
            console.print(f"{result.name}: {error}", style="red", markup=False, highlight=False)


def _conditions(data: dict[str, Any]) -> str:
    return f"{data['database']}, scale {data['scale']}, {data['clients']} client{'s' * (data['clients'] > 1)}"


def _requests(run: Run, other: dict[str, Any] | None) -> Table:
    table = Table()
    table.add_column("request", no_wrap=True)
    for name in ("median ms", "p95 ms", "requests/s", "objects/s", "aim ms", *(("median ×", "p95 ×") if other else ())):
        table.add_column(name, justify="right")
    for found in run.results:
        cells = [f"{found.median_ms:.1f}", f"{found.p95_ms:.1f}", f"{found.requests_s:.1f}", f"{found.objects_s:.0f}"]
        cells.append(_aim(found.median_ms, found.aim_ms if run.comparable else None, below=True))
        if other:
            before = other["measures"].get(found.name, {})
            cells += [_ratio(found.median_ms, before.get("median_ms")), _ratio(found.p95_ms, before.get("p95_ms"))]
        table.add_row(found.name, *cells, style="red" if found.errors else "")
    return table


def _sizes(run: Run) -> Table:
    """The best time of each request with the small set and with the large one: a median has more of other load."""
    table, small = Table("request"), run.small["measures"]
    for name in ("small ms", "large ms", "×", "aim ms"):
        table.add_column(name, justify="right")
    for found in run.results:
        before = small.get(found.name, {}).get("best_ms")
        ratio = found.best_ms / before if before else 0.0
        shown = f"[{'green' if ratio <= GROWTH else 'yellow'}]{ratio:.2f}[/]" if before else ""
        cells = [f"{before:.1f}" if before else "", f"{found.best_ms:.1f}", shown]
        table.add_row(found.name, *cells, _aim(found.best_ms, found.aim_ms, below=True))
    return table


def _floors(run: Run, other: dict[str, Any] | None) -> Table:
    """Processor time of each request beside its median time, its floor, and the ratio of the two."""
    table, medians = Table("request in one process"), {result.name: result.median_ms for result in run.results}
    for name in ("median ms", "cpu ms", "floor ms", "SQL", "cpu ÷ floor", "aim", *(("cpu ×",) if other else ())):
        table.add_column(name, justify="right")
    for floor in run.floors:
        cells = [f"{medians[floor.name]:.1f}", f"{floor.cpu_ms:.2f}", f"{floor.floor_ms:.2f}", str(floor.statements)]
        cells += [f"{floor.ratio:.1f}" if floor.ratio else "", _aim(floor.ratio, floor.aim, below=True)]
        before = other.get("floors", {}).get(floor.name, {}) if other else {}
        table.add_row(floor.name, *cells, *([_ratio(floor.cpu_ms, before.get("cpu_ms"))] if other else ()))
    return table


def _pages(run: Run, other: dict[str, Any] | None) -> Table:
    """Processor time of the service for each page, and the size of its HTML."""
    table = Table("page")
    for name in ("best ms", "median ms", "kB", "kB compressed", "aim ms", *(("best ×",) if other else ())):
        table.add_column(name, justify="right")
    for page in run.pages:
        cells = [
            f"{page.best_ms:.1f}",
            f"{page.median_ms:.1f}",
            f"{page.bytes / 1000:.0f}",
            f"{page.compressed / 1000:.1f}",
        ]
        cells.append(_aim(page.median_ms, page.aim_ms if run.comparable else None, below=True))
        before = other.get("pages", {}).get(page.name, {}) if other else {}
        table.add_row(page.name, *cells, *([_ratio(page.best_ms, before.get("best_ms"))] if other else ()))
    return table


def _visits(run: Run) -> Table:
    table = Table("page in Chromium")
    for name in ("LCP ms", "INP ms", "CLS"):
        table.add_column(name, justify="right")
    for visit in run.visits:
        inp = f"{visit.inp_ms:.0f}" if visit.inp_ms else "< 16"
        table.add_row(visit.name, f"{visit.lcp_ms:.0f}", inp, f"{visit.cls:.3f}")
    return table


def _scans(run: Run) -> Table:
    """Scans of large tables: sequential ones, in red, and others that read many rows."""
    table = Table("request", "scan", "table")
    for name in ("rows", "ms"):
        table.add_column(name, justify="right")
    for scan in run.scans:
        table.add_row(
            scan.request,
            scan.scan,
            scan.table,
            str(scan.rows),
            f"{scan.ms:.1f}",
            style="red" if scan.is_sequential else "",
        )
    return table


def _whole(run: Run, other: dict[str, Any] | None) -> Table:
    table = Table("service")
    for name in ("value", "aim", *(("×",) if other else ())):
        table.add_column(name, justify="right")
    for name, value in run.whole().items():
        aim = AIMS.get(name) if run.comparable else None
        cells = [f"{value:.1f}", _aim(value, aim, below=not name.endswith("/s"))]
        table.add_row(name, *cells, *([_ratio(value, other["whole"].get(name))] if other else ()))
    return table


def _aim(value: float, aim: float | None, *, below: bool) -> str:
    if aim is None:
        return ""
    reached = value <= aim if below else value >= aim
    return f"[{'green' if reached else 'yellow'}]{'≤' if below else '≥'} {aim:g}[/]"


def _ratio(value: float, before: float | None) -> str:
    return f"{value / before:.2f}" if before else ""


def write(run: Run | Special, path: Path) -> None:
    """Writes the run as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run.data(), indent=2) + "\n")


def read(path: Path) -> dict[str, Any]:
    """An earlier run.

    :raises ValueError: when the file holds none
    """
    found = json.loads(path.read_text())
    if not isinstance(found, dict) or not {"measures", "whole"} <= found.keys():
        raise ValueError(f"{path} was not written by --json")
    return found
