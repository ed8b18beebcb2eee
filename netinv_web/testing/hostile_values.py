"""Hostile values: text and documents that somebody stores so that pages fail, run scripts or mislead."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.fields import Value
from netinv_web.testing.browser import Browser, BrowserPage

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_testing import Api

MARKUP = '"><script>x</script>'
STRANGE = f"{MARKUP} {{{{ 7*7 }}}} \u202eabc\u2066 \u0634\u200b\x1b\x7f\x85\u2028\uffff a\r\nb [x](javascript:alert(1))"
LONG = 40_000
TEXTS = (
    STRANGE,
    MARKUP,
    "http://[",
    "http://\u2100x/",
    "javascript:alert(1)",
    "\tjava\nscript:alert(1)",
    "data:text/html,<script>x</script>",
    "http://x/\u202e\x01<script>x</script>",
    "[" * LONG,
)
DEEP: Any = 1
for _ in range(17):
    DEEP = {"a": [DEEP]} if _ % 2 else [DEEP]
DOCUMENTS: tuple[Any, ...] = (
    {"display": MARKUP, "url": "http://["},
    {"display": {"url": 1}, "url": "http://x/api//example.com/<script>"},
    {"display": "x", "url": "javascript:alert(1)"},
    {"display": "x", "url": "//example.com/"},
    {"display": "x", "url": "http://localhost//example.com/"},
    {"display": ["x"], "url": "http://localhost/api/dcim/devices/x/", "color": [MARKUP], "name": {}},
    {"label": {"label": MARKUP, "value": 1}, "value": [MARKUP]},
    {"": MARKUP, MARKUP: {STRANGE: STRANGE}, "id": None, "url": [], "display": None},
    {"id": 1, "url": "http://[", "display": [MARKUP]},
    [1e308, -(2**63), 2**64 - 1, 1e-308, -0.0],
    {"long": "[" * 100_000, "k" * 50_000: {str(number): number for number in range(100)}},
    DEEP,
)
REFUSED = ("a\x00b", "a\ud800b")
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)")
# Addresses that run scripts, and those of other hosts that look like paths.
LEADS_AWAY = re.compile(
    r"""\s(?:href|src|action|formaction)="\s*(?:(?:javascript|data|vbscript):|/[/\\])""", re.IGNORECASE
)
ABOUT_ALL = {"non_field_errors", "__all__", "detail"}


def targets_of(endpoint: Endpoint) -> tuple[list[str], list[str]]:
    """The names of the writable fields that take text, and of those that take documents."""
    values = [field for field in endpoint.writable.values() if isinstance(field, Value)]
    texts = [field.name for field in values if field.python_type is str]
    documents = [field.name for field in values if field.info.kind == "json"]
    return texts, [*documents, *(name for name in ("local_config_context_data",) if name in endpoint.writable)]


def rounds_of(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """Bodies that set every such field, each to another value; texts are no longer than their fields."""
    texts, documents = targets_of(endpoint)
    for number in range(max(len(TEXTS), len(DOCUMENTS))):
        body: dict[str, Any] = {}
        for place, name in enumerate(texts):
            field = endpoint.writable[name]
            length = field.length if isinstance(field, Value) else None
            body[name] = TEXTS[(number + place) % len(TEXTS)][:length]
        yield body | {name: DOCUMENTS[(number + place) % len(DOCUMENTS)] for place, name in enumerate(documents)}


def store(api: Api, path: str, body: Mapping[str, Any]) -> None:
    """Changes an object as far as its rules allow; each refusal names fields that were sent, or the whole."""
    values = dict(body)
    while values:
        response = api.send("PATCH", path, json.dumps(values).encode(), status=(200, 400))
        if response.status_int == 200:
            return
        members = set(response.json)
        refused = {name for name, value in values.items() if name in members or _has_member(value, members)}
        assert refused or set(response.json) & ABOUT_ALL, response.text[:500]
        values = {name: value for name, value in values.items() if refused and name not in refused}


def _has_member(value: Any, names: set[str]) -> bool:
    return isinstance(value, dict) and not names.isdisjoint(value)


def refuse(api: Api, path: str, names: list[str]) -> None:
    """Sends characters that no field stores to every field; the answers name them."""
    for value in REFUSED if names else ():
        body = json.dumps(dict.fromkeys(names, value)).encode()
        refused = api.send("PATCH", path, body, status=400).json
        assert set(refused) & set(names) or "__all__" in refused, refused


def check_page(page: BrowserPage) -> None:
    """Finds scripts, addresses that run scripts, and paths that are other hosts, in a page or a part of one."""
    assert not INLINE_SCRIPT.search(page.text), page.request.path_qs
    assert not LEADS_AWAY.search(page.text), page.request.path_qs


def open_everything(browser: Browser, paths: list[str]) -> None:
    """Opens pages; none of their parts fails."""
    for path in paths:
        page = browser.get(path)
        check_page(page)
        assert "This part failed" not in page.text, path
        assert 'class="failure">failed' not in page.text, path
