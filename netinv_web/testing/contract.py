"""Contract of the pages of the installed plugins: tests that ``pytest --netinv`` collects."""

from __future__ import annotations

import pytest

from netinv_testing import Service
from netinv_testing.plugins import contract_of_plugins
from netinv_web.testing import PAGE_CHECKS, Browser, PageCase, PageCheck
from netinv_web.testing.fixtures import browser as browser
from netinv_web.testing.fixtures import nobody as nobody


@pytest.mark.parametrize(("check", "label"), contract_of_plugins(PAGE_CHECKS))
def test_pages_of_plugins(check: PageCheck, label: str, service: Service, browser: Browser, nobody: Browser) -> None:
    """Each check holds for the pages of each resource that it applies to."""
    check.function(PageCase(service, browser, nobody, label))
