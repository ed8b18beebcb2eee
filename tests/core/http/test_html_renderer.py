"""Pages that show answers of the API to browsers: the core's own, and those that a package sets in its place."""

from __future__ import annotations

import types
from typing import Any

import pytest
from pyramid.request import Request

from netinv_core.http import negotiation
from netinv_testing import Api, Service

pytestmark = pytest.mark.any_database
TENANTS = "/api/tenancy/tenants/"


@pytest.fixture
def registry(service: Service, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pyramid's registry without the function of another package."""
    registry = service.app.registry
    monkeypatch.setattr(registry, "netinv_html_renderer", None, raising=False)
    monkeypatch.delattr(registry, "netinv_html_renderer")
    return registry


def page(api: Api) -> Any:
    """The answer to a browser."""
    return api.send("GET", TENANTS, version=None, headers={"Accept": "text/html"}, status=200)


def test_the_core_has_a_page_without_scripts(registry: Any, api: Api) -> None:
    answer = page(api)
    assert "&#34;count&#34;" in answer.text
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'unsafe-inline';")


def test_a_package_makes_the_page_in_its_place(registry: Any, api: Api) -> None:
    def first_member(request: Request, body: Any, status: int) -> tuple[bytes, dict[str, str]]:
        return f"<p>{status} {min(body)}".encode(), {"Content-Type": "text/html"}

    negotiation.set_html_renderer(types.SimpleNamespace(registry=registry), first_member)
    try:
        assert page(api).text == "<p>200 count"
    finally:
        del registry.netinv_html_renderer
