"""Every kind of answer that can hold more than was asked for is counted: a low limit refuses it with the setting's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Samples, Service
from netinv_web.page_size import LEAST
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import Plant

SITES, CHANGES, PLANS = "/api/dcim/sites/", "/api/extras/object-changes/", "/api/extras/plans/"
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
        plant.cable(*ends)
        self.port = f"/api/dcim/interfaces/{ends[0].id}/"
        network = service.unique.ipv6()
        prefixes = [f"{network}::/48", *(f"{network}:{number:x}::/64" for number in (1, 8, 64))]
        body = [{"prefix": prefix, "status": "active"} for prefix in prefixes]
        self.prefix = self.api.post("/api/ipam/prefixes/", body)[0]
        self.change = self.api.get(CHANGES, {"changed_object_id": self.site["id"]})["results"][0]

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
    "search": lambda world: ("GET", f"/api/search/?q={world.word}", None),
    "available addresses": lambda world: ("GET", f"{world.prefix['url']}available-ips/", None),
    "available prefixes": lambda world: ("GET", f"{world.prefix['url']}available-prefixes/", None),
    "GraphQL": lambda world: ("POST", "/api/graphql/", {"query": GRAPHQL, "variables": {"name": [world.word]}}),
    "new object": lambda world: ("POST", SITES, {"name": f"{world.word} 2", "status": "active"}),
    "changed object": lambda world: ("PATCH", world.site["url"], {"description": "changed"}),
    "dry run": lambda world: ("PATCH", f"{world.site['url']}?dry_run=1", {"description": "changed"}),
    "plan": lambda world: ("POST", f"{SITES}?plan=1", {"name": f"{world.word} 3", "status": "active"}),
}


@pytest.fixture(scope="module")
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
