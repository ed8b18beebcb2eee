"""Features of applications: what a package declares, what the setting ``netinv.disabled_features`` leaves out, and what
it refuses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from markupsafe import Markup
from pyramid.interfaces import IRoutesMapper
from pyramid.response import Response
from sqlalchemy.engine import Engine

from netinv_admin.commands.cli import cli
from netinv_core import App, Feature, computed, hookimpl, root
from netinv_core.main import make_app, read_settings
from netinv_core.packages import Packages, discover
from netinv_core.registry import Registry
from netinv_testing import Api, Service
from netinv_web.extensions import Panel, extensions_of

pytestmark = pytest.mark.any_database
SECRET = "of more than thirty-two characters"
TENANTS = "/api/tenancy/tenants/"


@root("Greeting", "Greets.")
def greet(request: Any) -> dict[str, str]:
    """A greeting."""
    return {"hello": "you"}


def greeting_module(**declared: Any) -> ModuleType:
    """A module with the feature ``greeting``: a field of tenants, a view and a setting."""
    module = ModuleType("netinv_hello_greeting")
    module.feature = Feature(  # type: ignore[attr-defined]
        "greeting",
        "Greetings",
        extra_views={"greet": greet},
        settings={"hello_pace": (int, 3)},
        **declared,
    )

    @hookimpl
    def netinv_fields(registry: Any, endpoint: Any) -> list[Any]:
        return [computed("greeting", "hello {}".format, "name")] if endpoint.label == "tenancy.tenant" else []

    module.netinv_fields = netinv_fields  # type: ignore[attr-defined]
    return module


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Packages]:
    """``packages(*modules)``: all installed packages and one called ``hello``, with the features of these modules."""

    def packages(*modules: ModuleType) -> Packages:
        for module in modules:
            monkeypatch.setitem(sys.modules, module.__name__, module)
        plugin = ModuleType("netinv_hello")
        app = App("hello", "Hello", plugin=True, features=[module.__name__ for module in modules])
        plugin.netinv_app = lambda: app  # type: ignore[attr-defined]
        found, broken = discover()
        return [*found, ("hello", plugin)], broken

    return packages


def api_of(engine: Engine, service: Service, packages: Packages, **settings: str) -> Api:
    """A client of a service of these packages."""
    typed, packages = read_settings({"netinv.secret": SECRET, **settings}, packages)
    return Api(make_app(engine, typed, packages=packages), service.api.token)


def test_a_feature_brings_what_it_declares_and_its_hooks(
    engine: Engine, service: Service, packages: Callable[..., Packages]
) -> None:
    api = api_of(engine, service, packages(greeting_module()))
    assert api.get("/api/plugins/hello/greet/") == {"hello": "you"}
    tenant = api.post(TENANTS, {"name": service.unique(), "slug": service.unique()})
    assert tenant["greeting"] == f"hello {tenant['name']}"


@pytest.mark.night
def test_a_disabled_feature_is_left_out_and_its_settings_remain_known(
    engine: Engine, service: Service, packages: Callable[..., Packages]
) -> None:
    settings = {"netinv.disabled_features": "hello.greeting", "netinv.hello_pace": "7"}
    api = api_of(engine, service, packages(greeting_module()), **settings)
    api.get("/api/plugins/hello/greet/", status=404)
    assert api.get("/api/plugins/hello/") == {}
    assert "greeting" not in api.post(TENANTS, {"name": service.unique(), "slug": service.unique()})


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of pages: a panel of tenants, and a page."""
    module = ModuleType("netinv_hello_pages")

    @hookimpl
    def netinv_web_panels(endpoint: Any) -> list[Panel]:
        return [Panel("hello", "Hello", lambda *given: Markup("you"))] if endpoint.label == "tenancy.tenant" else []

    def includeme(config: Any) -> None:
        config.add_netinv_page("/plugins/hello/page/", lambda request: Response("hello"))

    module.netinv_web_panels, module.includeme = netinv_web_panels, includeme  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def served_paths(app: Any) -> set[str]:
    """The patterns of the routes of an application."""
    return {route.pattern for route in app.registry.queryUtility(IRoutesMapper).get_routes()}


@pytest.mark.parametrize(("disabled", "served"), [("", True), ("hello.greeting", False)])
def test_pages_of_a_feature_are_added_unless_it_is_disabled(
    engine: Engine, packages: Callable[..., Packages], pages: ModuleType, disabled: str, served: bool
) -> None:
    settings = {"netinv.secret": SECRET, "netinv.disabled_features": disabled}
    typed, found = read_settings(settings, packages(greeting_module(web=[pages.__name__])))
    app = make_app(engine, typed, packages=found)
    registry: Registry = app.registry.netinv
    panels = extensions_of(registry.hooks.netinv_web_panels, registry["tenancy.tenant"], registry=registry)
    assert ("/plugins/hello/page/" in served_paths(app), "hello" in {panel.name for panel in panels}) == (
        served,
        served,
    )


def test_a_feature_that_does_not_exist_cannot_be_disabled() -> None:
    with pytest.raises(
        ValueError, match=r"disabled_features names extras\.nothing, which is not a feature; .*extras\."
    ):
        read_settings({"netinv.secret": SECRET, "netinv.disabled_features": "extras.nothing"})


@pytest.mark.parametrize("needed", ["welcome", "hello.welcome"])
def test_a_feature_that_another_one_needs_cannot_be_disabled_alone(
    packages: Callable[..., Packages], needed: str
) -> None:
    """The sentence names both; with both disabled, the service starts."""
    welcome = ModuleType("netinv_hello_welcome")
    welcome.feature = Feature("welcome", "Welcome")  # type: ignore[attr-defined]
    found = packages(greeting_module(needs=[needed]), welcome)
    settings = {"netinv.secret": SECRET, "netinv.disabled_features": "hello.welcome"}
    with pytest.raises(ValueError, match=r"^the setting .* disables hello\.welcome, which hello\.greeting needs$"):
        read_settings(settings, found)
    read_settings(settings | {"netinv.disabled_features": "hello.welcome hello.greeting"}, found)


def test_a_module_without_a_feature_puts_its_package_in_quarantine(packages: Callable[..., Packages]) -> None:
    _, (_, broken) = read_settings({"netinv.secret": SECRET}, packages(ModuleType("netinv_hello_nothing")))
    (failed,) = broken
    assert (failed.name, failed.reason) == (
        "hello",
        "TypeError: the module netinv_hello_nothing has no Feature called feature",
    )


@pytest.mark.night
def test_the_self_check_tells_of_a_feature_that_does_not_exist(tmp_path: Path) -> None:
    ini = tmp_path / "service.ini"
    lines = ["[app:main]", "use = egg:netinv-core", f"netinv.secret = {SECRET}", "netinv.disabled_features = hello"]
    ini.write_text("\n".join([*lines, f"netinv.database_url = sqlite:///{tmp_path}/none.sqlite", ""]))
    checked = CliRunner().invoke(cli, ["-c", str(ini), "check"])
    assert "the setting netinv.disabled_features names hello, which is not a feature" in checked.output


def test_the_commands_of_a_disabled_feature_are_unknown(tmp_path: Path) -> None:
    ini = tmp_path / "service.ini"
    ini.write_text("[app:main]\nuse = egg:netinv-core\nnetinv.disabled_features = extras.webhooks\n")
    (left_out, served) = (
        CliRunner().invoke(cli, ["-c", str(ini), command, "--help"]) for command in ("webhooks", "jobs")
    )
    assert left_out.exit_code == 2
    assert "No such command 'webhooks'" in left_out.output
    assert served.exit_code == 0
