"""The pages of every resource of every installed package."""

from __future__ import annotations

import copy

import pytest

from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import PAGE_CHECKS, Browser, PageCase, PageCheck
from tests.support.contract import contract_pairs

PAIRS = contract_pairs(PAGE_CHECKS, any_database=True)
PAGE_SIZE = "25"  # rows of a list, so that pages are small


@pytest.fixture(scope="session")
def own_service(service: Service) -> Service:
    """The service with an administrator of its own: a saved view of the other one may lead from lists elsewhere."""
    own = copy.copy(service)
    own.admin = service.user(superuser=True, password=PASSWORD)
    own.api = own.admin.api
    return own


@pytest.fixture(scope="session")
def browser(own_service: Service) -> Browser:
    """The browser of the administrator, whose lists are short."""
    browser = Browser(own_service, own_service.admin)
    form = browser.get("/user/preferences/").form()
    form["per_page"] = PAGE_SIZE
    form.submit()
    return browser


@pytest.mark.parametrize(("check", "label"), PAIRS)
def test_pages_of_every_resource(
    check: PageCheck, label: str, own_service: Service, browser: Browser, nobody: Browser
) -> None:
    """Each check of pages holds for each resource that it applies to."""
    check.function(PageCase(own_service, browser, nobody, label))
