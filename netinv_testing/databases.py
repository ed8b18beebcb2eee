"""Databases of the tests: SQLite files, or databases on the server that ``NETINV_TEST_DATABASE`` names.

Migrations run once in each pytest process: they fill a template, which is copied for each further database.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import uuid
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine, make_url

from netinv_admin import migrate as migrating
from netinv_core.db.engine import engine_from
from netinv_core.main import registry_for

SERVER = os.environ.get("NETINV_TEST_DATABASE", "")
DIALECT = make_url(SERVER).get_backend_name() if SERVER else "sqlite"
# Settings of MariaDB with which neither commits nor new tables wait for the disk.
UNSYNCED = {"innodb_flush_log_at_trx_commit": 0, "sync_frm": 0}
RUN_LOCKS = [f"netinv_tests_{number}" for number in range(8)]  # each run on MariaDB holds one
PREFIX = "netinv_test_"  # of the names of databases; then the process that made them
# PostgreSQL writes all changed pages to the disk before it drops a database, which takes seconds. Of several that are
# dropped in a row, the first alone takes long.
UNUSED = 20
_unused: list[str] = []  # databases to drop


def migrate(engine: Engine) -> None:
    """Creates the tables and seed rows that a service starts with."""
    migrating.upgrade(engine, registry_for(engine.dialect.name, {}))


@contextlib.contextmanager
def unsynced_commits() -> Iterator[None]:
    """MariaDB writes its log to the disk once a second instead of at each commit while the block runs.

    The settings are those of the server. The last of several runs at the same time sets them back, and the first run
    after one that was killed sets them to their defaults at its end. A user who may not set them waits for the disk.
    """
    server = engine_from(SERVER, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with server.connect() as connection:
        own = next((lock for lock in RUN_LOCKS if _lock(connection, lock)), None)
        before = {name: connection.execute(sa.text(f"SELECT @@GLOBAL.{name}")).scalar() for name in UNSYNCED}
        _set_global(connection, UNSYNCED)
        try:
            yield
        finally:
            others = sum(
                connection.scalar(sa.text("SELECT IS_USED_LOCK(:lock)"), {"lock": lock}) is not None
                for lock in RUN_LOCKS
            )
            if others == (own is not None):
                _set_global(
                    connection,
                    {name: "DEFAULT" if before[name] == value else before[name] for name, value in UNSYNCED.items()},
                )


def _lock(connection: sa.Connection, lock: str) -> bool:
    """Takes a lock for as long as the connection lives, unless another connection has it."""
    return bool(connection.scalar(sa.text("SELECT GET_LOCK(:lock, 0)"), {"lock": lock}))


def _set_global(connection: sa.Connection, settings: Mapping[str, Any]) -> None:
    """Sets settings of the server if the user may."""
    with contextlib.suppress(sa.exc.DBAPIError):
        for name, value in settings.items():
            connection.execute(sa.text(f"SET GLOBAL {name} = {value}"))


def process_mark(pid: int) -> str:
    """The host, the id and the start time of a process, which no other process has; empty when the process is gone.

    Where the system has no ``/proc``, the start time is 0.
    """
    started = "0"
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return ""
        if fields[0] == "Z":
            return ""
        started = fields[19]
    else:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return ""
        except PermissionError:
            pass
    return f"{zlib.crc32(socket.gethostname().encode()):08x}_{pid}_{started}"


def is_abandoned(database: str) -> bool:
    """Tells if a database was made by a process of this machine that is gone."""
    host, *numbers = database.removeprefix(PREFIX).split("_")
    if not database.startswith(PREFIX) or len(numbers) != 3 or not numbers[0].isdecimal():
        return False
    own = process_mark(os.getpid()).partition("_")[0]
    return host == own and process_mark(int(numbers[0])) != f"{host}_{numbers[0]}_{numbers[1]}"


def drop_abandoned() -> list[str]:
    """Drops the databases on the server that processes of killed runs left; returns their names."""
    names = {
        "postgresql": "SELECT datname FROM pg_database",
        "mysql": "SELECT schema_name FROM information_schema.schemata",
    }
    server = engine_from(SERVER, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with server.connect() as connection:
        found = [name for name in connection.scalars(sa.text(names[DIALECT])) if is_abandoned(name)]
        for name in found:
            _drop(connection, name)
    return found


@contextlib.contextmanager
def empty_database(folder: Path) -> Iterator[Engine]:
    """A new database without tables, dropped some time after the end."""
    with _database(folder) as engine:
        yield engine


@contextlib.contextmanager
def template_database(folder: Path) -> Iterator[str]:
    """A migrated database for copies; on SQLite its file, else its name."""
    with _database(folder) as engine:
        migrate(engine)
        engine.dispose()  # PostgreSQL copies a database only while nobody is connected to it
        yield str(engine.url.database)


@contextlib.contextmanager
def migrated_database(folder: Path, template: str) -> Iterator[Engine]:
    """A new database with the tables and seed rows that a service starts with, dropped some time after the end."""
    with _database(folder, template) as engine:
        if DIALECT not in ("sqlite", "postgresql"):
            _copy_tables(template, engine)
        yield engine


@contextlib.contextmanager
def _database(folder: Path, template: str = "") -> Iterator[Engine]:
    """A new database: a copy of the template where the server can copy, else without tables."""
    if not SERVER:
        file = folder / "netinv.sqlite"
        if template:
            shutil.copyfile(template, file)
        engine = engine_from(f"sqlite:///{file}")
        yield engine
        engine.dispose()
        return
    name = f"{PREFIX}{process_mark(os.getpid())}_{uuid.uuid4().hex[:8]}"
    server = engine_from(SERVER, isolation_level="AUTOCOMMIT")
    copied = f" TEMPLATE {template}" if template and DIALECT == "postgresql" else ""
    with server.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}{copied}"))
        if DIALECT == "postgresql":  # no commit waits for the disk; what a crash of the server loses, no test needs
            connection.execute(sa.text(f"ALTER DATABASE {name} SET synchronous_commit TO off"))
    server.dispose()
    engine = engine_from(make_url(SERVER).set(database=name).render_as_string(hide_password=False))
    try:
        yield engine
    finally:
        engine.dispose()
        _unused.append(name)
        if len(_unused) == UNUSED:
            drop_unused()


def drop_unused() -> None:
    """Drops the databases that nothing uses any more."""
    if not _unused:
        return
    server = engine_from(SERVER, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with server.connect() as connection:
        while _unused:
            _drop(connection, _unused.pop())


def _drop(connection: sa.Connection, name: str) -> None:
    force = " WITH (FORCE)" if DIALECT == "postgresql" else ""  # a process that ends may still be connected
    connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name}{force}"))


def _copy_tables(template: str, engine: Engine) -> None:
    """Copies tables and rows of another database of a MariaDB server, which has no copies of databases."""
    with engine.connect() as connection:
        connection.exec_driver_sql("SET foreign_key_checks = 0")  # tables refer to some that are made later
        for (name,) in connection.exec_driver_sql(f"SHOW TABLES FROM `{template}`").all():
            _, ddl = connection.exec_driver_sql(f"SHOW CREATE TABLE `{template}`.`{name}`").one()
            connection.exec_driver_sql(ddl.replace("%", "%%"))
            if connection.exec_driver_sql(f"SELECT 1 FROM `{template}`.`{name}` LIMIT 1").first():
                connection.exec_driver_sql(f"INSERT INTO `{name}` SELECT * FROM `{template}`.`{name}`")
        connection.commit()
        connection.invalidate()  # the setting is that of the connection
