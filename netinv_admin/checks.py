"""Self-check of an installation: settings, database, secret, queue, folders, clock and workers.

Each check returns findings in words, with a remedy for what is not in order. Packages add theirs with the hook
``netinv_checks``.
"""

from __future__ import annotations

import datetime
import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, make_url

from netinv_core import needed_rows, setting_variables, start_check
from netinv_core.app import App
from netinv_core.auth import stored_secrets
from netinv_core.auth.models import User
from netinv_core.backups import schedule as backups
from netinv_core.command_output import with_number
from netinv_core.db import availability, revisions, table_check, text_indexes
from netinv_core.db.engine import is_pooled
from netinv_core.db.expressions import db_now
from netinv_core.db.replicas import FOREIGN, PROMOTED, UP, replicas_for
from netinv_core.db.replicas import INTERVAL as PROBE_INTERVAL
from netinv_core.driver import driver_of
from netinv_core.findings import OK, PROBLEM, WARNING, Finding, folder
from netinv_core.http import server
from netinv_core.models.base import now, table_of
from netinv_core.models.types import utc
from netinv_core.settings import setting_definitions, variable_prefixes
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers

if TYPE_CHECKING:
    from netinv_core.registry import Registry

MAX_CLOCK_DIFFERENCE = datetime.timedelta(seconds=2)
REPORT = "report it, with this line"
MAX_WAITING = 100  # messages; a worker takes each at once
TESTED = {"postgresql": (15,), "mariadb": (10, 11)}  # releases that the tests run on


class MissingMigrations(Finding):
    """Finding about migrations that the database lacks, which ``netinv migrate`` solves."""


def database(engine: Engine, registry: Registry, ini: str) -> Iterator[Finding]:
    """Checks all that needs the database; when it cannot be reached, that is the only finding."""
    name, file = engine.url.render_as_string(), engine.url.database
    is_file = not driver_of(engine).is_server
    if is_file and file and Path(file).parent.is_dir() and not Path(file).exists():  # a connection would create it
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
        remedy = availability.remedy(engine, error)
        yield Finding("database", PROBLEM, f"{name} cannot be used: {availability.reason(error)}", remedy)


def _contents(connection: Connection, registry: Registry, ini: str) -> Iterator[Finding]:
    """Checks of a migrated database."""
    yield from tables(connection, registry)
    yield from rows(connection, registry, ini)
    yield secret(connection, registry.settings["secret"], ini)
    yield clock(connection)
    if is_pooled(connection.engine.url):
        yield pooled_timeout(connection)
    yield worker_processes(connection, registry.settings)
    yield superuser(connection, ini)
    yield from backup_state(connection, registry.settings)
    yield searches(connection, registry, ini)


def version(connection: Connection) -> Finding:
    """Checks that the release of the database is one that the tests run on."""
    dialect: Any = connection.dialect
    kind = "mariadb" if getattr(dialect, "is_mariadb", False) else dialect.name
    release = dialect.server_version_info or ()
    text, tested = f"{kind} {'.'.join(map(str, release[:3]))}", TESTED.get(kind, ())
    if driver_of(kind).is_server and (not tested or release[: len(tested)] != tested):
        remedy = "use a tested release: " + ", ".join(f"{k} {'.'.join(map(str, v))}" for k, v in TESTED.items())
        return Finding("database version", WARNING, f"netinv is not tested on {text}", remedy)
    return Finding("database version", OK, text)


def migrations(engine: Engine, registry: Registry, ini: str) -> Iterator[Finding]:
    """Checks that the database has the migrations of the installed packages, and no others."""
    found, name = revisions.revisions(engine, registry), engine.url.render_as_string()
    if found.unknown:
        message, _, remedy = start_check.newer(name, found.unknown).partition("; ")
        yield Finding(start_check.MIGRATIONS, PROBLEM, message, remedy)
    if found.missing:
        message = start_check.lacking_migrations(name, found.missing)
        yield MissingMigrations(start_check.MIGRATIONS, PROBLEM, message, f"run `{start_check.command(ini)} migrate`")
    if not found.unknown and not found.missing:
        yield Finding(start_check.MIGRATIONS, OK, "the database has all migrations of the installed packages")


def tables(connection: Connection, registry: Registry) -> Iterator[Finding]:
    """Checks that the database has the tables that packages declare."""
    for package, message in table_check.find_missing(connection, registry):
        yield Finding("tables", PROBLEM, f"{package}: {message}", "restore the table, or correct the package")


def rows(connection: Connection, registry: Registry, ini: str) -> Iterator[Finding]:
    """Checks that the tables of the core have the rows that the service needs."""
    lacking = needed_rows.messages(needed_rows.find_missing(connection.execute, registry))
    remedy = f"run `{start_check.command(ini)} migrate`, which adds them, as the next start does"
    yield from (Finding("rows", PROBLEM, text, remedy) for text in lacking)
    if not lacking:
        yield Finding("rows", OK, "the rows that the service needs are there")


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


def clock(connection: Connection) -> Finding:
    """Compares the clocks of the database and of this machine; on SQLite they are one."""
    stored = connection.execute(sa.select(db_now())).scalar_one()
    difference = utc(stored) - now() if isinstance(stored, datetime.datetime) else datetime.timedelta()
    if abs(difference) > MAX_CLOCK_DIFFERENCE:
        message = f"the clock of the database differs from this machine's by {abs(difference).total_seconds():.0f} s"
        return Finding("clock", WARNING, message, "synchronize the clocks (NTP): leases and schedules depend on them")
    return Finding("clock", OK, "the clocks of the database and of this machine agree")


def worker_processes(connection: Connection, settings: Mapping[str, Any]) -> Finding:
    """Checks that a worker wrote its heartbeat lately, and that its tasks do not fail."""
    alive, failing = workers.live(connection)
    if failing:
        message = f"{alive} running; tasks that failed at their last run: {', '.join(failing)}"
        return Finding("workers", PROBLEM, message, "see the log of the worker")
    if alive:
        return Finding("workers", OK, f"{alive} running")
    if settings["embedded_worker"]:
        return Finding("workers", WARNING, "no worker is running", "start the service, which has one")
    return Finding("workers", WARNING, "no worker is running", "start `netinv worker`, or set netinv.embedded_worker")


def searches(connection: Connection, registry: Registry, ini: str) -> Finding:
    """Checks that PostgreSQL has the indexes for texts that contain another."""
    absent = text_indexes.missing_indexes(connection, registry)
    if absent:
        remedy = (
            f"run `CREATE EXTENSION {text_indexes.EXTENSION}` as its owner, then `{start_check.command(ini)} migrate`"
        )
        return Finding("text indexes", WARNING, f"searches read whole tables without {', '.join(absent)}", remedy)
    return Finding("text indexes", OK, "those of this database are there")


def backup_state(connection: Connection, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Checks that workers made a backup lately, where the settings name a folder for them."""
    if not settings["backup_folder"]:
        return
    found = backups.state(connection)
    last = "there is none yet" if found.finished is None else f"the last one is of {found.finished:%Y-%m-%d %H:%M} UTC"
    if found.failed:
        yield Finding("backups", PROBLEM, f"a backup failed; {last}", "see the log of the worker; it tries again")
    elif found.is_overdue(settings["backup_interval"]):
        yield Finding("backups", PROBLEM, f"a backup is overdue; {last}", "start `netinv worker`")
    else:
        yield Finding("backups", OK if found.finished else WARNING, last, "" if found.finished else "a worker makes it")


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
        waiting = task_queue.queue_at(url).pending_count()
    except Exception as error:  # errors of the queue, of any kind
        message = f"netinv.queue_url cannot be used: {' '.join(str(error).split())}"
        return Finding("queue", PROBLEM, message, "start the queue, or correct netinv.queue_url")
    message = f"{name} can be reached; {with_number(waiting, 'message')} {'waits' if waiting == 1 else 'wait'}"
    if waiting > MAX_WAITING:
        return Finding("queue", WARNING, message, "see the log of the worker: it is stopped, or its tasks do not end")
    return Finding("queue", OK, message)


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


def backup_folder(settings: Mapping[str, Any]) -> list[Finding]:
    """Checks the folder of the backups of workers, where the settings name one."""
    path = settings["backup_folder"]
    return folder("backup folder", "netinv.backup_folder", path) if path else []


def hosts(settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Checks the settings that URLs in answers depend on."""
    if not settings["allowed_hosts"] or "*" in settings["allowed_hosts"]:
        message = "netinv.allowed_hosts is empty: URLs in answers have any name that a client sends"
        yield Finding("hosts", WARNING, message, "list the names of the service in netinv.allowed_hosts")


def variables(apps: Mapping[str, App], settings: Mapping[str, Any], of_options: Sequence[str]) -> Iterator[Finding]:
    """Checks that each environment variable of netinv's is that of a setting, of the server, of an option of a command,
    or of a secret of users.
    """
    definitions = setting_definitions(apps)
    prefixes = [settings[name] for name, (reader, _) in definitions.items() if reader is variable_prefixes]
    others = [*of_options, setting_variables.SERVER, *(prefix for each in prefixes for prefix in each)]
    try:
        server.of_variables(os.environ)
    except ValueError as error:
        yield Finding("environment", PROBLEM, str(error), "correct its name, or remove it")
    for variable, nearest in setting_variables.unknown(definitions, os.environ, others):
        hint = f"; did you mean {nearest}?" if nearest else ""
        message = f"{variable} is the environment variable of no setting{hint}"
        yield Finding("environment", WARNING, message, "correct its name, or remove it")


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
        (MissingMigrations if item.lacks_migrations else Finding)(
            "packages",
            PROBLEM,
            f"{item.name} ({item.distribution}) is not served: {item.reason}",
            "run `netinv migrate`; its error says why a migration stops" if item.lacks_migrations else remedy,
        )
        for item in registry.broken
    ]
    return broken or [Finding("packages", OK, f"{len(registry.packages)} are installed")]


def run(engine: Engine, registry: Registry, ini: str) -> Iterator[Finding]:
    """All findings, in the order of the checks. A check that fails itself is a problem. Those of packages need the
    database.
    """
    settings = registry.settings
    found: list[Finding] = []
    checks: Sequence[Callable[[], Iterable[Finding]]] = (
        lambda: packages(registry),
        lambda: database(engine, registry, ini),
        lambda: replicas(engine, settings),
        lambda: [queue(settings)],
        lambda: folder("media folder", "netinv.media_root", settings["media_root"]),
        lambda: backup_folder(settings),
        lambda: secret_file(settings),
        lambda: hosts(settings),
    )
    for check in checks:
        for finding in _run_check(check):
            found.append(finding)
            yield finding
    if not any(finding.check in ("database", "migrations") and finding.level == PROBLEM for finding in found):
        for package, caller in registry.callers("netinv_checks"):
            yield from _run_check(functools.partial(_of_package, caller, engine, registry), package)


def _of_package(caller: Callable[..., Any], engine: Engine, registry: Registry) -> Iterator[Finding]:
    """The findings of a package."""
    for findings in caller(engine=engine, registry=registry):
        yield from findings


def _run_check(check: Callable[[], Iterable[Finding]], package: str = "") -> Iterator[Finding]:
    """The findings of a check; its failure is one."""
    try:
        yield from check()
    except Exception as error:
        name = f"the check of the package {package}" if package else "a check"
        remedy = f"update or uninstall {package}, or report this line to its authors" if package else REPORT
        message = f"{name} failed: {type(error).__name__}: {' '.join(str(error).split())}"
        yield Finding("checks", PROBLEM, message, remedy)
