"""Random bad requests to every route of a service but the resources of the API, which have checks of their own: pages,
forms, uploads, sign-in, documentation, media, monitoring.

Paths come from the routes of the application and the resources of the registry, names of fields from the forms of the
pages themselves, so pages of packages are attacked too. A seed repeats a run.
"""

from __future__ import annotations

import io
import json
import random
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes

from pyramid.interfaces import IRoutesMapper

from netinv_testing import Account, Samples, Service
from netinv_testing.bad_input import BODIES, HEADERS, QUERIES, VALUES
from netinv_testing.client import PASSWORD
from netinv_web.objects.tab_links import child_tabs, own_tabs
from netinv_web.paths import page_path
from netinv_web.testing.bad_forms import (
    COOKIES,
    FILE_NAMES,
    FORM_TYPES,
    NAMES,
    PAGE_HEADERS,
    PARAMETERS,
    PART_HEADERS,
    PATHS,
    TEXTS,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

METHODS = ("GET",) * 8 + ("POST",) * 10 + ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND")
FIELD = re.compile(r'<(?:input|select|textarea|button)\b[^>]*?\sname="([^"]+)"')
PLACEHOLDER = re.compile(r"\{(\w+)(?::[^{}]*)?\}|\*(\w+)")
OF_API = re.compile(r"/api/.+/.+/")
RESOURCE_PAGE = re.compile(r"\{model(?::([\w-]+))?\}")
SIGNED_OUT, READER, ADMINISTRATOR = "signed out", "reader", "administrator"
FILE_PART = '--b\r\nContent-Disposition: form-data; name="{}"; filename="a.txt"\r\n\r\ntext\r\n'
MAX_FORMS = 150  # pages whose forms are read
Pair = tuple[str, Any]


class PageFuzzer:
    """Sends random requests to the routes of a service, which they may end up damaging: it needs a database of its own.

    ``failures`` are the requests that were answered with a status of 500 or more, or ended in an exception.
    """

    def __init__(self, service: Service, seed: int) -> None:
        self.service = service
        self.choose = random.Random(f"pages {seed}")
        self.failures: list[str] = []
        self.statuses: dict[int, int] = {}
        self.endpoints = list(service.registry.endpoints.values())
        self.keys: dict[str, list[str]] = {}
        self.fields: dict[str, list[str]] = {}
        self.patterns = patterns_of(service)
        self.cookies = {SIGNED_OUT: ""}
        self.kinds = (self.bare, self.query, self.form, self.form, self.form, self.multipart, self.multipart, self.raw)

    def populate(self) -> None:
        """Makes an object of each resource, except of those that need more than a body."""
        samples = Samples(self.service)
        for endpoint in self.endpoints:
            if "add" in endpoint.resource.writes:
                self.service.api.post(endpoint.path, samples.body(endpoint), status=None)

    def run(self, count: int) -> None:
        """Sends so many requests."""
        for _ in range(count):
            self.choose.choice(self.kinds)()

    def send_files(self) -> None:
        """Sends to each route every member of its forms as a file: all of them, and each by itself."""
        for pattern in self.patterns:
            path = self._path_of(pattern)
            names = sorted({*self.names(path), *NAMES})
            for chosen in (names, *([name] for name in names)):
                parts = "".join(FILE_PART.format(name) for name in chosen) + "--b--\r\n"
                headers = {"Origin": "http://localhost", "Content-Type": "multipart/form-data; boundary=b"}
                self.send("POST", path, parts.encode(), headers, user=ADMINISTRATOR)

    # -- paths

    def path(self) -> str:
        """A path of a random route; its placeholders mostly name what there is."""
        if self.choose.random() < 0.03:
            return self.choose.choice(PATHS)
        return self._path_of(self.choose.choice(self.patterns))

    def _path_of(self, pattern: str) -> str:
        endpoint = self.choose.choice(served_resources(self.endpoints, pattern) or self.endpoints)
        values = {"model": endpoint.resource.name, "id": self._key(endpoint), "tab": self._tab(endpoint)}

        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            if name in values and self.choose.random() < 0.95:
                return str(values[name])
            return quote_text(self.choose.choice(TEXTS)[:200])

        path = PLACEHOLDER.sub(value, pattern)
        return path if path.startswith("/") else f"/{path}"

    def _key(self, endpoint: Endpoint) -> str:
        """The id of an object, or of none."""
        if endpoint.label not in self.keys or self.choose.random() < 0.01:
            listed = self.service.api.get(endpoint.path, {"limit": 5}, status=None) or {}
            self.keys[endpoint.label] = [str(item["id"]) for item in listed.get("results", [])]
        return self.choose.choice(self.keys[endpoint.label] or [str(uuid.UUID(int=0))])

    def _tab(self, endpoint: Endpoint) -> str:
        names = [name for name, _ in child_tabs(endpoint)] + [tab.name for tab in own_tabs(endpoint)]
        return self.choose.choice([*names, "zz"])

    # -- names and values

    def names(self, path: str) -> Sequence[str]:
        """The names of the fields of the forms on a page, and those that any page may know."""
        if path not in self.fields and len(self.fields) < MAX_FORMS:
            _, text = self.send("GET", path, user=ADMINISTRATOR)
            self.fields[path] = sorted(set(FIELD.findall(text)))
        return self.fields.get(path) or NAMES

    def text(self) -> str:
        """A bad text: a word, a JSON document, or an id."""
        kind = self.choose.random()
        if kind < 0.6:
            return self.choose.choice(TEXTS)
        if kind < 0.8:
            return json.dumps(self.choose.choice(VALUES))
        if kind < 0.9:
            return self.choose.choice(BODIES).decode("utf-8", "replace")
        return self._key(self.choose.choice(self.endpoints))

    def pairs(self, path: str) -> list[Pair]:
        """Fields of the page's form with bad texts."""
        names = [*self.names(path), self.choose.choice(NAMES)]
        some = self.choose.sample(names, min(len(names), self.choose.choice((1, 2, 4, 40))))
        pairs = [(name, self.text()) for name in some]
        return pairs * self.choose.choice((1, 1, 1, 2))

    # -- requests

    def bare(self) -> None:
        """A request without a query."""
        self.attack(self.choose.choice(METHODS), self.path())

    def query(self) -> None:
        """A query string that is none, or known parameters with bad values."""
        path = self.path()
        kind = self.choose.random()
        if kind < 0.3:
            query = quote(self.choose.choice(QUERIES), safe="=&;%?#[]")
        elif kind < 0.65:
            query = self.choose.choice(PARAMETERS)
        else:
            of_page = served_resources(self.endpoints, path) or self.endpoints
            names = [*(name for endpoint in of_page for name in list(endpoint.filters)[:60]), *NAMES]
            query = "&".join(
                f"{quote_text(self.choose.choice(names))}={quote_text(self.text())[:4000]}" for _ in range(2)
            )
        self.attack(self.choose.choice(("GET", "GET", "HEAD", "POST")), f"{path}?{query}")

    def form(self) -> None:
        """An encoded form, of some charset."""
        path = self.path()
        encoded = "&".join(f"{quote_text(name)}={self._encode(value)}" for name, value in self.pairs(path))
        content = encoded.encode("utf-8", "surrogatepass")
        self.attack("POST", path, content, {"Content-Type": self.choose.choice(FORM_TYPES)})

    def _encode(self, text: str) -> str:
        """A text in percent-encoding, seldom of a broken kind."""
        if self.choose.random() < 0.05:
            return self.choose.choice(("%", "%zz", "%u0041", "%ff", "%ed%a0%80", "%00", "+", "%C3"))
        return quote_text(text)

    def multipart(self) -> None:
        """A form in parts: with strange headers, charsets, file names, or without an end."""
        path, boundary = self.path(), self.choose.choice(("b", "b" * 70, "----x"))
        parts = b"".join(self._part(name, value, boundary) for name, value in self.pairs(path))
        end = f"--{boundary}--\r\n".encode() if self.choose.random() < 0.9 else b""
        content_type = f"multipart/form-data; boundary={boundary}{self.choose.choice(('', '', '; charset=utf-16'))}"
        self.attack("POST", path, parts + end, {"Content-Type": content_type})

    def _part(self, name: str, value: str, boundary: str) -> bytes:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'
        if self.choose.random() < 0.3:
            head += f"; {self.choose.choice(FILE_NAMES)}"
        if self.choose.random() < 0.3:
            head += f"\r\n{self.choose.choice(PART_HEADERS)}"
        content = value.encode("utf-8", "surrogatepass") if self.choose.random() < 0.95 else b"\xff\xfe\x00"
        return head.encode("utf-8", "surrogatepass") + b"\r\n\r\n" + content + b"\r\n"

    def raw(self) -> None:
        """A body that is not what its type says."""
        types = (*FORM_TYPES, "application/json", "text/plain", "")
        self.attack("POST", self.path(), self.choose.choice(BODIES), {"Content-Type": self.choose.choice(types)})

    def attack(self, method: str, target: str, content: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Sends a request of a random user, often with a strange header, and keeps it if it ended in an error."""
        user = self.choose.choice((SIGNED_OUT, READER, ADMINISTRATOR, ADMINISTRATOR, ADMINISTRATOR))
        sent = {"Origin": "http://localhost", **(headers or {})}
        if self.choose.random() < 0.2:
            sent |= self.choose.choice((*HEADERS, *PAGE_HEADERS))
        if self.choose.random() < 0.03:
            sent["Cookie"] = self.choose.choice(COOKIES)
        self.send(method, target, content, sent, user=user)

    def send(
        self,
        method: str,
        target: str,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        user: str = SIGNED_OUT,
    ) -> tuple[int, str]:
        """The status and the text of an answer."""
        environ = environ_of(
            method, target, content, {"Accept": "text/html", "Cookie": self._cookie(user), **(headers or {})}
        )
        try:
            status, text = call(self.service.app, environ)
        except Exception as error:
            status, text = 599, repr(error)
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status >= 500:
            reason = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))[:300]
            self.failures.append(f"{user}: {method} {target[:600]} {headers} {content[:600]!r} → {status} {reason}")
        if status == 303 or method == "POST":
            self.cookies.pop(user, None) if user != SIGNED_OUT and self._is_over(user) else None
        return status, text

    # -- sessions

    def _is_over(self, user: str) -> bool:
        """True for a user whose session has ended."""
        status, _ = call(
            self.service.app, environ_of("GET", "/user/profile/", b"", {"Cookie": self.cookies.get(user, "")})
        )
        return status != 200

    def _cookie(self, user: str) -> str:
        """The cookie of the session of a user, who signs in again where the last one ended."""
        if user not in self.cookies:
            self.cookies[user] = self._signed_in(self._account(user))
        return self.cookies[user]

    def _account(self, user: str) -> Account:
        administrator = self.service.user(superuser=True, password=PASSWORD)
        self.service.api = administrator.api  # a request may have ended the last one
        if user == ADMINISTRATOR:
            return administrator
        view = ("view", ["dcim.site", "users.user"], {"id__gte": str(uuid.UUID(int=1 << 127))})
        return self.service.user(view, ("view add", "ipam.vlan"), password=PASSWORD)

    def _signed_in(self, account: Account) -> str:
        content = f"username={account.username}&password={quote(account.password)}".encode()
        headers = {"Content-Type": FORM_TYPES[0], "Origin": "http://localhost"}
        answered: list[Pair] = []
        call(self.service.app, environ_of("POST", "/login/", content, headers), answered)
        cookies = (value for name, value in answered if name.lower() == "set-cookie")
        return "; ".join(cookie.partition(";")[0] for cookie in cookies)


def patterns_of(service: Service) -> list[str]:
    """The path patterns of all routes but those of the API's resources."""
    mapper = service.app.registry.getUtility(IRoutesMapper)
    return [route.pattern for route in mapper.routelist if not OF_API.match(route.pattern)]


def served_resources(endpoints: Sequence[Endpoint], pattern: str) -> Sequence[Endpoint]:
    """The resources whose pages have a pattern; none for one that names none."""
    base, found = pattern.partition("{")[0], RESOURCE_PAGE.search(pattern)
    of_model = [item for item in endpoints if page_path(item) == f"{base}{item.resource.name}/"]
    if found is not None and found[1]:
        of_model = [item for item in of_model if item.resource.name == found[1]]
    return of_model or [item for item in endpoints if pattern.startswith(page_path(item))]


def quote_text(text: str) -> str:
    """A text in percent-encoding, with lone surrogates as bytes that are not UTF-8."""
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe="")


def environ_of(method: str, target: str, content: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """The WSGI environment that a server makes of a request, whatever its path and headers are."""
    path, _, query = target.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query.encode("utf-8", "surrogatepass").decode("latin-1"),
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "localhost:80",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http",
        "wsgi.version": (1, 0),
        "wsgi.input": io.BytesIO(content),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    if content or method == "POST":
        environ["CONTENT_LENGTH"] = str(len(content))
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        variable = key if key == "CONTENT_TYPE" else f"HTTP_{key}"
        environ[variable] = value.encode("utf-8", "surrogatepass").decode("latin-1")
    return environ


def call(app: Callable[..., Any], environ: dict[str, Any], headers: list[Pair] | None = None) -> tuple[int, str]:
    """The status and the text of an application's answer; its headers are added to a list."""
    status = 0

    def start(line: str, sent: list[Pair], error: Any = None) -> Callable[[bytes], None]:
        nonlocal status
        status = int(line.split()[0])
        if headers is not None:
            headers.extend(sent)
        return lambda data: None

    answer = app(environ, start)
    try:
        body = b"".join(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()
    return status, body.decode("utf-8", "replace")
