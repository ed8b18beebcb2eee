"""Forms that are posted when the session is over: nothing that was typed is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database
Make = Callable[..., Any]


@pytest.fixture
def tenant(make: Make) -> Any:
    """A tenant."""
    return make("/api/tenancy/tenants/")


def without_session(browser: Browser) -> None:
    """Ends the session, as far as the browser knows."""
    browser.reset()


def test_a_form_is_sent_again_after_the_sign_in(service: Service, api: Api, tenant: Any) -> None:
    browser = Browser(service, service.admin)
    form = browser.get(f"/tenancy/tenants/{tenant['id']}/edit/").form()
    form["description"] = 'typed "before"'
    without_session(browser)
    page = form.submit(status=403)
    assert "session is over" in page.words
    sign_in = page.form("/login/")
    sign_in["username"], sign_in["password"] = service.admin.username, "wrong"
    page = sign_in.submit(status=403)
    sign_in = page.form("/login/")
    sign_in["username"], sign_in["password"] = service.admin.username, PASSWORD
    page = sign_in.submit(status=200)
    page.form(f"/tenancy/tenants/{tenant['id']}/edit/").submit()
    assert api.get(f"/api/tenancy/tenants/{tenant['id']}/")["description"] == 'typed "before"'


def test_the_sign_in_says_that_files_have_to_be_chosen_again(service: Service) -> None:
    browser = Browser(service)
    files = [("front_image", "front.png", b"content")]
    page = browser.post("/dcim/device-types/add/", {"model": "x"}, status=403, upload_files=files)
    assert "Front image" in page.words


def test_what_another_site_posts_is_not_kept(service: Service) -> None:
    browser = Browser(service)
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    page = browser.post("/tenancy/tenants/add/", {"name": "planted"}, status=303, headers=headers)
    assert "planted" not in page.text
    assert page.headers["Location"].startswith("/login/")
