"""The pages of every resource of every installed package."""

from __future__ import annotations

import pytest

from netinv_core.main import registry_for
from netinv_core.testing import Service
from netinv_web.testing import PAGE_CHECKS, Browser, PageCase, PageCheck

ENDPOINTS = registry_for("sqlite", {}).endpoints
PAIRS = [
    pytest.param(check, label, id=f"{label}-{check.name}")
    for label in sorted(ENDPOINTS)
    for check in PAGE_CHECKS
    if check.applies(ENDPOINTS[label])
]


@pytest.mark.parametrize(("check", "label"), PAIRS)
def test_pages_of_every_resource(
    check: PageCheck, label: str, service: Service, browser: Browser, nobody: Browser
) -> None:
    """Each check of pages holds for each resource that it applies to."""
    check.function(PageCase(service, browser, nobody, label))
