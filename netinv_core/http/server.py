"""Server of ``pserve``: Waitress, with an end that cuts no answer (``use = egg:netinv-core`` in ``[server:main]``).

At SIGTERM the service stops in steps:

1. ``/health/ready`` answers 503. For ``shutdown_delay`` seconds it serves on, so that balancers that ask learn it.
2. It accepts what waits at the port and closes it: new connections are refused, and proxies take another process.
3. Answers carry ``Connection: close``. Connections with a request are served for ``shutdown_timeout`` seconds at most,
   idle ones are kept for :data:`LINGER`: a proxy may be sending a request on one.

Each of its settings has an environment variable, which wins: ``NETINV_SERVER_THREADS`` is ``threads``.

At SIGHUP it rereads its ini file (:mod:`netinv_core.reloading`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer, create_server
from waitress.task import ErrorTask, WSGITask

from netinv_core import reloading
from netinv_core.http.health import stopping
from netinv_core.nearest import advice
from netinv_core.setting_variables import SERVER

log = logging.getLogger(__name__)
MAX_PORT = 65_535
DEFAULT_ADDRESS = "127.0.0.1:8080"
NO_TEXTS = {"socket_options"}
SETTINGS = frozenset(
    {name for name, value in inspect.getmembers(Adjustments) if not (name.startswith("_") or callable(value))}
    - NO_TEXTS
    | {"shutdown_delay", "shutdown_timeout"}
)
LINGER = 2.0  # seconds for which an idle connection is kept once the port is closed
INTERVAL = 0.2  # seconds between two looks at what is still served


class _LastAnswers:
    """Adds ``Connection: close`` to the answers of a service that stops."""

    request: Any

    def build_response_header(self) -> Any:
        """The status line and headers."""
        if stopping.is_set():
            self.request.headers["CONNECTION"] = "close"
        task: Any = super()
        return task.build_response_header()


class _Task(_LastAnswers, WSGITask):  # type: ignore[misc]
    """Task of a request."""


class _ErrorTask(_LastAnswers, ErrorTask):  # type: ignore[misc]
    """Task of a request that cannot be read."""


class ClientConnection(HTTPChannel):  # type: ignore[misc]
    """Connection of a client."""

    task_class, error_task_class = _Task, _ErrorTask

    @property
    def is_busy(self) -> bool:
        """True while it has a request, a part of one, or an answer that is not sent."""
        return bool(self.requests or self.request is not None or self.total_outbufs_len)


def server_of(global_config: Mapping[str, str], **settings: Any) -> Callable[[Any], int]:
    """The function that serves an application, for the settings of Waitress and ``shutdown_delay`` and
    ``shutdown_timeout`` in seconds. ``pserve … port=8001`` serves at another port.

    :raises SystemExit: with the reason, when a setting is wrong, or the address cannot be listened at
    """
    limits = {"delay": 0.0, "timeout": 25.0}
    try:
        settings = merge_settings(settings, {**of_variables(os.environ), **_port(global_config)})
        limits = {name: float(settings.pop(f"shutdown_{name}", value)) for name, value in limits.items()}
        adjustments = _adjustments(settings)
        for family, kind, protocol, address in [] if adjustments.unix_socket else adjustments.listen:
            with socket.socket(family, kind, protocol) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(address)
    except (OSError, ValueError) as error:
        address = settings.get("unix_socket") or settings.get("listen", "the address")
        remedy = "`port=N` on the command line takes another" if isinstance(error, OSError) else "Correct [server:main]"
        raise SystemExit(f"cannot serve at {address}: {str(error).rstrip('.')}. {remedy}") from None
    return functools.partial(serve, settings, **limits)


def _adjustments(settings: Mapping[str, Any]) -> Adjustments:
    """The settings of Waitress.

    :raises ValueError: naming the setting that is wrong, and what is expected
    """
    for name in settings:
        if name not in SETTINGS:
            raise ValueError(f"{name} is no setting of the server; {advice(name, sorted(SETTINGS))}")
    for address in str(settings.get("listen", DEFAULT_ADDRESS)).split() or [""]:
        port = address.rpartition(":")[2]
        if not address or (port.isdecimal() and int(port) > MAX_PORT):
            raise ValueError(
                f"listen = {address}: expected HOST:PORT, such as {DEFAULT_ADDRESS}, ports up to {MAX_PORT}"
            )
    path = settings.get("unix_socket")
    if path and not Path(path).parent.is_dir():
        raise ValueError(f"unix_socket = {path}: there is no folder {Path(path).parent}")
    try:
        return Adjustments(**settings)
    except ValueError as error:
        raise ValueError(_name_setting(settings, str(error).rstrip("."))) from None


def _name_setting(settings: Mapping[str, Any], reason: str) -> str:
    """The reason why settings are refused, with the one without which they would be taken: some need others."""
    for name, value in settings.items():
        with contextlib.suppress(ValueError):
            Adjustments(**{other: settings[other] for other in settings if other != name})
            expected = f"; expected: HOST:PORT, such as {DEFAULT_ADDRESS}" if name == "listen" else ""
            return f"{name} = {value}: {reason}{expected}"
    return reason


def _port(global_config: Mapping[str, str]) -> dict[str, str]:
    return {"port": global_config["port"]} if "port" in global_config else {}


def of_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """The settings of the server that environment variables give.

    :raises ValueError: naming a variable of no setting
    """
    given = {name.removeprefix(SERVER).lower(): value for name, value in variables.items() if name.startswith(SERVER)}
    for name in given:
        if name not in SETTINGS:
            hint = advice(name, sorted(SETTINGS))
            raise ValueError(f"{SERVER}{name.upper()} is the environment variable of no setting of the server; {hint}")
    return given


def merge_settings(settings: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """The settings of the ini file with those that are ``given`` besides: a host or a port alone replaces that of
    ``listen``.
    """
    addresses = {"listen", "host", "port"}
    if not addresses & given.keys():
        return {**settings, **given}
    others = {name: value for name, value in {**settings, **given}.items() if name not in addresses}
    if "listen" in given and "port" not in given:
        return {**others, "listen": given["listen"]}
    host, _, port = str(given.get("listen") or settings.get("listen") or DEFAULT_ADDRESS).rpartition(":")
    place = {"host": host, "port": port, **{name: settings[name] for name in ("host", "port") if name in settings}}
    place |= {name: given[name] for name in ("host", "port") if name in given}
    name = str(place["host"]).strip("[]")
    return {**others, "listen": f"[{name}]:{place['port']}" if ":" in name else f"{name}:{place['port']}"}


def serve(settings: Mapping[str, Any], app: Any, *, delay: float, timeout: float) -> int:
    """Serves an application until SIGTERM or SIGINT.

    :returns: 0, the exit code
    """
    signal.signal(signal.SIGTERM, lambda number, frame: stopping.set())
    reloading.listen()
    connections: dict[int, Any] = {}
    server = create_server(app, map=connections, **settings)
    for listener in _listeners(connections):
        listener.channel_class = ClientConnection
    server.print_listen("Serving on http://{}:{}")

    def loop(interval: float, until: Callable[[], bool]) -> None:
        while not until():
            wasyncore.loop(timeout=interval, use_poll=server.adj.asyncore_use_poll, map=connections, count=1)
            reloading.reload_if_requested()

    try:
        loop(server.adj.asyncore_loop_timeout, stopping.is_set)
        log.info("stopping: requests that are being served are finished")
        end = time.monotonic() + delay
        loop(INTERVAL, lambda: time.monotonic() >= end)
        _close_ports(connections)
        _finish(connections, loop, timeout)
    except (SystemExit, KeyboardInterrupt):
        pass
    server.task_dispatcher.shutdown()
    wasyncore.close_all(connections)
    return 0


def _listeners(connections: Mapping[int, Any]) -> list[BaseWSGIServer]:
    return [item for item in connections.values() if isinstance(item, BaseWSGIServer)]


def _close_ports(connections: Mapping[int, Any]) -> None:
    """Accepts the connections that wait, and closes the ports. The workers of Waitress still need its triggers."""
    for listener in _listeners(connections):
        accepted = -1
        while accepted != len(listener.active_channels):
            accepted = len(listener.active_channels)
            listener.handle_accept()
        listener.del_channel()
        listener.socket.close()


def _finish(connections: Mapping[int, Any], loop: Callable[..., None], timeout: float) -> None:
    """Serves the connections until none is busy, and idle ones have been kept for a while."""
    start = time.monotonic()

    def is_done() -> bool:
        passed = time.monotonic() - start
        channels = [item for item in connections.values() if isinstance(item, ClientConnection)]
        busy = any(channel.is_busy for channel in channels)
        return not channels or passed >= timeout or (not busy and passed >= min(LINGER, timeout))

    loop(INTERVAL, is_done)
    if busy := sum(isinstance(item, ClientConnection) and item.is_busy for item in connections.values()):
        log.warning("stopped with %d requests that were not finished in %g seconds", busy, timeout)
