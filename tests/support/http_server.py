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
    server = waitress.server.create_server(app, host="127.0.0.1", port=0, threads=8, **options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.trigger.pull_trigger(lambda: _close(server))  # in the thread of the server's loop, which ends then
        thread.join(5)
        server.task_dispatcher.shutdown()


def _close(server: Any) -> None:
    """Closes the socket of the server and the connections that clients keep open."""
    for channel in list(server.active_channels.values()):
        channel.handle_close()
    server.close()
