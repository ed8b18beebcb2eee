"""A plugin that fails while the service runs: its own part is left out, and named in the log or by a warning."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy.engine import Engine

from netinv_admin.commands.cli import cli
from netinv_core.http import time_limits
from netinv_core.packages import FILE_PREFIX
from netinv_testing import Service
from netinv_web.testing import Browser
from tests.support.waiting import until

PAST_COMMITS = """
import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column
from netinv_core import hookimpl

def fail():
    raise ZeroDivisionError("the plugin fails")

def query(uow):
    return uow.execute(sa.text("SELECT x FROM nowhere_at_all")).all()

@hookimpl
def netinv_status(uow):
    query(uow)

@hookimpl
def netinv_metrics(uow):
    return query(uow)

@hookimpl
def netinv_dynamic_filters(uow, endpoint):
    query(uow)

@hookimpl
def netinv_changes_recorded(uow, changes):
    uow.after_commit(fail)
"""
pytestmark = pytest.mark.any_database
FAILING = """
from netinv_core import SearchProvider, hookimpl

def fail(*arguments):
    raise ZeroDivisionError("the plugin fails")

@hookimpl
def netinv_status(uow):
    fail()

@hookimpl
def netinv_metrics(uow):
    return ["no sample"]

@hookimpl
def netinv_dynamic_filters(uow, endpoint):
    fail()

@hookimpl
def netinv_search(registry):
    return [SearchProvider("failing", 0, fail)]

@hookimpl
def netinv_commands():
    return {"netinv": COMMANDS}
"""


OBJECTS = """
from netinv_core import hookimpl

@hookimpl
def netinv_status(uow):
    return {"object": object()}

@hookimpl
def netinv_dynamic_filters(uow, endpoint):
    return {"number": 5}
"""


SLOW = """
import threading
from netinv_core import Match, SearchProvider, hookimpl

woken = threading.Event()

@hookimpl
def netinv_status(uow):
    woken.wait()
    return {"slow": True}

@hookimpl
def netinv_metrics(uow):
    woken.wait()
    return []

def recognise(uow, text):
    woken.wait()
    return [Match("dcim.site", "Facility", "facility", lambda table: table.c.facility == text)]

@hookimpl
def netinv_search(registry):
    return [SearchProvider("slow", 0, recognise)]
"""


MISSHAPEN = """
import sqlalchemy as sa
from netinv_core import Match, SearchProvider, hookimpl

BROKEN = sa.text("nowhere_at_all = 1")

def recognise(uow, text):
    return [
        Match("dcim.site", "broken", "name", lambda table: BROKEN),
        Match("dcim.site", "no condition", "name", lambda table: table.c.nowhere_at_all),
        Match("dcim.nothing", "nothing", "name", lambda table: BROKEN),
    ]

@hookimpl
def netinv_search(registry):
    return [SearchProvider("misshapen", 0, recognise)]

@hookimpl
def netinv_web_banners(request):
    from netinv_web.extensions import Banner
    return [Banner("Mind the gap", links=["/x/"])]

@hookimpl
def netinv_web_save_buttons(request, endpoint):
    from netinv_web.extensions import SaveButton
    return [SaveButton(1)]

@hookimpl
def netinv_web_attention(request):
    from netinv_web.extensions import Attention, CountedAttention
    if request.path == "/search/":
        return [Attention("x", path=None)]
    return [
        CountedAttention("{count:,} gaps", "/x/", label="dcim.site", condition=BROKEN),
        CountedAttention("{:,} holes", "/x/", label="dcim.site", condition=object()),
        CountedAttention("{:,} {holes}", "/x/", one="{:,} {holes}", label="dcim.site", condition=sa.true()),
    ]
"""


@pytest.fixture
def plugins_dir(tmp_path: Path) -> Iterator[Path]:
    """A folder with the plugin, whose module is forgotten afterwards."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "failing.py").write_text(FAILING)
    (folder / "objects.py").write_text(OBJECTS)
    yield folder
    for name in ("failing", "objects"):
        sys.modules.pop(f"{FILE_PREFIX}{name}", None)


@pytest.mark.night
def test_what_a_plugin_fails_at_is_left_out(
    engine: Engine, plugins_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service(engine, {"netinv.plugins_dir": str(plugins_dir)})
    api = service.api
    assert api.get("/api/status/")["broken-packages"] == {}
    assert Browser(service, service.admin).get("/tenancy/tenants/").status_int == 200
    assert b"netinv_info" in api.send("GET", "/metrics", status=200).body
    assert api.get("/api/search/", {"q": "10.0.0.1"})["query"] == "10.0.0.1"
    assert list(api.get("/api/tenancy/tenants/", {"unknown": "x"}, status=400)) == ["unknown"]
    failed = [
        record.getMessage() for record in caplog.records if "of the package failing failed" in record.getMessage()
    ]
    for part in ("netinv_status", "netinv_dynamic_filters"):
        assert any(f"{part} of the package objects failed" in record.getMessage() for record in caplog.records)
    for part in ("netinv_status", "netinv_metrics", "netinv_dynamic_filters", "the recogniser failing"):
        assert any(message.startswith(f"{part} of the package") for message in failed)


def test_status_metrics_and_searches_do_not_wait_for_a_slow_plugin(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    service = Service(engine, {"netinv.plugins_dir": str(tmp_path), "netinv.package_failures": "0"})
    name = service.unique()
    site = service.api.post("/api/dcim/sites/", {"name": name, "status": "active", "facility": f"the {name}"})
    search = {"q": f"the {name}"}
    monkeypatch.setattr(time_limits, "SECONDS", 0.2)
    try:
        assert "slow" not in service.api.get("/api/status/")
        assert b"netinv_info" in service.api.send("GET", "/metrics", status=200).body
        assert "slow" not in service.api.get("/api/status/"), "it is not called again while it runs"
        assert [group["exact"] for group in service.api.get("/api/search/", search)["groups"]] == [False]
        assert name in Browser(service, service.admin).get(f"/search/?q={name}").words
    finally:
        sys.modules[f"{FILE_PREFIX}slow"].woken.set()
        monkeypatch.setattr(time_limits, "SECONDS", 60)
    until(lambda: all(thread.name != "netinv-part" for thread in threading.enumerate()))
    assert service.api.get("/api/status/")["slow"] is True
    (group,) = service.api.get("/api/search/", search)["groups"]
    assert group["exact"] and [item["id"] for item in group["results"]] == [site["id"]]
    told = [str(record.exc_info) for record in caplog.records if "of the package slow failed" in record.getMessage()]
    in_all = ["took longer than 0.2 s" in text for text in told]
    assert in_all == [True, True, False, True, False], "the first call of each, then those while it runs"
    del sys.modules[f"{FILE_PREFIX}slow"]


def test_parts_of_another_shape_and_conditions_that_fail_leave_pages_and_searches_whole(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "misshapen.py").write_text(MISSHAPEN)
    service = Service(engine, {"netinv.plugins_dir": str(tmp_path), "netinv.package_failures": "0"})
    browser, name = Browser(service, service.admin), service.unique()
    assert service.api.get("/api/status/")["broken-packages"] == {}
    site = service.api.post("/api/dcim/sites/", {"name": name, "status": "active"})
    home = browser.get("/").words
    assert "{holes}" in home and "gaps" not in home and " holes" not in home.replace("{holes}", "")
    assert "A part of the package misshapen failed." in browser.get(f"/dcim/sites/{site['id']}/").words
    assert "A part of the package misshapen failed." in browser.get("/dcim/sites/add/").words
    groups = service.api.get("/api/search/", {"q": name})["groups"]
    assert [item["id"] for group in groups for item in group["results"]] == [site["id"]]
    told = [record.getMessage() for record in caplog.records]
    for part in (
        "netinv_web_banners failed",
        "netinv_web_save_buttons failed",
        "the condition of an entry under Needs attention of the package misshapen failed",
        "a condition of a recogniser of the package misshapen failed",
        "the recogniser misshapen of the package misshapen failed",
        "the recogniser misshapen of the package misshapen names 'dcim.nothing'",
    ):
        assert any(part in message for message in told), part
    del sys.modules[f"{FILE_PREFIX}misshapen"]


@pytest.mark.night
def test_wrong_statements_and_failures_after_the_commit_fail_no_request(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "late.py").write_text(PAST_COMMITS)
    service = Service(engine, {"netinv.plugins_dir": str(tmp_path)})
    api, name = service.api, service.unique()
    assert api.get("/api/status/")["broken-packages"] == {}
    assert b"netinv_info" in api.send("GET", "/metrics", status=200).body
    assert list(api.get("/api/tenancy/tenants/", {"unknown": "x"}, status=400)) == ["unknown"]
    created = api.post("/api/tenancy/tenants/", {"name": name})
    assert api.get(created["url"])["name"] == name
    assert any("the package late failed after the commit" in record.getMessage() for record in caplog.records)
    del sys.modules[f"{FILE_PREFIX}late"]


COMMAND = """
import click
from netinv_core import hookimpl, save

@click.command()
@click.argument("method", required=False)
@click.pass_obj
def tides(environment, method):
    if method:
        with environment.unit_of_work() as uow:
            save.create(uow, uow.registry["tenancy.tenant"], [{"name": "tides"}])
            getattr(uow.session, method)()
    raise ZeroDivisionError("the plugin fails")

@hookimpl
def netinv_commands():
    return {"netinv": [tides]}
"""


def test_the_command_of_a_plugin_is_listed_and_its_failure_names_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/coast.py").write_text(COMMAND)
    ini = tmp_path / "netinv.ini"
    ini.write_text(f"[app:main]\nuse = egg:netinv-core\nnetinv.plugins_dir = {tmp_path / 'plugins'}\n")
    assert "\n  tides" in CliRunner().invoke(cli, ["-c", str(ini), "--help"]).stdout
    failed = CliRunner().invoke(cli, ["-c", str(ini), "tides"])
    assert failed.exit_code == 70
    assert "ZeroDivisionError: the plugin fails (an error of the package coast: " in failed.output


@pytest.mark.parametrize("method", ["rollback", "commit", "close", "reset", "invalidate"])
def test_a_command_of_a_plugin_does_not_end_the_transaction_itself(
    service: Service, tmp_path: Path, method: str
) -> None:
    (tmp_path / "coast.py").write_text(COMMAND)
    ini = tmp_path / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.plugins_dir = {tmp_path}\n"
        "netinv.secret = for tests only, of 32 characters\n"
    )
    failed = CliRunner().invoke(cli, ["-c", str(ini), "tides", method])
    assert failed.exit_code == 70
    assert "RuntimeError: the session of a unit of work is not " in failed.output
    assert "(an error of the package coast: " in failed.output
    assert service.api.get("/api/tenancy/tenants/", {"name": "tides"})["count"] == 0


@pytest.mark.night
def test_the_other_commands_run(plugins_dir: Path, tmp_path: Path) -> None:
    ini = tmp_path / "netinv.ini"
    ini.write_text(f"[app:main]\nuse = egg:netinv-core\nnetinv.plugins_dir = {plugins_dir}\n")
    listed = CliRunner().invoke(cli, ["--help"], env={"NETINV_INI": str(ini)})
    assert listed.stderr.count("the commands of the package failing are left out: NameError") == 1
    assert "webhooks" in listed.stdout
    for words in (["webhooks", "--help"], ["import", "--help"]):
        assert CliRunner().invoke(cli, ["-c", str(ini), *words]).exit_code == 0
