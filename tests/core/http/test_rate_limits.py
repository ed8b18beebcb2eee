"""Rate limits of addresses and of tokens: 429 with Retry-After, in the memory of a process or in Redis."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from netinv_core import rates
from netinv_core.http import rate_limits
from netinv_core.rates import MemoryBuckets, Rate
from netinv_core.settings import read
from netinv_core.tasks.redis_buckets import PREFIX, RedisBuckets
from netinv_testing import Service

REDIS = os.environ.get("NETINV_TEST_QUEUE", "")
SITES, HOUR = "/api/dcim/sites/", 3600


@pytest.fixture
def limited(service: Service) -> Any:
    """``with limited(token=2)``: so many requests an hour, counted from now on."""

    @contextlib.contextmanager
    def limit(**limits: int) -> Iterator[None]:
        rate_limits.buckets_for.cache_clear()
        named = {f"rate_limit_{name}": Rate(count, HOUR) for name, count in limits.items()}
        with service.configured(queue_url="", **named):
            yield
        rate_limits.buckets_for.cache_clear()

    return limit


@pytest.mark.parametrize(
    ("text", "rate"),
    [("", None), ("600/minute", Rate(600, 60)), (" 5/Second ", Rate(5, 1)), ("1/hour", Rate(1, 3600))],
)
def test_a_rate_is_a_number_and_a_period(text: str, rate: Any) -> None:
    assert rates.rate(text) == rate


@pytest.mark.parametrize("text", ["600", "0/minute", "-1/minute", "x/minute", "5/day", "5/", "1.5/second"])
def test_another_text_is_refused_with_the_setting(text: str) -> None:
    with pytest.raises(ValueError, match=r"netinv\.rate_limit_token"):
        read({"netinv.secret": "x" * 32, "netinv.rate_limit_token": text}, {})


def test_a_token_above_its_limit_is_answered_429(service: Service, limited: Any) -> None:
    first, second = service.user(superuser=True), service.user(superuser=True)
    with limited(token=2):
        for _ in range(2):
            first.api.get(SITES)
        answer = first.api.send("GET", SITES, status=429)
        assert 1 <= int(answer.headers["Retry-After"]) <= HOUR / 2
        assert answer.json["detail"].startswith("Too many requests. Try again in ")
        second.api.get(SITES)
    first.api.get(SITES)


def test_an_address_above_its_limit_is_answered_without_a_statement(
    service: Service, limited: Any, statements: Any
) -> None:
    app = service.anonymous._app
    with limited(address=2):
        for address in ("192.0.2.9", "192.0.2.9", "2001:db8::1", "2001:db8::2"):
            app.get("/api/", extra_environ={"REMOTE_ADDR": address}, status=403)
        with statements() as found:
            for address in ("192.0.2.9", "2001:db8::3"):
                app.get("/api/", extra_environ={"REMOTE_ADDR": address}, status=429)
        assert not found
        app.get("/api/", extra_environ={"REMOTE_ADDR": "2001:db8:0:1::1"}, status=403)


def test_probes_have_no_limit(service: Service, limited: Any) -> None:
    with limited(address=1):
        for _ in range(3):
            service.anonymous.get("/health/live")


def test_limits_take_no_statement_more(service: Service, limited: Any, statements: Any) -> None:
    with limited(token=100, address=100), statements() as found:
        service.api.get("/api/")
    assert len(found) == 1


def test_a_bucket_fills_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(rates.time, "monotonic", lambda: clock[0])
    buckets, rate = MemoryBuckets(), Rate(2, 10)
    assert [buckets.take("a", rate) for _ in range(3)] == [0, 0, 5]
    clock[0] = 4.0
    assert buckets.take("a", rate) == pytest.approx(1)
    clock[0] = 5.0
    assert buckets.take("a", rate) == 0
    clock[0] = 1000.0
    assert [buckets.take("a", rate) > 0 for _ in range(3)] == [False, False, True]


def test_the_memory_of_buckets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MAX_BUCKETS", 10)
    buckets = MemoryBuckets()
    for number in range(100):
        buckets.take(str(number), Rate(1, 1))
    assert len(buckets) == 10


def test_without_redis_each_process_counts(closed_port: int, caplog: Any) -> None:
    buckets = RedisBuckets(f"redis://127.0.0.1:{closed_port}/0")
    assert [buckets.take("a", Rate(2, HOUR)) > 0 for _ in range(3)] == [False, False, True]
    assert len(caplog.records) == 1


@pytest.mark.skipif(not REDIS.startswith("redis"), reason="NETINV_TEST_QUEUE names no Redis")
def test_processes_share_buckets_in_redis(service: Service, tmp_path: Path) -> None:
    key = service.unique()
    one, other = RedisBuckets(REDIS), RedisBuckets(REDIS)
    waits = [buckets.take(key, Rate(3, 60)) for buckets in (one, other, one, other)]
    assert waits[:3] == [0, 0, 0] and 15 < waits[3] <= 20
    with Redis.from_url(REDIS) as redis:
        assert 0 < redis.pttl(f"{PREFIX}{key}") <= 60_000
        redis.delete(f"{PREFIX}{key}")
