"""Panels of interfaces: the members of a LAG, child and bridged interfaces, and redundancy groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.cabling_fixtures import End, Plant

MAX_STATEMENTS = 16
GROUPS = "/api/dcim/interface-redundancy-groups/"
ASSOCIATIONS = "/api/dcim/interface-redundancy-group-associations/"


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    return Plant(api, unique)


def panel(browser: Browser, end: End, name: str) -> Any:
    """A panel of a port, which is loaded after the page; ``None`` without one."""
    return browser.get(f"/dcim/interfaces/{end.id}/", {"_panel": name}).html.select_one(f"#panel-{name}")


def listed(part: Any) -> dict[str, list[str]]:
    """The names in a panel by their headings."""
    titles = [title.contents[0].strip() for title in part.select("h3")]
    names = [[link.text for link in group.select("a")] for group in part.select("ul")]
    return dict(zip(titles, names, strict=True))


def test_a_lag_shows_its_members_and_an_interface_what_is_below_it(browser: Browser, plant: Plant) -> None:
    device = plant.device()
    lag = plant.end(device=device, type="lag", name="ae0")
    for number in (10, 2, 1):
        plant.end(device=device, lag=lag.id, name=f"eth{number}")
    plant.end(device=device, type="virtual", parent_interface=lag.id, name="ae0.100")
    plant.end(device=device, type="virtual", bridge=lag.id, name="br0")
    assert listed(panel(browser, lag, "below")) == {
        "Member interfaces": ["eth1", "eth2", "eth10"],
        "Child interfaces": ["ae0.100"],
        "Bridged interfaces": ["br0"],
    }
    assert panel(browser, plant.end(), "below") is None


def test_what_may_not_be_viewed_is_not_below(service: Service, plant: Plant, make_user: Callable[..., Account]) -> None:
    device = plant.device()
    lag = plant.end(device=device, type="lag")
    plant.end(device=device, lag=lag.id)
    user = make_user(("view", "dcim.interface", {"id": lag.id}), ("view", "dcim.device"), password=PASSWORD)
    assert panel(Browser(service, user), lag, "below") is None


def test_an_interface_shows_its_redundancy_groups(browser: Browser, api: Api, plant: Plant, unique: Unique) -> None:
    port, name = plant.end(), unique()
    body = {"name": name, "status": "active", "protocol": "vrrp", "protocol_group_id": "7"}
    group = api.post(GROUPS, body)["id"]
    api.post(ASSOCIATIONS, {"interface_redundancy_group": group, "interface": port.id, "priority": 110})
    (line,) = panel(browser, port, "redundancy").select("li")
    assert " ".join(line.text.split()) == f"{name} VRRP 7 priority 110"
    assert panel(browser, plant.end(), "redundancy") is None


def test_statements_do_not_grow_with_what_is_below(service: Service, browser: Browser, plant: Plant) -> None:
    counts = []
    for number in (1, 6):
        device = plant.device()
        lag = plant.end(device=device, type="lag")
        plant.ends("dcim.interface", number, device, lag=lag.id)
        panel(browser, lag, "below")
        with service.statements() as statements:
            panel(browser, lag, "below")
        counts.append(len(statements))
    assert counts[0] == counts[1] <= MAX_STATEMENTS, counts
