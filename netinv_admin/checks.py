"""Self-check of an installation: settings, database, secret, queue, folders, clock and workers.

Each check returns findings in words, with a remedy for what is not in order. Packages add theirs with the hook
``netinv_checks``.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, make_url

from netinv_core.auth import stored_secrets
from netinv_core.auth.models import User
from netinv_core.db import availability, revisions, start_check, text_indexes
from netinv_core.db.engine import db_now, is_pooled
from netinv_core.db.replicas import FOREIGN, PROMOTED, UP, replicas_for
from netinv_core.db.replicas import INTERVAL as PROBE_INTERVAL
from netinv_core.findings import OK, PROBLEM, WARNING, Finding, folder
from netinv_core.models.base import now, table_of
from netinv_core.models.types import utc
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers
from netinv_core.types import Registry

MAX_CLOCK_DIFFERENCE = datetime.timedelta(seconds=2)
TESTED = {"postgresql": (15,), "mariadb": (10, 11)}  # releases that the tests run on


def database(engine: Engine, registry: Registry, ini: str) -> Iterator[Finding]:
    """Checks all that needs the database; when it cannot be reached, that is the only finding."""
    name, file = engine.url.render_as_string(), engine.url.database
    if engine.dialect.name == "sqlite" and file and not Path(file).is_file():  # a connection would create it
        yield Finding("database", PROBLEM, f"there is no file {file}", f"run `{start_check.command(ini)} migrate`")
        return
    try:
        with engine.connect() as connection:
            yield Finding("database", OK, f"{name} can be reached")
            yield version(connection)
            migrated = list(migrations(engine, registry, ini))
            yield from migrated
            if all(finding.level == OK for finding in migrated):
                yield from _contents(connection, registry, ini)
    except sa.exc.SQLAlchemyError as error:
        remedy = "start the database, or correct netinv.database_url"
        yield Finding("database", PROBLEM, f"{name} cannot be used: {availability.reason(error)}", remedy)


def _contents(connection: Connection, registry: Registry, ini: str) -> Iterator[Finding]:
    """Checks of a migrated database."""
    yield secret(connection, registry.settings.get("secret", ""), ini)
    yield clock(connection, registry.dialect)
    if is_pooled(connection.engine.url):
        yield pooled_timeout(connection)
    yield worker_processes(connection, registry.settings)
    yield superuser(connection, ini)
    yield searches(connection, registry, ini)


def version(connection: Connection) -> Finding:
    """Checks that the release of the database is one that the tests run on."""
    dialect: Any = connection.dialect
    kind = "mariadb" if getattr(dialect, "is_mariadb", False) else dialect.name
    release = dialect.server_version_info or ()
    text, tested = f"{kind} {'.'.join(map(str, release[:3]))}", TESTED.get(kind, ())
    if kind != "sqlite" and (not tested or release[: len(tested)] != tested):
        remedy = "use a tested release: " + ", ".join(f"{k} {'.'.join(map(str, v))}" for k, v in TESTED.items())
        return Finding("database version", WARNING, f"netinv is not tested on {text}", remedy)
    return Finding("database version", OK, text)


def migrations(engine: Engine, registry: Registry, ini: str) -> Iterator[Finding]:
    """Checks that the database has the migrations of the installed packages, and no others."""
    found, name = revisions.revisions(engine, registry), engine.url.render_as_string()
    if found.unknown:
        message, _, remedy = start_check.newer(name, found.unknown).partition("; ")
        yield Finding("migrations", PROBLEM, message, remedy)
    if found.missing:
        message = start_check.lacking(name, found.missing)
        yield Finding("migrations", PROBLEM, message, f"run `{start_check.command(ini)} migrate`")
    if not found.unknown and not found.missing:
        yield Finding("migrations", OK, "the database has all migrations of the installed packages")


def secret(connection: Connection, value: str, ini: str) -> Finding:
    """Checks that ``netinv.secret`` decrypts the stored values."""
    found = stored_secrets.readability(connection, value)
    if found.is_other_secret:
        return Finding("secret", PROBLEM, start_check.other_secret(found), start_check.secret_remedy(ini))
    if found.unreadable:
        message = f"netinv.secret does not decrypt some values of {', '.join(found.columns)}"
        return Finding("secret", PROBLEM, message, start_check.secret_remedy(ini))
    return Finding("secret", OK, "netinv.secret decrypts what is stored")


def pooled_timeout(connection: Connection) -> Finding:
    """Checks that the pooler of the database sets a statement timeout, as netinv cannot do so through it."""
    timeout = connection.exec_driver_sql("SHOW statement_timeout").scalar_one()
    if timeout == "0":
        remedy = "set it for the pooler's connections (deploy/pgbouncer), or for the account (ALTER ROLE)"
        return Finding("pooler", WARNING, "netinv.statement_timeout does not pass the pooler; there is none", remedy)
    return Finding("pooler", OK, f"statements through the pooler end after {timeout}")


def clock(connection: Connection, dialect: str) -> Finding:
    """Compares the clocks of the database and of this machine; on SQLite they are one."""
    stored = connection.execute(sa.select(db_now(dialect))).scalar_one()
    difference = utc(stored) - now() if isinstance(stored, datetime.datetime) else datetime.timedelta()
    if abs(difference) > MAX_CLOCK_DIFFERENCE:
        message = f"the clock of the database differs from this machine's by {abs(difference).total_seconds():.0f} s"
        return Finding("clock", WARNING, message, "synchronize the clocks (NTP): leases and schedules depend on them")
    return Finding("clock", OK, "the clocks of the database and of this machine agree")


def worker_processes(connection: Connection, settings: Mapping[str, Any]) -> Finding:
    """Checks that a worker wrote its heartbeat lately."""
    alive = workers.summary(connection)[0]
    if alive:
        return Finding("workers", OK, f"{alive} running")
    if settings["embedded_worker"]:
        return Finding("workers", WARNING, "no worker is running", "start the service, which has one")
    return Finding("workers", WARNING, "no worker is running", "start `netinv worker`, or set netinv.embedded_worker")


def searches(connection: Connection, registry: Registry, ini: str) -> Finding:
    """Checks that PostgreSQL has the indexes for texts that contain another."""
    absent = text_indexes.missing(connection, registry)
    if absent:
        remedy = (
            f"run `CREATE EXTENSION {text_indexes.EXTENSION}` as its owner, then `{start_check.command(ini)} migrate`"
        )
        return Finding("text indexes", WARNING, f"searches read whole tables without {', '.join(absent)}", remedy)
    return Finding("text indexes", OK, "those of this database are there")


def superuser(connection: Connection, ini: str) -> Finding:
    """Checks that there is an active superuser."""
    users = table_of(User)
    found = sa.select(users.c.id).where(users.c.is_superuser.is_(True), users.c.is_active.is_(True)).limit(1)
    if connection.execute(found).first() is None:
        remedy = f"run `{start_check.command(ini)} user create NAME --superuser`"
        return Finding("accounts", WARNING, "there is no active superuser", remedy)
    return Finding("accounts", OK, "there is an active superuser")


def queue(settings: Mapping[str, Any]) -> Finding:
    """Checks that the queue can be reached."""
    url = settings["queue_url"]
    if not url:
        message = "netinv.queue_url is empty: no worker runs webhooks, jobs and upkeep"
        return Finding("queue", WARNING, message, "set netinv.queue_url to redis://… or sqlite:///…")
    try:
        name = make_url(url).render_as_string()
        waiting = task_queue.queue(url).pending_count()
    except Exception as error:  # errors of the queue, of any kind
        message = f"netinv.queue_url cannot be used: {' '.join(str(error).split())}"
        return Finding("queue", PROBLEM, message, "start the queue, or correct netinv.queue_url")
    return Finding("queue", OK, f"{name} can be reached; {waiting} messages wait")


def replicas(engine: Engine, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Checks that read replicas can be used; one that is behind is probed twice, which measures its lag."""
    try:
        found = replicas_for(engine, settings)
    except ValueError as error:
        yield Finding("replicas", PROBLEM, str(error), "correct netinv.database_read_urls")
        return
    for replica in found.all if found else ():
        status = replica.probe()
        if replica.is_behind:
            time.sleep(PROBE_INTERVAL)
            status = replica.probe()
        replica.engine.dispose()
        behind = "" if status.lag is None else f", {status.lag:.1f} s behind"
        level = OK if status.state == UP else PROBLEM if status.state in (PROMOTED, FOREIGN) else WARNING
        remedy = "" if level == OK else "start its replication, or remove it from netinv.database_read_urls"
        yield Finding("replicas", level, f"{replica.name}: {status.state}{behind}", remedy)


def hosts(settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Checks the settings that URLs in answers depend on."""
    if not settings["allowed_hosts"] or "*" in settings["allowed_hosts"]:
        message = "netinv.allowed_hosts is empty: URLs in answers have any name that a client sends"
        yield Finding("hosts", WARNING, message, "list the names of the service in netinv.allowed_hosts")


def secret_file(settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Checks that no other account may read the file with the secret."""
    path = Path(settings["secret_file"])
    if settings["secret_file"] and path.is_file() and path.stat().st_mode & 0o007:
        remedy = f"run `chmod o-rwx {path}`"
        yield Finding("secret file", WARNING, f"every account of this machine may access {path}", remedy)


def packages(registry: Registry) -> list[Finding]:
    """Packages in quarantine."""
    remedy = "correct or uninstall it"
    broken = [
        Finding("packages", PROBLEM, f"{item.name} ({item.distribution}) is not served: {item.reason}", remedy)
        for item in registry.broken
    ]
    return broken or [Finding("packages", OK, f"{len(registry.packages)} are installed")]


def run(engine: Engine, registry: Registry, ini: str) -> Iterator[Finding]:
    """All findings, in the order of the checks. A check that fails itself is a problem."""
    settings = registry.settings
    checks: Sequence[Callable[[], Iterable[Finding]]] = (
        lambda: packages(registry),
        lambda: database(engine, registry, ini),
        lambda: replicas(engine, settings),
        lambda: [queue(settings)],
        lambda: folder("media folder", "netinv.media_root", settings["media_root"]),
        lambda: secret_file(settings),
        lambda: hosts(settings),
        lambda: [item for found in registry.hooks.netinv_checks(engine=engine, registry=registry) for item in found],
    )
    for check in checks:
        try:
            yield from check()
        except Exception as error:
            message = f"a check failed: {type(error).__name__}: {' '.join(str(error).split())}"
            yield Finding("checks", PROBLEM, message, "report it, with this line")
