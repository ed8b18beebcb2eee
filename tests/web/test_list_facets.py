"""Facets beside lists, and the parts of lists that scripts fetch."""

from __future__ import annotations

import re
from typing import Any

import pytest

from netinv_testing import Service
from netinv_web.testing import Browser
from tests.support import REPOSITORY

PASSWORD = "correct horse"
SITES = "/api/dcim/sites/"
PLAIN_COUNT = re.compile(r"""class="count"[^>]*>[^<{]*(\{\{(?![^}]*\|number)[^}]*(?:count|length|total)[^}]*\}\})""")


@pytest.fixture
def browser(service: Service) -> Browser:
    """A browser in which an administrator of its own is signed in."""
    return Browser(service, service.user(superuser=True, password=PASSWORD))


@pytest.fixture
def tenants(api: Any, unique: Any) -> list[str]:
    """Two tenants with sites of the same facility: the first has two active and a planned one, the second one
    active.
    """
    words = [unique(), unique()]
    for word, statuses in zip(words, (["active", "active", "planned"], ["active"]), strict=True):
        tenant = api.post("/api/tenancy/tenants/", {"name": f"Tenant {word}", "slug": word})
        sites = [
            {"name": f"{word} {n}", "slug": f"{word}-{n}", "status": s, "tenant": tenant["id"], "facility": words[0]}
            for n, s in enumerate(statuses)
        ]
        api.post(SITES, sites)
    return words


def facets(page: Any) -> dict[str, list[str]]:
    """The values with their counts, by the title of the facet."""
    return {
        section.h2.text: [" ".join(item.text.split()) for item in section.select("li")]
        for section in page.html.select("section.facet")
    }


def link(page: Any, title: str, value: str) -> str:
    """The path of a value."""
    section = next(item for item in page.html.select("section.facet") if item.h2.text == title)
    return str(next(item.a["href"] for item in section.select("li") if value in item.text))


def test_facets_count_values_under_the_other_filters(browser: Browser, tenants: list[str]) -> None:
    """The filter of a facet itself does not limit its counts: they tell what choosing another value would give."""
    shown = facets(browser.get(f"/dcim/sites/?facility={tenants[0]}&status=planned&_facets=1"))
    assert shown["Status"] == ["Active 3", "Planned 1"]
    assert shown["Tenant"] == [f"Tenant {tenants[0]} 1"] if "Tenant" in shown else True
    shown = facets(browser.get(f"/dcim/sites/?facility={tenants[0]}&_facets=1"))
    assert shown["Tenant"] == [f"Tenant {tenants[0]} 3", f"Tenant {tenants[1]} 1"]


def test_a_value_adds_its_filter_and_removes_it_again(browser: Browser, tenants: list[str]) -> None:
    """Several values of a facet combine with OR."""
    page = browser.get(f"/dcim/sites/?facility={tenants[0]}&_facets=1")
    page = browser.get(link(page, "Status", "Planned"))
    assert page.html.select_one("[data-list-count]").text == "1"
    page = browser.get(link(page, "Status", "Active"))
    assert page.html.select_one("[data-list-count]").text == "4"
    page = browser.get(link(page, "Status", "Planned"))
    assert page.html.select_one("[data-list-count]").text == "3"


def test_counts_include_only_what_the_user_may_view(service: Service, tenants: list[str]) -> None:
    """Permissions with constraints limit facets as they limit rows."""
    account = service.user(("view", "dcim.site", {"status__slug": "active"}), password=PASSWORD)
    page = Browser(service, account).get(f"/dcim/sites/?facility={tenants[0]}&_facets=1&_part=facets")
    assert "Planned" not in page.text
    assert facets(page)["Tenant"] == [f"Tenant {tenants[0]} 2", f"Tenant {tenants[1]} 1"]


def test_facets_are_loaded_after_the_page_and_linked_without_scripts(browser: Browser, tenants: list[str]) -> None:
    """The page only says where they are."""
    page = browser.get(f"/dcim/sites/?facility={tenants[0]}")
    aside = page.html.select_one("#facets")
    assert not aside.select("section") and aside.a.text == "Show counts"
    fragment = browser.get(aside["data-source"])
    assert "<html" not in fragment.text and facets(fragment)["Status"] == ["Active 3", "Planned 1"]
    assert facets(browser.get(aside.a["href"])) == facets(fragment)


def test_facets_take_one_statement_for_counts_and_one_for_names(
    service: Service, browser: Browser, tenants: list[str]
) -> None:
    """However many facets and values there are."""
    path = f"/dcim/sites/?facility={tenants[0]}&_part=facets"
    browser.get(path)
    with service.statements() as found:
        browser.get(path)
    assert len(found) <= 3, found


def test_more_values_of_a_facet_are_shown_when_asked_for(api: Any, browser: Browser, unique: Any) -> None:
    """Ten at first."""
    word = unique()
    regions = [api.post("/api/dcim/regions/", {"name": f"{word} {n}", "slug": f"{word}-{n}"}) for n in range(12)]
    api.post(
        SITES,
        [
            {"name": f"{word} {n}", "slug": f"{word}-{n}", "status": "active", "region": region["id"], "facility": word}
            for n, region in enumerate(regions)
        ],
    )
    page = browser.get(f"/dcim/sites/?facility={word}&_facets=1")
    assert len(facets(page)["Region"]) == 10
    page = browser.get(
        next(
            item.select_one("a.muted")["href"] for item in page.html.select("section.facet") if item.h2.text == "Region"
        )
    )
    assert len(facets(page)["Region"]) == 12


def test_the_part_of_a_list_that_scripts_replace_is_that_of_the_page(browser: Browser, tenants: list[str]) -> None:
    """It has no frame around it, and its links do not carry the parameter on."""
    path = f"/dcim/sites/?facility={tenants[0]}&ordering=-name"
    part, page = browser.get(f"{path}&_part=list"), browser.get(path)
    assert "<html" not in part.text and "_part=list" not in part.text
    assert str(part.html.select_one("#results")) == str(page.html.select_one("#results"))


def test_rows_lead_to_their_forms_as_permitted(service: Service, browser: Browser, tenants: list[str]) -> None:
    """Readers have no links to forms."""
    path = f"/dcim/sites/?facility={tenants[0]}"
    links = [item.text for item in browser.get(path).html.select_one(".row-links").select("a")]
    assert links[:2] == ["Edit", "Clone"] and links[-1] == "Delete"
    reader = Browser(service, service.user(("view", "dcim.site"), password=PASSWORD))
    page = reader.get(path)
    assert page.html.select("input[name=pk], #selection") == []
    assert {link.text for link in page.html.select(".row-links a")} <= {"Change log"}


def test_values_are_named_as_in_the_rows(
    service: Service, browser: Browser, make: Any, make_user: Any, unique: Any
) -> None:
    word = unique()
    sites = [make("/api/dcim/sites/", status="active") for _ in range(2)]
    for vid, site in enumerate(sites, 40):
        group = service.api.post("/api/ipam/vlan-groups/", {"name": word, "slug": unique(), "site": site["id"]})
        vlan = {"name": word, "vid": vid, "status": "active", "site": site["id"], "group": group["id"]}
        service.api.post("/api/ipam/vlans/", vlan)
    path = f"/ipam/vlans/?name={word}&_columns=group&_facets=1"
    page = browser.get(path)
    names = [f"{word} · {site['name']}" for site in sites]
    assert [cell.text for cell in page.html.select("tr[data-key] td:not(.select, .row-links)")] == names
    assert sorted(facets(page)["Group"]) == sorted(f"{name} 1" for name in names)
    limited = make_user(("view", "ipam.vlan"), ("view", "ipam.vlangroup", {"name": "another"}), password=PASSWORD)
    assert facets(Browser(service, limited).get(path))["Group"] == [f"{word} 1", f"{word} 1"]


def test_counts_have_separators_of_thousands() -> None:
    faulty = [
        f"{file.name}: {found}"
        for folder in REPOSITORY.glob("netinv_*")
        for file in folder.rglob("*.jinja2")
        if "build" not in file.parts
        for found in PLAIN_COUNT.findall(file.read_text())
    ]
    assert faulty == []
