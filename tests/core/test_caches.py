"""Caches of a process are bounded, whatever clients ask for."""

from __future__ import annotations

import itertools

import pytest

from bench.variety import requests
from netinv_core import caches
from netinv_core.caches import BoundedCache
from netinv_core.uow import MAX_CONFIGURATION
from netinv_testing import Samples, Service
from netinv_web.testing import Browser

SENT = 1000  # requests; 500 statements are compiled for later use, and half as many more before some are dropped


@pytest.mark.slow
@pytest.mark.any_database
@pytest.mark.night
def test_requests_of_endless_variety_do_not_fill_the_memory(service: Service, browser: Browser) -> None:
    """Every cache stays within its size, and those that the requests fill are full."""
    for label in ("dcim.interface", "ipam.ipaddress"):
        Samples(service).make(service.registry[label])
    for number, request in enumerate(itertools.islice(requests(seed=1), SENT)):
        if request.is_page:
            browser.get(request.path)
        else:
            service.api.send(request.method, f"/api/{request.path}", request.body, status=200)
        if number == SENT // 2:
            derived = len(service.registry.derived)
    weights = [(name, weight, size) for name, weight, size in caches.weights()]
    assert [entry for entry in weights if entry[1] > entry[2]] == []
    assert {name for name, weight, size in weights if weight > 0.9 * size} >= {"plans", "regular expressions"}
    assert {name for name, weight, _ in weights if weight} >= {"GraphQL plans", "query parameters"}
    assert len(service.registry.derived) == derived
    assert service.registry.configuration_counts.take().entries <= MAX_CONFIGURATION
    statements = service.engine._compiled_cache
    assert statements is not None
    assert statements.capacity < len(statements) <= statements.capacity * (1 + statements.threshold)


def test_a_cache_drops_by_weight_what_was_not_used_for_longest() -> None:
    cache = BoundedCache[str]("test", 10, len)
    for text in ("aaaa", "bbb", "cc"):
        cache.set(text[0], text)
    assert cache.get("a") == "aaaa"
    cache.set("d", "dd")
    assert cache.get("b") is None
    assert [cache.get(key) for key in "acd"] == ["aaaa", "cc", "dd"]
    assert cache.weight == 8
    cache.set("c", "c")  # in place of another value
    cache.forget("a")
    assert (cache.weight, len(cache)) == (3, 2)
    assert cache.get_or_make("e", lambda: "e" * 11) == "e" * 11
    assert cache.get("e") is None  # too heavy to be kept
    assert (cache.weight, len(cache)) == (3, 2)


def test_configuration_values_of_a_process_are_bounded(service: Service) -> None:
    with service.unit_of_work() as uow:
        kept: dict[object, object] = {}
        uow.configuration.cached = kept
        for number in range(MAX_CONFIGURATION + 5):
            assert uow.cached_config(("test", number), lambda uow: None) is None
        assert len(kept) == MAX_CONFIGURATION
        assert ("test", 0) not in kept
