"""One connection to the service that says at once when an answer is not what was asked for."""

from __future__ import annotations

from typing import Any

import requests


class Client:
    """A session; ``calls`` are given as method, path below ``/api/`` and JSON body."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.url = f"{url}/api/"
        self.session = requests.Session()
        self.session.headers.update(headers)

    def call(self, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        """The decoded body of the answer.

        :raises RuntimeError: when the status is another than expected
        """
        answer = self.session.request(method, self.url + path, json=body, timeout=600)
        if answer.status_code != expect:
            raise RuntimeError(f"{method} {path}: {answer.status_code} instead of {expect}: {answer.text[:500]}")
        return answer.json() if answer.content else None
