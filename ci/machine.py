"""Machine of the tests: its programs, disk space and database servers, and processes that a killed run left.

``python3 -m ci.machine`` runs before anything is installed, so it needs nothing but the standard library. The status is
2, with a line for each reason, when the tests cannot run here.

``CI=true`` installs the Debian packages that are missing. Servers that do not answer at their standard port on this
machine are started as their packages do (``service postgresql start``).
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

REPOSITORY = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)
PROGRAMS = {  # and headers, with the Debian packages that bring them
    "chromium": ("chromium",),
    "nginx": ("nginx",),
    "pgbouncer": ("pgbouncer",),
    "npm": ("nodejs", "npm"),
    "slapd": ("slapd",),
    "ldapsearch": ("ldap-utils",),
    "gcc": ("gcc",),
    "/usr/include/lber.h": ("libldap2-dev",),
    "/usr/include/sasl/sasl.h": ("libsasl2-dev",),
}
FREE_SPACE = 2 << 30  # bytes
TIMEOUT = 5.0  # seconds for an answer of a server
PATIENCE = 90  # seconds until a server that was started answers
PATIENCE_AFTER_FAILURE = 10  # seconds until a server answers whose start failed
STARTS = 2  # the first fails while a killed server is on its way out
LOCAL = ("127.0.0.1", "localhost", "::1")
RUN = "CI_RUN_PROCESS"  # environment variable of all processes of a run: the process that started them


class Unfit(Exception):
    """A reason why the tests cannot run on this machine, in one line."""


@dataclasses.dataclass(frozen=True)
class Server:
    """A database server, with the conversation that tells whether it answers.

    :param variable: the environment variable with its URL
    :param service: its Debian service, which has the name of its package unless ``package`` says otherwise
    :param ask: sends a request on a new connection; raises :class:`OSError` when the answer is not that of the server
    """

    name: str
    variable: str
    default: str
    port: int
    service: str
    ask: Callable[[socket.socket, SplitResult], None]
    package: str = ""

    @property
    def url(self) -> SplitResult:
        """The URL."""
        return urlsplit(os.environ.get(self.variable) or self.default)

    @property
    def place(self) -> str:
        """Host and port."""
        return f"{self.url.hostname}:{self.url.port or self.port}"

    @property
    def is_here(self) -> bool:
        """True for the one that this machine's package runs."""
        return self.url.hostname in LOCAL and (self.url.port or self.port) == self.port

    def problem(self) -> str:
        """The reason why it does not answer, if it does not."""
        try:
            with socket.create_connection((self.url.hostname, self.url.port or self.port), TIMEOUT) as connection:
                self.ask(connection, self.url)
        except (OSError, struct.error) as error:
            return str(error)
        return ""


def ask_postgresql(connection: socket.socket, url: SplitResult) -> None:
    """Sends a startup message (PostgreSQL manual, "Message Formats"); the answer is a request for authentication."""
    values = {"user": url.username or "postgres", "database": url.path.strip("/") or "postgres"}
    body = struct.pack("!i", 196608) + b"".join(f"{name}\0{value}\0".encode() for name, value in values.items()) + b"\0"
    connection.sendall(struct.pack("!i", len(body) + 4) + body)
    kind, text = connection.recv(1), connection.recv(2000)
    if kind == b"E":  # fields follow the length, each with a letter: M is the message
        fields = {field[:1]: field[1:].decode(errors="replace") for field in text[4:].split(b"\0")}
        raise OSError(fields.get(b"M", "an error without a message"))
    if kind != b"R":
        raise OSError("the answer is not that of PostgreSQL")


def ask_mariadb(connection: socket.socket, url: SplitResult) -> None:
    """Reads the greeting of a server (MariaDB manual, "Connection": protocol version 10)."""
    greeting = connection.recv(2000)
    if greeting[4:5] == b"\xff":
        raise OSError(greeting[7:].decode(errors="replace"))
    if greeting[4:5] != b"\x0a":
        raise OSError("the answer is not that of MariaDB")


def ask_redis(connection: socket.socket, url: SplitResult) -> None:
    """Sends ``PING`` (RESP2); a server that wants a password first answers, too."""
    connection.sendall(b"PING\r\n")
    answer = connection.recv(200)
    if not answer.startswith((b"+PONG", b"-NOAUTH")):
        raise OSError(answer.decode(errors="replace").strip() or "the connection was closed")


SERVERS = (
    Server(
        "PostgreSQL",
        "POSTGRESQL",
        "postgresql://postgres@127.0.0.1:5432/postgres",
        5432,
        "postgresql",
        ask_postgresql,
    ),
    Server("MariaDB", "MARIADB", "mysql://root@127.0.0.1:3306/test", 3306, "mariadb", ask_mariadb, "mariadb-server"),
    Server("Redis", "REDIS", "redis://127.0.0.1:6379/9", 6379, "redis-server", ask_redis),
)


def prepare(programs: Iterable[str], servers: Iterable[Server]) -> None:
    """Makes the machine fit for the tests.

    :raises Unfit: when it cannot be made so
    """
    for pid in abandoned_processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    check_disk()
    servers = [server for server in servers if server.problem()]
    install_missing(programs, servers)
    reasons = []
    for server in servers:
        try:
            start(server)
        except Unfit as reason:
            reasons.append(str(reason))
    if reasons:
        raise Unfit("\n".join(reasons))


def check_disk() -> None:
    """Checks the free space of the disks of the checkout and of temporary files.

    :raises Unfit: when it is too small
    """
    for folder in (REPOSITORY, Path(tempfile.gettempdir())):
        free = shutil.disk_usage(folder).free
        if free < FREE_SPACE:
            raise Unfit(f"{folder} has {free / (1 << 30):.1f} GiB of free disk space; the tests need 2 GiB.")


def install_missing(programs: Iterable[str], servers: Iterable[Server]) -> None:
    """Installs the packages of programs, headers and local servers that are not installed.

    :raises Unfit: when there are any and ``CI`` is not ``true``
    """
    missing = [name for program in programs if not _path_of(program) for name in PROGRAMS[program]]
    missing += [
        server.package or server.service
        for server in servers
        if server.is_here and not Path("/etc/init.d", server.service).exists()
    ]
    if not missing:
        return
    if os.environ.get("CI") != "true":
        raise Unfit(f"The tests need these Debian packages: {' '.join(missing)}. CI=true installs them, as root.")
    _as_root(["apt-get", "update", "-qq"])
    _as_root(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", *missing])


def start(server: Server) -> None:
    """Starts a server as its package does, and waits until it answers.

    Its answer decides, not the status of ``service``: the script of MariaDB fails without its configuration file
    although the server runs.

    :raises Unfit: when it does not answer
    """
    reason = server.problem()
    if not server.is_here:
        raise Unfit(f"{server.name} does not answer at {server.place} ({server.variable}): {reason}.")
    command = ["service", server.service, "start"]
    for _ in range(STARTS):
        print(f"{server.name} does not answer at {server.place}: {' '.join(command)}", flush=True)
        failure, patience = "", PATIENCE
        try:
            _as_root(command)
        except Unfit as error:
            failure, patience = str(error), PATIENCE_AFTER_FAILURE
        reason = _problem_within(server, patience)
        if not reason:
            return
    raise Unfit(failure or f"{server.name} was started and does not answer at {server.place}: {reason}.")


def _problem_within(server: Server, seconds: float) -> str:
    """The reason why a server did not answer within the time, if it did not."""
    deadline = time.monotonic() + seconds
    while (reason := server.problem()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return reason


def process_mark(pid: int) -> str:
    """The id and start time of a process, which no other process has; the empty text when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else f"{pid}-{fields[19]}"


def abandoned_processes() -> Iterator[int]:
    """The processes of runs whose first process is gone."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        for variable in variables:
            name, _, mark = variable.decode(errors="replace").partition("=")
            if name == RUN and process_mark(int(mark.partition("-")[0] or 0)) != mark:
                yield int(folder.name)


def _path_of(program: str) -> str | None:
    """The path of a program, or of a header, which is named by its path; ``None`` without it."""
    if program.startswith("/"):
        return program if Path(program).exists() else None
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")


def _as_root(command: list[str]) -> None:
    """Runs a command as root.

    :raises Unfit: when it fails, with its last line
    """
    words = command if os.geteuid() == 0 else ["sudo", "-n", *command]
    environment = {name: value for name, value in os.environ.items() if name != RUN}  # servers outlive the run
    with tempfile.TemporaryFile("w+") as output:  # a server that goes on would keep a pipe open
        try:
            status = subprocess.call(
                words, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        except OSError as error:
            raise Unfit(f"{' '.join(words)}: {error.strerror}") from error
        output.seek(0)
        lines = [line.strip() for line in output if line.strip()]
    if status:
        raise Unfit(f"`{' '.join(words)}` ended with status {status}: {lines[-1] if lines else 'no output'}")


def main() -> None:
    """Prepares the machine for all tests."""
    if sys.version_info < OLDEST_PYTHON:
        print(f"The tests need Python 3.11 or newer, this is {sys.version.split()[0]}.", file=sys.stderr)
        raise SystemExit(2)
    try:
        prepare(PROGRAMS, SERVERS)
    except Unfit as reason:
        print(reason, file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
