"""The tree of prefixes: levels, gaps, what restricted users see, statements."""

from __future__ import annotations

import re
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

PATH = "/ipam/prefixes/tree/"
MAX_STATEMENTS = 10


@pytest.fixture
def vrf(api: Api, unique: Unique) -> str:
    """The id of a VRF where duplicates are allowed."""
    return str(api.post("/api/ipam/vrfs/", {"name": unique(), "enforce_unique": False})["id"])


def prefix_of(api: Api, vrf: str | None, network: str, status: str = "active") -> str:
    """The id of a new prefix."""
    return str(api.post("/api/ipam/prefixes/", {"prefix": network, "status": status, "vrf": vrf})["id"])


def rows(browser: Browser, vrf: str, *opened: str) -> list[str]:
    """The rows of the tree: two blanks for each level, and the network, or what is free."""
    page = browser.get(PATH, [("vrf", vrf), *(("open", key) for key in opened)])
    found = []
    for row in page.html.select("table.tree tbody tr"):
        for link in row.select("td a.way"):
            link.decompose()
        name = row.select_one("th a:not(.toggle)")
        text = name.get_text() if name else " ".join(row.get_text(" ", strip=True).replace(" ,", ",").split())
        found.append("  " * int(row["data-depth"]) + text)
    return found


def test_levels_open_one_by_one_with_the_gaps_between_prefixes(browser: Browser, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.80.0.0/16", "container")
    half = prefix_of(api, vrf, "10.80.128.0/17", "container")
    prefix_of(api, vrf, "10.80.0.0/18")
    prefix_of(api, vrf, "10.80.200.0/24")
    prefix_of(api, vrf, "fd80::/64")
    assert rows(browser, vrf, "") == ["10.80.0.0/16", "fd80::/64"]
    opened = ["10.80.0.0/16", "  10.80.0.0/18", "  Free: 10.80.64.0/18", "  10.80.128.0/17", "fd80::/64"]
    assert rows(browser, vrf, container) == opened
    inner = ["    Free: 10.80.128.0/18, 10.80.192.0/21", "    10.80.200.0/24"]
    inner += ["    Free: 10.80.201.0/24, 10.80.202.0/23, 10.80.204.0/22 and 2 more"]
    assert rows(browser, vrf, container, half) == [*opened[:4], *inner, *opened[4:]]


def test_values_have_their_labels_on_a_phone(browser: Browser, api: Api, vrf: str) -> None:
    prefix_of(api, vrf, "10.80.0.0/16")
    page = browser.get(PATH, {"vrf": vrf})
    titles = [title.get_text() for title in page.html.select("table.tree thead th")][1:]
    assert [cell["data-label"] for cell in page.html.select("table.tree tbody td")] == titles


def test_links_open_and_close_a_level(browser: Browser, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.80.0.0/16", "container")
    prefix_of(api, vrf, "10.80.4.0/24")
    page = browser.get(PATH, {"vrf": vrf})
    (toggle,) = page.html.select("a.toggle")
    assert toggle["aria-expanded"] == "true"
    assert str(toggle["href"]) == f"{PATH}?vrf={vrf}&open=#p-{container}"
    page = browser.get(str(toggle["href"]).partition("#")[0])
    (toggle,) = page.html.select("a.toggle")
    assert (toggle["aria-expanded"], toggle["aria-label"]) == ("false", "Open 10.80.0.0/16")
    page = browser.get(str(toggle["href"]).partition("#")[0])
    assert page.html.select_one("a.toggle")["aria-expanded"] == "true"


def test_a_first_level_of_few_prefixes_is_open_at_first(browser: Browser, api: Api, vrf: str) -> None:
    prefix_of(api, vrf, "10.80.0.0/16", "container")
    prefix_of(api, vrf, "10.80.0.0/17", "container")
    prefix_of(api, vrf, "10.80.0.0/24")
    opened = ["10.80.0.0/16", "  10.80.0.0/17", "  Free: 10.80.128.0/17"]
    assert rows(browser, vrf) == opened
    for number in range(3):
        prefix_of(api, vrf, f"10.{90 + number}.0.0/16")
    prefix_of(api, vrf, "fd80::/64")
    assert rows(browser, vrf) == [*opened, "10.90.0.0/16", "10.91.0.0/16", "10.92.0.0/16", "fd80::/64"]
    prefix_of(api, vrf, "10.93.0.0/16")
    assert rows(browser, vrf)[:2] == ["10.80.0.0/16", "10.90.0.0/16"]


@pytest.mark.night
def test_a_gap_leads_to_the_form_of_a_prefix(browser: Browser, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.80.0.0/16", "container")
    page = browser.get(PATH, {"vrf": vrf, "open": container})
    links = page.html.select("tr.gap a:not(.way)")
    assert [link.get_text() for link in links] == ["10.80.0.0/17", "10.80.128.0/17"]
    form = browser.get(str(links[1]["href"])).form()
    assert (form["prefix"].value, form["vrf"].value) == ("10.80.128.0/17", vrf)
    form.submit().follow()
    assert api.get("/api/ipam/prefixes/", {"vrf_id": vrf, "prefix": "10.80.128.0/17"})["count"] == 1


def gap_page(browser: Browser, vrf: str, container: str, number: int) -> Any:
    """The page of a gap of the tree, by its number."""
    tree = browser.get(PATH, {"vrf": vrf, "open": container})
    return browser.get(str(tree.html.select("tr.gap a.way")[number]["href"]))


def test_a_gap_offers_its_prefixes_by_length_and_its_next_address(browser: Browser, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.80.0.0/16", "container")
    for network in ("10.80.0.0/24", "10.80.2.0/23"):
        prefix_of(api, vrf, network)
    for number in (0, 1, 3):
        api.post("/api/ipam/ip-addresses/", {"address": f"10.80.1.{number}/16", "vrf": vrf, "status": "active"})
    page = gap_page(browser, vrf, container, 0)
    assert "Allocate from 10.80.1.0 to 10.80.1.255" in page.words
    assert [cell.get_text() for cell in page.html.select("table.list td")][:2] == ["10.80.1.0/24", "10.80.1.0/25"]
    form = browser.get(next(link for link in page.links() if link.startswith("/ipam/ip-addresses/add/?"))).form()
    assert (form["address"].value, form["vrf"].value) == ("10.80.1.2/16", vrf)
    form = browser.get(next(link for link in page.links() if link.startswith("/ipam/prefixes/add/?prefix"))).form()
    assert (form["prefix"].value, form["vrf"].value) == ("10.80.1.0/24", vrf)
    form.submit().follow()
    emptied = browser.get(page.request.path_qs)
    assert emptied.html.select("table.list td") == [] and "10.80.1.2/16" in emptied.words
    last = gap_page(browser, vrf, container, -1)
    assert last.html.select_one("[autofocus]").get_text() == "10.80.4.0/24", "the usual length"


@pytest.mark.parametrize(
    ("ends", "field"),
    [
        ("", "first"),
        ("first=10.80.0.0", "last"),
        ("first=10.81.0.0&last=10.81.0.9", "first"),
        ("first=fd80::&last=fd80::1", "first"),
        ("first=10.80.0.9&last=10.80.0.1", "last"),
        ("first=x&last=10.80.0.1", "first"),
    ],
)
def test_a_gap_that_is_none_is_refused(browser: Browser, api: Api, vrf: str, ends: str, field: str) -> None:
    container = prefix_of(api, vrf, "10.80.0.0/16", "container")
    assert field in browser.get(f"/ipam/prefixes/{container}/gap/?{ends}", status=400).words.lower()


def test_free_space_never_offers_the_prefix_itself(browser: Browser, api: Api, vrf: str) -> None:
    prefix = prefix_of(api, vrf, "10.80.0.0/16")
    words = (
        browser.get(f"/ipam/prefixes/{prefix}/", {"_show": "all"}).html.select_one("ul.free").get_text(" ", strip=True)
    )
    assert "10.80.0.0/17" in words and "10.80.0.0/16" not in words


def test_prefixes_with_one_network_are_all_there(browser: Browser, api: Api, vrf: str) -> None:
    container = prefix_of(api, None, "10.81.0.0/16", "container")
    for place in (None, vrf):
        prefix_of(api, place, "10.81.0.0/17")
    page = browser.get(PATH, {"open": container})
    assert [item.get_text() for item in page.html.select("th a:not(.toggle)")].count("10.81.0.0/17") == 2
    prefix_of(api, vrf, "10.82.0.0/24")
    prefix_of(api, vrf, "10.82.0.0/24")
    assert rows(browser, vrf).count("10.82.0.0/24") == 2


@pytest.mark.night
def test_restricted_users_see_neither_hidden_prefixes_nor_them_as_free(service: Service, api: Api, vrf: str) -> None:
    container = prefix_of(api, vrf, "10.80.0.0/16", "container")
    hidden = prefix_of(api, vrf, "10.80.0.0/17", "container")
    below = prefix_of(api, vrf, "10.80.4.0/24")
    keys = [container, below]
    reader = Browser(service, service.user(("view", "ipam.prefix", {"id__in": keys}), password=PASSWORD))
    assert rows(reader, vrf, container) == ["10.80.0.0/16", "  10.80.4.0/24", "  Free: 10.80.128.0/17"]
    assert rows(reader, vrf, container, hidden) == rows(reader, vrf, container)
    assert not reader.get(PATH, {"vrf": vrf, "open": container}).html.select("tr.gap a")


@pytest.mark.night
def test_the_number_of_statements_does_not_grow(service: Service, browser: Browser, api: Api, vrf: str) -> None:
    def statements(*opened: str) -> int:
        rows(browser, vrf, *opened)
        with service.statements() as result:
            rows(browser, vrf, *opened)
        return len(result)

    keys = []
    for number in range(12):
        keys.append(prefix_of(api, vrf, f"10.{number}.0.0/16", "container"))
        prefix_of(api, vrf, f"10.{number}.0.0/24")
    assert statements(*keys[:1]) == statements(*keys) <= MAX_STATEMENTS


@pytest.mark.night
def test_a_level_of_many_prefixes_takes_one_statement_more_for_eight_times_as_many(
    service: Service, browser: Browser, api: Api, vrf: str
) -> None:
    container = prefix_of(api, vrf, "10.0.0.0/8", "container")
    nested = [f"10.{number}.0.0/16" for number in range(6)]
    nested += [f"10.{number}.{part}.0/24" for number in range(6) for part in range(120)]
    small = [f"10.200.{part}.0/26" for part in range(6)]
    with service.configured(max_bulk_objects=1000):
        api.post("/api/ipam/prefixes/", [{"prefix": text, "status": "active", "vrf": vrf} for text in nested + small])
    with service.statements() as closed:
        rows(browser, vrf, "")
    with service.statements() as opened:
        found = rows(browser, vrf, container)
    assert [row.strip() for row in found if "Free" not in row] == ["10.0.0.0/8", *nested[:6], *small]
    assert len(opened) - len(closed) <= 2
    page = browser.get(PATH, [("vrf", vrf), ("open", container)])
    toggles = {str(link["aria-label"]) for link in page.html.select("a.toggle")}
    assert toggles == {"Close 10.0.0.0/8", *(f"Open {text}" for text in nested[:6])}


def test_statements_for_mariadb_compare_networks_with_constants_only(
    service: Service, browser: Browser, api: Api, vrf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MariaDB reads all prefixes of a VRF for each row of a join that compares their networks. Its window functions take
    the square of the time for frames.
    """
    for name in ("compares_ranges_of_rows", "has_linear_frames"):
        monkeypatch.setattr(service.registry.driver, name, False)
    container = prefix_of(api, vrf, "10.80.0.0/16", "container")
    prefix_of(api, vrf, "10.80.4.0/24", "container")
    with service.statements() as result:
        rows(browser, vrf, container)
        browser.get("/ipam/prefixes/", {"vrf_id": vrf})
        browser.get(f"/ipam/prefixes/{container}/", {"_show": "all"})
        browser.get("/ipam/vrfs/", {"id": vrf})
    for statement in result:
        assert (
            "RECURSIVE" not in statement
            and " OVER " not in statement
            and not re.search(r"(network|host) [<>]=? \w+\.(network|broadcast)", statement)
        )


def test_a_level_is_cut_behind_what_is_listed_to_a_restricted_user(
    service: Service, api: Api, vrf: str, unique: Unique
) -> None:
    container = prefix_of(api, vrf, "10.80.0.0/15", "container")
    prefix_of(api, vrf, "10.80.0.0/16", "container")
    words = unique()
    bodies = [
        {"prefix": f"10.80.{part}.0/24", "status": "active", "vrf": vrf, "description": words} for part in range(205)
    ]
    with service.configured(max_bulk_objects=1000):
        api.post("/api/ipam/prefixes/", bodies)
    limits = [("view", "ipam.prefix", {"id__in": [container]}), ("view", "ipam.prefix", {"description": words})]
    reader = Browser(service, service.user(*limits, password=PASSWORD))
    found = rows(reader, vrf, container)
    assert found[200] == "  10.80.199.0/24" and len(found) == 202


@pytest.mark.parametrize(
    ("name", "reason"), [("vrf", "vrf: Select a valid choice."), ("open", 'open: "x" is not a valid UUID.')]
)
def test_what_names_nothing_is_refused(browser: Browser, name: str, reason: str) -> None:
    assert reason in browser.get(PATH, {name: "x"}, status=400).words


def test_the_list_leads_to_the_tree_and_back(browser: Browser, vrf: str) -> None:
    assert PATH in browser.get("/ipam/prefixes/").links()
    assert f"/ipam/prefixes/?vrf_id={vrf}" in browser.get(PATH, {"vrf": vrf}).links()


def test_lists_and_pages_lead_to_the_tree_of_their_vrf(browser: Browser, api: Api, vrf: str, unique: Unique) -> None:
    route = f"65000:{unique.number()}"
    api.patch(f"/api/ipam/vrfs/{vrf}/", {"rd": route})
    prefix_of(api, vrf, "10.83.0.0/16")
    prefix_of(api, None, "10.83.0.0/17")
    for path, first in (
        (f"/ipam/prefixes/?vrf_id={vrf}", True),
        (f"/ipam/prefixes/?vrf={route}", True),
        (f"/ipam/vrfs/{vrf}/", True),
        ("/ipam/prefixes/?vrf_id=null", False),
        ("/ipam/prefixes/?status=active", False),
    ):
        page = browser.get(path)
        (link,) = [str(item["href"]) for item in page.html.select("main a[href]") if PATH in item["href"]]
        chosen = browser.get(link).html.select_one("#tree-vrf option[selected]")
        assert (chosen is not None and chosen["value"] == vrf) == first, path
