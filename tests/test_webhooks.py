"""Webhooks: what may be said of them, what is kept secret, and what is set beside their recorded form."""

from __future__ import annotations

from typing import Any

import pytest
import requests
import sqlalchemy as sa
from test_client import served
from test_races import at_once

from netinv_core.contract import Api, Service, Unique

WEBHOOKS, CHANGES = "/api/extras/webhooks/", "/api/extras/object-changes/"
MASK = "********"


@pytest.fixture
def body(unique: Unique) -> dict[str, Any]:
    """A webhook that nobody has."""
    return {"name": unique(), "content_types": ["extras.secret"], "payload_url": f"https://{unique()}.example.com/hook", "type_create": True}


def refused(api: Api, body: dict[str, Any], **given: Any) -> Any:
    """What is wrong with a body."""
    return api.post(WEBHOOKS, {**body, **given}, status=400)


def changes_of(service: Service, made: Any) -> list[Any]:
    """Action, flat form, before and after of an object's changes, the first first."""
    table = service.registry["extras.objectchange"].table
    columns = (table.c.action, table.c.object_data, table.c.before, table.c.after)
    return service.rows(sa.select(*columns).where(table.c.changed_object_id == _id(service, made)).order_by(table.c.time))


def _id(service: Service, made: Any) -> Any:
    return service.registry["extras.webhook"].parse_key(made["id"])


def test_it_has_an_event(api: Api, body: dict[str, Any]) -> None:
    none = {"__all__": ["You must select at least one type: create, update, and/or delete."]}
    assert refused(api, body, type_create=False) == none
    made = api.post(WEBHOOKS, body)
    assert api.patch(made["url"], {"type_create": False}, status=400) == none
    assert api.patch(made["url"], {"type_create": False, "type_delete": True})["type_delete"] is True


def test_a_file_of_authorities_needs_verification(api: Api, body: dict[str, Any]) -> None:
    wrong = {"ca_file_path": ["Do not specify a CA certificate file if SSL verification is disabled."]}
    assert refused(api, body, ca_file_path="/etc/ca.pem", ssl_verification=False) == wrong
    made = api.post(WEBHOOKS, {**body, "ca_file_path": "/etc/ca.pem"})
    assert api.patch(made["url"], {"ssl_verification": False}, status=400) == wrong
    assert api.patch(made["url"], {"ssl_verification": False, "ca_file_path": ""})["ca_file_path"] == ""


def test_no_two_tell_one_url_of_the_same(api: Api, body: dict[str, Any], unique: Unique) -> None:
    url = body["payload_url"]
    made = api.post(WEBHOOKS, {**body, "type_update": True, "content_types": ["extras.secret", "dcim.rackgroup"]})
    clash = {
        "type_create": [f"A webhook already exists for create on extras | secret to URL {url}"],
        "type_update": [f"A webhook already exists for update on extras | secret to URL {url}"],
    }
    assert refused(api, body, name=unique(), type_update=True) == clash
    words = f"A webhook already exists for create on dcim | rack group to URL {url}"
    assert refused(api, body, name=unique(), content_types=["dcim.rackgroup"]) == {"type_create": [words]}
    other = api.post(WEBHOOKS, {**body, "name": unique(), "type_create": False, "type_delete": True})
    assert api.patch(other["url"], {"type_create": True}, status=400) == {"type_create": clash["type_create"]}
    assert api.patch(made["url"], {"name": unique()})["type_update"] is True
    assert api.patch(made["url"], {"content_types": ["dcim.rackgroup"]})["content_types"] == ["dcim.rackgroup"]
    api.patch(other["url"], {"type_create": True})


def test_webhooks_of_one_request_do_not_clash_either(api: Api, body: dict[str, Any], unique: Unique) -> None:
    error = api.post(WEBHOOKS, [body, {**body, "name": unique()}], status=400)
    assert error == [{}, {"type_create": [f"A webhook already exists for create on extras | secret to URL {body['payload_url']}"]}]


def test_of_many_who_tell_one_url_at_once_one_does(service: Service, body: dict[str, Any], unique: Unique) -> None:
    headers, bodies = {"Authorization": f"Token {service.api.token}"}, [{**body, "name": unique()} for _ in range(8)]
    with served(service.app) as address:
        answers = at_once(lambda number: requests.post(f"{address}{WEBHOOKS}", json=bodies[number], headers=headers, timeout=60), 8)
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 7


@pytest.mark.parametrize("url", ["ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "https://", "http://example.com:port/", "http://[::1/"])
def test_a_url_of_another_kind_is_refused(api: Api, body: dict[str, Any], url: str) -> None:
    assert refused(api, body, payload_url=url)["payload_url"][0].startswith("Enter a valid URL")


@pytest.mark.parametrize("name", ["payload_url", "http_content_type", "additional_headers"])
def test_control_characters_are_refused(api: Api, body: dict[str, Any], name: str) -> None:
    assert refused(api, body, **{name: "a\x1bb"}) == {name: ["Control characters are not allowed."]}


@pytest.mark.parametrize("name", ["additional_headers", "body_template"])
def test_templates_compile(api: Api, body: dict[str, Any], name: str) -> None:
    (words,) = refused(api, body, **{name: "X-A: 1\nX-B: {% if event %}"})[name]
    assert words.startswith("This template does not compile. Line 2: ") and "endif" in words
    (words,) = refused(api, body, **{name: "{{ data | nothing }}"})[name]
    assert "No filter named 'nothing'" in words
    good = "X-A: {{ event }}\r\nX-B: {{ data['name'] | upper }}"
    assert api.post(WEBHOOKS, {**body, name: good})[name] == good


def test_only_models_whose_changes_are_recorded_are_told_of(api: Api, body: dict[str, Any]) -> None:
    for label in ("extras.objectchange", "users.token", "extras.webhookdelivery", "no.thing"):
        assert refused(api, body, content_types=[label]) == {"content_types": [f"Invalid content type: {label}"]}
    wrong = {"content_types": ["Invalid value. Specify a content type as '<app_label>.<model_name>'."]}
    assert refused(api, body, content_types=["site"]) == refused(api, body, content_types=[1]) == wrong
    assert refused(api, body, content_types="dcim.site") == {"content_types": ['Expected a list of items but got type "str".']}
    assert api.post(WEBHOOKS, {**body, "content_types": ["extras.webhook"]})["content_types"] == ["extras.webhook"]


def test_options_describe_it(api: Api) -> None:
    fields = api.options(WEBHOOKS)["actions"]["POST"]
    assert fields["secret"] == {"type": "string", "required": False, "read_only": False, "label": "Secret", "max_length": 255}
    assert {"enabled", "retries", "retry_after", "custom_fields"}.isdisjoint(fields)
    assert [choice["value"] for choice in fields["http_method"]["choices"]] == ["GET", "POST", "PUT", "PATCH", "DELETE"]


# -- secrets


def test_a_secret_is_encrypted_in_the_database_and_shown_to_nobody(service: Service, body: dict[str, Any]) -> None:
    made = service.api.post(WEBHOOKS, {**body, "secret": "s3cret"})
    assert made["secret"] == service.api.get(made["url"])["secret"] == MASK
    table = service.registry["extras.webhook"].table
    (stored,) = service.rows(sa.select(table.c.secret).where(table.c.id == _id(service, made)))[0]
    assert stored and "s3cret" not in stored
    for written_back in ("PUT", "PATCH"):
        assert service.api.send(written_back, made["url"], made, status=200).json["secret"] == MASK
    assert service.rows(sa.select(table.c.secret).where(table.c.id == _id(service, made)))[0][0] == stored
    assert service.api.patch(made["url"], {"secret": ""})["secret"] == ""
    assert service.rows(sa.select(table.c.secret).where(table.c.id == _id(service, made)))[0][0] == ""
    assert service.api.get(WEBHOOKS, {"secret": "s3cret"}, status=400) == {"secret": ["Unknown filter field"]}
    too_long = {"secret": ["Ensure this field has no more than 255 characters."]}
    assert refused(service.api, body, name=service.unique(), secret="é" * 256) == too_long


def test_the_mask_is_no_secret(api: Api, body: dict[str, Any]) -> None:
    words = [f"{MASK} stands for a value that is not shown: give the value itself, or leave this field out."]
    assert refused(api, body, secret=MASK) == {"secret": words}
    made = api.post(WEBHOOKS, body)
    assert made["secret"] == ""
    assert api.patch(made["url"], {"secret": MASK}, status=400) == {"secret": words}


def test_a_secret_that_was_encrypted_under_another_key_is_replaced(service: Service, body: dict[str, Any]) -> None:
    made = service.api.post(WEBHOOKS, {**body, "secret": "s3cret"})
    with service.configured(secret="another one, for this test only"):
        assert service.registry["extras.webhook"].fields["secret"]._read("not sealed at all") is None
        assert service.api.patch(made["url"], {"secret": "s3cret"})["secret"] == MASK
    assert [record.action for record in changes_of(service, made)] == ["create", "update"]


def test_the_change_log_says_that_a_secret_changed_and_not_what_it_is(service: Service, body: dict[str, Any]) -> None:
    headers = "X-A: b\nAuthorization: Bearer {}\nX-Api-Key: {}"
    made = service.api.post(WEBHOOKS, {**body, "secret": "first-s", "additional_headers": headers.format("first-a", "first-b")})
    for change in ({"secret": "next-s"}, {"secret": "next-s"}, {"additional_headers": headers.format("next-a", "next-b")}, {"secret": ""}):
        service.api.patch(made["url"], change)
    records = changes_of(service, made)
    assert "first-" not in str(records) and "next-" not in str(records)
    masked, changed = f"X-A: b\nAuthorization: {MASK}\nX-Api-Key: {MASK}", f"{MASK} (changed)"
    shown = [[part and (part["secret"], part["additional_headers"]) for part in record[1:]] for record in records]
    both = masked.replace(MASK, changed)
    assert [record.action for record in records] == ["create", "update", "update", "update"]
    assert shown == [
        [(MASK, masked), None, (MASK, masked)],
        [(changed, masked), (MASK, masked), (changed, masked)],
        [(MASK, both), (MASK, masked), (MASK, both)],
        [("", masked), (MASK, masked), ("", masked)],
    ]


# -- what is set beside the recorded form


def test_it_is_enabled_unless_switched_off(service: Service, body: dict[str, Any]) -> None:
    api, made = service.api, service.api.post(WEBHOOKS, {**body, "enabled": False})
    at, named = f"{made['url']}enabled/", {"name": made["name"]}
    assert "enabled" not in made and api.get(at) == {"enabled": True}
    assert api.put(at, {"enabled": "off"}) == api.get(at) == {"enabled": False}
    assert (api.get(WEBHOOKS, {**named, "enabled": "true"})["count"], api.get(WEBHOOKS, {**named, "enabled": "false"})["count"]) == (0, 1)
    assert api.patch(at, {}) == {"enabled": False}
    assert api.put(at, {}, status=400) == {"enabled": ["This field is required."]}
    assert api.patch(at, {"enabled": None}, status=400) == {"enabled": ["This field may not be null."]}


def test_retries_are_set_within_bounds_and_recorded(service: Service, body: dict[str, Any]) -> None:
    api, made = service.api, service.api.post(WEBHOOKS, body)
    at = f"{made['url']}retries/"
    assert api.get(at) == {"retries": 0, "retry_after": 60}
    assert api.put(at, {"retries": 3, "retry_after": 5}) == {"retries": 3, "retry_after": 5}
    assert api.patch(at, {"retries": 20}) == api.get(at) == {"retries": 20, "retry_after": 5}
    assert api.patch(at, {"retries": 20}) == {"retries": 20, "retry_after": 5}
    assert set(api.put(at, {"retries": -1, "retry_after": 0}, status=400)) == {"retries", "retry_after"}
    assert set(api.put(at, {"retries": 21, "retry_after": 604801}, status=400)) == {"retries", "retry_after"}
    assert api.put(at, {"retries": 1}, status=400) == {"retry_after": ["This field is required."]}
    assert api.put(at, [], status=400) == {"non_field_errors": ["Invalid data. Expected a dictionary, but got list."]}
    _, first, second = changes_of(service, made)
    assert [(part["retries"], part["retry_after"]) for part in first[1:]] == [(3, 5), (0, 60), (3, 5)]
    assert [(part["retries"], part["retry_after"]) for part in second[1:]] == [(20, 5), (3, 5), (20, 5)]
    assert api.get(made["url"])["last_updated"] > made["last_updated"]


def test_policies_need_the_permissions_of_the_webhook(service: Service, body: dict[str, Any]) -> None:
    made, none = service.api.post(WEBHOOKS, body), "00000000-0000-4000-8000-000000000000"
    nobody, viewer = service.user(), service.user(("view", "extras.webhook"))
    changer = service.user(("view change", "extras.webhook", {"name": made["name"]}))
    for policy, value in (("enabled", {"enabled": False}), ("retries", {"retries": 1, "retry_after": 1})):
        at = f"{made['url']}{policy}/"
        nobody.api.get(at, status=403)
        viewer.api.get(at)
        viewer.api.put(at, value, status=403)
        assert changer.api.put(at, value) == value
        service.api.get(f"{WEBHOOKS}{none}/{policy}/", status=404)
        service.api.put(f"{WEBHOOKS}{none}/{policy}/", value, status=404)
        service.api.post(at, value, status=405)
        assert service.api.send("GET", at).headers["Allow"] == "GET, PUT, PATCH, HEAD, OPTIONS"
    other = service.api.post(WEBHOOKS, {**body, "name": service.unique(), "payload_url": "https://other.example.com/"})
    changer.api.put(f"{other['url']}enabled/", {"enabled": False}, status=404)
