"""A browser without scripts, for tests: it signs in, follows links, submits forms, and checks every page it gets."""

from __future__ import annotations

import functools
import html
import itertools
import re
from typing import Any

import webtest

from netinv_testing import Account, Service
from netinv_web.testing.validation import PageValidator

ORIGIN = "http://localhost"
SIGN_OUT = "/logout/"
LONGEST_TEXT = 500  # characters of a page in the reason of a failure
LINK = re.compile(r'<a\b[^>]*\shref="([^"]*)"')
IDS = re.compile(r' id="([^"]+)"')
FORM = re.compile(r"<form\b[^>]*>.*?</form>", re.DOTALL)
FORM_TAG = re.compile(r"<form\b([^>]*)>")
ACTION, NAME = re.compile(r'\saction="([^"]*)"'), re.compile(r'\sname="([^"]*)"')
NOTICE = re.compile(r"\sdata-notice>.*?</div>", re.DOTALL)
BREAK = re.compile(r"\r\n?|\n")
USED_ICON = re.compile(r'<use href="([^"]*)"')


class BrowserPage(webtest.TestResponse):
    """An answer. ``html`` is its tree (Beautiful Soup), ``text in page`` looks into the source, spaces aside."""

    parser_features = "html.parser"  # WebTest sets it when a browser is made

    @property
    def words(self) -> str:
        """The text of the body as one line."""
        return " ".join((self.html.body or self.html).get_text().split())

    def links(self) -> list[str]:
        """The addresses of its links."""
        return [html.unescape(address) for address in LINK.findall(self.text)]

    def form(self, action: str | None = None) -> webtest.Form:
        """The form for ``action``; by default the one of the content with the most fields that posts.

        It alone is parsed, once: to parse a page takes longer than to make it.
        """
        of_frame = {SIGN_OUT, *(address for notice in NOTICE.findall(self.text) for address in actions_of(notice))}
        texts = [found.group() for found in FORM.finditer(self.text)]
        if action is None:
            texts = [
                text
                for text in texts
                if 'method="post"' in text.partition(">")[0].lower() and not of_frame & set(actions_of(text))
            ]
        else:
            texts = [text for text in texts if (actions_of(text) or [""])[0] == action]
        assert texts, f"{self.request.path} has no form for {action}"
        text = max(texts, key=lambda text: len(set(NAME.findall(text))))
        if text not in self._parsed:
            self._parsed[text] = _as_browsers_hold(webtest.Form(self, text, self.parser_features))
        return self._parsed[text]

    @functools.cached_property
    def _parsed(self) -> dict[str, webtest.Form]:
        """The forms that were asked for, by their sources."""
        return {}


def _as_browsers_hold(form: webtest.Form) -> webtest.Form:
    """A form whose texts are what browsers make of them: inputs have no line breaks (HTML, 4.10.5.1.2), text areas CRLF
    when they are sent (4.10.11).
    """
    for field in itertools.chain.from_iterable(form.fields.values()):
        if field.tag == "textarea":
            field._value = BREAK.sub("\r\n", field.value or "")
        elif isinstance(field, webtest.forms.Text) and not isinstance(field, webtest.forms.Hidden) and field.value:
            field._value = BREAK.sub("", field.value)
    return form


def actions_of(text: str) -> list[str]:
    """The addresses that the forms of a text send to."""
    return [html.unescape(address) for attributes in FORM_TAG.findall(text) for address in ACTION.findall(attributes)]


class _BrowserRequest(webtest.TestRequest):
    """A request whose answer is a :class:`BrowserPage`."""

    ResponseClass = BrowserPage


class Browser(webtest.TestApp):
    """A browser with JavaScript off. Its unsafe requests have the header ``Origin``, as those of browsers do.

    GET is expected to answer 200 and POST 303, unless ``status`` says otherwise; so are links that are followed and
    forms that are submitted. Every page has to be without faults (:class:`PageValidator`).
    """

    RequestClass = _BrowserRequest
    _validator = PageValidator()

    def __init__(self, service: Service, account: Account | None = None) -> None:
        super().__init__(service.app, extra_environ={"HTTP_ACCEPT": "text/html", "HTTP_ORIGIN": ORIGIN})
        self._icons = service.app.registry.netinv_icons
        if account is not None:
            self.sign_in(account)

    def sign_in(self, account: Account, password: str = "") -> BrowserPage:
        """Signs in by the form."""
        return self.post("/login/", {"username": account.username, "password": password or account.password})

    def get(self, url: str, params: Any = None, *, status: Any = 200, **options: Any) -> BrowserPage:
        """GET with the parameters of a query: a mapping, or pairs."""
        page: BrowserPage = super().get(url, params, status=status, **options)
        return page

    def post(self, url: str, params: Any = "", *, status: Any = 303, **options: Any) -> BrowserPage:
        """POST of a form's values: a mapping, or pairs of names and values."""
        page: BrowserPage = super().post(url, params, status=status, **options)
        return page

    def do_request(
        self, req: webtest.TestRequest, status: Any = None, expect_errors: bool | None = None
    ) -> BrowserPage:
        """Sends a request and checks the page that answers."""
        page: BrowserPage = super().do_request(req, status, expect_errors)
        if page.content_type == "text/html" and "<html" in page.text[:200]:
            problems = self._validator.faults(page.text)
            own = {f"#{name}" for name in IDS.findall(page.text)}
            missing = set(USED_ICON.findall(page.text)) - self._icons.addresses - own
            problems += [f"the icon {address} does not exist" for address in sorted(missing)]
            assert not problems, f"{req.path_qs}: {problems[:8]}"
        return page

    def _check_status(self, status: Any, res: BrowserPage) -> None:
        """Checks the status as WebTest does. The reason names the request, and has the words of a page, not its source.

        :raises webtest.AppError: for another status
        """
        try:
            super()._check_status(status, res)
        except webtest.AppError as error:
            reason = str(error).partition("\n")[0]
            shown = res.words if res.content_type == "text/html" else res.body.decode(errors="replace")
            text = f"{res.request.method} {res.request.path_qs}: {reason}: {shown[:LONGEST_TEXT]}"
            raise webtest.AppError("%s", text) from None
