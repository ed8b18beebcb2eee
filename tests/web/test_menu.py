"""The menu: each entry has a name of its own, and leads to a page that is headed by it."""

from __future__ import annotations

import re
from collections import Counter

from netinv_testing import Service
from netinv_web.testing import Browser

COUNT = re.compile(r" [0-9,]+$")  # of the objects of a list
OTHERS = ("/api/", "/api/docs/", "/")  # pages for programs, and the mark of the service


def entries(browser: Browser) -> list[tuple[str, str]]:
    """The titles and paths of the menu."""
    links = browser.get("/").html.select("nav li a[href]:not([href$='/add/'])")
    found = {link["href"]: " ".join(link.get_text().split()) for link in links}
    return [(title, path) for path, title in found.items() if path not in OTHERS and path.startswith("/")]


def test_entries_have_names_of_their_own(service: Service) -> None:
    names = Counter(title for title, _ in entries(Browser(service, service.admin)))
    assert len(names) > 50 and [name for name, count in names.items() if count > 1] == []


def test_pages_are_headed_by_their_entry(service: Service) -> None:
    browser = Browser(service, service.admin)
    headings = {path: " ".join(browser.get(path).html.h1.get_text().split()) for _, path in entries(browser)}
    assert {path: COUNT.sub("", heading) for path, heading in headings.items()} == {
        path: title for title, path in entries(browser)
    }
