"""Fixtures of tests of pages, for ``pytest_plugins`` of a ``conftest.py``."""

from __future__ import annotations

import pytest

from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser


@pytest.fixture(scope="session")
def browser(service: Service) -> Browser:
    """The browser of an administrator."""
    return Browser(service, service.admin)


@pytest.fixture(scope="session")
def nobody(service: Service) -> Browser:
    """The browser of a user without permissions."""
    account = service.user(password=PASSWORD)
    return Browser(service, account)
