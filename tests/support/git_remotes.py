"""Remote Git repositories for tests: real ones, in a folder, also served by HTTP."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.receivers import Received

_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{part}": "test@example.com" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
}


class Remote:
    """A repository whose branch is ``main``: files are written and removed, and are there once they are committed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"file://localhost{folder}"
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, given: str = "") -> str:
        """The output of git for an input."""
        command = ["git", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=_ENVIRONMENT, check=True, capture_output=True, text=True, input=given
        ).stdout.strip()

    def write(self, files: dict[str, str | bytes | None]) -> str:
        """Commits files by path (``None`` removes one), and gives the head."""
        for path, content in files.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.unlink()
            else:
                place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=more")
        return self.git("rev-parse", "HEAD")

    def answer(self, username: str, password: str) -> Any:
        """An answer for a ``Receiver`` that serves the folder above, to those who have the credentials."""
        wanted = f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"

        def serve(handler: Any, request: Received) -> None:
            if handler.headers.get("Authorization") != wanted:
                handler.send_response(401)
                handler.send_header("WWW-Authenticate", 'Basic realm="git"')
                handler.send_header("Content-Length", "0")
                handler.end_headers()
                return
            status, headers, body = self._backend(handler, request)
            handler.send_response(status)
            for name, value in [*headers, ("Content-Length", str(len(body)))]:
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)

        return serve

    def _backend(self, handler: Any, request: Received) -> tuple[int, list[tuple[str, str]], bytes]:
        """What git's own CGI answers."""
        path, _, query = request.path.partition("?")
        variables = {
            "GIT_PROJECT_ROOT": str(self.folder.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(request.body)),
            "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
        }
        found = subprocess.run(
            ["git", "http-backend"],
            env={**_ENVIRONMENT, **variables},
            input=request.body,
            check=True,
            capture_output=True,
        ).stdout
        head, _, body = found.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        return status, [(name, value) for name, value in headers if name != "Status"], body
