"""The service under test, on a database of its own for each pytest process.

``NETINV_TEST_DATABASE`` names the server (``postgresql://postgres@127.0.0.1/postgres``, ``mysql://root@127.0.0.1/test``);
without it tests run on a SQLite file. Tests share the database and use names that nothing else has, so nothing is cleaned.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import argon2
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine, make_url

pytest.register_assert_rewrite("netinv_core.contract")

from netinv_core import migrating  # noqa: E402
from netinv_core.auth import keys  # noqa: E402
from netinv_core.contract import Api, Service, Unique  # noqa: E402
from netinv_core.contract.samples import Samples  # noqa: E402
from netinv_core.database import engine_from  # noqa: E402
from netinv_core.service import registry_for  # noqa: E402
from netinv_extras import installed_jobs  # noqa: E402

keys._hasher = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)  # tests make hundreds of users
JOBS = {"netinv.jobs_root": str(Path(__file__).parent / "local_jobs")}
SERVER = os.environ.get("NETINV_TEST_DATABASE", "")


@contextlib.contextmanager
def empty_database(folder: Any) -> Iterator[Engine]:
    """A new database without tables, gone afterwards."""
    if not SERVER:
        engine = engine_from(f"sqlite:///{folder / 'netinv.sqlite'}")
        yield engine
        engine.dispose()
        return
    name = f"netinv_test_{uuid.uuid4().hex[:12]}"
    server = engine_from(SERVER, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine = engine_from(make_url(SERVER).set(database=name).render_as_string(hide_password=False))
    try:
        yield engine
    finally:
        engine.dispose()
        whoever = " WITH (FORCE)" if server.dialect.name == "postgresql" else ""  # a process that ends may still be connected
        with server.connect() as connection:
            connection.execute(sa.text(f"DROP DATABASE {name}{whoever}"))
        server.dispose()


def queue_in(folder: Path) -> str:
    """Where the tasks of this pytest process wait: a Redis database of its own, counted from the one that ``NETINV_TEST_QUEUE`` names, or a file.

    With a common one, the worker of one process would take the tasks of another, and do them on its own database.
    """
    named = os.environ.get("NETINV_TEST_QUEUE")
    if not named:
        return f"sqlite:///{folder / f'queue-{uuid.uuid4().hex[:6]}.sqlite'}"
    server, _, first = named.rpartition("/")
    return f"{server}/{int(first) + int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw'))}"


def migrate(engine: Engine) -> None:
    """The tables and rows a service starts with."""
    migrating.upgrade(engine, registry_for(engine.dialect.name, {}))


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A migrated database."""
    with empty_database(tmp_path_factory.mktemp("database")) as found:
        migrate(found)
        yield found


@pytest.fixture(scope="session")
def service(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The service, with an administrator."""
    found = Service(engine, {**JOBS, "netinv.media_root": str(tmp_path_factory.mktemp("media"))})
    if "dcim.rackreservation" in found.registry.endpoints:  # always its maker's
        found.registry["dcim.rackreservation"].resource.example["user"] = found.admin.id
    tell_of_tags(found)
    ask_for_jobs(found)
    return found


def ask_for_jobs(service: Service) -> None:
    """Has some results, log entries and schedules of jobs there, done with: nobody makes them but the service."""
    with service.context() as context:
        installed_jobs.refresh(context)
    (job,) = service.api.get("/api/extras/jobs/", {"job_class_name": "MakeSites"})["results"]
    service.api.patch(job["url"], {"enabled": True})
    for label, receiver in (("extras.jobhook", "Watcher"), ("extras.jobbutton", "Marker")):
        (found,) = service.api.get("/api/extras/jobs/", {"job_class_name": receiver})["results"]
        service.registry[label].resource.example["job"] = found["id"]
    later = {"name": "Later", "interval": "future", "start_time": "2050-01-01T00:00:00Z"}
    for _ in range(5):
        service.api.post(f"{job['url']}run/", {"data": {"word": "w"}})
        service.api.post(f"{job['url']}run/", {"data": {"word": "w"}, "schedule": later})
    results, entries = (service.registry[label].table for label in ("extras.jobresult", "extras.joblogentry"))
    with service.context() as context:
        key = context.execute(sa.select(results.c.id).limit(1)).scalar()
        context.write(sa.update(results).values(status="completed", completed=context.now))
        said = {"job_result_id": key, "grouping": "run", "log_level": "info", "created": context.now}
        context.write(sa.insert(entries), [{"id": uuid.uuid4(), "message": str(n), "position": n, **said} for n in range(5)])


def tell_of_tags(service: Service) -> None:
    """Has some deliveries there, done with: nobody makes them but the service."""
    told = {"name": service.unique(), "content_types": ["extras.tag"], "type_create": True, "payload_url": "http://receiver.example.com/"}
    webhook = service.api.post("/api/extras/webhooks/", told)
    Samples(service.api, service.registry, service.unique).make_many(service.registry["extras.tag"], 5)
    service.api.patch(webhook["url"], {"enabled": False})
    table = service.registry["extras.webhookdelivery"].table
    with service.context() as context:
        context.write(sa.update(table).values(state="succeeded", finished=context.now))


@pytest.fixture(scope="session")
def sending_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on a database of its own, so that nobody else's webhooks are in its outbox; it may send to this machine.

    Receivers have so much time that none is too slow on a busy machine; tests of those that do not answer set less (``impatient``).
    """
    settings = {"allow": "127.0.0.0/8", "connect_timeout": "60", "read_timeout": "60", "total_timeout": "60", "threads": "16"}
    with empty_database(tmp_path_factory.mktemp("outbox")) as found:
        migrate(found)
        yield Service(found, {f"netinv.webhook_{name}": value for name, value in settings.items()})


@pytest.fixture
def api(service: Service) -> Api:
    """An administrator's client."""
    return service.api


@pytest.fixture
def anonymous(service: Service) -> Api:
    """A client without credentials."""
    return service.anonymous


@pytest.fixture
def make_user(service: Service) -> Any:
    """``make_user((actions, labels[, constraints]), …)``: an account with a token; see :meth:`Service.user`."""
    return service.user


@pytest.fixture
def unique(service: Service) -> Unique:
    """``unique()``: a word that nothing else has."""
    return service.unique


@pytest.fixture
def statements(service: Service) -> Any:
    """``with statements() as found``: the SQL statements of the block."""
    return service.statements


@pytest.fixture
def configured(service: Service) -> Any:
    """``with configured(max_page_size=10)``: other settings for the block."""
    return service.configured


@pytest.fixture
def make(api: Api, unique: Unique) -> Any:
    """``make(path, …)``: a new object, with a name and a slug of its own."""

    def post(path: str, **fields: Any) -> Any:
        name = unique()
        return api.post(path, {"name": name, "slug": name, **fields})

    return post
