"""The specification's section "States and transitions", one test for each row and sentence."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.auth.models import Token
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Service, Unique
from netinv_web.testing import Browser
from tests.support.receivers import Receiver

PREFIXES, TENANTS, TOKENS = "/api/ipam/prefixes/", "/api/tenancy/tenants/", "/api/users/tokens/"
DELIVERIES, RETRY = "/api/extras/webhook-deliveries/", "/extras/webhook-deliveries/retry/"
STATUSES = ("container", "active", "reserved", "deprecated")


# -- Prefix status


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
@pytest.mark.parametrize(("before", "after"), list(itertools.permutations(STATUSES, 2)))
def test_a_prefix_takes_any_status_from_any_other(
    service: Service, unique: Unique, before: str, after: str, method: str
) -> None:
    """Prefix status: moved by PATCH/PUT with `status` to the given value; `last_updated` changes. Transitions between
    prefix statuses are unrestricted.
    """
    given = {"prefix": f"{unique.ipv6()}::/48"}
    made = service.api.post(PREFIXES, {**given, "status": before})
    service.api.send(method, made["url"], {**(given if method == "PUT" else {}), "status": after}, status=200)
    changed = service.api.get(made["url"])
    assert (made["status"]["value"], changed["status"]["value"]) == (before, after)
    assert changed["last_updated"] > made["last_updated"]


def test_the_status_of_a_prefix_stays_when_the_caller_may_not_write(service: Service, unique: Unique) -> None:
    """Prefix status: condition: caller may write."""
    made = service.api.post(PREFIXES, {"prefix": f"{unique.ipv6()}::/48"})
    reader = service.user(("view", "ipam.prefix")).api
    reader.patch(made["url"], {"status": "reserved"}, status=403)
    shown = reader.get(made["url"])
    assert (shown["status"]["value"], shown["last_updated"]) == ("active", made["last_updated"])


# -- Token


def test_a_token_is_no_longer_usable_once_it_expires(service: Service) -> None:
    """Token: valid; time passes until `expires` is reached: expired; no longer usable."""
    hour = datetime.timedelta(hours=1)
    now = datetime.datetime.now(datetime.UTC)
    made = service.api.post(TOKENS, {"expires": (now + hour).isoformat()})
    service.api.get(TENANTS, {"limit": 1}, token=made["key"])
    table: Any = Token.__table__
    with service.unit_of_work() as uow:  # an hour and a day pass
        key = service.registry["users.token"].parse_key(made["id"])
        uow.execute(sa.update(table).where(table.c.id == key).values(expires=now - 24 * hour))
    for path in ("/api/", TENANTS, made["url"]):
        service.api.get(path, token=made["key"], status=(401, 403))


# -- Outbound webhook request


@pytest.fixture
def told(sending_service: Service) -> Iterator[Callable[[int], tuple[Receiver, Any]]]:
    """``told(500)``: a receiver that answers so, and the webhook that tells it, without retries, of new tenants."""
    made, receivers = [], []

    def make(status: int) -> tuple[Receiver, Any]:
        receiver = Receiver(status)
        receivers.append(receiver.__enter__())
        body = {"name": sending_service.unique(), "content_types": ["tenancy.tenant"], "type_create": True}
        made.append(sending_service.api.post("/api/extras/webhooks/", {**body, "payload_url": receiver.url}))
        return receiver, made[-1]

    yield make
    for webhook in made:
        sending_service.api.delete(webhook["url"])
    for receiver in receivers:
        receiver.__exit__()


def states(service: Service, webhook: Any) -> list[str]:
    """The states of a webhook's requests."""
    found = service.api.get(DELIVERIES, {"webhook_id": webhook["id"]})["results"]
    return [delivery["state"]["value"] for delivery in found]


def send(service: Service) -> None:
    """Lets a worker send what is queued."""
    assert deliver_now(service.engine, service.registry, 60)


@pytest.mark.parametrize("status", [200, 204, 299])
def test_a_queued_request_succeeds_by_a_response_code_2xx(
    sending_service: Service, told: Callable[[int], tuple[Receiver, Any]], status: int
) -> None:
    """Outbound webhook request: queued; worker sends request; response code 2XX: succeeded."""
    receiver, webhook = told(status)
    sending_service.api.post(TENANTS, {"name": sending_service.unique()})
    assert (states(sending_service, webhook), receiver.received) == (["queued"], [])
    send(sending_service)
    assert (states(sending_service, webhook), len(receiver.received)) == (["succeeded"], 1)


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_queued_request_fails_by_any_other_outcome_and_is_listed(
    sending_service: Service, told: Callable[[int], tuple[Receiver, Any]], status: int
) -> None:
    """Outbound webhook request: queued; any other outcome: failed; listed among failed webhooks in the administration
    interface.
    """
    receiver, webhook = told(status)
    sending_service.api.post(TENANTS, {"name": sending_service.unique()})
    send(sending_service)
    assert (states(sending_service, webhook), len(receiver.received)) == (["failed"], 1)
    browser = Browser(sending_service, sending_service.admin)
    rows = {
        state: [row.text for row in browser.get(f"/extras/webhook-deliveries/?state={state}").html.select("tbody tr")]
        for state in ("failed", "succeeded")
    }
    assert {state: len([row for row in rows[state] if webhook["name"] in row]) for state in rows} == {
        "failed": 1,
        "succeeded": 0,
    }


def test_a_failed_request_is_queued_again_by_a_manual_retry(
    sending_service: Service, told: Callable[[int], tuple[Receiver, Any]]
) -> None:
    """Outbound webhook request: failed; manual retry in the administration interface by an operator: queued."""
    receiver, webhook = told(500)
    sending_service.api.post(TENANTS, {"name": sending_service.unique()})
    send(sending_service)
    (failed,) = sending_service.api.get(DELIVERIES, {"webhook_id": webhook["id"]})["results"]
    assert failed["state"]["value"] == "failed"
    page = Browser(sending_service, sending_service.admin).get(f"/extras/webhook-deliveries/{failed['id']}/")
    page.form(RETRY).submit()
    assert states(sending_service, webhook) == ["queued"]
    receiver.answer = 200
    send(sending_service)
    assert (states(sending_service, webhook), len(receiver.received)) == (["succeeded"], 2)
