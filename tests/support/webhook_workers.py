"""Webhooks of tests: fixtures that make and deliver them, and what their deliveries have become."""

from __future__ import annotations

import datetime
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_extras.webhooks.models import Webhook
from netinv_extras.webhooks.outbox import Outbox
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Service
from tests.support.receivers import Receiver

GROUPS = "/api/tenancy/tenant-groups/"
WEBHOOKS = "/api/extras/webhooks/"
_delivery, _webhook = table_of(WebhookDelivery), table_of(Webhook)


@pytest.fixture
def service(sending_service: Service) -> Service:
    """A service whose outbox nobody else uses."""
    return sending_service


@pytest.fixture
def hook(service: Service) -> Iterator[Callable[..., str]]:
    """``hook(receiver, retries=3)``: a webhook that tells a receiver of tenant groups; gone after the test."""
    made = []

    def make(receiver: Receiver | str, **fields: Any) -> str:
        policy = {name: fields.pop(name) for name in ("retries", "retry_after", "enabled") if name in fields}
        url = receiver if isinstance(receiver, str) else receiver.url
        given = {
            "content_types": ["tenancy.tenantgroup"],
            "type_create": True,
            "type_update": True,
            "type_delete": True,
            "payload_url": url,
        }
        made.append(service.api.post(WEBHOOKS, {"name": service.unique(), **given, **fields})["id"])
        if policy:
            change(service, sa.update(_webhook).where(_webhook.c.id == uuid.UUID(made[-1])).values(policy))
        return str(made[-1])

    yield make
    for key in made:
        service.api.delete(f"{WEBHOOKS}{key}/", status=[204, 404])


@pytest.fixture
def impatient(service: Service) -> Iterator[None]:
    """Receivers have a moment to answer: for tests in which none does."""
    with service.configured(webhook_read_timeout=0.2):
        yield


@pytest.fixture
def end() -> Iterator[threading.Event]:
    """Set when the test is over: what receivers that do not answer wait for."""
    event = threading.Event()
    yield event
    event.set()


def change(service: Service, statement: Any) -> None:
    """Changes rows behind the service's back."""
    with service.unit_of_work() as uow:
        uow.execute(statement)


def group(service: Service) -> str:
    """A new tenant group."""
    name = service.unique()
    return str(service.api.post(GROUPS, {"name": name, "slug": name})["id"])


def groups(service: Service, count: int) -> list[str]:
    """Several of them, in one request."""
    names = [service.unique() for _ in range(count)]
    return [item["id"] for item in service.api.post(GROUPS, [{"name": name, "slug": name} for name in names])]


def describe(service: Service, key: str, text: Any) -> None:
    """An update."""
    service.api.patch(f"{GROUPS}{key}/", {"description": str(text)})


def deliver(service: Service, seconds: float = 120) -> None:
    """Delivers all that is due."""
    assert deliver_now(service.engine, service.registry, seconds)


def deliveries(service: Service, webhook: str) -> list[Any]:
    """The rows of a webhook's deliveries, oldest first."""
    return service.rows(
        sa.select(_delivery).where(_delivery.c.webhook_id == uuid.UUID(webhook)).order_by(_delivery.c.id)
    )


def states(service: Service, webhook: str) -> list[str]:
    """Their states."""
    return [row.state for row in deliveries(service, webhook)]


def history(service: Service, webhook: str) -> list[Any]:
    """The attempts of a webhook's only delivery, as the API shows them."""
    (row,) = deliveries(service, webhook)
    return list(service.api.get(f"/api/extras/webhook-deliveries/{row.id}/")["history"])


def outbox_of(service: Service, seconds: float) -> Outbox:
    """The deliveries that wait, for a worker whose claims end after some seconds."""
    return Outbox(service.engine, datetime.timedelta(seconds=seconds))
