"""A double of a NetBox or Nautobot: serves lists in pages, and can be busy, break connections and deny tokens."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a token of the other service"
Lists = Mapping[str, list[dict[str, Any]]]


class InventoryService:
    """The lists by path (``dcim/sites``); at most ``page_size`` objects a page.

    ``troubles`` are taken one for each page: ``busy`` (429), ``ended-once`` (503), ``broken`` (the connection ends in the
    body) or ``ended``
    (every further request fails, as when the service stops).
    """

    def __init__(self, product: str, version: str, lists: Lists, page_size: int = 2) -> None:
        self.product, self.version, self.lists, self.page_size = product, version, lists, page_size
        self.troubles: list[str] = []
        self.asked: list[str] = []
        self.url = ""

    def answer(self, address: str, token: str) -> tuple[int, Any]:
        """Returns status and body for a request."""
        parts = urlsplit(address)
        path, query = parts.path.removeprefix("/api/").strip("/"), parse_qs(parts.query)
        self.asked.append(f"{path}?{parts.query}")
        if token != f"Token {TOKEN}":
            return 403, {"detail": "Invalid token"}
        if path == "status":
            return 200, {f"{self.product}-version": self.version}
        apps = {name.partition("/")[0] for name in self.lists}
        if not path:
            return 200, {app: f"{self.url}/api/{app}/" for app in [*apps, "status"]}
        if path not in self.lists:
            below = [name.removeprefix(f"{path}/") for name in self.lists if name.startswith(f"{path}/")]
            names = {name.partition("/")[0]: f"{self.url}/api/{path}/{name.partition('/')[0]}/" for name in below}
            return (200, names) if names else (404, {"detail": "Not found."})
        rows = self.lists[path]
        offset = int(query.get("offset", ["0"])[0])
        limit = min(int(query["limit"][0]), self.page_size)
        others = "".join(f"&{name}={values[0]}" for name, values in query.items() if name not in ("limit", "offset"))
        address = f"{self.url}/api/{path}/?limit={limit}&offset={offset + limit}{others}"
        results = rows[offset : offset + limit]
        if self.product == "nautobot" and self.version >= "3" and query.get("exclude_m2m") != ["false"]:
            results = [{name: value for name, value in row.items() if not _refers(value)} for row in results]
        following = address if offset + limit < len(rows) else None
        return 200, {"count": len(rows), "next": following, "previous": None, "results": results}


def _refers(value: Any) -> bool:
    """True for a list of references, as a many-to-many field has."""
    return isinstance(value, list) and any(isinstance(item, dict) and "url" in item for item in value)


@contextlib.contextmanager
def serving(service: InventoryService) -> Iterator[InventoryService]:
    """Serves on a free port of this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = service.answer(self.path, self.headers.get("Authorization", ""))
            trouble = service.troubles.pop(0) if service.troubles and "limit=" in self.path else ""
            content = json.dumps(body).encode()
            if trouble == "ended":
                service.troubles.insert(0, "ended")
            failed = {"busy": 429, "ended": 500, "ended-once": 503}
            self.send_response(failed.get(trouble, status))
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if trouble == "broken" else content)

        def log_message(self, format: str, *args: Any) -> None:
            """Logs nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield service
        server.shutdown()
        thread.join()
