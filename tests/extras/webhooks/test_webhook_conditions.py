"""Conditions of webhooks: filters of the states before and after a change, fields that change or stay."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_extras import checks
from netinv_extras.webhooks.enqueue import judge
from netinv_testing import Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

WEBHOOKS, DELIVERIES, SITES = "/api/extras/webhooks/", "/api/extras/webhook-deliveries/", "/api/dcim/sites/"
REGIONS = "/api/dcim/regions/"
ACTIVE, PLANNED = {"status": ["active"]}, {"status": ["planned"]}
BECOMES_ACTIVE = {"before": {"status__n": ["active"]}, "after": ACTIVE}
EVENTS = {"type_create": True, "type_update": True, "type_delete": True}
Made = dict[str, Any]
AddWebhook = Callable[..., Made]


@pytest.fixture
def add_webhook(api: Api, unique: Unique) -> Iterator[AddWebhook]:
    """``add_webhook(conditions)`` makes a webhook on every event of sites, which is deleted after the test."""
    made: list[Made] = []

    def add(conditions: Any, **fields: Any) -> Made:
        name = unique()
        body = {"name": name, "content_types": ["dcim.site"], "payload_url": f"http://{name}.example.com/", **EVENTS}
        made.append(api.post(WEBHOOKS, {**body, "conditions": conditions, **fields}))
        return made[-1]

    yield add
    for webhook in made:
        api.send("DELETE", webhook["url"])


def site(unique: Unique, **fields: Any) -> Made:
    return {"name": unique(), "status": "planned", **fields}


def told(api: Api, webhook: Made) -> list[tuple[str, str]]:
    """Event and name of the deliveries of a webhook, the first one first."""
    found = api.get(DELIVERIES, {"webhook": webhook["name"], "limit": 0})["results"]
    return [(item["event"]["value"], item["object_repr"]) for item in reversed(found)]


@pytest.fixture
def field(api: Api, unique: Unique) -> Iterator[Made]:
    """A custom field of sites."""
    slug = f"owner_{unique()}".lower().replace("-", "_")
    body = {"name": slug, "slug": slug, "label": slug, "type": "text", "content_types": ["dcim.site"]}
    made = api.post("/api/extras/custom-fields/", body)
    yield made
    api.send("DELETE", made["url"])


# -- which changes match

CREATED, ACTIVATED, DESCRIBED, DELETED = "create", "update to active", "update of the facility", "delete"


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (None, [CREATED, ACTIVATED, DESCRIBED, DELETED]),
        ({}, [CREATED, ACTIVATED, DESCRIBED, DELETED]),
        ({"before": {}}, [ACTIVATED, DESCRIBED, DELETED]),
        ({"after": {}}, [CREATED, ACTIVATED, DESCRIBED]),
        ({"before": {}, "after": {}}, [ACTIVATED, DESCRIBED]),
        ({"before": PLANNED}, [ACTIVATED]),
        ({"before": ACTIVE}, [DESCRIBED, DELETED]),
        ({"after": PLANNED}, [CREATED]),
        ({"after": ACTIVE}, [ACTIVATED, DESCRIBED]),
        (BECOMES_ACTIVE, [ACTIVATED]),
        ({"before": ACTIVE, "after": PLANNED}, []),
        ({"changed": ["status"]}, [ACTIVATED]),
        ({"changed": ["facility", "status"]}, [ACTIVATED, DESCRIBED]),
        ({"changed": ["name"]}, []),
        ({"unchanged": ["status"]}, [DESCRIBED]),
        ({"unchanged": ["facility", "status"]}, []),
        ({"unchanged": ["name"]}, [ACTIVATED, DESCRIBED]),
        ({"changed": ["facility"], "unchanged": ["status"], "before": ACTIVE, "after": ACTIVE}, [DESCRIBED]),
        ({"changed": ["facility"], "after": PLANNED}, []),
        ({"after": {"facility__n": ""}}, [DESCRIBED]),
        ({"before": {"facility__n": ""}}, [DELETED]),
        ({"after": {"status__slug": "active", "facility": [""]}}, [ACTIVATED]),
    ],
    ids=str,
)
def test_a_webhook_is_told_of_the_changes_that_match_every_part(
    api: Api, unique: Unique, add_webhook: AddWebhook, conditions: Any, expected: list[str]
) -> None:
    webhook, done = add_webhook(conditions), []
    made = api.post(SITES, site(unique))
    for what, fields in ((CREATED, None), (ACTIVATED, ACTIVE), (DESCRIBED, {"facility": "x"}), (DELETED, None)):
        if what == DELETED:
            api.delete(made["url"])
        elif fields is not None:
            api.patch(made["url"], {**fields, **({"status": "active"} if what == ACTIVATED else {})})
        count = len(told(api, webhook))
        done += [what] if count > len(done) else []
        assert count == len(done)
    assert done == expected


@pytest.mark.parametrize("rows", [10_000, 6])
def test_of_many_objects_of_one_request_those_that_match_are_sent_in_their_order(
    api: Api, unique: Unique, add_webhook: AddWebhook, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Also where the records take several statements."""
    monkeypatch.setattr("netinv_core.changelog.recorder.ROWS_PER_STATEMENT", rows)
    webhook, other, every = add_webhook(BECOMES_ACTIVE), add_webhook({"before": ACTIVE}), add_webhook(None)
    made = api.post(SITES, [site(unique, status="active" if number % 3 == 0 else "planned") for number in range(30)])
    api.patch(SITES, [{"id": one["id"], "status": "active", "facility": "x"} for one in made])
    names = [one["name"] for one in made]
    assert told(api, webhook) == [("update", name) for number, name in enumerate(names) if number % 3]
    assert told(api, other) == [("update", name) for name in names[::3]]
    assert len(told(api, every)) == 60
    api.delete(SITES, [{"id": one["id"]} for one in made])
    assert sorted(told(api, other)[10:]) == sorted(("delete", name) for name in names)


def test_what_follows_from_a_deletion_matches_by_the_state_before_it(
    api: Api, unique: Unique, add_webhook: AddWebhook
) -> None:
    region = api.post(REGIONS, {"name": unique()})
    left = add_webhook({"before": {"region": [region["slug"]]}, "after": {"region__isnull": True}})
    inside, tagged = api.post(SITES, [site(unique, region=region["id"]), site(unique)])
    api.delete(region["url"])
    assert told(api, left) == [("update", inside["name"])]
    name = unique()
    tag = api.post("/api/extras/tags/", {"name": name, "slug": name.lower(), "content_types": ["dcim.site"]})
    untagged = add_webhook({"before": {"tag": [tag["slug"]]}, "after": {"tag__n": tag["slug"]}, "changed": ["tags"]})
    api.patch(SITES, [{"id": one["id"], "tags": [tag["id"]]} for one in (inside, tagged)])
    api.patch(inside["url"], {"tags": []})
    api.delete(tag["url"])
    assert told(api, untagged) == [("update", inside["name"]), ("update", tagged["name"])]


def test_related_objects_and_custom_fields_are_part_of_conditions(
    api: Api, unique: Unique, add_webhook: AddWebhook, field: Made
) -> None:
    region, name = api.post(REGIONS, {"name": unique()}), f"cf_{field['slug']}"
    moves = add_webhook({"after": {"region__slug": region["slug"]}, "changed": ["region"]})
    owned = add_webhook({"before": {name: ""}, "after": {f"{name}__n": ""}, "changed": [name]})
    changes, stays = add_webhook({"changed": ["custom_fields"]}), add_webhook({"unchanged": [name]})
    made = api.post(SITES, site(unique))
    update = ("update", made["name"])
    api.patch(made["url"], {"region": region["id"]})
    assert [told(api, one) for one in (moves, owned, changes, stays)] == [[update], [], [], [update]]
    api.patch(made["url"], {"custom_fields": {field["slug"]: "net"}})
    assert [told(api, one) for one in (moves, owned, changes, stays)] == [[update], [update], [update], [update]]
    api.patch(made["url"], {"custom_fields": {field["slug"]: "ops"}})
    assert [len(told(api, one)) for one in (moves, owned, changes, stays)] == [1, 1, 2, 1]


def test_conditions_are_judged_by_every_object_whatever_the_writer_may_view(
    service: Service, api: Api, unique: Unique, add_webhook: AddWebhook
) -> None:
    tenant, made = api.post("/api/tenancy/tenants/", {"name": unique()}), api.post(SITES, site(unique))
    api.patch(made["url"], {"tenant": tenant["id"]})
    webhook = add_webhook({"before": {"tenant": [tenant["slug"]]}, "after": {"tenant__name": tenant["name"]}})
    blind = service.user(("view change", "dcim.site")).api
    blind.patch(made["url"], {"facility": "x"})
    assert told(api, webhook) == [("update", made["name"])]


def test_what_a_request_rolls_back_is_not_judged(api: Api, unique: Unique, add_webhook: AddWebhook) -> None:
    webhook, (one, two) = add_webhook(BECOMES_ACTIVE), api.post(SITES, [site(unique), site(unique)])
    bodies = [{"id": one["id"], "status": "active", "name": two["name"]}, {"id": two["id"], "status": "active"}]
    api.send("PATCH", f"{SITES}?on_error=continue", bodies, status=200)
    assert told(api, webhook) == [("update", two["name"])]


def test_a_dry_run_lists_what_matches_and_sends_nothing(api: Api, unique: Unique, add_webhook: AddWebhook) -> None:
    webhook, made = add_webhook(BECOMES_ACTIVE), api.post(SITES, [site(unique), site(unique)])
    bodies = [{"id": made[0]["id"], "status": "active"}, {"id": made[1]["id"], "status": "staging"}]
    preview = api.send("PATCH", f"{SITES}?dry_run=true", bodies).json
    listed = [item for item in preview["webhooks"] if item["webhook"]["id"] == webhook["id"]]
    assert [item["object_id"] for item in listed] == [made[0]["id"]]
    assert told(api, webhook) == []
    api.patch(SITES, bodies)
    assert told(api, webhook) == [("update", made[0]["name"])]


def test_conditions_that_change_count_from_then_on(api: Api, unique: Unique, add_webhook: AddWebhook) -> None:
    webhook, made = add_webhook({"after": PLANNED}), api.post(SITES, site(unique))
    api.patch(webhook["url"], {"conditions": {"after": ACTIVE}})
    api.patch(made["url"], {"facility": "x"})
    api.patch(webhook["url"], {"conditions": None})
    api.patch(made["url"], {"facility": "y"})
    api.patch(webhook["url"], {"conditions": {"after": ACTIVE}, "enabled": False})
    api.patch(made["url"], {"status": "active"})
    assert [event for event, _ in told(api, webhook)] == ["create", "update"]


# -- statements


def test_the_number_of_statements_grows_neither_with_objects_nor_with_webhooks(
    api: Api, unique: Unique, add_webhook: AddWebhook, statements: Any
) -> None:
    counted: dict[tuple[int, int], int] = {}
    for webhooks, added in ((1, 1), (5, 4)):
        for number in range(added):
            add_webhook({**BECOMES_ACTIVE, "after": {"name__n": [f"x {number}"]}, "changed": ["status"]})
        for size in (1, 1, 10):
            made = api.post(SITES, [site(unique) for _ in range(size)])
            with statements() as found:
                api.patch(SITES, [{"id": one["id"], "status": "active"} for one in made])
            counted[webhooks, size] = len(found)
    assert len(set(counted.values())) == 1, counted


def test_models_without_conditions_take_no_statement(
    api: Api, unique: Unique, add_webhook: AddWebhook, statements: Any
) -> None:
    made = api.post(SITES, site(unique))
    counts = []
    for number in range(3):
        if number == 1:
            add_webhook({"before": {"name": ["x"]}, "after": {"name": ["y"]}}, content_types=["dcim.region"])
        api.patch(made["url"], {"facility": f"warm {number}"})
        with statements() as found:
            api.patch(made["url"], {"facility": f"x {number}"})
        counts.append(len(found))
    assert len(set(counts)) == 1, counts


# -- what is refused


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([], "conditions: An object is required"),
        ("after", "conditions: An object is required"),
        (False, "conditions: An object is required"),
        ({"during": {}}, "conditions.during: There is no such part"),
        ({"after": None}, "conditions.after: An object of filters"),
        ({"before": ["status"]}, "conditions.before: An object of filters"),
        ({"changed": []}, "conditions.changed: A list of names"),
        ({"changed": "status"}, "conditions.changed: A list of names"),
        ({"unchanged": [1]}, "conditions.unchanged: A list of names"),
        ({"changed": ["nothing"]}, "conditions.changed: The content type has no field 'nothing'"),
        ({"unchanged": ["last_updated"]}, "conditions.unchanged: The content type has no field"),
        ({"changed": ["cf_no_such_field"]}, "conditions.changed: The content type has no field"),
        ({"changed": ["rack_count"]}, "conditions.changed: The content type has no field"),
        ({"after": {"nothing": ["x"]}}, "conditions.after: nothing: "),
        ({"before": {"name__re": ["("]}}, "conditions.before: name__re: "),
        ({"after": {"status": ["no such status"]}}, "conditions.after: status: "),
        ({"before": {"region": ["no-such-region"]}}, "conditions.before: region: "),
        ({"after": {"asn": ["x"]}}, "conditions.after: asn: "),
        ({"after": {"site__secret__x": 1}}, "conditions.after: site__secret__x: "),
        ({"after": {"violates": ["x"]}}, "conditions.after: violates: A condition cannot refer to rules."),
        ({"after": {"name__ic": [f"x{n}" for n in range(600)]}}, "conditions.after: "),
    ],
    ids=lambda value: str(value)[:60],
)
@pytest.mark.parametrize("path", [WEBHOOKS, "/api/extras/job-hooks/"])
def test_conditions_that_make_no_sense_are_refused_by_part(
    api: Api, unique: Unique, path: str, conditions: Any, words: str
) -> None:
    body = {
        "name": unique(),
        "content_types": ["dcim.site"],
        "payload_url": f"http://{unique()}.example.com/",
        **EVENTS,
    }
    job = api.get("/api/extras/jobs/", {"limit": 1, "is_job_hook_receiver": True})["results"]
    body |= {"job": job[0]["id"] if job else None}
    answer = api.post(path, {**body, "conditions": conditions}, status=400)
    assert "conditions" in answer, answer
    (said, *_) = answer["conditions"]
    assert f"conditions: {said}".startswith(words) or said.startswith(words), said


def test_every_content_type_knows_the_filters_and_fields(api: Api, unique: Unique, add_webhook: AddWebhook) -> None:
    conditions = {"after": {"facility": ["x"], "name": ["y"]}, "changed": ["facility"]}
    webhook = add_webhook(conditions)
    said = api.patch(webhook["url"], {"content_types": ["dcim.site", "dcim.region"]}, status=400)["conditions"]
    assert [text.partition(": ")[0] for text in said] == ["conditions.changed", "conditions.after"]
    assert all("(dcim.region)" in text for text in said) and "facility" in said[1]
    said = api.patch(webhook["url"], {"content_types": ["zz.zz"]}, status=400)
    assert "conditions" in said or "content_types" in said
    api.patch(webhook["url"], {"content_types": ["dcim.region"], "conditions": {"after": {"name": ["y"]}}})
    api.patch(webhook["url"], {"conditions": conditions}, status=400)
    assert api.get(webhook["url"])["conditions"] == {"after": {"name": ["y"]}}


def test_conditions_name_no_object_that_their_author_may_not_view(service: Service, api: Api, unique: Unique) -> None:
    tenant = api.post("/api/tenancy/tenants/", {"name": unique()})
    author = service.user(("add view", "extras.webhook"), ("view", "dcim.site")).api
    body = {
        "name": unique(),
        "content_types": ["dcim.site"],
        "payload_url": f"http://{unique()}.example.com/",
        **EVENTS,
    }
    for slug in (tenant["slug"], "no-such-tenant"):
        (said,) = author.post(WEBHOOKS, {**body, "conditions": {"after": {"tenant": [slug]}}}, status=400)["conditions"]
        assert said.startswith("conditions.after: tenant: ")


def test_a_webhook_whose_filter_is_gone_is_not_sent_and_is_reported(
    service: Service,
    api: Api,
    unique: Unique,
    add_webhook: AddWebhook,
    field: Made,
    caplog: pytest.LogCaptureFixture,
) -> None:
    name = f"cf_{field['slug']}"
    webhooks = [
        add_webhook({"after": {f"{name}__n": ""}}),
        add_webhook({"changed": [name]}),
        add_webhook({"after": {}}),
    ]
    made = api.post(SITES, site(unique, custom_fields={field["slug"]: "net"}))
    assert [len(told(api, one)) for one in webhooks] == [1, 0, 1]
    assert not [one for one in checks.conditions(service.engine, service.registry, judge) if one.level == "warning"]
    api.delete(field["url"])
    with caplog.at_level(logging.WARNING):
        api.patch(made["url"], {"status": "active"})
        api.delete(made["url"])
    assert [len(told(api, one)) for one in webhooks[:2]] == [1, 0] and len(told(api, webhooks[2])) >= 2
    found = [one for one in checks.conditions(service.engine, service.registry, judge) if one.level == "warning"]
    assert sorted(name in one.message for one in found) == [True, True]
    for webhook in webhooks[:2]:
        assert any(webhook["name"] in record.getMessage() for record in caplog.records)
        assert any(webhook["name"] in one.message for one in found)


# -- pages


def test_the_form_shows_conditions_as_json_and_names_the_part_of_an_error(
    api: Api, browser: Browser, add_webhook: AddWebhook
) -> None:
    webhook = add_webhook(BECOMES_ACTIVE)
    form = browser.get(f"/extras/webhooks/{webhook['id']}/edit/").form()
    assert '"before"' in form["conditions"].value
    form["conditions"] = '{"after": {"nothing": ["x"]}}'
    page = form.submit(status=422)
    assert "conditions.after: nothing: " in page.html.main.text
    form = page.form()
    form["conditions"] = '{"changed": ["status"]}'
    form.submit(status=303)
    assert api.get(webhook["url"])["conditions"] == {"changed": ["status"]}
    assert "changed" in browser.get(f"/extras/webhooks/{webhook['id']}/").html.main.text


def previewed(browser: Browser, webhook: Made) -> dict[str, str]:
    """What the preview says of each part of the conditions."""
    page = browser.get(f"/extras/webhooks/{webhook['id']}/message/", status=200).html.main
    return {item.dt.text: item.dd.text for item in page.select("dl > div") if item.dt.text in PARTS}


PARTS = ("before", "after", "changed", "unchanged")


def test_the_preview_says_which_part_of_the_conditions_did_not_hold(
    api: Api, browser: Browser, unique: Unique, add_webhook: AddWebhook
) -> None:
    webhook = add_webhook({**BECOMES_ACTIVE, "changed": ["status"], "unchanged": ["facility"]})
    made = api.post(SITES, site(unique))
    wrong = "does not hold"
    assert previewed(browser, webhook) == dict.fromkeys(PARTS, wrong)
    api.patch(made["url"], {"status": "active"})
    assert previewed(browser, webhook) == dict.fromkeys(PARTS, "holds")
    api.patch(made["url"], {"facility": "x"})
    held = {"before": wrong, "after": "holds", "changed": wrong, "unchanged": wrong}
    assert previewed(browser, webhook) == held
    assert api.get(made["url"])["facility"] == "x"
    api.delete(made["url"])
    assert previewed(browser, webhook) == dict.fromkeys(PARTS, wrong)
    api.patch(webhook["url"], {"conditions": {"before": ACTIVE}})
    assert previewed(browser, webhook) == {"before": "holds"}
    assert api.get(SITES, {"name": made["name"]})["count"] == 0
    api.patch(webhook["url"], {"conditions": {"after": PLANNED}, "type_update": False, "type_delete": False})
    for status in ("active", "planned", "staging"):
        fields = {"status": status, "facility": status}
        api.patch(made["url"], fields) if status != "active" else made.update(api.post(SITES, site(unique)))
    assert previewed(browser, webhook) == {"after": "holds"}
    assert told(api, webhook)[-1] == ("create", made["name"])


def test_the_preview_of_conditions_judges_as_the_reader_sees_related_objects(
    service: Service, api: Api, unique: Unique, add_webhook: AddWebhook
) -> None:
    tenant = api.post("/api/tenancy/tenants/", {"name": unique()})
    webhook = add_webhook({"before": {"tenant__name": tenant["name"]}, "after": {"tenant__name": tenant["name"]}})
    api.patch(api.post(SITES, site(unique, tenant=tenant["id"]))["url"], {"facility": "x"})
    labels = ["extras.webhook", "extras.objectchange", "dcim.site"]
    blind = Browser(service, service.user(("view", labels), password=PASSWORD))
    seeing = Browser(service, service.user(("view", [*labels, "tenancy.tenant"]), password=PASSWORD))
    assert previewed(seeing, webhook) == {"before": "holds", "after": "holds"}
    assert previewed(blind, webhook) == {"before": "does not hold", "after": "does not hold"}
