"""Comments on a field or an object of a change request: validated, shown at their place, and told when it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

REQUESTS, SITES, CHANGES = "/api/extras/change-requests/", "/api/dcim/sites/", "/api/extras/object-changes/"
LABEL = "extras.changerequest"
Made = dict[str, Any]
Comment = Callable[..., Any]


@pytest.fixture
def change_request(api: Api, unique: Unique, site: Made) -> Made:
    """A change request that gives the site a facility and an AS number."""
    made = api.post(REQUESTS, {"title": unique()})
    made |= {"at": f"{REQUESTS}{made['id']}/", "path": f"/extras/change-requests/{made['id']}/"}
    propose(api, made, site, facility="DC 7", asn=64512)
    return dict(made)


@pytest.fixture
def comment(api: Api, change_request: Made, site: Made) -> Comment:
    """``comment(field="facility")``: comments on the site; what the event is about, or the body of a refusal."""

    def write(text: str = "Why?", *, by: Api = api, status: int = 200, **about: Any) -> Any:
        reference = {"object_type": "dcim.site", "object_id": site["id"], "field": None, **about}
        found = by.post(f"{change_request['at']}comment/", {"text": text, **reference}, status=status)
        return found["events"][-1]["about"] if status == 200 else found

    return write


def propose(api: Api, change_request: Made, site: Made, **values: Any) -> None:
    """Changes a site in a change request."""
    api.patch(f"{SITES}{site['id']}/", values, headers={"X-Change-Request": change_request["id"]})


def states(api: Api, change_request: Made) -> list[str]:
    """The states of what the comments are about."""
    return [event["about"]["state"] for event in api.get(f"{change_request['at']}review/")["events"] if event["about"]]


def test_a_comment_names_the_field_that_it_is_about(comment: Comment, site: Made) -> None:
    assert comment(field="facility") == {
        "object_type": "dcim.site",
        "object_id": site["id"],
        "field": "facility",
        "display": site["name"],
        "label": "Facility",
        "state": "current",
    }
    whole = comment()
    assert (whole["field"], whole["label"], whole["state"]) == (None, "", "current")


def test_a_comment_on_the_whole_is_about_nothing(api: Api, change_request: Made) -> None:
    found = api.post(f"{change_request['at']}comment/", {"text": "Good"}, status=200)
    assert found["events"][-1]["about"] is None


def test_a_comment_names_a_change_that_is_there(comment: Comment, api: Api, unique: Unique) -> None:
    other = api.post(SITES, {"name": unique(), "status": "active"})
    assert list(comment(status=400, object_id=other["id"])) == ["object_id"]
    assert list(comment(status=400, object_id="x")) == ["object_id"]
    assert list(comment(status=400, object_type="dcim.rack")) == ["object_id"]
    assert list(comment(status=400, field="latitude")) == ["field"]
    assert list(comment(status=400, field="nothing")) == ["field"]
    assert list(comment(status=400, object_id=None, field="asn")) == ["object_id"]
    assert list(comment(status=400, object_type=None)) == ["object_type"]
    assert sorted(comment(status=400, object_type=7, field=["asn"])) == ["field", "object_type"]
    assert list(comment("", status=400, field="asn")) == ["text"]


def test_it_is_told_when_the_change_was_changed_or_is_gone(
    api: Api, comment: Comment, change_request: Made, site: Made
) -> None:
    for field in ("facility", "asn", None):
        comment(field=field)
    assert states(api, change_request) == ["current", "current", "current"]
    propose(api, change_request, site, facility="DC 8")
    assert states(api, change_request) == ["changed", "current", "changed"]
    propose(api, change_request, site, asn=None)
    assert states(api, change_request) == ["changed", "gone", "changed"]
    propose(api, change_request, site, facility="DC 7", asn=64512)
    assert states(api, change_request) == ["current", "current", "current"]
    propose(api, change_request, site, facility="", asn=None)
    assert states(api, change_request) == ["gone", "gone", "gone"]


def test_a_comment_on_a_reference_outlives_another_name_of_it(
    api: Api, comment: Comment, change_request: Made, site: Made, unique: Unique
) -> None:
    tenant = api.post("/api/tenancy/tenants/", {"name": unique()})
    propose(api, change_request, site, tenant=tenant["id"])
    comment(field="tenant")
    api.patch(tenant["url"], {"name": unique()})
    propose(api, change_request, site, comments="more")
    assert states(api, change_request) == ["current"]


def test_a_comment_on_a_new_and_on_a_deleted_object(api: Api, change_request: Made, unique: Unique) -> None:
    inside = {"X-Change-Request": change_request["id"]}
    new = api.post(SITES, {"name": unique(), "status": "active"}, headers=inside)
    old = api.post(SITES, {"name": unique(), "status": "active"})
    api.delete(f"{SITES}{old['id']}/", headers=inside)
    for item, field in ((new, "name"), (new, None), (old, None)):
        body = {"text": "Why?", "object_type": "dcim.site", "object_id": item["id"], "field": field}
        found = api.post(f"{change_request['at']}comment/", body, status=200)["events"][-1]["about"]
        assert (found["display"], found["state"]) == (item["name"], "current")
    api.delete(f"{SITES}{new['id']}/", headers=inside)
    assert states(api, change_request) == ["gone", "gone", "current"]


def test_who_may_not_view_the_change_is_shown_no_name(
    service: Service, api: Api, comment: Comment, change_request: Made, site: Made
) -> None:
    comment(field="facility")
    blind = service.user(("view", LABEL)).api
    limited = service.user(("view", LABEL), ("view", "dcim.site", {"facility": ""})).api
    for reader in (blind, limited):
        (event,) = reader.get(f"{change_request['at']}review/")["events"]
        assert (event["about"]["display"], event["about"]["state"]) == ("", "hidden")
        assert list(comment(by=reader, status=400, field="facility")) == ["object_id"]
    propose(api, change_request, site, facility="", asn=None)
    (event,) = blind.get(f"{change_request['at']}review/")["events"]
    assert (event["about"]["display"], event["about"]["state"]) == ("", "hidden")
    (event,) = limited.get(f"{change_request['at']}review/")["events"]
    assert (event["about"]["display"], event["about"]["state"]) == (site["name"], "gone")


def test_the_record_and_the_feed_of_the_step_name_it(
    api: Api, comment: Comment, change_request: Made, site: Made
) -> None:
    cursor = api.get(f"{CHANGES}feed/", {"after": "now"})["cursor"]
    comment(field="asn")
    expected = {"object_type": "dcim.site", "object_id": site["id"], "field": "asn"}
    assert api.get(change_request["at"])["last_comment_about"] == expected
    found = api.get(f"{CHANGES}feed/", {"after": cursor})["results"]
    (item,) = [item for item in found if item["changed_object_type"] == LABEL]
    assert item["after"]["last_comment_about"] == expected
    api.post(f"{change_request['at']}comment/", {"text": "Good"}, status=200)
    assert api.get(change_request["at"])["last_comment_about"] is None


@pytest.mark.night
def test_the_number_of_statements_does_not_grow_with_the_comments(
    service: Service, api: Api, comment: Comment, change_request: Made, unique: Unique
) -> None:
    counts = []
    for _ in range(2):
        comment(field="asn")
        api.get(f"{change_request['at']}review/")
        with service.statements() as statements:
            api.get(f"{change_request['at']}review/")
        counts.append(len(statements))
        new = [{"name": unique(), "status": "active"} for _ in range(10)]
        made = api.post(SITES, new, headers={"X-Change-Request": change_request["id"]})
        for item in made:
            comment(object_id=item["id"], field="name")
    assert counts[0] == counts[1]


# -- on the page


def test_it_is_written_and_shown_at_its_field(browser: Browser, change_request: Made, site: Made) -> None:
    path = change_request["path"]
    page = browser.get(path)
    (link,) = page.html.select(f"a[aria-label='Comment on Facility of {site['name']}']")
    anchor = link.find_parent("li")["id"]
    assert page.html.select_one(f"#{anchor} b").text == "Facility"
    form_page = browser.get(link["href"])
    place = form_page.html.select_one(f"#{anchor}")
    assert place.select_one("form textarea[name=text]") is not None
    assert place.select_one("label").text == f"A comment on Facility of {site['name']}"
    (form,) = [form for form in form_page.forms.values() if "object_id" in form.fields]
    form["text"] = "Is it <b>DC 7</b>?"
    shown = form.submit().follow()
    place = shown.html.select_one(f"#{anchor}")
    assert "Is it <b>DC 7</b>?" in place.get_text()
    conversation = shown.html.select_one("#panel-conversation").get_text()
    assert f"on Facility of {site['name']}" in conversation and "Is it <b>DC 7</b>?" in conversation
    assert not place.select("form")


@pytest.mark.night
def test_the_form_of_an_object_offers_its_fields(browser: Browser, change_request: Made, site: Made) -> None:
    link = browser.get(change_request["path"]).html.select_one(f"a[aria-label='Comment on {site['name']}']")
    page = browser.get(link["href"])
    (form,) = [form for form in page.forms.values() if "object_id" in form.fields]
    assert [label for _, _, label in form["field"].options] == ["The whole object", "Facility", "ASN"]
    form["text"], form["field"] = "Sure?", ""
    shown = form.submit().follow().html.select_one("#panel-proposed .change")
    assert "Sure?" in shown.get_text()


def test_the_page_tells_what_became_of_the_change(
    api: Api, browser: Browser, comment: Comment, change_request: Made, site: Made
) -> None:
    comment("On the place", field="facility")
    comment("On the number", field="asn")
    propose(api, change_request, site, facility="DC 8", asn=None)
    page = browser.get(change_request["path"])
    change, conversation = page.html.select_one("#panel-proposed"), page.html.select_one("#panel-conversation")
    for part in (change, conversation):
        assert "What it is about was changed since." in part.get_text()
    assert "The change that it is about is gone." in conversation.get_text()
    assert "On the number" in change.get_text()


def test_a_new_object_with_a_comment_is_open(api: Api, browser: Browser, change_request: Made, unique: Unique) -> None:
    new = api.post(SITES, {"name": unique(), "status": "active"}, headers={"X-Change-Request": change_request["id"]})
    assert not browser.get(change_request["path"]).html.select("#panel-proposed details[open]")
    body = {"text": "Hm", "object_type": "dcim.site", "object_id": new["id"], "field": "name"}
    api.post(f"{change_request['at']}comment/", body, status=200)
    (details,) = browser.get(change_request["path"]).html.select("#panel-proposed details[open]")
    assert "Hm" in details.get_text()


def test_a_reader_who_may_not_view_the_change_sees_no_name_on_the_page(
    service: Service, comment: Comment, change_request: Made, site: Made
) -> None:
    comment("Secret?", field="facility")
    reader = Browser(service, service.user(("view", LABEL), password=PASSWORD))
    page = reader.get(change_request["path"])
    assert "on a change that you may not view" in page.html.select_one("#panel-conversation").get_text()
    assert site["name"] not in page.text


def test_the_text_of_a_refused_step_is_kept(api: Api, browser: Browser, change_request: Made, site: Made) -> None:
    path = change_request["path"]
    link = browser.get(path).html.select_one(f"a[aria-label='Comment on ASN of {site['name']}']")
    page = browser.get(link["href"])
    (form,) = [form for form in page.forms.values() if "object_id" in form.fields]
    propose(api, change_request, site, asn=None)
    form["text"] = "Is <b>64512</b> private?"
    refused = form.submit(expect_errors=True)
    assert refused.status_int == 400
    assert "does not change" in refused.html.select_one("[role=alert]").get_text()
    kept = refused.form(action=f"{path}comment/")
    assert kept["text"].value == "Is <b>64512</b> private?"
    shown = kept.submit("whole").follow()
    assert "Is <b>64512</b> private?" in shown.html.select_one("#panel-conversation").get_text()


def test_the_text_of_a_refused_approval_is_kept(service: Service, api: Api, change_request: Made, site: Made) -> None:
    path = change_request["path"]
    api.post(f"{change_request['at']}submit/", {}, status=200)
    reviewer = Browser(service, service.user(("view change approve", LABEL), ("view", "dcim.site"), password=PASSWORD))
    form = reviewer.get(path).form(action=f"{path}approve/")
    propose(api, change_request, site, asn=64513)
    form["text"] = "Fine by me"
    refused = form.submit(expect_errors=True)
    assert refused.status_int == 409
    kept = refused.form(action=f"{path}comment/")
    assert (kept["text"].value, "object_id" in kept.fields) == ("Fine by me", False)
    assert "Fine by me" in kept.submit().follow().html.select_one("#panel-conversation").get_text()
