"""Tests of pages: a browser without scripts, and checks that the pages of every resource pass.

``for check in PAGE_CHECKS: if check.applies(endpoint): check.function(PageCase(service, browser, nobody,
endpoint.label))`` runs them for one resource; see ``tests/web/test_contract_pages.py`` for how netinv does it.
"""

from netinv_web.testing import hidden_checks as hidden_checks  # registers its check
from netinv_web.testing import hostile_forms as hostile_forms  # registers its check
from netinv_web.testing import named_parts as named_parts  # registers its check
from netinv_web.testing.browser import Browser, BrowserPage
from netinv_web.testing.checks import PAGE_CHECKS, PageCase, PageCheck

__all__ = ["PAGE_CHECKS", "Browser", "BrowserPage", "PageCase", "PageCheck"]
