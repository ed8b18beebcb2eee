"""Fixtures of tests in a real browser: the service with the demo inventory, and pages of Chromium.

Without Chromium these tests are skipped with a word saying so; ``.ci/run`` installs it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_core.auth import identity
from netinv_core.driver.sessions import commit
from netinv_core.uow import UnitOfWork
from netinv_testing import Service
from netinv_testing.client import PASSWORD
from tests.support.databases import migrated_database
from tests.support.http_server import served
from tests.support.jobs import JOBS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DEVICES = 220  # of the demo inventory
WIDTH, HEIGHT = 1280, 800  # pixels
PHONE_WIDTH = 390
# Messages that Chromium writes about answers which the test asks for, such as 422 of a form.
EXPECTED_MESSAGES = ("Failed to load resource: the server responded with a status of 4",)


def press(page: Any, *keys: str) -> None:
    """Presses keys, one after the other, on a page whose scripts listen: they run before it is loaded."""
    for key in keys:
        page.wait_for_load_state("domcontentloaded")
        page.keyboard.press(key)


def path_with_ids(service: Service, path: str) -> str:
    """The path with ``{label}`` replaced by the id of the first object of the resource."""
    for endpoint in service.registry.endpoints.values():
        if f"{{{endpoint.label}}}" in path:
            item = service.api.get(endpoint.path, {"limit": 1})["results"][0]
            path = path.replace(f"{{{endpoint.label}}}", str(item["id"]))
    return path


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    if CHROMIUM is None:
        pytest.fail("Chromium is not installed (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def demo_service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service with the demo inventory."""
    from netinv_demo.generator import load_inventory

    folder = tmp_path_factory.mktemp("browser")
    with migrated_database(folder, database_template) as engine:
        service = Service(
            engine, {**JOBS, "netinv.media_root": str(folder / "media"), "netinv.webhook_allow": "127.0.0.0/8"}
        )
        with service.app.registry.netinv_sessions() as session:
            uow = UnitOfWork(service.registry, session, identity.ANONYMOUS, writing=True)
            uow.identity = identity.by_username(uow, service.admin.username)
            load_inventory(uow, lambda line: None, devices=DEVICES)
            commit(session)
        yield service


@pytest.fixture(scope="session")
def address(demo_service: Service) -> Iterator[str]:
    """The address of the service with the demo inventory."""
    with served(demo_service.app) as url:
        yield url


@pytest.fixture(scope="session")
def signed_in(chromium: Any, address: str, demo_service: Service) -> Any:
    """The cookies of a signed-in administrator."""
    context = chromium.new_context(base_url=address)
    page = context.new_page()
    page.goto("/login/")
    page.fill("#username", demo_service.admin.username)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url("**/")
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def new_page(chromium: Any, address: str, signed_in: Any) -> Iterator[Callable[..., Any]]:
    """``new_page(width=…, dark=…, scripts=…, touch=…)``: a page of an administrator; the test fails on messages in
    its console.
    """
    messages: list[str] = []
    contexts: list[Any] = []

    def open_page(*, width: int = WIDTH, dark: bool = False, scripts: bool = True, touch: bool = False) -> Any:
        context = chromium.new_context(
            base_url=address,
            storage_state=signed_in,
            viewport={"width": width, "height": HEIGHT},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            has_touch=touch,
            locale="en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: messages.append(f"error: {error}"))
        page.set_default_timeout(20_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not [message for message in messages if not any(text in message for text in EXPECTED_MESSAGES)]


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """A page of an administrator, 1280 pixels wide."""
    return new_page()


@pytest.fixture
def screenshots(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder for screenshots: that of ``--screenshots``, or a temporary one."""
    folder = request.config.getoption("--screenshots")
    return Path(folder) if folder else tmp_path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--screenshots FOLDER``."""
    parser.addoption("--screenshots", default="", help="folder in which the tests in a browser save their screenshots")
