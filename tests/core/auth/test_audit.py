"""The audit log: who signed in, who was refused, and who changed accounts, groups, permissions and tokens."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

from netinv_core.auth import audit
from netinv_testing import Account, Api, Service
from netinv_web.testing import Browser
from tests.support import REPOSITORY
from tests.support.log_lines import LogLines

PASSWORD = "correct horse battery"
SITES, TOKENS = "/api/dcim/sites/", "/api/users/tokens/"


@pytest.fixture
def user(service: Service) -> Account:
    """An account without permissions."""
    return service.user(password=PASSWORD)


def names(lines: LogLines) -> list[str]:
    """The events logged."""
    return [line["event"] for line in lines.events()]


def test_every_event_is_documented() -> None:
    page = (REPOSITORY / "docs" / "watching.md").read_text()
    documented = dict(re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \| (?:info|warning) \| (.*) \|$", page, re.MULTILINE))
    assert documented == {**audit.EVENTS, **audit.FAILURES}


def test_every_event_that_is_logged_is_declared() -> None:
    calls = re.compile(r"\baudit(?:_after_commit)?\((?:[\w.]+, )?\"([a-z_.]+)\"")
    sources = [path for folder in REPOSITORY.glob("netinv_*") for path in folder.rglob("*.py")]
    logged = {name for path in sources for name in calls.findall(path.read_text())}
    assert len(logged) > 8 and logged <= {*audit.EVENTS, *audit.FAILURES}


def test_a_browser_signs_in_and_out(service: Service, user: Account, log_lines: LogLines) -> None:
    browser = Browser(service, user)
    browser.post("/logout/")
    assert names(log_lines) == ["sign_in.succeeded", "session.started", "session.ended"]
    assert {line["user"] for line in log_lines.events()} == {user.username}


def test_a_wrong_password_is_logged_with_the_account(service: Service, user: Account, log_lines: LogLines) -> None:
    Browser(service).post("/login/", {"username": user.username, "password": "x"}, status=403)
    (line,) = log_lines.events("sign_in.failed")
    assert (line["reason"], line["account"]) == ("wrong_password", user.id)


@pytest.mark.parametrize(
    ("header", "reason"),
    [("Token", "malformed"), ("Token a b", "malformed"), ("Token abc", "unknown_token"), ("Basic !", "malformed")],
)
def test_refused_credentials_have_a_reason(service: Service, log_lines: LogLines, header: str, reason: str) -> None:
    service.anonymous.send("GET", TOKENS, headers={"Authorization": header}, status=403)
    (line,) = log_lines.events()
    assert (line["event"], line["reason"]) == ("credentials.refused", reason)


def test_expired_tokens_and_inactive_accounts_are_refused(service: Service, log_lines: LogLines) -> None:
    service.user(active=False).api.send("GET", SITES, status=403)
    (line,) = log_lines.events()
    assert line["reason"] == "inactive_account"


def test_a_request_without_credentials_is_no_event(service: Service, log_lines: LogLines) -> None:
    service.anonymous.send("GET", SITES, status=403)
    assert not log_lines.events()


def test_a_denied_action_is_logged_with_its_path(service: Service, user: Account, log_lines: LogLines) -> None:
    user.api.send("POST", SITES, {"name": "x"}, status=403)
    (line,) = log_lines.events("access.denied")
    assert (line["user"], line["method"], line["path"]) == (user.username, "POST", SITES)
    Browser(service, user).get("/dcim/sites/", status=403)
    assert log_lines.events("access.denied")[-1]["path"] == "/dcim/sites/"


def test_the_first_use_of_a_token_from_an_address_is_logged(
    service: Service, user: Account, log_lines: LogLines
) -> None:
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
        header = {"Authorization": f"Token {user.token}"}
        user.api._app.get("/api/", headers=header, extra_environ={"REMOTE_ADDR": address})
    lines = log_lines.events("token.used")
    assert [line["client"] for line in lines] == ["192.0.2.1", "192.0.2.2"]
    assert {line["user"] for line in lines} == {user.username} and user.token not in log_lines.text


def test_changes_of_accounts_are_logged_without_values(
    service: Service, api: Api, unique: Any, log_lines: LogLines
) -> None:
    name = unique()
    made = api.post("/api/users/users/", {"username": name, "password": PASSWORD})
    api.patch(f"/api/users/users/{made['id']}/", {"email": f"{name}@example.net", "password": f"{PASSWORD}!"})
    api.delete(f"/api/users/users/{made['id']}/")
    lines = log_lines.events("user.created", "user.changed", "user.password_changed", "user.deleted")
    assert [(line["event"], line["id"]) for line in lines] == [
        ("user.created", made["id"]),
        ("user.password_changed", made["id"]),
        ("user.changed", made["id"]),
        ("user.deleted", made["id"]),
    ]
    assert lines[2]["changed"] == "email" and lines[0]["user"] == service.admin.username
    assert "@example.net" not in log_lines.text and PASSWORD not in log_lines.text


def test_tokens_groups_and_permissions_are_logged(service: Service, api: Api, unique: Any, log_lines: LogLines) -> None:
    token = api.post(TOKENS, {"description": "x"})
    api.delete(f"{TOKENS}{token['id']}/")
    group = api.post("/api/users/groups/", {"name": unique()})
    api.patch(f"/api/users/groups/{group['id']}/", {"name": unique()})
    permission = service.permit("view", "dcim.site", groups=[group["id"]])
    api.patch(f"/api/users/permissions/{permission['id']}/", {"enabled": False})
    found = [
        name for name in names(log_lines) if name.partition(".")[0] in audit.KINDS.values() and name != "token.used"
    ]
    assert found == [
        "token.created",
        "token.deleted",
        "group.created",
        "group.changed",
        "permission.created",
        "permission.changed",
    ]
    assert token["key"] not in log_lines.text


def test_a_deletion_logs_the_accounts_and_permissions_that_lose_it(
    service: Service, api: Api, unique: Any, log_lines: LogLines
) -> None:
    group = api.post("/api/users/groups/", {"name": unique()})
    member = service.user(groups=[group["id"]])
    permission = service.permit("view", "dcim.site", groups=[group["id"]], users=[member.id])
    api.delete(f"/api/users/groups/{group['id']}/")
    lines = log_lines.events("user.changed", "permission.changed", "group.deleted")
    assert {(line["event"], line["id"], line.get("changed")) for line in lines[-3:]} == {
        ("permission.changed", permission["id"], "groups"),
        ("user.changed", member.id, "groups"),
        ("group.deleted", str(group["id"]), None),
    }
    api.delete(f"/api/users/users/{member.id}/")
    lines = log_lines.events("permission.changed", "user.deleted")
    assert {(line["event"], line["id"], line.get("changed")) for line in lines[-2:]} == {
        ("permission.changed", permission["id"], "users"),
        ("user.deleted", member.id, None),
    }


def test_what_is_rolled_back_is_no_event(api: Api, unique: Any, log_lines: LogLines) -> None:
    name = unique()
    api.post("/api/users/groups/", [{"name": name}, {"name": name}], status=400)
    api.post("/api/users/groups/?dry_run=true", {"name": name}, status=(200, 201, 400))
    assert "group.created" not in names(log_lines)


def test_an_export_is_logged(api: Api, log_lines: LogLines) -> None:
    api.send("GET", SITES, headers={"Accept": "text/csv"}, status=200)
    (line,) = log_lines.events("export.sent")
    assert (line["type"], line["format"]) == ("dcim.site", "text/csv")


def test_events_take_no_statement(service: Service, log_lines: LogLines, statements: Any) -> None:
    account = service.user(superuser=True)
    with statements() as first:
        account.api.get("/api/")
    with statements() as second:
        account.api.get("/api/")
    assert len(first) == len(second) == 1 and log_lines.events("token.used")


def test_an_event_of_nobody_has_a_name(log_lines: LogLines) -> None:
    audit.audit("session.ended", id=uuid.UUID(int=1))
    assert log_lines.events() == [{"event": "session.ended", "id": str(uuid.UUID(int=1))}]
