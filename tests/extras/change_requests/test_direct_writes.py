"""Direct writes of objects under a review rule: refused at every door, but for those who may bypass the rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

RULES, REQUESTS, SITES = "/api/extras/review-rules/", "/api/extras/change-requests/", "/api/dcim/sites/"
PLANS = "/api/extras/plans/"
CHANGES, REGIONS = "/api/extras/object-changes/", "/api/dcim/regions/"
WRITER = (
    ("view add change", "extras.changerequest"),
    ("view add change delete", "dcim.site"),
    ("view add change delete", "dcim.region"),
    ("view", "extras.objectchange"),
)
Made = dict[str, Any]


@pytest.fixture
def rule(api: Api, site: Made, unique: Unique) -> Iterator[Made]:
    """A rule about the site, and those whose names begin with its name."""
    constraints = {"name__startswith": site["name"]}
    made: Made = api.post(RULES, {"name": unique(), "content_types": ["dcim.site"], "constraints": constraints})
    yield made
    api.delete(f"{RULES}{made['id']}/")


@pytest.fixture
def writer(service: Service) -> Account:
    """A user who may write sites, and propose."""
    return service.user(*WRITER, password=PASSWORD)


def records_of(api: Api, site: Made) -> list[Any]:
    """The change records of an object, the latest first."""
    found: list[Any] = api.get(CHANGES, {"changed_object_id": site["id"], "limit": 0, "include": "bypassed"})["results"]
    return found


def test_every_way_of_the_api_is_refused_and_leads_to_change_requests(
    writer: Account, api: Api, rule: Made, site: Made
) -> None:
    at, own = f"{SITES}{site['id']}/", writer.api
    answers = [
        own.patch(at, {"facility": "DC 7"}, status=403),
        own.put(at, {"name": site["name"], "status": "active", "facility": "DC 7"}, status=403),
        own.patch(SITES, [{"id": site["id"], "facility": "DC 7"}], status=403),
        own.post(SITES, {"name": f"{site['name']} b", "status": "active"}, status=403),
        own.post(SITES, [{"name": f"{site['name']} b", "status": "active"}], status=403),
        own.patch(f"{SITES}?match=name", [{"name": site["name"], "facility": "DC 7"}], status=403),
        own.patch(f"{at}?dry_run=true", {"facility": "DC 7"}, status=403),
        own.delete(at, status=403),
        own.delete(SITES, [{"id": site["id"]}], status=403),
    ]
    for answer in answers:
        assert rule["name"] in answer["detail"]
        assert "Propose them" in answer["detail"]
        assert REQUESTS in answer["detail"]
    assert len(records_of(api, site)) == 1
    assert api.get(at)["facility"] == ""
    own.patch(at, {"name": site["name"]})  # changes nothing


def test_an_object_is_refused_that_leaves_the_rule_or_enters_it(
    writer: Account, api: Api, rule: Made, site: Made, unique: Unique
) -> None:
    writer.api.patch(f"{SITES}{site['id']}/", {"name": unique()}, status=403)
    other = writer.api.post(SITES, {"name": unique(), "status": "active"})
    writer.api.patch(f"{SITES}{other['id']}/", {"name": f"{site['name']} b"}, status=403)
    writer.api.patch(f"{SITES}{other['id']}/", {"facility": "DC 7"})


def test_what_follows_from_another_write_is_refused_too(
    writer: Account, api: Api, rule: Made, site: Made, unique: Unique
) -> None:
    region = api.post(REGIONS, {"name": unique()})
    api.patch(f"{SITES}{site['id']}/", {"region": region["id"]})
    writer.api.delete(f"{REGIONS}{region['id']}/", status=403)
    assert api.get(f"{SITES}{site['id']}/")["region"]["id"] == region["id"]


def test_plans_and_undos_are_refused(service: Service, writer: Account, api: Api, rule: Made, site: Made) -> None:
    planner = service.user(*WRITER, ("view add", "extras.plan")).api
    plan = planner.post(PLANS, {"objects": {"dcim.site": [{"name": site["name"], "facility": "DC 7"}]}})
    assert rule["name"] in planner.post(f"{plan['url']}apply/", {}, status=403)["detail"]
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 8"})
    change = records_of(api, site)[0]["id"]
    refused = writer.api.post(f"{CHANGES}{change}/revert/", {}, status=403)
    assert rule["name"] in refused["detail"]
    service.user(*WRITER, ("bypass", "extras.reviewrule")).api.post(f"{CHANGES}{change}/revert/", {}, status=200)


def test_who_may_bypass_writes_and_leaves_a_mark(
    service: Service, api: Api, rule: Made, site: Made, unique: Unique
) -> None:
    at = f"{SITES}{site['id']}/"
    other = service.user(*WRITER, ("bypass", "extras.reviewrule", {"name": unique()})).api
    other.patch(at, {"facility": "DC 7"}, status=403)
    bypassing = service.user(*WRITER, ("bypass", "extras.reviewrule", {"name": rule["name"]})).api
    start = api.get(f"{CHANGES}feed/", {"after": "now"})["cursor"]
    bypassing.patch(at, {"facility": "DC 7"})
    assert records_of(api, site)[0]["bypassed"] == rule["name"]
    assert api.get(f"{at}history/")["results"][0]["bypassed"] == rule["name"]
    (entry,) = [
        item
        for item in api.get(f"{CHANGES}feed/", {"after": start})["results"]
        if item["changed_object_id"] == site["id"] and item["event"] == "updated"
    ]
    assert entry["bypassed"] == rule["name"]
    marked = api.get(CHANGES, {"changed_object_id": site["id"], "bypassed__re": "."})["results"]
    assert [record["action"]["value"] for record in marked] == ["update"]
    api.patch(at, {"facility": "DC 8"})  # superusers bypass, with the mark
    assert records_of(api, site)[0]["bypassed"] == rule["name"]


def test_a_disabled_rule_is_none(writer: Account, api: Api, rule: Made, site: Made) -> None:
    api.patch(f"{RULES}{rule['id']}/", {"enabled": False})
    writer.api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"})
    assert records_of(api, site)[0]["bypassed"] is None


def test_a_refused_write_can_be_proposed_and_is_merged_without_a_mark(
    service: Service, writer: Account, api: Api, rule: Made, site: Made, unique: Unique
) -> None:
    made = writer.api.post(REQUESTS, {"title": unique()})
    writer.api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"}, headers={"X-Change-Request": made["id"]})
    at = f"{REQUESTS}{made['id']}/"
    writer.api.post(f"{at}submit/", {}, status=200)
    writer.api.post(f"{at}merge/", {}, status=409)
    reviewer = service.user(("view approve", "extras.changerequest"), ("view", "dcim.site"))
    reviewer.api.post(f"{at}approve/", {}, status=200)
    writer.api.post(f"{at}merge/", {}, status=200)
    assert records_of(api, site)[0]["bypassed"] is None
    writer.api.post(f"{at}revert/", {}, status=403)  # a direct write


def test_forms_say_why_they_do_not_save_and_offer_to_propose(
    writer: Account, service: Service, api: Api, rule: Made, site: Made
) -> None:
    browser = Browser(service, writer)
    page = browser.get(f"/dcim/sites/{site['id']}/delete/")
    assert "danger" not in str(page.html.select(".form-actions button"))
    page = browser.get(f"/dcim/sites/{site['id']}/edit/")
    assert f"need a review ({rule['name']})" in page.html.select_one(".form-actions .notice").get_text()
    assert [button.get_text() for button in page.html.select(".object-form .form-actions button")] == ["Propose"]
    form = page.form()
    form["facility"] = "DC 7"
    refused = form.submit(status=403)
    assert rule["name"] in refused.html.select_one(".notice").get_text()
    made = refused.form().submit("_propose", value="new").follow()
    (change,) = api.get(f"/api{made.request.path}changes/")["changes"]
    assert (change["object_id"], change["action"]) == (site["id"], "update")
    shown = browser.get(made.request.path).html.select_one("#next-steps, [id*=next-steps]")
    assert rule["name"] in shown.get_text()
    assert "0 of 1 approvals" in shown.get_text()


@pytest.mark.night
def test_bulk_edits_and_imports_of_pages_are_refused(
    writer: Account, service: Service, api: Api, rule: Made, site: Made
) -> None:
    browser = Browser(service, writer)
    form = browser.get(f"/dcim/sites/edit/?pk={site['id']}").form()
    form["facility"] = "DC 7"
    preview = form.submit("_step", status=200)
    assert rule["name"] in preview.form().submit("_step", value="apply", status=403).text
    imported = browser.get("/dcim/sites/import/").form()
    imported["data"] = f"name,status\n{site['name']} b,active\n"
    preview = imported.submit("_step", status=200)
    refused = preview.form().submit("_step", value="apply", status=403)
    assert rule["name"] in refused.text
    made = refused.form().submit("_propose", value="new").follow()
    assert api.get(f"/api{made.request.path}changes/")["count"] == 1
    assert api.get(SITES, {"name__isw": site["name"]})["count"] == 1


def test_a_page_of_history_shows_the_mark(service: Service, api: Api, rule: Made, site: Made) -> None:
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"})
    browser = Browser(service, service.user(superuser=True, password=PASSWORD))
    text = browser.get(f"/dcim/sites/{site['id']}/changelog/").html.get_text(" ", strip=True)
    assert f"Without the review that {rule['name']} asks for" in text


ROWS = 20


def test_statements_do_not_grow_with_the_objects_and_there_are_none_without_rules(
    service: Service, api: Api, site: Made, unique: Unique, request: pytest.FixtureRequest
) -> None:
    prefix = site["name"]
    sites = api.post(SITES, [{"name": f"{prefix} {number}", "status": "active"} for number in range(ROWS)])
    bypassing = service.user(*WRITER, ("bypass", "extras.reviewrule")).api

    def counted(keys: list[Made], text: str) -> int:
        with service.statements() as statements:
            bypassing.patch(SITES, [{"id": item["id"], "facility": text} for item in keys])
        return len(statements)

    counted(sites, "warm"), counted([site], "warm")
    without = counted(sites, "a")
    assert counted(sites, "b") == without
    request.getfixturevalue("rule")
    counted(sites, "again")
    few, many = counted([site], "c"), counted(sites, "c")
    assert (few, many) == (counted([site], "d"), without + 2)  # before and after


def test_the_button_of_an_undo_is_refused_with_the_reason(
    writer: Account, service: Service, api: Api, rule: Made, site: Made
) -> None:
    api.patch(f"{SITES}{site['id']}/", {"facility": "DC 7"})
    browser = Browser(service, writer)
    refused = browser.post("/extras/undo/", {"change": records_of(api, site)[0]["id"], "next": "/"}, status=403)
    assert rule["name"] in refused.html.select_one("#content").get_text()
    assert api.get(f"{SITES}{site['id']}/")["facility"] == "DC 7"
