"""Client for the lists of another service's REST API: page by page, with retries, and a file to continue from."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

from netinv_outgoing.urls import query_of

PAGE_SIZE = 500
ATTEMPTS = 6
TIMEOUT_SECONDS = 60
MAX_WAIT_SECONDS = 60.0
BUSY = frozenset({429, 500, 502, 503, 504})
DENIED = frozenset({401, 403})
Page = list[dict[str, Any]]
pause = time.sleep


class NotAList(LookupError):
    """Error of a path that does not answer with a list."""


class ListDenied(ValueError):
    """Error of a list that the token may not read."""


class PageFile:
    """The pages read so far, as JSON lines; a last line that was cut off is dropped. Without a path none are kept.

    In memory are the positions of the pages in the file.
    """

    def __init__(self, path: Path | None, source: str) -> None:
        self._path = path
        self._positions: dict[str, list[int]] = {}
        self._next: dict[str, str | None] = {}
        if path is None:
            return
        if path.is_file():
            self._read(path, source)
        else:
            self._append({"source": source})

    def _read(self, path: Path, source: str) -> None:
        """Reads the positions of the pages.

        :raises ValueError: when they come from another source
        """
        position = 0
        with path.open("r+b") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._note(path, position, _line(path, line), source)
                position += len(line)
            file.truncate(position)
        if position == 0:
            self._append({"source": source})

    def _note(self, path: Path, position: int, line: dict[str, Any], source: str) -> None:
        """Notes the position of a page; the first line names the source."""
        if position > 0 and "path" in line:
            self._positions.setdefault(line["path"], []).append(position)
            self._next[line["path"]] = line["next"]
        elif line.get("source") != source:
            raise ValueError(f"{path} holds the state of another import")

    def has(self, path: str) -> bool:
        """True when pages of a list have been read."""
        return path in self._positions

    def next_unread(self, path: str) -> str | None:
        """Returns the query of the first page of a list that has not been read; ``None`` after the last one."""
        return self._next[path]

    def pages(self, path: str) -> Iterator[Page]:
        """Yields the pages of a list that have been read."""
        if self._path is None:
            return
        for position in self._positions.get(path, ()):
            with self._path.open("rb") as file:
                file.seek(position)
                results: Page = json.loads(file.readline())["results"]
            yield results

    def add(self, path: str, results: Page, following: str | None) -> None:
        """Adds a page."""
        self._append({"path": path, "results": results, "next": following})

    def _append(self, line: dict[str, Any]) -> None:
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")


def _line(path: Path, line: bytes) -> dict[str, Any]:
    """Returns a line of a state file.

    :raises ValueError: when it is none
    """
    try:
        content = json.loads(line)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ValueError(f"{path} does not hold the state of an import")
    return content


class RestClient:
    """A service at ``url``, which may contain the path that it is served below."""

    def __init__(self, url: str, token: str, state: Path | None = None) -> None:
        self.url = url.rstrip("/").removesuffix("/api")
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Accept"] = "application/json"
        if token:
            self._session.headers["Authorization"] = f"Token {token}"
        self._file = PageFile(state, self.url)
        self._query = ""

    def use_query(self, query: str) -> None:
        """Adds a query to the requests of lists from now on."""
        self._query = query

    def use_version(self, version: str) -> None:
        """Asks for representations of an API version from now on."""
        self._session.headers["Accept"] = f"application/json; version={version}"

    def get(self, path: str, query: str = "", attempts: int = ATTEMPTS) -> Any:
        """Returns the JSON of a path below ``/api/``. Repeats the request when the service is busy or does not answer.

        :raises ValueError: when there is no such answer
        """
        address = f"{self.url}/api/{path}" + (f"?{query}" if query else "")
        for attempt in range(attempts):
            seconds = min(2.0**attempt, MAX_WAIT_SECONDS)
            try:
                answer = self._session.get(address, timeout=TIMEOUT_SECONDS)
                if answer.status_code not in BUSY:
                    return _content(answer, address)
                problem = f"{address} answers {answer.status_code}"
                seconds = _retry_after(answer, seconds)
            except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema):
                raise ValueError(f"{self.url} is not a URL") from None
            except requests.exceptions.RequestException as error:
                problem = f"cannot read {address}: {_reason(error)}"
            if attempt + 1 < attempts:
                pause(seconds)
        raise ValueError(problem)

    def pages(self, path: str) -> Iterator[Page]:
        """Yields the pages of a list, those of the state file first.

        :raises NotAList: when the path does not answer with a list
        """
        query: str | None = "&".join(filter(None, (f"limit={PAGE_SIZE}", self._query)))
        if self._file.has(path):
            yield from self._file.pages(path)
            query = self._file.next_unread(path)
        while query is not None:
            answer = self.get(path, query)
            if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
                raise NotAList(path)
            following = query_of(str(answer["next"])) if answer.get("next") else None
            self._file.add(path, answer["results"], following)
            yield answer["results"]
            query = following

    def count(self, path: str) -> int:
        """Returns the number of objects in a list, without reading them."""
        answer = self.get(path, "limit=1")
        if not isinstance(answer, dict) or not isinstance(answer.get("count"), int):
            raise NotAList(path)
        return int(answer["count"])


def _content(answer: requests.Response, address: str) -> Any:
    """Returns the JSON of an answer."""
    if answer.status_code in DENIED:
        raise ListDenied(f"{address} answers {answer.status_code}: the token is wrong, or may not read it")
    if answer.status_code in (400, 404, 405):
        raise NotAList(f"{address} answers {answer.status_code}")
    if answer.status_code != 200:
        raise ValueError(f"{address} answers {answer.status_code}")
    try:
        return answer.json()
    except ValueError:
        raise ValueError(f"{address} does not answer with JSON: is this the address of the service?") from None


def _retry_after(answer: requests.Response, otherwise: float) -> float:
    """Returns the seconds that a busy service asks to wait (RFC 9110, 10.2.3)."""
    try:
        return min(max(float(answer.headers.get("Retry-After", "")), 0.0), MAX_WAIT_SECONDS)
    except ValueError:
        return otherwise


def _reason(error: Exception) -> str:
    """Returns why a request failed, in a few words."""
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not valid"
    if isinstance(error, requests.exceptions.Timeout):
        return f"no answer in {TIMEOUT_SECONDS} seconds"
    if "refused" in str(error):
        return "the connection was refused"
    if "resolve" in str(error) or "resolution" in str(error):
        return "its name is not known"
    return "the connection ended"
