"""Every kind of answer that can hold more than was asked for is counted: a low limit refuses it with the setting's name."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import now, table_of
from netinv_extras.jobs.results import COMPLETED, JobLogEntry, JobResult
from netinv_testing import Samples, Service
from netinv_web.page_size import LEAST
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant

SITES, CHANGES, PLANS = "/api/dcim/sites/", "/api/extras/object-changes/", "/api/extras/plans/"
GROUPS = "/api/extras/dynamic-groups/"
TEMPLATES = "/api/extras/export-templates/"
GRAPHQL = "query ($name: [String]) { sites(name: $name) { name comments } }"
LIMIT = 150
Asked = tuple[str, str, Any]
pytestmark = pytest.mark.any_database


class World:
    """A rack with a device, and a site with long texts."""

    def __init__(self, service: Service) -> None:
        self.service, self.api, self.word = service, service.api, service.unique()
        site = {"name": self.word, "facility": self.word, "comments": "x" * 5000, "status": "active"}
        self.site = self.api.post(SITES, site)
        self.rack = self.make("dcim.rack", site=self.site["id"], location=None, group=None, u_height=42)
        self.device = self.make("dcim.device", site=self.site["id"], location=None, rack=self.rack["id"])
        plant = Plant(self.api, service.unique)
        ends = plant.ends("dcim.interface", 2)
        plant.cable(ends[0], ends[1])
        panel = plant.panel()
        plant.cable(plant.end(), panel.fronts[0])
        plant.cable(panel.rear, plant.end())
        self.rear_port = f"/api/dcim/rear-ports/{panel.rear.id}/"
        self.port = f"/api/dcim/interfaces/{ends[0].id}/"
        network = service.unique.ipv6()
        prefixes = [f"{network}::/48", *(f"{network}:{number:x}::/64" for number in (1, 8, 64))]
        body = [{"prefix": prefix, "status": "active"} for prefix in prefixes]
        self.prefix = self.api.post("/api/ipam/prefixes/", body)[0]
        self.api.patch(self.site["url"], {"contact_name": "changed"})
        self.change = self.api.get(CHANGES, {"changed_object_id": self.site["id"]})["results"][0]
        group = {"name": self.word, "slug": self.word.lower(), "content_type": "dcim.site"}
        self.group = self.api.post(GROUPS, {**group, "filter": {"facility": [self.word]}})
        for number in range(2):
            self.api.post(f"{self.site['url']}notes/", {"note": f"{number} {'x' * 500}"})
        self.job_result = self.run_of_a_job()

    def run_of_a_job(self) -> str:
        """The path of the result of a run that logged two lines."""
        key, logged = uuid.uuid4(), {"created": now(), "message": "x" * 500}
        run = {"created": now(), "name": self.word, "obj_type": "extras.job", "status": COMPLETED}
        with self.service.unit_of_work() as uow:
            own = {"id": key, "job_id": uuid.uuid4(), "custom_field_data": {}, "arguments": ""}
            uow.execute(sa.insert(table_of(JobResult)).values(**run, **own))
            for number in range(2):
                entry = {"id": uuid.uuid4(), "job_result_id": key, "position": number, **logged}
                uow.execute(sa.insert(table_of(JobLogEntry)).values(**entry))
        return f"/api/extras/job-results/{key}/"

    def make(self, label: str, **members: Any) -> Any:
        """A new object."""
        return Samples(self.service).make(self.service.registry[label], **members)


ANSWERS: dict[str, Callable[[World], Asked]] = {
    "list": lambda world: ("GET", f"{SITES}?facility={world.word}", None),
    "sparse list": lambda world: ("GET", f"{SITES}?facility={world.word}&fields=comments", None),
    "included fields": lambda world: (
        "GET",
        f"/api/dcim/devices/?id={world.device['id']}&include=config_context",
        None,
    ),
    "YAML": lambda world: ("GET", f"{SITES}?facility={world.word}&format=yaml", None),
    "CSV": lambda world: ("GET", f"{SITES}?facility={world.word}&format=csv", None),
    "object": lambda world: ("GET", world.site["url"], None),
    "query": lambda world: ("POST", f"{SITES}query/", {"facility": [world.word]}),
    "history": lambda world: ("GET", f"{world.site['url']}history/", None),
    "changes": lambda world: ("GET", f"{CHANGES}?changed_object_id={world.site['id']}", None),
    "feed": lambda world: ("GET", f"{CHANGES}feed/?limit=5", None),
    "elevation": lambda world: ("GET", f"{world.rack['url']}elevation/", None),
    "trace": lambda world: ("GET", f"{world.port}trace/", None),
    "paths": lambda world: ("GET", f"{world.rear_port}paths/", None),
    "drawing": lambda world: ("GET", f"{world.rack['url']}elevation/?render=svg", None),
    "members of a group": lambda world: ("GET", f"{world.group['url']}members/", None),
    "notes": lambda world: ("GET", f"{world.site['url']}notes/", None),
    "log of a job": lambda world: ("GET", f"{world.job_result}logs/", None),
    "TSV": lambda world: ("GET", f"{SITES}?facility={world.word}&format=tsv", None),
    "undo": lambda world: ("POST", f"{CHANGES}{world.change['id']}/revert/", {}),
    "document of a plan": lambda world: ("POST", PLANS, document(world)),
    "dry run of an undo": lambda world: ("POST", f"{CHANGES}{world.change['id']}/revert/?dry_run=1", {}),
    "search": lambda world: ("GET", f"/api/search/?q={world.word}", None),
    "available addresses": lambda world: ("GET", f"{world.prefix['url']}available-ips/", None),
    "available prefixes": lambda world: ("GET", f"{world.prefix['url']}available-prefixes/", None),
    "GraphQL": lambda world: ("POST", "/api/graphql/", {"query": GRAPHQL, "variables": {"name": [world.word]}}),
    "new object": lambda world: ("POST", SITES, {"name": f"{world.word} 2", "status": "active"}),
    "changed object": lambda world: ("PATCH", world.site["url"], {"description": "changed"}),
    "dry run": lambda world: ("PATCH", f"{world.site['url']}?dry_run=1", {"description": "changed"}),
}


def document(world: World) -> Any:
    """The document of a plan that changes the site and makes another one."""
    known = {"name": world.site["name"], "slug": world.site["slug"], "description": "changed"}
    return {"objects": {"dcim.site": [known, {"name": f"{world.word} 4", "status": "active"}]}}


# answers that have many objects without pages, or more of them than a page
MANY = ("log of a job", "notes", "YAML", "CSV", "changes", "members of a group")


@pytest.fixture(scope="session")
def world(service: Service) -> World:
    """What the answers are about."""
    return World(service)


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_beyond_the_limit_is_refused_with_the_name_of_the_setting(world: World, name: str) -> None:
    method, path, body = ANSWERS[name](world)
    given = [] if body is None else [body]
    with world.service.configured(max_answer_size=LIMIT):
        answer = world.api.send(method, path, *given, status=None)
    assert answer.status_int == 413, answer.text[:500]
    assert "netinv.max_answer_size" in answer.json["detail"]
    assert world.api.get(world.site["url"])["description"] == ""


@pytest.mark.parametrize("name", MANY)
def test_objects_beyond_the_limit_are_refused_with_the_name_of_the_setting(world: World, name: str) -> None:
    world.make("dcim.site", facility=world.word)
    method, path, body = ANSWERS[name](world)
    assert body is None
    with world.service.configured(max_answer_objects=1):
        answer = world.api.send(method, path, status=413)
    assert "netinv.max_answer_objects" in answer.json["detail"]


def test_a_plan_is_applied_only_if_its_answer_is_within_the_limit(world: World) -> None:
    plan = world.api.post(PLANS, document(world))
    with world.service.configured(max_answer_size=LIMIT):
        answer = world.api.send("POST", f"{PLANS}{plan['id']}/apply/", {}, status=413)
    assert "netinv.max_answer_size" in answer.json["detail"]
    assert world.api.get(world.site["url"])["description"] == ""


@pytest.mark.parametrize("path", ["?_show=all", "changelog/", "notes/"])
def test_pages_of_an_object_are_counted(world: World, path: str) -> None:
    """A page is never too large for the limit of the setting and the size that any page may have."""
    comments = "x & <y> " * 2**14
    site = world.make("dcim.site", comments=comments)
    world.api.patch(site["url"], {"comments": comments + "z"})
    browser, url = Browser(world.service, world.service.admin), f"/dcim/sites/{site['id']}/{path}"
    size = len(browser.get(url).text)
    with world.service.configured(max_answer_size=1):
        answer = browser.get(url, status=413 if size > 2 * LEAST else (200, 413))
        assert answer.status_int == 200 or "netinv.max_answer_size" in answer.text


def test_an_export_template_has_a_limit_of_its_own(service: Service, world: World) -> None:
    loop = "{% for a in queryset %}{% for b in range(100000) %}{{ a.comments }}{% endfor %}{% endfor %}"
    name = service.unique()
    world.api.post(TEMPLATES, {"name": name, "content_type": "dcim.site", "template_code": loop})
    answer = world.api.send("GET", SITES, query={"facility": world.word, "export": name}, status=None)
    assert answer.status_int in (400, 413, 422), answer.text[:300]
    assert "template_max_output" in answer.text


def test_a_page_is_counted_while_it_is_written(service: Service, world: World) -> None:
    browser, word = Browser(service, service.admin), service.unique()
    bodies = [
        {"name": f"{word} {n}", "status": "active", "facility": word, "comments": "x" * 20_000} for n in range(30)
    ]
    world.api.post(SITES, bodies)
    query = {"facility": word, "_columns": "comments"}
    assert len(browser.get("/dcim/sites/grid/", query).text) > 2 * LEAST
    with service.configured(max_answer_size=2 * LEAST):
        assert "netinv.max_answer_size" in browser.get("/dcim/sites/grid/", query, status=413).text
    with service.configured(max_answer_size=1):
        assert "netinv.max_answer_size" in browser.get("/dcim/sites/grid/", query, status=413).text
        browser.get("/dcim/sites/")
