"""Answers that refuse an API version name one, as every answer."""

from __future__ import annotations

import pytest

from netinv_testing import Service


@pytest.mark.parametrize(
    ("accept", "query", "status"),
    [
        ("application/json; version=9.9", {}, 406),
        ("application/json", {"api_version": "9.9"}, 404),
        ("application/json; version=1.3", {"api_version": "1.4"}, 400),
        ("image/png", {}, 406),
        ("application/json", {"format": "zz"}, 404),
    ],
)
def test_refused_versions_have_the_header(service: Service, accept: str, query: dict[str, str], status: int) -> None:
    """It is the default version, in which the error is written."""
    answer = service.api.send("GET", "/api/dcim/sites/", query=query, headers={"Accept": accept}, status=status)
    assert answer.headers["API-Version"] == "1.2"
