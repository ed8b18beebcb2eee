"""Messages as Standard Webhooks 1.0 has them, a webhook's own time limit, and receivers that are gone."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from netinv_core.models.base import now, table_of
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_testing import Service
from tests.support.receivers import Received, Receiver, say
from tests.support.webhook_workers import (
    WEBHOOKS,
    change,
    deliver,
    deliveries,
    end,
    group,
    history,
    hook,
    service,
    states,
)

pytestmark = pytest.mark.any_database
__all__ = ["end", "hook", "service"]
KEY = "a long random text"
ENCODED = "whsec_" + base64.b64encode(b"another long random text").decode()
CHANGES = "/api/extras/object-changes/"


def verifier(secret: str) -> Verifier:
    """What a receiver makes of the text in the field ``secret``."""
    return Verifier(secret if secret.startswith("whsec_") else secret.encode())


def told(service: Service, hook: Callable[..., str], **fields: Any) -> Received:
    """The message about a new object."""
    with Receiver() as receiver:
        hook(receiver, **fields)
        group(service)
        deliver(service)
        (message,) = receiver.received
    return message


@pytest.mark.parametrize(
    ("fields", "known", "unknown"),
    [
        ({"secret": KEY}, [KEY], [ENCODED, "another text"]),
        ({"secret": ENCODED}, [ENCODED], [KEY]),
        ({"secret": KEY, "second_secret": ENCODED}, [KEY, ENCODED], ["another text"]),
        ({"second_secret": KEY}, [KEY], [ENCODED]),
        ({"secret": "whsec_is no Base64"}, [], [KEY]),
    ],
)
def test_the_library_verifies_a_message_by_each_of_its_secrets(
    service: Service, hook: Callable[..., str], fields: Any, known: list[str], unknown: list[str]
) -> None:
    message = told(service, hook, **fields)
    headers = {name.lower(): value for name, value in message.headers.items()}
    assert headers["webhook-id"] == headers["x-netinv-delivery"]
    for secret in known:
        assert verifier(secret).verify(message.body, headers)["event"] == "created"
    for secret in unknown:
        with pytest.raises(WebhookVerificationError):
            verifier(secret).verify(message.body, headers)
    changed = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}
    for secret in known:
        with pytest.raises(WebhookVerificationError):
            verifier(secret).verify(message.body, changed)
    assert ("x-netinv-signature" in headers) == ("secret" in fields)


def test_without_a_secret_a_message_has_an_id_and_a_time_and_no_signature(
    service: Service, hook: Callable[..., str]
) -> None:
    headers = told(service, hook).headers
    assert headers["webhook-id"] and abs(int(headers["webhook-timestamp"]) - now().timestamp()) < 60
    assert "webhook-signature" not in headers


@pytest.mark.parametrize("name", ["webhook-id", "Webhook-Timestamp", "webhook-signature"])
def test_additional_headers_cannot_replace_them(service: Service, hook: Callable[..., str], name: str) -> None:
    key = hook("http://receiver.example.com/standard")
    answer = service.api.patch(f"{WEBHOOKS}{key}/", {"additional_headers": f"{name}: x"}, status=400)
    assert answer == {"additional_headers": [f"The header {name} cannot be among the additional headers."]}


def test_the_second_secret_is_shown_nowhere(service: Service, hook: Callable[..., str]) -> None:
    with Receiver(lambda handler, request: say(handler, 500, KEY)) as receiver:
        key = hook(receiver, second_secret=KEY)
        group(service)
        deliver(service)
    shown = service.api.get(f"{WEBHOOKS}{key}/")
    changes = service.api.get(CHANGES, {"changed_object_id": key})
    assert shown["second_secret"] == "********"
    assert KEY not in str((shown, changes, history(service, key)))


def test_a_receiver_that_is_gone_pauses_its_webhook_and_loses_nothing(
    service: Service, hook: Callable[..., str]
) -> None:
    answers = [410]
    with Receiver(lambda handler, _: say(handler, answers[0])) as receiver:
        webhook = hook(receiver, retries=0, retry_after=1)
        group(service)
        deliver(service)
        group(service)
        deliver(service)
        assert len(receiver.received) == 1 and states(service, webhook) == ["queued", "queued"]
        shown = service.api.get(f"{WEBHOOKS}{webhook}/")
        assert shown["paused"] and shown["pause_reason"].startswith("The receiver answered 410 Gone at 20")
        last = service.api.get(CHANGES, {"changed_object_id": webhook})["results"][0]
        assert last["action"]["value"] == "update" and last["user_name"] == ""
        answers[:] = [200]
        resumed = service.api.patch(f"{WEBHOOKS}{webhook}/", {"paused": False})
        assert resumed["pause_reason"] == ""
        table = table_of(WebhookDelivery)
        change(service, sa.update(table).where(table.c.state == "queued").values(due=now()))
        deliver(service)
        assert states(service, webhook) == ["succeeded", "succeeded"]


def test_the_reason_of_a_pause_is_that_of_who_pauses(service: Service, hook: Callable[..., str]) -> None:
    path = f"{WEBHOOKS}{hook('http://receiver.example.com/paused')}/"
    assert service.api.patch(path, {"pause_reason": "for nothing"})["pause_reason"] == ""
    paused = service.api.patch(path, {"paused": True, "pause_reason": "moves on Monday"})
    assert paused["pause_reason"] == "moves on Monday"
    assert service.api.patch(path, {"retries": 1})["pause_reason"] == "moves on Monday"


def test_a_webhook_has_a_time_limit_of_its_own(
    service: Service, hook: Callable[..., str], end: threading.Event
) -> None:
    with Receiver(lambda handler, _: end.wait(60)) as receiver:
        webhook = hook(receiver, timeout=1)
        group(service)
        deliver(service)
        (attempt,) = history(service, webhook)
    assert attempt["error"] == "There was no answer within 1 s."
    assert len(deliveries(service, webhook)) == 1
    refused = service.api.patch(f"{WEBHOOKS}{webhook}/", {"timeout": 0}, status=400)
    assert list(refused) == ["timeout"]
