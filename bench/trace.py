"""``make trace``: functions, files and SQL statements that requests enter, over the demo inventory on SQLite.

A request is made three times, so that caches are filled, and traced at the last one. Functions and files are those of
the packages ``netinv_*``, without lambdas and comprehensions.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import webtest
from sqlalchemy import event
from sqlalchemy.engine import Engine

import netinv_core
from netinv_core.auth import identity
from netinv_core.db import migrate
from netinv_core.db.engine import engine_from
from netinv_core.main import registry_for
from netinv_core.uow import UnitOfWork
from netinv_demo.generator import load_inventory
from netinv_testing import Service
from netinv_web.testing import Browser

DEVICES = 220
ROOT = Path(netinv_core.__file__).parents[1]
_WARM = 2  # requests before the traced one
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


def traced(call: Callable[[], Any], engine: Engine) -> Trace:
    """The trace of a call in this thread."""
    codes: dict[Any, None] = {}
    statements: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.append(statement)

    def profile(frame: Any, kind: str, argument: Any) -> None:
        if kind == "call":
            codes.setdefault(frame.f_code)

    event.listen(engine, "before_cursor_execute", note)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        event.remove(engine, "before_cursor_execute", note)
    functions = ((own_file(code.co_filename), code.co_qualname.replace("<locals>.", "")) for code in codes)
    named = ((file, name) for file, name in functions if file and not name.endswith(">"))
    return Trace(tuple(dict.fromkeys(named)), tuple(statements))


def own_file(name: str) -> str:
    """The path of a module of netinv below the root; blank for other files."""
    path = name.removeprefix(f"{ROOT}/")
    return path if path != name and path.startswith("netinv_") and path.endswith(".py") else ""


@contextlib.contextmanager
def demo_service() -> Iterator[Service]:
    """A service with the demo inventory on a SQLite file in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        engine = engine_from(f"sqlite:///{folder}/netinv.sqlite")
        migrate.upgrade(engine, registry_for(engine.dialect.name, {}))
        service = Service(engine, {"netinv.media_root": f"{folder}/media"})
        fill(service)
        yield service
        engine.dispose()


def fill(service: Service) -> None:
    """Loads the demo inventory."""
    with service.app.registry.netinv_sessions() as session:
        uow = UnitOfWork(service.registry, session, identity.ANONYMOUS, writing=True)
        uow.identity = identity.by_username(uow, service.admin.username)
        load_inventory(uow, lambda line: None, devices=DEVICES)
        session.commit()


def requests_of(service: Service) -> Mapping[str, Request]:
    """The requests that are traced, by name. Each writes other values than the one before."""
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

    def get(client: webtest.TestApp, path: str) -> Request:
        return lambda: functools.partial(client.get, path)

    return {
        "GET one device": get(client, f"/api/dcim/devices/{keys[0]}/"),
        "GET list name__ic, 50": get(client, "/api/dcim/devices/?name__ic=a&limit=50"),
        "PATCH 3 devices": patch,
        "page: list": get(browser, "/dcim/devices/"),
        "page: object": get(browser, f"/dcim/devices/{keys[0]}/"),
        "page: form submit": submit,
    }


def trace_of(request: Request, engine: Engine) -> Trace:
    """The trace of a request that was made before."""
    for _ in range(_WARM):
        request()()
    return traced(request(), engine)


def report(name: str, trace: Trace) -> str:
    """The functions by file."""
    lines = [f"\n{name}", *(f"  {file}  {' '.join(names)}" for file, names in trace.by_file().items())]
    return "\n".join(lines)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--functions", is_flag=True, help="List the functions by file, in the order of the first call.")
@click.option("--statements", is_flag=True, help="List the SQL statements.")
@click.option("--only", default="", metavar="TEXT", help="Only requests with this text in their name.")
def main(functions: bool, statements: bool, only: str) -> None:
    """Trace requests over the demo inventory: own functions, files and SQL statements."""
    with demo_service() as service:
        for name, request in requests_of(service).items():
            if only not in name:
                continue
            trace = trace_of(request, service.engine)
            numbers = (
                f"{len(trace.functions):4} functions {len(trace.files):4} files {len(trace.statements):3} statements"
            )
            click.echo(f"{name:24} {numbers}")
            if functions:
                click.echo(report(name, trace))
            if statements:
                click.echo("\n".join(f"  {text}" for text in trace.statements))


if __name__ == "__main__":
    main()
