"""A browser without scripts, for tests: it signs in, follows links, submits forms, and checks every page it gets."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

import html5lib
import webtest

from netinv_core.testing import Account, Service

ORIGIN = "http://localhost"
SIGN_OUT = "/logout/"
CONTROLS = ("input", "select", "textarea")
UNLABELLED = ("hidden", "submit", "button")
# Forms, titles and addresses show text as it is stored, with the noncharacters that somebody may have entered.
STORED_TEXT = "invalid-codepoint"
HANDLER = re.compile(r"on[a-z]+")
USED_ICON = re.compile(r'<use href="([^"]*)"')


class Page(webtest.TestResponse):
    """An answer. ``html`` is its tree (Beautiful Soup), ``text in page`` looks into the source, spaces aside."""

    @property
    def words(self) -> str:
        """What is to be read in the body, as one line."""
        return " ".join((self.html.body or self.html).get_text().split())

    def links(self) -> list[str]:
        """The addresses of its links."""
        return [str(link["href"]) for link in self.html.select("a[href]")]

    def form(self, action: str | None = None) -> webtest.Form:
        """The form for ``action``; by default the one with the most fields that posts and does not sign out."""
        forms = [form for form in self.forms.values() if _is_meant(form, action)]
        assert forms, f"{self.request.path} has no form for {action}"
        form: webtest.Form = max(forms, key=lambda form: len(form.fields))
        return form


def _is_meant(form: webtest.Form, action: str | None) -> bool:
    return form.action == action if action is not None else form.method.upper() == "POST" and form.action != SIGN_OUT


class _Request(webtest.TestRequest):
    """A request whose answer is a :class:`Page`."""

    ResponseClass = Page


def faults(markup: str) -> list[str]:
    """Violations of what every page has to fulfil: valid HTML, one heading, labels, unique ids, nothing inline."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    root: Element = parser.parse(markup)
    problems = [f"line {line}: {name} {values}" for (line, _), name, values in parser.errors if name != STORED_TEXT]
    headings = len(list(root.iter("h1")))
    if headings != 1:
        problems.append(f"{headings} elements h1")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    problems += [f"the id {name} is used twice" for name in sorted({name for name in ids if ids.count(name) > 1 and name})]
    for element in root.iter():
        problems += [f"inline {name} of {element.tag}" for name in element.attrib if name == "style" or HANDLER.fullmatch(name)]
        if element.tag == "style" or (element.tag == "script" and not element.get("src")):
            problems.append(f"inline {element.tag}")
        if element.tag in ("a", "link", "script", "img", "form"):
            problems += _foreign(element)
    return problems + [f"no label for {element.tag} {element.get('name')}" for element in _unlabelled(root)]


def _foreign(element: Element) -> list[str]:
    """The addresses of other hosts that a page loads, or sends forms to. Links that users entered are theirs."""
    if element.tag == "a":
        return []
    addresses = [element.get(name) or "" for name in ("href", "src", "action")]
    return [f"{element.tag} leads to {address}" for address in addresses if urlsplit(address).netloc]


def _unlabelled(root: Element) -> list[Element]:
    labelled = {element.get("for") for element in root.iter("label")}
    within = {id(control) for label in root.iter("label") for control in label.iter()}
    controls = [element for tag in CONTROLS for element in root.iter(tag) if element.get("type") not in UNLABELLED]
    return [
        control
        for control in controls
        if control.get("id") not in labelled and id(control) not in within and not control.get("aria-label")
    ]


class Browser(webtest.TestApp):
    """A browser with JavaScript off. Its unsafe requests have the header ``Origin``, as those of browsers do.

    GET is expected to answer 200 and POST 303, unless ``status`` says otherwise; so are links that are followed and
    forms that are submitted. Every page has to be without :func:`faults`.
    """

    RequestClass = _Request

    def __init__(self, service: Service, account: Account | None = None) -> None:
        super().__init__(service.app, extra_environ={"HTTP_ACCEPT": "text/html", "HTTP_ORIGIN": ORIGIN})
        self._icons = service.app.registry.netinv_icons
        if account is not None:
            self.sign_in(account)

    def sign_in(self, account: Account, password: str = "") -> Page:
        """Signs in by the form."""
        return self.post("/login/", {"username": account.username, "password": password or account.password})

    def get(self, url: str, params: Any = None, *, status: Any = 200, **options: Any) -> Page:
        """GET with the parameters of a query: a mapping, or pairs."""
        page: Page = super().get(url, params, status=status, **options)
        return page

    def post(self, url: str, params: Any = "", *, status: Any = 303, **options: Any) -> Page:
        """POST of a form's values: a mapping, or pairs of names and values."""
        page: Page = super().post(url, params, status=status, **options)
        return page

    def do_request(self, req: webtest.TestRequest, status: Any = None, expect_errors: bool | None = None) -> Page:
        """Sends a request and checks the page that answers."""
        page: Page = super().do_request(req, status, expect_errors)
        if page.content_type == "text/html" and "<html" in page.text[:200]:
            problems = faults(page.text)
            missing = set(USED_ICON.findall(page.text)) - self._icons.addresses
            problems += [f"the icon {address} does not exist" for address in sorted(missing)]
            assert not problems, f"{req.path_qs}: {problems[:8]}"
        return page
