"""Webhooks: what may be said of them, and what is kept secret."""

from __future__ import annotations

from typing import Any

import pytest
import requests
import sqlalchemy as sa

from netinv_core.changelog.states import record_columns
from netinv_testing import Api, Service, Unique
from tests.support.http_server import served
from tests.support.threads import at_once

WEBHOOKS, CHANGES = "/api/extras/webhooks/", "/api/extras/object-changes/"
MASK = "********"


@pytest.fixture
def body(unique: Unique) -> dict[str, Any]:
    """A webhook that nobody has."""
    return {
        "name": unique(),
        "content_types": ["extras.secret"],
        "payload_url": f"https://{unique()}.example.com/hook",
        "type_create": True,
    }


def refused(api: Api, body: dict[str, Any], **given: Any) -> Any:
    """What is wrong with a body."""
    return api.post(WEBHOOKS, {**body, **given}, status=400)


def changes_of(service: Service, made: Any) -> list[Any]:
    """Action, flat form, before and after of an object's changes, the first first."""
    table = service.registry["extras.objectchange"].table
    columns = record_columns(("action", "object_data", "before", "after"))
    return service.rows(
        sa.select(*columns).where(table.c.changed_object_id == _id(service, made)).order_by(table.c.time)
    )


def _id(service: Service, made: Any) -> Any:
    return service.registry["extras.webhook"].parse_key(made["id"])


def test_it_has_an_event(api: Api, body: dict[str, Any]) -> None:
    none = {"__all__": ["You must select at least one type: create, update, and/or delete."]}
    assert refused(api, body, type_create=False) == none
    made = api.post(WEBHOOKS, body)
    assert api.patch(made["url"], {"type_create": False}, status=400) == none
    assert api.patch(made["url"], {"type_create": False, "type_delete": True})["type_delete"] is True


def test_a_file_of_authorities_needs_verification(service: Service, body: dict[str, Any]) -> None:
    api, wrong = (
        service.api,
        {"ca_file_path": ["Do not specify a CA certificate file if SSL verification is disabled."]},
    )
    assert refused(api, body, ca_file_path="/etc/ca.pem", ssl_verification=False) == wrong
    with service.configured(webhook_ca_folders=("/etc",)):
        made = api.post(WEBHOOKS, {**body, "ca_file_path": "/etc/ca.pem"})
    assert api.patch(made["url"], {"ssl_verification": False}, status=400) == wrong
    assert api.patch(made["url"], {"ssl_verification": False, "ca_file_path": ""})["ca_file_path"] == ""


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/no/such/file", "ca.pem", "/etc/ssl/../passwd", "/etc/ssl", "~/ca.pem", "/etc/ssl/ca.pem\0"],
)
def test_a_file_of_authorities_is_in_a_folder_that_is_set(service: Service, body: dict[str, Any], path: str) -> None:
    with service.configured(webhook_ca_folders=("/etc/ssl",)):
        (words,) = refused(service.api, body, ca_file_path=path)["ca_file_path"]
        assert words == "The setting netinv.webhook_ca_folders does not allow this file." or ("\0" in path and words)
        assert (
            service.api.post(WEBHOOKS, {**body, "ca_file_path": "/etc/ssl/no/such/file.pem"})["ca_file_path"]
            == "/etc/ssl/no/such/file.pem"
        )


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
    assert error == [
        {},
        {"type_create": [f"A webhook already exists for create on extras | secret to URL {body['payload_url']}"]},
    ]


def test_of_many_who_tell_one_url_at_once_one_does(service: Service, body: dict[str, Any], unique: Unique) -> None:
    headers, bodies = {"Authorization": f"Token {service.api.token}"}, [{**body, "name": unique()} for _ in range(8)]
    with served(service.app) as address:
        answers = at_once(
            lambda number: requests.post(f"{address}{WEBHOOKS}", json=bodies[number], headers=headers, timeout=60), 8
        )
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 7


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "http://example.com:port/",
        "http://example.com:99999/",
        "http://[::1/",
        "/hook",
        "hook",
        "//example.com/hook",
        "http:example.com",
        "http://example.com/a b",
        "http://example.com\\@10.0.0.1/",
    ],
)
def test_a_url_that_is_no_absolute_one_of_http_is_refused(api: Api, body: dict[str, Any], url: str) -> None:
    assert refused(api, body, payload_url=url)["payload_url"][0].startswith("Enter a valid URL")


@pytest.mark.parametrize("user", ["name:password@", "token@", ":@", "a%40b:c@", "@"])
def test_credentials_in_the_url_are_refused(api: Api, body: dict[str, Any], user: str) -> None:
    words = "Credentials do not belong in the URL: give them as an additional header."
    assert refused(api, body, payload_url=f"https://{user}example.com/") == {"payload_url": [words]}
    made = api.post(WEBHOOKS, {**body, "payload_url": body["payload_url"] + "/@me?to=a@b"})
    assert api.patch(made["url"], {"payload_url": f"https://{user}example.com/"}, status=400) == {
        "payload_url": [words]
    }


RESERVED = [
    "Host",
    "hOST ",
    "Connection",
    "Keep-Alive",
    "Proxy-Authorization",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "Content-Length",
    "Expect",
]


@pytest.mark.parametrize("name", [*RESERVED, "X-Hook-Signature", "X-Netinv-Event"])
@pytest.mark.parametrize(
    "source",
    ["X-A: b\n{}: 1", "{}: {{{{ event }}}}", "{{% if event == 'created' %}}{}: 1{{% endif %}}", "{{# c #}}{}: 1"],
)
def test_headers_that_a_webhook_may_not_set_are_refused_when_it_is_saved(
    api: Api, body: dict[str, Any], name: str, source: str
) -> None:
    words = f"The header {name.strip()} cannot be among the additional headers."
    assert refused(api, body, additional_headers=source.format(name)) == {"additional_headers": [words]}


@pytest.mark.parametrize(
    "source", ["no colon", ": no name", "A B: c", "X-A: b\nrest", "{{ event }}", "X-A: 1\n  folded", "\u00fc: 1"]
)
def test_lines_that_are_no_headers_are_refused_when_it_is_saved(api: Api, body: dict[str, Any], source: str) -> None:
    (words,) = refused(api, body, additional_headers=source)["additional_headers"]
    assert words == f"Line {source.count(chr(10)) + 1} of the additional headers is not of the form Name: Value."


def test_headers_have_a_number(api: Api, body: dict[str, Any]) -> None:
    lines = [f"X-{number}: v" for number in range(101)]
    assert refused(api, body, additional_headers="\n".join(lines)) == {
        "additional_headers": ["There are more than 100 additional headers."]
    }
    api.post(WEBHOOKS, {**body, "additional_headers": "\n".join(lines[:100])})


@pytest.mark.parametrize(
    "source",
    [
        "X-A: b\r\n\r\nX-C: {{ data['name'] | default('a: b') }}",
        "{% for tag in data.tags %}X-Tag-{{ loop.index }}: {{ tag.name }}\n{% endfor %}",
        "{% set name = 'X-A' %}\n{{ name }}: {# a comment: of two words #}1",
        "X-{{ event }}: 1",
    ],
)
def test_templates_of_headers_are_accepted(api: Api, body: dict[str, Any], source: str) -> None:
    assert api.post(WEBHOOKS, {**body, "additional_headers": source})["additional_headers"] == source


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
    assert refused(api, body, content_types="dcim.site") == {
        "content_types": ['Expected a list of items but got type "str".']
    }
    assert api.post(WEBHOOKS, {**body, "content_types": ["extras.webhook"]})["content_types"] == ["extras.webhook"]


def test_options_describe_it(api: Api) -> None:
    fields = api.options(WEBHOOKS)["actions"]["POST"]
    assert fields["secret"] == {
        "type": "string",
        "required": False,
        "read_only": False,
        "label": "Secret",
        "max_length": 255,
    }
    assert "custom_fields" not in fields and fields["enabled"]["required"] is False
    assert (fields["retries"]["min_value"], fields["retries"]["max_value"]) == (0, 20)
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
    made = service.api.post(
        WEBHOOKS, {**body, "secret": "first-s", "additional_headers": headers.format("first-a", "first-b")}
    )
    for change in (
        {"secret": "next-s"},
        {"secret": "next-s"},
        {"additional_headers": headers.format("next-a", "next-b")},
        {"secret": ""},
    ):
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


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Token {{ data.name }} s3cr3t",
        "cookie: session=s3cr3t",
        "X-Api-Key:s3cr3t",
        "X-Session-Id: s3cr3t",
        "X-Goog-Signature: s3cr3t",
        "{{ 'Authori' ~ 'zation' }}: s3cr3t",
    ],
)
def test_the_change_log_keeps_no_value_of_a_header_with_credentials(
    service: Service, body: dict[str, Any], line: str
) -> None:
    made = service.api.post(WEBHOOKS, {**body, "additional_headers": f"X-Plain: seen\n{line}"})
    ((_, flat, _, after),) = changes_of(service, made)
    assert "s3cr3t" not in f"{flat}{after}"
    assert (
        flat["additional_headers"] == after["additional_headers"] == f"X-Plain: seen\n{line.partition(':')[0]}: {MASK}"
    )


def test_the_change_log_keeps_no_credentials_of_a_url(service: Service, body: dict[str, Any]) -> None:
    made = service.api.post(
        WEBHOOKS, {**body, "payload_url": "https://example.com/a?channel=1&access_token=s3cr3t&sig=s3cr3t#x"}
    )
    service.api.patch(made["url"], {"payload_url": "https://example.com/a?channel=1&access_token=an0ther&sig=s3cr3t"})
    records = changes_of(service, made)
    assert "s3cr3t" not in str(records) and "an0ther" not in str(records)
    assert records[0].after["payload_url"] == f"https://example.com/a?channel=1&access_token={MASK}&sig={MASK}#x"


# -- enabled, retries


def test_it_is_enabled_unless_switched_off(service: Service, body: dict[str, Any]) -> None:
    api, made = service.api, service.api.post(WEBHOOKS, {**body, "enabled": False})
    named = {"name": made["name"]}
    assert made["enabled"] is api.get(made["url"])["enabled"] is False
    assert (
        api.get(WEBHOOKS, {**named, "enabled": "true"})["count"],
        api.get(WEBHOOKS, {**named, "enabled": "false"})["count"],
    ) == (0, 1)
    assert api.patch(made["url"], {"name": made["name"]})["enabled"] is False
    assert api.patch(made["url"], {"enabled": True})["enabled"] is True
    assert api.patch(made["url"], {"enabled": None}, status=400) == {"enabled": ["This field may not be null."]}
    assert api.patch(made["url"], {"enabled": "perhaps"}, status=400) == {"enabled": ["Must be a valid boolean."]}
    assert (
        api.post(WEBHOOKS, {**body, "name": service.unique(), "payload_url": "https://on.example.com/"})["enabled"]
        is True
    )
    api.get(f"{made['url']}enabled/", status=404)


def test_retries_are_set_within_bounds_and_recorded(service: Service, body: dict[str, Any]) -> None:
    api, made = service.api, service.api.post(WEBHOOKS, body)
    assert (made["retries"], made["retry_after"]) == (0, 60)
    for given in ({"retries": 3, "retry_after": 5}, {"retries": 20}):
        shown = api.patch(made["url"], given)
        assert {name: shown[name] for name in given} == given
    assert set(api.patch(made["url"], {"retries": -1, "retry_after": 0}, status=400)) == {"retries", "retry_after"}
    assert set(api.patch(made["url"], {"retries": 21, "retry_after": 604801}, status=400)) == {"retries", "retry_after"}
    _, first, second = changes_of(service, made)
    assert [(part["retries"], part["retry_after"]) for part in first[1:]] == [(3, 5), (0, 60), (3, 5)]
    assert [(part["retries"], part["retry_after"]) for part in second[1:]] == [(20, 5), (3, 5), (20, 5)]
