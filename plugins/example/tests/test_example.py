"""The example plugin, through the API: what it serves, what it adds to sites, and that it can come and go."""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from netinv_example.maintenance_windows import MaintenanceWindow

from netinv_admin import migrate
from netinv_core import main as service
from netinv_core.db import revisions
from netinv_core.packages import discover
from netinv_testing import CHECKS, Api, Case, Check, Service, Unique
from tests.support.databases import empty_database

LABEL = "example.maintenancewindow"
WINDOWS = "/api/plugins/example/maintenance-windows/"
SITES = "/api/dcim/sites/"
HOUR = datetime.timedelta(hours=1)


def from_now(hours: float) -> str:
    """An instant, ISO 8601."""
    return (datetime.datetime.now(datetime.UTC) + hours * HOUR).isoformat()


@pytest.fixture
def make_site(api: Api, unique: Unique) -> Any:
    """``make_site()``: an active site."""
    return lambda: api.post(SITES, {"name": unique(), "status": "active"})


@pytest.fixture
def make_window(api: Api, unique: Unique) -> Any:
    """``make_window(site, start, end)``: a window, given in hours from now; ``other`` members as they are."""

    def make(site: Any, start: float = -1, end: float = 1, **other: Any) -> Any:
        return api.post(
            WINDOWS, {"name": unique(), "site": site["id"], "start": from_now(start), "end": from_now(end), **other}
        )

    return make


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_contract_holds(check: Check, service: Service) -> None:
    """A plugin's resource does what every resource does."""
    if check.applies(service.registry[LABEL]):
        check(Case(service, LABEL))


# -- the resource


def test_a_window_names_its_site_by_attributes(api: Api, unique: Unique, make_site: Any) -> None:
    site, name = make_site(), unique()
    found = api.post(
        WINDOWS,
        {
            "name": name,
            "site": {"name": site["name"]},
            "start": "2031-01-01T22:00:00Z",
            "end": "2031-01-02T04:00:00+02:00",
        },
    )
    assert found["site"]["id"] == site["id"]
    assert found["status"] == {"value": "planned", "label": "Planned"}
    assert (found["slug"], found["end"]) == (name, "2031-01-02T02:00:00Z")


def test_a_window_ends_after_it_has_begun(api: Api, make_site: Any, make_window: Any) -> None:
    window = make_window(make_site(), 1, 2)
    assert api.patch(f"{WINDOWS}{window['id']}/", {"end": window["start"]}, status=400) == {
        "end": ["The end must be after the start."]
    }


def test_active_at_selects_the_windows_that_cover_an_instant(api: Api, make_site: Any) -> None:
    def window(start: int, end: int, status: str = "planned") -> str:
        body = {"name": f"{site['name']} {start} {end} {status}", "site": site["id"], "status": status}
        made: str = api.post(
            WINDOWS, {**body, "start": f"2032-01-{start:02}T00:00:00Z", "end": f"2032-01-{end:02}T00:00:00Z"}
        )["id"]
        return made

    def found(*days: int) -> set[str]:
        query = {"site": site["id"], "active_at": [f"2032-01-{day:02}T00:00:00Z" for day in days]}
        return {item["id"] for item in api.get(WINDOWS, query)["results"]}

    site = make_site()
    first, second, _ = window(1, 3), window(2, 5), window(1, 9, "cancelled")
    assert found(1) == {first}
    assert found(2) == {first, second}
    assert found(3) == {second}, "the end is no longer part of the window"
    assert found(1, 4) == {first, second}, "one of several instants"
    assert found(6) == set()
    assert "active_at" in api.get(WINDOWS, {"active_at": "noon"}, status=400)


def test_windows_go_with_their_site(api: Api, make_site: Any, make_window: Any) -> None:
    site = make_site()
    window = make_window(site)
    api.delete(f"{SITES}{site['id']}/")
    api.get(f"{WINDOWS}{window['id']}/", status=404)


# -- the action


def test_closing_ends_an_active_window_now(api: Api, make_site: Any, make_window: Any) -> None:
    window = make_window(make_site())
    closed = api.post(f"{WINDOWS}{window['id']}/close/", status=200)
    assert window["start"] < closed["end"] < window["end"]
    changes = api.get("/api/extras/object-changes/", {"changed_object_id": window["id"]})["results"]
    assert [change["action"]["value"] for change in changes] == ["update", "create"], (
        "closing is a change like any other"
    )


@pytest.mark.parametrize(("start", "end", "status"), [(1, 2, "planned"), (-2, -1, "confirmed"), (-1, 1, "cancelled")])
def test_only_an_active_window_can_be_closed(
    api: Api, make_site: Any, make_window: Any, start: int, end: int, status: str
) -> None:
    window = make_window(make_site(), start, end, status=status)
    answer = api.post(f"{WINDOWS}{window['id']}/close/", status=400)
    assert answer == {"non_field_errors": ["Only an active maintenance window can be closed."]}


def test_closing_needs_the_permission_to_change(api: Api, make_site: Any, make_window: Any, make_user: Any) -> None:
    window = make_window(make_site())
    path = f"{WINDOWS}{window['id']}/close/"
    make_user(("view", LABEL)).api.post(path, status=403)
    make_user(("view change", LABEL, {"name": "another"})).api.post(path, status=404)
    make_user(("view change", LABEL, {"end": window["end"]})).api.post(path, status=403)
    make_user(("view change", LABEL)).api.post(path, status=200)


def test_closing_offers_post_only(api: Api, make_site: Any, make_window: Any) -> None:
    path = f"{WINDOWS}{make_window(make_site())['id']}/close/"
    answer = api.send("GET", path, status=405)
    assert answer.headers["Allow"] == "POST, OPTIONS"
    assert answer.json == {"detail": 'Method "GET" not allowed.'}
    api.post(f"{WINDOWS}00000000-0000-0000-0000-000000000000/close/", status=404)
    api.post(f"{WINDOWS}nonsense/close/", status=404)


# -- what sites get


def test_a_site_tells_when_maintenance_begins(api: Api, make_site: Any, make_window: Any) -> None:
    site = make_site()
    path = f"{SITES}{site['id']}/"
    assert api.get(path)["next_maintenance"] is None
    make_window(site, -3, -2)
    make_window(site, 1, 2, status="cancelled")
    assert api.get(path)["next_maintenance"] is None, "what is over or cancelled does not count"
    later = make_window(site, 5, 6)
    assert api.get(path)["next_maintenance"] == later["start"]
    active = make_window(site, -1, 1)
    assert api.get(path)["next_maintenance"] == active["start"]
    assert api.options(SITES)["actions"]["POST"]["next_maintenance"]["read_only"]


def test_the_field_costs_one_statement_however_many_sites(
    api: Api, make_site: Any, make_window: Any, statements: Any
) -> None:
    sites = [make_site() for _ in range(12)]
    for site in sites:
        make_window(site)

    def read(count: int) -> list[str]:
        with statements() as found:
            shown = api.get(SITES, {"id": [site["id"] for site in sites[:count]]})["results"]
        assert len(shown) == count
        assert all(item["next_maintenance"] for item in shown)
        return [statement for statement in found if MaintenanceWindow.__tablename__ in statement]

    read(1)
    assert len(read(2)) == len(read(12)) == 1


def test_sites_are_selected_by_their_windows(api: Api, make_site: Any, make_window: Any) -> None:
    quiet, busy = make_site(), make_site()
    window = make_window(busy)
    ids = {"id": [quiet["id"], busy["id"]]}
    assert [site["id"] for site in api.get(SITES, {**ids, "has_maintenance_windows": "false"})["results"]] == [
        quiet["id"]
    ]
    assert [site["id"] for site in api.get(SITES, {"maintenance_windows": window["slug"]})["results"]] == [busy["id"]]


def test_a_site_is_not_retired_during_its_maintenance(api: Api, make_site: Any, make_window: Any) -> None:
    site = make_site()
    window, path = make_window(site), f"{SITES}{site['id']}/"
    refusal = {"status": [f"The site cannot be retired during its maintenance window {window['name']}."]}
    assert api.patch(path, {"status": "retired"}, status=400) == refusal
    api.patch(path, {"status": "planned", "description": "still in service"})
    api.post(f"{WINDOWS}{window['id']}/close/", status=200)
    assert api.patch(path, {"status": "retired"})["status"]["value"] == "retired"
    make_window(site)
    api.patch(path, {"status": "retired", "description": "it was retired before"})


def test_the_rule_sees_a_whole_batch(api: Api, make_site: Any, make_window: Any, statements: Any) -> None:
    sites = [make_site() for _ in range(6)]
    for site in sites:
        make_window(site, 1, 2)

    def retire(batch: list[Any]) -> list[str]:
        with statements() as found:
            api.patch(SITES, [{"id": site["id"], "status": "retired"} for site in batch])
        return found

    assert len(retire(sites[:1])) == len(retire(sites[1:]))


def test_the_status_page_counts_active_windows(api: Api, make_site: Any, make_window: Any) -> None:
    before = api.get("/api/status/")
    make_window(make_site())
    after = api.get("/api/status/")
    assert after["active-maintenance-windows"] == before["active-maintenance-windows"] + 1
    assert "example" in after["plugins"]


# -- coming and going


@pytest.mark.night
def test_without_the_package_the_service_works(
    engine: sa.Engine, make_site: Any, make_window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its table, which is left behind, keeps what it refers to."""
    kept = make_site()
    make_window(kept)
    modules, broken = discover()
    others = [(name, module) for name, module in modules if name != "example"]
    monkeypatch.setattr(service, "discover", lambda plugins_dir="": (others, broken))
    bare = Service(engine)
    site = bare.api.post(SITES, {"name": bare.unique(), "status": "active"})
    assert "next_maintenance" not in bare.api.get(f"{SITES}{site['id']}/")
    bare.api.patch(f"{SITES}{site['id']}/", {"status": "retired"})
    bare.api.get(SITES, {"has_maintenance_windows": "true"}, status=400)
    assert "example" not in bare.api.get("/api/plugins/")
    assert "Example" not in [plugin["name"] for plugin in bare.api.get("/api/plugins/installed-plugins/")]
    assert "active-maintenance-windows" not in bare.api.get("/api/status/")
    bare.api.get(WINDOWS, status=404)
    bare.api.delete(f"{SITES}{kept['id']}/", status=409)


@pytest.mark.night
def test_its_tables_come_and_go_and_leave_the_rest(tmp_path: Path) -> None:
    with empty_database(tmp_path) as engine:
        registry = service.registry_for(engine.dialect.name, {})
        migrate.upgrade(engine, registry)
        assert revisions.pending_heads(engine, registry) == []
        with_example = set(sa.inspect(engine).get_table_names())
        with pytest.raises(LookupError, match="example"):
            migrate.remove(engine, registry, registry.apps["dcim"])
        example = registry.apps.pop("example")
        migrate.upgrade(engine, registry)  # uninstalled with its tables in place: nobody minds
        registry.apps["example"] = example
        migrate.remove(engine, registry, example)
        gone = with_example - set(sa.inspect(engine).get_table_names())
        assert gone == {MaintenanceWindow.__tablename__, "example_alembic_version"}
        assert revisions.pending_heads(engine, registry) == ["example_0001"]
        del registry.apps["example"]
        migrate.upgrade(engine, registry)
        assert revisions.pending_heads(engine, registry) == []
        registry.apps["example"] = example
        migrate.upgrade(engine, registry)
        assert set(sa.inspect(engine).get_table_names()) == with_example


# -- the tutorial

ROOT = Path(__file__).parents[3]
BLOCKS = re.findall(r"```(?:python|ini)\n# (\S+)\n(.*?)```", (ROOT / "docs/plugins.md").read_text(), flags=re.S)
RECIPE = "netinv_example/contractors.py"


def test_the_tutorial_shows_what_is_there() -> None:
    texts = {place: (ROOT / "plugins/example" / place).read_text() for place, _ in BLOCKS if place != RECIPE}
    assert len(texts) > 3
    for place, block in BLOCKS:
        assert place == RECIPE or block in texts[place]


@pytest.mark.night
def test_the_recipe_of_the_tutorial_works() -> None:
    """Run in a process of its own, as it declares a table."""
    program = f"""{dict(BLOCKS)[RECIPE]}
from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_core.main import registry_for
from netinv_core.packages import discover

class Package:
    @staticmethod
    @hookimpl
    def netinv_app():
        return App("recipe", "Recipe", [contractors], plugin=True)

modules, broken = discover()
endpoint = registry_for("sqlite", {{}}, ([*modules, ("recipe", Package)], broken))["recipe.contractor"]
assert {{"name", "mail", "tags", "custom_fields"}} <= set(endpoint.fields), endpoint.fields
assert {{"q", "name", "mail", "tag"}} <= set(endpoint.filters), endpoint.filters
"""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


LINES = ("orders = Service(", 'computed("greeting"', "feature = Feature(", "def test_every_resource_has_a_page")
BARE = {  # blocks that are in no file of the example, by a line of them
    line: block
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs/plugins.md").read_text(), flags=re.S)
    for line in LINES
    if line in block
}
PARCELS = """
from netinv_core import App, hookimpl


@hookimpl
def netinv_app():
    return App("parcels", "Parcels", plugin=True, includes=[__name__])
"""


def test_the_plugins_of_one_file_of_the_tutorial_work(engine: sa.Engine, tmp_path: Path) -> None:
    (tmp_path / "parcels.py").write_text(BARE["orders = Service("] + PARCELS)
    (tmp_path / "greeting.py").write_text(BARE['computed("greeting"'])
    service = Service(engine, {"netinv.plugins_dir": str(tmp_path)})
    assert service.registry.broken == []
    name, orders = service.unique(), "/api/plugins/parcels/orders/"
    site = service.api.post("/api/dcim/sites/", {"name": name, "status": "active"})
    assert site["greeting"] == f"hello {name}"
    assert service.api.post(orders, {"parcel": "box"}, status=200) == {"ordered": 1}
    refused = service.api.post(orders, {"count": 10}, status=400)
    assert refused["parcel"] == ["Required"] and len(refused["count"]) == 1
    service.api.get(orders, status=405)
    service.anonymous.post(orders, {"parcel": "box"}, status=403)


@pytest.mark.night
def test_the_feature_of_the_tutorial_works() -> None:
    """Run in a process of its own, as it declares a table."""
    model = dict(BLOCKS)[RECIPE].replace("Contractor", "Report").replace("contractor", "report")
    program = f"""{model}
import sys, types
from collections.abc import Iterable
from netinv_core import App, Feature, MenuSection, Registry, hookimpl
from netinv_core.main import registry_for
from netinv_core.packages import discover
from netinv_extras.jobs import Job

class WriteReport(Job):
    def run(self, data, commit):
        return "written"

{BARE["feature = Feature("]}
module = sys.modules["netinv_example.reports.feature"] = types.ModuleType("netinv_example.reports.feature")
module.feature, module.netinv_jobs = feature, netinv_jobs
for name in ("netinv_example.reports", "netinv_example.reports.views"):
    sys.modules[name] = types.ModuleType(name)

class Package:
    @staticmethod
    @hookimpl
    def netinv_app():
        return App("recipe", "Recipe", [], plugin=True, features=["netinv_example.reports.feature"])

modules, broken = discover()
for settings, served in (({{}}, True), ({{"disabled_features": ["recipe.reports"]}}, False)):
    registry = registry_for("sqlite", settings, ([*modules, ("recipe", Package)], broken))
    assert registry.broken == [], registry.broken
    assert (registry.get("recipe.report") is not None) == served
    assert (WriteReport in [job for jobs in registry.hooks.netinv_jobs(registry=registry) for job in jobs]) == served
"""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("label", ["example.maintenancewindow"])
def test_the_test_of_the_tutorial_runs(service: Service, label: str) -> None:
    names: dict[str, Any] = {"Service": Service, "Case": Case}
    exec(compile(BARE["def test_every_resource_has_a_page"], "docs/plugins.md", "exec"), names)
    names["test_every_resource_has_a_page"](service, label)


# -- the search


def test_a_date_finds_the_windows_of_that_day(service: Service, make_site: Any, make_window: Any) -> None:
    window = make_window(make_site(), 24 * 400, 24 * 400 + 1)
    groups = service.api.get("/api/search/", {"q": window["start"][:10], "limit": 50})["groups"]
    (group,) = [group for group in groups if group["resource"] == "example.maintenancewindow"]
    assert window["id"] in [item["id"] for item in group["results"]]
    assert all(
        item["resource"] != "example.maintenancewindow"
        for item in service.api.get("/api/search/", {"q": "0001-13-01"})["groups"]
    )
