"""The commands for webhooks: what they show and what they set going, and the listener that shows what a webhook
sends.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import hmac
import io
import json
import queue as queues
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy as sa
from click.testing import CliRunner, Result
from rich.console import Console

from netinv_admin.commands.cli import cli
from netinv_core.environment import Environment
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_extras.webhooks.commands import webhooks
from netinv_extras.webhooks.deliveries import WebhookAttempt, WebhookDelivery
from netinv_extras.webhooks.listener import MAX_BODY_BYTES, Listener, webhook_listener
from netinv_testing import Api, Service, Unique

RACK_ROLES = "/api/dcim/rack-roles/"
DELIVERIES = "/api/extras/webhook-deliveries/"
_delivery, _attempt = table_of(WebhookDelivery), table_of(WebhookAttempt)


@pytest.fixture(scope="module")
def environment(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """The environment of the commands: the database of the service, and a queue."""
    folder = tmp_path_factory.mktemp("commands")
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    queue = f"netinv.queue_url = sqlite:///{folder / 'queue.sqlite'}\n"
    (folder / "netinv.ini").write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\n"
        f"netinv.secret = for tests only, of 32 characters\n{queue}"
    )
    environment = Environment(str(folder / "netinv.ini"))
    yield environment
    environment.engine.dispose()


@pytest.fixture
def queue(environment: Environment) -> Any:
    """The queue that the commands put words in, empty."""
    huey = task_queue.queue(environment.settings["queue_url"])
    huey.flush()
    return huey


@pytest.fixture
def run(environment: Environment) -> Any:
    """``run("status")``: what `netinv webhooks status` prints."""

    def invoke(*words: str, status: int = 0, answer: str | None = None) -> str:
        done: Result = CliRunner(env={"COLUMNS": "200"}).invoke(webhooks, words, input=answer, obj=environment)
        task_queue.flush(10)
        assert done.exit_code == status, f"{done.output}{done.exception}"
        return done.output

    return invoke


@pytest.fixture
def make_webhook(api: Api, unique: Unique) -> Any:
    """``make_webhook()``: one that is told of deleted rack roles."""

    def post(**given: Any) -> Any:
        name = unique()
        body = {
            "name": name,
            "content_types": ["dcim.rackrole"],
            "type_delete": True,
            "payload_url": f"https://{name}.example.com/",
            **given,
        }
        return api.post("/api/extras/webhooks/", body)

    return post


@pytest.fixture
def webhook(make_webhook: Any) -> Any:
    """A webhook."""
    return make_webhook()


@pytest.fixture
def deliver(service: Service, webhook: Any) -> Any:
    """``deliver("failed", "refused", age=60, object_repr="R")``: a delivery, its attempts with these errors, made so
    many seconds ago; its id.
    """

    def insert(state: str, *errors: str, age: int = 0, to: Any = None, **given: Any) -> int:
        moment = now() - datetime.timedelta(seconds=age)
        row = {
            **dict.fromkeys(("change_id", "changed_object_id", "request_id"), uuid.uuid4()),
            "webhook_id": uuid.UUID((to or webhook)["id"]),
        }
        row |= {
            "event": "delete",
            "changed_object_type": "dcim.rackrole",
            "object_repr": "r",
            "user_name": "u",
            "time": moment,
            "due": moment,
        }
        with service.unit_of_work() as uow:
            (key,) = uow.execute(
                sa.insert(_delivery).values({**row, "state": state, "attempts": len(errors), **given})
            ).inserted_primary_key
            attempts = [
                {"delivery_id": key, "number": n, "time": moment, "duration_ms": 1, "error": error, "answer": ""}
                for n, error in enumerate(errors, 1)
            ]
            for attempt in attempts:
                uow.execute(
                    sa.insert(_attempt).values(
                        attempt | {"status": int(attempt["error"]) if attempt["error"].isdecimal() else None}
                    )
                )
        return int(key)

    return insert


@pytest.fixture
def states(service: Service) -> Any:
    """``states(keys)``: in which state deliveries are."""
    return lambda *keys: [
        service.rows(sa.select(_delivery.c.state).where(_delivery.c.id == key))[0].state for key in keys
    ]


# -- status, failed


def test_the_status_counts_for_each_webhook(run: Any, webhook: Any, deliver: Any) -> None:
    deliver("queued", age=3700)
    deliver("queued", due=now() + datetime.timedelta(days=300))
    deliver("failed", "no")
    (line,) = [line for line in run("status").splitlines() if webhook["name"] in line]
    assert re.split(r"\s*│\s*", line.strip("│ "))[1:4] == ["2", "0", "1"]
    assert re.search(r"1:0[12]:\d\d", line) and "now" in line


def test_the_status_says_when_the_next_is_due_and_what_is_disabled(
    api: Api, run: Any, webhook: Any, deliver: Any
) -> None:
    api.patch(f"/api/extras/webhooks/{webhook['id']}/", {"enabled": False})
    deliver("queued", due=datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC))
    (line,) = [line for line in run("status").splitlines() if webhook["name"] in line]
    assert f"{webhook['name']} (disabled)" in line and "2100-01-01 00:00:00Z" in line


def test_failures_are_listed_with_the_reason_of_the_last_attempt(run: Any, webhook: Any, deliver: Any) -> None:
    first = deliver("failed", "connection refused", "timed out", age=7200, object_repr="R 1")
    second = deliver("failed", "503", object_repr="R\x1b[2J\n2")
    deliver("succeeded", "503")
    lines = run("failed", "--webhook", webhook["name"]).splitlines()
    assert lines[0].startswith(f"{second}  ") and lines[0].endswith(
        f"{webhook['name']}: delete dcim.rackrole R\\x1b[2J\\n2; attempts 1; answered 503: 503"
    )
    assert lines[1].startswith(f"{first}  ") and lines[1].endswith("attempts 2; timed out")
    assert lines[2:] == ["2 failed"]
    assert run("failed", "--webhook", webhook["name"], "--limit", "1").splitlines()[1:] == [
        "2 failed, 1 of them listed"
    ]
    assert run("failed", "--webhook", webhook["name"], "--since", "1h").splitlines()[1:] == ["1 failed"]


def test_a_webhook_that_is_not_there_is_said_so(run: Any) -> None:
    for words in (["failed"], ["retry"], ["replay", "--after", "1h"]):
        assert "no webhook is called 'nobody'" in run(*words, "--webhook", "nobody", status=1)


@pytest.mark.parametrize("moment", ["yesterday", "7w", "", "2026-13-01", "999999d", "0001-01-01T00:00+14:00"])
def test_a_time_is_one_or_how_long_ago(run: Any, moment: str) -> None:
    assert "is neither a time such as 2026-01-31T12:00:00Z nor how long ago" in run(
        "failed", "--since", moment, status=2
    )


# -- retry


def test_failed_deliveries_are_queued_again_by_their_numbers(
    run: Any, deliver: Any, states: Any, queue: Any, service: Service
) -> None:
    keys = [deliver("failed", "no"), deliver("failed", "no"), deliver("succeeded", "200"), deliver("failed", "no")]
    before = now()
    assert run("retry", *map(str, keys[:2])) == "2 queued again\n"
    assert states(*keys) == ["queued", "queued", "succeeded", "failed"]
    assert len(queue) == 1
    (row,) = service.rows(sa.select(_delivery).where(_delivery.c.id == keys[0]))
    assert (row.attempts, row.finished, before <= row.due <= now()) == (1, None, True)


def test_what_has_not_failed_is_not_sent_again(run: Any, deliver: Any, states: Any, queue: Any) -> None:
    keys = [deliver("succeeded", "200"), deliver("queued")]
    output = run("retry", *map(str, keys), "987654321", status=1)
    assert output == "0 queued again\n3 of those named are not there, or have not failed\n"
    assert states(*keys) == ["succeeded", "queued"]
    assert len(queue) == 0


def test_failed_deliveries_are_queued_again_by_webhook_and_time(
    run: Any, make_webhook: Any, webhook: Any, deliver: Any, states: Any
) -> None:
    other = make_webhook()
    keys = [deliver("failed", "no", age=7200), deliver("failed", "no"), deliver("failed", "no", to=other)]
    assert run("retry", "--webhook", webhook["name"], "--since", "1h") == "1 queued again\n"
    assert states(*keys) == ["failed", "queued", "failed"]
    assert run("retry", "--webhook", webhook["name"]) == "1 queued again\n"
    assert states(*keys) == ["queued", "queued", "failed"]
    run("retry", "--all")
    assert states(*keys) == ["queued", "queued", "queued"]


def test_a_retry_says_of_what(run: Any) -> None:
    assert "say which: IDs, --webhook NAME or --all" in run("retry", "--since", "1h", status=2)


# -- replay


@pytest.fixture
def changes(api: Api, unique: Unique) -> Any:
    """Five rack roles, created and deleted while no webhook of the test was there; when that began, and their ids in
    that order.
    """
    began = now()
    made = [api.post(RACK_ROLES, {"name": unique(), "slug": unique()}) for _ in range(5)]
    for role in made:
        api.delete(f"{RACK_ROLES}{role['id']}/")
    return began.isoformat(), [role["id"] for role in made]


def queued(service: Service, webhook: Any) -> list[tuple[str, str]]:
    """Event and object of the deliveries of a webhook, in their order."""
    of_it = _delivery.c.webhook_id == uuid.UUID(webhook["id"])
    rows = service.rows(sa.select(_delivery).where(of_it, _delivery.c.state == "queued").order_by(_delivery.c.id))
    return [(row.event, str(row.changed_object_id)) for row in rows]


def test_changes_are_replayed_in_their_order(
    service: Service, run: Any, changes: Any, make_webhook: Any, queue: Any
) -> None:
    began, keys = changes
    webhook = make_webhook(type_create=True)
    assert run("replay", "--after", began, "--webhook", webhook["name"], "--yes") == "10 queued\n"
    assert queued(service, webhook) == [*(("create", key) for key in keys), *(("delete", key) for key in keys)]
    assert len(queue) >= 1
    (found,) = service.rows(sa.select(_delivery).where(_delivery.c.webhook_id == uuid.UUID(webhook["id"])).limit(1))
    record = service.api.get(f"/api/extras/object-changes/{found.change_id}/")
    assert (record["changed_object_id"], record["action"]["value"]) == (str(found.changed_object_id), found.event)


def test_many_changes_are_replayed_part_by_part(
    service: Service, run: Any, changes: Any, webhook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, keys = changes
    monkeypatch.setattr("netinv_extras.webhooks.replay.BATCH_SIZE", 2)
    assert run("replay", "--after", began, "--webhook", webhook["name"], "--yes") == "5 queued\n"
    assert queued(service, webhook) == [("delete", key) for key in keys]


def test_a_replay_is_asked_about_first(service: Service, run: Any, changes: Any, webhook: Any) -> None:
    words = ["replay", "--after", changes[0], "--webhook", webhook["name"]]
    assert run(*words, "--dry-run") == "5 deliveries of 5 changes would be queued\n"
    assert run(*words, answer="n\n", status=1).startswith("Queue 5 deliveries of 5 changes? [y/N]: n\n")
    assert queued(service, webhook) == []
    assert run(*words, answer="y\n").endswith("\n5 queued\n")


def test_a_replay_keeps_within_its_span(api: Api, run: Any, changes: Any, webhook: Any, make_webhook: Any) -> None:
    words = ["replay", "--after", changes[0], "--dry-run", "--webhook", webhook["name"]]
    assert run(*words, "--before", changes[0]) == "no change matches: there is nothing to queue\n"
    assert run(*words, "--type", "dcim.site") == "no change matches: there is nothing to queue\n"
    assert run(*words, "--type", "dcim.rackrole") == "5 deliveries of 5 changes would be queued\n"
    assert "no type is called 'rackrole'" in run(*words, "--type", "rackrole", status=1)
    api.patch(f"/api/extras/webhooks/{webhook['id']}/", {"enabled": False})
    assert run(*words) == "no change matches: there is nothing to queue\n"


RED, GREEN = "ff0000", "00ff00"
CONDITIONS: list[dict[str, Any]] = [
    {"before": {"color": RED}, "after": {"color": GREEN}},
    {"before": {"color": GREEN}},
    {"after": {"color": RED}},
    {"before": {}, "unchanged": ["color"]},
    {"changed": ["name", "description"], "after": {"color": GREEN}},
    {"after": {}},
]


def change_roles(api: Api, unique: Unique) -> None:
    """Creates, changes and deletes rack roles."""
    for color in (RED, GREEN):
        role = api.post(RACK_ROLES, {"name": unique(), "slug": unique(), "color": color})
        for changed in ({"color": GREEN}, {"description": "x"}, {"color": RED}, {"name": unique()}, {"color": GREEN}):
            api.patch(role["url"], changed)
        if color == RED:
            api.delete(role["url"])


def test_a_replay_judges_conditions_as_when_the_changes_were_made(
    service: Service, api: Api, run: Any, make_webhook: Any, unique: Unique
) -> None:
    began = now().isoformat()
    actions = {"type_create": True, "type_update": True, "type_delete": True}
    told = [make_webhook(**actions, conditions=conditions) for conditions in CONDITIONS]
    change_roles(api, unique)
    reds = api.get(RACK_ROLES, {"color": RED})["count"]
    live = [queued(service, webhook) for webhook in told]
    assert [bool(found) for found in live] == [True] * len(CONDITIONS) and len({len(found) for found in live}) > 2
    for webhook, found in zip(told, live, strict=True):
        replayed = make_webhook(**actions, conditions=webhook["conditions"])
        words = ["replay", "--after", began, "--type", "dcim.rackrole", "--webhook", replayed["name"]]
        assert run(*words, "--dry-run") == f"{len(found)} deliveries of 12 changes would be queued\n"
        assert queued(service, replayed) == []
        assert run(*words, answer="n\n", status=1).startswith("Queue at most 12 deliveries of 12 changes? [y/N]: n\n")
        assert run(*words, "--yes") == f"{len(found)} queued\n"
        assert queued(service, replayed) == found
    assert api.get(RACK_ROLES, {"color": RED})["count"] == reds, "nothing of the past is restored"
    assert (
        api.get("/api/extras/object-changes/", {"time__gte": began, "changed_object_type": "dcim.rackrole"})["count"]
        == 12
    )


def test_a_replay_counts_what_cannot_be_judged_any_more(
    service: Service, api: Api, run: Any, make_webhook: Any, unique: Unique, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = now().isoformat()
    change_roles(api, unique)
    webhook = make_webhook(type_update=True, type_delete=False, conditions={"before": {"color": RED}})
    monkeypatch.setattr("netinv_extras.webhooks.condition_preview.MAX_RECORDS", 3)
    said = run("replay", "--after", began, "--webhook", webhook["name"], "--yes")
    assert said == f"left out, as they cannot be judged any more: 4 changes for {webhook['name']}\n4 queued\n"
    assert len(queued(service, webhook)) == 4


def test_every_command_says_what_it_does(run: Any) -> None:
    for words in ([], ["status"], ["failed"], ["retry"], ["replay"]):
        assert len(run(*words, "--help")) > 300


# -- the listener


Listen = Callable[..., tuple[str, Callable[[], str]]]


@pytest.fixture
def listen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listen]:
    """``listen("--status", "503")``: the address of a listener, and a function that stops it and gives what it
    printed.
    """
    started: queues.SimpleQueue[Listener] = queues.SimpleQueue()
    stops: list[Callable[[], Any]] = []
    printed = io.StringIO()

    class Started(Listener):
        def serve_forever(self, poll_interval: float = 0.05) -> None:
            started.put(self)
            super().serve_forever(poll_interval)

    monkeypatch.setattr("netinv_extras.webhooks.listener.Listener", Started)
    monkeypatch.setattr("netinv_extras.webhooks.listener.Console", functools.partial(Console, file=printed, width=80))

    def start(*options: str) -> tuple[str, Callable[[], str]]:
        words = ["--port", "0", *options]
        thread = threading.Thread(target=webhook_listener.main, args=(words,), kwargs={"standalone_mode": False})
        thread.start()
        listener = started.get(timeout=60)

        def stop() -> str:
            listener.shutdown()
            thread.join(60)
            assert not thread.is_alive()
            return printed.getvalue()

        stops.append(stop)
        (address,) = re.findall(r"^listening at (http://\S+/) and answering", printed.getvalue())
        return address, stop

    yield start
    for stop in stops:
        stop()


def signatures(secret: str, body: bytes, moment: int) -> dict[str, str]:
    """What the service signs a body with."""
    key = secret.encode()
    timed = hmac.new(key, f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return {
        "X-Hook-Signature": hmac.new(key, body, hashlib.sha512).hexdigest(),
        "X-Netinv-Signature": f"t={moment},v1={timed}",
    }


def test_the_listener_shows_what_arrives(listen: Listen) -> None:
    """Whatever the method and the path are."""
    url, stop = listen()
    answer = requests.post(
        f"{url}some/path?x=1",
        data=json.dumps({"event": "created", "data": {"name": "Zürich"}}),
        headers={"X-One": "1"},
        timeout=10,
    )
    assert (answer.status_code, answer.content) == (200, b"")
    assert requests.request("BREW", url, data=b"plain\nlines", timeout=10).status_code == 200
    assert requests.get(url, timeout=10).status_code == 200
    output = stop()
    assert re.search(r"^[\d-]+ [\d:]+ POST /some/path\?x=1$", output, re.M)
    assert "\nX-One: 1\n" in output and "Signature" not in output
    assert '\n{\n  "event": "created",\n  "data": {\n    "name": "Zürich"\n  }\n}\n' in output
    assert re.search(r" BREW /$", output, re.M) and "\nplain\nlines\n" in output
    assert re.search(r" GET /$", output, re.M) and "\n(no body)\n" in output
    assert "\x1b" not in output


@pytest.mark.parametrize("options", [["--secret", "s3cret"], ["--secret-env", "HOOK_SECRET"]])
def test_the_listener_says_whether_signatures_are_right(
    listen: Listen, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("HOOK_SECRET", "s3cret")
    body, moment = b'{"a": 1}', int(time.time()) - 100
    right, wrong = signatures("s3cret", body, moment), signatures("other", body, moment)
    url, stop = listen(*options)
    for headers in (right, wrong, {}, {"X-Netinv-Signature": "v1=abc"}):
        requests.post(url, data=body, headers=headers, timeout=10)
    output = stop()
    first, second, third, fourth = re.split(r"^[\d-]+ [\d:]+ POST /$", output, flags=re.MULTILINE)[1:]
    assert "X-Hook-Signature is right\n" in first and re.search(
        r"X-Netinv-Signature is right \(signed 1\d\d seconds ago\)\n", first
    )
    assert second.count("is WRONG: the secret is another, or the body was changed") == 2
    assert "X-Hook-Signature is missing\nX-Netinv-Signature is missing\n" in third
    assert "X-Netinv-Signature is not of the form t=…,v1=…\n" in fourth


def test_what_arrives_cannot_speak_to_the_terminal(listen: Listen) -> None:
    """Escapes, carriage returns, the C1 range and turns of writing direction are shown, not sent."""
    evil = "\x1b]0;x\x07\r\x9b2J\u202e\u2028[red]"
    url, stop = listen()
    requests.post(url, data=json.dumps({"name": evil}, ensure_ascii=False).encode(), timeout=10)
    requests.post(url, data=evil.encode() + b"\xff\x00", timeout=10)
    with socket.create_connection(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))) as connection:
        connection.sendall(b"GET /\x1b[2J HTTP/1.1\r\nX-Evil: a\x1b[2Jb\x9b\r\nContent-Length: 0\r\n\r\n")
        connection.recv(100)
    output = stop()
    assert not set(output) & set("\x1b\x07\r\x9b\x00\u202e\u2028")
    assert '"name": "\\u001b]0;x\\u0007\\r\\x9b2J\\u202e\\u2028[red]"' in output
    assert "\\x1b]0;x\\x07\\r\\x9b2J\\u202e\\u2028[red]\\xff\\x00" in output
    assert "GET /\\x1b[2J\n" in output and "X-Evil: a\\x1b[2Jb\\x9b\n" in output


def test_the_listener_answers_as_it_is_told(listen: Listen) -> None:
    url, _ = listen("--status", "503", "--slow", "0.5")
    asked = time.monotonic()
    assert requests.post(url, data=b"x", timeout=10).status_code == 503
    assert time.monotonic() - asked >= 0.5


def test_a_body_is_read_up_to_a_limit(listen: Listen) -> None:
    url, stop = listen()
    with contextlib.suppress(requests.ConnectionError):  # the answer comes before all is sent
        requests.post(url, data=b"x" * (MAX_BODY_BYTES + 10_000_000), timeout=10)
    requests.post(url, data=(part for part in (b"in ", b"parts")), timeout=10)
    output = stop()
    assert len(output) < MAX_BODY_BYTES + 2000 and f"(cut after {MAX_BODY_BYTES} bytes)" in output
    assert "\nin parts\n" in output


def test_what_is_no_request_is_said_and_forgotten(listen: Listen) -> None:
    url, stop = listen()
    port = int(url.rstrip("/").rpartition(":")[2])
    post = b"POST / HTTP/1.1\r\n"
    for sent in (
        b"\x16\x03\x01\x02\r\n",
        post + b"Content-Length: many\r\n\r\n",
        post + b"Transfer-Encoding: chunked\r\n\r\nz\r\n",
    ):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(sent)
            assert b" 400 " in connection.recv(1000)
    assert requests.get(url, timeout=10).status_code == 200
    output = stop()
    assert output.count("no request: ") == 3 and "Traceback" not in output


def test_the_listener_runs_without_settings_until_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KeyboardInterrupt is raised directly: a signal could interrupt any code of the test process."""
    monkeypatch.chdir(tmp_path)

    def interrupted(listener: Listener) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Listener, "serve_forever", interrupted)
    done = CliRunner().invoke(cli, ["webhook-listener", "--port", "0"])
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "stopped"), done.output


def test_the_listener_says_why_it_cannot_listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = CliRunner().invoke(cli, ["webhook-listener", "--port", str(taken.getsockname()[1])])
    assert done.exit_code == 1 and "cannot listen at 127.0.0.1" in done.output
    for words in (["--secret", "a", "--secret-env", "B"], ["--secret-env", "NOT_THERE_AT_ALL"], ["--status", "99"]):
        assert CliRunner().invoke(cli, ["webhook-listener", *words]).exit_code == 2
