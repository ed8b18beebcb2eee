"""The documentation site: what the service shows at ``/docs/``, and how it is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import webtest
from pyramid.static import static_view

from netinv_testing import Service
from netinv_web import documentation
from release.site import build

pytestmark = pytest.mark.any_database
TEXT = "<!DOCTYPE html><title>A page</title>"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the site, without pages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(documentation, "FOLDER", folder)
    monkeypatch.setattr(documentation, "_files", static_view(str(folder), use_subpath=True))
    return folder


@pytest.fixture
def visitor(service: Service) -> webtest.TestApp:
    """A browser of a user who has not signed in."""
    return webtest.TestApp(service.app, extra_environ={"HTTP_ACCEPT": "text/html"})


def test_everybody_reads_the_site(site: Path, visitor: webtest.TestApp) -> None:
    (site / "index.html").write_text(TEXT)
    answer = visitor.get("/docs", status=302).follow()
    assert answer.text == TEXT
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'; ")
    assert "script-src" not in answer.headers["Content-Security-Policy"]


def test_a_folder_is_found_without_a_slash_below_a_mount_point(
    site: Path, service: Service, visitor: webtest.TestApp
) -> None:
    for folder in (site, site / "reference"):
        folder.mkdir(exist_ok=True)
        (folder / "index.html").write_text(TEXT)
    with service.configured(base_url="http://localhost/netinv"):
        for path in ("/netinv/docs", "/netinv/docs/reference"):
            answer = visitor.get(path)
            assert answer.headers["Location"].removeprefix("http://localhost") == f"{path}/"
            assert answer.follow().text == TEXT


def test_a_page_that_does_not_exist_is_not_found(site: Path, visitor: webtest.TestApp) -> None:
    (site / "index.html").write_text(TEXT)
    (site.parent / "secret").write_text("not part of the site")
    for path in ("nothing.html", "nothing/", "%2e%2e/secret", "..%2fsecret", "%00"):
        visitor.get(f"/docs/{path}", status=404)
    visitor.post("/docs/", status=405)


def test_a_service_without_the_site_says_how_to_build_it(site: Path, visitor: webtest.TestApp) -> None:
    assert "make docs" in visitor.get("/docs/", status=404).text
    assert not documentation.is_built()


@pytest.mark.slow
@pytest.mark.night
def test_the_site_is_built_without_warnings_and_needs_no_other_host(tmp_path: Path) -> None:
    build(tmp_path)
    sites = (tmp_path / "reference" / "models" / "dcim-sites.html").read_text()
    assert "<code>dcim.site add</code>" in sites
    assert "netinv.webhook_total_timeout" in (tmp_path / "reference" / "settings.html").read_text()
    for page in tmp_path.rglob("*.html"):
        text = page.read_text()
        assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=\"", text), page
        assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//", text), page
