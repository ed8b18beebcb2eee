"""Links to objects that constraints hide: pages have their names only."""

from __future__ import annotations

from collections.abc import Callable

from netinv_testing import Account, Service, Unique
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
