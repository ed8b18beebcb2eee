"""A worker with little memory and deliveries of large objects: it sends them one after the other, and lives on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from tests.support.crash.installation import Installation
from tests.support.databases import migrated_database, new_queue_url
from tests.support.receivers import Received, Receiver

pytestmark = [pytest.mark.crash, pytest.mark.night]
MEMORY = 5 << 28  # bytes of address space beyond what the worker has when it starts
SITES, TEXT = 10, 8_000_000  # the states of the changes are stored compressed
WEBHOOKS = 6
TIMES = {f"netinv.webhook_{kind}_timeout": "60" for kind in ("connect", "read", "total")}
SITE = "/api/dcim/sites/"


class Brief(Receiver):
    """A receiver that keeps the beginnings of what it gets."""

    def note(self, request: Received) -> None:
        super().note(dataclasses.replace(request, body=request.body[:1000]))


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Installation]:
    """An installation whose webhooks have large sites to send, and a site whose states are larger than an answer."""
    folder = tmp_path_factory.mktemp("large")
    with (
        migrated_database(folder, database_template) as engine,
        Installation(engine, folder, new_queue_url(folder)) as found,
    ):
        yield found


def test_a_worker_with_little_memory_sends_large_objects(installation: Installation) -> None:
    """Each change is inflated when it is sent; of the last one, whose states are too large, the attempt says so."""
    api, texts = installation.inside.api, ["x" * TEXT, "y" * (TEXT * 7 // 4)]  # MariaDB takes 16 MiB in a statement
    installation.settings |= {"netinv.max_answer_size": "20 MiB", **TIMES}
    with Brief() as receiver:
        for number in range(WEBHOOKS):
            installation.hook(receiver, "dcim.site", payload_url=f"{receiver.url}?{number}")
        for number in range(SITES):
            api.post(SITE, {"name": f"large {number}", "status": "active", "comments": texts[0]})
        small = api.post(SITE, {"name": "small", "status": "active"})
        changed = api.post(SITE, {"name": "changed", "status": "active", "comments": texts[1]})
        worker = installation.worker(memory=MEMORY)
        installation.settled(120)
        assert worker.poll() is None
        failed = installation.deliveries(state="failed")
        errors = {item["changed_object_id"]: api.get(item["url"])["history"] for item in failed}
        assert set(errors) == {changed["id"]}, [item[0]["error"] for item in errors.values()]
        (attempt,) = errors[changed["id"]]
        assert "netinv.max_answer_size" in attempt["error"]
        sent = receiver.wait(WEBHOOKS * (SITES + 1))
    assert sum(small["id"].encode() in request.body for request in sent) == WEBHOOKS
