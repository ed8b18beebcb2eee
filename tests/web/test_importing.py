"""Import pages in a browser without scripts: pasted and uploaded rows, a preview with errors at cells, all or
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import webtest

from netinv_testing import Api, Service
from netinv_testing.client import PASSWORD
from netinv_web.paths import page_path
from netinv_web.testing import Browser, BrowserPage
from tests.support.importing import apply, preview
from tests.support.typed_devices import Hardware

pytestmark = pytest.mark.any_database  # files and forms over the write path

TENANTS, SITES, CHANGES = "/api/tenancy/tenants/", "/api/dcim/sites/", "/api/extras/object-changes/"
PAGE = "/tenancy/tenants/import/"
HOSTILE = '"><script>alert(1)</script>'
Unique = Callable[[], str]


@pytest.fixture
def word(unique: Unique) -> str:
    """A word that no other object has."""
    return unique()


def count(api: Api, word: str) -> int:
    """The number of tenants of a test."""
    number: int = api.get(TENANTS, {"slug__isw": word})["count"]
    return number


def test_pasted_rows_are_previewed_then_created(browser: Browser, api: Api, word: str) -> None:
    """They are created by one request, which one undo takes back."""
    page = preview(browser, f"name,slug,description\n{word} 1,{word}-1,first\n{word} 2,{word}-2,\n")
    assert "2 rows: 2 new, 0 changed, 0 unchanged" in page.words
    assert count(api, word) == 0
    assert "Tenants: 2 created." in apply(browser, page).follow().words
    made = api.get(TENANTS, {"slug__isw": word})["results"]
    assert [item["description"] for item in made] == ["first", ""]
    assert len({api.get(CHANGES, {"changed_object_id": item["id"]})["results"][0]["request_id"] for item in made}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "name\tslug\n{0} 1\t{0}-1\n",
        "name;slug\n{0} 1;{0}-1\n",
        '[{{"name": "{0} 1", "slug": "{0}-1"}}]',
        "- name: {0} 1\n  slug: {0}-1\n",
    ],
    ids=["TSV", "semicolons", "JSON", "YAML"],
)
def test_the_format_is_recognised(browser: Browser, api: Api, word: str, text: str) -> None:
    apply(browser, preview(browser, text.format(word)))
    assert api.get(TENANTS, {"slug": f"{word}-1"})["count"] == 1


def test_rows_with_an_id_change_objects_and_show_the_difference(browser: Browser, api: Api, word: str) -> None:
    first, second = api.post(
        TENANTS, [{"name": f"{word} {n}", "slug": f"{word}-{n}", "description": "old"} for n in range(2)]
    )
    page = preview(browser, f"id,description\n{first['id']},new\n{second['id']},old\n")
    assert "2 rows: 0 new, 1 changed, 1 unchanged" in page.words
    assert [item.text for item in page.html.select("del, ins")] == ["old", "new"]
    apply(browser, page)
    assert api.get(first["url"])["description"] == "new"


def test_rows_without_an_id_change_the_object_with_their_key_if_asked(browser: Browser, api: Api, word: str) -> None:
    tenant = api.post(TENANTS, {"name": word, "slug": word})
    text = f"name,slug,description\n{word},{word},changed\n{word} 2,{word}-2,new\n"
    preview(browser, text, status=422)  # the first one exists
    page = preview(browser, text, match="true")
    assert "2 rows: 1 new, 1 changed" in page.words
    apply(browser, page)
    assert api.get(tenant["url"])["description"] == "changed" and count(api, word) == 2


def test_every_error_is_at_its_cell_and_nothing_is_written(browser: Browser, api: Api, word: str) -> None:
    """Asserts that the entered text is still there."""
    text = f"name,status,asn,tenant\n{word} 1,active,1,\n{word} 2,nope,1,\n{word} 3,active,x,{word}\n"
    page = preview(browser, text, "/dcim/sites/import/", status=422)
    assert "2 rows have errors" in page.words and "1 new" in page.words
    faulty = page.html.select("tr.faulty")
    marked = [
        [number for number, cell in enumerate(row.select("td")) if cell.get("class") == ["invalid"]] for row in faulty
    ]
    assert [row.th.text for row in faulty] == ["3", "4"]
    assert marked[0] == [2] and 3 in marked[1]
    assert not page.html.select("button[value=apply]")
    assert page.html.select_one("textarea[name=data]").text.strip() == text.strip()
    form = page.form()
    form.submit("_step", status=422)
    assert api.get(SITES, {"name__isw": word})["count"] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Choose a file, or paste rows."),
        ("first,nope\na,b\n", "nope"),
        ("name,slug\na\n", "Row 2 has 1 cells"),
        ("name,name\na,b\n", "is there twice"),
        ("[{", "JSON parse error"),
        ("- a: [", "YAML parse error"),
        ("[1]", "An object is expected."),
        ('name\n"a', "row"),
    ],
)
def test_what_cannot_be_read_says_where(browser: Browser, text: str, message: str) -> None:
    page = preview(browser, text, status=422)
    assert message in page.words


def test_an_unknown_id_is_an_error_at_its_row(browser: Browser, api: Api, word: str) -> None:
    page = preview(browser, f"id,description\n00000000-0000-4000-8000-000000000000,{word}\nno id,x\n", status=422)
    assert page.html.select("tr.faulty")


def test_an_uploaded_file_is_kept_for_the_import(browser: Browser, api: Api, word: str) -> None:
    form = browser.get(PAGE).form()
    form["file"] = webtest.Upload(
        "tenants.json", json.dumps([{"name": word, "comments": "a\r\nb\nc"}]).encode(), "application/json"
    )
    page = form.submit("_step", status=200)
    assert "1 rows of tenants.json" in page.words
    apply(browser, page)
    assert api.get(TENANTS, {"name": word})["results"][0]["comments"] == "a\r\nb\nc"


def test_rows_that_were_changed_after_the_preview_are_previewed_again(browser: Browser, api: Api, word: str) -> None:
    page = preview(browser, f"name,slug\n{word},{word}\n")
    form = page.form()
    form["data"] = f"name,slug\n{word} other,{word}\n"
    again = form.submit("_step", status=200)
    assert "The rows differ from those of the preview" in again.words and count(api, word) == 0
    apply(browser, again)
    assert api.get(TENANTS, {"slug": word})["results"][0]["name"] == f"{word} other"


@pytest.mark.parametrize("query", ["format=csv", "format=tsv", "format=yaml", "limit=0"])
def test_what_a_list_exports_imports_again_unchanged(
    service: Service, browser: Browser, api: Api, word: str, query: str
) -> None:
    tenant = api.post(TENANTS, {"name": word, "slug": word})
    tag = api.post("/api/extras/tags/", {"name": word, "slug": word, "content_types": ["dcim.site"]})
    common = {"status": "active", "tenant": tenant["id"], "tags": [tag["id"]], "comments": 'one\ntwo, "three"\n=1+1'}
    api.post(
        SITES,
        [{"name": f"=HYPERLINK {word} {n}", "slug": f"{word}-{n}", "latitude": "1.5", **common} for n in range(2)],
    )
    exported = browser.get(
        f"/api/dcim/sites/?slug__isw={word}&{query}",
        headers={"Accept": "*/*" if "format" in query else "application/json"},
    )
    page = preview(browser, exported.body.decode(), "/dcim/sites/import/")
    assert "2 rows: 0 new, 0 changed, 2 unchanged" in page.words


@pytest.mark.parametrize("label", ["dcim.device", "dcim.cable", "dcim.interface", "ipam.prefix", "extras.job"])
def test_the_files_in_the_export_menu_import_unchanged(service: Service, browser: Browser, label: str) -> None:
    """Jobs have other representations in older versions of the API."""
    endpoint = service.registry[label]
    path = page_path(endpoint)
    if label == "extras.job":
        keys = [item["id"] for item in service.api.get("/api/extras/jobs/")["results"][:2]]
    else:
        keys = [item["id"] for item in service.population.objects(endpoint, 2)]
    page = browser.get(path, [("id", key) for key in keys])
    files = [
        link
        for link in page.links()
        if link.startswith(f"{endpoint.path}?") and ("format=" in link or "limit=0" in link)
    ]
    assert len(files) == 4
    for file in files:
        answer = browser.get(file, headers={"Accept": "*/*" if "format" in file else "application/json"})
        form = browser.get(f"{path}import/").form()
        form["file"] = webtest.Upload("exported", answer.body)
        shown = form.submit("_step", status=200)
        assert "2 rows of exported: 0 new, 0 changed, 2 unchanged" in shown.words, file


def test_users_import_what_they_may_write(service: Service, api: Api, word: str) -> None:
    """Rows outside of the constraints refuse the whole import."""
    user = service.user(("view add", "tenancy.tenant", {"slug": word}), password=PASSWORD)
    browser = Browser(service, user)
    preview(browser, f"name,slug\n{word},{word}\n{word} 2,{word}-2\n", status=422)
    apply(browser, preview(browser, f"name,slug\n{word},{word}\n"))
    assert count(api, word) == 1
    made = api.get(TENANTS, {"slug": word})["results"][0]
    assert "permission" in preview(browser, f"id,description\n{made['id']},x\n", status=422).text
    browser.get("/dcim/racks/import/", status=403)


def test_a_user_who_only_views_has_no_import(service: Service) -> None:
    user = service.user(("view", "tenancy.tenant"), password=PASSWORD)
    Browser(service, user).get(PAGE, status=403)


def test_a_resource_that_is_not_written_has_no_import(browser: Browser) -> None:
    browser.get("/extras/object-changes/import/", status=404)


def affected(page: BrowserPage) -> list[tuple[str, list[str]]]:
    """The groups of objects that change along, with the paths that they lead to."""
    items = page.html.select(".affected li")
    return [(" ".join(item.get_text(" ").split()), [str(link["href"]) for link in item.select("a")]) for item in items]


def test_what_an_import_creates_along_is_counted_and_leads_nowhere(browser: Browser, api: Api, unique: Unique) -> None:
    """Also where it is more than a request writes."""
    hardware = Hardware(api, unique)
    type_ = hardware.type()
    rows = [{"device_type": type_, "name": f"eth{number}", "type": "1000base-t"} for number in range(60)]
    api.post("/api/dcim/interface-templates/", rows)
    device = json.dumps({"device_type": type_, **hardware.place})
    devices = [{**json.loads(device), "name": unique()} for _ in range(20)]
    page = preview(browser, json.dumps(devices), "/dcim/devices/import/")
    ((words, paths),) = affected(page)
    assert words == "1,200 Interfaces They are created with the import." and paths == []


def test_the_outcome_of_a_preview_has_the_focus(browser: Browser, word: str) -> None:
    """Not the first field below the rows, which would scroll to the end of many."""
    page = preview(browser, f"name,slug\n{word},{word}\n")
    assert "1 rows: 1 new" in page.html.select_one("[data-focus]").text
    assert not page.html.select("form[data-form]") and browser.get(PAGE).html.select("form[data-form]")


def test_hostile_cells_stay_text(browser: Browser, word: str) -> None:
    for text in (f"name,slug\n{HOSTILE.replace(',', '')},{word}\n", json.dumps([{HOSTILE: HOSTILE, "name": HOSTILE}])):
        form = browser.get(PAGE).form()
        form["data"] = text
        answer = form.submit("_step", status="*")
        assert "<script>alert" not in answer.text and answer.status_int in (200, 422)


def test_an_empty_file_has_the_columns(browser: Browser) -> None:
    answer = browser.get(f"{PAGE}?_template=csv")
    assert answer.content_type == "text/csv" and answer.text.split(",")[0] == "name"
    help_text = browser.get("/dcim/sites/import/").words
    assert "slug or id of a tenant" in help_text and "active" in help_text


def test_pages_of_imports_say_fields_as_people_do(browser: Browser, word: str) -> None:
    by_key = browser.get("/dcim/devices/import/").html.select_one("#help-match").text
    assert by_key.endswith("if there is one: Asset tag.")
    rows = f"asset_tag,device_type\n{word},no such type\n"
    page = browser.post("/dcim/devices/import/", {"_step": "preview", "data": rows}, status=422)
    (table,) = page.html.select("[aria-label=Rows] table")
    assert [cell.text for cell in table.select("th[scope=col]")][2:] == ["Asset tag", "Device type"]
    assert "Device type" in [cell.get("data-label") for cell in table.select("td")]


def test_more_rows_than_the_limit_are_refused(
    service: Service, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(service.registry.settings, "max_bulk_objects", 2)
    assert "more than 2 rows" in preview(browser, "name\na\nb\nc\n", status=422).text


def test_statements_do_not_grow_with_the_number_of_rows(service: Service, browser: Browser, word: str) -> None:
    counts = []
    for number in (4, 40):
        text = "name,slug\n" + "".join(f"{word} {n},{word}-{n}\n" for n in range(number))
        form = browser.get(PAGE).form()
        form["data"] = text
        with service.statements() as statements:
            form.submit("_step", status=200)
        counts.append(len(statements))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("path", [PAGE, "/dcim/device-types/import/"])
def test_the_file_is_the_first_field_of_the_page(browser: Browser, path: str) -> None:
    """The file field comes before the text of pasted rows."""
    fields = browser.get(path).html.select(".import-form :is(input, textarea, select):not([type=hidden])")
    assert [field["name"] for field in fields][:2] == ["file", "data"]
