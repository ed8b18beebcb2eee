"""Messages as they arrive at a receiver: byte for byte as recorded, signed, and made from templates that can do no
harm.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import webtest

from netinv_core.masking import without_secrets
from netinv_extras.templates import sandbox
from netinv_extras.templates.feature import feature
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Service
from tests.support import SUPPORT
from tests.support.receivers import Received, Receiver

pytestmark = pytest.mark.any_database
SITES, TAGS, WEBHOOKS = "/api/dcim/sites/", "/api/extras/tags/", "/api/extras/webhooks/"
RECORDED = json.loads((SUPPORT / "recorded" / "webhook_bodies.json").read_text())
SECRET = "s3cret"
BASE = "http://localhost"  # where these requests are sent to
# What differs between any two services: ids, times, days.
_CHANCE = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?)?"
)


@pytest.fixture
def service(sending_service: Service) -> Service:
    """A service whose outbox nobody else uses."""
    return sending_service


@pytest.fixture
def told(service: Service) -> Iterator[Callable[..., list[Received]]]:
    """``told(act, content_types=[…], secret=…)``: what a receiver gets because of what ``act()`` does."""
    made: list[str] = []

    def run(act: Callable[[], Any], types: str = "dcim.site", **fields: Any) -> list[Received]:
        events = {"type_create": True, "type_update": True, "type_delete": True}
        with Receiver() as receiver:
            made.append(
                service.api.post(
                    WEBHOOKS,
                    {
                        "name": service.unique(),
                        "content_types": [types],
                        "payload_url": receiver.url,
                        **events,
                        **fields,
                    },
                )["id"]
            )
            act()
            assert deliver_now(service.engine, service.registry, 120)
            service.api.delete(f"{WEBHOOKS}{made.pop()}/")
            return receiver.received

    yield run
    for key in made:
        service.api.delete(f"{WEBHOOKS}{key}/")


def levelled(body: str) -> str:
    """A body without what differs between any two services: each kind stands for itself, in its form; a plugin's member
    is left out.

    URLs begin with the service's address, which recorded ones lack.
    """
    body = re.sub(r'"next_maintenance": null, |, "next_maintenance": null', "", body)
    return _CHANCE.sub(lambda found: re.sub(r"[0-9a-f]", "0", found[0]), body.replace(BASE, ""))


def expected(event: str, service: Service, name: str) -> str:
    """The recorded body, about a site of another name and by another user."""
    renamed = (
        RECORDED[event]
        .replace("WH Site", name)
        .replace("wh-site", name)
        .replace('"username": "admin"', f'"username": "{service.admin.username}"')
    )
    return levelled(renamed.replace("tag-a", f"{name}-tag"))


@pytest.fixture
def site(service: Service) -> Any:
    """A site as the recorded one was before its update."""
    name = service.unique()
    tag = service.api.post(
        TAGS, {"name": f"{name}-tag", "slug": f"{name}-tag", "color": "ff0000", "content_types": ["dcim.site"]}
    )
    return service.api.post(
        SITES, {"name": name, "slug": name, "status": "active", "description": "changed", "tags": [tag["id"]]}
    )


# -- the default body


def test_a_creation_is_told_as_recorded(service: Service, told: Callable[..., list[Received]]) -> None:
    name = service.unique()
    (request,) = told(lambda: service.api.post(SITES, {"name": name, "slug": name, "status": "active"}))
    assert levelled(request.body.decode()) == expected("created", service, name)


def test_an_update_is_told_as_recorded(service: Service, told: Callable[..., list[Received]], site: Any) -> None:
    (request,) = told(lambda: service.api.patch(f"{SITES}{site['id']}/", {"facility": "f"}))
    assert levelled(request.body.decode()) == expected("updated", service, site["name"])


def test_a_deletion_is_told_as_recorded(service: Service, told: Callable[..., list[Received]], site: Any) -> None:
    service.api.patch(f"{SITES}{site['id']}/", {"facility": "f"})
    (request,) = told(lambda: service.api.delete(f"{SITES}{site['id']}/"))
    assert levelled(request.body.decode()) == expected("deleted", service, site["name"])


def test_a_change_that_left_a_review_out_is_told_with_the_rule(
    service: Service, told: Callable[..., list[Received]], site: Any
) -> None:
    rules, body = "/api/extras/review-rules/", {"content_types": ["dcim.site"], "constraints": {"id": site["id"]}}
    rule = service.api.post(rules, {**body, "name": service.unique()})
    (message,) = told(lambda: service.api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"}))
    service.api.delete(f"{rules}{rule['id']}/")
    assert json.loads(message.body)["bypassed"] == rule["name"]
    (message,) = told(lambda: service.api.patch(f"{SITES}{site['id']}/", {"facility": "DC 8"}))
    assert "bypassed" not in json.loads(message.body)


def test_ids_and_times_are_those_of_the_change(
    service: Service, told: Callable[..., list[Received]], site: Any
) -> None:
    (request,) = told(lambda: service.api.patch(f"{SITES}{site['id']}/", {"facility": "f"}))
    body = json.loads(request.body)
    (recorded,) = service.api.get("/api/extras/object-changes/", {"changed_object_id": site["id"], "action": "update"})[
        "results"
    ]
    assert request.headers["X-Netinv-Event"] == recorded["id"]
    assert body["request_id"] == recorded["request_id"] and body["data"]["id"] == site["id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?\+00:00", body["timestamp"])
    assert body["timestamp"][:19].replace(" ", "T") == recorded["time"][:19]
    assert (
        body["data"]["url"] == f"{BASE}{SITES}{site['id']}/"
        and body["data"]["notes_url"] == f"{BASE}{SITES}{site['id']}/notes/"
    )
    assert body["data"]["tags"][0]["url"] == f"{BASE}{TAGS}{site['tags'][0]['id']}/"


def test_text_that_looks_like_an_address_of_the_service_stays(
    service: Service, told: Callable[..., list[Received]]
) -> None:
    name, text = service.unique(), f"see {SITES} and http://localhost{SITES} \N{SNOWMAN}"
    (request,) = told(lambda: service.api.post(SITES, {"name": name, "status": "active", "comments": text}))
    assert json.loads(request.body)["data"]["comments"] == text
    assert b"\\u2603" in request.body


def test_the_body_has_the_form_of_older_versions(service: Service, told: Callable[..., list[Received]]) -> None:
    """With the status of interfaces, which 1.3 does not have; nothing is there that only a request asks for, such as a device's config
    context.
    """
    api, name = service.api, service.unique()
    role = api.post("/api/dcim/device-roles/", {"name": name, "slug": name})["id"]
    maker = api.post("/api/dcim/manufacturers/", {"name": name, "slug": name})["id"]
    kind = api.post("/api/dcim/device-types/", {"manufacturer": maker, "model": name, "slug": name})["id"]
    site = api.post(SITES, {"name": name, "status": "active"})["id"]
    device = {
        "name": name,
        "device_role": role,
        "device_type": kind,
        "site": site,
        "status": "active",
        "local_context_data": {"zz": 1, "a": {"url": "x"}},
    }
    (request,) = told(lambda: api.post("/api/dcim/devices/", device), "dcim.device")
    data = json.loads(request.body)["data"]
    assert not {"config_context", "computed_fields", "relationships"} & set(data) and data["local_context_data"] == {
        "zz": 1,
        "a": {"url": "x"},
    }
    assert list(data["device_type"])[:3] == ["display", "id", "url"] and data["device_type"]["url"].startswith(
        f"{BASE}/api/dcim/device-types/"
    )
    assert data["device_type"]["manufacturer"]["url"].startswith(f"{BASE}/api/dcim/manufacturers/")
    interface = {"device": data["id"], "name": "eth0", "type": "1000base-t", "status": "active"}
    (request,) = told(lambda: api.post("/api/dcim/interfaces/", interface), "dcim.interface")
    assert json.loads(request.body)["data"]["status"] == {"value": "active", "label": "Active"}


@pytest.mark.parametrize("by", ["SCRIPT_NAME", "base_url"])
def test_urls_are_absolute_below_a_path(service: Service, told: Callable[..., list[Received]], by: str) -> None:
    """Of the object, of its references, and in the states before and after a change."""
    region = service.api.post("/api/dcim/regions/", {"name": service.unique(), "slug": service.unique()})
    base = "https://example.net/netinv" if by == "base_url" else f"{BASE}/netinv"
    environment = {} if by == "base_url" else {"SCRIPT_NAME": "/netinv"}
    headers = {"Authorization": f"Token {service.admin.token}"}
    body = {"name": service.unique(), "status": "active", "region": region["id"]}

    def create() -> None:
        webtest.TestApp(service.app, extra_environ=environment).post_json(SITES, body, headers=headers, status=201)

    with service.configured(**({"base_url": base} if by == "base_url" else {})):
        (request,) = told(create)
    message = json.loads(request.body)
    for site in (message["data"], message["snapshots"]["postchange"]):
        assert site["url"] == f"{base}/api/dcim/sites/{message['data']['id']}/"
        assert site["region"]["url"] == f"{base}/api/dcim/regions/{region['id']}/"


def test_custom_fields_go_by_their_names(service: Service, told: Callable[..., list[Received]]) -> None:
    """As versions before 1.4 have them; in the order of their names."""
    word = service.unique()
    for letter in "ba":
        field = {
            "label": letter,
            "name": f"{letter} {word}",
            "slug": f"{letter}_{word}",
            "type": "text",
            "content_types": ["tenancy.tenant"],
        }
        made = service.api.post("/api/extras/custom-fields/", field, version="1.3")
        assert (made["name"], made["slug"]) == (f"{letter} {word}", f"{letter}_{word}")
    tenant = {"name": word, "slug": word, "custom_fields": {f"a_{word}": "x"}}
    (request,) = told(lambda: service.api.post("/api/tenancy/tenants/", tenant), "tenancy.tenant")
    found = {
        name: value for name, value in json.loads(request.body)["data"]["custom_fields"].items() if name.endswith(word)
    }
    assert list(found.items()) == [(f"a {word}", "x"), (f"b {word}", None)]


def test_one_request_is_one_message_for_each_object(service: Service, told: Callable[..., list[Received]]) -> None:
    names = [service.unique() for _ in range(3)]
    found = [
        json.loads(item.body)
        for item in told(lambda: service.api.post(SITES, [{"name": name, "status": "active"} for name in names]))
    ]
    assert sorted(body["data"]["name"] for body in found) == names and len({body["request_id"] for body in found}) == 1


# -- headers


def test_the_headers_say_what_it_is_and_who_sent_it(service: Service, told: Callable[..., list[Received]]) -> None:
    name, before = service.unique(), int(time.time())
    fields = {
        "secret": SECRET,
        "additional_headers": "X-Extra: {{ event }}\r\nX-Name: {{ data.name }} \N{SNOWMAN}\n\nUser-Agent: mine",
        "http_method": "PUT",
    }
    (request,) = told(lambda: service.api.post(SITES, {"name": name, "status": "active"}), **fields)
    headers = request.headers
    assert (request.method, headers["Content-Type"], headers["X-Extra"], headers["User-Agent"]) == (
        "PUT",
        "application/json",
        "created",
        "mine",
    )
    assert headers["X-Name"].encode("latin-1").decode() == f"{name} \N{SNOWMAN}"
    assert headers["X-Netinv-Attempt"] == "1" and headers["X-Netinv-Delivery"].isdecimal()
    assert headers["X-Hook-Signature"] == hmac.new(SECRET.encode(), request.body, hashlib.sha512).hexdigest()
    stamp, signature = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["X-Netinv-Signature"]).groups()  # type: ignore[union-attr]
    assert before <= int(stamp) <= time.time()
    assert signature == hmac.new(SECRET.encode(), f"{stamp}.".encode() + request.body, hashlib.sha256).hexdigest()


def test_without_a_secret_nothing_is_signed(service: Service, told: Callable[..., list[Received]]) -> None:
    (request,) = told(lambda: service.api.post(SITES, {"name": service.unique(), "status": "active"}))
    assert not {"X-Hook-Signature", "X-Netinv-Signature"} & set(request.headers)
    assert re.fullmatch(r"netinv/\S+", request.headers["User-Agent"])


def _errors(service: Service) -> list[str]:
    """Why the last delivery failed."""
    found = service.api.get("/api/extras/webhook-deliveries/", {"limit": 1})["results"][0]
    return [
        attempt["error"] for attempt in service.api.get(f"/api/extras/webhook-deliveries/{found['id']}/")["history"]
    ]


@pytest.fixture
def refused(service: Service) -> Callable[..., str]:
    """``refused(additional_headers=…)``: why a message is not sent."""

    def run(text: str = "x", **fields: Any) -> str:
        with Receiver() as receiver:
            given = {"content_types": ["dcim.site"], "type_create": True, "payload_url": receiver.url}
            made = service.api.post(WEBHOOKS, {"name": service.unique(), **given, **fields})
            service.api.post(SITES, {"name": service.unique(), "status": "active", "comments": text})
            assert deliver_now(service.engine, service.registry, 120)
            (error,) = _errors(service)
            service.api.delete(f"{WEBHOOKS}{made['id']}/")
            assert receiver.received == []
        return error

    return run


@pytest.mark.parametrize("text", ["a\nX-Evil: 1", "a\r\nX-Evil: 1", "a\x0bX-Evil: 1", "a\x7f"])
def test_a_value_cannot_bring_a_header_of_its_own(refused: Callable[..., str], text: str) -> None:
    error = refused(text, additional_headers="X-Name: {{ data.comments }}")
    assert "a line break or another control character" in error and "Evil" not in error


@pytest.mark.parametrize(
    "header",
    ["Host", "Content-Length", "Transfer-Encoding", "X-Netinv-Delivery", "x-hook-signature", "Proxy-Connection", "TE"],
)
def test_headers_that_are_ours_cannot_be_set(refused: Callable[..., str], header: str) -> None:
    # The name is made by the template: a plain one may already be refused when the webhook is saved.
    assert (
        refused(additional_headers="{{ '" + header + "' }}: 1")
        == f"The header {header} cannot be among the additional headers."
    )


# -- templates


def test_a_body_from_a_template_is_as_recorded(service: Service, told: Callable[..., list[Received]]) -> None:
    name = service.unique()
    template = '{"ev":"{{ event }}","m":"{{ model }}","u":"{{ username }}","rid":"{{ request_id }}","ts":"{{ timestamp }}","n":"{{ data.name }}"}'
    (request,) = told(lambda: service.api.post(SITES, {"name": name, "status": "active"}), body_template=template)
    wanted = RECORDED["templated"].replace("WH Site", name).replace('"u":"admin"', f'"u":"{service.admin.username}"')
    assert levelled(request.body.decode()) == levelled(wanted)


def rendered(source: str, **limits: Any) -> str | sandbox.RenderError:
    """The text that a template renders from the context, or why it fails."""
    found = dataclasses.replace(LIMITS, **limits)
    (result,) = sandbox.render([sandbox.Rendering(source, CONTEXT)], found)
    return result


LIMITS = sandbox.RenderLimits.of({name: default for name, (_, default) in feature.settings.items()})
CONTEXT = {"event": "created", "data": {"name": "a", "list": [1, 2, 3], "text": "{{ event }}"}}


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("{{ event|upper }} {{ data.name }}{{ data['list']|join(';') }}", "CREATED a1;2;3"),
        ("{% for x in data.list %}{{ loop.index }}{{ ',' if not loop.last }}{% endfor %}", "1,2,3"),
        ("{{ data|tojson }}", json.dumps(CONTEXT["data"], sort_keys=True)),
        ("{{ data.text }}\n", "{{ event }}\n"),
        (
            "{{ '%s-%s' % (event, 1 + 2) }} {{ '{}'.format(event) }} {{ event ~ 'x' ~ 3 }}",
            "created-3 created createdx3",
        ),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(5000000000) }}{{ nothing|default }}", "<5000000000>"),
        ("{% set s = namespace(n=0) %}{% for x in data.list %}{% set s.n = s.n + x %}{% endfor %}{{ s.n }}", "6"),
    ],
)
def test_templates_make_what_they_say(source: str, made: str) -> None:
    assert rendered(source) == made


@pytest.mark.parametrize(
    "source",
    [
        "{{ ().__class__.__mro__ }}",
        "{{ event.__class__.__subclasses__() }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ data.update({'a': 1}) }}",
        "{% include 'x' %}",
        "{{ 'x' * 10 ** 9 }}",
        "{{ 'x'|center(1000000000) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ '%*d'|format(999999999, 1) }}",
        "{{ 9 ** (9 ** 9) }}",
        "{{ [1] * 1000000000 }}",
        "{{ ('a' * 100000).replace('a', 'b' * 100000) }}",
        "{{ range(1000000000)|list }}",
        "{% set s = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set s.x = s.x ~ s.x %}{% endfor %}",
        "{% for i in range(10000) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
        "{% if",
        "{{ 1 / 0 }}",
        "{{ nothing.at.all }}",
    ],
)
def test_templates_can_do_no_harm(source: str) -> None:
    assert isinstance(rendered(source, seconds=0.5), sandbox.RenderError)


def test_a_template_that_does_not_end_is_broken_off() -> None:
    result = rendered("{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}", seconds=0.2)
    assert isinstance(result, sandbox.RenderError) and str(result) == "it takes longer than 0.2 s"


def test_masking_takes_the_longest_first_and_no_short_ones() -> None:
    assert without_secrets("Bearer secret-secret", ("secret-secret", "secret-s")) == "Bearer ********"
    assert without_secrets("incident d", ("d", "inciden")) == "incident d"


def test_a_comment_on_a_change_request_is_told_with_the_field_that_it_is_about(
    service: Service, told: Callable[..., list[Received]], site: Any
) -> None:
    made = service.api.post("/api/extras/change-requests/", {"title": service.unique()})
    service.api.patch(f"{SITES}{site['id']}/", {"asn": 64512}, headers={"X-Change-Request": made["id"]})
    about = {"object_type": "dcim.site", "object_id": site["id"], "field": "asn"}
    path = f"/api/extras/change-requests/{made['id']}/comment/"
    (message,) = told(lambda: service.api.post(path, {"text": "Why?", **about}, status=200), "extras.changerequest")
    sent = json.loads(message.body)["data"]
    assert (sent["last_comment"], sent["last_comment_about"]) == ("Why?", about)
