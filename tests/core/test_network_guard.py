"""The network guard of the tests: this machine can be reached, nothing else can, and a test that tries fails."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest
import requests

from tests.support.network_guard import RefusedConnection
from tests.support.receivers import Receiver

pytestmark = pytest.mark.any_database
DOCUMENTATION_ADDRESS = "192.0.2.1"  # nobody has it


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, (DOCUMENTATION_ADDRESS, 80)), (socket.AF_INET6, ("2001:db8::1", 80, 0, 0))]
)
def test_connections_to_other_machines_are_refused(
    refused_connections: list[object], method: str, family: socket.AddressFamily, address: tuple[object, ...]
) -> None:
    with socket.socket(family) as connection, pytest.raises(RefusedConnection, match="tests may not reach"):
        getattr(connection, method)(address)
    assert refused_connections == [address]


def test_datagrams_to_other_machines_are_refused(refused_connections: list[object]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender, pytest.raises(RefusedConnection):
        sender.sendto(b"x", (DOCUMENTATION_ADDRESS, 53))
    assert refused_connections == [(DOCUMENTATION_ADDRESS, 53)]


def test_an_address_of_this_machine_in_the_form_of_ipv6_is_reached(refused_connections: list[object]) -> None:
    with Receiver() as receiver, socket.socket(socket.AF_INET6) as connection:
        connection.connect(("::ffff:127.0.0.1", receiver.port))
    with socket.socket(socket.AF_INET6) as connection, pytest.raises(RefusedConnection):
        connection.connect((f"::ffff:{DOCUMENTATION_ADDRESS}", 80))
    assert len(refused_connections) == 1


@pytest.mark.parametrize("resolve", ["getaddrinfo", "gethostbyname", "gethostbyname_ex"])
def test_names_of_other_machines_are_unknown_at_once(refused_connections: list[object], resolve: str) -> None:
    arguments = ("receiver.example.com", 80) if resolve == "getaddrinfo" else ("receiver.example.com",)
    with pytest.raises(socket.gaierror):
        getattr(socket, resolve)(*arguments)
    assert refused_connections == []


def test_this_machine_is_reached_by_name_and_address(refused_connections: list[object]) -> None:
    with Receiver() as receiver:
        for host in ("127.0.0.1", "localhost", "127.1", "0x7f000001"):
            assert requests.get(f"http://{host}:{receiver.port}/", timeout=10).status_code == 200
    assert refused_connections == []


def test_unix_sockets_are_reached(refused_connections: list[object], tmp_path: Path) -> None:
    place = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(place)
        server.listen()
        client.connect(place)
    assert refused_connections == []


def test_threads_are_guarded_too(refused_connections: list[object]) -> None:
    errors: list[OSError] = []

    def reach() -> None:
        try:
            socket.create_connection((DOCUMENTATION_ADDRESS, 80), timeout=1)
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=reach)
    thread.start()
    thread.join()
    assert [type(error) for error in errors] == [RefusedConnection]
    assert refused_connections == [(DOCUMENTATION_ADDRESS, 80)]


@pytest.mark.night
def test_a_test_that_reaches_for_another_machine_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Even when the code under test handles the error."""
    pytester.makeconftest(
        """
        from tests.support.network_fixtures import _refused_connections_fail, network_guard
        """
    )
    pytester.makepyfile(
        """
        import contextlib, socket

        def test_that_reaches_out():
            with contextlib.suppress(OSError), socket.socket() as connection:
                connection.connect(("192.0.2.1", 80))

        def test_that_stays_here():
            with contextlib.suppress(ConnectionRefusedError), socket.socket() as connection:
                connection.connect(("127.0.0.1", 1))
        """
    )
    monkeypatch.setenv("PYTHONPATH", str(request.config.rootpath), prepend=os.pathsep)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*tests may not reach*192.0.2.1*"])
