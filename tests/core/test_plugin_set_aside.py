"""Plugins that fail again and again are set aside while the service runs, with a notice; guards never are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from netinv_core.packages import FILE_PREFIX
from netinv_testing import Service
from tests.support.waiting import until

pytestmark = [pytest.mark.any_database, pytest.mark.night]
TENANTS = "/api/tenancy/tenants/"
HEAD = """
from netinv_core import App, ChangeGuard, batch_loaded, computed, filters, hookimpl

def fail(*arguments):
    raise ZeroDivisionError("the plugin fails")

def end(*arguments):
    raise SystemExit(3)

def on_tenants(endpoint, *declared):
    return list(declared) if endpoint.label == "tenancy.tenant" else []
"""
FIELD = (
    "\n@hookimpl\ndef netinv_fields(registry, endpoint):\n    return on_tenants(endpoint, computed('x', {}, 'name'))\n"
)
RULE = "\n@hookimpl\ndef netinv_rules(registry, endpoint):\n    return on_tenants(endpoint, {})\n"
RECORDED = "\n@hookimpl\ndef netinv_changes_recorded(uow, changes):\n    fail()\n"
APP = "\n@hookimpl\ndef netinv_app():\n    return App('failing', 'Failing', plugin=True, includes=[__name__])\n"
INCLUDE = APP + "\ndef includeme(config):\n    {}\n"
DERIVER = "\ndef deriver(view, info):\n    return fail\n"
LISTENER = """
from sqlalchemy import event
from sqlalchemy.orm import Session

commits = []

@event.listens_for(Session, "before_commit")
def stop(session):
    commits.append(session)
    if len(commits) > 1:  # the first one is of the fixture
        fail()

def includeme(config):
    pass
"""
READ, WRITE = ("GET", TENANTS), ("POST", TENANTS)
FAILS = {
    "a field": (FIELD.format("fail"), WRITE),
    "a field that ends the process": (FIELD.format("end"), WRITE),
    "a hook of changes": (RECORDED, WRITE),
    "a tween": (
        "\ndef tween(handler, registry):\n    return fail\n" + INCLUDE.format("config.add_tween(__name__ + '.tween')"),
        READ,
    ),
    "a view deriver": (DERIVER + INCLUDE.format("config.add_view_deriver(deriver)"), READ),
    "a listener": (LISTENER + APP, WRITE),
    "a subscriber": (INCLUDE.format("config.add_subscriber(fail, 'pyramid.events.NewRequest')"), READ),
}
GUARD = "\n@hookimpl\ndef netinv_change_guards(registry):\n    return [ChangeGuard(look=fail, check=fail)]\n"


@pytest.fixture
def serving(engine: Engine, tmp_path: Path) -> Iterator[Callable[[str, str], Service]]:
    """A function that serves with a plugin, whose module is forgotten afterwards."""

    def serve(code: str, limit: str) -> Service:
        (tmp_path / "failing.py").write_text(HEAD + code)
        settings = {"netinv.plugins_dir": str(tmp_path), "netinv.package_failures": limit}
        return Service(engine, settings)

    yield serve
    sys.modules.pop(f"{FILE_PREFIX}failing", None)


def status_of(service: Service, method: str, path: str) -> int:
    """Sends a request, a new tenant for a POST; returns the status of the answer."""
    body = [{"name": service.unique()}] if method == "POST" else []
    return int(service.api.send(method, path, *body, status=range(200, 600)).status_int)


@pytest.mark.parametrize("place", FAILS)
def test_a_plugin_that_fails_too_often_is_set_aside_and_its_paths_say_so(
    serving: Callable[[str, str], Service], place: str, caplog: pytest.LogCaptureFixture
) -> None:
    code, (method, path) = FAILS[place]
    service = serving(code, "3")
    assert [status_of(service, method, path) for _ in range(3)] == [503] * 3
    until(lambda: status_of(service, method, path) < 300)
    until(lambda: "failing" in service.api.get("/api/status/")["broken-packages"])
    reason = service.api.get("/api/status/")["broken-packages"]["failing"]
    assert "it failed 3 times, and is set aside until the next start; the last failure: " in reason
    (listed,) = [item for item in service.api.get("/api/plugins/installed-plugins/") if item["name"] == "failing"]
    assert (listed["status"], listed["reason"]) == ("broken", reason)
    metrics = service.api.send("GET", "/metrics", status=200).text
    assert "netinv_packages_broken 1.0" in metrics and 'netinv_package_failures_total{package="failing"}' in metrics
    assert any("package failing failed" in record.getMessage() for record in caplog.records)


NEVER = {
    "a guard": (GUARD, "3"),
    "a rule": (RULE.format("fail"), "3"),
    "a rule that ends the process": (RULE.format("end"), "3"),
    "no limit": (FIELD.format("fail"), "0"),
}


@pytest.mark.parametrize("case", NEVER)
def test_what_guards_changes_is_never_set_aside_and_nothing_without_a_limit(
    serving: Callable[[str, str], Service], case: str
) -> None:
    service = serving(*NEVER[case])
    assert [status_of(service, "POST", TENANTS) for _ in range(6)] == [503] * 6
    assert service.api.get("/api/status/")["broken-packages"] == {}
