"""HTTP to the identity provider: TLS is verified, addresses are checked (SSRF), no redirects, a limited time."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from netinv_core.net.ssrf import Guard, own_services


def guard_of(settings: Mapping[str, Any]) -> Guard:
    """Returns the guard: public addresses, and those that ``netinv.oidc_allow`` names."""
    return Guard(settings["oidc_allow"], "netinv.oidc_allow", own_services(settings))


def protect(session: requests.Session, settings: Mapping[str, Any]) -> None:
    """Lets a session connect to allowed addresses only, without redirects and proxies of the environment."""
    session.trust_env = False
    session.max_redirects = 0
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(guard_of(settings), settings["oidc_timeout"]))


class _Adapter(HTTPAdapter):
    """Adapter whose connections are checked before anything is sent."""

    def __init__(self, guard: Guard, timeout: float) -> None:
        self._timeout = timeout
        super().__init__()
        self.poolmanager.pool_classes_by_scheme = _pools(guard)

    def send(self, request: Any, *arguments: Any, **named: Any) -> requests.Response:
        named["timeout"] = self._timeout
        return super().send(request, *arguments, **named)


def _pools(guard: Guard) -> dict[str, Any]:
    """Classes of connection pools by scheme. The address of the connected socket is checked, so a name that resolves
    differently later (DNS rebinding) gains nothing.
    """

    def check(connection: HTTPConnection, sock: socket.socket) -> socket.socket:
        address = ipaddress.ip_address(str(sock.getpeername()[0]).partition("%")[0])
        try:
            guard.check(connection.host, address, connection.port or connection.default_port)
        except BaseException:
            sock.close()
            raise
        return sock

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return check(self, super()._new_conn())

    class Tls(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return check(self, super()._new_conn())

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = Tls

    return {"http": PlainPool, "https": TlsPool}
