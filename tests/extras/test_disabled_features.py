"""A service without one of its features: everything else is served, and what the feature stored is in nobody's way."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_admin import checks
from netinv_core.app import App, Feature, feature_mistakes, feature_of
from netinv_core.auth.models import User
from netinv_core.findings import PROBLEM
from netinv_core.models.columns import column_info
from netinv_core.packages import apps_of, discover
from netinv_extras.tags import tagged
from netinv_testing import Api, Service
from netinv_testing.cases import Case
from netinv_web.testing import Browser
from tests.support import REPOSITORY

pytestmark = [pytest.mark.any_database, pytest.mark.night]
APPS: dict[str, App] = {app.name: app for app in apps_of(discover()[0]).values()}
FEATURES: dict[str, Feature] = {
    name: feature_of(module) for app in APPS.values() for name, module in app.modules().items()
}
NEEDED = {name: list(feature_mistakes(APPS.values(), [name])) for name in FEATURES}
OPTIONAL = [name for name, mistakes in NEEDED.items() if not mistakes]
# Features that others need: the service refuses to start without them.
REQUIRED = {"extras.statuses": "circuits"}
TABS = {"extras.notes": "notes", "extras.changelog": "changelog"}  # of the page of a site
SITES, DEVICES = "/api/dcim/sites/", "/api/dcim/devices/"


@pytest.fixture(scope="module", params=OPTIONAL)
def reduced(request: pytest.FixtureRequest, service: Service) -> Iterator[tuple[Service, str, Feature]]:
    """A service without the feature, on the database of the whole service; with the name of the feature, and itself."""
    settings = {f"netinv.{name}": service.settings[name] for name in ("media_root", "jobs_root")}
    yield (
        Service(service.engine, settings | {"netinv.disabled_features": request.param}),
        request.param,
        FEATURES[request.param],
    )


def labels_of(name: str, feature: Feature) -> set[str]:
    """The labels of a feature's resources."""
    app = name.partition(".")[0]
    return {resource.label or f"{app}.{resource.model.__name__.lower()}" for resource in feature.resources}


def paths_of(name: str, feature: Feature) -> list[str]:
    """The paths of a feature's lists and views."""
    app = APPS[name.partition(".")[0]]
    return [
        *[f"{app.path}{resource.name}/" for resource in feature.resources],
        *[f"{app.path}{view}/" for view in feature.extra_views],
        *[f"/api/{view}/" for view in feature.root_views],
    ]


def links_of(page: Any) -> set[str]:
    """The paths of a page's links."""
    return {link["href"].partition("?")[0] for link in page.html.select("a[href]")}


def test_every_feature_of_the_package_is_listed() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "netinv_extras").glob("*/feature.py")}
    assert {f"extras.{folder}" for folder in folders} == {name for name in FEATURES if name.startswith("extras.")}


def test_those_that_others_need_are_few() -> None:
    assert {name: mistakes[0].rpartition(", which ")[2] for name, mistakes in NEEDED.items() if mistakes} == {
        name: f"{needing} needs" for name, needing in REQUIRED.items()
    }


@pytest.mark.night
def test_every_other_resource_is_listed_and_shown(service: Service, reduced: tuple[Service, str, Feature]) -> None:
    without, name, feature = reduced
    assert set(service.registry.endpoints) - set(without.registry.endpoints) == labels_of(name, feature)
    api = Api(without.app, service.api.token, documented=without.documented)  # of the user whose tokens there are
    for label, endpoint in without.registry.endpoints.items():
        api.get(endpoint.path, {"limit": 5})
        for item in service.population.objects(service.registry[label]):
            api.get(f"{endpoint.path}{item['id']}/")


def test_its_paths_are_not_found(service: Service, reduced: tuple[Service, str, Feature]) -> None:
    """Neither in the API, nor as pages; the root of the application does not list them."""
    without, name, feature = reduced
    browser = Browser(without, without.admin)
    for path in paths_of(name, feature):
        service.api.send("OPTIONS", path, status=200)
        without.api.get(path, status=404)
        browser.get(path.removeprefix("/api"), status=404)
    listed = set(without.api.get(APPS[name.partition(".")[0]].path))
    assert not listed & {resource.name for resource in feature.resources}


def test_the_openapi_document_has_the_rest(reduced: tuple[Service, str, Feature]) -> None:
    without, name, feature = reduced
    paths = without.api.get("/api/docs/", {"format": "openapi"})["paths"]
    absent = tuple(path.removeprefix("/api") for path in paths_of(name, feature))
    assert "/dcim/sites/" in paths
    assert [path for path in paths if path.startswith(absent)] == [] or not absent


def test_a_device_is_created_changed_and_deleted(reduced: tuple[Service, str, Feature]) -> None:
    without, _, _ = reduced
    device = Case(without, "dcim.device").make()
    without.api.patch(f"{DEVICES}{device['id']}/", {"comments": "changed"})
    assert without.api.get(f"{DEVICES}{device['id']}/")["comments"] == "changed"
    without.api.delete(f"{DEVICES}{device['id']}/")


@pytest.mark.night
def test_pages_are_shown_without_its_menu_entries_and_tabs(
    service: Service, reduced: tuple[Service, str, Feature]
) -> None:
    """The home page, a list, a form, and an object with its panels and tabs."""
    without, name, feature = reduced
    browser = Browser(without, without.admin)
    site = service.population.objects(service.registry["dcim.site"])[0]
    pages = ["/", "/dcim/sites/", "/dcim/sites/add/", f"/dcim/sites/{site['id']}/", "/search/?q=a"]
    opened = [browser.get(path, status=200) for path in pages]
    absent = {path.removeprefix("/api") for path in paths_of(name, feature)}
    if name in TABS:
        absent.add(f"/dcim/sites/{site['id']}/{TABS[name]}/")
    assert absent & links_of(Browser(service, service.admin).get(pages[3])) != set()
    for page in opened:
        assert absent & links_of(page) == set()
        assert not page.html.select(".failure"), page.html.select(".failure")


def test_the_self_check_finds_no_problem(service: Service, reduced: tuple[Service, str, Feature]) -> None:
    """None that the whole service has not."""
    without, _, _ = reduced
    found, whole = (list(checks.run(each.engine, each.registry, "")) for each in (without, service))
    assert {finding.check for finding in found} <= {finding.check for finding in whole}
    assert [item for item in found if item.level == PROBLEM and item not in whole] == []


def test_what_its_rows_refer_to_can_be_deleted(service: Service, reduced: tuple[Service, str, Feature]) -> None:
    """Rows of the feature are deleted with it, or protect it by their names: no constraint of the database does."""
    without, name, feature = reduced
    for label in labels_of(name, feature):
        endpoint = service.registry[label]
        if not endpoint.resource.writable:
            continue
        for column in endpoint.table.c:
            link = column_info(column).foreign_key
            target = service.registry.target(link)
            if link is None or target is None or target.label not in without.registry.endpoints:
                continue
            item = Case(service, label).filled()
            row = endpoint.table.c.id == uuid.UUID(item["id"])
            if target.model is User:  # not the administrator, whom other tests need
                with service.unit_of_work() as uow:
                    uow.execute(sa.update(endpoint.table).where(row).values({column: uuid.UUID(service.user().id)}))
            ((key,),) = service.rows(sa.select(column).where(row))
            if key is not None:
                answer = without.api.send("DELETE", f"{target.path}{key}/", status=(204, 409))
                assert answer.status_int == 204 or answer.json["detail"].startswith("Unable to delete object.")


def test_a_deleted_object_takes_along_what_is_attached_to_it(
    service: Service, reduced: tuple[Service, str, Feature], make: Any
) -> None:
    """Tags, images, notes, associations, and the scope of a config context, whichever feature is disabled."""
    without, _, _ = reduced
    api = service.api
    word = service.unique()
    site, tag = make(SITES, status="active"), make("/api/extras/tags/", content_types=["dcim.site"])
    api.patch(f"{SITES}{site['id']}/", {"tags": [tag["id"]]})
    make("/api/extras/config-contexts/", data={"a": 1}, sites=[site["id"]])
    named = {"name": word, "slug": word, "type": "many-to-many"}
    ends = {"source_type": "dcim.site", "destination_type": "dcim.rack"}
    relationship = api.post("/api/extras/relationships/", named | ends)
    rack = Case(service, "dcim.rack").make()
    association = {
        "relationship": relationship["id"],
        "source_type": "dcim.site",
        "source_id": site["id"],
        "destination_type": "dcim.rack",
        "destination_id": rack["id"],
    }
    associated = api.post("/api/extras/relationship-associations/", association)
    about = {"assigned_object_type": "dcim.site", "assigned_object_id": site["id"]}
    api.post("/api/extras/notes/", about | {"note": "near the river"})
    without.api.delete(f"{SITES}{site['id']}/")
    api.get(f"/api/extras/relationship-associations/{associated['id']}/", status=404)
    assert service.rows(sa.select(tagged.c.object_id).where(tagged.c.object_id == uuid.UUID(site["id"]))) == []
    api.delete(f"/api/extras/tags/{tag['id']}/")
