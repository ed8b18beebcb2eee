"""The service in the process of the benchmark: called through WSGI, without sockets, on transactions that can be
rolled back instead of committed.
"""

from __future__ import annotations

import configparser
import dataclasses
import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import psycopg
from sqlalchemy import event

from netinv_core.driver.read_connection import ReadConnection
from netinv_core.main import main

HOST = "127.0.0.1"


@dataclasses.dataclass(frozen=True)
class Statement:
    """An SQL statement as the driver gets it."""

    text: str
    parameters: Any
    many: bool
    in_transaction: bool


def roll_back(connection: psycopg.Connection[Any]) -> None:
    """Rolls back a transaction as a commit would end it: the statements that the driver has prepared are kept, which
    its own rollback deallocates.
    """
    connection.pgconn.exec_(b"ROLLBACK")


class InProcess:
    """A client of the service in this process, on a PostgreSQL database; it takes the calls of
    :class:`bench.client.Client`.

    ``seconds`` is the processor time of the last call, ``content`` the body of its answer, ``statements`` its SQL.
    """

    def __init__(self, ini: Path, headers: dict[str, str]) -> None:
        parser = configparser.ConfigParser()
        parser.read(ini)
        settings = {name: value for name, value in parser["app:main"].items() if name != "use"}
        self.headers = {"Content-Type": "application/json", **headers}
        self.statements: list[Statement] = []
        self.content = b""
        self.seconds = 0.0
        self._rolls_back = False
        self._app = main(**settings)
        self.engine = self._app.registry.netinv_engine
        self._listen()

    def _listen(self) -> None:
        """Notes the statements of the engine, and makes its connections roll back where they would commit."""
        client, thread = self, threading.current_thread()

        class Connection(psycopg.Connection[Any]):
            """A connection whose commit in this thread keeps what was written only outside of
            :meth:`rolled_back`.
            """

            def commit(self) -> None:
                if client._rolls_back and threading.current_thread() is thread:
                    roll_back(self)
                else:
                    super().commit()

        def note(connection: Any, cursor: Any, text: str, parameters: Any, context: Any, many: bool) -> None:
            if threading.current_thread() is thread:  # not those of background threads
                alone = isinstance(connection, ReadConnection) or cursor.connection.autocommit
                self.statements.append(Statement(text, parameters, many, not alone))

        def connect(dialect: Any, record: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
            return Connection.connect(*arguments, **options)

        event.listen(self.engine, "before_cursor_execute", note)
        event.listen(self.engine, "do_connect", connect)
        self.engine.dispose()  # closes the connections of the start

    @contextmanager
    def rolled_back(self) -> Iterator[None]:
        """Rolls back what requests write, so that one can be repeated."""
        self._rolls_back = True
        try:
            yield
        finally:
            self._rolls_back = False

    def call(self, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        """The decoded body of the answer.

        :raises RuntimeError: when the status is another than expected
        """
        environ = self._environ(method, path, b"" if body is None else orjson.dumps(body))
        answered: list[str] = []

        def start_response(status: str, headers: Any, error: Any = None) -> Any:
            answered.append(status)
            return None

        self.statements = []
        began = time.process_time()
        chunks = self._app(environ, start_response)
        self.content = b"".join(chunks)
        self.seconds = time.process_time() - began
        if int(answered[0][:3]) != expect:
            raise RuntimeError(f"{method} {path}: {answered[0]} instead of {expect}: {self.content[:500]!r}")
        return orjson.loads(self.content) if self.content else None

    def _environ(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """The WSGI environment of a request, as a server makes it."""
        path, _, query = path.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": f"/api/{path}",
            "QUERY_STRING": query,
            "SERVER_NAME": HOST,
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": HOST,
            "HTTP_HOST": HOST,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in self.headers.items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        return environ
