"""Pagination rules: a test for each sentence of the specification's list."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from netinv_core.main import read_settings
from netinv_testing import Api, Service
from netinv_testing.client import SECRET

TENANTS = "/api/tenancy/tenants/"


@pytest.fixture(scope="session")
def word(service: Service) -> str:
    """Prefix of the names of 60 tenants, more than are on a page of the default size."""
    word = service.unique()
    service.api.post(TENANTS, [{"name": f"{word} {number:02}"} for number in range(60)])
    return word


def page_of(api: Api, word: str, **query: Any) -> Any:
    return api.get(TENANTS, {"name__isw": word, "brief": 1, **query})


def names(page: Any) -> list[str]:
    return [item["name"][-2:] for item in page["results"]]


def numbers(*span: int) -> list[str]:
    return [f"{number:02}" for number in range(*span)]


def test_the_default_page_size_is_50(service: Service, api: Api, word: str) -> None:
    """Rule 1: "default page size is … ``PAGINATE_COUNT`` (default 50)"."""
    assert service.settings["paginate_count"] == 50
    page = page_of(api, word)
    assert (names(page), page["count"]) == (numbers(50), 60)


@pytest.mark.parametrize("size", [1, 7, 60])
def test_the_default_page_size_is_the_parameter_paginate_count(api: Api, word: str, configured: Any, size: int) -> None:
    """Rule 1: "the configuration parameter ``PAGINATE_COUNT``"."""
    with configured(paginate_count=size):
        assert names(page_of(api, word)) == numbers(size)


def test_limit_and_offset_override_it_per_request(api: Api, word: str, configured: Any) -> None:
    """Rule 2: "``limit`` and ``offset`` override it per request"."""
    with configured(paginate_count=7):
        assert names(page_of(api, word, limit=9, offset=20)) == numbers(20, 29)
        assert names(page_of(api, word)) == numbers(7)


def test_next_and_previous_carry_limit_and_offset(api: Api, word: str) -> None:
    """Rule 2: "``next`` and ``previous`` carry these parameters"."""
    page = page_of(api, word, limit=20, offset=20)
    following, preceding = (parse_qs(urlsplit(page[name]).query) for name in ("next", "previous"))
    assert (following["limit"], following["offset"]) == (["20"], ["40"])
    assert (preceding["limit"], preceding.get("offset", ["0"])) == (["20"], ["0"])
    assert names(api.get(page["next"])) == numbers(40, 60) and names(api.get(page["previous"])) == numbers(20)


def test_there_is_no_next_at_the_end_and_no_previous_at_the_start(api: Api, word: str) -> None:
    """Rule 2, and the table of endpoints: "``next`` (URL or null), ``previous`` (URL or null)"."""
    first, last = page_of(api, word, limit=30), page_of(api, word, limit=30, offset=30)
    assert (first["previous"], last["next"]) == (None, None)
    assert names(api.get(first["next"])) == names(last) and names(api.get(last["previous"])) == names(first)


def test_the_maximum_page_size_is_1000_by_default(service: Service) -> None:
    """Rule 3: "``MAX_PAGE_SIZE`` (default 1000)"."""
    assert service.settings["max_page_size"] == 1000


def test_no_page_is_longer_than_the_maximum(api: Api, word: str, configured: Any) -> None:
    """Rule 3: "the maximum page size is ``MAX_PAGE_SIZE``"."""
    with configured(max_page_size=8):
        for limit in (9, 60, 0):
            assert names(page_of(api, word, limit=limit)) == numbers(8)


@pytest.mark.parametrize("text", ["0", "None"])
def test_0_or_none_removes_the_maximum(api: Api, word: str, configured: Any, text: str) -> None:
    """Rule 3: "setting it to 0 or None removes the maximum; then ``limit=0`` returns all matches"."""
    given, _ = read_settings({"netinv.secret": SECRET, "netinv.max_page_size": text})
    with configured(max_page_size=given["max_page_size"], paginate_count=5):
        for limit in (0, 60, 2000):
            page = page_of(api, word, limit=limit)
            assert (names(page), page["next"]) == (numbers(60), None)
