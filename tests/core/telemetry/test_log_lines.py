"""Log lines: fields of the request or task, the access log, escapes, and what is never logged."""

from __future__ import annotations

import base64
import configparser
import json
import logging
import pkgutil
import sys
import uuid
from typing import Any

import pytest

from netinv_core import crypto
from netinv_core.telemetry import log_context
from netinv_core.telemetry.formatters import JsonFormatter, TextFormatter
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Api, Service
from tests.support import REPOSITORY
from tests.support.log_lines import LogLines

pytestmark = pytest.mark.any_database  # lines of the log

SITES, TOKENS = "/api/dcim/sites/", "/api/users/tokens/"
FORGED = "x\r\n2026-01-01 00:00:00 ERROR forged\x1b[31m\u2028\x85"


@pytest.fixture
def record() -> Any:
    """``record(message, *values)``: a log record of an exception whose text is FORGED."""

    def make(message: str, *values: Any) -> logging.LogRecord:
        try:
            raise ValueError(FORGED)
        except ValueError:
            return logging.LogRecord("netinv_core.x", logging.ERROR, "", 0, message, values, sys.exc_info())

    return make


def test_the_access_log_has_a_line_for_each_request(service: Service, log_lines: LogLines) -> None:
    request_id = str(uuid.uuid4())
    site = f"{SITES}{uuid.uuid4()}/"
    answer = service.api.send("GET", site, headers={"X-Request-ID": request_id}, status=404)
    (line,) = log_lines.of("netinv.access")
    assert line.pop("ms") > 0 and line.pop("db_ms") > 0 and line.pop("time") and line.pop("statements") >= 1
    assert line == {
        "level": "INFO",
        "logger": "netinv.access",
        "message": f"GET {site} 404",
        "request_id": request_id,
        "user": service.admin.username,
        "method": "GET",
        "path": site,
        "route": f"{SITES}{{id}}/",
        "status": 404,
        "bytes": len(answer.body),
    }


@pytest.mark.parametrize(
    ("path", "status", "route"),
    [
        ("/api/dcim/nosuch/", 404, "/api/dcim/{model}/"),
        ("/nosuch/", 404, "unmatched"),
        ("/api/ipam/prefixes/x/available-ips/", 404, "/api/ipam/prefixes/{id}/available-ips/"),
        ("/metrics", 200, "/metrics"),
    ],
)
def test_routes_are_patterns(service: Service, log_lines: LogLines, path: str, status: int, route: str) -> None:
    service.api.send("GET", path, status=status)
    assert log_lines.of("netinv.access")[-1]["route"] == route


def test_every_line_of_a_request_has_its_id_user_and_address(service: Service, log_lines: LogLines) -> None:
    user, request_id = service.user(), str(uuid.uuid4())
    app = user.api._app
    headers = {"Authorization": f"Token {user.token}", "X-Request-ID": request_id}
    app.get(SITES, headers=headers, extra_environ={"REMOTE_ADDR": "192.0.2.7"}, status=403)
    lines = [line for line in map(json.loads, log_lines.text.splitlines()) if line.get("client")]
    assert [line["logger"] for line in lines] == ["netinv.audit", "netinv.audit", "netinv.access"]
    wanted = {"request_id": request_id, "user": user.username, "client": "192.0.2.7"}
    assert all({name: line[name] for name in wanted} == wanted for line in lines)


def test_probes_are_not_in_the_access_log(service: Service, log_lines: LogLines) -> None:
    service.anonymous.get("/health/live")
    assert not log_lines.of("netinv.access")
    logging.getLogger("netinv.access").setLevel(logging.DEBUG)
    service.anonymous.get("/health/live")
    assert [line["path"] for line in log_lines.of("netinv.access")] == ["/health/live"]


@pytest.mark.parametrize("formatter", [TextFormatter("%(levelname)s %(message)s"), JsonFormatter()])
def test_no_logged_value_begins_a_line_or_controls_a_terminal(formatter: logging.Formatter, record: Any) -> None:
    with log_context.task(FORGED):
        text = formatter.format(record("%s failed", FORGED))
    lines = text.split("\n")
    assert not [line for line in lines if line.startswith("2026")]
    assert not [character for character in text if character != "\n" and not character.isprintable()]
    if isinstance(formatter, JsonFormatter):
        (line,) = lines
        assert json.loads(line)["message"] == f"{FORGED} failed" and json.loads(line)["task"] == FORGED
    else:
        assert all(line.startswith("  | ") for line in lines[1:]) and len(lines) > 3


def test_a_text_line_has_the_fields_behind_the_message() -> None:
    record = logging.LogRecord("netinv_core.x", logging.INFO, "", 0, "done", (), None)
    record.netinv_fields = {"path": "/a b", "status": 200, "name": ""}
    with log_context.task("deliver"):
        assert (
            TextFormatter("%(levelname)s %(message)s").format(record)
            == 'INFO done task=deliver path="/a b" status=200 name=""'
        )


def test_a_path_with_line_breaks_is_escaped(service: Service, log_lines: LogLines) -> None:
    log_lines.handler.setFormatter(TextFormatter("%(message)s"))
    service.anonymous.send("GET", "/api/x%0A2026%20ERROR%20forged", status=404)
    assert len(log_lines.text.splitlines()) == 1 and "\\u000a2026 ERROR forged" in log_lines.text


def test_secrets_are_never_logged(service: Service, api: Api, anonymous: Api, unique: Any, log_lines: LogLines) -> None:
    """Keys, passwords, cookies and queries: neither those accepted nor those refused."""
    for name in ("netinv.access", "netinv.audit", "netinv_core", "netinv_extras"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    key, wrong, password, cookie = (unique() + crypto.new_key() for _ in range(4))
    key = crypto.new_key()
    made = api.post("/api/users/users/", {"username": unique(), "password": password})
    api.post(TOKENS, {"key": key})
    api.get(TOKENS, {"key": key})
    api.get(SITES, {"password": password, "key": key}, status=400)
    encoded = base64.b64encode(f"{made['username']}:{password}".encode()).decode()
    for header in (f"Token {key}", f"Token {wrong}", f"Token {key} {wrong}", f"Basic {encoded}", f"Basic {encoded}x"):
        anonymous.send("GET", TOKENS, headers={"Authorization": header, "Cookie": f"netinv_session={cookie}"})
    anonymous.send("GET", f"/login/?next=/&token={key}", headers={"Accept": "text/html"})
    assert len(log_lines.of("netinv.access")) == 10
    assert not [secret for secret in (key, wrong, password, cookie, encoded) if secret in log_lines.text]


@pytest.mark.night
def test_lines_of_the_worker_have_the_id_of_the_request_that_caused_them(
    sending_service: Service, closed_port: int, log_lines: LogLines
) -> None:
    service, request_id = sending_service, str(uuid.uuid4())
    name = service.unique()
    webhook = service.api.post(
        "/api/extras/webhooks/",
        {
            "name": name,
            "content_types": ["tenancy.tenant"],
            "type_create": True,
            "payload_url": f"http://127.0.0.1:{closed_port}/",
        },
    )
    service.api.post("/api/tenancy/tenants/", {"name": name, "slug": name}, headers={"X-Request-ID": request_id})
    assert deliver_now(service.engine, service.registry, 60)
    service.api.delete(f"/api/extras/webhooks/{webhook['id']}/")
    (line,) = [
        line for line in log_lines.of("netinv_extras.webhooks.worker") if line["message"].startswith("delivery ")
    ]
    assert (line["request_id"], line["task"]) == (request_id, "deliver")


@pytest.mark.parametrize("name", ["production.ini", "development.ini"])
def test_the_formatters_of_the_ini_files_work(name: str) -> None:
    ini = configparser.RawConfigParser()
    ini.read(REPOSITORY / name)
    for key in ini["formatters"]["keys"].split(","):
        section = ini[f"formatter_{key.strip()}"]
        formatter = pkgutil.resolve_name(section["class"].replace(".formatters.", ".formatters:"))(
            section.get("format"), None, "%"
        )
        assert "it works" in formatter.format(logging.LogRecord("x", logging.INFO, "", 0, "it %s", ("works",), None))
