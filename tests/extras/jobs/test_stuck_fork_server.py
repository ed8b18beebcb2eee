"""A fork server that does not answer: the worker ends all the same, and later runs have another server."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator

import pytest

from netinv_core.main import registry_for
from netinv_extras.jobs import forkserver, runner
from netinv_extras.jobs.forkserver import ForkServer
from netinv_testing import Service
from tests.support.databases import DIALECT


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    """A fork server whose process the system holds, as a debugger or a full disk would."""
    monkeypatch.setattr(forkserver, "CLOSE_TIMEOUT", 0.2)
    server = ForkServer(registry_for(DIALECT, {}))
    server.start({}).close()
    process = server._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    yield server
    server.close()
    assert process.poll() is not None


def test_it_is_killed_when_the_worker_ends(stopped: ForkServer, caplog: pytest.LogCaptureFixture) -> None:
    process = stopped._process
    stopped.close()
    assert process is not None
    assert process.returncode == -signal.SIGKILL
    assert "did not end within" in caplog.text
    stopped.close()  # nothing is left to end


def test_the_next_run_has_another_server(stopped: ForkServer) -> None:
    former = stopped._process
    stopped.close()
    stopped.start({}).close()
    assert stopped._process is not former
    assert stopped._process is not None
    assert stopped._process.poll() is None


def test_a_run_that_does_not_begin_ends_the_server(
    service: Service, stopped: ForkServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise no further run would begin either."""
    monkeypatch.setattr(runner, "START_TIMEOUT", 0.1)
    monkeypatch.setattr(runner, "STORE_INTERVAL", 0.05)
    worker = runner.Runner(service.engine, service.registry)
    monkeypatch.setattr(worker, "_fork_server", stopped)
    worker._run_in_process(uuid.uuid4(), uuid.uuid4())
    assert stopped._process is None
    assert "did not begin" in caplog.text
