"""A browser without scripts, for tests: it signs in, follows links, submits forms, and checks every page it gets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit
from xml.etree.ElementTree import Element

import html5lib
import webtest

ORIGIN = "http://localhost"
CONTROLS = ("input", "select", "textarea")
UNLABELLED = ("hidden", "submit", "button")
# Forms, titles and addresses show text as it is stored, with the noncharacters that somebody may have entered.
STORED_TEXT = "invalid-codepoint"
HANDLER = re.compile(r"on[a-z]+")


class Page:
    """An answer with HTML, parsed. ``path`` is that of the request."""

    def __init__(self, path: str, response: webtest.TestResponse) -> None:
        self.path = path
        self.response = response
        self.status = response.status_int
        parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
        self.root: Element = parser.parse(response.text)
        self.errors = [f"line {line}: {name} {values}" for (line, _), name, values in parser.errors if name != STORED_TEXT]

    @property
    def text(self) -> str:
        """The text of the page's body."""
        body = self.root.find("body")
        return "" if body is None else " ".join("".join(body.itertext()).split())

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """The elements with a tag and attributes (``class_`` for a class among others)."""
        return [element for element in self.root.iter(tag) if _matches(element, attributes)]

    def one(self, tag: str, **attributes: str) -> Element:
        """The only element with a tag and attributes."""
        elements = self.all(tag, **attributes)
        assert len(elements) == 1, f"{self.path} has {len(elements)} elements {tag} {attributes}"
        return elements[0]

    def links(self) -> list[str]:
        """The addresses of its links."""
        return [element.get("href", "") for element in self.all("a")]

    def form(self, action: str | None = None) -> webtest.Form:
        """The form for ``action``; by default the one with the most fields that posts."""
        forms = [form for form in self.response.forms.values() if action is None or form.action == action]
        forms = [form for form in forms if action is not None or form.method.upper() == "POST"]
        assert forms, f"{self.path} has no form for {action}"
        form: webtest.Form = max(forms, key=lambda form: len(form.fields))
        return form


def _matches(element: Element, attributes: Mapping[str, str]) -> bool:
    for name, value in attributes.items():
        if name == "class_":
            if value not in element.get("class", "").split():
                return False
        elif element.get(name.replace("_", "-")) != value:
            return False
    return True


def faults(page: Page) -> list[str]:
    """Violations of what every page has to fulfil: valid HTML, one heading, labels, unique ids, nothing inline."""
    problems = [*page.errors]
    headings = len(page.all("h1"))
    if headings != 1:
        problems.append(f"{headings} elements h1")
    ids = [element.get("id") for element in page.root.iter() if element.get("id")]
    problems += [f"the id {name} is used twice" for name in sorted({name for name in ids if ids.count(name) > 1 and name})]
    for element in page.root.iter():
        problems += [f"inline {name} of {element.tag}" for name in element.attrib if name == "style" or HANDLER.fullmatch(name)]
        if element.tag == "style" or (element.tag == "script" and not element.get("src")):
            problems.append(f"inline {element.tag}")
        if element.tag in ("a", "link", "script", "img", "form"):
            problems += _foreign(element)
    return problems + [f"no label for {element.tag} {element.get('name')}" for element in _unlabelled(page)]


def _foreign(element: Element) -> list[str]:
    """The addresses of other hosts that a page loads, or sends forms to. Links that users entered are theirs."""
    if element.tag == "a":
        return []
    addresses = [element.get(name) or "" for name in ("href", "src", "action")]
    return [f"{element.tag} leads to {address}" for address in addresses if urlsplit(address).netloc]


def _unlabelled(page: Page) -> list[Element]:
    labelled = {element.get("for") for element in page.all("label")}
    within = {id(control) for label in page.all("label") for control in label.iter()}
    controls = [element for tag in CONTROLS for element in page.all(tag) if element.get("type") not in UNLABELLED]
    return [
        control
        for control in controls
        if control.get("id") not in labelled and id(control) not in within and not control.get("aria-label")
    ]


class Browser:
    """A browser session. ``check`` is false for pages that are not checked by :func:`faults`."""

    def __init__(self, app: Any, username: str = "", password: str = "") -> None:
        self.app = webtest.TestApp(app, lint=False, extra_environ={"HTTP_ACCEPT": "text/html", "HTTP_ORIGIN": ORIGIN})
        if username:
            self.sign_in(username, password)

    def sign_in(self, username: str, password: str) -> None:
        """Signs in by the form."""
        response = self.app.post("/login/", {"username": username, "password": password, "next": "/"}, status=303)
        assert response.headers["Location"] == "/"

    def get(self, path: str, query: Mapping[str, Any] | Sequence[tuple[str, Any]] = (), *, status: int = 200) -> Page:
        """GET of a page; an answer with HTML has to be without faults."""
        url = f"{path}{'&' if '?' in path else '?'}{urlencode(query, doseq=True)}" if query else path
        return self._page(url, self.app.get(url, expect_errors=True), status)

    def post(self, path: str, values: Any = (), *, status: int = 303, **options: Any) -> Page:
        """POST of a form's values: a mapping, or pairs of names and values."""
        pairs = list(values.items()) if isinstance(values, Mapping) else list(values)
        return self._page(path, self.app.post(path, pairs, expect_errors=True, **options), status)

    def submit(self, form: webtest.Form, name: str | None = None, *, status: int = 303, **options: Any) -> Page:
        """Submits a form, by the button ``name``."""
        response = form.submit(name, expect_errors=True, **options)
        return self._page(form.action or response.request.path, response, status)

    def follow(self, page: Page) -> Page:
        """The page that a redirect leads to."""
        return self.get(page.response.headers["Location"])

    def _page(self, path: str, response: webtest.TestResponse, status: int) -> Page:
        assert response.status_int == status, f"{path} → {response.status} {response.text[:800]}"
        page = Page(path, response)
        if response.content_type == "text/html" and response.body and "<html" in response.text[:200]:
            problems = faults(page)
            assert not problems, f"{path}: {problems[:8]}"
        return page
