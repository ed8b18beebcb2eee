"""Token buckets in Redis, which all processes of a service share."""

from __future__ import annotations

import logging
import time

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from netinv_core.rates import MemoryBuckets, Rate

log = logging.getLogger(__name__)
PREFIX = "netinv:rate:"
TIMEOUT = 0.25  # seconds for connecting, and for an answer: requests wait for it
PAUSE = 5.0  # seconds until Redis is tried again
# Adds the tokens of the time since the last use, takes one, and returns the seconds to wait if there was none.
_TAKE = """
local capacity, per_second = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = math.min(capacity, (tonumber(bucket[1]) or capacity)
    + math.max(now - (tonumber(bucket[2]) or now), 0) * per_second)
local wait = 0
if tokens >= 1 then tokens = tokens - 1 else wait = (1 - tokens) / per_second end
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(capacity / per_second * 1000))
return tostring(wait)
"""


class RedisBuckets:
    """Token buckets by key; in the memory of this process while Redis cannot be reached."""

    def __init__(self, url: str) -> None:
        client = Redis.from_url(
            url, retry=Retry(NoBackoff(), 1), socket_connect_timeout=TIMEOUT, socket_timeout=TIMEOUT
        )
        self._take = client.register_script(_TAKE)
        self._own = MemoryBuckets()
        self._away_until = 0.0  # monotonic

    def take(self, key: str, rate: Rate) -> float:
        """Takes a token. Returns 0, or the seconds until there is one."""
        if time.monotonic() < self._away_until:
            return self._own.take(key, rate)
        try:
            return float(self._take([f"{PREFIX}{key}"], [rate.requests, rate.per_second]))
        except RedisError as error:
            if not self._away_until:
                log.warning("rate limits are counted by each process: Redis cannot be reached: %s", error)
            self._away_until = time.monotonic() + PAUSE
            return self._own.take(key, rate)
