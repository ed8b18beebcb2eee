"""Pages that tell what a button writes: what they tell has the focus, so that the next key leads to the button.

That every page of this kind has a focus is a rule of :class:`netinv_web.testing.validation.PageValidator`, which judges
each page of each test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Unique
from netinv_web.testing import Browser, BrowserPage

PREFIXES = "/api/ipam/prefixes/"


class Ground:
    """Objects that previews are about."""

    def __init__(self, browser: Browser, api: Api, unique: Unique) -> None:
        self.browser, self._api, self.unique = browser, api, unique

    def tenant(self) -> str:
        name = self.unique()
        return str(self._api.post("/api/tenancy/tenants/", {"name": name, "slug": name})["id"])

    def prefix(self) -> str:
        """The path of a prefix with the other half of the network around it, in a VRF beside another one."""
        vrf = self._api.post("/api/ipam/vrfs/", {"name": self.unique()})["id"]
        body = {"status": "active", "vrf": vrf}
        halves = self._api.post(PREFIXES, [{**body, "prefix": f"10.97.{third}.0/24"} for third in (0, 1)])
        return f"/ipam/prefixes/{halves[0]['id']}/"


def _tenants(verb: str, **fields: str) -> Callable[[Ground], BrowserPage]:
    def open_page(ground: Ground) -> BrowserPage:
        path = f"/tenancy/tenants/{verb}/"
        return ground.browser.post(path, {"pk": ground.tenant(), "_step": "preview", **fields}, status=200)

    return open_page


def _several(ground: Ground) -> BrowserPage:
    form = ground.browser.get("/dcim/manufacturers/add/").form()
    form["name"] = f"{ground.unique()} [1-3]"
    return form.submit(status=200)


def _imported(ground: Ground) -> BrowserPage:
    form = ground.browser.get("/tenancy/tenants/import/").form()
    form["data"] = f"name,slug\n{ground.unique()},{ground.unique()}\n"
    return form.submit("_step", value="preview", status=200)


CASES: dict[str, tuple[Callable[[Ground], BrowserPage], str]] = {
    "edit": (_tenants("edit", description="x"), "1 would change. Nothing is saved yet."),
    "rename": (_tenants("rename", find=".+", replace="x", pattern="true"), "1 would change. Nothing is saved yet."),
    "delete several": (_tenants("delete"), "Nothing else goes along."),
    "delete": (
        lambda ground: ground.browser.get(f"/tenancy/tenants/{ground.tenant()}/delete/"),
        "will be deleted. Nothing else goes along.",
    ),
    "several": (_several, "3 manufacturers would be created. Nothing is saved yet."),
    "import": (_imported, "1 rows: 1 new, 0 changed, 0 unchanged. Nothing is saved yet."),
    "split": (
        lambda ground: ground.browser.get(f"{ground.prefix()}split/?length=26"),
        "This is what happens to 4 prefixes. Nothing is written yet.",
    ),
    "merge": (
        lambda ground: ground.browser.get(f"{ground.prefix()}merge/"),
        "This is what happens to 2 prefixes. Nothing is written yet.",
    ),
    "move": (
        lambda ground: ground.browser.get(f"{ground.prefix()}move/?vrf=global"),
        "This is what happens to 1 prefix. Nothing is written yet.",
    ),
}


@pytest.mark.any_database
@pytest.mark.parametrize("name", CASES)
def test_what_a_preview_tells_has_the_focus_and_its_button_is_next(
    name: str, browser: Browser, api: Api, unique: Unique
) -> None:
    open_page, words = CASES[name]
    page = open_page(Ground(browser, api, unique))
    told: Any = page.html.select_one("[data-focus]")
    assert words in " ".join(told.get_text().split()) and told["tabindex"] == "-1"
    following = told.find_next(
        ["a", "button", "input", "select", "textarea"], attrs={"type": lambda kind: kind != "hidden"}
    )
    assert following.name == "button" and {"primary", "danger"} & set(following["class"])


@pytest.mark.any_database
def test_the_choice_of_a_vrf_has_the_focus_before_there_is_a_preview(
    browser: Browser, api: Api, unique: Unique
) -> None:
    page = browser.get(f"{Ground(browser, api, unique).prefix()}move/")
    assert page.html.select_one("[data-focus]")["id"] == "choice"
