"""HTTP to addresses that users name: connections go to allowed addresses only (:mod:`netinv_outgoing.ssrf`).

The host is resolved once, and connections go to the addresses that were checked. A name that resolves differently
between check and use (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util import Timeout

from netinv_outgoing.ssrf import Guard, checked_addresses


class GuardedConnection(HTTPConnection):
    """Connection whose addresses ``guard`` checks; an adapter sets it in a subclass of its own."""

    guard: ClassVar[Guard]

    def _new_conn(self) -> socket.socket:
        try:
            addresses = checked_addresses(self.guard, self._dns_host, self.port or self.default_port)
        except (OSError, UnicodeError) as error:
            raise NameResolutionError(self.host, self, cast(Any, error)) from error
        until = time.monotonic() + float(cast(Any, self.timeout))
        problem: OSError | None = None
        for family, kind, protocol, _, address in addresses:
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(max(until - time.monotonic(), 0.001))
                for option in self.socket_options or ():
                    sock.setsockopt(*option)
                sock.connect(address)
                sock.settimeout(cast(Any, self.timeout))
                return sock
            except OSError as error:
                sock.close()
                problem = error
        if isinstance(problem, TimeoutError):
            raise ConnectTimeoutError(self, "no connection") from problem
        raise NewConnectionError(self, str(problem)) from problem


class _TlsPool(HTTPSConnectionPool):
    def _validate_conn(self, conn: Any) -> None:
        if conn.is_closed:  # urllib3's method would also warn of certificates that are not verified
            conn.connect()


@dataclasses.dataclass(frozen=True)
class Target:
    """Method and URL of requests, as requests prepares them: ``path`` begins the request, ``headers`` have the
    credentials of the URL.
    """

    prepared: Any
    path: str
    headers: Mapping[str, Any]


def target_of(method: str, url: str) -> Target:
    """Returns the target of a method and a URL.

    :raises requests.RequestException: for a URL that is not one
    """
    prepared: Any = requests.Request(method, url).prepare()
    credentials = {name: value for name, value in prepared.headers.items() if name == "Authorization"}
    return Target(prepared, f"/{prepared.path_url.lstrip('/')}", credentials)


class GuardedAdapter(HTTPAdapter):
    """Adapter of requests with guarded connections.

    :param timeout: seconds to connect and between bytes, for requests that name none
    :param connection: class of the connections; over TLS, SNI and certificate check use the name of the host
    """

    def __init__(
        self,
        guard: Guard,
        timeout: float | tuple[float, float],
        connection: type[GuardedConnection] = GuardedConnection,
        **options: Any,
    ) -> None:
        self._timeout = timeout
        plain = type("Connection", (connection,), {"guard": guard})
        tls = type("TlsConnection", (plain, HTTPSConnection), {})
        self._pools = {
            "http": type("Pool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
            "https": type("TlsPool", (_TlsPool,), {"ConnectionCls": tls}),
        }
        super().__init__(**options)

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        """Makes the pools of guarded connections."""
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def send(self, request: Any, *arguments: Any, **named: Any) -> requests.Response:
        """Sends a request with a limited time."""
        if not arguments and named.get("timeout") is None:
            named["timeout"] = self._timeout
        return super().send(request, *arguments, **named)

    def exchange(self, target: Target, headers: Mapping[str, Any], body: bytes, verify: bool | str) -> Any:
        """Sends a request and returns urllib3's response, with its body unread. ``headers`` are all but the length and
        those of the target; ``verify`` is that of requests.

        :raises urllib3.exceptions.HTTPError: when there is no answer; or ``OSError``
        """
        prepared = target.prepared
        pool: Any = self.get_connection_with_tls_context(prepared, verify)
        cert_verify: Any = self.cert_verify
        cert_verify(pool, prepared.url, verify, None)
        connect, read = self._timeout if isinstance(self._timeout, tuple) else (self._timeout, self._timeout)
        return pool.urlopen(
            prepared.method,
            target.path,
            body=body or None,
            headers={**headers, **target.headers},
            redirect=False,
            assert_same_host=False,
            preload_content=False,
            decode_content=False,
            retries=self.max_retries,
            timeout=Timeout(connect=connect, read=read),
        )


def protect(session: requests.Session, guard: Guard, timeout: float) -> None:
    """Lets a session connect to allowed addresses only, without redirects and proxies of the environment."""
    session.trust_env = False
    session.max_redirects = 0
    for scheme in ("http://", "https://"):
        session.mount(scheme, GuardedAdapter(guard, timeout))
