"""A whole installation for a crash test: a database and a queue of its own, and the processes that a test starts and
kills.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import requests
from sqlalchemy.engine import Engine, make_url

from netinv_core.tasks import queue as task_queue
from netinv_testing import Service
from tests.support.processes import processor_seconds
from tests.support.receivers import Received, Receiver
from tests.support.waiting import until

PROCESS = Path(__file__).with_name("process.py")
SECRET = "for crash tests only, 32 characters"
PATIENCE = 60.0
LITTLE = 0.1  # seconds of processor time that processes use in a second in which they do nothing
PATIENT = 60  # seconds for an answer of a receiver: no good one is too slow on a busy machine


class Installation:
    """``service()`` and ``worker()`` start processes, ``kill`` ends one; ``ask`` sends a request to the service that runs.

    :param timeout: seconds that the worker waits for an answer of a receiver
    """

    def __init__(self, engine: Engine, folder: Path, queue_url: str, timeout: int = PATIENT) -> None:
        url = make_url(str(engine.url.render_as_string(hide_password=False)))
        self.settings = {
            "netinv.database_url": url.render_as_string(hide_password=False),
            "netinv.queue_url": queue_url,
            "netinv.secret": SECRET,
            "netinv.media_root": str(folder / "media"),
            "netinv.webhook_allow": "127.0.0.0/8",
            "netinv.webhook_connect_timeout": str(timeout),
            "netinv.webhook_read_timeout": str(timeout),
            "netinv.webhook_total_timeout": str(timeout),
            "netinv.template_total_timeout": "1",  # the lease of a worker is twice the sum of both
        }
        self.queue = task_queue.queue(queue_url)
        self.queue.flush()
        self._log = (folder / f"processes-{uuid.uuid4().hex[:6]}.log").open("wb")
        self._running: list[subprocess.Popen[bytes]] = []
        self.inside = Service(engine, {"netinv.secret": SECRET})
        self.headers = {"Authorization": f"Token {self.inside.admin.token}"}
        self.url = ""

    def __enter__(self) -> Installation:
        return self

    def __exit__(self, *_: object) -> None:
        for process in list(self._running):
            self.kill(process)
        self._log.close()
        self.queue.flush()

    def _start(self, kind: str, fault: str, memory: int = 0) -> tuple[subprocess.Popen[bytes], str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(PROCESS), kind, json.dumps(self.settings), fault, str(memory)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, env=environment)
        self._running.append(process)
        assert process.stdout is not None
        said = process.stdout.readline().decode().strip()
        assert said, f"the {kind} did not start, see {self._log.name}"
        return process, said

    def service(self, fault: str = "", memory: int = 0) -> subprocess.Popen[bytes]:
        """A service that answers at ``url``; with ``memory``, it gets that many more bytes once it has started."""
        process, port = self._start("service", fault, memory)
        self.url = f"http://127.0.0.1:{port}"
        return process

    def worker(self, fault: str = "", memory: int = 0) -> subprocess.Popen[bytes]:
        """A worker; with ``memory``, it gets that many more bytes once it has started."""
        return self._start("worker", fault, memory)[0]

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """kill -9."""
        process.kill()
        self.gone(process)

    def gone(self, process: subprocess.Popen[bytes], seconds: float = PATIENCE) -> None:
        """Waits until a process has ended."""
        process.wait(seconds)
        if process in self._running:
            self._running.remove(process)
            assert process.stdout is not None
            process.stdout.close()

    def ask(self, method: str, path: str, body: Any = None, status: int | None = None) -> Any:
        """Asks the service; what it answers."""
        answer = requests.request(method, f"{self.url}{path}", json=body, headers=self.headers, timeout=300)
        assert status is None or answer.status_code == status, answer.text[:500]
        return answer.json() if answer.content else None

    def hook(self, receiver: Receiver, *types: str, retries: int = 0, **fields: Any) -> str:
        """A webhook that tells a receiver of everything that happens to objects of some types; its id."""
        body = {
            "name": uuid.uuid4().hex,
            "content_types": list(types),
            "payload_url": receiver.url,
            "type_create": True,
            "type_update": True,
        }
        given = {**body, "type_delete": True, "retries": retries, "retry_after": 1, **fields}
        return str(self.inside.api.post("/api/extras/webhooks/", given)["id"])

    def deliveries(self, **query: Any) -> list[dict[str, Any]]:
        """The deliveries that there are."""
        found: list[dict[str, Any]] = self.inside.api.get("/api/extras/webhook-deliveries/", {"limit": 0, **query})[
            "results"
        ]
        return found

    def idle(self) -> None:
        """Waits until the workers have done what they were called for when processes started: no process computes."""
        until(lambda: len(self.queue) == 0)
        before = -1.0
        while (used := sum(processor_seconds(process.pid) for process in self._running)) - before > LITTLE:
            before = used
            time.sleep(1)

    def settled(self, seconds: float = PATIENCE, **query: Any) -> None:
        """Waits until nothing is queued any more."""
        until(
            lambda: (
                self.inside.api.get("/api/extras/webhook-deliveries/", {"state": "queued", "limit": 1, **query})[
                    "count"
                ]
                == 0
            ),
            seconds,
        )


class ExpectedEvents:
    """Committed changes, compared with the events that a receiver got: duplicates are counted; losses and disorder fail
    the test.
    """

    def __init__(self) -> None:
        self.committed: list[tuple[str, str]] = []

    def note(self, key: str, description: str) -> None:
        """Adds a committed change of an object, told from its other changes by its description."""
        self.committed.append((key, description))

    def check(self, name: str, received: list[Received], *, others: bool = False) -> None:
        """Asserts that every committed change was received, nothing else, and first receipts of an object in order;
        prints the counts.
        """
        events = [
            (body["data"]["id"], body["data"]["description"]) for body in (json.loads(item.body) for item in received)
        ]
        first_receipts = list(dict.fromkeys(events))
        lost = set(self.committed) - set(events)
        duplicates = len(events) - len(first_receipts)
        print(
            f"{name}: {len(self.committed)} changes committed, {len(events)} messages received, {duplicates} duplicates, {len(lost)} lost"
        )
        assert lost == set()
        assert others or set(events) <= set(self.committed)
        received_by_object = _by_object(first_receipts)
        for key, descriptions in _by_object(self.committed).items():
            assert received_by_object[key] == descriptions


def _by_object(changes: list[tuple[str, str]]) -> dict[str, list[str]]:
    """The descriptions of changes by object, in order."""
    descriptions: dict[str, list[str]] = {}
    for key, description in changes:
        descriptions.setdefault(key, []).append(description)
    return descriptions
