"""Client for untrusted Git remotes: runs the command ``git`` with limits, and keeps credentials out of its output.

The newest commit of a branch is fetched into a temporary bare repository. Files are read from there without a checkout,
so that links, hooks, filters and submodules have no effect.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
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
from urllib.parse import quote

from netinv_core import child_processes
from netinv_core.masking import without_secrets
from netinv_extras.git.contents import StoredContents
from netinv_outgoing.ssrf import ConnectionRefused, Guard, checked_addresses, own_services
from netinv_outgoing.urls import split_url

REF = "refs/netinv/head"
FOLDER_PREFIX = "sync-"
STALE_SECONDS = 24 * 3600
MAX_TOTAL_BYTES = 1 << 26
MAX_FILES = 10_000
TOO_MUCH = f"more than {MAX_FILES} files, or {MAX_TOTAL_BYTES >> 20} MiB,"
MAX_ATTACHMENTS = 50_000
CHUNK_BYTES = 1 << 24  # of contents that are read at once, and one more file
MAX_OUTPUT_BYTES = MAX_TOTAL_BYTES + (1 << 24)  # the contents, and git's header of each file
HEADER_BYTES = 256  # at most, of an object in the output of git
MAX_ERROR_BYTES = 1 << 16
MAX_MEMORY_BYTES = 1 << 31  # address space
_BLOCK_BYTES = 512  # the unit of ulimit -f (POSIX)
# The shell sets resource limits, because Popen's preexec_fn is unsafe with threads. Missing limits are ignored.
_WITH_LIMITS = ("/bin/sh", "-c", 'ulimit -f "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"', "sh")
_PORTS = {"https": 443, "http": 80, "ssh": 22}
_INHERITED = ("PATH", "SSH_AUTH_SOCK", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR")
_CREDENTIAL_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$NETINV_GIT_USERNAME" "$NETINV_GIT_TOKEN"; }; f'
)
_OPTIONS = {
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
    """Failure to fetch or read a repository. The text contains no secret."""


@dataclasses.dataclass(frozen=True)
class Remote:
    """Branch of a remote repository, with credentials."""

    url: str
    branch: str
    username: str = ""
    token: str = dataclasses.field(default="", repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts to mask in output, longest first."""
        if not self.token:
            return ()
        pair = base64.b64encode(f"{self.username}:{self.token}".encode()).decode()
        return tuple(sorted({self.token, quote(self.token, safe=""), pair}, key=len, reverse=True))


@dataclasses.dataclass(frozen=True)
class CommitTree:
    """Files of the commit ``head``, by path. ``left_out`` are the folders whose files are not among them."""

    head: str
    files: Mapping[str, bytes]
    left_out: Sequence[str] = ()


def fetch(
    settings: Mapping[str, Any], remote: Remote, folders: Sequence[str], attachments: Sequence[str] = ()
) -> CommitTree:
    """Fetches the newest commit of a branch, and returns its files below ``folders``, and below each folder of
    ``attachments`` unless they are more than :data:`MAX_ATTACHMENTS` or larger than ``netinv.git_max_size``.

    :raises GitError: when this fails
    """
    root = Path(settings["git_root"])
    with contextlib.ExitStack() as stack:
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_stale(root)
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=root, ignore_cleanup_errors=True)
            )
        except OSError as error:
            raise GitError(f"The folder netinv.git_root cannot be used: {error.strerror}.") from None
        run = _Run(settings, remote, folder)
        run("init", "--quiet", "--bare", ".")
        run("check-ref-format", f"refs/heads/{remote.branch}", message="The branch has a name that no branch can have.")
        fetching = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--")
        branch = f"refs/heads/{remote.branch}:{REF}"
        run(*fetching, run.url, branch, max_bytes=settings["git_max_size"], fetches=True)
        head = run("rev-parse", "--verify", f"{REF}^{{commit}}").decode().strip()
        if not folders:
            return CommitTree(head, {})
        entries = _entries(run, head, [*folders, *attachments])
        left_out = _leave_out(entries, attachments, settings["git_max_size"])
        contents = StoredContents(root)
        for paths in _chunks(entries):
            found = _contents(run, [entries[path][0] for path in paths], sum(entries[path][1] for path in paths))
            for path, content in zip(paths, found, strict=True):
                contents.add(path, content)
        return CommitTree(head, contents, left_out)


def _remove_stale(root: Path) -> None:
    """Removes old folders of killed processes."""
    for folder in root.glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


class _Run:
    """Runs git commands in one folder, all of them within ``netinv.git_timeout`` seconds."""

    def __init__(self, settings: Mapping[str, Any], remote: Remote, folder: str) -> None:
        self._seconds: float = settings["git_timeout"]
        self._end = time.monotonic() + self._seconds
        self._remote, self._folder = remote, folder
        self.url, self._environment = _access(settings, remote, folder)

    def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        message: str = "",
        max_bytes: int = MAX_OUTPUT_BYTES,
        fetches: bool = False,
    ) -> bytes:
        """Runs a git command and returns its output.

        :param max_bytes: limit of its output, and of each file that it writes
        :param fetches: whether it writes packs
        :raises GitError: with ``message`` or git's own error text when it fails, and after the timeout
        """
        program = shutil.which("git")
        if program is None:
            raise GitError("The program git is not installed where the worker runs.")
        limits = str(-(-max_bytes // _BLOCK_BYTES)), str(MAX_MEMORY_BYTES >> 10)
        with self._file() as input_file, self._file() as output, self._file() as errors:
            input_file.write(stdin)
            input_file.seek(0)
            process = subprocess.Popen(  # noqa: S603 - the shell script is constant; no user input can become an option
                [*_WITH_LIMITS, *limits, program, *arguments],
                cwd=self._folder,
                env=self._environment,
                stdin=input_file,
                stdout=output,
                stderr=errors,
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
                    child_processes.reap(process)
            if self._size(output, fetches=fetches) >= max_bytes:  # at which the system ends git
                raise GitError(f"It is larger than {max_bytes >> 20} MiB.")
            errors.seek(0)
            if process.returncode:
                raise GitError(message or self._error_text(errors.read(MAX_ERROR_BYTES)))
            output.seek(0)
            return bytes(output.read())

    def _file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._folder)

    def _size(self, output: IO[bytes], *, fetches: bool) -> int:
        """The size of the output, or of a fetched pack that is larger."""
        packs = Path(self._folder, "objects", "pack").glob("*") if fetches else ()
        return max([os.fstat(output.fileno()).st_size, *(file.stat().st_size for file in packs)])

    def _error_text(self, errors: bytes) -> str:
        text = " ".join(errors.decode("utf-8", "replace").replace("fatal: ", "").split())
        masked = without_secrets(text, self._remote.secrets)
        printable = "".join(character for character in masked if character.isprintable())
        return f"git: {printable[:500] or 'it failed without a word'}"


def _access(settings: Mapping[str, Any], remote: Remote, folder: str) -> tuple[str, dict[str, str]]:
    """Returns the URL for git, and an environment that restricts git to this URL.

    :raises GitError: for a protocol, host or port that is not allowed
    """
    parts = split_url(remote.url)
    if parts is None:
        raise GitError("The URL is not valid.")
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    if scheme not in settings["git_protocols"]:
        raise GitError(f"netinv.git_protocols does not allow {scheme}://.")
    options, url = dict(_OPTIONS), remote.url
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment |= {"HOME": folder, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    environment |= {"GIT_ALLOW_PROTOCOL": scheme, "GIT_ASKPASS": "false", "SSH_ASKPASS": "false"}
    if scheme == "file":
        url = f"file://{parts.path}"
    else:
        port = parts.port or _PORTS[scheme]
        addresses = _addresses(settings, host, port)
        if scheme == "ssh":
            ssh = ["ssh", "-oBatchMode=yes", "-oConnectTimeout=10", "-oPermitLocalCommand=no"]
            ssh += [f"-oHostName={addresses[0]}", f"-oHostKeyAlias={host}"]
            environment |= {"GIT_SSH_COMMAND": shlex.join(ssh), "GIT_SSH_VARIANT": "ssh"}
        elif addresses != [host]:
            options["http.curloptResolve"] = f"{host}:{port}:{','.join(addresses)}"
    if scheme in ("http", "https") and remote.token:
        options[f"credential.{scheme}://{parts.netloc}.helper"] = _CREDENTIAL_HELPER
        environment |= {"NETINV_GIT_USERNAME": remote.username or "oauth2", "NETINV_GIT_TOKEN": remote.token}
    environment["GIT_CONFIG_COUNT"] = str(len(options))
    for number, (name, value) in enumerate(options.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return url, environment


def _addresses(settings: Mapping[str, Any], host: str, port: int) -> list[str]:
    """Resolves a host and checks all its addresses. Git connects to these, which prevents DNS rebinding.

    :raises GitError: when an address is not allowed, or the name cannot be resolved
    """
    guard = Guard(settings["git_allow"], "netinv.git_allow", own_services(settings))
    try:
        entries = checked_addresses(guard, host, port)
    except ConnectionRefused as error:
        raise GitError(str(error)) from None
    except (OSError, UnicodeError):
        raise GitError("The name of the host cannot be resolved.") from None
    return list(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in entries))


def _entries(run: _Run, head: str, folders: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Lists the regular files below some folders of a commit: name of the object and its size, by path."""
    entries: dict[str, tuple[str, int]] = {}
    for entry in run("ls-tree", "-r", "-z", "-l", "--full-tree", head, "--", *folders).split(b"\0"):
        kind, _, path = entry.partition(b"\t")
        if kind.startswith(b"100"):  # no links, no submodules
            _, _, name, size = kind.decode().split()
            entries[path.decode("utf-8", "replace")] = name, int(size)
    return entries


def _leave_out(entries: dict[str, tuple[str, int]], attachments: Sequence[str], max_bytes: int) -> list[str]:
    """Removes the files of attachments that are more than the limits allow; returns their folders.

    :raises GitError: when there are too many other files, or they are too large
    """
    sizes: dict[str, list[int]] = {}
    for path, (_, size) in entries.items():
        folder = path.partition("/")[0]
        sizes.setdefault(folder if folder in attachments else "", []).append(size)
    taken = sizes.pop("", [])
    count, total = len(taken), sum(taken)
    if count > MAX_FILES or total > MAX_TOTAL_BYTES:
        raise GitError(f"It holds {TOO_MUCH} of contents.")
    left_out = []
    count, total = 0, 0
    for folder, of_folder in sorted(sizes.items()):
        if count + len(of_folder) > MAX_ATTACHMENTS or total + sum(of_folder) > max_bytes:
            left_out.append(folder)
        else:
            count, total = count + len(of_folder), total + sum(of_folder)
    for path in [path for path in entries if path.partition("/")[0] in left_out]:
        del entries[path]
    return left_out


def _chunks(entries: Mapping[str, tuple[str, int]]) -> Iterator[list[str]]:
    """Yields the paths in groups of :data:`CHUNK_BYTES`; a larger file ends its group."""
    paths: list[str] = []
    total = 0
    for path, (_, size) in entries.items():
        paths.append(path)
        total += size
        if total >= CHUNK_BYTES:
            yield paths
            paths, total = [], 0
    if paths:
        yield paths


def _contents(run: _Run, names: Sequence[str], size: int) -> Iterator[bytes]:
    """Yields the contents of Git objects, of some size together, in order: parsed from the output of ``git cat-file
    --batch``.
    """
    names_text = "".join(f"{name}\n" for name in names)
    max_bytes = size + HEADER_BYTES * (len(names) + 1)
    output = run("cat-file", "--batch", stdin=names_text.encode(), max_bytes=max_bytes)
    position = 0
    for _ in names:
        end = output.index(b"\n", position)
        size = int(output[position:end].rpartition(b" ")[2])
        yield output[end + 1 : end + 1 + size]
        position = end + size + 2
