"""Numbers with units on pages: the unit behind the number, speeds in the unit that fits, and raw numbers in tables."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from netinv_testing import Service, Unique
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database


@pytest.fixture
def browser(service: Service) -> Browser:
    """The administrator's browser."""
    return Browser(service, service.admin)


def facts(page: Any) -> dict[str, str]:
    """The facts of an object's page by their labels."""
    return {
        term.get_text(" ", strip=True): term.find_next_sibling("dd").get_text(" ", strip=True)
        for term in page.select("dt")
        if term.find_next_sibling("dd") is not None
    }


def circuit(service: Service, unique: Unique, rate: int) -> Any:
    api, name = service.api, unique()
    provider = api.post("/api/circuits/providers/", {"name": name, "slug": name})
    type_ = api.post("/api/circuits/circuit-types/", {"name": name, "slug": name})
    body = {"cid": name, "provider": provider["id"], "type": type_["id"], "status": "active", "commit_rate": rate}
    return api.post("/api/circuits/circuits/", body)


@pytest.mark.parametrize(
    ("rate", "text"), [(0, "0 Kbps"), (512, "512 Kbps"), (1544, "1.544 Mbps"), (10_000_000, "10 Gbps")]
)
def test_a_rate_is_shown_in_the_unit_that_fits(
    service: Service, browser: Browser, unique: Unique, rate: int, text: str
) -> None:
    item = circuit(service, unique, rate)
    assert facts(browser.get(f"/circuits/circuits/{item['id']}/").html)["Commit rate"] == text
    form = browser.get(f"/circuits/circuits/{item['id']}/edit/").html
    control = form.select_one('input[name="commit_rate"]')
    assert (control["value"], control.parent.select_one(".unit").text) == (str(rate), "Kbps")


def test_memory_has_its_unit(service: Service, browser: Browser, unique: Unique) -> None:
    api, name = service.api, unique()
    type_ = api.post("/api/virtualization/cluster-types/", {"name": name, "slug": name})
    cluster = api.post("/api/virtualization/clusters/", {"name": name, "type": type_["id"]})
    body = {"name": name, "cluster": cluster["id"], "status": "active", "memory": 8192}
    machine = api.post("/api/virtualization/virtual-machines/", body)
    assert facts(browser.get(f"/virtualization/virtual-machines/{machine['id']}/").html)["Memory"] == "8192 MB"


def test_tables_and_options_name_the_unit_and_keep_the_number(service: Service, unique: Unique) -> None:
    item = circuit(service, unique, 10_000_000)
    fields = service.api.send("OPTIONS", "/api/circuits/circuits/", status=200).json["actions"]["POST"]
    assert fields["commit_rate"]["label"] == "Commit rate (Kbps)"
    answer = service.api.send("GET", "/api/circuits/circuits/", query={"cid": item["cid"], "format": "csv"}, status=200)
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert row["commit_rate"] == "10000000"
