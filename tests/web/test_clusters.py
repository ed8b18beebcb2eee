"""The page of a cluster begins with what is in it."""

from __future__ import annotations

from typing import Any

from netinv_testing import Service
from netinv_testing.samples import Samples
from netinv_web.testing import Browser


def test_the_page_of_a_cluster_begins_with_its_machines_and_devices(browser: Browser, service: Service) -> None:
    samples, registry = Samples(service), service.registry
    machine: dict[str, Any] = samples.make(registry["virtualization.virtualmachine"])
    device: dict[str, Any] = samples.make(registry["dcim.device"])
    cluster = machine["cluster"]["id"]
    service.api.patch(device["url"], {"cluster": cluster})
    path = f"/virtualization/clusters/{cluster}/"
    page = browser.get(path, {"_show": "all"})
    first = page.html.select_one(".detail > .main")
    assert [title.text for title in first.select("h2")] == ["Virtual machines", "Devices"]
    assert [row["data-key"] for row in first.select("tr[data-key]")] == [machine["id"], device["id"]]
    (row,) = browser.get(f"{path}devices/").html.select("tr[data-key]")
    assert row["data-key"] == device["id"]
    assert "Related" not in [title.text for title in page.html.select("h2")]
