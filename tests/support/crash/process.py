"""A service or a worker as a process of its own, for crash tests: ``python process.py service|worker '{settings}'
[fault] [memory]``.

``memory`` limits the address space of the process to that many bytes more than it has when it has started.

A fault kills the process, as a power cut would, the first time it comes to that point:
``after-commit`` (committed, the worker not yet woken), ``before-send`` (claimed, nothing sent), ``before-record``
(sent, not recorded), ``before-store`` (written, the answer not stored), ``before-commit`` (the answer stored),
``before-answer`` (committed, not answered).
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import waitress

from netinv_core import main as service
from netinv_core import stored_answers, worker_tasks
from netinv_core.changelog.change_set import ChangeSet
from netinv_core.http import pipeline
from netinv_core.tasks import queue as task_queue
from netinv_extras.webhooks.http_client import Sender
from netinv_extras.webhooks.outbox import Outbox


def die(*_: Any, **__: Any) -> Any:
    """Nothing is tidied up."""
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS: dict[str, tuple[Any, str]] = {
    "after-commit": (task_queue, "enqueue"),
    "before-send": (Sender, "send"),
    "before-record": (Outbox, "record"),
    "before-store": (stored_answers, "store"),
    "before-commit": (ChangeSet, "write"),
    "before-answer": (pipeline, "_complete"),
}


def main(kind: str, text: str, fault: str = "", memory: str = "0") -> None:
    """Runs until it is killed."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    settings = json.loads(text)
    port = settings.pop("port", "0")
    if kind == "service":
        app = service.main(**settings)
        _break(fault)
        server = waitress.create_server(app, host="127.0.0.1", port=int(port), threads=4)
        _limit(int(memory))
        print(server.effective_port, flush=True)
        server.run()
        return
    known, packages = service.read_settings(settings)
    engine = service.engine_for(known)
    huey = task_queue.queue(known["queue_url"])
    worker_tasks.add_tasks(huey, engine, service.registry_for(engine.dialect.name, known, packages))
    _break(fault)
    _limit(int(memory))
    print("ready", flush=True)
    huey.create_consumer(workers=2, worker_type="thread").run()


def _limit(memory: int) -> None:
    if memory:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _break(fault: str) -> None:
    if fault:
        place, name = FAULTS[fault]
        assert hasattr(place, name)
        setattr(place, name, die)


if __name__ == "__main__":
    main(*sys.argv[1:])
