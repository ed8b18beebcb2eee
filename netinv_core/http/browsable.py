"""The browsable form of an answer without the web interface: the same JSON as a page whose URLs are links."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup, escape
from pyramid.request import Request

from netinv_core.http.mount import url_of
from netinv_core.http.serialization import dumps_within

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _POLICY}
_PAGE = jinja2.Environment(autoescape=True).from_string("""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{ path }} · netinv</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222 }
pre { background: #f6f8fa; border-radius: 6px; padding: 1rem; overflow-x: auto }
nav a { margin-right: 1rem } h1 { font-size: 1.2rem }
</style></head>
<body><nav><a href="{{ url('/api/') }}">API root</a> <a href="{{ url('/api/docs/') }}">Documentation</a></nav>
<h1>{{ method }} {{ path }}</h1><p>{{ status }}</p><pre>{{ body }}</pre></body></html>
""")


def page(request: Request, body: Any, status: int) -> tuple[bytes, Mapping[str, str]]:
    """A page that shows ``body``, and its headers."""
    lines = json.dumps(json.loads(dumps_within(request.registry.netinv, body)), indent=2, ensure_ascii=False).split(
        "\n"
    )
    linked = Markup("\n").join(map(_link_urls, lines))
    values = {"path": request.path, "method": request.method, "status": status, "body": linked, "url": url_of}
    return _PAGE.render(values).encode(), HEADERS


def _link_urls(line: str) -> Markup:
    """A line of JSON, its string made a link when it is a URL."""
    start = line.find('"http')
    end = line.rfind('"')
    if start < 0 or end <= start:
        return escape(line)
    url = line[start + 1 : end]
    return escape(line[: start + 1]) + Markup('<a href="{0}">{0}</a>').format(url) + escape(line[end:])
