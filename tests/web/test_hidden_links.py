"""Links to objects that constraints hide: pages have their names only."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netinv_testing import Account, Samples, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser


def test_what_constraints_hide_is_named_without_a_link(
    service: Service, make_user: Callable[..., Account], unique: Unique
) -> None:
    api, word = service.api, unique()
    names = [f"{word} {letter}" for letter in "ab"]
    sites = [
        api.post("/api/dcim/sites/", {"name": name, "slug": name.replace(" ", "-"), "status": "active"})
        for name in names
    ]
    racks = [
        api.post("/api/dcim/racks/", {"name": f"{word} rack", "site": site["id"], "status": "active"}) for site in sites
    ]
    user = make_user(("view", "dcim.rack"), password=PASSWORD)
    service.permit("view", "dcim.site", {"name": names[0]}, users=[user.id])
    everybody = make_user(("view", "dcim.rack"), ("view", "dcim.site"), password=PASSWORD)
    reader, other = Browser(service, user), Browser(service, everybody)
    paths = [f"/dcim/sites/{site['id']}/" for site in sites]
    for page in [f"/dcim/racks/?q={word}", *(f"/dcim/racks/{rack['id']}/?_show=all" for rack in racks)]:
        reader.get(page), other.get(page)
        with service.statements() as limited:
            html = reader.get(page, status=200).html
        with service.statements() as free:
            whole = other.get(page, status=200).html
        links = {link["href"] for link in whole.select("main a")} & set(paths)
        assert links and {link["href"] for link in html.select("main a")} & set(paths) == links - {paths[1]}
        assert html.main.text == whole.main.text
        assert len(limited) <= len(free) + ("?_show" in page)  # that of the breadcrumb


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "https://example.com/", "//example.com/api/dcim/sites/x/", "/logout/", "data:text/html,x"],
)
def test_a_document_with_the_members_of_an_object_is_no_link(service: Service, browser: Browser, url: str) -> None:
    device = Samples(service).make(service.registry["dcim.device"])
    service.api.patch(device["url"], {"local_context_data": {"display": "a document", "url": url}})
    columns = "local_context_data,config_context"
    for path in (f"/dcim/devices/?id={device['id']}&_columns={columns}", f"/dcim/devices/{device['id']}/?_show=all"):
        page = browser.get(path)
        assert "a document" in page.words
        assert not [link for link in page.html.select("main a") if "a document" in link.text or link.get("href") == url]
