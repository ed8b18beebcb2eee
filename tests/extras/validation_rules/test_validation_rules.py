"""Validation rules: what objects must match, by filters, is judged at every door within the transaction."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_extras.content_types import has_pages
from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

RULES, SITES, DEVICES = "/api/extras/validation-rules/", "/api/dcim/sites/", "/api/dcim/devices/"
ADDRESSES, PREFIXES = "/api/ipam/ip-addresses/", "/api/ipam/prefixes/"
Made = dict[str, Any]
SINCE = re.compile(r"Since [-0-9]{10} [:0-9]{5} UTC, by \S+\.")
AddRule = Callable[..., Made]


@pytest.fixture
def word(unique: Unique) -> str:
    """A word with which the names of one test's objects begin: its rules are about these alone."""
    return unique()


@pytest.fixture
def add_rule(api: Api, unique: Unique, word: str) -> Iterator[AddRule]:
    """``add_rule(label, requires, applies_to=None, **fields)`` makes a rule, which is deleted after the test."""
    made: list[Made] = []

    def add(label: str, requires: Any = None, applies_to: Any = None, **fields: Any) -> Made:
        meant = {"name__isw": word} if applies_to is None else applies_to
        body = {"name": unique(), "content_type": label, "applies_to": meant, "requires": requires, **fields}
        made.append(api.post(RULES, body))
        return made[-1]

    yield add
    for rule in made:
        api.send("DELETE", rule["url"])


def site(name: str, **fields: Any) -> Made:
    return {"name": name, "status": "active", **fields}


def test_objects_that_do_not_match_are_refused_with_the_name_of_the_rule(
    api: Api, add_rule: AddRule, word: str
) -> None:
    rule = add_rule("dcim.site", {"name__re": "-[0-9]{2}$"}, message="Names end in a number.")
    said = {"name": [f"Names end in a number. (validation rule “{rule['name']}”)"]}
    assert api.post(SITES, site(f"{word}-x"), status=400) == said
    assert api.post(SITES, [site(f"{word}-01"), site(f"{word}-x"), site("other")], status=400) == [{}, said, {}]
    assert api.get(SITES, {"name__isw": word})["count"] == 0
    made = api.post(SITES, site(f"{word}-01"))
    assert api.patch(made["url"], {"name": f"{word}-y"}, status=400) == said
    api.patch(made["url"], {"name": f"{word}-02"})


def test_a_write_that_does_not_touch_what_a_rule_reads_is_not_refused_for_an_old_violation(
    api: Api, add_rule: AddRule, word: str
) -> None:
    old = api.post(SITES, site(f"{word} old"))
    add_rule("dcim.site", {"facility__ic": ["hall"]})
    api.patch(old["url"], {"description": "still there"})
    api.patch(old["url"], {"name": f"{word} new"}, status=400)  # by its name the rule is about it
    assert "Facility contains hall" in api.patch(old["url"], {"facility": "attic"}, status=400).popitem()[1][0]
    api.patch(old["url"], {"facility": "hall 1"})


def test_a_refusal_tells_values_of_the_own_fields_of_an_object_alone(
    service: Service, api: Api, make: Any, add_rule: AddRule, word: str
) -> None:
    """The writer may not view the objects that a rule names."""
    tenant = make("/api/tenancy/tenants/", slug=f"hidden-{word.lower()}")
    writer = service.user(("view", "dcim.site"), ("add", "dcim.site")).api
    for requires, said in (
        ({"facility__re": "^hall", "has_racks": True}, "Facility matches ^hall; Has racks is Yes"),
        ({"tenant": [tenant["slug"]]}, "required: Tenant."),
        ({"tenant_id": [tenant["id"]]}, "required: Tenant."),
        ({"tenant__slug": tenant["slug"]}, "required: Tenant › Slug."),
        ({"tenant__name__in": [tenant["name"]], "asn__gte": 7}, "required: ASN ≥ 7; Tenant › Name."),
        ({"id": [tenant["id"]]}, "required: ID."),
    ):
        rule = add_rule("dcim.site", requires)
        (texts,) = writer.post(SITES, site(f"{word} bad"), status=400).values()
        assert said in texts[0] and not any(tenant[name] in texts[0] for name in ("id", "slug", "name"))
        api.patch(rule["url"], {"enabled": False})


def test_values_that_are_missing_and_fields_of_related_objects_are_conditions(
    api: Api, make: Any, unique: Unique, add_rule: AddRule, word: str
) -> None:
    region, slug = make("/api/dcim/regions/"), f"owner_{unique()}".lower().replace("-", "_")
    field = api.post(
        "/api/extras/custom-fields/",
        {"name": slug, "slug": slug, "label": slug, "type": "text", "content_types": ["dcim.site"]},
    )
    for requires, good, bad in (
        ({f"cf_{slug}__n": ""}, {"custom_fields": {slug: "net"}}, {"custom_fields": {slug: None}}),
        ({"asn__isnull": False}, {"asn": 64512}, {}),
        ({"region__slug": region["slug"]}, {"region": region["id"]}, {}),
        ({"facility__n": ""}, {"facility": "x"}, {"facility": ""}),
        ({"region": [region["slug"]], "asn": 64513}, {"region": region["id"], "asn": 64513}, {"asn": 64513}),
    ):
        rule = add_rule("dcim.site", requires)
        assert rule["name"] in str(api.post(SITES, site(f"{word} bad", **bad), status=400)), requires
        made = api.post(SITES, site(f"{word} good", **good))
        api.delete(made["url"])
        api.patch(rule["url"], {"enabled": False})
    api.delete(field["url"])


def test_fields_that_are_unique_together_tell_equal_objects_apart(api: Api, add_rule: AddRule, word: str) -> None:
    rule = add_rule("dcim.site", unique_together=["facility", "asn"])
    first = api.post(SITES, site(f"{word} 1", facility="A", asn=1))
    (said,) = api.post(SITES, site(f"{word} 2", facility="A", asn=1), status=400)["facility"]
    assert rule["name"] in said and first["name"] not in said  # the user may not view it
    api.post(SITES, [site(f"{word} 3", facility="A"), site(f"{word} 4", facility="A"), site("x", facility="A", asn=1)])
    answer = api.post(
        SITES, [site(f"{word} 5", facility="B", asn=1), site(f"{word} 6", facility="B", asn=1)], status=400
    )
    assert [list(one) for one in answer] == [[], ["facility"]]  # as with unique fields of the model
    api.patch(first["url"], {"facility": "A"})
    second = api.post(SITES, site(f"{word} 7", facility="C", asn=1))
    api.patch(second["url"], {"facility": "A"}, status=400)
    assert api.get(f"{rule['url']}violations/")["count"] == 0


def test_of_equal_objects_of_a_list_the_first_is_written_and_the_others_are_refused(
    api: Api, add_rule: AddRule, word: str
) -> None:
    """As with unique fields of the model; values that a list takes away from their holders are free."""
    add_rule("dcim.site", unique_together=["facility"])

    def statuses(method: str, bodies: list[Made]) -> list[str]:
        answer = api.send(method, f"{SITES}?on_error=continue", bodies, status=200).json
        return [one["status"] for one in answer]

    values = ["A", "B", "A", "A", "B", "C"]
    bodies = [site(f"{word} {number}", facility=value) for number, value in enumerate(values)]
    assert statuses("POST", bodies) == ["created", "created", "failed", "failed", "failed", "created"]
    assert statuses("POST", [site(f"{word} 7", facility="A"), site(f"{word} 8", facility="D")]) == ["failed", "created"]
    a, b, c, d = api.get(SITES, {"name__isw": word, "ordering": "facility"})["results"]
    exchanged = [{"id": a["id"], "facility": "B"}, {"id": b["id"], "facility": "A"}]
    assert statuses("PATCH", exchanged) == ["updated", "updated"]
    changed = [{"id": c["id"], "facility": "E"}, {"id": d["id"], "facility": "E"}, {"id": a["id"], "comments": "x"}]
    assert statuses("PATCH", changed) == ["updated", "failed", "updated"]


def test_violations_of_a_whole_table_are_those_of_its_objects_one_by_one(
    api: Api, add_rule: AddRule, word: str
) -> None:
    values = [("A", 1), ("A", 1), ("A", 2), ("A", None), ("A", None), ("", 1), ("", 1), ("B", 1), ("a", 1), ("A", 1)]
    bodies = [site(f"{word} {number}", facility=text, asn=asn) for number, (text, asn) in enumerate(values)]
    made = api.post(SITES, [*bodies, site(f"other {word}", facility="A", asn=1)])
    rule = add_rule("dcim.site", unique_together=["facility", "asn"], enabled=False)
    one_by_one = {one["id"] for one in made if api.get(f"{rule['url']}try/", {"object": one["id"]})["broken"]}
    assert {made[number]["id"] for number in (0, 1, 9)} <= one_by_one
    assert not {made[number]["id"] for number in (2, 3, 4, 5, 6, 7, 10)} & one_by_one
    for path, query in ((f"{rule['url']}violations/", {}), (SITES, {"violates": rule["id"]})):
        assert {one["id"] for one in api.get(path, {"limit": 100, **query})["results"]} == one_by_one


def test_every_field_of_every_model_is_unique_or_refused_as_one_without_a_single_value(
    service: Service, api: Api, unique: Unique
) -> None:
    refused = set()
    for endpoint in service.registry.stored():
        if not has_pages(endpoint):
            continue
        bodies = [
            {"name": unique(), "content_type": endpoint.label, "unique_together": [name], "enabled": False}
            for name in endpoint.fields
        ]
        answers = api.send("POST", f"{RULES}?on_error=continue", bodies, status=200).json
        for body, answer in zip(bodies, answers, strict=True):
            if answer["status"] == "failed":
                refused.add((endpoint.label, *body["unique_together"]))
                assert "is no field with a single value" in str(answer["errors"]["unique_together"]), answer
        made = [body["name"] for body, answer in zip(bodies, answers, strict=True) if answer["status"] == "created"]
        assert made, endpoint.label
        api.get(endpoint.path, {"violates": made, "limit": 1})
        api.send("DELETE", RULES, [{"id": one["id"]} for one in api.get(RULES, {"name": made, "limit": 0})["results"]])
    assert {("dcim.device", "local_context_data"), ("dcim.device", "tags")} <= refused
    assert ("dcim.device", "serial") not in refused


def warned(answer: Any) -> Any:
    """The warnings of an answer."""
    return json.loads(answer.headers["API-Warnings"]) if "API-Warnings" in answer.headers else None


def test_a_rule_that_only_warns_refuses_nothing_and_is_named_in_the_answer(
    api: Api, browser: Browser, add_rule: AddRule, word: str
) -> None:
    rule = add_rule("dcim.site", {"name__re": "-[0-9]{2}$"}, severity="warn", message="Nämen end in a number.")
    text = f"Nämen end in a number. (validation rule “{rule['name']}”)"
    answer = api.send("POST", SITES, site(f"{word}-x"), status=201)
    key = answer.json["id"]
    about = {"object_type": "dcim.site", "object_id": key, "field": "name", "message": text}
    assert warned(answer) == {"count": 1, "warnings": [about]}
    assert warned(api.send("PATCH", f"{SITES}{key}/", {"description": "as it was"})) is None
    assert warned(api.send("POST", SITES, site(f"{word}-01"), status=201)) is None
    preview = api.send("PATCH", f"{SITES}{key}/?dry_run=true", {"name": f"{word}-y"})
    assert preview.json["warnings"] == [about] and warned(preview) is None
    form = browser.get(f"/dcim/sites/{key}/edit/").form()
    form["name"] = f"{word}-z"
    page = form.submit().follow()
    assert text in page and page.html.select_one(".notice.warning") is not None


def test_many_warnings_are_counted_and_as_many_listed_as_a_header_has_room_for(
    api: Api, add_rule: AddRule, word: str
) -> None:
    add_rule("dcim.site", {"facility__n": ""}, severity="warn", message="ä" * 200)
    answer = api.send("POST", SITES, [site(f"{word} {number}") for number in range(30)], status=201)
    assert len(answer.headers["API-Warnings"]) <= 4096
    assert warned(answer)["count"] == 30 and 0 < len(warned(answer)["warnings"]) < 30


def test_an_item_that_is_rolled_back_leaves_no_warning(api: Api, add_rule: AddRule, word: str) -> None:
    add_rule("dcim.site", {"facility__n": ""}, severity="warn")
    bodies = [site(f"{word} a"), site(f"{word} b", status="no such status")]
    assert warned(api.send("POST", f"{SITES}?on_error=continue", bodies, status=200))["count"] == 1
    add_rule("dcim.site", {"name__ic": f"{word} c"})
    answer = api.send("POST", f"{SITES}?on_error=continue", [site(f"{word} c"), site(f"{word} d")], status=200)
    assert warned(answer)["count"] == 1
    assert warned(api.send("POST", SITES, [site(f"{word} c"), site(f"{word} e")], status=400)) is None


def by_form(_: Api, browser: Browser, old: Made, word: str) -> Any:
    """*Save* of the form of a site."""
    form = browser.get(f"/dcim/sites/{old['id']}/edit/").form()
    form["name"] = f"{word} x"
    return form.submit(status=422).html.main.text


def by_plan(api: Api, _: Browser, old: Made, word: str) -> Any:
    """A plan of a new site, carried out."""
    return api.send("POST", "/api/extras/plans/", {"objects": {"dcim.site": [site(f"{word} x")]}, "apply": True}).text


def by_change_request(api: Api, _: Browser, old: Made, word: str) -> Any:
    """A site that a change request proposes."""
    headers = {"X-Change-Request": api.post("/api/extras/change-requests/", {"title": word})["id"]}
    return api.send("POST", SITES, site(f"{word} x"), headers=headers).text


DOORS: dict[str, Callable[[Api, Browser, Made, str], Any]] = {
    "PUT": lambda api, _, old, word: api.put(old["url"], site(f"{word} x"), status=400),
    "a list": lambda api, _, old, word: api.patch(SITES, [{"id": old["id"], "name": f"{word} x"}], status=400),
    "upsert": lambda api, _, old, word: api.send("PATCH", SITES, [site(f"{word} x")], query={"match": "name"}).text,
    "plan": by_plan,
    "change request": by_change_request,
    "form": by_form,
}


@pytest.mark.parametrize("door", DOORS)
def test_rules_are_judged_at_every_door(api: Api, browser: Browser, add_rule: AddRule, word: str, door: str) -> None:
    old = api.post(SITES, site(f"not {word}"))
    rule = add_rule("dcim.site", {"name__ic": "core"})
    assert rule["name"] in str(DOORS[door](api, browser, old, word)), door
    assert api.get(SITES, {"name__isw": word})["count"] == 0


def test_an_undo_and_an_allocation_are_judged(
    api: Api, make: Any, unique: Unique, add_rule: AddRule, word: str
) -> None:
    made = api.post(SITES, site(f"{word} old"))
    answer = api.send("PATCH", made["url"], {"name": f"{word} core"}, status=200)
    add_rule("dcim.site", {"name__ic": "core"})
    change = api.get("/api/extras/object-changes/", {"changed_object_id": made["id"], "action": "update"})["results"][0]
    refused = api.send("POST", f"{change['url']}revert/", {})
    assert refused.status_int in (400, 409) and "core" in refused.text, answer.text
    prefix = api.post(PREFIXES, {"prefix": f"10.{uuid.uuid4().int % 200}.77.0/29", "status": "active"})
    add_rule("ipam.ipaddress", {"dns_name__n": ""}, {"parent": [prefix["prefix"]]})
    active = {"status": "active"}
    assert "dns_name" in api.post(f"{prefix['url']}available-ips/", active, status=400)
    api.post(f"{prefix['url']}available-ips/", active | {"dns_name": "a.example.net"})


def test_violations_are_listed_before_a_rule_is_switched_on(
    service: Service, api: Api, browser: Browser, add_rule: AddRule, word: str
) -> None:
    good, bad = (api.post(SITES, site(f"{word} {name}")) for name in ("core", "edge"))
    rule = add_rule("dcim.site", {"name__ic": "core"}, enabled=False)
    api.patch(good["url"], {"name": f"{word} other"})  # nothing is refused
    path = f"{rule['url']}violations/"
    assert [one["name"] for one in api.get(path, {"ordering": "name"})["results"]] == [f"{word} edge", f"{word} other"]
    assert api.get(path, {"name__ie": bad["name"]})["count"] == 1
    page = browser.get(f"/extras/validation-rules/{rule['id']}/violations/")
    assert bad["name"] in page and f"{word} other" in page
    number = page.html.select_one(".tabs [aria-current] .count")["data-number"]  # scripts ask for it
    assert browser.get(number, headers={"Accept": "application/json"}).json["count"] == 2
    reader = service.user(("view", "extras.validationrule"), ("view", "dcim.site", {"name": good["name"]})).api
    assert reader.get(path)["count"] == 0


def test_the_form_says_once_which_names_a_condition_may_have(browser: Browser, word: str) -> None:
    fields = {"name": word, "content_type": "dcim.device", "severity": "refuse", "requires": '{"nmae__re": "^a"}'}
    page = browser.post("/extras/validation-rules/add/", fields, status=422)
    summary = page.html.select_one("#error-summary").text
    assert "nmae" in summary and "virtual_chassis" not in summary
    assert "virtual_chassis" in page.html.select_one("#error-requires").text


def test_lists_are_filtered_by_the_rules_that_objects_break(
    service: Service, api: Api, browser: Browser, add_rule: AddRule, word: str
) -> None:
    bad = [api.post(SITES, site(f"{word} {name}"))["name"] for name in "ab"]
    api.post(SITES, site(f"{word} core"))
    first = add_rule("dcim.site", {"name__ic": "core"}, enabled=False)
    second = add_rule("dcim.site", {"facility__n": ""}, {"name__isw": word, "name__iew": "core"}, enabled=False)
    for value in (first["name"], first["id"]):
        found = api.get(SITES, {"violates": value, "ordering": "name"})["results"]
        assert [one["name"] for one in found] == bad
    assert api.get(SITES, {"violates": [first["name"], second["name"]]})["count"] == 3
    assert api.get(SITES, {"violates": first["name"], "name__iew": "b"})["count"] == 1
    assert bad[0] in browser.get(f"/dcim/sites/?violates={first['id']}").html.main.text
    assert list(api.get(SITES, {"violates": "no such rule"}, status=400)) == ["violates"]
    assert list(api.get("/api/dcim/regions/", {"violates": first["name"]}, status=400)) == ["violates"]
    blind = service.user(("view", "dcim.site")).api  # to whom the rule does not exist
    assert list(blind.get(SITES, {"violates": first["name"]}, status=400)) == ["violates"]
    body = {"name": word, "content_type": "dcim.site", "requires": {"violates": [first["name"]]}}
    assert "cannot refer to rules" in str(api.post(RULES, body, status=400))


def test_pages_name_the_enabled_rules_that_their_objects_break(
    service: Service, api: Api, browser: Browser, add_rule: AddRule, word: str
) -> None:
    """Of those that the user may view; lists have a column with the number."""
    bad, good = (api.post(SITES, site(f"{word} {name}", facility=word)) for name in ("edge", "core"))
    named = add_rule("dcim.site", {"name__ic": "core"}, message="<b>No core.</b>", severity="warn")
    double = add_rule("dcim.site", unique_together=["facility"])
    add_rule("dcim.site", {"name__ic": "core"}, enabled=False)

    def shown(item: Made, of: Browser = browser) -> set[str]:
        part = of.get(f"/dcim/sites/{item['id']}/").html.select_one("#panel-broken-rules")
        rows = part.select("li") if part else []
        return {SINCE.sub("(since)", " ".join(row.get_text().split())) for row in rows}

    of_double = f"{double['name']}: Another object has the same facility. (since)"
    assert shown(bad) == {f"{named['name']} (warns): <b>No core.</b> (since)", of_double}
    assert shown(good) == {of_double}
    row = browser.get("/dcim/sites/", {"id": bad["id"], "_columns": "name,broken-rules"}).html.select_one("tbody tr")
    (link,) = row.select("a[href$='#panel-broken-rules']")
    assert link.get_text() == "2"
    unknown = of_double.partition(" (since)")[0]  # who may not view the change log is not told since when
    for permissions, told in (([], set()), ([("view", "extras.validationrule", {"id": double["id"]})], {unknown})):
        account = service.user(("view", "dcim.site"), *permissions, password=PASSWORD)
        assert shown(bad, Browser(service, account)) == told
    api.delete(named["url"])
    api.delete(double["url"])
    assert shown(bad) == set()


def test_facet_and_widget_count_the_objects_that_break_each_rule(
    service: Service, api: Api, browser: Browser, add_rule: AddRule, word: str
) -> None:
    """Of the rules and the objects that the user may view; the facet under the other filters of the list."""
    for name in ("edge 1", "edge 2", "core"):
        api.post(SITES, site(f"{word} {name}", facility=word))
    named = add_rule("dcim.site", {"name__ic": "core"}, severity="warn")["name"]
    double = add_rule("dcim.site", unique_together=["facility"], severity="warn")["name"]
    add_rule("dcim.site", {"name__ic": "edge"}, enabled=False)
    of_rules = ("view", "extras.validationrule")
    narrow = service.user(("view", "dcim.site", {"name__endswith": "1"}), of_rules, password=PASSWORD)
    only = service.user(("view", "dcim.site"), (*of_rules, {"name": named}), password=PASSWORD)
    without = service.user(("view", "dcim.site"), password=PASSWORD)

    def facet(of: Browser, **query: str) -> dict[str, str]:
        page = of.get("/dcim/sites/", {"facility": word, "_part": "facets", **query})
        (part,) = [part for part in page.html.select("section.facet") if part.h2.text == "Broken rules"] or [None]
        rows = part.select("li") if part else []
        return {row.a.span.text: row.select_one(".count").text for row in rows}

    def widget(of: Browser) -> dict[str, str]:
        place = of.get("/").html.select_one("[data-load]")
        page = of.get(place["data-load"]) if place else None
        rows = page.html.select("#widget-broken-rules li") if page else []
        return {row.a.text: row.span.text for row in rows if row.a.text in (named, double)}

    assert facet(browser) == {named: "2", double: "3"}
    assert widget(browser) == {named: "2 sites", double: "3 sites"}
    assert facet(browser, violates=named) == {named: "2", double: "3"}, "its own filter does not count"
    assert facet(browser, name__iew="core") == {double: "1"}
    assert facet(Browser(service, narrow)) == {named: "1"}
    assert widget(Browser(service, narrow)) == {named: "1 site"}
    assert facet(Browser(service, only)) == {named: "2"} and widget(Browser(service, only)) == {named: "2 sites"}
    assert facet(Browser(service, without)) == {} and widget(Browser(service, without)) == {}
    assert f"violates={named}" in browser.get("/?_widget=broken-rules").text.replace("+", " ")


def test_facet_and_widget_take_as_many_statements_for_many_rules(
    service: Service, browser: Browser, add_rule: AddRule, word: str
) -> None:
    def statements(path: str) -> int:
        browser.get(path)
        with service.statements() as found:
            browser.get(path)
        return len(found)

    paths = (f"/dcim/sites/?facility={word}&_part=facets", "/?_widget=broken-rules")
    add_rule("dcim.site", {"name__ic": "core"}, severity="warn")
    few = [statements(path) for path in paths]
    for label in ("dcim.site", "dcim.region", "ipam.vlan"):
        add_rule(label, {"name__ic": "core"}, severity="warn")
    assert [statements(path) for path in paths] == few


def test_conditions_are_shown_in_words_and_edited_in_the_list(
    api: Api, browser: Browser, add_rule: AddRule, word: str
) -> None:
    """Field lookups and empty values, which a list does not take, are edited as text alone."""
    requires = {
        "asset_tag__isnull": False,
        "site__region__slug__in": ["emea", "apac"],
        f"cf_owner_{word}__n": "",
        f"cf_owner_{word}__ic": "2",
        "name__re": "<b>^a",
        "has_primary_ip": True,
        "comments": "",
        "status__n": ["planned"],
        "serial__regex": ".",
        "tenant__name": "A & B",
    }
    made = {"name": word, "label": word, "slug": f"owner_{word}", "type": "text", "content_types": ["dcim.device"]}
    field = api.post("/api/extras/custom-fields/", made)
    rule = add_rule("dcim.device", requires, {"name__isw": word, "status": ["active"]}, enabled=False)
    path = f"/extras/validation-rules/{rule['id']}/"
    page = browser.get(path)
    texts = {" ".join(chip.get_text().split()) for chip in page.html.select("dd .chip")}
    assert texts == {
        f"Name starts with {word}",
        "Status is Active",
        "Asset tag is not empty",
        "Site › Region › Slug is emea, apac",
        f"Owner {word} is not empty",
        f"Owner {word} contains 2",
        "Name matches <b>^a",
        "Has primary IP is Yes",
        "Comments is empty",
        "Status is not Planned",
        "Serial matches .",
        "Tenant › Name is A & B",
    }
    assert browser.get(f"/extras/validation-rules/?id={rule['id']}&_columns=requires").html.select("td .chip")
    assert "Edit what it requires in the list" not in page.words
    (edit,) = [link["href"] for link in page.html.select("a") if link.text == "Edit what it applies to in the list"]
    listed = browser.get(f"{edit}&role=none")
    (update,) = [link for link in listed.html.select("a") if "Update what the validation rule applies to" in link.text]
    form = browser.get(update["href"]).form()
    assert {*form["applies_to"].value.split()} == {f"name__isw:{word}", "status:active", "role:none"}
    assert form["name"].value == rule["name"]
    (save,) = [link for link in listed.html.select("a") if "Save as validation rule" in link.text]
    form = browser.get(save["href"]).form()
    assert form["content_type"].value == "dcim.device" and "status:active" in form["applies_to"].value
    api.delete(field["url"])


def test_a_rule_is_tried_on_one_object_part_by_part(
    service: Service, api: Api, browser: Browser, add_rule: AddRule, word: str
) -> None:
    """Also before it is enabled; since when an object breaks it is the last change of what it reads."""
    tried, other = api.post(SITES, [site(f"{word} edge", facility=word), site(f"other {word} core", facility=word)])
    rule = add_rule("dcim.site", {"name__ic": "core", "facility__isnull": False}, enabled=False, message="No core.")
    path = f"{rule['url']}try/"

    def parts(item: Made, of: Made = rule) -> dict[str, bool]:
        return {part["name"]: part["holds"] for part in api.get(f"{of['url']}try/", {"object": item["id"]})["parts"]}

    assert parts(tried) == {"name__isw": True, "name__ic": False, "facility__isnull": True}
    answer = api.get(path, {"object": tried["id"]})
    assert (answer["applies"], answer["broken"]) == (True, True) and answer["message"].startswith("No core.")
    creation = api.get("/api/extras/object-changes/", {"changed_object_id": tried["id"]})["results"][-1]
    assert answer["since"]["change"] == creation["id"] and answer["since"]["user_name"] == creation["user_name"]
    api.patch(tried["url"], {"comments": "x"})
    assert api.get(path, {"object": tried["id"]})["since"] == answer["since"], "the rule does not read comments"
    api.patch(tried["url"], {"name": f"{word} edge 2"})
    assert api.get(path, {"object": tried["id"]})["since"]["time"] > answer["since"]["time"]
    page = browser.get(f"/extras/validation-rules/{rule['id']}/try/", {"object": tried["id"]})
    assert "This object breaks the rule: No core." in page.words
    cells = [[cell.get_text() for cell in row.select("th, td")] for row in page.html.select(".list.whole tbody tr")]
    assert ["Requires", "Name contains core", "does not meet it"] in cells
    of_ids = add_rule("dcim.site", {"id": [other["id"]]}, enabled=False)
    tried_by_id = browser.get(f"/extras/validation-rules/{of_ids['id']}/try/", {"object": tried["id"]})
    assert f"ID is {other['name']}" in tried_by_id.words, "objects are named"
    by_name = browser.get(f"/extras/validation-rules/{rule['id']}/try/", {"_text_object": tried["slug"]})
    assert "This object breaks the rule" in by_name.words
    answer = api.get(path, {"object": other["id"]})
    assert (answer["applies"], answer["broken"], answer["since"]) == (False, False, None)
    double = add_rule("dcim.site", unique_together=["facility"], applies_to={"name__ic": word}, enabled=False)
    assert parts(other, double) == {"name__ic": True, "facility": False}
    for query in ({}, {"object": "x"}, {"object": rule["id"]}, {"object": [tried["id"], other["id"]]}):
        assert list(api.get(path, query, status=400)) == ["object"]
    for text in (rule["id"], "\x00", "\ud800".encode("utf-8", "surrogatepass"), "x" * 500):
        assert "There is no such object." in browser.get(path.partition("/api")[2], {"object": text}).words
    narrow = service.user(("view", "extras.validationrule"), ("view", "dcim.site", {"name": other["name"]})).api
    assert list(narrow.get(path, {"object": tried["id"]}, status=400)) == ["object"]
    assert narrow.get(f"{double['url']}try/", {"object": other["id"]})["broken"] is False, "the other one is hidden"


def test_violations_tell_nothing_of_related_objects_that_the_reader_may_not_view(
    service: Service, api: Api, add_rule: AddRule, word: str
) -> None:
    tenants = [api.post("/api/tenancy/tenants/", {"name": f"{word} {name}"}) for name in "ab"]
    for tenant in tenants:
        api.post(SITES, site(f"{word} of {tenant['name']}", tenant=tenant["id"]))
    blind = service.user(("view", "extras.validationrule"), ("view", "dcim.site")).api
    for requires in ({"tenant__name__endswith": "a"}, {"tenant": [tenants[0]["slug"]]}):
        rule = add_rule("dcim.site", requires, enabled=False)
        assert api.get(f"{rule['url']}violations/")["count"] == api.get(SITES, {"violates": rule["id"]})["count"] == 1
        for path, query in ((f"{rule['url']}violations/", {}), (SITES, {"violates": rule["id"]})):
            assert blind.get(path, {"name__isw": word, **query})["count"] == 2
    api.patch(SITES, [{"id": one["id"], "facility": word} for one in api.get(SITES, {"name__isw": word})["results"]])
    rule = add_rule("dcim.site", unique_together=["facility"], enabled=False)
    narrow = service.user(("view", "extras.validationrule"), ("view", "dcim.site", {"name__endswith": "a"})).api
    assert api.get(f"{rule['url']}violations/")["count"] == 2
    assert narrow.get(f"{rule['url']}violations/")["count"] == narrow.get(SITES, {"violates": rule["id"]})["count"] == 0


def test_a_rule_whose_filter_is_gone_refuses_nothing_and_is_reported(
    service: Service, api: Api, add_rule: AddRule, unique: Unique, word: str
) -> None:
    slug = f"gone_{unique()}".lower().replace("-", "_")
    body = {"name": slug, "slug": slug, "label": slug, "type": "text", "content_types": ["dcim.site"]}
    field = api.post("/api/extras/custom-fields/", body)
    rule = add_rule("dcim.site", {f"cf_{slug}__n": ""})
    api.post(SITES, site(f"{word} x"), status=400)
    api.delete(field["url"])
    api.post(SITES, site(f"{word} x"))
    assert f"cf_{slug}__n" in str(api.get(f"{rule['url']}violations/", status=400))
    from netinv_extras.validation_rules.checks import findings

    (found,) = [one for one in findings(service.engine, service.registry) if rule["name"] in one.message]
    assert found.level == "warning" and slug in found.message


def test_the_number_of_statements_grows_neither_with_objects_nor_with_rules(
    api: Api, add_rule: AddRule, statements: Any, word: str
) -> None:
    counted: dict[tuple[int, int], int] = {}
    for rules in (1, 5):
        for _ in range(rules):
            add_rule("dcim.site", {"name__ic": word})
            add_rule("dcim.site", unique_together=["name"])
        for size in (1, 1, 6):
            bodies = [site(f"{word} {rules} {size} {uuid.uuid4()}") for _ in range(size)]
            with statements() as found:
                api.post(SITES, bodies)
            counted[rules, size] = len(found)
    assert len({counted[1, 1], counted[1, 6], counted[5, 1], counted[5, 6]}) == 1, counted


def documented_rules() -> list[tuple[str, Made]]:
    """The rules in the table of the documentation: their content types, and their conditions."""
    rows = re.findall(r"^\| [^|]* \| `([a-z.]+)` \| (.*) \|$", Path("docs/validation-rules.md").read_text(), re.M)
    parts = [(label, re.findall(r"`([a-z_]+)` `([{\[].*?[}\]])`", text)) for label, text in rows]
    return [(label, {name: json.loads(value) for name, value in found}) for label, found in parts]


def test_the_documented_rules_are_accepted_and_find_violations(
    api: Api, make: Any, unique: Unique, add_rule: AddRule
) -> None:
    field = {"name": "owner", "slug": "owner", "label": "Owner", "type": "text", "content_types": ["dcim.device"]}
    role = {"name": "Access switch", "slug": "access-switch", "color": "ffffff"}
    made = [api.post("/api/extras/custom-fields/", field), api.post("/api/dcim/device-roles/", role)]
    found = documented_rules()
    assert len(found) == 10
    for label, conditions in found:
        rule = add_rule(
            label, conditions.pop("requires", None), conditions.pop("applies_to", {}), **conditions, enabled=False
        )
        assert api.get(f"{rule['url']}violations/", {"limit": 1})["results"] is not None
        api.delete(rule["url"])
    for one in made:
        api.delete(one["url"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"requires": {"nothing": 1}}, "requires"),
        ({"requires": {"name__re": "("}}, "requires"),
        ({"requires": ["name"]}, "requires"),
        ({"requires": "name"}, "requires"),
        ({"requires": {"site__secret__x": 1}}, "requires"),
        ({"requires": {"name__ic": ""}}, "requires"),
        ({"requires": {"name__ic": [f"x{n}" for n in range(600)]}}, "requires"),
        ({"requires": {"asn": "x"}}, "requires"),
        ({"requires": {"region": ["no such region"]}}, "requires"),
        ({}, "requires"),
        ({"requires": {"name": ["x"]}, "unique_together": ["name"]}, "requires"),
        ({"requires": {"name": ["x"]}, "applies_to": {"zz": 1}}, "applies_to"),
        ({"requires": {"name": ["x"]}, "applies_to": []}, "applies_to"),
        ({"unique_together": ["tags"]}, "unique_together"),
        ({"unique_together": ["id"]}, "unique_together"),
        ({"unique_together": [1]}, "unique_together"),
        ({"unique_together": "name"}, "unique_together"),
        ({"unique_together": ["name"] * 6}, "unique_together"),
        ({"requires": {"name": ["x"]}, "field_name": "zz"}, "field_name"),
        ({"requires": {"name": ["x"]}, "content_type": "zz.zz"}, "content_type"),
    ],
)
def test_rules_that_make_no_sense_are_refused_by_field(api: Api, unique: Unique, body: Made, field: str) -> None:
    answer = api.post(RULES, {"name": unique(), "content_type": "dcim.site"} | body, status=400)
    assert field in answer, answer


def test_what_is_no_lookup_of_a_field_is_said_to_be_none(api: Api, unique: Unique) -> None:
    body = {"name": unique(), "content_type": "dcim.device", "requires": {"serial__n": ["x"]}}
    assert "'serial' is a value, and 'n' is no lookup of it" in str(api.post(RULES, body, status=400)["requires"])
