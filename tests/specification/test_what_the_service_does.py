"""The specification's section "What the service does", one test for each sentence and row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.receivers import Receiver

TENANTS = "/api/tenancy/tenants/"
KINDS = {
    "sites": "dcim.site",
    "racks": "dcim.rack",
    "devices": "dcim.device",
    "interfaces": "dcim.interface",
    "IP addresses": "ipam.ipaddress",
    "prefixes": "ipam.prefix",
    "VLANs": "ipam.vlan",
    "circuits": "circuits.circuit",
    "providers": "circuits.provider",
    "tenants": "tenancy.tenant",
    "virtual machines": "virtualization.virtualmachine",
}
APPLICATIONS = ("circuits", "dcim", "extras", "ipam", "plugins", "tenancy", "users", "virtualization")
PATHS = (
    "/api/circuits/providers/",
    "/api/circuits/circuits/",
    "/api/dcim/sites/",
    "/api/dcim/racks/",
    "/api/dcim/devices/",
)


@pytest.mark.parametrize("label", KINDS.values(), ids=KINDS)
def test_the_service_stores_records_of_a_kind_and_exposes_them_in_json(service: Service, label: str) -> None:
    """The service stores network-infrastructure records and exposes them through a REST API using HTTP and JSON."""
    case = Case(service, label)
    made = case.make()
    answer = service.api.send("GET", made["url"], status=200)
    assert answer.content_type == "application/json"
    assert (answer.json["id"], answer.json["url"]) == (made["id"], made["url"])


# -- Verbs


def test_get_retrieves_one_object_or_a_list_of_objects(api: Api, make: Any) -> None:
    """GET: retrieve one object or a list of objects."""
    made = make(TENANTS)
    assert api.get(f"{TENANTS}{made['id']}/")["name"] == made["name"]
    assert [item["id"] for item in api.get(TENANTS, {"name": made["name"]})["results"]] == [made["id"]]


def test_post_creates_one_object_or_several_in_one_request(api: Api, unique: Unique) -> None:
    """POST: create one object, or several in one request."""
    names = [unique() for _ in range(3)]
    api.post(TENANTS, {"name": names[0]})
    api.post(TENANTS, [{"name": name} for name in names[1:]])
    found = api.get(TENANTS, {"name": names})["results"]
    assert sorted(item["name"] for item in found) == sorted(names)


def test_put_modifies_an_object_and_needs_all_mandatory_fields(api: Api, make: Any, unique: Unique) -> None:
    """PUT: modify an existing object; all mandatory fields must be given."""
    made, name = make(TENANTS), unique()
    assert api.put(made["url"], {"description": "changed"}, status=400) == {"name": ["This field is required."]}
    api.put(made["url"], {"name": name, "slug": made["slug"], "description": "changed"})
    changed = api.get(made["url"])
    assert (changed["id"], changed["name"], changed["description"]) == (made["id"], name, "changed")


def test_patch_modifies_an_object_by_the_changed_attributes_only(api: Api, make: Any) -> None:
    """PATCH: modify an existing object; only the changed attributes are given."""
    made = make(TENANTS, comments="kept")
    api.patch(made["url"], {"description": "changed"})
    changed = api.get(made["url"])
    assert (changed["name"], changed["comments"], changed["description"]) == (made["name"], "kept", "changed")


def test_delete_removes_one_object_or_several_in_one_request(api: Api, make: Any) -> None:
    """DELETE: delete an existing object, or several in one request."""
    made = [make(TENANTS) for _ in range(4)]
    api.delete(made[0]["url"])
    api.delete(TENANTS, [{"id": item["id"]} for item in made[1:3]])
    found = api.get(TENANTS, {"id": [item["id"] for item in made]})["results"]
    assert [item["id"] for item in found] == [made[3]["id"]]


def test_options_returns_the_supported_actions_and_their_parameters(api: Api) -> None:
    """OPTIONS: inspect an endpoint: returns supported actions and their parameters."""
    parameters = api.options(TENANTS)["actions"]["POST"]
    assert parameters["name"] == {
        "type": "string",
        "required": True,
        "read_only": False,
        "label": "Name",
        "max_length": 100,
    }
    assert {"slug", "group", "description", "comments", "tags", "custom_fields"} <= parameters.keys()


# -- Applications and models


@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_root_is_divided_by_application(api: Api, application: str) -> None:
    """The API root is {base_url}/api/; it is divided by application."""
    address = api.get("/api/")[application]
    assert address == f"http://localhost/api/{application}/"
    assert all(path.startswith(address) for path in api.get(address).values())


@pytest.mark.parametrize("path", PATHS)
def test_a_model_has_its_own_path_within_its_application(api: Api, path: str) -> None:
    """Within an application each model has its own path."""
    application, model = path.strip("/").split("/")[1:]
    assert api.get(f"/api/{application}/")[model] == f"http://localhost{path}"
    assert api.get(path, {"limit": 1}).keys() == {"count", "next", "previous", "results"}


def test_the_root_can_be_explored_in_a_browser(service: Service) -> None:
    """The root can be explored in a web browser."""
    browser = Browser(service, service.admin)
    page = browser.get("/api/", status=200)
    assert page.content_type == "text/html"
    application = browser.get(page.html.select_one("a[href='/api/tenancy/']")["href"], status=200)
    assert (
        browser.get(application.html.select_one(f"a[href='{TENANTS}']")["href"], status=200).content_type == "text/html"
    )


def test_interactive_documentation_is_served(service: Service) -> None:
    """Interactive documentation of all endpoints is served at {base_url}/api/docs/."""
    page = service.api.send("GET", "/api/docs/", headers={"Accept": "text/html"}, version=None, status=200)
    assert page.content_type == "text/html" and "SwaggerUIBundle" in page.text
    documented = service.api.get("/api/swagger.json")["paths"]
    models = [endpoint.path for endpoint in service.registry.endpoints.values()]
    assert len(models) > 50
    assert not [path for path in models if path not in documented and path.removeprefix("/api") not in documented]


# -- Webhooks


@pytest.fixture
def told(sending_service: Service) -> Iterator[Callable[[str], Receiver]]:
    """``told("type_create")``: a receiver that is told of these events of tenants, with 200 for an answer."""
    made, receivers = [], []

    def make(event: str) -> Receiver:
        receiver = Receiver(200)
        receivers.append(receiver.__enter__())
        body = {"name": sending_service.unique(), "content_types": ["tenancy.tenant"], "payload_url": receiver.url}
        made.append(sending_service.api.post("/api/extras/webhooks/", {**body, event: True})["url"])
        return receiver

    yield make
    for url in made:
        sending_service.api.delete(url)
    for receiver in receivers:
        receiver.__exit__()


@pytest.mark.parametrize("event", ["create", "update", "delete"])
def test_a_receiver_is_notified_when_an_object_changes(
    sending_service: Service, told: Callable[[str], Receiver], event: str
) -> None:
    """The service can notify an external HTTP receiver when objects are created, updated or deleted."""
    receiver, api = told(f"type_{event}"), sending_service.api
    made = api.post(TENANTS, {"name": sending_service.unique()})
    api.patch(made["url"], {"description": "changed"})
    api.delete(made["url"])
    assert deliver_now(sending_service.engine, sending_service.registry, 60)
    (request,) = receiver.received
    assert request.method == "POST" and made["name"].encode() in request.body
