"""SIGHUP: services and workers take the levels of loggers and the rate limits of a changed ini file, and keep the
former ones where it is broken.
"""

from __future__ import annotations

import dataclasses
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from netinv_core.models.base import table_of
from netinv_core.tasks.workers import WorkerProcess
from tests.support import REPOSITORY
from tests.support.databases import migrated_database
from tests.support.servers import free_port, listens, running
from tests.support.waiting import until

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.night]
INI = """
[app:main]
use = egg:netinv-core
netinv.database_url = {database}
netinv.queue_url = sqlite:///{folder}/queue.sqlite
netinv.secret = for tests only, 32 characters or more
netinv.media_root = {folder}/media
netinv.rate_limit_address = {rate}
netinv.paginate_count = {count}
[server:main]
use = egg:netinv-core
listen = 127.0.0.1:{port}
[loggers]
keys = root, netinv, access
[handlers]
keys = console
[formatters]
keys =
[handler_console]
class = StreamHandler
args = (sys.stderr,)
[logger_root]
level = WARNING
handlers = console
[logger_netinv]
level = INFO
handlers =
qualname = netinv_core
[logger_access]
level = {access}
handlers =
qualname = netinv.access
"""
NOT_FLUSHED = 120  # the exit code of Python that could not write its last output, here to a terminal that is gone
PYTHON = {"PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])}


@dataclasses.dataclass
class Installation:
    """An ini file with a migrated database, and the log of the process that runs with it."""

    folder: Path
    port: int
    database: str

    @property
    def ini(self) -> Path:
        """The ini file."""
        return self.folder / "netinv.ini"

    @property
    def log(self) -> Path:
        """The text that the process wrote."""
        return self.folder / "log"

    def write(self, rate: str = "", access: str = "WARNING", count: str = "50", more: str = "") -> None:
        """Writes the ini file."""
        given = {
            "folder": self.folder,
            "database": self.database,
            "port": self.port,
            "rate": rate,
            "access": access,
            "count": count,
        }
        self.ini.write_text(INI.format(**given) + more)

    def reload(self, process: subprocess.Popen[bytes]) -> str:
        """Sends SIGHUP. Returns the line of the log about it."""
        before = len(self.lines())
        process.send_signal(signal.SIGHUP)
        until(lambda: len(self.lines()) > before)
        assert len(self.lines()) == before + 1
        return self.lines()[-1]

    def lines(self) -> list[str]:
        """The lines of the log about SIGHUP."""
        return [line for line in self.log.read_text().splitlines() if "SIGHUP" in line]

    def ask(self) -> int:
        """The status of a request without credentials."""
        return requests.get(f"http://127.0.0.1:{self.port}/api/", timeout=60).status_code


@pytest.fixture
def installation(tmp_path: Path, database_template: str) -> Iterator[Installation]:
    """An installation without rate limits."""
    with migrated_database(tmp_path, database_template) as engine:
        made = Installation(tmp_path, free_port(), str(engine.url))
        made.write()
        yield made


@pytest.fixture
def service(installation: Installation) -> Iterator[subprocess.Popen[bytes]]:
    """The service as a process."""
    command = [sys.executable, "-m", "pyramid.scripts.pserve", installation.ini]
    with running(command, installation.log, listens(installation.port), PYTHON) as process:
        yield process


def test_a_service_takes_rate_limits_and_levels_and_says_so(
    installation: Installation, service: subprocess.Popen[bytes]
) -> None:
    assert [installation.ask() for _ in range(3)] == [403] * 3
    assert "GET" not in installation.log.read_text()
    installation.write(rate="1/hour", access="INFO")
    line = installation.reload(service)
    assert "netinv.rate_limit_address from None to 1/hour" in line
    assert "the level of netinv.access from WARNING to INFO" in line
    assert [installation.ask() for _ in range(3)] == [403, 429, 429]
    assert "GET" in installation.log.read_text()
    assert installation.reload(service).endswith(f"{installation.ini} was read; nothing changed")
    installation.write()
    installation.reload(service)
    assert installation.ask() == 403


def test_other_settings_are_named_without_their_values_as_those_that_need_a_restart(
    installation: Installation, service: subprocess.Popen[bytes]
) -> None:
    installation.write(count="49")
    line = installation.reload(service)
    assert line.endswith("was read; nothing changed; taken by a restart: netinv.paginate_count")


def test_levels_of_the_setting_win_over_those_of_the_sections(
    installation: Installation, service: subprocess.Popen[bytes]
) -> None:
    installation.write(count="50\nnetinv.log_level = netinv.access=INFO guest=ERROR")
    line = installation.reload(service)
    assert "the level of netinv.access from WARNING to INFO" in line and "restart" not in line
    assert "the level of guest from NOTSET to ERROR" in line
    installation.write()
    line = installation.reload(service)
    assert "of netinv.access from INFO to WARNING" in line and "of guest from ERROR to NOTSET" in line


BROKEN: list[tuple[dict[str, str], str]] = [
    ({"rate": "often", "access": "INFO"}, "netinv.rate_limit_address has a value that cannot be read"),
    ({"rate": "1/hour", "access": "LOUD"}, "level in [logger_access] is none of CRITICAL"),
    ({"rate": "1/hour", "access": "INFO", "more": "nonsense"}, "has no name = value"),
    ({"rate": "1/hour", "access": "INFO", "count": "50\nnetinv.xyz = 1"}, "netinv.xyz is not known"),
]


def test_a_broken_file_changes_nothing_and_is_told(
    installation: Installation, service: subprocess.Popen[bytes]
) -> None:
    for broken, reason in BROKEN:
        installation.write(**broken)
        line = installation.reload(service)
        assert "the former settings stay" in line and reason in line
        assert [installation.ask() for _ in range(3)] == [403] * 3
    assert "GET" not in installation.log.read_text()
    installation.write(rate="1/hour")
    assert "from None to 1/hour" in installation.reload(service)


@pytest.mark.parametrize("program", ["netinv", "huey_consumer"])
def test_a_worker_goes_on_with_the_levels_of_the_changed_file(program: str, installation: Installation) -> None:
    commands = {
        "netinv": ["-c", "from netinv_admin.commands.cli import cli; cli()", "-c", installation.ini, "worker"],
        "huey_consumer": ["-m", "huey.bin.huey_consumer", "netinv_core.tasks.worker.huey"],
    }
    environment = {**PYTHON, "NETINV_INI": str(installation.ini)}
    command = [sys.executable, *commands[program]]
    with running(command, installation.log, lambda: is_seen(installation), environment) as process:
        installation.write(rate="5/minute", access="DEBUG")
        line = installation.reload(process)
        assert "the level of netinv.access from WARNING to DEBUG" in line and "to 5/minute" in line
        (installation.ini).write_text("nonsense")
        assert "the former settings stay" in installation.reload(process)
        assert process.poll() is None


# A signal as soon as the program can be reached: the first thread of a worker, the port of a service.
SIGNALLED = {
    "worker": """
import os, signal, huey.consumer
start = huey.consumer.Consumer.start
def started(consumer):
    os.kill(os.getpid(), signal.SIGHUP)
    start(consumer)
huey.consumer.Consumer.start = started
from netinv_admin.commands.cli import cli
cli()
""",
    "service": """
import os, signal, netinv_core.http.server
create = netinv_core.http.server.create_server
def created(*arguments, **named):
    server = create(*arguments, **named)
    os.kill(os.getpid(), signal.SIGHUP)
    return server
netinv_core.http.server.create_server = created
from pyramid.scripts.pserve import main
main()
""",
}


@pytest.mark.parametrize("program", SIGNALLED)
def test_a_signal_while_a_program_starts_does_not_end_it(program: str, installation: Installation) -> None:
    environment = {**PYTHON, "NETINV_INI": str(installation.ini)}
    options = ["-c", installation.ini, "worker"] if program == "worker" else [installation.ini]
    is_ready = (lambda: is_seen(installation)) if program == "worker" else listens(installation.port)
    command = [sys.executable, "-c", SIGNALLED[program], *options]
    with running(command, installation.log, is_ready, environment):
        until(lambda: len(installation.lines()) == 1)
    assert "nothing changed" in installation.lines()[0]


def is_seen(installation: Installation) -> bool:
    """True once the worker wrote its heartbeat."""
    with sqlite3.connect(installation.database.removeprefix("sqlite:///")) as connection:
        return bool(connection.execute(f"SELECT count(*) FROM {table_of(WorkerProcess).name}").fetchone()[0])


@pytest.fixture
def gunicorn(installation: Installation) -> Iterator[subprocess.Popen[bytes]]:
    """The service as two processes of Gunicorn."""
    options = ["--workers", "2", "--bind", f"127.0.0.1:{installation.port}"]
    command = [sys.executable, "-m", "gunicorn", "--config", REPOSITORY / "deploy/gunicorn/gunicorn.conf.py"]
    with running(
        [*command, "--paste", installation.ini, *options], installation.log, listens(installation.port), PYTHON
    ) as process:
        yield process


def test_gunicorn_starts_its_processes_anew(installation: Installation, gunicorn: subprocess.Popen[bytes]) -> None:
    assert [installation.ask() for _ in range(3)] == [403] * 3
    installation.write(rate="1/hour", access="INFO")
    gunicorn.send_signal(signal.SIGHUP)
    until(lambda: installation.ask() == 429)
    assert "GET" in installation.log.read_text()


def test_gunicorn_keeps_its_processes_where_the_file_is_broken(
    installation: Installation, gunicorn: subprocess.Popen[bytes]
) -> None:
    """Wrong settings, loggers and syntax, and a database that is not there: it serves on, and says why in a line."""
    assert installation.ask() == 403
    for broken, reason in (
        ({"rate": "often"}, "netinv.rate_limit_address has a value that cannot be read"),
        ({"access": "LOUD"}, "LOUD"),
        ({"more": "nonsense"}, "nonsense"),
        ({"count": "50\nnetinv.database_read_urls = sqlite:///x"}, "netinv.database_read_urls"),
    ):
        installation.write(**broken)
        line = installation.reload(gunicorn)
        assert "the former processes stay" in line and reason in line
        assert [installation.ask() for _ in range(3)] == [403] * 3
    assert "Traceback" not in installation.log.read_text()
    installation.write(rate="1/hour")
    gunicorn.send_signal(signal.SIGHUP)
    until(lambda: installation.ask() == 429)


def test_a_service_ends_with_its_terminal(installation: Installation) -> None:
    process, terminal = pty.fork()
    if process == 0:
        os.execve(
            sys.executable,
            [sys.executable, "-m", "pyramid.scripts.pserve", str(installation.ini)],
            {**os.environ, **PYTHON},
        )
    until(listens(installation.port))
    os.close(terminal)
    ended: list[int] = []
    until(lambda: bool(ended.extend(os.waitpid(process, os.WNOHANG)) or ended[-2]))
    status = ended[-1]
    assert os.waitstatus_to_exitcode(status) in (0, NOT_FLUSHED, -signal.SIGHUP)
