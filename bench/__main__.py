"""``python -m bench``: starts a service, fills it, measures it and reports."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from bench import browser, hooks, measures, memory, million, mixed, pages, parts, proofs, report, waiting, world
from bench.floor import Floor, Floors, is_measurable
from bench.plans import Plans
from bench.receiver import receiver
from bench.service import Service, analyze, postgresql
from bench.special import Special

STARTS = 3
CLIENTS = 32  # of a mixed load


@dataclasses.dataclass(frozen=True)
class _Wanted:
    """The options that say what is measured."""

    scale: int
    clients: int | None
    seconds: float
    large: bool
    only: str
    only_pages: bool
    minutes: float
    requests: int
    is_mixed: bool
    is_memory: bool
    is_parts: bool
    webhooks: int | None


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--database",
    default="postgresql://postgres@127.0.0.1:5432/",
    show_default=True,
    metavar="URL",
    help="The PostgreSQL server.",
)
@click.option(
    "--queue",
    default="redis://127.0.0.1:6379/8",
    show_default=True,
    metavar="URL",
    help="The Redis database of the worker's queue.",
)
@click.option("--sqlite", is_flag=True, help="Use SQLite, in a temporary folder, for database and queue.")
@click.option(
    "--scale",
    type=click.IntRange(1, world.MAX),
    default=1,
    show_default=True,
    help="How many times 2,000 devices and 20,000 addresses.",
)
@click.option(
    "--clients",
    type=click.IntRange(1),
    help="How many connections ask at once (allocation: always 1, then 8).  [default: 1; with --mixed 32]",
)
@click.option(
    "--seconds", default=2.0, show_default=True, help="How long each request is repeated (10 times at least)."
)
@click.option("--threads", default=4, show_default=True, help="How many threads each process of the service has.")
@click.option(
    "--mixed",
    "is_mixed",
    is_flag=True,
    help="Measure a mixed load, four reads to a write, and prove that no write is lost or doubled.",
)
@click.option("--minutes", default=10.0, show_default=True, help="With --mixed: how long.")
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="With --mixed: how many processes serve the database; each client uses them in turn.",
)
@click.option(
    "--memory",
    "is_memory",
    is_flag=True,
    help="Measure the memory of the process while it answers requests that differ from all before.",
)
@click.option(
    "--requests", type=click.IntRange(100), default=200_000, show_default=True, help="With --memory: how many."
)
@click.option(
    "--parts", "is_parts", is_flag=True, help="Measure what parts in place of Pyramid's are worth (PostgreSQL)."
)
@click.option(
    "--million",
    "large",
    is_flag=True,
    help="Measure the small set, enlarge it to a million addresses, and measure again (PostgreSQL).",
)
@click.option(
    "--keep", default="", metavar="NAME", help="With --million: keep the large set in this database, or use it again."
)
@click.option("--only", default="", metavar="TEXT", help="Measure only the requests whose name contains TEXT.")
@click.option(
    "--pages", "only_pages", is_flag=True, help="Measure only the pages of the web interface, in Chromium too."
)
@click.option(
    "--webhooks",
    type=click.IntRange(1000),
    metavar="NUMBER",
    help="Measure webhooks while NUMBER deliveries wait for a receiver that is down (PostgreSQL).",
)
@click.option("--json", "output", type=click.Path(dir_okay=False, path_type=Path), help="Also write the results here.")
@click.option(
    "--compare",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Print ratios to the results in this file.",
)
def bench(
    database: str,
    queue: str,
    sqlite: bool,
    keep: str,
    threads: int,
    is_mixed: bool,
    is_memory: bool,
    processes: int,
    output: Path | None,
    compare: Path | None,
    **wanted: Any,
) -> None:
    """Measure a netinv service of this benchmark's own.

    Starts one process (waitress) on a database that is made for it and dropped at the end, fills it through bulk POST,
    and measures requests from this machine through one open HTTP connection a client, decoding included. Aims are for
    scale 1, PostgreSQL and one client.

    On PostgreSQL each request is then repeated in this process, without sockets, and its SQL statements through bare
    psycopg, with orjson for its answer: its processor time ("cpu") is printed with that floor, and as a multiple of it.
    """
    found: report.Run | Special
    try:
        other = report.read(compare) if compare else None
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="netinv-bench-")))
            made = million.kept(database, keep) if keep else postgresql(database)
            url = f"sqlite:///{folder}/bench.sqlite" if sqlite else stack.enter_context(made)
            progress = stack.enter_context(_progress())
            queue = f"sqlite:///{folder}/queue.sqlite" if sqlite else queue
            service = Service(folder, url, queue, threads, processes if is_mixed else 1)
            stack.callback(service.stop)
            options = _Wanted(is_mixed=is_mixed, is_memory=is_memory, **wanted)
            try:
                found = _measured(service, progress, options)
            except RuntimeError as error:
                raise RuntimeError(f"{error}\n{service.last_words()}") from None
    except (RuntimeError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    found.show(other)
    if output is not None:
        report.write(found, output)
    if found.is_wrong:
        raise SystemExit(1)


def _measured(service: Service, progress: Progress, options: _Wanted) -> report.Run | Special:
    """Measures what the options say."""
    if options.webhooks is not None:
        tell = functools.partial(progress.update, progress.add_task("starting", total=1))
        return waiting.measure(service, options.webhooks, lambda what: tell(description=what))
    runs = (
        (options.is_mixed, _run_mixed),
        (options.is_memory, _run_memory),
        (options.is_parts, _run_parts),
        (options.large, _run_large),
    )
    run = next((run for is_wanted, run in runs if is_wanted), _run)
    return run(service, progress, options)


def _progress() -> Progress:
    columns = TextColumn("{task.description:45}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _run(service: Service, progress: Progress, options: _Wanted) -> report.Run:
    """Starts, seeds and measures the service."""
    scale, clients, seconds = options.scale, options.clients or 1, options.seconds
    only, only_pages = options.only, options.only_pages
    open_client = service.client
    task = progress.add_task("starting", total=STARTS)
    start = _start(service, progress, task)

    def tell(what: str) -> None:
        progress.update(task, description=what)

    dialect = "SQLite" if service.database.startswith("sqlite") else "PostgreSQL"
    with service.worker():  # numbers the changes, which readers look at one by one until then
        made = _seed(service, progress, task, scale)
        wanted = [item for item in measures.measures(made) if only.lower() in item.name.lower() and not only_pages]
        results = _measure(service, progress, task, wanted, clients, seconds)
        peak = service.peak_memory()
        floors = _floors(service, wanted, seconds, tell) if dialect == "PostgreSQL" else []
    told = hooks.measure(service, open_client(), tell) if "webhook".startswith(only.lower()) and not only_pages else {}
    shown = pages.measure(service, made, tell) if only_pages or "page".startswith(only.lower()) else []
    visited = browser.measure(service, made, tell) if only_pages else []
    return report.Run(dialect, scale, clients, start, peak, made, results, floors, told, shown, visited)


def _floors(
    service: Service, wanted: Sequence[measures.Measure], seconds: float, tell: Callable[[str], None]
) -> list[Floor]:
    """The processor time of the requests in this process, and of their statements alone."""
    logging.getLogger("netinv").setLevel(logging.ERROR)  # a service has its configuration of logging for that
    floors, results = Floors(service.ini, service.database, service.headers), []
    for measure in filter(is_measurable, wanted):
        tell(f"floor: {measure.name}")
        results.append(floors.measure(measure, seconds / 2))
    floors.close()
    return results


def _start(service: Service, progress: Progress, task: TaskID) -> float:
    """Starts the service some times; gives the median of the seconds."""
    starts = []
    for _ in range(STARTS):
        service.stop()
        starts.append(service.start())
        progress.advance(task)
    return statistics.median(starts)


def _seed(service: Service, progress: Progress, task: TaskID, scale: int) -> world.World:
    """Fills the service with the small set."""
    made = world.seed(
        service.client(),
        scale,
        lambda path, done, total: progress.update(task, description=f"seeding {path}", completed=done, total=total),
    )
    analyze(service.database)
    return made


def _measure(
    service: Service,
    progress: Progress,
    task: TaskID,
    wanted: list[measures.Measure],
    clients: int,
    seconds: float,
    *,
    are_numbered: bool = False,
) -> list[measures.Result]:
    """Measures the requests; with ``are_numbered``, each after the change records have their numbers."""
    results = []
    for n, measure in enumerate(wanted):
        progress.update(task, description=measure.name, completed=n, total=len(wanted))
        if are_numbered:
            million.number(service.database)
        results.append(measures.run(measure, service.client, clients, seconds))
    return results


def _run_mixed(service: Service, progress: Progress, options: _Wanted) -> Special:
    """Starts and seeds the service, puts a mixed load on it, and proves what it wrote."""
    clients = options.clients or CLIENTS
    task = progress.add_task("starting", total=1)
    service.start()
    world_made = _seed(service, progress, task, options.scale)
    with receiver() as given, service.worker():
        load = mixed.Load(service, world_made, clients)
        since = proofs.last_change(service.database)
        types = list(mixed.RECORDED)
        told = {"type_create": True, "type_update": True, "type_delete": True}
        body = {"name": mixed.OF_KIND, "content_types": types, "payload_url": given.url, **told}
        service.client().call("POST", "extras/webhooks/", body, expect=201)
        progress.update(task, description=f"{clients} clients for {options.minutes:g} minutes")
        load.run(clients, options.minutes * 60)
        progress.update(task, description="proving")
        found = proofs.prove(load, since, given)
    conditions = f"{len(service.urls)} processes, {clients} clients, {options.minutes:g} minutes"
    return Special(conditions, {"request": load.kinds()}, found)


def _run_memory(service: Service, progress: Progress, options: _Wanted) -> Special:
    """Starts and seeds the service, and measures its memory while it answers requests of endless variety."""
    task = progress.add_task("starting", total=1)
    service.start()
    made = _seed(service, progress, task, options.scale)
    progress.update(task, description="requests that differ", total=options.requests)
    return memory.measure(service, made, options.requests, lambda done: progress.update(task, completed=done))


def _run_parts(service: Service, progress: Progress, options: _Wanted) -> Special:
    """Seeds the service, and measures what its parts in place of Pyramid's are worth."""
    task = progress.add_task("starting", total=1)
    service.start()
    made = _seed(service, progress, task, options.scale)
    service.stop()
    logging.getLogger("netinv").setLevel(logging.ERROR)  # a service has its configuration of logging for that
    return parts.measure(service, made, lambda what: progress.update(task, description=what))


def _run_large(service: Service, progress: Progress, options: _Wanted) -> report.Run:
    """Measures the small set and the large one, or only the large one of a kept database."""
    clients, seconds, only = options.clients or 1, options.seconds, options.only
    task = progress.add_task("starting", total=STARTS)
    known = million.remembered(service.database)
    if known is None:
        start, made = _start(service, progress, task), _seed(service, progress, task, 1)
        million.complete(service.client())
        analyze(service.database)
        both = [*measures.measures(made), *million.measures()]
        results = _measure(service, progress, task, both, clients, seconds, are_numbered=True)
        small = report.Run("PostgreSQL", 1, clients, start, service.peak_memory(), made, results)
        spent = million.enlarge(service.database, lambda what: progress.update(task, description=what))
        known = million.Kept(small.world, small.data())
        known.world.seconds["enlarged"] = spent
        million.remember(service.database, known)
        analyze(service.database)
    start = _start(service, progress, task)
    found = [*measures.measures(known.world), *million.measures(), *million.allocations()]
    wanted = [item for item in found if only.lower() in item.name.lower()]
    results = _measure(service, progress, task, wanted, clients, seconds, are_numbered=True)
    run = report.Run("PostgreSQL", million.SCALE, clients, start, service.peak_memory(), known.world, results)
    run.small = known.small
    plans = Plans(service.ini, service.database, service.headers)
    for measure in wanted:
        progress.update(task, description=f"plans: {measure.name}")
        million.number(service.database)
        run.scans += plans.offenders(measure)
    plans.close()
    return run


if __name__ == "__main__":
    bench(prog_name="python -m bench")
