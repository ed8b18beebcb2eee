"""Pages of webhook deliveries: the queue, one delivery, sending again, preview and test of a webhook's messages."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.labels import description_of
from netinv_extras.webhooks import deliveries
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser
from tests.support.receivers import Receiver

QUEUE = "/extras/webhook-deliveries/queue/"
RETRY = "/extras/webhook-deliveries/retry/"
SECRET_HEADER = "X-Api-Key: not to be shown\nX-Plain: {{ model }}"
MakeUser = Callable[..., Account]


@pytest.fixture
def browser(service: Service) -> Browser:
    """The browser of an administrator."""
    return Browser(service, service.admin)


def make_webhook(service: Service, **values: Any) -> Any:
    """A webhook that is told of every change of regions."""
    name = service.unique()
    events = {"type_create": True, "type_update": True, "type_delete": True}
    body = {"name": name, "content_types": ["dcim.region"], "payload_url": f"http://{name}.example.com/"}
    return service.api.post("/api/extras/webhooks/", {**body, **events, **values})


@pytest.fixture
def webhook(service: Service) -> Any:
    """A webhook with credentials in its headers."""
    webhook = make_webhook(service, additional_headers=SECRET_HEADER, secret="a secret of the webhook")
    yield webhook
    service.api.delete(webhook["url"], status=(204, 404))


def make_region(service: Service, changes: int = 0) -> Any:
    """A region that was changed so many times since its creation."""
    name = service.unique()
    region = service.api.post("/api/dcim/regions/", {"name": name, "slug": name})
    for number in range(changes):
        service.api.patch(region["url"], {"description": f"change {number}"})
    return region


def deliveries_of(service: Service, webhook: Any) -> list[Any]:
    """The deliveries of a webhook, the first one first."""
    query = {"webhook_id": webhook["id"], "limit": 0}
    return list(reversed(service.api.get("/api/extras/webhook-deliveries/", query)["results"]))


def fail(service: Service, *keys: int) -> None:
    """Makes deliveries look as if the worker had tried them in vain."""
    table = service.registry[deliveries.LABEL].table
    attempt: Any = deliveries.WebhookAttempt.__table__
    with service.unit_of_work() as uow:
        values = {"state": "failed", "attempts": 1, "finished": uow.now, "claimed_by": uuid.uuid4()}
        uow.execute(sa.update(table).where(table.c.id.in_(keys)).values(**values))
        common = {"number": 1, "time": uow.now, "duration_ms": 7, "status": 503, "answer": "<b>not now</b>"}
        uow.execute(sa.insert(attempt), [{"delivery_id": key, **common} for key in keys])


def states(service: Service, webhook: Any) -> list[str]:
    return [delivery["state"]["value"] for delivery in deliveries_of(service, webhook)]


# -- the form


def test_the_form_offers_retries_with_the_time_within_which_they_are_made(
    service: Service, browser: Browser, webhook: Any
) -> None:
    """By the seconds until the first one, that were sent or are stored."""
    form = browser.get(f"/extras/webhooks/{webhook['id']}/edit/", status=200).form()
    offered = {value: text for value, _, text in form["retries"].options}
    assert offered.keys() - {""} == {str(number) for number in range(21)}
    assert [offered[number] for number in ("0", "1", "6", "12")] == [
        "never",
        "once, after 1 minute",
        "6 times, within 1 hour 3 minutes",
        "12 times, within 2 days 20 hours",
    ]
    form["retry_after"] = "1"
    form = form.submit("_show_again", value="1", status=200).form()
    assert {value: text for value, _, text in form["retries"].options}["12"] == "12 times, within 1 hour 8 minutes"
    form["retries"], form["retry_after"] = "12", "90"
    form.submit(status=303)
    stored = service.api.get(webhook["url"])
    assert (stored["retries"], stored["retry_after"]) == (12, 90)
    form = browser.get(f"/extras/webhooks/{webhook['id']}/edit/", status=200).form()
    assert form["retries"].value == "12"
    assert {value: text for value, _, text in form["retries"].options}["12"].endswith("4 days 6 hours")
    form["retry_after"] = ""
    assert "Enter the seconds until the first retry" in form.submit("_show_again", value="1", status=200).words


# -- the queue


def test_the_queue_lists_deliveries_with_their_last_answer(service: Service, browser: Browser, webhook: Any) -> None:
    region = make_region(service, changes=1)
    first, second = deliveries_of(service, webhook)
    fail(service, first["id"])
    page = browser.get(f"{QUEUE}?webhook_id={webhook['id']}", status=200)
    newest, oldest = page.html.select("tbody tr")
    assert "503 <b>not now</b>" in oldest.text
    assert oldest.b is None
    assert (oldest.select_one("input[name=pk]")["value"], newest.select_one("input[name=pk]")) == (
        str(first["id"]),
        None,
    )
    assert newest.select_one(f"a[href='/dcim/regions/{region['id']}/']").text == region["name"]
    assert newest.select_one(f"a[href='/extras/webhooks/{webhook['id']}/']").text == webhook["name"]
    assert newest.select_one(f"a[href='/extras/webhook-deliveries/{second['id']}/']") is not None


def test_the_queue_counts_what_was_sent_in_the_last_day(service: Service, browser: Browser, webhook: Any) -> None:
    make_region(service, changes=1)
    table, day = service.registry[deliveries.LABEL].table, datetime.timedelta(days=1)
    before = int(browser.get(QUEUE).html.select_one("a[href$='state=succeeded']").text.split()[1].replace(",", ""))
    for delivery, age in zip(deliveries_of(service, webhook), (day / 2, day * 2), strict=True):
        with service.unit_of_work() as uow:
            values = {"state": "succeeded", "finished": uow.now - age}
            uow.execute(sa.update(table).where(table.c.id == delivery["id"]).values(**values))
    assert f"sent {before + 1:,} in 24 h" in browser.get(QUEUE).words


def test_the_queue_is_filtered_by_webhook_and_state(service: Service, browser: Browser, webhook: Any) -> None:
    make_region(service)
    make_region(service)
    first, _ = deliveries_of(service, webhook)
    fail(service, first["id"])
    form = browser.get(QUEUE).forms["filters"]
    form["webhook_id"], form["state"] = webhook["id"], "failed"
    page = form.submit()
    (row,) = page.html.select("tbody tr")
    assert row["data-key"] == str(first["id"])
    assert page.html.select_one("#filter-state option[selected]")["value"] == "failed"
    assert "Nothing matches" in browser.get(f"{QUEUE}?webhook_id={webhook['id']}&state=succeeded")


def test_a_filter_that_there_is_not_is_named(browser: Browser) -> None:
    page = browser.get(f"{QUEUE}?nonsense=1&page=0&per_page=x", status=200)
    assert "nonsense" in page.html.select_one(".notice.danger").text


def test_the_queue_takes_as_many_statements_for_more_rows(service: Service, browser: Browser, webhook: Any) -> None:
    path = f"{QUEUE}?webhook_id={webhook['id']}"
    numbers = []
    for _ in range(2):
        make_region(service, changes=3)
        browser.get(path)
        with service.statements() as statements:
            browser.get(path)
        numbers.append(len(statements))
    assert numbers[0] == numbers[1] <= 8


# -- sending again


def test_selected_deliveries_are_sent_again(service: Service, browser: Browser, webhook: Any) -> None:
    make_region(service, changes=2)
    keys = [delivery["id"] for delivery in deliveries_of(service, webhook)]
    fail(service, *keys)
    page = browser.post(RETRY, [("pk", str(keys[0])), ("pk", str(keys[2])), ("pk", "x")], status=303).follow()
    assert "2 deliveries are sent again." in page
    assert states(service, webhook) == ["queued", "failed", "queued"]


def test_all_failed_deliveries_of_a_webhook_are_sent_again(service: Service, browser: Browser, webhook: Any) -> None:
    other = make_webhook(service)
    make_region(service, changes=2)
    fail(service, *(delivery["id"] for item in (webhook, other) for delivery in deliveries_of(service, item)))
    form = browser.get(f"{QUEUE}?webhook_id={webhook['id']}").forms["selection"]
    assert "3 deliveries are sent again." in form.submit("all", status=303).follow()
    assert states(service, webhook) == ["queued"] * 3
    assert states(service, other) == ["failed"] * 3
    service.api.delete(other["url"])


def test_without_a_selection_nothing_is_sent_again(service: Service, browser: Browser, webhook: Any) -> None:
    make_region(service)
    fail(service, deliveries_of(service, webhook)[0]["id"])
    assert "No failed delivery was selected." in browser.post(RETRY, {}, status=303).follow()
    assert states(service, webhook) == ["failed"]


def test_retrying_leads_back_to_pages_of_deliveries_only(browser: Browser) -> None:
    for following in ("//evil.example.com/", "/dcim/sites/", "https://evil.example.com/"):
        assert browser.post(RETRY, {"following": following}, status=303).headers["Location"] == QUEUE


# -- one delivery


def test_a_delivery_shows_its_request_with_masked_credentials(service: Service, browser: Browser, webhook: Any) -> None:
    region = make_region(service)
    (delivery,) = deliveries_of(service, webhook)
    page = browser.get(f"/extras/webhook-deliveries/{delivery['id']}/", status=200)
    request = page.html.select_one("#panel-request pre").text
    assert f"POST {webhook['payload_url']}" in request
    assert "X-Plain: region" in request
    assert f'"name": "{region["name"]}"' in request
    assert "X-Api-Key: ********" in request
    assert "X-Hook-Signature: ********" in request
    for secret in ("not to be shown", "a secret of the webhook"):
        assert secret not in page


def test_a_failed_delivery_shows_its_answer_and_is_sent_again(service: Service, browser: Browser, webhook: Any) -> None:
    make_region(service)
    (delivery,) = deliveries_of(service, webhook)
    fail(service, delivery["id"])
    page = browser.get(f"/extras/webhook-deliveries/{delivery['id']}/")
    attempts = page.html.select_one("#panel-attempts")
    assert "answered 503" in attempts.text
    links = [link["href"] for link in attempts.select("p a")]
    assert links == [
        f"/dcim/regions/{delivery['changed_object_id']}/",
        f"/extras/object-changes/{delivery['change_id']}/",
    ]
    assert attempts.pre.text == "<b>not now</b>"
    path = f"/extras/webhook-deliveries/{delivery['id']}/"
    response = browser.post(attempts.form["action"], {"pk": delivery["id"], "following": path}, status=303)
    assert response.headers["Location"] == path
    assert "Send again" not in response.follow()
    assert states(service, webhook) == ["queued"]


def test_a_delivery_shows_what_waits_behind_it(service: Service, browser: Browser, webhook: Any) -> None:
    make_region(service, changes=2)
    make_region(service)
    first, second, third, _ = deliveries_of(service, webhook)
    lane = browser.get(f"/extras/webhook-deliveries/{second['id']}/").html.select_one("#panel-lane")
    links = [link["href"] for link in lane.select("a")]
    assert links == [f"/extras/webhook-deliveries/{item['id']}/" for item in (first, third)]


# -- permissions


def test_a_reader_of_deliveries_sees_no_change_without_permission(
    service: Service, make_user: MakeUser, webhook: Any
) -> None:
    region = make_region(service)
    (delivery,) = deliveries_of(service, webhook)
    fail(service, delivery["id"])
    path = f"/extras/webhook-deliveries/{delivery['id']}/"
    reader = Browser(service, make_user(("view", ["extras.webhookdelivery", "dcim.region"]), password=PASSWORD))
    page = reader.get(path, status=200)
    assert "may not view the webhook" in page.html.select_one("#panel-request").text
    assert "Send again" not in page
    assert "Retry" not in reader.get(QUEUE, status=200).html.select_one("main").text
    reader.post(RETRY, {"pk": delivery["id"]}, status=403)
    permissions = ("view", ["extras.webhookdelivery", "extras.webhook", "dcim.region"])
    page = Browser(service, make_user(permissions, password=PASSWORD)).get(path, status=200)
    assert "you may not view it" in page.html.select_one("#panel-request").text
    assert region["slug"] not in page.html.select_one("#panel-request").text
    permissions = ("view", ["extras.webhookdelivery", "extras.webhook", "extras.objectchange"])
    Browser(service, make_user(permissions, password=PASSWORD)).get(path, status=404)


def test_deliveries_outside_of_constraints_are_neither_listed_nor_sent_again(
    service: Service, make_user: MakeUser, webhook: Any
) -> None:
    other = make_webhook(service)
    make_region(service)
    fail(service, *(delivery["id"] for item in (webhook, other) for delivery in deliveries_of(service, item)))
    permission = ("view change", "extras.webhookdelivery", {"webhook__name": webhook["name"]})
    browser = Browser(service, make_user(permission, ("view", "dcim.region"), password=PASSWORD))
    assert len(browser.get(QUEUE).html.select("tbody tr")) == 1
    browser.post(RETRY, {"all": "1"}, status=303)
    assert (states(service, webhook), states(service, other)) == (["queued"], ["failed"])
    service.api.delete(other["url"])


def test_nobody_sees_the_queue_without_permission(service: Service, make_user: MakeUser) -> None:
    browser = Browser(service, make_user(("view", "dcim.site"), password=PASSWORD))
    browser.get(QUEUE, status=403)
    assert QUEUE not in browser.get("/user/profile/").text
    assert Browser(service).get(QUEUE, status=303).headers["Location"].startswith("/login/")


# -- webhooks: form, preview and test


def test_the_form_of_a_webhook_offers_every_attribute(service: Service, browser: Browser) -> None:
    form = browser.get("/extras/webhooks/add/").form()
    endpoint = service.registry["extras.webhook"]
    assert set(endpoint.writable) <= set(form.fields)
    name = service.unique()
    form["name"], form["payload_url"], form["content_types"] = name, f"http://{name}.example.com/", ["dcim.site"]
    form["type_create"], form["secret"], form["additional_headers"] = True, "a secret", "X-Key: value"
    form["http_method"], form["retries"], form["enabled"] = "PUT", "3", False
    form.submit(status=303)
    (webhook,) = service.api.get("/api/extras/webhooks/", {"name": name})["results"]
    assert (webhook["http_method"], webhook["retries"], webhook["enabled"]) == ("PUT", 3, False)
    path = f"/extras/webhooks/{webhook['id']}/edit/"
    edited = browser.get(path).form()
    edited["retry_after"] = "90"
    edited.submit(status=303)
    changed = service.api.get(webhook["url"])
    differing = {member for member in changed if changed[member] != webhook[member]}
    assert differing <= {"retry_after", "last_updated"}
    service.api.delete(webhook["url"])


def test_the_preview_shows_the_message_of_the_newest_change(service: Service, browser: Browser) -> None:
    webhook = make_webhook(service, body_template='["{{ event }} {{ data.name }}"]', secret="a secret of the webhook")
    region = make_region(service)
    page = browser.get(f"/extras/webhooks/{webhook['id']}/message/", status=200)
    message = page.html.select_one("main pre").text
    assert f"created {region['name']}" in message
    assert "a secret of the webhook" not in page
    service.api.delete(webhook["url"])


def test_the_preview_of_a_failing_template_says_why(service: Service, browser: Browser) -> None:
    webhook = make_webhook(service, body_template="{{ 1 / 0 }}")
    page = browser.get(f"/extras/webhooks/{webhook['id']}/message/", status=200)
    assert "The body template failed" in page.html.select_one("main").text
    page = browser.post(f"/extras/webhooks/{webhook['id']}/test/", status=200)
    assert "The body template failed" in page.html.select_one("main").text
    service.api.delete(webhook["url"])


def test_the_preview_shows_no_change_that_the_user_may_not_view(
    service: Service, make_user: MakeUser, webhook: Any
) -> None:
    region = make_region(service)
    labels = ["extras.webhook", "extras.objectchange"]
    browser = Browser(service, make_user(("view", labels), password=PASSWORD))
    page = browser.get(f"/extras/webhooks/{webhook['id']}/message/", status=200)
    assert "invented change" in page
    assert region["name"] not in page
    assert "Send a test message" not in page
    browser.post(f"/extras/webhooks/{webhook['id']}/test/", status=403)
    browser.get(f"/extras/webhooks/{uuid.uuid4()}/message/", status=404)
    browser.get("/extras/webhooks/nonsense/message/", status=404)


def test_a_test_message_is_sent_and_its_answer_shown(sending_service: Service) -> None:
    browser = Browser(sending_service, sending_service.admin)
    with Receiver(418) as receiver:
        webhook = make_webhook(sending_service, payload_url=receiver.url)
        page = browser.get(f"/extras/webhooks/{webhook['id']}/message/").form().submit(status=200)
        assert "The receiver answered 418" in page.html.select_one("[role=alert]").text
        receiver.answer = 200
        page = browser.post(f"/extras/webhooks/{webhook['id']}/test/", status=200)
        assert "The receiver answered 200" in page.html.select_one("[role=status]").text
        first, _ = receiver.received
        assert (first.method, first.headers["X-Netinv-Delivery"]) == ("POST", "0")
    assert deliveries_of(sending_service, webhook) == []
    sending_service.api.delete(webhook["url"])


def test_a_test_message_is_not_sent_to_an_internal_address(service: Service, browser: Browser) -> None:
    with Receiver() as receiver:
        webhook = make_webhook(service, payload_url=receiver.url)
        page = browser.post(f"/extras/webhooks/{webhook['id']}/test/", status=200)
        assert page.html.select_one("[role=alert]").text.strip() != ""
        assert receiver.received == []
    service.api.delete(webhook["url"])


def test_the_page_of_a_webhook_counts_its_deliveries(service: Service, browser: Browser, webhook: Any) -> None:
    make_region(service, changes=1)
    fail(service, deliveries_of(service, webhook)[0]["id"])
    panel = browser.get(f"/extras/webhooks/{webhook['id']}/").html.select_one("#panel-deliveries")
    counts = {row.dt.text: row.dd.text for row in panel.select("dl div")}
    assert counts == {"Queued": "1", "Failed": "1"}
    (failed,) = [link["href"] for link in panel.select("dd a") if "failed" in link["href"]]
    assert len(browser.get(failed).html.select("tbody tr")) == 1


def test_the_menu_has_one_entry_for_deliveries_which_leads_to_the_queue(browser: Browser) -> None:
    links = browser.get("/", status=200).html.select("nav a[href^='/extras/webhook-deliveries/']")
    assert [(link.text.strip(), link["href"]) for link in links] == [("Webhook deliveries", QUEUE)]


def test_an_empty_list_describes_its_model_without_markup(service: Service, browser: Browser) -> None:
    page = browser.get("/extras/webhook-deliveries/", {"webhook": "none"}, status=200)
    assert "``" not in page.html.text
    assert description_of(service.registry["extras.webhookdelivery"]).startswith(
        "Delivery of a change to a webhook: queued until"
    )


def test_deliveries_are_paused_and_resumed_on_the_page_of_the_webhook(sending_service: Service) -> None:
    service, browser = sending_service, Browser(sending_service, sending_service.admin)
    with Receiver() as receiver:
        webhook = make_webhook(service, payload_url=receiver.url)
        path = f"/extras/webhooks/{webhook['id']}/"

        def button() -> Any:
            return browser.get(path, status=200).html.select_one("#panel-deliveries form button")

        assert button().text == "Pause deliveries"
        assert "wait" in browser.post(f"{path}pause/", {"paused": "true"}, status=303).follow()
        region = make_region(service, 1)
        deliver_now(service.engine, service.registry, 20)
        assert receiver.received == []
        rows = browser.get(f"{QUEUE}?webhook_id={webhook['id']}").html.select("tbody tr")
        assert len(rows) == 2 and all("paused" in row.text and "Queued" in row.text for row in rows)
        assert button().text == "Resume deliveries"
        browser.post(f"{path}pause/", {"paused": "false"}, status=303)
        deliver_now(service.engine, service.registry, 20)
        assert [item["state"]["value"] for item in deliveries_of(service, webhook)] == ["succeeded"] * 2
        viewer = Browser(service, service.user(("view", "extras.webhook"), password=PASSWORD))
        assert viewer.get(path).html.select("#panel-deliveries form") == []
        viewer.post(f"{path}pause/", {"paused": "true"}, status=403)
        service.api.delete(webhook["url"])
        service.api.delete(region["url"])
