"""Nothing that is committed goes untold, whatever is killed, lost or broken on the way; and per object it is told in order."""

from __future__ import annotations

import concurrent.futures
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from proofs.house import House, Ledger, until

from tests.conftest import empty_database, migrate, queue_in
from tests.receivers import Received, Receiver

TENANTS = "/api/tenancy/tenants/"
TENANT = "tenancy.tenant"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    """A migrated database of its own."""
    folder = tmp_path_factory.mktemp("proofs")
    with empty_database(folder) as engine:
        migrate(engine)
        yield engine, folder


@pytest.fixture
def house(installation: tuple[Any, Path]) -> Iterator[House]:
    """An installation without processes, and without webhooks of other tests."""
    engine, folder = installation
    queue = queue_in(folder)
    with House(engine, folder, queue) as found:
        yield found
        for hook in found.inside.api.get("/api/extras/webhooks/", {"limit": 0})["results"]:
            found.inside.api.delete(f"/api/extras/webhooks/{hook['id']}/")


def words(house: House, ledger: Ledger, objects: int = 3, changes: int = 3) -> None:
    """Creates tenants and changes each several times."""
    made = house.ask("POST", TENANTS, [{"name": uuid.uuid4().hex, "description": "made"} for _ in range(objects)], 201)
    for tenant in made:
        ledger.note(tenant["id"], "made")
    for number in range(changes):
        for tenant in made:
            house.ask("PATCH", f"{TENANTS}{tenant['id']}/", {"description": f"change {number}"}, 200)
            ledger.note(tenant["id"], f"change {number}")


def test_a_service_killed_between_the_commit_and_the_word_to_the_worker(house: House) -> None:
    with Receiver() as receiver:
        house.hook(receiver, TENANT)
        house.worker()
        dying, ledger = house.service("after-commit"), Ledger()
        house.idle()
        name = uuid.uuid4().hex
        with pytest.raises(requests.RequestException):
            house.ask("POST", TENANTS, {"name": name, "description": "made"})
        house.gone(dying)
        (tenant,) = house.inside.api.get(TENANTS, {"name": name})["results"]
        ledger.note(tenant["id"], "made")
        assert receiver.received == []
        house.service()
        receiver.wait(1, 120)
        house.settled()
        ledger.check("service killed after COMMIT", receiver.received)


@pytest.mark.parametrize("fault", ["before-send", "before-record"])
def test_a_worker_killed_on_the_way(house: House, fault: str) -> None:
    """Between claim and send, and between the receiver's answer and its recording: what was in hand is sent when its time is over."""
    with Receiver() as receiver:
        house.hook(receiver, TENANT)
        house.service()
        dying, ledger = house.worker(fault), Ledger()
        words(house, ledger)
        house.gone(dying)
        house.worker()
        house.settled()
        ledger.check(f"worker killed {fault}", receiver.received)


def test_a_queue_that_forgets_everything(house: House) -> None:
    """The words to the worker are lost before any worker saw them."""
    with Receiver() as receiver:
        house.hook(receiver, TENANT)
        house.service()
        ledger = Ledger()
        words(house, ledger)
        house.queue.flush()
        house.worker()
        house.settled()
        ledger.check("queue emptied", receiver.received)


def test_a_receiver_that_is_down_and_comes_back(house: House) -> None:
    """Retries go on while it is down; later changes of an object wait for the earlier ones."""
    with Receiver() as receiver:
        pass
    house.service()
    house.worker()
    ledger, port = Ledger(), receiver.port
    house.hook(receiver, TENANT, retries=8)
    words(house, ledger, objects=2, changes=2)
    until(lambda: all(item["attempts"] for item in house.deliveries(changed_object_id=ledger.committed[0][0])[-1:]))
    with Receiver(port=port) as again:
        house.settled(90)
        ledger.check("receiver down", again.received)


def slow(handler: Any, request: Received) -> None:
    """Longer than anybody waits."""
    time.sleep(1.5)


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


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_receiver_gets_its_messages_when_it_is_mended(house: House, kind: str) -> None:
    """It is told again by hand; a good receiver beside it is not held up."""
    with Receiver(BROKEN[kind]) as bad, Receiver() as good:
        broken = house.hook(bad, TENANT)
        house.hook(good, TENANT)
        house.service()
        house.worker()
        ledger = Ledger()
        words(house, ledger, objects=2, changes=1)
        good.wait(len(ledger.committed), 120)
        ledger.check(f"good one beside {kind}", good.received)
        house.settled()
        assert {item["state"]["value"] for item in house.deliveries(webhook_id=broken)} == {"failed"}
        bad.answer = 200
        before = len(bad.received)
        for item in sorted(house.deliveries(webhook_id=broken), key=lambda item: item["id"]):
            house.ask("POST", f"/api/extras/webhook-deliveries/{item['id']}/retry/", {}, 200)
            house.settled()
        ledger.check(f"receiver mended after {kind}", bad.received[before:])


def test_what_is_rolled_back_is_not_told(house: House) -> None:
    with Receiver() as receiver:
        house.hook(receiver, TENANT)
        house.service()
        house.worker()
        name, ledger = uuid.uuid4().hex, Ledger()
        house.ask("POST", TENANTS, [{"name": name, "description": "never"}, {"name": name, "description": "never"}], 400)
        words(house, ledger, objects=1, changes=1)
        house.settled()
        ledger.check("rolled back", receiver.received)


def test_two_workers_at_once_keep_the_order_of_each_object(house: House) -> None:
    with Receiver() as receiver:
        house.hook(receiver, TENANT)
        house.service()
        house.worker()
        house.worker()
        ledgers = [Ledger() for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda ledger: words(house, ledger, objects=5, changes=10), ledgers))
        house.settled()
        both = Ledger()
        both.committed = [change for ledger in ledgers for change in ledger.committed]
        both.check("two workers", receiver.received)


def test_ten_thousand_changes_in_one_request(house: House) -> None:
    with Receiver() as receiver:
        house.hook(receiver, TENANT)
        house.service()
        house.worker()
        ledger = Ledger()
        bodies = [{"name": uuid.uuid4().hex, "slug": uuid.uuid4().hex, "description": "made"} for _ in range(10_000)]
        for tenant in house.ask("POST", TENANTS, bodies, 201):
            ledger.note(tenant["id"], "made")
        began = time.monotonic()
        house.settled(300)
        print(f"{len(bodies) / (time.monotonic() - began):.0f} deliveries/s")
        ledger.check("10,000 in one request", receiver.received)
