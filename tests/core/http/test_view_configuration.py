"""Configuration of views: a service with a view that declares no permission does not start, two actions of one path are
a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import webtest
from pyramid.request import Request
from pyramid.security import NO_PERMISSION_REQUIRED
from sqlalchemy.engine import Engine

from netinv_core.app import App
from netinv_core.http.security_policy import AUTHENTICATED
from netinv_core.main import make_app
from netinv_core.packages import discover
from netinv_testing import Service

pytestmark = pytest.mark.any_database
NOT_GIVEN = {"detail": "Authentication credentials were not provided."}
USERS = "/api/users/users/"
Includeme = Callable[[Any], None]


def greet(request: Request) -> dict[str, str]:
    """A greeting for whoever asks."""
    return {"hello": request.uow.identity.username}


def other(request: Request) -> dict[str, str]:
    """Another view."""
    return {}


@pytest.fixture
def start(engine: Engine, service: Service) -> Callable[[Includeme], webtest.TestApp]:
    """``start(includeme)``: the core alone, with a plugin that configures views of its own."""

    def start(includeme: Includeme) -> webtest.TestApp:
        plugin = ModuleType("netinv_views")
        plugin.netinv_app = lambda: App("views", "Views", plugin=True, includes=[includeme])
        core = [(name, module) for name, module in discover()[0] if name == "core"]
        return webtest.TestApp(make_app(engine, service.settings, packages=([*core, ("views", plugin)], [])))

    return start


def add_view(view: Callable[[Request], Any], **options: Any) -> Includeme:
    """A plugin that adds one view, as any Pyramid application does."""

    def includeme(config: Any) -> None:
        config.add_route("greeting", "/api/greeting/")
        config.add_view(view, route_name="greeting", renderer="orjson", **options)

    return includeme


def token(account: Any) -> dict[str, str]:
    """The header of an account."""
    return {"Authorization": f"Token {account.token}"}


def reason_of_quarantine(client: webtest.TestApp) -> str:
    """The error for which the plugin is not served."""
    (failed,) = client.app.registry.netinv.broken
    assert failed.name == "views"
    reason: str = failed.reason
    return reason


def test_a_plugin_with_a_view_without_a_permission_is_quarantined(start: Any) -> None:
    client = start(add_view(greet))
    assert re.search(r"greet.* declares no permission", reason_of_quarantine(client))
    client.get("/api/greeting/", status=404)


def test_a_view_with_a_permission_asks_for_credentials_before_it_runs(start: Any, make_user: Any) -> None:
    client, user = start(add_view(greet, permission=AUTHENTICATED)), make_user()
    assert client.get("/api/greeting/", status=403).json == NOT_GIVEN
    assert client.get("/api/greeting/", headers={"Authorization": "Token nobody's"}, status=403).json == {
        "detail": "Invalid token"
    }
    assert client.get("/api/greeting/", headers=token(user)).json == {"hello": user.username}


def test_a_view_is_negotiated_without_a_line_of_its_own(start: Any, make_user: Any) -> None:
    client, headers = start(add_view(greet, permission=AUTHENTICATED)), token(make_user())
    answer = client.get("/api/greeting/", headers={**headers, "Accept": "application/json; version=1.5"})
    assert [answer.headers[name] for name in ("API-Version", "Allow", "Vary")] == [
        "1.5",
        "GET, HEAD, OPTIONS",
        "Accept",
    ]
    assert client.get("/api/greeting/", headers={**headers, "Accept": "text/html"}).content_type == "text/html"
    client.get("/api/greeting/", headers={**headers, "Accept": "image/png"}, status=406)
    assert client.post("/api/greeting/", headers=headers, status=405).headers["Allow"] == "GET, HEAD, OPTIONS"


def test_a_view_that_writes_refuses_a_token_that_only_reads(start: Any, make_user: Any) -> None:
    client = start(add_view(greet, permission=AUTHENTICATED, allow="POST, OPTIONS"))
    client.post("/api/greeting/", headers=token(make_user(write_enabled=False)), status=403)
    client.post("/api/greeting/", headers=token(make_user()))


def test_a_view_for_anyone_says_so(start: Any) -> None:
    assert start(add_view(other, permission=NO_PERMISSION_REQUIRED)).get("/api/greeting/").json == {}


def test_an_action_needs_its_permission_on_the_resource(start: Any, make_user: Any) -> None:
    client = start(
        lambda config: config.add_netinv_action("users/users", "greet", on_list=True, get=greet, permission="view")
    )
    user = make_user(("view", "users.user"))
    assert client.get(f"{USERS}greet/", headers=token(user)).json == {"hello": user.username}
    client.get(f"{USERS}greet/", headers=token(make_user(("change", "users.user"))), status=403)


@pytest.mark.parametrize("resource", ["users/users", "users/user[s]"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_two_actions_of_one_path_are_a_conflict(start: Any, resource: str, method: str) -> None:
    """The second one would never run, whatever its methods."""

    def includeme(config: Any) -> None:
        config.add_netinv_action("users/users", "greet", get=greet, permission="view")
        config.add_netinv_action(resource, "greet", permission="view", **{method: other})

    reason = reason_of_quarantine(start(includeme))
    assert reason.startswith("ConfigurationConflictError: ") and "add_netinv_action" in reason


def test_actions_of_one_name_on_objects_and_on_their_list_are_two(start: Any, make_user: Any) -> None:
    def includeme(config: Any) -> None:
        config.add_netinv_action("users/users", "greet", get=greet, permission="view")
        config.add_netinv_action("users/users", "greet", on_list=True, get=other, permission="view")

    user = make_user(("view", "users.user"))
    client = start(includeme)
    assert client.get(f"{USERS}greet/", headers=token(user)).json == {}
    assert client.get(f"{USERS}{user.id}/greet/", headers=token(user)).json == {"hello": user.username}


def test_a_package_with_an_action_without_a_permission_for_a_method_is_quarantined(start: Any) -> None:
    def includeme(config: Any) -> None:
        config.add_netinv_action("users/users", "greet", get=greet, post=other, permission={"get": "view"})

    client = start(includeme)
    (failed,) = client.app.registry.netinv.broken
    assert failed.name == "views" and "no permission for post" in failed.reason
