"""Every page that takes POST, opened by GET and HEAD instead, as by the button *back*, a bookmark or a check of links:
with and without hostile parameters, for objects that are there and for others, in no error of the service.

Pages come from the routes of the application, so that a new one is opened by itself.
"""

from __future__ import annotations

import copy
import itertools
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from netinv_web.testing.fuzzing import PLACEHOLDER, call, environ_of, patterns_of, served_resources
from tests.support.registry import REGISTRY

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

pytestmark = pytest.mark.any_database
MISSING = str(uuid.UUID(int=7))
QUERIES = (
    "",
    "_all=1",
    "_all=x",
    "_all=1&q=zz",
    "pk=1",
    f"pk={MISSING}&pk={MISSING}",
    "pk=&id=",
    "q=%00",
    "page=-1&per_page=0",
    "page=99999999999999999999",
    "return_url=//evil.example&return=//evil.example&next=/%5Cevil.example",
    "q=%ff%fe&%ff=1",
    "id=%ed%a0%80",
    f"q={'x' * 6000}",
    "zz=1&[]=&%5B=&=&&",
    "_step=apply&_part=zz&_columns=zz,,%00",
    "_move=zz&_select=zz&_plan=1",
)
FEW = 4  # of the queries, for a page of an object: other ones for the next page
OF_REQUEST = {"X-Request-ID", "Content-Length", "ETag"}  # headers that two answers need not have in common
# Pages about objects below the path of no resource.
OF_RESOURCE = {"/user/api-tokens/": "users.token"}
FAMILIES = (*sorted(REGISTRY.apps), "")  # applications, and the pages of none


class Pages:
    """The pages of a service that take POST, and a browser's requests of them."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.endpoints = list(service.registry.endpoints.values())
        self.cookie = "; ".join(f"{name}={value}" for name, value in Browser(service, service.admin).cookies.items())
        self.statuses: set[int] = set()

    def patterns(self, family: str | None = None) -> Iterator[tuple[str, Endpoint | None]]:
        """The patterns of routes outside of the API, of all or one application, each with each resource that it serves."""
        for pattern in patterns_of(self.service):
            if pattern.startswith(("/api/", "api/", "static/", "/docs/")):
                continue
            elsewhere = [name for path, name in OF_RESOURCE.items() if pattern.startswith(path)]
            endpoints = [self.service.registry[name] for name in elsewhere] or served_resources(self.endpoints, pattern)
            for endpoint in endpoints or [None]:
                if family is None or family == ("" if endpoint is None else endpoint.app.name):
                    yield pattern, endpoint

    def paths(self, pattern: str, endpoint: Endpoint | None) -> list[str]:
        """The paths of a page that takes POST: about an object, and about one that is not there."""
        missing = self._path(pattern, endpoint, MISSING)
        _, _, headers = self.send("OPTIONS", missing)
        if "POST" not in headers.get("Allow", "POST"):
            return []
        if "{id}" not in pattern or endpoint is None:
            return [missing]
        return [missing, self._path(pattern, endpoint, str(self.service.population.objects(endpoint)[0]["id"]))]

    def _path(self, pattern: str, endpoint: Endpoint | None, key: str) -> str:
        values = {"id": key, "model": endpoint.resource.name if endpoint is not None else "zz"}
        return PLACEHOLDER.sub(lambda found: values.get(found[1], "zz"), pattern)

    def fault(self, path: str, query: str) -> str:
        """Opens a page by GET and HEAD, and tells what is wrong about the answers; nothing if they are right."""
        target = f"{path}?{query}" if query else path
        status, _, headers = self.send("GET", target)
        of_head, body, headers_of_head = self.send("HEAD", target)
        self.statuses.add(status)
        unequal = {name for name, _ in headers.items() ^ headers_of_head.items()} - OF_REQUEST
        if status < 500 and of_head == status and not body and not unequal:
            return ""
        return f"{target[:200]}: GET {status}, HEAD {of_head} {body[:100]} {unequal or ''}"

    def send(self, method: str, target: str) -> tuple[int, str, dict[str, str]]:
        """The status, the text and the headers of an answer."""
        environ = environ_of(method, target, b"", {"Accept": "text/html", "Cookie": self.cookie})
        headers: list[Any] = []
        status, text = call(self.service.app, environ, headers)
        return status, text, dict(headers)


@pytest.fixture(scope="session")
def pages(service: Service) -> Pages:
    """The pages, for an administrator of their own."""
    own = copy.copy(service)
    own.admin = service.user(superuser=True, password=PASSWORD)
    own.api = own.admin.api
    return Pages(own)


def test_pages_of_forms_open_without_a_form(pages: Pages) -> None:
    """Each page for one resource, with another query."""
    # the pages that all resources have are of one application
    by_pattern = {pattern.partition("{model")[2] or pattern: (pattern, of) for pattern, of in pages.patterns()}
    paths = [path for pattern, of in by_pattern.values() for path in pages.paths(pattern, of)]
    faults = [pages.fault(path, query) for path, query in zip(paths, itertools.cycle(QUERIES), strict=False)]
    assert not any(faults), "\n".join(filter(None, faults))
    assert {200, 404, 405} <= pages.statuses


@pytest.mark.night
@pytest.mark.parametrize("family", FAMILIES)
def test_pages_of_forms_open_whatever_the_query_is(pages: Pages, family: str) -> None:
    """Every page of every resource with a few queries in turn; of an object that is not there with one."""
    paths = [path for pattern, of in pages.patterns(family) for path in pages.paths(pattern, of)]
    queries = itertools.cycle(QUERIES)
    faults = [
        pages.fault(path, query) for path in paths for query in itertools.islice(queries, 1 if MISSING in path else FEW)
    ]
    assert not any(faults), "\n".join(filter(None, faults))
