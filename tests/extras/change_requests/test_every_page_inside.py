"""Every page of every resource is served in a change request, or says the way out."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_extras.change_requests.models import LABEL
from netinv_extras.change_requests.proposals import is_offered
from netinv_testing import Service
from netinv_testing.cases import Case, writable
from netinv_testing.client import PASSWORD
from netinv_web.paths import page_path
from netinv_web.testing import Browser
from tests.support.contract import ENDPOINTS, every

REQUESTS, SITES = "/api/extras/change-requests/", "/api/dcim/sites/"
PAGES = sorted(label for label, endpoint in ENDPOINTS.items() if label != LABEL and endpoint.resource.of is None)
OUTSIDE = ("add/", "edit/", "delete/")  # pages that write


@pytest.fixture(scope="session")
def inside(service: Service) -> tuple[Browser, dict[str, str]]:
    """A browser that entered a change request with a change, and the header that names it."""
    key = service.api.post(REQUESTS, {"title": service.unique()})["id"]
    headers = {"X-Change-Request": key}
    service.api.post(SITES, {"name": service.unique(), "status": "active"}, headers=headers)
    browser, path = Browser(service, service.user(superuser=True, password=PASSWORD)), f"/extras/change-requests/{key}/"
    browser.get(path).form(action=f"{path}enter/").submit()
    return browser, headers


@pytest.mark.parametrize("label", every(PAGES, 0, any_database=True))
@pytest.mark.night
def test_its_pages_are_served_inside(service: Service, inside: Any, label: str) -> None:
    browser, headers = inside
    case, endpoint, found = Case(service, label), ENDPOINTS[label], page_path(ENDPOINTS[label])
    paths = [found, f"{found}add/", f"{found}import/"]
    if writable(endpoint):
        options = {"headers": headers} if is_offered(endpoint) else {}
        item = case.api.post(case.path, case.body(), **options)
        own = f"{found}{item['id']}/"
        page = browser.get(own, status="*")
        tabs = (
            {link for link in page.links() if link.startswith(own) and "?" not in link}
            if page.status_int == 200
            else set()
        )
        paths += sorted({own, f"{own}?_show=all", f"{own}edit/", f"{own}delete/", *tabs})
    statuses = {path: browser.get(path, status="*") for path in paths}
    for path, page in statuses.items():
        if page.status_int == 200:
            assert page.html.select(".banner"), f"{path} has no bar"
        elif page.status_int == 409:
            assert path.endswith(OUTSIDE) and not is_offered(endpoint), path
            assert "Leave the change request first" in page.text
        else:
            assert page.status_int in (403, 404), f"{path}: {page.status}"
