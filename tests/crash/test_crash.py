"""Nothing that is committed goes untold, whatever is killed, lost or broken on the way; and per object it is told in
order.
"""

from __future__ import annotations

import concurrent.futures
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support.crash.installation import PATIENT, ExpectedEvents, Installation
from tests.support.databases import migrated_database, new_queue_url
from tests.support.receivers import Received, Receiver
from tests.support.servers import free_port
from tests.support.waiting import until

pytestmark = pytest.mark.crash
TENANTS = "/api/tenancy/tenants/"
TENANT = "tenancy.tenant"
IMPATIENT = 4  # seconds to wait for a receiver; the leases of a killed worker last a little more than twice as long
impatient = pytest.mark.parametrize("installation", [IMPATIENT], indirect=True, ids=["impatient"])


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[tuple[Any, Path]]:
    """A migrated database of its own."""
    folder = tmp_path_factory.mktemp("crash")
    with migrated_database(folder, database_template) as engine:
        yield engine, folder


@pytest.fixture
def installation(request: pytest.FixtureRequest, database: tuple[Any, Path]) -> Iterator[Installation]:
    """An installation without processes, and without webhooks of other tests."""
    engine, folder = database
    queue = new_queue_url(folder)
    with Installation(engine, folder, queue, timeout=getattr(request, "param", PATIENT)) as found:
        yield found
        for hook in found.inside.api.get("/api/extras/webhooks/", {"limit": 0})["results"]:
            found.inside.api.delete(f"/api/extras/webhooks/{hook['id']}/")


def words(installation: Installation, expected: ExpectedEvents, objects: int = 3, changes: int = 3) -> None:
    """Creates tenants and changes each several times."""
    made = installation.ask(
        "POST", TENANTS, [{"name": uuid.uuid4().hex, "description": "made"} for _ in range(objects)], 201
    )
    for tenant in made:
        expected.note(tenant["id"], "made")
    for number in range(changes):
        for tenant in made:
            installation.ask("PATCH", f"{TENANTS}{tenant['id']}/", {"description": f"change {number}"}, 200)
            expected.note(tenant["id"], f"change {number}")


def test_a_service_killed_between_the_commit_and_the_word_to_the_worker(installation: Installation) -> None:
    with Receiver() as receiver:
        installation.hook(receiver, TENANT)
        installation.worker()
        dying, expected = installation.service("after-commit"), ExpectedEvents()
        installation.idle()
        name = uuid.uuid4().hex
        with pytest.raises(requests.RequestException):
            installation.ask("POST", TENANTS, {"name": name, "description": "made"})
        installation.gone(dying)
        (tenant,) = installation.inside.api.get(TENANTS, {"name": name})["results"]
        expected.note(tenant["id"], "made")
        assert receiver.received == []
        installation.service()
        receiver.wait(1, 120)
        installation.settled()
        expected.check("service killed after COMMIT", receiver.received)


@impatient
@pytest.mark.parametrize("fault", ["before-send", "before-record"])
def test_a_worker_killed_on_the_way(installation: Installation, fault: str) -> None:
    """Between claim and send, and between the receiver's answer and its recording: what was in hand is sent when its
    time is over.
    """
    with Receiver() as receiver:
        installation.hook(receiver, TENANT)
        installation.service()
        dying, expected = installation.worker(fault), ExpectedEvents()
        words(installation, expected)
        installation.gone(dying)
        installation.worker()
        installation.settled()
        expected.check(f"worker killed {fault}", receiver.received)


@pytest.mark.night
def test_a_queue_that_forgets_everything(installation: Installation) -> None:
    """The words to the worker are lost before any worker saw them."""
    with Receiver() as receiver:
        installation.hook(receiver, TENANT)
        installation.service()
        expected = ExpectedEvents()
        words(installation, expected)
        installation.queue.flush()
        installation.worker()
        installation.settled()
        expected.check("queue emptied", receiver.received)


@pytest.mark.night
def test_a_receiver_that_is_down_and_comes_back(installation: Installation) -> None:
    """Retries go on while it is down; later changes of an object wait for the earlier ones."""
    with Receiver(port=free_port()) as receiver:
        pass
    installation.service()
    installation.worker()
    expected, port = ExpectedEvents(), receiver.port
    installation.hook(receiver, TENANT, retries=8)
    words(installation, expected, objects=2, changes=2)
    until(
        lambda: all(
            item["attempts"] for item in installation.deliveries(changed_object_id=expected.committed[0][0])[-1:]
        )
    )
    with Receiver(port=port) as again:
        installation.settled(90)
        expected.check("receiver down", again.received)


def slow(handler: Any, request: Received) -> None:
    """Longer than anybody waits."""
    time.sleep(IMPATIENT + 1)


def garbage(handler: Any, request: Received) -> None:
    """No HTTP at all."""
    handler.wfile.write(b"\x00\x01 nonsense\r\n\r\n")
    handler.close_connection = True


def cut(handler: Any, request: Received) -> None:
    """The connection ends in the middle of the answer."""
    handler.wfile.write(b"HTTP/1.1 2")
    handler.wfile.flush()
    handler.connection.close()


BROKEN: dict[str, Any] = {"500": 500, "301": 301, "slow": slow, "garbage": garbage, "cut": cut}


@impatient
@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.night
def test_a_broken_receiver_gets_its_messages_when_it_is_mended(installation: Installation, kind: str) -> None:
    """It is told again by hand; a good receiver beside it is not held up."""
    with Receiver(BROKEN[kind]) as bad, Receiver() as good:
        broken = installation.hook(bad, TENANT)
        installation.hook(good, TENANT)
        installation.service()
        installation.worker()
        expected = ExpectedEvents()
        words(installation, expected, objects=2, changes=1)
        good.wait(len(expected.committed), 120)
        expected.check(f"good one beside {kind}", good.received)
        installation.settled()
        assert {item["state"]["value"] for item in installation.deliveries(webhook_id=broken)} == {"failed"}
        bad.answer = 200
        before = len(bad.received)
        for item in sorted(installation.deliveries(webhook_id=broken), key=lambda item: item["id"]):
            installation.ask("POST", f"/api/extras/webhook-deliveries/{item['id']}/retry/", {}, 200)
            installation.settled()
        expected.check(f"receiver mended after {kind}", bad.received[before:])


@pytest.mark.night
def test_what_is_rolled_back_is_not_told(installation: Installation) -> None:
    with Receiver() as receiver:
        installation.hook(receiver, TENANT)
        installation.service()
        installation.worker()
        name, expected = uuid.uuid4().hex, ExpectedEvents()
        installation.ask(
            "POST", TENANTS, [{"name": name, "description": "never"}, {"name": name, "description": "never"}], 400
        )
        words(installation, expected, objects=1, changes=1)
        installation.settled()
        expected.check("rolled back", receiver.received)


def test_two_workers_at_once_keep_the_order_of_each_object(installation: Installation) -> None:
    with Receiver() as receiver:
        installation.hook(receiver, TENANT)
        installation.service()
        installation.worker()
        installation.worker()
        expected_events = [ExpectedEvents() for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda expected: words(installation, expected, objects=5, changes=10), expected_events))
        installation.settled()
        both = ExpectedEvents()
        both.committed = [change for expected in expected_events for change in expected.committed]
        both.check("two workers", receiver.received)


@pytest.mark.night
def test_ten_thousand_changes_in_one_request(installation: Installation) -> None:
    with Receiver() as receiver:
        installation.hook(receiver, TENANT)
        installation.service()
        installation.worker()
        expected = ExpectedEvents()
        bodies = [{"name": uuid.uuid4().hex, "slug": uuid.uuid4().hex, "description": "made"} for _ in range(10_000)]
        for tenant in installation.ask("POST", TENANTS, bodies, 201):
            expected.note(tenant["id"], "made")
        began = time.monotonic()
        installation.settled(300)
        print(f"{len(bodies) / (time.monotonic() - began):.0f} deliveries/s")
        expected.check("10,000 in one request", receiver.received)
