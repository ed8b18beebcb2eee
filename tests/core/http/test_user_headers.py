"""Headers of answers whose values users store or send: each is refused, or is one clean line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Service, Unique
from netinv_testing.client import NOTHING
from netinv_web.testing.fuzzing import environ_of, quote_text
from tests.support.header_values import VALUES

pytestmark = pytest.mark.any_database
CLEAN = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
TYPE, ROLES = "ipam.role", "/api/ipam/roles/"
READ_HEADERS = ("x-request-id", "x-forwarded-host", "accept-language", "if-none-match", "prefer", "idempotency-key")
each_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())


class Sender:
    """Sends requests to the application as a server does, and checks the headers of all answers."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def send(self, method: str, target: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str]]:
        """The status and the headers of an answer."""
        sent = {"authorization": f"Token {self._service.admin.token}", **headers}
        environ = environ_of(method, target, body, {name.replace("_", "-"): text for name, text in sent.items()})
        answers: list[tuple[int, list[tuple[str, str]]]] = []

        def start(line: str, given: list[tuple[str, str]], error: Any = None) -> Any:
            answers.append((int(line.split()[0]), given))
            return lambda data: None

        answer = self._service.app(environ, start)
        list(answer)
        getattr(answer, "close", lambda: None)()
        status, given = answers[-1]
        assert status < 500, (method, target[:200], status)
        for name, text in given:
            assert CLEAN.fullmatch(text), (target[:200], name, text[:200])
            assert len(text) < 9000, (target[:200], name, len(text))
        return status, {name.lower(): text for name, text in given}


@pytest.fixture(scope="session")
def sender(service: Service) -> Sender:
    return Sender(service)


@pytest.fixture
def made(service: Service) -> Iterator[list[str]]:
    """URLs of objects to delete after the test."""
    urls: list[str] = []
    yield urls
    for url in reversed(urls):
        service.api.delete(url, status=(204, 404))


def stored(service: Service, made: list[str], path: str, body: dict[str, Any], field: str) -> Any:
    """The object made of a body; ``None`` if it was refused for the field."""
    response = service.api.send("POST", f"/api/{path}/", body, status=(201, 400))
    if response.status_int == 400:
        assert set(response.json) <= {field, "non_field_errors", "__all__"}, response.text[:300]
        return None
    made.append(response.json["url"])
    return response.json


@each_value
@pytest.mark.parametrize("field", ["mime_type", "file_extension", "name"])
def test_export_templates(
    service: Service, sender: Sender, made: list[str], unique: Unique, field: str, value: str
) -> None:
    values = (
        {f"{kind}{value}" for kind in ("", "text/plain; x=", 'text/plain; x="')} if field == "mime_type" else {value}
    )
    for text in values:
        body = {"content_type": TYPE, "template_code": "x", "name": unique(), field: text}
        template = stored(service, made, "extras/export-templates", body, field)
        if template is not None:
            status, headers = sender.send("GET", f"{ROLES}?export={quote_text(template['name'])}")
            assert status == 200, text[:60]
            assert re.fullmatch(r'attachment; filename="[\w.-]*"', headers["content-disposition"], re.ASCII), headers


@each_value
@pytest.mark.parametrize("field", ["http_content_type", "additional_headers", "secret", "payload_url"])
def test_webhooks(service: Service, made: list[str], unique: Unique, field: str, value: str) -> None:
    """Requests of webhooks have clean headers, written out or rendered from the object."""
    from netinv_extras.webhooks import payload, preview

    texts = {
        "additional_headers": [f"X-A: {value}", f"X-A: {{{{ {value!r} }}}}"],
        "payload_url": [f"https://h/{value}"],
    }
    for text in texts.get(field, [value]):
        common = {"content_types": [TYPE], "type_create": True, "enabled": False, "name": unique()}
        body = {**common, "payload_url": f"https://receiver.example.com/{unique()}", field: text}
        webhook = stored(service, made, "extras/webhooks", body, field)
        if webhook is None:
            continue
        with service.unit_of_work() as uow:
            endpoint = service.registry["extras.webhook"]
            (row,) = [row for row in uow.execute(endpoint.table.select()).mappings() if str(row["id"]) == webhook["id"]]
            try:
                message = preview.build(uow, row, preview.sample_change(uow, row))
            except payload.PayloadError:
                continue  # recorded as the error of the delivery
        for name, sent in message.headers.items():
            assert CLEAN.fullmatch(sent.decode("latin-1")), (name, sent[:100])
        assert message.url.isprintable(), message.url[:100]  # the client encodes other scripts


@each_value
@pytest.mark.parametrize("path", ["extras/git-repositories", "ipam/roles", "dcim/device-types"])
def test_names_in_locations_and_files(
    service: Service, sender: Sender, made: list[str], unique: Unique, path: str, value: str
) -> None:
    """Names and slugs do not become headers: what is made and exported has clean ones, and so has its page."""
    item = {
        "ipam/roles": {"name": value, "slug": unique()},
        "dcim/device-types": {"model": value, "slug": unique()},
        "extras/git-repositories": {"name": value, "slug": unique(), "remote_url": f"https://h.example/{unique()}"},
    }[path]
    if path.startswith("dcim"):
        maker = service.api.post("/api/dcim/manufacturers/", {"name": unique(), "slug": unique()})
        made.append(maker["url"])
        item["manufacturer"] = maker["id"]
    created = stored(service, made, path, item, "model" if "model" in item else "name")
    if created is not None:
        for media_type in ("json", "csv", "tsv", "yaml"):
            sender.send("GET", f"/api/{path}/?id={created['id']}&format={media_type}")
        sender.send("GET", f"/{path}/{item['slug']}?q={quote_text(value)[:5000]}")


@pytest.mark.night
@each_value
def test_requests(sender: Sender, value: str) -> None:
    """Headers, queries, paths and cookies of a request, which an answer may repeat."""
    raw, encoded = value.replace("\r", "").replace("\n", "").replace("\x00", ""), quote_text(value)[:8000]
    for name in READ_HEADERS:
        _, headers = sender.send("GET", f"{ROLES}?limit=1", **{name.replace("-", "_"): raw})
        assert re.fullmatch(r"[0-9a-f-]{36}", headers["x-request-id"])
    sender.send("GET", f"{ROLES}?limit=1", host=raw)
    for target in ("/login/", "/logout/", "/search/", "/ipam/roles/", "/ipam/roles", "/api/ipam/roles", "/docs", "/"):
        for query in (
            f"q={encoded}",
            f"next={encoded}",
            f"next=/{encoded}",
            f"return_url=/{encoded}",
            f"export={encoded}",
        ):
            sender.send("GET", f"{target}?{query}", accept="text/html")
    for path in (f"/{encoded}", f"/ipam/roles/{encoded}", f"/ipam/roles/{encoded}/edit", f"/media/{encoded}/{encoded}"):
        sender.send("GET", path, accept="text/html")
    for cookie in ("netinv_session", "netinv_notice", "django_language", "timezone"):
        sender.send("GET", "/login/", accept="text/html", cookie=f"{cookie}={raw}")


@each_value
def test_the_host_in_addresses_of_new_objects(service: Service, sender: Sender, unique: Unique, value: str) -> None:
    raw = value.replace("\r", "").replace("\n", "").replace("\x00", "")
    body = b'{"name": "%s", "slug": "%s"}' % (unique().encode(), unique().encode())
    sender.send("POST", ROLES, body, host=raw[:8000], content_type="application/json")
    assert service.api.send("GET", ROLES, NOTHING, query={"limit": 1}).status_int == 200
