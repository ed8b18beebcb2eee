"""Packages that fail are quarantined; a plugin may be one file."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy.engine import Engine

from netinv_admin.commands.cli import cli
from netinv_core.main import read_settings, registry_for
from netinv_core.packages import FILE_PREFIX, discover
from netinv_testing import Api, Service
from tests.support import SUPPORT
from tests.support.plugins import add_distribution

pytestmark = pytest.mark.any_database
TENANTS = "/api/tenancy/tenants/"
GREETING = SUPPORT / "plugin_fixtures" / "one_file" / "greeting.py"
SECRET = "of more than thirty-two characters"
HOOKS = [
    "netinv_app",
    "netinv_fields",
    "make",
    "netinv_filters",
    "netinv_relations",
    "netinv_rules",
    "netinv_list_formats",
    "netinv_context_scopes",
    "settings",
    "reader",
]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_package_is_left_out_whichever_of_its_hooks_fails(
    install: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, hook: str
) -> None:
    """Those that are called to read the settings, and those that are called to complete the registry."""
    monkeypatch.setenv("FAILING_HOOK", hook)
    install("failing")
    settings, packages = read_settings({"netinv.secret": SECRET, "netinv.failing_pace": "3"})
    registry = registry_for("sqlite", settings, packages)
    (broken,) = registry.broken
    assert (broken.name, broken.distribution) == ("failing", "netinv-failing")
    assert broken.reason.startswith(("ZeroDivisionError: ", "TypeError: "))
    assert "failing" not in registry.apps
    assert not {"lower", "unmakable"} & set(registry["tenancy.tenant"].fields)
    assert len([record for record in caplog.records if record.exc_info]) == 1


PIERS = {
    "__init__.py": """
from netinv_core import App, hookimpl
from netinv_piers.piers import piers

@hookimpl
def netinv_app():
    return App("piers", "Piers", plugin=True, includes=["netinv_piers.piers"])
""",
    "piers.py": """
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

piers = "a value with the name of its module, as resources have it"

def includeme(config):
    config.add_route("piers", "/piers/")
    config.add_view(lambda request: Response("7"), route_name="piers", permission=NO_PERMISSION_REQUIRED)
""",
}


def test_a_module_that_is_included_may_have_the_name_of_its_resource(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netinv_piers").mkdir()
    for name, text in PIERS.items():
        (tmp_path / "netinv_piers" / name).write_text(text)
    add_distribution(tmp_path, "piers")
    monkeypatch.syspath_prepend(str(tmp_path))
    service = Service(engine)
    for name in ("netinv_piers", "netinv_piers.piers"):
        monkeypatch.delitem(sys.modules, name)
    assert "piers" not in service.api.get("/api/status/")["broken-packages"]
    assert service.api.send("GET", "/piers/", version=None, status=200).body == b"7"


@pytest.mark.parametrize("hook", ["netinv_fields", "includes"])
@pytest.mark.night
def test_a_package_with_a_failing_hook_is_reported_and_the_rest_is_served(
    installed: Callable[..., Service], monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    """Its paths answer 503; the status and the list of plugins say why."""
    monkeypatch.setenv("FAILING_HOOK", hook)
    api = installed("failing", {"netinv.failing_pace": "3"}).api
    reason = f"ZeroDivisionError: {hook} fails"
    assert api.get("/api/status/")["broken-packages"] == {"failing": reason}
    (listed,) = [item for item in api.get("/api/plugins/installed-plugins/") if item["name"] == "failing"]
    assert (listed["status"], listed["package"], listed["reason"]) == ("broken", "netinv-failing", reason)
    assert "failing" not in api.get("/api/plugins/")
    api.get("/api/plugins/failing/things/", status=503)
    api.get("/api/extras/config-contexts/")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("permission", "declares no permission"),
        ("action", "ConfigurationConflictError: Conflicting configuration actions"),
        ("security policy", "ConfigurationConflictError: Conflicting configuration actions"),
    ],
)
@pytest.mark.night
def test_a_package_whose_views_pyramid_refuses_is_reported_and_the_rest_is_served(
    installed: Callable[..., Service], monkeypatch: pytest.MonkeyPatch, error: str, reason: str
) -> None:
    """Pyramid finds these errors when the configuration is committed, after the ``includeme`` of every package."""
    monkeypatch.setenv("FAILING_HOOK", error)
    service = installed("failing", {"netinv.failing_pace": "3"})
    api = service.api
    assert reason in api.get("/api/status/")["broken-packages"]["failing"]
    api.get("/api/plugins/failing/things/", status=503)
    api.get("/api/ipam/prefixes/")
    Api(service.app, None).get("/api/ipam/prefixes/", status=403)


@pytest.mark.night
def test_the_package_is_served_when_none_of_its_hooks_fails(
    installed: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILING_HOOK", "none")
    service = installed("failing", {"netinv.failing_pace": "3"})
    assert service.api.get("/api/status/")["broken-packages"] == {}
    name = service.unique()
    assert service.api.post(TENANTS, {"name": name.upper()})["lower"] == name
    assert service.settings["failing_pace"] == 3


def test_a_setting_that_no_package_knows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"netinv\.failing_pace is not known"):
        read_settings({"netinv.secret": SECRET, "netinv.failing_pace": "3"})


@pytest.mark.night
def test_a_package_that_claims_a_setting_of_the_core_is_left_out(
    installed: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILING_HOOK", "claim")
    service = installed("failing")
    assert "paginate_count" in service.api.get("/api/status/")["broken-packages"]["failing"]
    assert service.settings["paginate_count"] == 50


@pytest.fixture
def plugins_dir(tmp_path: Path) -> Iterator[Path]:
    """An empty folder of plugins, whose modules are forgotten afterwards."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    yield folder
    for name in [name for name in sys.modules if name.startswith(FILE_PREFIX)]:
        del sys.modules[name]


@pytest.mark.night
def test_a_plugin_is_one_file_in_the_folder_of_plugins(engine: Engine, plugins_dir: Path) -> None:
    shutil.copy(GREETING, plugins_dir)
    (plugins_dir / "_draft.py").write_text("raise ValueError('not a plugin')")
    service = Service(engine, {"netinv.plugins_dir": str(plugins_dir), "netinv.greeting": "good day"})
    name = service.unique()
    assert service.api.post(TENANTS, {"name": name})["greeting"] == f"hello {name}"
    assert service.api.get("/api/plugins/greeting/hello/") == {"greeting": "good day"}
    status = service.api.get("/api/status/")
    assert (status["plugins"]["greeting"], status["broken-packages"]) == ("1", {})


LATE = """
from netinv_core.hookspecs import hookimpl

@hookimpl
def netinv_fields(endpoint):
    raise LookupError("late")
"""
FAILING_FILES = {"typo": "import tomorrow_", "syntax": "def (", "tenancy": "", "late": LATE}
REASONS = {
    "typo": "ModuleNotFoundError",
    "syntax": "SyntaxError",
    "tenancy": "ValueError: a package with the name tenancy is installed",
    "late": "LookupError: late",
}


@pytest.mark.night
def test_files_that_fail_are_left_out_and_the_rest_is_served(engine: Engine, plugins_dir: Path) -> None:
    shutil.copy(GREETING, plugins_dir)
    for name, code in FAILING_FILES.items():
        (plugins_dir / f"{name}.py").write_text(code)
    service = Service(engine, {"netinv.plugins_dir": str(plugins_dir)})
    status = service.api.get("/api/status/")
    broken = status["broken-packages"]
    assert broken.keys() == REASONS.keys()
    assert {name: reason for name, reason in broken.items() if not reason.startswith(REASONS[name])} == {}
    assert "greeting" in status["plugins"]
    service.api.get(TENANTS)


ACTION = """
from netinv_core.app import App
from netinv_core.hookspecs import hookimpl

def greet(request):
    return {{"from": "{name}"}}

def includeme(config):
    config.add_netinv_action("tenancy/tenants", "greet", on_list=True, get=greet, permission="view")

@hookimpl
def netinv_app():
    return App("{name}", "{name}", plugin=True, includes=["netinv_plugin_{name}"])
"""


@pytest.mark.night
def test_of_two_plugins_with_one_action_the_first_is_served(engine: Engine, plugins_dir: Path) -> None:
    for name in ("first", "second"):
        (plugins_dir / f"{name}.py").write_text(ACTION.format(name=name))
    api = Service(engine, {"netinv.plugins_dir": str(plugins_dir)}).api
    assert list(api.get("/api/status/")["broken-packages"]) == ["second"]
    assert api.get(f"{TENANTS}greet/") == {"from": "first"}


def test_a_folder_of_plugins_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"netinv\.plugins_dir"):
        read_settings({"netinv.secret": SECRET, "netinv.plugins_dir": str(tmp_path / "nothing")})


def test_a_plugin_of_one_file_adds_a_command(plugins_dir: Path, tmp_path: Path) -> None:
    shutil.copy(GREETING, plugins_dir)
    ini = tmp_path / "netinv.ini"
    ini.write_text(f"[app:main]\nuse = egg:netinv-core\nnetinv.plugins_dir = {plugins_dir}\n")
    assert CliRunner().invoke(cli, ["-c", str(ini), "greet-once"]).output == "hello\n"
    assert CliRunner().invoke(cli, ["greet-once"], env={"NETINV_INI": str(tmp_path / "none.ini")}).exit_code == 2


LASTING = """
import threading, time
from netinv_core import App, hookimpl

@hookimpl
def netinv_app():
    return App("lasting", "Lasting", plugin=True)

threading.Thread(target=time.sleep, args=(600,), name="lasting").start()
"""


def test_a_command_ends_although_a_plugin_starts_a_thread_that_does_not(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "lasting.py").write_text(LASTING)
    ini = tmp_path / "netinv.ini"
    ini.write_text(
        "[app:main]\nuse = egg:netinv-core\nnetinv.secret = of more than thirty-two characters\n"
        f"netinv.database_url = sqlite:///{tmp_path}/none.sqlite\nnetinv.plugins_dir = {tmp_path}/plugins\n"
    )
    command = [Path(sys.executable).with_name("netinv"), "-c", ini, "migrate", "--plan"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "it changes the threads for which the process waits at its end" in result.stdout + result.stderr
    assert "Traceback" not in result.stdout and result.returncode in (0, 1)


def test_a_plugin_that_is_refused_for_its_import_stays_so(plugins_dir: Path) -> None:
    """A module is imported once in a process, and packages are discovered several times."""
    (plugins_dir / "silent.py").write_text("import logging\nlogging.disable(logging.CRITICAL)\n")
    for _ in range(2):
        _, broken = discover(str(plugins_dir))
        assert {item.name: item.reason for item in broken}["silent"] == (
            "SharedStateChanged: it changes the log, which all packages share"
        )
