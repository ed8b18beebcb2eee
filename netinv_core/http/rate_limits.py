"""Rate limits of requests: of each client address, checked before anything else, and of each token, or each user with a
session, checked once the request is authenticated. A request above the limit is answered 429 with ``Retry-After``.

The token buckets are in Redis if the queue is, otherwise in the memory of each process.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from netinv_core.auth.account import Identity
from netinv_core.caches import lru_cache
from netinv_core.errors import TooManyRequests
from netinv_core.net import addresses
from netinv_core.rates import MemoryBuckets, Rate
from netinv_core.telemetry import metrics

if TYPE_CHECKING:
    from pyramid.request import Request

REFUSED = "Too many requests."


class TokenBuckets(Protocol):
    """Token buckets by key."""

    def take(self, key: str, rate: Rate) -> float:
        """Takes a token. Returns 0, or the seconds until there is one."""


@lru_cache("connections", 64)
def buckets_for(queue_url: str) -> TokenBuckets:
    """The buckets of this process, or of all processes that have a queue in Redis."""
    if queue_url.startswith(("redis:", "rediss:", "unix:")):
        from netinv_core.tasks.redis_buckets import RedisBuckets  # the library is an extra

        return RedisBuckets(queue_url)
    return MemoryBuckets()


def check_address(environ: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Counts a request of an address (IPv6: of its /64).

    :raises TooManyRequests: above ``netinv.rate_limit_address``
    """
    _check("address", addresses.client_network(environ.get("REMOTE_ADDR") or ""), settings)


def check_identity(request: Request, identity: Identity) -> None:
    """Counts a request of a token, or of a user with a session or password; call it where the limit is set.

    :raises TooManyRequests: above ``netinv.rate_limit_token``
    """
    key = identity.user_id if identity.token is None else identity.token.id
    _check("token", str(key), request.registry.netinv.settings)


def _check(limit: str, key: str, settings: Mapping[str, Any]) -> None:
    seconds = buckets_for(settings["queue_url"]).take(f"{limit}:{key}", settings[f"rate_limit_{limit}"])
    if seconds > 0:
        metrics.RATE_LIMITED.labels(limit).inc()
        raise TooManyRequests(math.ceil(seconds), REFUSED)
