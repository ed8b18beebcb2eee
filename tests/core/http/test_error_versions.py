"""Every error of the API names its version in ``API-Version``: the one asked for, or the default one."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.http.versions import DEFAULT
from netinv_testing import Service

SITES = "/api/dcim/sites/"
# status, method, path, options of the request
ERRORS: list[tuple[int, str, str, dict[str, Any]]] = [
    (400, "GET", SITES, {"query": {"nothing": "1"}}),
    (400, "POST", SITES, {"body": {}}),
    (400, "POST", SITES, {"body": b"{"}),
    (400, "GET", SITES, {"query": {"limit": ["1", "2"]}}),
    (404, "GET", "/api/zz/", {}),
    (404, "GET", "/api/dcim/zz/", {}),
    (404, "GET", "/api/zz", {}),
    (404, "POST", "/api/zz/", {"body": {}}),
    (404, "OPTIONS", "/api/zz/", {}),
    (404, "GET", f"{SITES}00000000-0000-4000-8000-000000000000/", {}),
    (404, "GET", f"{SITES}zz/", {}),
    (404, "GET", "/api/./", {}),
    (404, "GET", "/api/%ff/", {}),
    (405, "DELETE", "/api/", {}),
    (405, "PROPFIND", SITES, {}),
    (406, "GET", SITES, {"headers": {"Accept": "image/png"}}),
    (414, "GET", f"/api/{'z' * 5000}/", {}),
    (415, "POST", SITES, {"body": b"<a/>", "headers": {"Content-Type": "text/xml"}}),
]


@pytest.mark.parametrize(("status", "method", "path", "options"), ERRORS)
def test_an_error_names_the_version(
    service: Service, status: int, method: str, path: str, options: dict[str, Any]
) -> None:
    answer = service.api.send(method, path, version=None, status=status, **options)
    assert answer.headers["API-Version"] == DEFAULT
    if "headers" not in options and status != 414:
        answer = service.api.send(method, path, version="1.5", status=status, **options)
        assert answer.headers["API-Version"] == "1.5"


def test_errors_without_permission_name_it_too(service: Service) -> None:
    for api, status in ((service.anonymous, 403), (service.user().api, 403)):
        assert api.send("GET", SITES, version="1.4", status=status).headers["API-Version"] == "1.4"
    refused = service.anonymous.send("GET", "/api/zz/", query={"api_version": "1.3"}, version=None, status=404)
    assert refused.headers["API-Version"] == "1.3"
    basic = {"Authorization": "Token zz"}
    answer = service.anonymous.send("GET", SITES, headers=basic, version=None, status=(401, 403))
    assert answer.headers["API-Version"] == DEFAULT


def test_a_body_that_is_too_large_names_it(service: Service) -> None:
    answer = service.anonymous.send("POST", SITES, b"[" + b" " * 70_000 + b"]", version="1.6", status=413)
    assert answer.headers["API-Version"] == "1.6"
