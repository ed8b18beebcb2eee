"""Events: a test for each row and sentence of the specification's webhooks, at a receiver of this machine."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.receivers import Received, Receiver

REGIONS, WEBHOOKS, DELIVERIES = "/api/dcim/regions/", "/api/extras/webhooks/", "/api/extras/webhook-deliveries/"
EVENTS = {"type_create": True, "type_update": True, "type_delete": True}
Tell = Callable[..., list[Received]]


@pytest.fixture
def service(sending_service: Service) -> Service:
    """A service whose outbox nobody else uses."""
    return sending_service


@pytest.fixture
def hook(service: Service) -> Iterator[Callable[..., Any]]:
    """``hook(url, …)``: a webhook that is told of every change of regions; gone after the test."""
    made: list[Any] = []

    def make(url: str, **fields: Any) -> Any:
        body = {"name": service.unique(), "content_types": ["dcim.region"], "payload_url": url, **EVENTS, **fields}
        made.append(service.api.post(WEBHOOKS, body))
        return made[-1]

    yield make
    for webhook in made:
        service.api.delete(webhook["url"], status=(204, 404))


@pytest.fixture
def told(service: Service, hook: Callable[..., Any]) -> Tell:
    """``told(secret=…)``: what a receiver gets of a region that is made, changed and deleted."""

    def run(act: Callable[[], Any] | None = None, **fields: Any) -> list[Received]:
        with Receiver() as receiver:
            hook(receiver.url, **fields)
            (act or (lambda: life(service)))()
            assert deliver_now(service.engine, service.registry, 120)
            return list(receiver.received)

    return run


def region(service: Service) -> Any:
    return service.api.post(REGIONS, {"name": service.unique()})


def life(service: Service) -> None:
    """A region is made, changed and deleted."""
    made = region(service)
    service.api.patch(made["url"], {"description": "changed"})
    service.api.delete(made["url"])


def events(requests: list[Received]) -> list[str]:
    return [json.loads(request.body)["event"] for request in requests]


def refused(service: Service, **fields: Any) -> list[str]:
    """The fields that are wrong with a webhook."""
    body = {"name": service.unique(), "content_types": ["dcim.region"], "payload_url": "http://a.example/", **EVENTS}
    return list(service.api.post(WEBHOOKS, {**body, **fields}, status=400))


# -- configuration


def test_the_name_is_unique_and_not_in_messages(service: Service, hook: Callable[..., Any], told: Tell) -> None:
    """ "Name: unique; not included in outbound messages"."""
    name = service.unique()
    for request in (requests := told(name=name)):
        assert name.encode() not in request.body and name not in str(request.headers)
    assert len(requests) == 3
    assert refused(service, name=name) == ["name"]


def test_types_of_object_trigger_the_webhook(service: Service, told: Tell) -> None:
    """ "Object type(s): types of object whose changes trigger the webhook"."""

    def act() -> None:
        region(service)
        for path in ("/api/dcim/manufacturers/", "/api/dcim/device-roles/"):
            service.api.post(path, {"name": service.unique()})

    requests = told(act, content_types=["dcim.region", "dcim.manufacturer"])
    assert {json.loads(request.body)["model"] for request in requests} == {"region", "manufacturer"}


def test_a_webhook_that_is_off_is_inactive(told: Tell) -> None:
    """ "Enabled: when off, the webhook is inactive"."""
    assert told(enabled=False) == []


@pytest.mark.parametrize(
    "chosen", [["create"], ["update"], ["delete"], ["create", "delete"], ["create", "update", "delete"]]
)
def test_events_are_any_combination(told: Tell, chosen: list[str]) -> None:
    """ "Events: any combination of create, update, delete"."""
    fields = {f"type_{name}": name in chosen for name in ("create", "update", "delete")}
    assert events(told(**fields)) == [f"{name}d" for name in chosen]


def test_at_least_one_event_is_required(service: Service) -> None:
    """ "Events: … at least one required"."""
    assert refused(service, **dict.fromkeys(EVENTS, False)) == ["__all__"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_the_method_is_as_chosen(service: Service, told: Tell, method: str) -> None:
    """ "HTTP method: GET, POST, PUT, PATCH or DELETE"."""
    assert [request.method for request in told(lambda: region(service), http_method=method)] == [method]


def test_other_methods_are_refused(service: Service) -> None:
    """ "HTTP method": no others."""
    assert refused(service, http_method="TRACE") == ["http_method"]


def test_the_url_is_fully_qualified_and_may_have_a_port(service: Service, told: Tell) -> None:
    """ "URL: fully qualified; may include a port": the receiver of these tests has one."""
    (request,) = told(lambda: region(service))
    assert request.path == "/hook" and re.fullmatch(r"127\.0\.0\.1:\d+", request.headers["Host"])
    assert [refused(service, payload_url=url) for url in ("/hook", "a.example/hook")] == [["payload_url"]] * 2


@pytest.mark.parametrize(
    ("fields", "expected"), [({}, "application/json"), ({"http_content_type": "text/x"}, "text/x")]
)
def test_the_content_type_is_as_chosen(service: Service, told: Tell, fields: Any, expected: str) -> None:
    """ "HTTP content type: value of the request ``Content-Type`` header; default ``application/json``"."""
    (request,) = told(lambda: region(service), **fields)
    assert request.headers["Content-Type"] == expected


def test_additional_headers_are_lines_and_templates(service: Service, told: Tell) -> None:
    """ "Additional headers: optional; one header per line as ``Name: Value``; template expressions supported"."""
    (request,) = told(lambda: region(service), additional_headers="X-One: 1\nX-Event: {{ event }} {{ model }}")
    assert (request.headers["X-One"], request.headers["X-Event"]) == ("1", "created region")
    assert refused(service, additional_headers="no header") == ["additional_headers"]


def test_a_body_template_makes_the_body(service: Service, told: Tell) -> None:
    """ "Body template: optional; template expressions supported"."""
    made: list[Any] = []
    template = "{{ model }} {{ data.name }}"
    (request,) = told(lambda: made.append(region(service)), body_template=template, http_content_type="text/plain")
    assert request.body.decode() == f"region {made[0]['name']}"


def test_a_blank_template_dumps_the_context(service: Service, told: Tell) -> None:
    """ "When blank the body is a dump of the context (a JSON object when the content type is ``application/json``)"."""
    (request,) = told(lambda: region(service), body_template="")
    assert set(json.loads(request.body)) >= {"event", "model", "data"}


def test_a_secret_signs_the_body(service: Service, told: Tell) -> None:
    """ "``X-Hook-Signature`` …, the hex digest of an HMAC with SHA-512 over the request body, keyed with the secret"."""
    (request,) = told(lambda: region(service), secret="s3cret")
    assert request.headers["X-Hook-Signature"] == hmac.new(b"s3cret", request.body, hashlib.sha512).hexdigest()
    (request,) = told(lambda: region(service))
    assert "X-Hook-Signature" not in request.headers


# -- context and default body


def bodies(requests: list[Received]) -> list[Any]:
    return [json.loads(request.body) for request in requests]


def test_the_default_body_has_seven_keys(told: Tell) -> None:
    """ "A JSON object with keys ``event``, ``timestamp``, ``model``, ``username``, ``request_id``, ``data``,
    ``snapshots``".
    """
    keys = {"event", "timestamp", "model", "username", "request_id", "data", "snapshots"}
    assert [set(body) for body in bodies(told())] == [keys] * 3


def test_event_is_created_updated_or_deleted(told: Tell) -> None:
    """ "``event``: ``created``, ``updated`` or ``deleted``"."""
    assert events(told()) == ["created", "updated", "deleted"]


def test_model_is_the_model_that_changed(told: Tell) -> None:
    """ "``model``: the model that changed"."""
    assert [body["model"] for body in bodies(told())] == ["region"] * 3


def test_timestamp_is_the_time_of_the_event(told: Tell) -> None:
    """ "``timestamp``: … the default body shows a space-separated date and time with UTC offset"."""
    pattern = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00:00"
    times = [body["timestamp"] for body in bodies(told())]
    assert all(re.fullmatch(pattern, time) for time in times) and times == sorted(times)


def test_username_is_who_made_the_change(service: Service, told: Tell) -> None:
    """ "``username``: name of the user account that made the change"."""
    account = service.user(("add", "dcim.region"))
    (body,) = bodies(told(lambda: account.api.post(REGIONS, {"name": service.unique()})))
    assert body["username"] == account.username != service.admin.username


def test_request_id_correlates_the_changes_of_a_request(service: Service, told: Tell) -> None:
    """ "``request_id``: unique request identifier; correlates changes made in one request"."""

    def act() -> None:
        service.api.post(REGIONS, [{"name": service.unique()} for _ in range(2)])
        region(service)

    ids = sorted(body["request_id"] for body in bodies(told(act)))
    assert len(ids) == 3 and len(set(ids)) == 2 and all(str(uuid.UUID(text)) == text for text in ids)


def test_data_is_the_representation_after_the_change(service: Service, told: Tell) -> None:
    """ "``data``: serialized object after the change, typically equal to its REST representation"."""
    shown: list[Any] = []

    def act() -> None:
        made = region(service)
        service.api.patch(made["url"], {"description": "changed"})
        shown.append(service.api.get(made["url"], version=None))

    data = bodies(told(act))[-1]["data"]
    members = ("id", "url", "display", "name", "slug", "description", "parent", "custom_fields")
    assert {name: data[name] for name in members} == {name: shown[0][name] for name in members}


def test_snapshots_are_the_states_and_their_differences(told: Tell) -> None:
    """ "``snapshots``: object with ``prechange``, ``postchange``, ``differences``"; "``prechange`` is null on create;
    ``postchange`` is the state after the change; ``differences`` is ``{removed, added}`` (``removed`` is null on
    create)".
    """
    created, updated, _ = (body["snapshots"] for body in bodies(told()))
    for snapshots in (created, updated):
        assert set(snapshots) == {"prechange", "postchange", "differences"}
        assert set(snapshots["differences"]) == {"removed", "added"}
    assert (created["prechange"], created["differences"]["removed"]) == (None, None)
    assert created["differences"]["added"] == created["postchange"]
    assert (updated["prechange"]["description"], updated["postchange"]["description"]) == ("", "changed")
    differences = updated["differences"]
    assert (differences["removed"]["description"], differences["added"]["description"]) == ("", "changed")


@pytest.mark.parametrize(
    "name", ["event", "model", "timestamp", "username", "request_id", "data.name", "snapshots.postchange.name"]
)
def test_templates_have_the_context(service: Service, told: Tell, name: str) -> None:
    """Template context: every name, in headers and body."""
    requests = told(
        lambda: region(service),
        body_template=f"{{{{ {name} }}}}",
        additional_headers=f"X-Value: {{{{ {name} }}}}",
        http_content_type="text/plain",
    )
    (request,) = requests
    assert request.body and request.headers["X-Value"] == request.body.decode()


# -- emission and delivery


def states(service: Service, webhook: Any) -> list[str]:
    page = service.api.get(DELIVERIES, {"webhook_id": webhook["id"]})
    return [item["state"]["value"] for item in page["results"]]


def test_requests_are_queued_and_sent_by_a_worker(service: Service, hook: Callable[..., Any]) -> None:
    """Rule 2: "placed in a queue …; a separate worker process takes them from the queue and sends"."""
    with Receiver() as receiver:
        webhook = hook(receiver.url)
        region(service)
        assert (receiver.received, states(service, webhook)) == ([], ["queued"])
        assert deliver_now(service.engine, service.registry, 120)
        assert len(receiver.received) == 1


@pytest.mark.parametrize("status", [200, 201, 204, 299, 301, 400, 404, 500])
def test_2xx_is_success_and_anything_else_failure(service: Service, hook: Callable[..., Any], status: int) -> None:
    """Rule 3: "successful when the response status is 2XX; any other outcome marks it failed"."""
    with Receiver(status) as receiver:
        webhook = hook(receiver.url, retries=0)
        region(service)
        deliver_now(service.engine, service.registry, 120)
    assert (states(service, webhook) == ["failed"]) is (status >= 300)
    assert "queued" not in states(service, webhook)


def test_failures_are_shown_and_sent_again_in_the_interface(
    service: Service, hook: Callable[..., Any], closed_port: int
) -> None:
    """Rule 3: "failed deliveries can be retried manually in the administration interface, where the queue and failures
    can also be inspected".
    """
    webhook = hook(f"http://127.0.0.1:{closed_port}/hook", retries=0)
    made = region(service)
    deliver_now(service.engine, service.registry, 120)
    assert states(service, webhook) == ["failed"]
    browser = Browser(service, service.user(superuser=True, password=PASSWORD))
    page = browser.get("/extras/webhook-deliveries/queue/", {"webhook": webhook["name"], "state": "failed"})
    assert made["name"] in page
    (delivery,) = service.api.get(DELIVERIES, {"webhook_id": webhook["id"]})["results"]
    browser.post("/extras/webhook-deliveries/retry/", {"pk": delivery["id"]})
    assert states(service, webhook) == ["queued"]
