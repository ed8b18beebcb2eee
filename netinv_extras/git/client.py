"""The command ``git`` as netinv runs it: for a remote that anyone may have named, with credentials that nobody may see.

A branch is fetched, without its history, into a folder of its own that is gone afterwards; its files are read from there and
never checked out, so that neither links nor hooks nor filters nor submodules mean anything.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import ipaddress
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from netinv_core.changelog.masking import without_secrets
from netinv_core.net.ssrf import Guard, Refused, own_services, resolve

REF = "refs/netinv/head"
PREFIX = "sync-"
STALE = 24 * 3600  # seconds
ALL_TOGETHER = 1 << 26  # bytes
MOST = 10_000  # files
LARGEST_OUTPUT = ALL_TOGETHER + (1 << 24)  # bytes: the contents and what git says of each file
LONGEST_COMPLAINT = 1 << 16  # bytes
MEMORY = 1 << 31  # bytes of address space
_BLOCK = 512  # bytes: the unit of ulimit -f (POSIX)
# Limits that the system lacks are left out. A shell sets them: what Popen offers for it (preexec_fn) is not safe where there are threads.
_LIMITED = ("/bin/sh", "-c", 'ulimit -f "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"', "sh")
_PORTS = {"https": 443, "http": 80, "ssh": 22}
_KEPT = ("PATH", "SSH_AUTH_SOCK", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR")
_HELPER = '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$NETINV_GIT_USERNAME" "$NETINV_GIT_TOKEN"; }; f'
_ALWAYS = {
    "core.hooksPath": "/dev/null",
    "credential.helper": "",
    "core.bigFileThreshold": "16m",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "transfer.bundleURI": "false",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "30",
}


class GitError(Exception):
    """A repository that could not be fetched or read, and why; never with a secret."""


@dataclasses.dataclass(frozen=True)
class Remote:
    """A branch of a repository elsewhere, and the credentials for it."""

    url: str
    branch: str
    username: str = ""
    token: str = dataclasses.field(default="", repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must not be seen, longest first."""
        if not self.token:
            return ()
        pair = base64.b64encode(f"{self.username}:{self.token}".encode()).decode()
        return tuple(sorted({self.token, quote(self.token, safe=""), pair}, key=len, reverse=True))


@dataclasses.dataclass(frozen=True)
class Tree:
    """The files of a commit, by path."""

    head: str
    files: Mapping[str, bytes]


def fetch(settings: Mapping[str, Any], remote: Remote, folders: Sequence[str]) -> Tree:
    """The newest commit of a remote's branch, with the files in some of its folders.

    :raises GitError: when it cannot be had
    """
    root = Path(settings["git_root"])
    with contextlib.ExitStack() as stack:
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sweep(root)
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=PREFIX, dir=root, ignore_cleanup_errors=True))
        except OSError as error:
            raise GitError(f"The folder netinv.git_root cannot be used: {error.strerror}.") from None
        run = _Run(settings, remote, folder)
        run("init", "--quiet", "--bare", ".")
        run("check-ref-format", f"refs/heads/{remote.branch}", failing="The branch has a name that no branch can have.")
        fetching = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--")
        run(*fetching, run.url, f"refs/heads/{remote.branch}:{REF}", largest=settings["git_max_size"])
        head = run("rev-parse", "--verify", f"{REF}^{{commit}}").decode().strip()
        return Tree(head, _files(run, head, folders) if folders else {})


def _sweep(root: Path) -> None:
    """Removes what processes that were killed have left."""
    for left in root.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE:
                shutil.rmtree(left, ignore_errors=True)


class _Run:
    """Runs git in a folder, all of it within the time that is set."""

    def __init__(self, settings: Mapping[str, Any], remote: Remote, folder: str) -> None:
        self._seconds: float = settings["git_timeout"]
        self._end = time.monotonic() + self._seconds
        self._remote, self._folder = remote, folder
        self.url, self._environment = _access(settings, remote, folder)

    def __call__(self, *arguments: str, given: bytes = b"", failing: str = "", largest: int = LARGEST_OUTPUT) -> bytes:
        """The output of a git command with ``given`` as its input; no file that it writes, its output included, may be larger than ``largest`` bytes.

        :raises GitError: when it fails, with ``failing`` or its own words, or when it takes too long
        """
        program = shutil.which("git")
        if program is None:
            raise GitError("The program git is not installed where the worker runs.")
        with self._file() as given_file, self._file() as output, self._file() as complaint:
            given_file.write(given)
            given_file.seek(0)
            process = subprocess.Popen(  # noqa: S603 - the shell runs a constant text, and nothing of the user's can be an option
                [*_LIMITED, str(-(-largest // _BLOCK)), str(MEMORY >> 10), program, *arguments],
                cwd=self._folder,
                env=self._environment,
                stdin=given_file,
                stdout=output,
                stderr=complaint,
                start_new_session=True,
            )
            try:
                process.wait(max(self._end - time.monotonic(), 0.01))
            except subprocess.TimeoutExpired:
                raise GitError(f"It took longer than {self._seconds:g} s.") from None
            finally:
                if process.poll() is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            if self._is_full(largest, output):
                raise GitError(f"It is larger than {largest >> 20} MiB.")
            complaint.seek(0)
            if process.returncode:
                raise GitError(failing or self._words(complaint.read(LONGEST_COMPLAINT)))
            output.seek(0)
            return bytes(output.read())

    def _file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._folder)

    def _is_full(self, largest: int, output: IO[bytes]) -> bool:
        """Tells whether git was stopped because of a file: its output, or a pack that it was fetching."""
        packs = Path(self._folder, "objects", "pack")
        sizes = [os.fstat(output.fileno()).st_size, *(file.stat().st_size for file in packs.glob("*"))]
        return max(sizes) >= largest

    def _words(self, complaint: bytes) -> str:
        text = " ".join(complaint.decode("utf-8", "replace").replace("fatal: ", "").split())
        shown = "".join(letter for letter in without_secrets(text, self._remote.secrets) if letter.isprintable())
        return f"git: {shown[:500] or 'it failed without a word'}"


def _access(settings: Mapping[str, Any], remote: Remote, folder: str) -> tuple[str, dict[str, str]]:
    """The URL for git, and the environment in which it reaches that URL and nothing else.

    :raises GitError: when the URL leads to what is not allowed
    """
    parts = urlsplit(remote.url)
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    if scheme not in settings["git_protocols"]:
        raise GitError(f"netinv.git_protocols does not allow {scheme}://.")
    options, url = dict(_ALWAYS), remote.url
    found = {name: os.environ[name] for name in _KEPT if name in os.environ}
    found |= {"HOME": folder, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    found |= {"GIT_ALLOW_PROTOCOL": scheme, "GIT_ASKPASS": "false", "SSH_ASKPASS": "false"}
    if scheme == "file":
        url = f"file://{parts.path}"
    else:
        port = parts.port or _PORTS[scheme]
        addresses = _addresses(settings, host, port)
        if scheme == "ssh":
            ssh = ["ssh", "-oBatchMode=yes", "-oConnectTimeout=10", "-oPermitLocalCommand=no", f"-oHostName={addresses[0]}", f"-oHostKeyAlias={host}"]
            found |= {"GIT_SSH_COMMAND": shlex.join(ssh), "GIT_SSH_VARIANT": "ssh"}
        elif addresses != [host]:
            options["http.curloptResolve"] = f"{host}:{port}:{','.join(addresses)}"
    if scheme in ("http", "https") and remote.token:
        options[f"credential.{scheme}://{parts.netloc}.helper"] = _HELPER
        found |= {"NETINV_GIT_USERNAME": remote.username or "oauth2", "NETINV_GIT_TOKEN": remote.token}
    found["GIT_CONFIG_COUNT"] = str(len(options))
    for number, (name, value) in enumerate(options.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return url, found


def _addresses(settings: Mapping[str, Any], host: str, port: int) -> list[str]:
    """The addresses of a host, all of them allowed; git is given these, so that a name that changes its mind gains nothing.

    :raises GitError: when one is not allowed, or there is none
    """
    guard = Guard(settings["git_allow"], "netinv.git_allow", own_services(settings))
    try:
        found = list(dict.fromkeys(str(place[0]).partition("%")[0] for *_, place in resolve(host, port)))
        for address in found:
            guard.check(host, ipaddress.ip_address(address), port)
    except Refused as error:
        raise GitError(str(error)) from None
    except (OSError, UnicodeError):
        raise GitError("The name of the host cannot be resolved.") from None
    return found


def _files(run: _Run, head: str, folders: Sequence[str]) -> dict[str, bytes]:
    """The ordinary files below some folders of a commit.

    :raises GitError: when they are too many, or too large
    """
    sizes: dict[str, tuple[str, int]] = {}
    for entry in run("ls-tree", "-r", "-z", "-l", "--full-tree", head, "--", *folders).split(b"\0"):
        kind, _, path = entry.partition(b"\t")
        if kind.startswith(b"100"):  # no links, no submodules
            _, _, name, size = kind.decode().split()
            sizes[path.decode("utf-8", "replace")] = name, int(size)
    if len(sizes) > MOST or sum(size for _, size in sizes.values()) > ALL_TOGETHER:
        raise GitError(f"It holds more than {MOST} files, or {ALL_TOGETHER >> 20} MiB, of contents.")
    wanted = {path: name for path, (name, _) in sizes.items()}
    return dict(zip(wanted, _contents(run, list(wanted.values())), strict=True))


def _contents(run: _Run, names: Sequence[str]) -> Iterator[bytes]:
    """The contents of objects, in order."""
    said, place = run("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode()) if names else b"", 0
    for _ in names:
        end = said.index(b"\n", place)
        size = int(said[place:end].rpartition(b" ")[2])
        yield said[end + 1 : end + 1 + size]
        place = end + size + 2
