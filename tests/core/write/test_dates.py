"""Dates and times in bodies and filters: those of ISO 8601 with separators, and no others that Python would read."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique

TOKENS, CIRCUITS, SITES = "/api/users/tokens/", "/api/circuits/circuits/", "/api/dcim/sites/"
DATES = {"2040-01-02": "2040-01-02", "2040-1-2": "2040-01-02"}
TIMES = {
    "2040-01-02T03:04:05Z": "2040-01-02T03:04:05",
    "2040-01-02 03:04": "2040-01-02T03:04:00",
    "2040-01-02T03:04:05.25+02:00": "2040-01-02T01:04:05.25",
    "2040-01-02T03:04:05+0530": "2040-01-01T21:34:05",
    "2040-1-2T3:04:05,1234567": "2040-01-02T03:04:05.123456",
}
NO_DATES = [
    "20400102",
    "2040-W01-1",
    "2040-01-02T00:00",
    "2040-02-30",
    "02/01/2040",
    "٢٠٤٠-01-02",
    "2040-01-02\n",
    20400102,
]
NO_TIMES = [
    "20400102T030405",
    "2040-W01-1T00:00",
    "2040-01-02x03:04",
    "2040-01-02T25:00",
    "2040-01-02",
    "2040-01-02T03",
]


@pytest.fixture
def circuit(make: Any) -> Any:
    """A circuit: it has a date."""
    parents = {"provider": make("/api/circuits/providers/")["id"], "type": make("/api/circuits/circuit-types/")["id"]}
    return make(CIRCUITS, cid="c", status="active", **parents)


def test_dates_are_year_month_and_day(api: Api, circuit: Any) -> None:
    for text, stored in DATES.items():
        assert api.patch(circuit["url"], {"install_date": text})["install_date"] == stored
        assert api.get(CIRCUITS, {"id": circuit["id"], "install_date": text})["count"] == 1
    for text in NO_DATES:
        assert list(api.patch(circuit["url"], {"install_date": text}, status=400)) == ["install_date"], text
        assert list(api.get(CIRCUITS, {"install_date": str(text).replace("\n", "x")}, status=400)) == [
            "install_date"
        ], text


def test_times_are_of_iso_8601(api: Api, unique: Unique) -> None:
    token = api.post(TOKENS, {"description": unique()})
    for text, stored in TIMES.items():
        expires = api.patch(f"{TOKENS}{token['id']}/", {"expires": text})["expires"]
        assert expires.startswith(stored), text
    for text in NO_TIMES:
        assert list(api.patch(f"{TOKENS}{token['id']}/", {"expires": text}, status=400)) == ["expires"], text


def test_times_in_filters_may_be_days(api: Api) -> None:
    everything = api.get(SITES, {"limit": 1})["count"]
    assert api.get(SITES, {"last_updated__gte": "2020-01-02", "limit": 1})["count"] == everything
    for text in NO_TIMES:
        if text != "2040-01-02":
            assert list(api.get(SITES, {"last_updated__gte": text}, status=400)) == ["last_updated__gte"], text
