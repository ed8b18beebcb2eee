"""Browsers without scripts: signed-in WebTest applications."""

from __future__ import annotations

from typing import Any

import webtest

from netinv_core.testing import Account, Service

ORIGIN = {"Origin": "http://localhost"}


class Browser(webtest.TestApp):
    """A browser with JavaScript off. Its unsafe requests have the header ``Origin``, as those of browsers do."""

    def __init__(self, service: Service, account: Account | None = None) -> None:
        super().__init__(service.app, extra_environ={"HTTP_ACCEPT": "text/html", "HTTP_ORIGIN": ORIGIN["Origin"]})
        if account is not None:
            self.sign_in(account)

    def sign_in(self, account: Account, password: str = "") -> Any:
        """Signs in by the form."""
        form = {"username": account.username, "password": password or account.password}
        return self.post("/login/", form, status=303)

    def form_of(self, path: str) -> Any:
        """The form of a page that posts and has the most fields; not the button that signs out."""
        forms = [form for form in self.get(path, status=200).forms.values() if form.method.upper() == "POST"]
        return max((form for form in forms if form.action != "/logout/"), key=lambda form: len(form.fields))
