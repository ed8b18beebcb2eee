"""One of the two services: sends requests, knows the ids of the objects by their labels, and normalises answers."""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Any

import requests

LABEL = re.compile(r"\$([a-z][a-z0-9_]*)")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ][\d:.]+(?:Z|z|[+-]\d\d:\d\d)?")
_INTEGER_ID = re.compile(r"/api/(users/groups|extras/content-types)/\d+/")
_CONTENT_TYPES = re.compile(r"(?:content_types?|object_types|_type)\Z")
_KEY = re.compile(r"\b[0-9a-f]{40}\b")
_DEPENDENTS = " dependent objects were found: "
NOWHERE = "00000000-0000-0000-0000-000000000000"


class UnknownLabel(Exception):
    """A request names an object that could not be created on this service."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """The status and the normalised body of an answer."""

    status: int
    body: Any
    id: Any = None

    @property
    def failed(self) -> bool:
        """True for a 5xx."""
        return self.status >= 500


class Service:
    """A running service at ``url``; ``ids`` holds the id of each labelled object."""

    def __init__(self, url: str, token: str, version: str) -> None:
        self.url = url.rstrip("/")
        self.ids: dict[str, Any] = {"nowhere": NOWHERE}
        self.requests = 0
        self._labels: dict[str, str] = {NOWHERE: "nowhere"}
        self._content_types: dict[int, str] = {}
        self._session = requests.Session()
        self._session.trust_env = False
        accept = f"application/json; version={version}"
        self._session.headers.update({"Authorization": f"Token {token}", "Accept": accept})
        today = datetime.datetime.now(datetime.UTC).date()
        days = [str(today + datetime.timedelta(offset)) for offset in (-1, 0, 1)]
        self._day = re.compile("|".join(days))

    def bind(self, label: str, key: Any) -> None:
        """Gives the object with this id a label."""
        self.ids[label] = key
        if isinstance(key, str):
            self._labels[key] = label

    def unbind(self, label: str) -> None:
        """Forgets a label; the id keeps its name in answers, so that texts about deleted objects stay comparable."""
        self.ids.pop(label, None)

    def raw(self, method: str, path: str, body: Any = None) -> requests.Response:
        """The answer to a request for a path below ``/api/``, in which labels are replaced by ids."""
        self.requests += 1
        place, _, query = str(self.fill(path)).partition("?")
        whole = place.strip("/") + ("/" if place and "." not in place.rpartition("/")[2] else "")
        address = f"{self.url}/api/{whole}" + (f"?{query}" if query else "")
        sent = None if body is None else self.fill(body)
        return self._session.request(method, address, json=sent, timeout=300, allow_redirects=False)

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """The normalised answer to a request.

        :raises UnknownLabel: when the request names an object that is not there
        """
        response = self.raw(method, path, body)
        try:
            decoded = response.json() if response.content else None
        except ValueError:
            decoded = f"<{response.headers.get('Content-Type', '').partition(';')[0]}>"
        key = decoded.get("id") if isinstance(decoded, dict) else None
        if isinstance(decoded, dict) and method == "GET" and decoded.get("results"):
            first = decoded["results"][0]
            key = first.get("id") if isinstance(first, dict) else None
        return Answer(response.status_code, self.normalise(decoded), key)

    def fill(self, value: Any) -> Any:
        """The value with ``$label`` replaced by the id of the object on this service.

        :raises UnknownLabel: when there is no such object
        """
        if isinstance(value, str):
            whole = LABEL.fullmatch(value)
            if whole and whole[1] in self.ids:
                return self.ids[whole[1]]
            return LABEL.sub(lambda match: str(self._id(match[1])), value)
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {self.fill(name): self.fill(item) for name, item in value.items()}
        return value

    def _id(self, label: str) -> Any:
        if label not in self.ids:
            raise UnknownLabel(label)
        return self.ids[label]

    def normalise(self, value: Any, name: str = "") -> Any:
        """The value without what differs between any two services: ids, addresses, times, keys of tokens, numbers of
        content types.
        """
        if isinstance(value, str):
            return self._normalise_text(value)
        if isinstance(value, int) and _CONTENT_TYPES.search(name):
            return self._content_type(value)
        if isinstance(value, list):
            items = [self.normalise(item, name) for item in value]
            numbers = _CONTENT_TYPES.search(name) and all(isinstance(item, int) for item in value)
            return sorted(items, key=str) if numbers else items
        if isinstance(value, dict):
            named = {self._normalise_text(key): self.normalise(item, key) for key, item in value.items()}
            if isinstance(value.get("id"), int) and _INTEGER_ID.search(str(value.get("url"))):
                named["id"] = "<number>"
            return named
        return value

    def _content_type(self, number: int) -> str | int:
        """The label of the content type with this number here, in the change records of the services."""
        if not self._content_types:
            listed = self.raw("GET", "extras/content-types?limit=0").json()["results"]
            self._content_types.update((item["id"], f"{item['app_label']}.{item['model']}") for item in listed)
        return self._content_types.get(number, number)

    def _normalise_text(self, text: str) -> str:
        text = text.replace(self.url, "")
        text = _UUID.sub(lambda match: f"${self._labels.get(match[0], 'id')}", text)
        text = _INTEGER_ID.sub(r"/api/\1/<number>/", text)
        text = _TIME.sub("<time>", text)
        text = self._day.sub("<date>", text)
        text = _KEY.sub("<key>", text)
        head, separator, tail = text.partition(_DEPENDENTS)
        if separator:
            text = head + separator + ", ".join(sorted(re.split(r"(?<=\)), ", tail)))
        return text
