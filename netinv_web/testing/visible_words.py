"""Words that no page shows to people: labels of content types, ids, names of fields, and wrong plurals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

UUID = re.compile(r"(?<![\w/-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
NAME = re.compile(r"(?<![\w.{/-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w.=/-])")
WRONG = re.compile(r"\b(Change ID|Prefixs|Ipaddresses|Termination b|Cr protecting)\b|\bs protecting\b")
# Documents, code and what a person has entered; tooltips of scripts, and controls, whose texts are values.
UNREAD = "script, style, template, pre, code, textarea, [hidden], dialog"


def faults_of(registry: Registry, endpoint: Endpoint, page: Any) -> list[str]:
    """The words in the visible text of a page of a resource that a person has to decode."""
    content = page.html.select_one("main") or page.html
    for element in content.select(UNREAD):
        element.extract()
    text = " ".join(content.get_text(" ").split())
    return list(dict.fromkeys(faults_in(registry, endpoint, text)))


def faults_in(registry: Registry, endpoint: Endpoint, text: str) -> Iterator[str]:
    """The words in a text that a person has to decode, each with what is around it."""
    names = endpoint.fields.keys() | set(endpoint.table.c.keys())
    for pattern in (UUID, WRONG, _labels(registry)):
        yield from (_around(text, match) for match in pattern.finditer(text))
    yield from (_around(text, match) for match in NAME.finditer(text) if match[0] in names)


@cached_in_registry
def _labels(registry: Registry) -> re.Pattern[str]:
    """Labels of content types, as ``dcim.interface`` and as ``dcim | interface``."""
    apps = "|".join(sorted({label.partition(".")[0] for label in registry.endpoints}))
    labels = "|".join(re.escape(label) for label in registry.endpoints)
    return re.compile(rf"\b(?:{labels})\b|\b(?:{apps}) \| \w+")


def _around(text: str, match: re.Match[str]) -> str:
    return f"…{text[max(0, match.start() - 40) : match.end() + 20]}…"
