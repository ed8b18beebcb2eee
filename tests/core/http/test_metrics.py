"""What is told of the service to those who watch it: `/metrics`, and the entries of `/api/status/`."""

from __future__ import annotations

import datetime
import re
import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.http.metrics import COUNTER, Sample, text
from netinv_core.models.base import now, table_of
from netinv_extras.webhooks.deliveries import WebhookDelivery
from netinv_testing import Api, Service, Unique

METRICS, STATUS = "/metrics", "/api/status/"
_SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)((?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*\})?) (-?[0-9.e+-]+)')


def figures(api: Api) -> dict[str, float]:
    """The samples, by name and labels as they are written."""
    lines = api.send("GET", METRICS, status=200).text.splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            match = _SAMPLE.fullmatch(line)
            assert match, f"{line!r} is no sample"
            found[match[1] + match[2]] = float(match[3])
    return found


@pytest.fixture
def webhook(api: Api, unique: Unique) -> Any:
    """A webhook with a name that is awkward in labels; no change goes to it by itself."""
    name = unique()
    body = {
        "name": f'{name} "the\\other"',
        "content_types": ["dcim.rackrole"],
        "type_delete": True,
        "payload_url": f"https://{name}.example.com/",
    }
    return api.post("/api/extras/webhooks/", body)


@pytest.fixture
def deliver(service: Service, webhook: Any) -> Any:
    """``deliver("failed", attempts=2, age=60)``: a delivery in that state, made so many seconds ago."""
    table = table_of(WebhookDelivery)

    def insert(state: str, attempts: int = 0, age: int = 0) -> None:
        names = {"change_id", "changed_object_id", "request_id"}
        words = {
            "event": "delete",
            "changed_object_type": "dcim.rackrole",
            "object_repr": "r",
            "user_name": "u",
            "state": state,
            "attempts": attempts,
        }
        made = now() - datetime.timedelta(seconds=age)
        row = {
            **dict.fromkeys(names, uuid.uuid4()),
            **words,
            "webhook_id": uuid.UUID(webhook["id"]),
            "time": made,
            "due": now() + datetime.timedelta(days=1),
        }
        with service.unit_of_work() as uow:
            uow.execute(sa.insert(table), [row])

    return insert


def test_they_are_for_whoever_has_an_account(service: Service) -> None:
    assert service.anonymous.send("GET", METRICS, status=403).json == {
        "detail": "Authentication credentials were not provided."
    }
    assert service.anonymous.send("GET", METRICS, status=403, token="x" * 40).json == {"detail": "Invalid token"}
    with service.configured(exempt_view_permissions=("*",)):
        service.anonymous.send("GET", METRICS, status=403)
    assert figures(service.user(write_enabled=False).api)["netinv_packages_broken"] == 0
    service.user(active=False).api.send("GET", METRICS, status=403)


@pytest.mark.night
def test_they_are_in_the_text_format_and_not_kept(api: Api) -> None:
    """Whatever media type is asked for: scrapers ask for several."""
    for accept in (
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
        "text/plain",
    ):
        answer = api.send("GET", METRICS, status=200, headers={"Accept": accept})
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.text.endswith("\n") and "# TYPE netinv_changes_total counter\n" in answer.text
    assert api.send("HEAD", METRICS, status=200).body == b""
    assert api.send("POST", METRICS, {}, status=405).headers["Allow"] == "GET, HEAD"


def test_every_metric_says_once_what_it_is(api: Api, webhook: Any) -> None:
    lines = api.send("GET", METRICS, status=200).text.splitlines()
    for kind in ("HELP", "TYPE"):
        names = [line.split()[2] for line in lines if line.startswith(f"# {kind} ")]
        assert len(names) == len(set(names)) > 3
        found = {line.partition(" ")[0].partition("{")[0] for line in lines if not line.startswith("#")}
        assert {name if name in names else re.sub("_(bucket|sum|count)$", "", name) for name in found} <= set(names)


def test_a_sample_is_written_as_the_format_says() -> None:
    found = [
        Sample("a_total", "one\\two\nthree", 1.5, COUNTER, {"x": 'a"b\\c\nd', "y": "é"}),
        Sample("b", "B", 10**12),
        Sample("a_total", "", 2, COUNTER),
    ]
    lines = [
        "# HELP a_total one\\\\two\\nthree",
        "# TYPE a_total counter",
        'a_total{x="a\\"b\\\\c\\nd",y="é"} 1.5',
        "a_total 2.0",
        "# HELP b B",
        "# TYPE b gauge",
        "b 1e+12",
        "",
    ]
    assert text(found).decode() == "\n".join(lines)


@pytest.mark.night
def test_changes_are_counted_once_they_have_their_number(api: Api, make: Any) -> None:
    feed = "/api/extras/object-changes/feed/"
    api.get(feed, {"after": "now"})
    before = figures(api)["netinv_changes_total"]
    make("/api/tenancy/tenants/")
    api.get(feed, {"after": "now"})
    assert figures(api)["netinv_changes_total"] == before + 1


@pytest.mark.night
def test_deliveries_are_counted_by_webhook_and_state(api: Api, webhook: Any, deliver: Any) -> None:
    name = webhook["name"].replace("\\", "\\\\").replace('"', '\\"')

    def counts() -> list[float]:
        found = figures(api)
        return [
            found[f'netinv_webhook_deliveries{{state="{state}",webhook="{name}"}}']
            for state in ("queued", "succeeded", "failed")
        ]

    assert counts() == [0, 0, 0]
    began = now()
    deliver("queued", age=3600)
    deliver("queued", age=60)
    deliver("succeeded", attempts=1)
    deliver("failed", attempts=4)
    assert counts() == [2, 1, 1]
    found = figures(api)
    assert found[f'netinv_webhook_attempts{{webhook="{name}"}}'] == 5
    assert (
        3600
        <= found[f'netinv_webhook_oldest_queued_seconds{{webhook="{name}"}}']
        <= 3600 + (now() - began).total_seconds()
    )


@pytest.mark.night
def test_names_of_webhooks_are_for_those_who_may_view_them(
    service: Service, api: Api, webhook: Any, deliver: Any, unique: Unique
) -> None:
    """Objects that the user may not view are counted together, without a name."""
    own = unique()
    service.api.post(
        "/api/extras/webhooks/",
        {
            "name": own,
            "content_types": ["dcim.rackrole"],
            "type_delete": True,
            "payload_url": "https://x.example/" + own,
        },
    )
    deliver("failed", attempts=4)
    scraper, some = service.user(write_enabled=False), service.user(("view", "extras.webhook", {"name": own}))
    everyone = [webhook["name"] for webhook in api.get("/api/extras/webhooks/?limit=0")["results"]]
    text = scraper.api.send("GET", METRICS, status=200).text
    assert not [name for name in everyone if name in text] and "webhook=" not in text
    whole = sum(
        value
        for name, value in figures(api).items()
        if name.startswith("netinv_webhook_deliveries") and 'state="failed"' in name
    )
    assert figures(scraper.api)['netinv_webhook_deliveries{state="failed"}'] == whole > 0
    seen = figures(some.api)
    assert {name for name in seen if "webhook=" in name} == {
        *(
            f'netinv_webhook_deliveries{{state="{state}",webhook="{own}"}}'
            for state in ("queued", "succeeded", "failed")
        ),
        *(f'netinv_webhook_{name}{{webhook="{own}"}}' for name in ("attempts", "oldest_queued_seconds")),
    }
    assert seen['netinv_webhook_deliveries{state="failed"}'] == whole


def test_the_status_says_what_waits_and_what_failed(api: Api, deliver: Any, statements: Any) -> None:
    before, began = api.get(STATUS)["webhooks"], now()
    for state in ("queued", "failed", "failed", "succeeded"):
        deliver(state, age=10**6)
    with statements() as found:
        after = api.get(STATUS)["webhooks"]
    assert (after["queued"] - before["queued"], after["failed"] - before["failed"]) == (1, 2)
    assert 10**6 <= after["oldest_queued_seconds"] <= 10**6 + (now() - began).total_seconds()
    assert len([statement for statement in found if "extras_webhook" in statement]) == 1


@pytest.mark.night
def test_they_take_as_many_statements_for_many_webhooks_as_for_few(api: Api, unique: Unique, statements: Any) -> None:
    with statements() as few:
        figures(api)
    for _ in range(5):
        name = unique()
        api.post(
            "/api/extras/webhooks/",
            {
                "name": name,
                "content_types": ["dcim.rackrole"],
                "type_delete": True,
                "payload_url": f"https://{name}.example.com/",
            },
        )
    with statements() as many:
        figures(api)
    assert len(many) == len(few) <= 5
