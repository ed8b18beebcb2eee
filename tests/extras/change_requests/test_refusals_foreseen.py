"""Forms and previews say what review rules would refuse before anything is sent, and a refusal keeps what was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

RULES, SITES, REGIONS = "/api/extras/review-rules/", "/api/dcim/sites/", "/api/dcim/regions/"
WRITER = (
    ("view add change", "extras.changerequest"),
    ("view add change delete", "dcim.site"),
    ("view add change delete", "dcim.region"),
)
Made = dict[str, Any]
Rule = Callable[..., Made]
ROWS = 12


@pytest.fixture
def rule(api: Api, unique: Unique) -> Iterator[Rule]:
    """``rule(**members)``: a new review rule of sites."""
    paths: list[str] = []

    def make(**members: Any) -> Made:
        made: Made = api.post(RULES, {"name": unique(), "content_types": ["dcim.site"], **members})
        paths.append(f"{RULES}{made['id']}/")
        return made

    yield make
    for path in paths:
        api.delete(path)


@pytest.fixture
def browser(service: Service) -> Browser:
    """The browser of a user who may write sites, and propose."""
    return Browser(service, service.user(*WRITER, password=PASSWORD))


@pytest.fixture
def pair(api: Api, unique: Unique) -> tuple[Made, Made]:
    """Two sites, of which the second one's name begins with that of the first."""
    name = unique()
    one, two = api.post(SITES, [{"name": text, "status": "active"} for text in (name, f"{name} b")])
    return one, two


def buttons(page: Any) -> list[str]:
    return [button.get_text(strip=True) for button in page.html.select("main .form-actions button")]


def notices(page: Any) -> str:
    return " ".join(item.get_text(" ", strip=True) for item in page.html.select("main .notice"))


def test_a_rule_about_some_fields_is_said_beside_save(browser: Browser, rule: Rule, site: Made) -> None:
    """*Save* stays: other fields can be changed."""
    made = rule(constraints={"name": site["name"]}, field_names=["asn", "status"])
    page = browser.get(f"/dcim/sites/{site['id']}/edit/")
    assert f"Some changes here need a review: {made['name']} (ASN, Status)." in notices(page)
    assert buttons(page) == ["Save", "Propose"]
    form = page.form()
    form["facility"] = "DC 7"
    form.submit(status=303)


def test_a_rule_about_other_objects_is_not_mentioned_but_for_new_ones(
    browser: Browser, rule: Rule, site: Made, unique: Unique
) -> None:
    made = rule(constraints={"name": unique()})
    page = browser.get(f"/dcim/sites/{site['id']}/edit/")
    assert notices(page) == ""
    assert "Save" in buttons(page)
    page = browser.get("/dcim/sites/add/")
    assert f"Some changes here need a review: {made['name']}." in notices(page)
    assert buttons(page)[0] == "Create"


def test_who_may_bypass_the_rule_reads_nothing_of_it(service: Service, rule: Rule, site: Made) -> None:
    made = rule(constraints={"name": site["name"]}, field_names=["asn"])
    bypassing = service.user(*WRITER, ("bypass", "extras.reviewrule", {"name": made["name"]}), password=PASSWORD)
    assert notices(Browser(service, bypassing).get(f"/dcim/sites/{site['id']}/edit/")) == ""


def test_who_may_not_propose_reads_it_too(service: Service, rule: Rule, site: Made) -> None:
    made = rule(constraints={"name": site["name"]}, field_names=["asn"])
    other = Browser(service, service.user(("view change", "dcim.site"), password=PASSWORD))
    page = other.get(f"/dcim/sites/{site['id']}/edit/")
    assert made["name"] in notices(page)
    assert buttons(page) == ["Save"]


@pytest.mark.night
def test_a_refused_form_is_shown_again_with_what_was_typed(
    browser: Browser, api: Api, rule: Rule, site: Made, unique: Unique
) -> None:
    """The new object, and the change of one."""
    made, name = rule(constraints={"name__startswith": site["name"]}, field_names=["name", "asn"]), f"{site['name']} b"
    for path in (f"/dcim/sites/{site['id']}/edit/", "/dcim/sites/add/"):
        form = browser.get(path).form()
        form["name"], form["facility"], form["asn"] = name, "DC 7", "64999"
        refused = form.submit(status=403)
        assert f"Changes of sites need a review ({made['name']}): propose them." in notices(refused)
        again = refused.form().submit("_show_again", value="1", status=200)
        assert [again.form()[field].value for field in ("name", "facility", "asn")] == [name, "DC 7", "64999"]
    assert api.get(SITES, {"name": name})["count"] == 0
    assert api.get(f"{SITES}{site['id']}/")["facility"] == ""


def test_the_preview_of_a_bulk_edit_names_what_is_refused(
    browser: Browser, api: Api, rule: Rule, pair: tuple[Made, Made]
) -> None:
    """*Propose* is in place of *Apply*, which would be refused; the proposal has all the changes."""
    one, two = pair
    made = rule(constraints={"name": two["name"]}, field_names=["facility"])
    form = browser.get(f"/dcim/sites/edit/?pk={one['id']}&pk={two['id']}").form()
    form["facility"] = "DC 7"
    preview = form.submit("_step", status=200)
    refusal = preview.html.select_one("main .notice.warning").get_text(" ", strip=True)
    assert f"need a review ({made['name']})" in refusal
    assert [link.get_text() for link in preview.html.select("main .notice.warning a")] == [two["name"]]
    assert buttons(preview) == ["Propose", "Back to the form"]
    proposed = preview.form().submit("_propose", value="ask").follow()
    assert api.get(f"/api{proposed.request.path}changes/")["count"] == 2
    assert api.get(SITES, {"id": one["id"], "facility": "DC 7"})["count"] == 0


def test_the_preview_of_a_bulk_edit_is_as_before_where_nothing_is_refused(
    browser: Browser, rule: Rule, pair: tuple[Made, Made]
) -> None:
    one, two = pair
    rule(constraints={"name": two["name"]}, field_names=["asn"])
    form = browser.get(f"/dcim/sites/edit/?pk={one['id']}&pk={two['id']}").form()
    form["facility"] = "DC 7"
    preview = form.submit("_step", status=200)
    assert buttons(preview)[0] == "Apply"
    assert notices(preview) == ""
    preview.form().submit("_step", value="apply", status=303)


def test_the_previews_of_deletions_name_what_is_refused(
    browser: Browser, api: Api, rule: Rule, pair: tuple[Made, Made]
) -> None:
    """Of several objects, and of one: a rule about a field that the object has a value of."""
    one, two = pair
    made = rule(constraints={"name": two["name"]}, field_names=["status"])
    both = browser.get(f"/dcim/sites/delete/?pk={one['id']}&pk={two['id']}")
    single = browser.get(f"/dcim/sites/{two['id']}/delete/")
    for page in (both, single):
        assert f"need a review ({made['name']})" in notices(page)
        assert [link.get_text() for link in page.html.select("main .notice.warning a")] == [two["name"]]
        assert buttons(page) == ["Propose"]
    assert buttons(browser.get(f"/dcim/sites/{one['id']}/delete/")) == ["Delete", "Propose"]
    assert api.get(SITES, {"id": [one["id"], two["id"]]})["count"] == 2


def test_what_follows_from_a_deletion_is_foreseen(
    browser: Browser, api: Api, rule: Rule, site: Made, unique: Unique
) -> None:
    """A site under a rule loses its region."""
    made, region = rule(constraints={"name": site["name"]}), api.post(REGIONS, {"name": unique()})
    api.patch(f"{SITES}{site['id']}/", {"region": region["id"]})
    page = browser.get(f"/dcim/regions/{region['id']}/delete/")
    assert f"Changes of sites need a review ({made['name']})" in notices(page)
    assert buttons(page) == ["Propose"]


def test_the_preview_of_an_import_names_what_is_refused(browser: Browser, rule: Rule, pair: tuple[Made, Made]) -> None:
    made = rule(constraints={"name": pair[1]["name"]}, field_names=["facility"])
    form = browser.get("/dcim/sites/import/").form()
    form["data"] = f"id,facility\n{pair[0]['id']},DC 7\n{pair[1]['id']},DC 7\n"
    preview = form.submit("_step", status=200)
    assert f"need a review ({made['name']})" in notices(preview)
    assert "Import" not in buttons(preview)
    assert "Propose" in buttons(preview)


def test_objects_that_the_user_may_not_view_are_not_named(
    service: Service, api: Api, rule: Rule, site: Made, unique: Unique
) -> None:
    rule(constraints={"name": site["name"]})
    region = api.post(REGIONS, {"name": unique()})
    api.patch(f"{SITES}{site['id']}/", {"region": region["id"]})
    user = service.user(("view delete", "dcim.region"), password=PASSWORD)
    page = Browser(service, user).get(f"/dcim/regions/{region['id']}/delete/")
    assert "need a review" in notices(page)
    assert site["name"] not in page.text
    assert buttons(page) == []


@pytest.mark.night
def test_a_preview_takes_the_same_number_of_statements_for_many_objects(
    service: Service, api: Api, rule: Rule, unique: Unique
) -> None:
    prefix = unique()
    sites = api.post(SITES, [{"name": f"{prefix} {number}", "status": "active"} for number in range(ROWS)])
    rule(constraints={"name__startswith": prefix}, field_names=["facility", "status"])
    browser = Browser(service, service.user(*WRITER, password=PASSWORD))

    def counted(keys: list[Made], verb: str) -> int:
        page = browser.get(f"/dcim/sites/{verb}/?{urlencode([('pk', item['id']) for item in keys])}")
        with service.statements() as statements:
            if verb == "edit":
                form = page.form()
                form["facility"] = "DC 7"
                page = form.submit("_step", status=200)
            else:
                page = browser.get(page.request.path_qs)
        assert "need a review" in notices(page)
        return len(statements)

    for verb in ("edit", "delete"):
        counted(sites, verb)
        assert counted(sites[:2], verb) == counted(sites, verb)
