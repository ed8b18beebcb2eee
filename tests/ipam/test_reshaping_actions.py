"""Split, merge and move of prefixes by the API: what pages announce, permissions, refusals by member, dry runs."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

PREFIXES, ADDRESSES = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/"


@pytest.fixture
def vrfs(api: Api, unique: Unique) -> list[str]:
    """The ids of two VRFs: duplicates are refused in the second."""
    bodies = [{"name": unique(), "enforce_unique": is_unique} for is_unique in (False, True)]
    return [str(item["id"]) for item in api.post("/api/ipam/vrfs/", bodies)]


def prefix_of(api: Api, vrf: str | None, network: str, **fields: Any) -> str:
    """The id of a new prefix."""
    return str(api.post(PREFIXES, {"prefix": network, "status": "active", "vrf": vrf, **fields})["id"])


def host(api: Api, vrf: str, address: str) -> None:
    api.post(ADDRESSES, {"address": address, "status": "active", "vrf": vrf})


def networks(api: Api, vrf: str) -> list[str]:
    return [item["prefix"] for item in api.get(PREFIXES, {"vrf_id": vrf, "limit": 0})["results"]]


def shown(browser: Browser, key: str, name: str, query: dict[str, str]) -> list[list[str]]:
    """The rows of the preview on the page."""
    rows = browser.get(f"/ipam/prefixes/{key}/{name}/", query).html.select("table.whole tbody tr")
    return [[cell.get_text(" ", strip=True) for cell in row.select("th, td")] for row in rows]


def parts(answer: Any) -> list[list[str]]:
    """The same rows in the answer of the action."""
    return [[part["prefix"], part["state"], str(part["prefixes"]), str(part["addresses"])] for part in answer["parts"]]


def test_a_split_makes_the_parts_that_its_page_announces(browser: Browser, api: Api, vrfs: list[str]) -> None:
    key = prefix_of(api, vrfs[0], "10.60.0.0/24")
    prefix_of(api, vrfs[0], "10.60.0.64/26")
    host(api, vrfs[0], "10.60.0.5/24")
    announced = shown(browser, key, "split", {"length": "26"})
    answer = api.post(f"{PREFIXES}{key}/split/", {"length": 26}, status=200)
    assert parts(answer) == announced and len(announced) == 4
    assert (answer["prefix"]["id"], answer["prefix"]["status"]["value"]) == (key, "container")
    assert answer["summary"] == "10.60.0.0/24 was split: 3 new prefixes."
    assert networks(api, vrfs[0]) == ["10.60.0.0/24", *(f"10.60.0.{low}/26" for low in (0, 64, 128, 192))]


def test_a_merge_leads_to_the_common_prefix(browser: Browser, api: Api, vrfs: list[str]) -> None:
    keys = [prefix_of(api, vrfs[0], f"10.60.0.{low}/26") for low in (0, 64, 128, 192)]
    announced = shown(browser, keys[1], "merge", {"length": "24"})
    answer = api.post(f"{PREFIXES}{keys[1]}/merge/", {"length": 24}, status=200)
    assert parts(answer) == announced
    assert (answer["prefix"]["id"], answer["prefix"]["prefix"]) == (keys[1], "10.60.0.0/24")
    assert networks(api, vrfs[0]) == ["10.60.0.0/24"]


@pytest.mark.parametrize("form", ["id", "object"])
def test_a_move_takes_the_contents_along_and_null_is_the_global_table(
    browser: Browser, api: Api, vrfs: list[str], form: str
) -> None:
    key = prefix_of(api, vrfs[0], "10.60.0.0/24")
    prefix_of(api, vrfs[0], "10.60.0.64/26")
    host(api, vrfs[0], "10.60.0.65/26")
    announced = shown(browser, key, "move", {"vrf": vrfs[1]})
    answer = api.post(f"{PREFIXES}{key}/move/", {"vrf": vrfs[1] if form == "id" else {"id": vrfs[1]}}, status=200)
    assert parts(answer) == announced
    assert answer["prefix"]["vrf"]["id"] == vrfs[1]
    assert (networks(api, vrfs[0]), len(networks(api, vrfs[1]))) == ([], 2)
    assert api.post(f"{PREFIXES}{key}/move/", {"vrf": None}, status=200)["prefix"]["vrf"] is None


def test_a_dry_run_tells_the_changes_and_makes_none(api: Api, vrfs: list[str]) -> None:
    key = prefix_of(api, vrfs[0], "10.60.0.0/24")
    preview = api.post(f"{PREFIXES}{key}/split/?dry_run=true", {"length": 25}, status=200)
    assert preview["count"]["changes"] == 3
    assert [part["state"] for part in preview["result"]["parts"]] == ["new", "new"]
    assert networks(api, vrfs[0]) == ["10.60.0.0/24"]


def test_one_undo_takes_a_split_back(api: Api, vrfs: list[str]) -> None:
    key = prefix_of(api, vrfs[0], "10.60.0.0/24")
    api.post(f"{PREFIXES}{key}/split/", {"length": 25}, status=200)
    change = api.get("/api/extras/object-changes/", {"changed_object_id": key})["results"][0]
    api.post(f"/api/extras/object-changes/{change['id']}/revert/?request=true", status=None)
    assert networks(api, vrfs[0]) == ["10.60.0.0/24"]
    assert api.get(f"{PREFIXES}{key}/")["status"]["value"] == "active"


@pytest.mark.parametrize(
    ("action", "body", "member", "words"),
    [
        ("split", {}, "length", "This field is required."),
        ("split", {"length": 24}, "length", "Choose a length from 25 to 32."),
        ("split", {"length": "26"}, "length", "Choose a length from 25 to 32."),
        ("split", {"length": True}, "length", "Choose a length from 25 to 32."),
        ("split", [], "non_field_errors", "Give one object."),
        ("split", 26, "non_field_errors", "Invalid data. Expected a dictionary, but got int."),
        ("merge", {"length": 33}, "length", "Choose a length from 16 to 23."),
        ("merge", {"length": 23}, "length", "10.60.1.0/24 is not there: 10.60.0.0/23 is not complete."),
        ("move", {}, "vrf", "This field is required."),
        ("move", {"vrf": "x"}, "vrf", "Give the id of a VRF that you may view, or null for the global table."),
        ("move", {"vrf": 5}, "vrf", "Give the id of a VRF that you may view, or null for the global table."),
        ("move", {"vrf": {"id": []}}, "vrf", "Give the id of a VRF that you may view, or null for the global table."),
        ("move", {"vrf": "own"}, "vrf", "The prefix is there already."),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_at_the_member(
    api: Api, vrfs: list[str], action: str, body: Any, member: str, words: str
) -> None:
    key = prefix_of(api, vrfs[0], "10.60.0.0/24")
    if body == {"vrf": "own"}:
        body = {"vrf": vrfs[0]}
    assert api.post(f"{PREFIXES}{key}/{action}/", body, status=400) == {member: [words]}


def test_what_the_other_vrf_has_is_a_refusal(api: Api, vrfs: list[str]) -> None:
    key = prefix_of(api, vrfs[0], "10.60.0.0/24")
    prefix_of(api, vrfs[1], "10.60.0.0/24")
    (words,) = api.post(f"{PREFIXES}{key}/move/", {"vrf": vrfs[1]}, status=400)["vrf"]
    assert words.endswith("has these prefixes already: 10.60.0.0/24.")


def test_hidden_prefixes_and_vrfs_are_not_found(service: Service, api: Api, vrfs: list[str]) -> None:
    key, hidden = prefix_of(api, vrfs[0], "10.60.0.0/24"), prefix_of(api, vrfs[0], "10.61.0.0/24")
    user = service.user(
        ("view add change delete", "ipam.prefix", {"id": key}),
        ("view", "ipam.vrf", {"id": vrfs[0]}),
        ("view change", "ipam.ipaddress"),
        password=PASSWORD,
    )
    for action, body in (("split", {"length": 25}), ("merge", {"length": 23}), ("move", {"vrf": None})):
        user.api.post(f"{PREFIXES}{hidden}/{action}/", body, status=404)
    assert "may view" in user.api.post(f"{PREFIXES}{key}/move/", {"vrf": vrfs[1]}, status=400)["vrf"][0]
    assert user.api.post(f"{PREFIXES}{key}/split/", {"length": 25}, status=403)
    assert networks(api, vrfs[0]) == ["10.60.0.0/24", "10.61.0.0/24"]


def test_the_number_of_statements_of_a_split_does_not_grow(service: Service, api: Api, vrfs: list[str]) -> None:
    numbers = []
    for at, length in enumerate((25, 30)):
        for tried in (0, 1):
            key = prefix_of(api, vrfs[0], f"10.{at}.{tried}.0/24")
            with service.statements() as result:
                api.post(f"{PREFIXES}{key}/split/", {"length": length}, status=200)
        numbers.append(len(result))
    assert numbers[0] == numbers[1]
