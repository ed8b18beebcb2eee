"""Git repositories: credentials, and writing repositories whose URLs and secrets may be used."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.git_remotes import Remote
from tests.support.git_services import (
    CHANGES,
    REPOSITORIES,
    TOKEN,
    add,
    context,
    make_device,
    remote,
    service,
    synced,
)
from tests.support.receivers import Receiver

__all__ = ["add", "make_device", "remote", "service", "synced"]


# -- credentials


@pytest.fixture
def served(service: Service, remote: Remote) -> Iterator[Any]:
    """``served(username)``: the URL of the remote for those who have the token; the service may go there."""
    receivers: list[Receiver] = []

    def serve(username: str) -> str:
        receivers.append(Receiver(remote.answer(username, TOKEN)).__enter__())
        return f"http://localhost:{receivers[-1].port}/{remote.folder.name}/.git"

    with service.configured(git_allow=("localhost",)):
        yield serve
    for receiver in receivers:
        receiver.__exit__()


def test_a_token_opens_the_repository_and_is_seen_nowhere(
    service: Service, remote: Remote, served: Any, add: Any, synced: Any, caplog: pytest.LogCaptureFixture
) -> None:
    api, word = service.api, service.unique()
    remote.write({f"config_contexts/{word}.json": context(word, {})})
    repository = add(served("oauth2"), token=TOKEN)
    assert "token" not in repository
    outcome = synced(repository)
    assert (outcome["state"], outcome["created"], outcome["error"]) == ("succeeded", 1, "")
    api.patch(repository["url"], {"token": "wrong" + TOKEN})
    failed = synced(repository)
    assert failed["state"] == "failed"
    log = api.get(CHANGES, {"changed_object_id": repository["id"]})["results"]
    tokens = [change["object_data"].get("token") for change in log]
    assert tokens[-1] == "********" and "******** (changed)" in tokens
    rows = service.rows(service.registry["extras.gitrepository"].table.select()) + service.rows(
        service.registry["extras.objectchange"].table.select()
    )
    everything = str(
        [
            repository,
            outcome,
            failed,
            log,
            rows,
            caplog.text,
            api.get(REPOSITORIES),
            api.get(repository["url"], {"brief": 1}),
        ]
    )
    assert TOKEN not in everything


def test_the_secrets_group_goes_before_the_token(
    service: Service, remote: Remote, served: Any, add: Any, synced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, word = service.api, service.unique()
    group = api.post("/api/extras/secrets-groups/", {"name": word})
    remote.write({f"config_contexts/{word}.json": context(word, {})})
    repository = add(served("someone"), secrets_group=group["id"], token="wrong")
    assert synced(repository)["error"] == "The secrets group holds no token for HTTP(S)."
    for kind, value in (("token", TOKEN), ("username", "someone")):
        monkeypatch.setenv(f"NETINV_TEST_{kind}", value)
        secret = api.post(
            "/api/extras/secrets/",
            {
                "name": f"{word} {kind}",
                "provider": "environment-variable",
                "parameters": {"variable": f"NETINV_TEST_{kind}"},
            },
        )
        held = {"group": group["id"], "access_type": "HTTP(S)", "secret_type": kind, "secret": secret["id"]}
        api.post("/api/extras/secrets-groups-associations/", held)
    assert "netinv.secrets_env_prefixes does not allow" in synced(repository)["error"]
    with service.configured(secrets_env_prefixes=("NETINV_TEST_",)):
        assert synced(repository)["state"] == "succeeded"
    monkeypatch.delenv("NETINV_TEST_token")
    assert "SecretsProvider" in synced(repository)["error"]


def test_credentials_are_neither_on_the_command_line_nor_left_behind(
    service: Service,
    remote: Remote,
    served: Any,
    add: Any,
    synced: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log, real = tmp_path / "commands", subprocess.check_output(["which", "git"], text=True).strip()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(
        f'#!/bin/sh\necho "$@" >> {log}\n[ -z "$GIT_DIR" ] && cat config >> {log} 2>/dev/null\nexec {real} "$@"\n'
    )
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    remote.write({"config_contexts/a.json": context(service.unique(), {})})
    assert synced(add(served("oauth2"), token=TOKEN))["state"] == "succeeded"
    assert "fetch" in log.read_text() and TOKEN not in log.read_text()


def test_a_remote_that_does_not_answer_is_given_up(service: Service, add: Any, synced: Any) -> None:
    enough = threading.Event()
    with (
        Receiver(lambda handler, request: enough.wait(10)) as receiver,
        service.configured(git_allow=("127.0.0.0/8",), git_timeout=0.5),
    ):
        outcome = synced(add(f"http://127.0.0.1:{receiver.port}/x.git"))
        enough.set()
    assert outcome["error"] == "It took longer than 0.5 s."


def test_a_remote_that_leads_elsewhere_is_not_followed(service: Service, remote: Remote, add: Any, synced: Any) -> None:
    def lead(handler: Any, request: Any) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"http://127.0.0.1:99{request.path}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with Receiver(lead) as receiver, service.configured(git_allow=("127.0.0.0/8",)):
        outcome = synced(add(f"http://127.0.0.1:{receiver.port}/x.git"))
        assert len(receiver.received) == 1
    assert (outcome["state"], outcome["error"].rpartition(": ")[2]) == ("failed", "302")


# -- writing repositories


def test_urls_are_ones_that_may_be_followed(service: Service) -> None:
    refused = {
        "https://user:pass@git.example.com/x.git": "Credentials do not belong in the URL: give a user name and a token, or a secrets group.",
        "https://token@git.example.com/x.git": "Credentials do not belong in the URL: give a user name and a token, or a secrets group.",
        "ftp://git.example.com/x.git": "The URL must begin with one of: https://, http://, ssh://, file://.",
        "ext://git.example.com/x.git": "The URL must begin with one of: https://, http://, ssh://, file://.",
        "file://git.example.com/x.git": "The URL of a file begins with file:///.",
        "not valid!": "Enter a valid URL.",
    }
    for url, reason in refused.items():
        assert service.api.post(REPOSITORIES, {"name": service.unique(), "remote_url": url}, status=400) == {
            "remote_url": [reason]
        }
    service.api.post(REPOSITORIES, {"name": service.unique(), "remote_url": "ssh://git@git.example.com/x.git"})
    with service.configured(git_protocols=("https",)):
        answer = service.api.post(
            REPOSITORIES, {"name": service.unique(), "remote_url": "file://localhost/x"}, status=400
        )
        assert answer == {"remote_url": ["The URL must begin with one of: https://."]}


def test_two_repositories_do_not_provide_the_same_from_one_url(service: Service) -> None:
    api, url = service.api, f"https://git.example.com/{service.unique()}.git"

    def body(*labels: str) -> dict[str, Any]:
        return {"name": service.unique(), "remote_url": url, "provided_contents": list(labels)}

    reason = {
        "__all__": [
            f"Another Git repository already configured for remote URL {url} provides contents overlapping with this repository."
        ]
    }
    first = api.post(REPOSITORIES, body("extras.configcontext"))
    second = api.post(REPOSITORIES, body("extras.exporttemplate"))
    assert api.post(REPOSITORIES, body("extras.configcontext", "extras.job"), status=400) == reason
    assert api.post(REPOSITORIES, [body("extras.job"), body("extras.job")], status=400) == [{}, reason]
    assert api.patch(second["url"], {"provided_contents": ["extras.configcontext"]}, status=400) == reason
    swapped = [
        {"id": first["id"], "provided_contents": ["extras.exporttemplate"]},
        {"id": second["id"], "provided_contents": ["extras.configcontext"]},
    ]
    api.patch(REPOSITORIES, swapped)
    for wrong, message in (
        ("x", 'Expected a list of items but got type "str".'),
        (["x"], '"x" is not a valid choice.'),
    ):
        assert api.post(REPOSITORIES, body() | {"provided_contents": wrong}, status=400) == {
            "provided_contents": [message]
        }
    choices = api.options(REPOSITORIES)["actions"]["POST"]["provided_contents"]["choices"]
    assert {"value": "extras.configcontext", "display": "config contexts"} in choices


def test_a_token_is_not_sent_where_it_was_not_given_for(service: Service) -> None:
    made = service.api.post(
        REPOSITORIES, {"name": service.unique(), "remote_url": "https://git.example.com/x.git", "token": TOKEN}
    )
    service.api.patch(made["url"], {"remote_url": "https://git.example.com/y.git"})
    for url in ("https://evil.example.com/y.git", "http://git.example.com/y.git", "https://git.example.com:8443/y.git"):
        assert list(service.api.patch(made["url"], {"remote_url": url}, status=400)) == ["token"]
    service.api.patch(made["url"], {"remote_url": "https://other.example.com/y.git", "token": "new"})


def test_secrets_are_sent_only_where_those_who_may_change_their_group_say(service: Service) -> None:
    api, name = service.api, service.unique()
    group, other = (api.post("/api/extras/secrets-groups/", {"name": f"{name} {place}"}) for place in "ab")
    body = {"name": name, "remote_url": f"https://git.example.com/{name}.git", "secrets_group": group["id"]}
    writing, seeing = ("view add change", "extras.gitrepository"), ("view", "extras.secretsgroup")
    refused = {
        "secrets_group": [
            "To have the secrets of this group sent to the host of the URL, you need the permission to change the group."
        ]
    }
    viewer = service.user(writing, seeing).api
    assert viewer.post(REPOSITORIES, body, status=400) == refused
    assert (
        service.user(writing, seeing, ("change", "extras.secretsgroup", {"name": other["name"]})).api.post(
            REPOSITORIES, body, status=400
        )
        == refused
    )
    made = service.user(writing, seeing, ("change", "extras.secretsgroup", {"name": group["name"]})).api.post(
        REPOSITORIES, body
    )
    for url in (
        f"https://evil.example.com/{name}.git",
        f"https://git.example.com:8443/{name}.git",
        f"http://git.example.com/{name}.git",
    ):
        assert viewer.patch(made["url"], {"remote_url": url}, status=400) == refused
    viewer.patch(made["url"], {"remote_url": f"https://git.example.com/{name}-moved.git", "branch": "other"})
    plain = viewer.post(REPOSITORIES, {"name": service.unique(), "remote_url": f"https://evil.example.com/{name}.git"})
    assert viewer.patch(plain["url"], {"secrets_group": group["id"]}, status=400) == refused
