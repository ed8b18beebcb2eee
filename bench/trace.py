"""``make trace``: functions, files and SQL statements that requests enter, over the demo inventory on SQLite.

A request is made until the caches are filled, and traced then. Functions and files are those of the packages
``netinv_*``, without lambdas, comprehensions and what is for tests. ``make trace TRACE=--document`` writes the files
into docs/architecture.md, which ``tests/test_architecture_walks.py`` compares with the requests.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.metadata
import itertools
import math
import random
import re
import sys
import tempfile
import textwrap
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import click
import webtest
from sqlalchemy import event
from sqlalchemy.engine import Engine

import netinv_core
from bench.receiver import receiver
from netinv_admin import migrate
from netinv_core import packages
from netinv_core.auth import identity
from netinv_core.auth.token_use import TokenUse
from netinv_core.db.engine import engine_from
from netinv_core.driver.sessions import commit
from netinv_core.main import registry_for
from netinv_core.telemetry import metrics
from netinv_core.uow import UnitOfWork
from netinv_demo.generator import load_inventory
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Service
from netinv_web.testing import Browser

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
DEVICES = 220
ROOT = Path(netinv_core.__file__).parents[1]
_entry_points = importlib.metadata.entry_points
_WARM = 2  # requests before the traced ones
_TRACED = 3  # of which the shortest counts: now and then one does something besides
_WIDTH = 118
_FOLDER = 35  # characters of the column of folders
# Prepares a request, and gives the function that makes it.
Request = Callable[[], Callable[[], Any]]


@dataclasses.dataclass(frozen=True)
class Trace:
    """Functions entered by a call, in the order of their first calls, as pairs of file and name; and SQL statements."""

    functions: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the functions, in the order of the first entry."""
        return tuple(dict.fromkeys(file for file, _ in self.functions))

    def by_file(self) -> Mapping[str, list[str]]:
        """The names of the functions by file."""
        found: dict[str, list[str]] = {}
        for file, name in self.functions:
            found.setdefault(file, []).append(name)
        return found


@dataclasses.dataclass(frozen=True)
class Background:
    """A call that works in threads of its own."""

    function: Callable[[], Any]

    def __call__(self) -> Any:
        return self.function()


def traced(call: Callable[[], Any], engine: Engine) -> Trace:
    """The trace of a call in this thread, and in threads that it starts if it is a :class:`Background`."""
    codes: dict[Any, None] = {}
    ended: list[bool] = []
    statements: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.append(statement)

    def profile(frame: Any, kind: str, argument: Any) -> None:
        if kind == "call" and not ended:
            codes.setdefault(frame.f_code)

    event.listen(engine, "before_cursor_execute", note)
    if isinstance(call, Background):
        threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        ended.append(True)
        event.remove(engine, "before_cursor_execute", note)
    functions = ((own_file(code.co_filename), code.co_qualname.replace("<locals>.", "")) for code in codes)
    named = ((file, name) for file, name in functions if file and not name.endswith(">"))
    return Trace(tuple(dict.fromkeys(named)), tuple(statements))


def own_file(name: str) -> str:
    """The path of a module of netinv below the root; blank for other files."""
    path = name.removeprefix(f"{ROOT}/")
    is_own = path.startswith("netinv_") and path.endswith(".py") and "testing/" not in path
    return path if is_own else ""


@contextlib.contextmanager
def demo_service() -> Iterator[Service]:
    """A service with the demo inventory on a SQLite file in a temporary folder, without plugins."""
    built_in = mock.patch.object(importlib.metadata, "entry_points", _built_in)
    with tempfile.TemporaryDirectory() as folder, built_in:
        engine = engine_from(f"sqlite:///{folder}/netinv.sqlite")
        migrate.upgrade(engine, registry_for(engine.dialect.name, {}))
        service = Service(engine, {"netinv.media_root": f"{folder}/media", "netinv.webhook_allow": "127.0.0.0/8"})
        fill(service)
        yield service
        engine.dispose()


def _built_in(**selection: str) -> importlib.metadata.EntryPoints:
    """The entry points of libraries, and of netinv those of the packages of the repository."""
    return importlib.metadata.EntryPoints(
        entry
        for entry in _entry_points(**selection)
        if entry.group != packages.ENTRY_POINTS or (ROOT / entry.module.partition(".")[0]).is_dir()
    )


def fill(service: Service) -> None:
    """Loads the demo inventory, with the same ids each time, in whose order rows are read."""
    numbers = random.Random(1)
    with service.app.registry.netinv_sessions() as session:
        uow = UnitOfWork(service.registry, session, identity.ANONYMOUS, writing=True)
        uow.identity = identity.by_username(uow, service.admin.username)
        with mock.patch.object(uuid, "uuid4", lambda: uuid.UUID(int=numbers.getrandbits(128), version=4)):
            load_inventory(uow, lambda line: None, devices=DEVICES)
        commit(session)


def requests_of(service: Service, receiver_url: str) -> Mapping[str, Request]:
    """The requests that are traced, by name, and a delivery. Each writes other values than the one before."""
    headers = {"HTTP_AUTHORIZATION": f"Token {service.admin.token}", "HTTP_ACCEPT": "application/json; version=1.6"}
    client = webtest.TestApp(service.app, lint=False, extra_environ=headers)
    browser, numbers = Browser(service, service.admin), itertools.count()
    keys = [device["id"] for device in service.api.get("/api/dcim/devices/", {"limit": 3})["results"]]

    def patch() -> Callable[[], Any]:
        bodies = [{"id": key, "comments": f"Note {next(numbers)}"} for key in keys]
        return functools.partial(client.patch_json, "/api/dcim/devices/", bodies)

    def submit() -> Callable[[], Any]:
        form = browser.get(f"/dcim/devices/{keys[0]}/edit/").form()
        form["comments"] = f"Note {next(numbers)}"
        return functools.partial(form.submit)

    hook = {"name": "traced", "content_types": ["tenancy.tenantgroup"], "type_create": True}
    service.api.post("/api/extras/webhooks/", {**hook, "payload_url": receiver_url})

    def delivery() -> Callable[[], Any]:
        service.api.post("/api/tenancy/tenant-groups/", {"name": f"Group {next(numbers)}"})
        return Background(lambda: deliver_now(service.engine, service.registry, 60))

    def get(client: webtest.TestApp, path: str) -> Request:
        return lambda: functools.partial(client.get, path)

    return {
        "GET one device": get(client, f"/api/dcim/devices/{keys[0]}/"),
        "GET list name__ic, 50": get(client, "/api/dcim/devices/?name__ic=a&limit=50"),
        "PATCH 3 devices": patch,
        "page: list": get(browser, "/dcim/devices/"),
        "page: object": get(browser, f"/dcim/devices/{keys[0]}/"),
        "page: form submit": submit,
        "delivery": delivery,
    }


def trace_of(request: Request, service: Service) -> Trace:
    """The trace of a request that was made before."""
    for _ in range(_WARM):
        request()()
    TokenUse.of_process(service.engine, service.registry).wait(60)
    with mock.patch.object(metrics, "SAMPLE_INTERVAL", math.inf):  # a slow machine would sample after each request
        return min((traced(request(), service.engine) for _ in range(_TRACED)), key=lambda trace: len(trace.functions))


def described(trace: Trace) -> str:
    """The files in the order of the first entry: lines of a folder and the modules in it."""
    lines = []
    for folder, paths in itertools.groupby(map(Path, trace.files), key=lambda path: path.parent):
        names = " ".join(path.stem for path in paths)
        indent = " " * _FOLDER
        lines += textwrap.wrap(f"{folder}/".ljust(_FOLDER) + names, _WIDTH, subsequent_indent=indent)
    return "\n".join(lines)


def files_in(block: str) -> list[str]:
    """The files of a block of :func:`described`."""
    files: list[str] = []
    folder = ""
    for line in block.splitlines():
        for word in line.split():
            if word.endswith("/"):
                folder = word
            else:
                files.append(f"{folder}{word}.py")
    return files


def document(name: str, trace: Trace) -> None:
    """Writes the files of a request into its block of the page."""
    page = PAGE.read_text()
    PAGE.write_text(block_of(name).sub(lambda match: f"{match[1]}{described(trace)}\n{match[3]}", page))


def block_of(name: str) -> re.Pattern[str]:
    """The block with the files of a request in the page: the second group."""
    return re.compile(rf"(<!-- walk: {re.escape(name)} -->\n\n```\n)(.*?)(```\n)", re.DOTALL)


def report(name: str, trace: Trace) -> str:
    """The functions by file."""
    lines = [f"\n{name}", *(f"  {file}  {' '.join(names)}" for file, names in trace.by_file().items())]
    return "\n".join(lines)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--functions", is_flag=True, help="List the functions by file, in the order of the first call.")
@click.option("--statements", is_flag=True, help="List the SQL statements.")
@click.option("--document", "is_written", is_flag=True, help="Write the files into docs/architecture.md.")
@click.option("--only", default="", metavar="TEXT", help="Only requests with this text in their name.")
def main(functions: bool, statements: bool, is_written: bool, only: str) -> None:
    """Trace requests over the demo inventory: own functions, files and SQL statements."""
    with demo_service() as service, receiver() as given:
        for name, request in requests_of(service, given.url).items():
            if only not in name:
                continue
            trace = trace_of(request, service)
            entered = f"{len(trace.functions):4} functions {len(trace.files):4} files"
            click.echo(f"{name:24} {entered} {len(trace.statements):3} statements")
            if functions:
                click.echo(report(name, trace))
            if statements:
                click.echo("\n".join(f"  {text}" for text in trace.statements))
            if is_written:
                document(name, trace)


if __name__ == "__main__":
    main()
