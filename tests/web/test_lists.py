"""Lists in a browser without scripts: order, columns, filters as chips and as text, and the links between them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from netinv_core.labels import label_of
from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.lists.columns import available, default_columns, extra_columns
from netinv_web.lists.sorting import name_label_of
from netinv_web.testing import Browser

TENANTS, SITES = "/api/tenancy/tenants/", "/api/dcim/sites/"


@pytest.fixture
def browser(service: Service) -> Any:
    """A browser in which an administrator of its own is signed in."""
    account = service.user(superuser=True, password=PASSWORD)
    return Browser(service, account)


@pytest.fixture
def sites(api: Any, unique: Any) -> dict[str, Any]:
    """Three sites of one tenant: Alpha is planned, Beta and Gamma are active."""
    word = unique()
    tenant = api.post(TENANTS, {"name": f"Tenant {word}", "slug": word})
    made = [
        {
            "name": f"{name} {word}",
            "slug": f"{name.lower()}-{word}",
            "status": status,
            "tenant": tenant["id"],
            "asn": asn,
        }
        for name, status, asn in (("Alpha", "planned", 65003), ("Beta", "active", 65001), ("Gamma", "active", 65002))
    ]
    api.post(SITES, made)
    return {"tenant": word, "tenant_name": f"Tenant {word}", "id": tenant["id"], "word": word}


def names(page: Any) -> list[str]:
    """The first words of the names in the rows of a list."""
    return [cell.text.split()[0] for cell in page.html.select("table.list tbody th")]


def chips(page: Any) -> list[str]:
    """The texts of the chips."""
    return [" ".join(chip.text.split()) for chip in page.html.select(".chip")]


def header(page: Any, label: str) -> Any:
    """The header of a column."""
    return next(cell for cell in page.html.select("th[scope=col]") if cell.text.strip() == label)


def query_of(url: str) -> dict[str, list[str]]:
    """The parameters of a URL."""
    return parse_qs(urlsplit(url).query)


def test_a_click_on_a_header_sorts_and_a_second_one_turns_the_order(browser: Any, sites: Any) -> None:
    """The header says so to screen readers; a third click restores the list's own order."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&_columns=asn")
    assert names(page) == ["Alpha", "Beta", "Gamma"]
    page = browser.get(header(page, "ASN").a["href"])
    assert names(page) == ["Beta", "Gamma", "Alpha"]
    assert header(page, "ASN")["aria-sort"] == "ascending"
    page = browser.get(header(page, "ASN").a["href"])
    assert names(page) == ["Alpha", "Gamma", "Beta"]
    assert header(page, "ASN")["aria-sort"] == "descending"
    page = browser.get(header(page, "ASN").a["href"])
    assert names(page) == ["Alpha", "Beta", "Gamma"] and not header(page, "ASN").get("aria-sort")


def test_every_link_of_a_list_keeps_filters_order_and_columns(browser: Any, sites: Any) -> None:
    """Pages, sizes and headers lead to the same list."""
    start = f"/dcim/sites/?tenant={sites['tenant']}&ordering=-asn&_columns=asn,status&per_page=2"
    page = browser.get(start)
    assert names(page) == ["Alpha", "Gamma"]
    following = page.html.select_one("a[rel=next]")["href"]
    kept = {"tenant": [sites["tenant"]], "ordering": ["-asn"], "_columns": ["asn,status"], "per_page": ["2"]}
    assert query_of(following) == kept | {"page": ["2"]}
    assert names(browser.get(following)) == ["Beta"]
    sorted_by_name = query_of(header(page, "Name").a["href"])
    assert sorted_by_name == kept | {"ordering": ["display"]}


def test_no_list_has_two_columns_of_one_title_by_default(service: Service) -> None:
    """The first column has the title of what it shows: an address, a prefix, a cable."""
    registry, twice = service.registry, {}
    for endpoint in {endpoint.label: endpoint for endpoint in registry.endpoints.values()}.values():
        columns = {name: item.label for name, item in extra_columns(endpoint).items()}
        columns = {**{field.name: label_of(field) for field in available(endpoint)}, **columns}
        titles = [name_label_of(endpoint), *(columns[name] for name in default_columns(endpoint))]
        if len({*titles}) < len(titles):
            twice[endpoint.label] = titles
    assert twice == {}
    assert label_of(registry["dcim.site"].fields["contact_email"]) == "Contact e-mail"
    titles = {label: name_label_of(registry[label]) for label in ("ipam.prefix", "ipam.ipaddress", "dcim.cable")}
    assert titles == {"ipam.prefix": "Prefix", "ipam.ipaddress": "Address", "dcim.cable": "Cable"}


def test_an_unknown_order_gives_a_message_and_the_list_in_its_own_order(browser: Any, sites: Any) -> None:
    """A wrong name in a URL hides nothing."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&ordering=nonsense")
    assert names(page) == ["Alpha", "Beta", "Gamma"]
    assert "nonsense" in page.html.select_one(".notice.warning").text


def test_chips_show_filters_by_the_names_of_what_they_name(browser: Any, sites: Any) -> None:
    """An id or a slug in the query is shown as the object's name; comparisons are words."""
    page = browser.get(f"/dcim/sites/?tenant_id={sites['id']}&status__n=planned&name__ic=a&region=null")
    assert chips(page) == [
        f"Tenant is {sites['tenant_name']}",
        "Status is not Planned",
        "Name contains a",
        "Region is empty",
    ]
    assert names(page) == ["Beta", "Gamma"]


def test_a_chip_is_removed_by_its_link(browser: Any, sites: Any) -> None:
    """The other filters stay."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&status=planned&page=1")
    remove = page.html.select(".chip .remove")[1]["href"]
    assert query_of(remove) == {"tenant": [sites["tenant"]]}
    assert names(browser.get(remove)) == ["Alpha", "Beta", "Gamma"]


def test_an_invalid_filter_says_so_at_its_chip_and_spares_the_others(browser: Any, sites: Any) -> None:
    """An unknown name, a bad value and an unknown object are messages, not errors of the page."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&nonsense=1&asn__gt=x&region=nowhere&status=active")
    assert names(page) == ["Beta", "Gamma"]
    invalid = [" ".join(chip.text.split()) for chip in page.html.select(".chip.invalid")]
    assert invalid == [
        "nonsense : 1 Unknown filter field",
        "ASN > x Enter a number.",
        "Region is nowhere Select a valid choice. nowhere is not one of the available choices.",
    ]


def test_names_in_chips_are_hidden_from_users_who_may_not_view_the_objects(service: Service, sites: Any) -> None:
    """An id in the query does not give away a name."""
    account = service.user(("view", "dcim.site"), password=PASSWORD)
    page = Browser(service, account).get(f"/dcim/sites/?tenant_id={sites['id']}")
    assert sites["tenant_name"] not in page.html.select_one(".chips").text


def test_a_filter_is_added_in_two_steps_without_scripts(browser: Any, sites: Any) -> None:
    """First the field, then comparison and value."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&ordering=-asn")
    form = next(form for form in page.forms.values() if "_filter" in form.fields)
    form["_filter"] = "status"
    page = form.submit()
    form = next(form for form in page.forms.values() if "_lookup" in form.fields)
    form["_lookup"], form["_value"] = "n", ["planned"]
    page = form.submit(status=303).follow()
    assert query_of(page.request.url) == {
        "tenant": [sites["tenant"]],
        "status__n": ["planned"],
        "ordering": ["-asn"],
    }
    assert names(page) == ["Gamma", "Beta"]


def test_a_chip_leads_to_the_form_that_changes_its_filter(browser: Any, sites: Any) -> None:
    """The changed filter replaces the former one."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&name__ic=alpha")
    page = browser.get(page.html.select(".chip a")[2]["href"])
    form = next(form for form in page.forms.values() if "_lookup" in form.fields)
    assert form["_lookup"].value == "ic" and form["_value"].value == "alpha"
    form["_lookup"] = "nic"
    page = form.submit(status=303).follow()
    assert names(page) == ["Beta", "Gamma"]
    assert "name__ic" not in query_of(page.request.url)


def test_a_reference_is_filtered_by_a_choice_of_objects_or_by_its_absence(browser: Any, sites: Any) -> None:
    """The objects are listed by name; *is empty* takes no value."""
    page = browser.get("/dcim/sites/?_filter=tenant")
    form = next(form for form in page.forms.values() if "_lookup" in form.fields)
    form["_lookup"] = "empty"
    page = form.submit(status=303).follow()
    assert query_of(page.request.url) == {"tenant": ["null"]}
    assert "Alpha" not in names(page)


def test_filters_are_written_and_read_as_text(browser: Any, sites: Any) -> None:
    """The text replaces all filters; order and columns stay."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&name__nic=beta&ordering=-asn")
    form = next(form for form in page.forms.values() if "_text" in form.fields)
    assert form["_text"].value == f"tenant:{sites['tenant']} name!~beta"
    form["_text"] = f"tenant:{sites['tenant']} status:!planned asn>65001"
    page = form.submit(status=303).follow()
    assert names(page) == ["Gamma"]
    assert query_of(page.request.url)["ordering"] == ["-asn"]


def test_the_search_box_keeps_filters(browser: Any, sites: Any) -> None:
    """Words are searched for within the filtered list."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}&status=active")
    form = next(form for form in page.forms.values() if "q" in form.fields and form.action == "/dcim/sites/")
    form["q"] = "gamma"
    page = form.submit()
    assert names(page) == ["Gamma"]
    assert chips(page)[1] == "Status is Active"


def test_columns_are_chosen_by_the_url_and_kept_for_the_user(browser: Any, sites: Any) -> None:
    """Checkboxes choose columns once, or for good; *Reset* forgets them."""
    page = browser.get(f"/dcim/sites/?tenant={sites['tenant']}")
    form = page.forms["columns"]
    for box in form.fields["_columns"]:
        box.checked = box._value in ("asn", "facility")
    chosen = form.submit()
    labels = [cell.text.strip() for cell in chosen.html.select("th[scope=col]")]
    assert labels == ["Name", "Facility", "ASN"] or labels == ["Name", "ASN", "Facility"]
    posted = form.submit_fields()
    kept = browser.post("/dcim/sites/_columns/", posted).follow()
    assert query_of(kept.request.url) == {"tenant": [sites["tenant"]]}
    assert [cell.text.strip() for cell in kept.html.select("th[scope=col]")] == labels
    reset = browser.post("/dcim/sites/_columns/", [*posted, ("_reset", "1")]).follow()
    assert [cell.text.strip() for cell in reset.html.select("th[scope=col]")] != labels


def test_the_order_of_columns_is_changed_by_links(browser: Any) -> None:
    """A chosen column moves one place to the left."""
    page = browser.get("/dcim/sites/?_columns=status,asn,facility")
    link = page.html.select_one('a[aria-label="Move ASN to the left"]')["href"]
    assert query_of(link)["_columns"] == ["asn,status,facility"]


def test_values_of_custom_fields_are_columns(api: Any, browser: Any, unique: Any) -> None:
    """They are named like their filters."""
    slug = unique().replace("-", "_")
    api.post(
        "/api/extras/custom-fields/",
        {"name": slug, "slug": slug, "label": slug, "type": "text", "content_types": ["dcim.site"]},
    )
    word = unique()
    api.post(SITES, {"name": word, "slug": word, "status": "active", "custom_fields": {slug: "north wing"}})
    page = browser.get(f"/dcim/sites/?name={word}&_columns=cf_{slug}")
    assert page.html.select_one("table.list tbody td:not(.select)").text == "north wing"


def test_a_list_takes_at_most_eight_statements_with_a_filter(service: Service, browser: Any, sites: Any) -> None:
    """However many rows it has."""
    path = f"/dcim/sites/?tenant={sites['tenant']}&ordering=-asn"
    browser.get(path)
    with service.statements() as found:
        browser.get(path)
    assert len(found) <= 8, found


def test_a_long_list_is_drawn_in_parts_of_a_hundred_rows(browser: Any, api: Any, unique: Any) -> None:
    word = unique()
    bodies = [{"name": f"{word}-{number}", "slug": f"{word}-{number}"} for number in range(201)]
    api.post("/api/tenancy/tenants/", bodies)
    table = browser.get("/tenancy/tenants/", {"q": word, "per_page": 1000}).html.select_one("table.list")
    assert [len(body.select("tr")) for body in table.select("tbody")] == [100, 100, 1]
    assert [body.has_attr("data-later") for body in table.select("tbody")] == [False, True, True]


def test_parts_of_pages_come_as_the_browser_left_them(browser: Any) -> None:
    page = browser.get("/dcim/sites/").html
    assert not page.select_one("html").has_attr("data-toggled")
    assert not page.select_one("details.facets").has_attr("open")
    browser.set_cookie("netinv_toggled", "facets.rail.nonsense")
    page = browser.get("/dcim/sites/").html
    assert page.select_one("html")["data-toggled"] == "rail facets"
    assert page.select_one("details.facets").has_attr("open")


def test_hostile_text_in_the_query_stays_text(browser: Any) -> None:
    """Names, values, searches and orders are escaped wherever they are shown."""
    evil = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
    page = browser.get(f"/dcim/sites/?name={evil}&{evil}=1&q={evil}&ordering={evil}&_columns={evil}&_filter={evil}")
    assert "<script>alert" not in page.text


def test_tabs_of_an_object_are_sorted_and_filtered_alike(api: Any, browser: Any, unique: Any) -> None:
    """Their links stay at the tab."""
    word = unique()
    maker = api.post("/api/dcim/manufacturers/", {"name": word, "slug": word})
    kind = api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word, "slug": word})
    templates = [{"device_type": kind["id"], "name": name, "type": "virtual"} for name in ("Vlan1", "Vlan2", "Loop0")]
    api.post("/api/dcim/interface-templates/", templates)
    tab = next(
        link["href"]
        for link in browser.get(f"/dcim/device-types/{kind['id']}/").html.select(".tabs a")
        if "interface" in link["href"]
    )
    page = browser.get(f"{tab}?name__ic=vlan&ordering=-name")
    assert names(page) == ["Vlan2", "Vlan1"]
    assert all(link["href"].startswith(tab) for link in page.html.select(".chip a, thead a"))


def test_control_characters_of_stored_text_are_replaced(api: Any, browser: Any, unique: Any) -> None:
    """HTML does not allow them."""
    word = unique()
    api.post("/api/tenancy/tenants/", {"name": word, "slug": word, "description": "a\x07b"})
    page = browser.get(f"/tenancy/tenants/?slug={word}&_columns=description")
    assert page.html.select_one("table.list tbody td:not(.select)").text == "a\ufffdb"


@pytest.mark.parametrize("name", ["page", "per_page"])
def test_numbers_of_thousands_of_digits_are_ignored(browser: Browser, name: str) -> None:
    browser.get("/dcim/sites/", {name: "9" * 5000})


def test_a_column_with_a_number_of_thousands_of_digits_is_named(browser: Browser) -> None:
    page = browser.post("/dcim/sites/import/", {"data": f"{'9' * 5000}\nx", "action": "preview"}, status=(200, 422))
    assert "Something went wrong" not in page


@pytest.mark.parametrize("date", ["Thu, 01 Jan 99999 00:00:00 GMT", "Thu, 99 Zzz 0000 99:99:99 GMT", "never"])
@pytest.mark.night
def test_dates_that_are_none_are_ignored(browser: Browser, date: str) -> None:
    for path in ("/dcim/sites/", "/api/dcim/sites/", "/api/swagger.json"):
        for name in ("If-Modified-Since", "If-Unmodified-Since", "If-Range"):
            browser.get(path, headers={name: date, "Range": "bytes=0-1"}, status=(200, 206))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({f"cf_x{number}": "1" for number in range(101)}, "A list takes at most 100 filters."),
        ({"name": "x" * 30_000}, "The filters of a list have at most 30,000 characters."),
    ],
)
def test_filters_that_every_link_of_a_page_would_repeat_have_a_bound(
    browser: Browser, query: dict[str, str], message: str
) -> None:
    """A page has hundreds of links with the whole query."""
    assert message in browser.get("/dcim/sites/", query, status=400).words
    few = dict(list(query.items())[:1]) if len(query) > 1 else {"name": "x" * 10_000}
    browser.get("/dcim/sites/", few)
