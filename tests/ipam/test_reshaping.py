"""Prefixes that are split, merged and moved: what the pages announce is what one request does, and undoes."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

PREFIXES, ADDRESSES = "/api/ipam/prefixes/", "/api/ipam/ip-addresses/"


def vrf_of(api: Api, unique: Unique, *, enforce_unique: bool = False) -> str:
    return str(api.post("/api/ipam/vrfs/", {"name": unique(), "enforce_unique": enforce_unique})["id"])


@pytest.fixture
def vrf(api: Api, unique: Unique) -> str:
    """The id of a VRF where duplicates are allowed."""
    return vrf_of(api, unique)


def prefix_of(api: Api, vrf: str | None, network: str, **fields: Any) -> str:
    """The id of a new prefix."""
    return str(api.post(PREFIXES, {"prefix": network, "status": "active", "vrf": vrf, **fields})["id"])


def host(api: Api, vrf: str | None, address: str) -> str:
    return str(api.post(ADDRESSES, {"address": address, "status": "active", "vrf": vrf})["id"])


def networks(api: Api, vrf: str) -> dict[str, str]:
    """The prefixes of a VRF with their status."""
    found = api.get(PREFIXES, {"vrf_id": vrf, "limit": 0})["results"]
    return {item["prefix"]: item["status"]["value"] for item in found}


def preview(page: Any) -> list[list[str]]:
    """The rows of the preview."""
    rows = page.html.select("table.whole tbody tr")
    return [[cell.get_text(" ", strip=True) for cell in row.select("th, td")] for row in rows]


def refusal(page: Any) -> str:
    """Reason against the change; blank without one."""
    notice = page.html.select_one(".notice.danger")
    assert bool(notice) == (not page.html.select("form[method=post] button.primary"))
    return " ".join(notice.get_text(" ", strip=True).split()) if notice else ""


def undo(browser: Browser, page: Any) -> None:
    """Takes the change back by the button of the notice, and that of the page that asks."""
    form = page.html.select_one("[data-notice] form")
    asked = browser.post(form["action"], {item["name"]: item["value"] for item in form.select("input")}, status="*")
    if asked.status_int == 200:
        asked.form().submit("_step", value="apply", status=303)


def test_a_split_says_what_falls_where_and_can_be_undone(browser: Browser, api: Api, vrf: str, unique: Unique) -> None:
    tenant = api.post("/api/tenancy/tenants/", {"name": unique(), "slug": unique()})["id"]
    key = prefix_of(api, vrf, "10.60.0.0/24", tenant=tenant)
    prefix_of(api, vrf, "10.60.0.64/26")
    prefix_of(api, vrf, "10.60.0.128/28")
    host(api, vrf, "10.60.0.5/24")
    host(api, vrf, "10.60.0.128/24")
    before = networks(api, vrf)
    page = browser.get(f"/ipam/prefixes/{key}/split/", {"length": "26"})
    assert preview(page) == [
        ["10.60.0.0/26", "new", "0", "1"],
        ["10.60.0.64/26", "exists", "0", "0"],
        ["10.60.0.128/26", "new", "1", "1"],
        ["10.60.0.192/26", "new", "0", "0"],
    ]
    assert "Network or broadcast address of a new prefix would be: 10.60.0.128." in page.words and not refusal(page)
    assert networks(api, vrf) == before
    shown = browser.post(f"/ipam/prefixes/{key}/split/", {"length": "26"}).follow()
    after = networks(api, vrf)
    assert set(after) - set(before) == {"10.60.0.0/26", "10.60.0.128/26", "10.60.0.192/26"}
    assert after["10.60.0.0/24"] == "container"
    (part,) = api.get(PREFIXES, {"vrf_id": vrf, "prefix": "10.60.0.0/26"})["results"]
    assert part["tenant"]["id"] == tenant
    undo(browser, shown)
    assert networks(api, vrf) == before


@pytest.mark.parametrize("operation", ["split", "merge", "move"])
def test_another_choice_than_that_of_the_preview_is_shown_before_it_is_written(
    browser: Browser, api: Api, vrf: str, unique: Unique, operation: str
) -> None:
    """The button sends what is chosen when it is pressed."""
    one, two = [vrf_of(api, unique) for _ in range(2)] if operation == "move" else ("25", "24")
    lengths = {"split": ("24",), "merge": ("26",) * 4, "move": ("24",)}[operation]
    key, *_ = [prefix_of(api, vrf, f"10.60.0.{64 * number}/{length}") for number, length in enumerate(lengths)]
    if operation == "split":
        one, two = "25", "26"
    before = networks(api, vrf)
    parameter = "vrf" if operation == "move" else "length"
    form = browser.get(f"/ipam/prefixes/{key}/{operation}/", {parameter: one}).form()
    form[parameter] = two
    button = next(name for name, fields in form.fields.items() if name and fields[0].tag == "button")
    again = form.submit(button, status=409)
    assert "Nothing was written: another choice was made" in again.words and networks(api, vrf) == before
    form = again.form()
    assert form[parameter].value == two
    form.submit(button, status=303)
    expected = {
        "split": {"10.60.0.0/24", *(f"10.60.0.{64 * number}/26" for number in range(4))},
        "merge": {"10.60.0.0/24"},
        "move": set(),
    }
    assert set(networks(api, vrf)) == expected[operation]


def test_what_has_changed_since_the_preview_is_shown_again(browser: Browser, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.60.0.0/24")
    form = browser.get(f"/ipam/prefixes/{key}/split/", {"length": "25"}).form()
    button = next(name for name, fields in form.fields.items() if name and fields[0].tag == "button")
    other = prefix_of(api, vrf, "10.60.0.0/25")
    assert preview(form.submit(button, status=409))[0][1] == "exists"
    api.delete(f"{PREFIXES}{other}/")
    form.submit(button, status=303)


def test_what_is_split_already_is_refused(browser: Browser, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.60.0.0/24")
    for network in ("10.60.0.0/25", "10.60.0.128/25"):
        prefix_of(api, vrf, network)
    path = f"/ipam/prefixes/{key}/split/"
    assert "Every /25 of 10.60.0.0/24 exists already." in refusal(browser.get(path, {"length": "25"}))
    assert "exists already" in refusal(browser.post(path, {"length": "25"}, status=422))
    assert browser.get(path, {"length": "24"}, status=400)


@pytest.mark.parametrize("parent", [False, True], ids=["that does not exist", "that exists"])
def test_siblings_are_merged_into_their_common_prefix(browser: Browser, api: Api, vrf: str, parent: bool) -> None:
    key = prefix_of(api, vrf, "10.60.0.0/26")
    for network in ("10.60.0.64/26", "10.60.0.128/26", "10.60.0.192/26", "10.60.0.192/28"):
        prefix_of(api, vrf, network, description="kept" if network.endswith("/28") else "another")
    if parent:
        prefix_of(api, vrf, "10.60.0.0/24", status="container")
    host(api, vrf, "10.60.0.70/26")
    before = networks(api, vrf)
    page = browser.get(f"/ipam/prefixes/{key}/merge/", {"length": "24"})
    state = "stays" if parent else "10.60.0.0/26 grows to it"
    assert preview(page)[0] == ["10.60.0.0/24", state, "5", "1"] and not refusal(page)
    assert "10.60.0.64/26 has other values, which are lost: Description another" in page.words
    shown = browser.post(f"/ipam/prefixes/{key}/merge/", {"length": "24"}).follow()
    assert set(networks(api, vrf)) == {"10.60.0.0/24", "10.60.0.192/28"}
    undo(browser, shown)
    assert networks(api, vrf) == before


def test_a_merge_of_what_is_not_complete_is_refused(browser: Browser, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.60.0.0/26")
    path = f"/ipam/prefixes/{key}/merge/"
    assert "10.60.0.64/26 is not there: 10.60.0.0/25 is not complete." in refusal(browser.get(path))
    for _ in range(2):
        prefix_of(api, vrf, "10.60.0.64/26")
    assert "There are several 10.60.0.64/26" in refusal(browser.get(path))


def offered(page: Any) -> list[str]:
    """The choices of a page, the selected one first."""
    options = page.html.select("#choice option")
    return [option["value"] for option in sorted(options, key=lambda option: not option.has_attr("selected"))]


def test_only_lengths_that_work_are_offered_for_a_merge(browser: Browser, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.60.0.0/26")
    path = f"/ipam/prefixes/{key}/merge/"
    page = browser.get(path)
    assert offered(page) == [] and "This prefix cannot be merged yet" in page.words
    prefix_of(api, vrf, "10.60.0.64/26")
    page = browser.get(path)
    assert offered(page) == ["25"] and not refusal(page)
    for network in ("10.60.0.128/26", "10.60.0.192/26", "10.60.1.0/24"):
        prefix_of(api, vrf, network)
    page = browser.get(path)
    assert offered(page) == ["25", "24"] and not refusal(page)
    assert offered(browser.get(path, {"length": "23"})) == ["", "25", "24"]


def test_only_lengths_that_work_are_offered_for_a_split(browser: Browser, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.60.0.0/30")
    path = f"/ipam/prefixes/{key}/split/"
    assert offered(browser.get(path)) == ["31", "32"]
    for network in ("10.60.0.0/31", "10.60.0.2/31"):
        prefix_of(api, vrf, network)
    page = browser.get(path)
    assert offered(page) == ["32"] and not refusal(page)
    for number in range(4):
        single = prefix_of(api, vrf, f"10.60.0.{number}/32")
    for page in (browser.get(path), browser.get(f"/ipam/prefixes/{single}/split/")):
        assert offered(page) == [] and "This prefix cannot be split" in page.words


def test_a_hidden_sibling_keeps_a_length_from_being_offered(service: Service, api: Api, vrf: str) -> None:
    key = prefix_of(api, vrf, "10.60.0.0/26")
    prefix_of(api, vrf, "10.60.0.64/26")
    rights = [(action, "ipam.prefix", {"id": key}) for action in ("view", "change", "delete")]
    page = Browser(service, service.user(*rights, password=PASSWORD)).get(f"/ipam/prefixes/{key}/merge/")
    assert offered(page) == [] and "You may not view all of the siblings." in refusal(page)


def test_a_prefix_moves_with_its_contents(browser: Browser, api: Api, vrf: str, unique: Unique) -> None:
    target = vrf_of(api, unique)
    key = prefix_of(api, vrf, "10.60.0.0/16", status="container")
    prefix_of(api, vrf, "10.60.4.0/24")
    address = host(api, vrf, "10.60.4.9/24")
    prefix_of(api, vrf, "10.61.0.0/16")
    prefix_of(api, target, "10.60.4.0/24")
    path = f"/ipam/prefixes/{key}/move/"
    assert preview(browser.get(path)) == []
    page = browser.get(path, {"vrf": target})
    assert preview(page)[0][2:] == ["1", "1"] and not refusal(page)
    assert "has these prefixes already: 10.60.4.0/24." in page.words
    shown = browser.post(path, {"vrf": target}).follow()
    assert "2 prefixes and 1 address moved to" in shown.words
    assert set(networks(api, vrf)) == {"10.61.0.0/16"} and api.get(f"{ADDRESSES}{address}/")["vrf"]["id"] == target
    undo(browser, shown)
    assert len(networks(api, vrf)) == 3 and api.get(f"{ADDRESSES}{address}/")["vrf"]["id"] == vrf


def test_collisions_in_a_vrf_of_unique_space_are_refused(browser: Browser, api: Api, vrf: str, unique: Unique) -> None:
    target = vrf_of(api, unique, enforce_unique=True)
    key = prefix_of(api, vrf, "10.60.0.0/16", status="container")
    for place in (vrf, target):
        host(api, place, "10.60.4.9/24")
    path = f"/ipam/prefixes/{key}/move/"
    assert "has these addresses already: 10.60.4.9/24." in refusal(browser.get(path, {"vrf": target}))
    assert refusal(browser.post(path, {"vrf": target}, status=422))
    assert set(networks(api, vrf)) == {"10.60.0.0/16"}


def test_those_who_may_not_write_all_of_it_are_refused(service: Service, api: Api, vrf: str, unique: Unique) -> None:
    target = vrf_of(api, unique)
    key = prefix_of(api, vrf, "10.60.0.0/25")
    prefix_of(api, vrf, "10.60.0.128/25")
    prefix_of(api, vrf, "10.60.0.0/26")
    viewed = ("view", ["ipam.prefix", "ipam.vrf"])
    own = ("change", "ipam.prefix", {"id": key})
    limited = Browser(service, service.user(viewed, own, password=PASSWORD))
    assert "You may not change 1 object of these." in refusal(
        limited.get(f"/ipam/prefixes/{key}/move/", {"vrf": target})
    )
    limited.get(f"/ipam/prefixes/{key}/split/", status=403)
    deleting = Browser(service, service.user(viewed, own, ("delete", "ipam.prefix", {"id": key}), password=PASSWORD))
    assert refusal(deleting.get(f"/ipam/prefixes/{key}/merge/"))


def test_the_number_of_statements_of_a_plan_does_not_grow(
    service: Service, browser: Browser, api: Api, vrf: str, unique: Unique
) -> None:
    target = vrf_of(api, unique)
    key = prefix_of(api, vrf, "10.60.0.0/16", status="container")
    host(api, vrf, "10.60.4.9/24")

    def statements() -> list[int]:
        numbers = []
        for path in (f"move/?vrf={target}", "split/?length=20"):
            browser.get(f"/ipam/prefixes/{key}/{path}")
            with service.statements() as result:
                browser.get(f"/ipam/prefixes/{key}/{path}")
            numbers.append(len(result))
        return numbers

    prefix_of(api, vrf, "10.60.0.0/20")
    before = statements()
    for number in range(2, 12):
        prefix_of(api, vrf, f"10.60.{number * 16}.0/24")
        host(api, vrf, f"10.60.{number * 16}.9/24")
    assert statements() == before
