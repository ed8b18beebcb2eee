"""Saved views of lists, and the columns that an installation sets for everyone."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from netinv_testing import Service
from netinv_testing.samples import Samples
from netinv_web.lists.columns import MAX_COLUMNS
from netinv_web.testing import Browser

PASSWORD = "correct horse"
LIST = "/tenancy/tenant-groups/"
LABEL = "tenancy.tenantgroup"


@pytest.fixture
def reader(service: Service) -> Browser:
    """A browser of a user who may view the list and nothing else."""
    return Browser(service, service.user(("view", LABEL), password=PASSWORD))


def save(browser: Browser, path: str, name: str, **options: str) -> Any:
    """Saves the query of a path under a name, by the form of the menu."""
    page = browser.get(path)
    form = next(form for form in page.forms.values() if "_name" in form.fields)
    form["_name"] = name
    for option, value in options.items():
        form[option] = value
    return form.submit().follow()


def views(browser: Browser, path: str = f"{LIST}?_view=all") -> dict[str, str]:
    """The paths of the views in the menu, by name."""
    links = browser.get(path).html.select(".views a")
    return {link.text.split()[0]: str(link["href"]) for link in links[1:]}


def test_a_view_keeps_filters_order_and_columns_but_no_page(reader: Browser, unique: Any) -> None:
    """It needs no permission beyond that of the list."""
    word = unique()
    page = save(reader, f"{LIST}?name__ic=a&ordering=-name&_columns=slug&page=1", word)
    assert f"The view “{word}” was saved." in page.text
    query = parse_qs(urlsplit(views(reader)[word]).query)
    assert query == {"name__ic": ["a"], "ordering": ["-name"], "_columns": ["slug"]}


def test_a_private_view_is_seen_by_its_owner_only(service: Service, reader: Browser, unique: Any) -> None:
    """Not even superusers see it, on the list or by the API."""
    word = unique()
    save(reader, f"{LIST}?name=x", word)
    admin = Browser(service, service.user(superuser=True, password=PASSWORD))
    assert word in views(reader) and word not in views(admin)
    assert service.api.get("/api/web/saved-views/", {"name": word})["count"] == 0


def test_sharing_takes_the_permission_to_add_views(service: Service, reader: Browser, unique: Any) -> None:
    """The form offers it to those alone, and a forged form does not help."""
    word, other = unique(), unique()
    assert reader.get(LIST).html.select("input[name=_shared]") == []
    reader.post(f"{LIST}_view/", {"_name": word, "_shared": "1", "name": "x"})
    sharer = Browser(service, service.user(("view", LABEL), ("add", "web.savedview"), password=PASSWORD))
    save(sharer, f"{LIST}?name=y", other, _shared="1")
    assert word not in views(sharer) and other in views(reader)


def test_a_view_does_not_tell_whether_a_hidden_object_is_there(service: Service, unique: Any) -> None:
    """The filters of a view are judged as those of the list, though nobody needs a permission to keep one."""
    hidden, seen = (Samples(service).make(service.registry["dcim.site"])["slug"] for _ in range(2))
    rights = [("view", "dcim.device"), ("view", "dcim.site", {"slug": seen})]
    browser = Browser(service, service.user(*rights, password=PASSWORD))
    for slug, word in ((seen, "was saved"), (hidden, "Select a valid choice"), ("zz-nowhere", "Select a valid choice")):
        assert word in browser.post("/dcim/devices/_view/", {"_name": unique(), "site": slug}).follow().words, slug


def test_a_default_view_applies_to_the_bare_url_only(reader: Browser, unique: Any) -> None:
    """Links with filters are not overridden, and the whole list stays within reach."""
    save(reader, f"{LIST}?name__ic=zz", unique(), _is_default="1")
    assert reader.get(LIST, status=303).headers["Location"].endswith(f"{LIST}?name__ic=zz")
    page = reader.get(f"{LIST}?slug=x", status=200)
    assert [chip.text.split()[0] for chip in page.html.select(".chip")] == ["Slug"]
    remove = page.html.select_one(".chip .remove")["href"]
    assert reader.get(remove, status=200).html.select(".chip") == []
    assert reader.get(f"{LIST}?_view=all", status=200).html.select(".chip") == []


def test_saving_under_the_same_name_changes_the_view(reader: Browser, unique: Any) -> None:
    """There is one of each name."""
    word = unique()
    save(reader, f"{LIST}?name=x", word)
    save(reader, f"{LIST}?name=y", word)
    assert views(reader)[word] == f"{LIST}?name=y"


def test_owners_delete_their_views_and_nobody_else_does(service: Service, reader: Browser, unique: Any) -> None:
    """An id of somebody else's view is 404."""
    word = unique()
    save(reader, f"{LIST}?name=x", word)
    key = reader.get(LIST).html.select_one("button[name=_delete]")["value"]
    admin = Browser(service, service.user(superuser=True, password=PASSWORD))
    admin.post(f"{LIST}_view/", {"_delete": key}, status=404)
    reader.post(f"{LIST}_view/", {"_delete": key, "name": "x"}, status=303)
    assert word not in views(reader)


def test_a_view_without_a_name_is_refused_with_a_message(reader: Browser) -> None:
    """The list stays as it is."""
    page = reader.post(f"{LIST}_view/", {"_name": " ", "name": "x"}).follow()
    assert page.html.select_one(".notice.danger") is not None
    assert page.request.url.endswith(f"{LIST}?name=x")


def test_an_administrator_sets_the_columns_of_everyone(service: Service, reader: Browser) -> None:
    """Those who have chosen their own keep them; readers cannot set them."""

    def columns(browser: Browser) -> list[str]:
        return [cell.text.strip() for cell in browser.get(f"{LIST}?_view=all").html.select("form#columns li label")][:2]

    admin = Browser(service, service.user(superuser=True, password=PASSWORD))
    admin.post(f"{LIST}_columns/", {"_columns": "slug,parent", "_everyone": "1"}, status=303)
    assert columns(reader) == ["Slug", "Parent"]
    reader.post(f"{LIST}_columns/", {"_columns": "parent,slug"}, status=303)
    assert columns(reader) == ["Parent", "Slug"]
    reader.post(f"{LIST}_columns/", {"_columns": "slug", "_everyone": "1"}, status=403)
    admin.post(f"{LIST}_columns/", {"_columns": "description,slug", "_everyone": "1"}, status=303)
    assert columns(admin) == ["Description", "Slug"]
    service.api.delete(
        "/api/web/list-defaults/",
        [{"id": item["id"]} for item in service.api.get("/api/web/list-defaults/")["results"]],
    )


def test_default_columns_of_a_list_are_as_many_as_it_shows(service: Service) -> None:
    body = {"content_type": "tenancy.tenant", "columns": ["name"] * (MAX_COLUMNS + 1)}
    assert "columns" in service.api.post("/api/web/list-defaults/", body, status=400)


def test_views_in_the_api_belong_to_the_one_who_makes_them(service: Service, unique: Any) -> None:
    """The owner cannot be given; a list has to exist."""
    body = {"name": unique(), "content_type": LABEL, "query": "?name=x"}
    made = service.api.post("/api/web/saved-views/", body)
    assert made["owner"]["id"] == service.admin.id and made["query"] == "name=x"
    service.api.post("/api/web/saved-views/", body, status=400)
    service.api.post("/api/web/saved-views/", {**body, "content_type": "no.such"}, status=400)
