"""Headers of reverse proxies for servers that do not read them, such as Gunicorn: a filter of PasteDeploy.

::

    [app:main]
    filter-with = proxy

    [filter:proxy]
    use = egg:netinv-core#proxy
    trusted_proxy = 127.0.0.1

Waitress reads the same headers by settings of its own section and needs no filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waitress.proxy_headers import proxy_headers_middleware

HEADERS = frozenset({"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"})


def filter_factory(
    global_config: Mapping[str, str] | None = None, *, trusted_proxy: str = "127.0.0.1", trusted_proxy_count: str = "1"
) -> Any:
    """``paste.filter_factory``: takes address, scheme and host of the client from ``X-Forwarded-…``.

    The headers of others than the trusted proxy are removed.

    :param trusted_proxy: the address of the proxy, or ``*`` where only a proxy can connect
    :param trusted_proxy_count: the number of proxies between the client and the service
    """

    def wrap(app: Any) -> Any:
        return proxy_headers_middleware(
            app,
            trusted_proxy=trusted_proxy.strip(),
            trusted_proxy_count=int(trusted_proxy_count),
            trusted_proxy_headers=set(HEADERS),
            clear_untrusted=True,
        )

    return wrap
