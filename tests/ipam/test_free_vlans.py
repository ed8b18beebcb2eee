"""Free numbers of a VLAN group: ``available-vlans``."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique

VLANS, GROUPS = "/api/ipam/vlans/", "/api/ipam/vlan-groups/"


def group_with(api: Api, unique: Unique, *numbers: int) -> str:
    group: str = api.post(GROUPS, {"name": unique()})["id"]
    api.post(VLANS, [{"vid": number, "name": unique(), "group": group, "status": "active"} for number in numbers])
    return f"{GROUPS}{group}/available-vlans/"


def test_numbers_without_a_vlan_are_free(api: Api, unique: Unique) -> None:
    path = group_with(api, unique, 1, 3)
    assert api.get(path, {"limit": 3}) == [{"vid": 2}, {"vid": 4}, {"vid": 5}]
    assert len(api.get(path)) == 50
    assert len(api.get(path, {"limit": 0})) == 1000


@pytest.mark.night
def test_the_last_number_is_4094(api: Api, unique: Unique) -> None:
    path = group_with(api, unique, *range(1, 1001))
    assert api.get(path, {"limit": 1}) == [{"vid": 1001}]
    high = group_with(api, unique, *range(1, 4093))
    assert api.get(high) == [{"vid": 4093}, {"vid": 4094}]


def test_a_group_that_one_may_not_view_has_none(api: Api, unique: Unique, make_user: Any) -> None:
    path = group_with(api, unique, 1)
    make_user(("view", "ipam.vlangroup", {"name": "visible"})).api.get(path, status=404)
    make_user(("view", "ipam.vlan")).api.get(path, status=403)
    assert make_user(("view", "ipam.vlangroup")).api.get(path, {"limit": 1}) == [{"vid": 2}]
    api.get(f"{GROUPS}x/available-vlans/", status=404)
    assert api.get(path, {"limit": "x"}, status=400).keys() == {"limit"}


def test_listing_takes_two_statements_beside_authentication(api: Api, unique: Unique, statements: Any) -> None:
    path = group_with(api, unique, 1)
    api.get(path)
    with statements() as found:
        api.get(path)
    assert len(found) == 3
