"""Requests are freed with their answers: no cycle of references keeps them until a garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyramid.request import Request

from netinv_testing import Api, Service

TENANTS = "/api/tenancy/tenants/"


@contextmanager
def _all_freed() -> Iterator[None]:
    gc.collect()
    before = _requests()
    gc.disable()
    try:
        yield
        assert _requests() == before
    finally:
        gc.enable()


def _requests() -> int:
    return sum(isinstance(item, Request) for item in gc.get_objects())


@pytest.mark.night
def test_a_request_that_reads_is_freed_with_its_answer(api: Api) -> None:
    api.get(TENANTS)
    with _all_freed():
        api.get(TENANTS)


@pytest.mark.night
def test_a_request_that_writes_is_freed_with_its_answer(service: Service, api: Api) -> None:
    with _all_freed():
        made = api.post(TENANTS, [{"name": service.unique()} for _ in range(2)])
        api.patch(made[0]["url"], {"description": "changed"})
        api.delete(TENANTS, [{"id": item["id"]} for item in made])
