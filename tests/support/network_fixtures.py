"""Fixtures that install the network guard for every test, and a port on which nobody listens."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.support.network_guard import NetworkGuard


@pytest.fixture(scope="session")
def network_guard() -> Iterator[NetworkGuard]:
    """The network guard, installed."""
    guard = NetworkGuard()
    guard.install()
    yield guard
    guard.uninstall()


@pytest.fixture(autouse=True)
def _refused_connections_fail(network_guard: NetworkGuard) -> Iterator[None]:
    """Fails a test during which a connection to another machine was refused."""
    network_guard.refused.clear()
    yield
    if network_guard.refused:
        addresses, network_guard.refused[:] = list(network_guard.refused), []
        pytest.fail(f"tests may not reach {addresses}")


@pytest.fixture
def refused_connections(network_guard: NetworkGuard, _refused_connections_fail: None) -> Iterator[list[object]]:
    """The addresses of refused connections, for tests that expect some; they do not fail the test."""
    yield network_guard.refused
    network_guard.refused.clear()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine on which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
