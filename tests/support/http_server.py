"""A WSGI application behind a real socket."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import waitress.server


@contextlib.contextmanager
def served(app: Any, **options: Any) -> Iterator[str]:
    """The address at which the application answers while the block runs."""
    sockets: dict[int, Any] = {}
    server = waitress.server.create_server(app, map=sockets, host="127.0.0.1", port=0, threads=8, **options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.trigger.pull_trigger(lambda: _end(server, sockets))  # in the thread of the server's loop
        thread.join(5)
        server.task_dispatcher.shutdown()
        server.close()  # its trigger too, the descriptor of a pipe to which tasks write until they end


def _end(server: Any, sockets: dict[int, Any]) -> None:
    """Ends the loop of the server, and closes the connections that clients keep open."""
    for channel in list(server.active_channels.values()):
        channel.handle_close()
    sockets.clear()
