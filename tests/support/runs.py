"""Work of pages in the background: a service on a database of its own with the ``SETTINGS`` of the test module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_extras.jobs import runner
from netinv_testing import Service
from netinv_web.testing import Browser
from tests.support.databases import migrated_database


@pytest.fixture(scope="module")
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_template: str
) -> Iterator[Service]:
    """The service, whose settings say what is long work."""
    with migrated_database(tmp_path_factory.mktemp("runs"), database_template) as engine:
        service = Service(engine, request.module.SETTINGS)
        yield service
        runner.runner(engine, service.registry).stop(0)


@pytest.fixture(scope="module")
def browser(service: Service) -> Browser:
    """The browser of an administrator."""
    return Browser(service, service.admin)


def undone(browser: Browser, page: Any) -> None:
    """Undoes what the notice of a page is about."""
    undo = page.html.select_one("[data-notice] form")
    asked = browser.post(undo["action"], {item["name"]: item["value"] for item in undo.select("input")}, status=200)
    next(form for form in asked.forms.values() if "_step" in form.fields).submit("_step", value="apply", status=303)
