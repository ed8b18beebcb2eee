"""Git repositories: what they provide is brought in, kept as it is there, and goes when it goes there."""

from __future__ import annotations

import datetime
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core import worker_tasks
from netinv_core.models.base import now, table_of
from netinv_core.tasks import queue as task_queue
from netinv_extras.git import files as git_files
from netinv_extras.git.models import GitSync
from netinv_extras.git.worker import sync_now
from netinv_testing import Service
from tests.support.git_remotes import Remote
from tests.support.git_services import (
    CHANGES,
    CONTEXTS,
    REPOSITORIES,
    SCHEMAS,
    TEMPLATES,
    TOKEN,
    add,
    context,
    make_device,
    owned,
    remote,
    service,
    synced,
)
from tests.support.receivers import Receiver

__all__ = ["add", "make_device", "remote", "service", "synced"]


# -- what is brought in


def test_contexts_schemas_and_templates_are_brought_in_and_owned(
    service: Service, remote: Remote, add: Any, synced: Any
) -> None:
    api, word = service.api, service.unique()
    site, region = (
        api.post("/api/dcim/sites/", {"name": word, "status": "active"}),
        api.post("/api/dcim/regions/", {"name": word}),
    )
    api.post("/api/extras/tags/", {"name": word, "slug": word, "color": "ff0000", "content_types": ["dcim.device"]})
    scopes = {"sites": [{"slug": site["slug"]}], "regions": [region["slug"]], "tags": [{"slug": word}]}
    files = {
        f"config_contexts/{word}.json": context(
            f"{word} a", {"ntp": [1]}, weight=7, is_active=False, description="d", schema=f"{word} s", **scopes
        ),
        f"config_contexts/sites/{word}.yml": "dns: {first: 192.0.2.1, since: 2020-01-02}\n3: [1.5, yes, null]\n",
        "config_contexts/README.md": "no context",
        f"config_context_schemas/{word}.yaml": f"_metadata:\n  name: {word} s\n  description: of schemas\ndata_schema:\n  type: object\n  properties: {{}}\n",
        "export_templates/dcim/site/hosts.csv.j2": "{% for s in queryset %}{{ s.name }}{% endfor %}",
        "elsewhere/other.json": "{",
    }
    head = remote.write(files)
    repository = add(remote)
    outcome = synced(repository)
    assert (outcome["state"], outcome["head"], outcome["error"], outcome["refused"]) == ("succeeded", head, "", [])
    assert (outcome["created"], outcome["updated"], outcome["deleted"], outcome["unchanged"]) == (4, 0, 0, 0)
    assert {item["outcome"] for item in outcome["objects"]} == {"created"}
    assert api.get(repository["url"])["current_head"] == head
    contexts = owned(api, CONTEXTS, repository)
    first, second = contexts[f"{word} a"], contexts[word]
    assert (first["weight"], first["is_active"], first["description"], first["data"]) == (7, False, "d", {"ntp": [1]})
    assert (first["schema"]["name"], first["tags"]) == (f"{word} s", [word])
    assert [item["id"] for item in first["sites"] + first["regions"]] == [site["id"], region["id"]]
    assert second["data"] == {"dns": {"first": "192.0.2.1", "since": "2020-01-02"}, "3": [1.5, True, None]}
    assert ([item["id"] for item in second["sites"]], second["weight"], second["is_active"]) == (
        [site["id"]],
        1000,
        True,
    )
    assert first["owner"]["id"] == repository["id"]
    assert first["display"] == f"[{repository['name']}] {word} a"
    assert owned(api, SCHEMAS, repository)[f"{word} s"]["data_schema"] == {"type": "object", "properties": {}}
    template = owned(api, TEMPLATES, repository)["hosts.csv.j2"]
    assert (template["content_type"], template["mime_type"], template["file_extension"]) == (
        "dcim.site",
        "text/csv",
        "csv",
    )
    assert api.send("GET", "/api/dcim/sites/", query={"export": "hosts.csv.j2", "name": word}).text == word


def test_a_second_sync_of_the_same_head_changes_nothing(
    service: Service, remote: Remote, add: Any, synced: Any, make_device: Any
) -> None:
    api, word = service.api, service.unique()
    make_device(word)
    remote.write(
        {
            f"config_contexts/{word}.yaml": f"_metadata:\n  tags: []\n  regions: []\nn: {{a: 1.0, b: [1, 2]}}\nwhen: 2020-01-02T03:04:05Z\nid: {word}\n",
            f"config_contexts/devices/{word}.json": '{"a": 1}',
            "config_context_schemas/s.json": '{"data_schema": {"type": "object", "properties": {}}}',
            "export_templates/dcim/site/t": "\n x \n",
        }
    )
    repository = add(remote)
    assert synced(repository)["created"] == 3
    before = api.get(CHANGES, {"limit": 1})["count"], owned(api, CONTEXTS, repository), api.get(repository["url"])
    outcome = synced(repository)
    assert (outcome["created"], outcome["updated"], outcome["deleted"], outcome["unchanged"]) == (0, 0, 0, 4)
    assert (
        api.get(CHANGES, {"limit": 1})["count"],
        owned(api, CONTEXTS, repository),
        api.get(repository["url"]),
    ) == before


def test_what_changed_is_updated_what_left_is_deleted_and_what_others_changed_is_restored(
    service: Service, remote: Remote, add: Any, synced: Any
) -> None:
    api, word = service.api, service.unique()
    site = api.post("/api/dcim/sites/", {"name": word, "status": "active"})
    names = [f"{word} {place}" for place in range(4)]
    remote.write({f"config_contexts/{name}.json": context(name, {"n": 1}, sites=[{"name": word}]) for name in names})
    repository = add(remote)
    synced(repository)
    there = owned(api, CONTEXTS, repository)
    api.patch(there[names[1]]["url"], {"data": {"n": "by hand"}})
    remote.write(
        {
            f"config_contexts/{names[0]}.json": context(names[0], {"n": 2}, weight=5),
            f"config_contexts/{names[2]}.json": None,
            f"config_contexts/{word}.json": json.dumps(
                [json.loads(context(f"{word} x", {})), json.loads(context(f"{word} y", {}))]
            ),
        }
    )
    outcome = synced(repository)
    assert (outcome["created"], outcome["updated"], outcome["deleted"], outcome["unchanged"]) == (2, 2, 1, 1)
    now = owned(api, CONTEXTS, repository)
    assert set(now) == {names[0], names[1], names[3], f"{word} x", f"{word} y"}
    assert (now[names[0]]["data"], now[names[0]]["weight"], now[names[0]]["sites"]) == ({"n": 2}, 5, [])
    assert (now[names[1]]["data"], now[names[1]]["id"]) == ({"n": 1}, there[names[1]]["id"])
    assert [item["id"] for item in now[names[3]]["sites"]] == [site["id"]]
    api.patch(repository["url"], {"provided_contents": ["extras.configcontextschema"]})
    assert synced(repository, ask=False)["deleted"] == 5
    assert owned(api, CONTEXTS, repository) == {}


def test_changes_are_recorded_as_those_of_who_asked(service: Service, remote: Remote, add: Any, synced: Any) -> None:
    remote.write({"config_context_schemas/s.json": '{"data_schema": {"type": "object", "properties": {"a": {}}}}'})
    repository = add(remote)
    synced(repository)
    remote.write({"config_context_schemas/s.json": '{"data_schema": {"type": "object", "properties": {}}}'})
    writer = service.user(("view change", "extras.gitrepository"))
    writer.api.post(f"{repository['url']}sync/", status=200)
    outcome = synced(repository, ask=False)
    assert outcome["requested_by"] == writer.username
    schema = owned(service.api, SCHEMAS, repository)["s"]
    changes = service.api.get(CHANGES, {"changed_object_id": schema["id"]})["results"]
    assert [(change["action"]["value"], change["user_name"]) for change in changes] == [
        ("update", writer.username),
        ("create", service.admin.username),
    ]


def test_a_repository_takes_what_it_owns_along(
    service: Service, remote: Remote, add: Any, synced: Any, make_device: Any
) -> None:
    api, word = service.api, service.unique()
    device = make_device(word)
    remote.write(
        {f"config_contexts/{word}.json": context(word, {}), f"config_contexts/devices/{word}.json": '{"a": 1}'}
    )
    repository = add(remote)
    synced(repository)
    (found,) = owned(api, CONTEXTS, repository).values()
    assert api.get(device["url"])["local_context_data"] == {"a": 1}
    api.delete(repository["url"])
    api.get(found["url"], status=404)
    assert api.get(device["url"])["local_context_data"] is None


# -- local contexts


def test_local_contexts_are_those_of_single_devices(
    service: Service, remote: Remote, add: Any, synced: Any, make_device: Any
) -> None:
    api, word = service.api, service.unique()
    mine, own, twin = make_device(word), make_device(f"{word} own"), make_device(f"{word} twin")
    make_device(f"{word} twin")
    api.patch(own["url"], {"local_context_data": {"by": "hand"}})
    api.post(SCHEMAS, {"name": word, "data_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}})
    folder = "config_contexts/devices"
    remote.write(
        {
            f"{folder}/{word}.json": json.dumps({"_metadata": {"config_context_schema": word}, "n": 1}),
            f"{folder}/{word} own.json": "{}",
            f"{folder}/{word} twin.json": "{}",
            f"{folder}/{word} none.json": "{}",
        }
    )
    repository = add(remote)
    outcome = synced(repository)
    assert (outcome["state"], outcome["updated"]) == ("incomplete", 1)
    reasons = {item["file"].removeprefix(f"{folder}/{word}"): item["reason"] for item in outcome["refused"]}
    assert reasons == {
        " own.json": f"{word} own has local context data already, and not from this repository",
        " twin.json": f"there are 2 devices called {word} twin",
        " none.json": f"there are no devices called {word} none",
    }
    shown = api.get(mine["url"])
    assert (shown["local_context_data"], shown["local_context_schema"]["name"]) == ({"n": 1}, word)
    remote.write(
        {
            f"{folder}/{word}.json": json.dumps({"_metadata": {"schema": word}, "n": "x"}),
            **{f"{folder}/{word} {n}.json": None for n in ("own", "twin", "none")},
        }
    )
    assert "Validation using the JSON Schema" in synced(repository)["refused"][0]["reason"]
    assert api.get(mine["url"])["local_context_data"] == {"n": 1}
    remote.write({f"{folder}/{word}.json": None})
    assert synced(repository)["deleted"] == 1
    shown = api.get(mine["url"])
    assert (shown["local_context_data"], shown["local_context_schema"]) == (None, None)
    assert api.get(own["url"])["local_context_data"] == {"by": "hand"}
    assert api.get(twin["url"])["local_context_data"] is None


# -- what is wrong


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("config_contexts/x.json", "{", "it is not JSON: "),
        ("config_contexts/x.json", b"\xff", "it is not UTF-8: byte 1"),
        ("config_contexts/x.json", "[1]", "it is not in object form"),
        ("config_contexts/x.json", '{"_metadata": 1}', "_metadata is not in object form"),
        (
            "config_contexts/x.json",
            '{"_metadata": {"wieght": 1}}',
            "_metadata has members that nothing is known of: wieght",
        ),
        (
            "config_contexts/x.json",
            '{"_metadata": {"schema": "none"}}',
            "there is no config context schema called none",
        ),
        ("config_contexts/x.json", '{"_metadata": {"weight": "heavy"}}', "weight: A valid integer is required."),
        ("config_contexts/x.json", '{"_metadata": {"sites": "x"}}', "_metadata: sites is not a list"),
        (
            "config_contexts/x.json",
            '{"_metadata": {"sites": ["nowhere"]}}',
            "sites: Related object not found using the provided attributes: {'slug': 'nowhere'}",
        ),
        ("config_contexts/x.json", '{"_metadata": {"tags": [{"name": "x"}]}}', "_metadata: tags are named by slug"),
        (
            "config_contexts/x.json",
            '{"_metadata": {"tags": ["nothing"]}}',
            "tags: Object with slug=nothing does not exist.",
        ),
        ("config_contexts/x.json", '{"a": "\\u0000"}', "data: Null characters are not allowed."),
        ("config_contexts/x/y.json", "{}", "nothing is limited by x: the folders are "),
        ("config_contexts/x.yaml", "a: [1", "it is not YAML: line "),
        (
            "config_contexts/x.yaml",
            "a: !!python/object/apply:os.getcwd []",
            "it is not YAML: line 1: could not determine a constructor",
        ),
        ("config_contexts/x.yaml", "a: .nan", "it holds a value that JSON has no form for: float"),
        ("config_contexts/x.yaml", "null: 1", "a mapping names a member by something else than text: None"),
        ("config_contexts/x.yaml", "a: &a [*a]", "it is nested too deeply"),
        ("config_contexts/x.yaml", "a: " + "[" * 5000, "it is n"),
        (
            "config_contexts/x.yaml",
            "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"
            + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)),
            "it holds more",
        ),
        ("config_contexts/x.yaml", "[" * 1_000_000, "it is nested too deeply"),
        ("config_contexts/x.yaml", "{a: " * 200_000, "it is nested too deeply"),
        ("config_contexts/x.yaml", "- a\n" * 250_000, "it holds more than 100000 values"),
        (
            "config_contexts/x.yaml",
            "m0: &m0 {k: 1}\n" + "".join(f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}\n" for n in range(1, 60)),
            "it holds more",
        ),
        ("config_contexts/x.yaml", f"a: 1{':10' * 300_000}", "it holds a number that is too large"),
        ("config_contexts/x.yaml", f"a: 0x{'f' * 900_000}", "it holds a number that is too large"),
        ("config_contexts/x.yaml", "a: -9223372036854775809", "it holds a number that is too large"),
        ("config_contexts/x.json", "[" * 500_000, "it is n"),
        ("config_contexts/x.json", f"[{'[],' * 300_000}[]]", "it holds more than 100000 values"),
        ("config_context_schemas/x.json", "{}", "it has no data_schema"),
        (
            "config_context_schemas/x.json",
            '{"data_schema": {"type": "nothing"}}',
            "data_schema: 'nothing' is not valid under any of the given schemas",
        ),
        ("export_templates/dcim/site/x", "{% for %}", "template_code: This template does not compile. Line 1: "),
        ("export_templates/dcim/nothing/x", "x", "content_type: Invalid content type: dcim.nothing"),
        ("export_templates/dcim/site/x", " ", "template_code: This field may not be blank."),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason_and_keeps_no_other_out(
    service: Service, remote: Remote, add: Any, synced: Any, path: str, content: Any, reason: str
) -> None:
    word = service.unique()
    remote.write(
        {
            path: content,
            f"config_contexts/{word}.json": context(word, {"a": 1}),
            "export_templates/dcim/site/good": "good",
        }
    )
    outcome = synced(add(remote))
    assert (outcome["state"], outcome["created"], [item["file"] for item in outcome["refused"]]) == (
        "incomplete",
        2,
        [path],
    )
    assert reason in outcome["refused"][0]["reason"]


def test_nothing_is_deleted_while_a_file_cannot_be_read(
    service: Service, remote: Remote, add: Any, synced: Any
) -> None:
    word = service.unique()
    remote.write({f"config_contexts/{n}.json": context(f"{word} {n}", {}) for n in "ab"})
    repository = add(remote)
    synced(repository)
    remote.write({"config_contexts/a.json": "{", "config_contexts/b.json": None})
    outcome = synced(repository)
    assert (outcome["state"], outcome["deleted"]) == ("incomplete", 0)
    assert set(owned(service.api, CONTEXTS, repository)) == {f"{word} a", f"{word} b"}
    remote.write({"config_contexts/a.json": context(f"{word} a", {})})
    assert synced(repository)["deleted"] == 1


def test_a_repository_of_the_machine_of_the_worker(service: Service, remote: Remote, add: Any, synced: Any) -> None:
    """``file:///path`` and ``file://localhost/path`` are the same, where ``netinv.git_protocols`` allows files."""
    word = service.unique()
    remote.write({f"config_contexts/{word}.json": context(word, {"ntp": 1})})
    repository = add(remote, remote_url=f"file://{remote.folder}")
    assert repository["remote_url"] == f"file://{remote.folder}"
    assert synced(repository)["created"] == 1


def test_two_files_that_want_one_name_are_told_apart(service: Service, remote: Remote, add: Any, synced: Any) -> None:
    word = service.unique()
    remote.write({f"config_contexts/{n}.json": context(word, {"from": n}) for n in "ab"})
    repository = add(remote)
    assert synced(repository)["refused"] == [
        {"file": "config_contexts/b.json", "reason": f"config_contexts/a.json has another one that is called {word}"}
    ]
    assert owned(service.api, CONTEXTS, repository)[word]["data"] == {"from": "a"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"branch": "other"}, "git: couldn't find remote ref refs/heads/other"),
        ({"branch": "--upload-pack=touch x"}, "The branch has a name that no branch can have."),
        ({"branch": "main:refs/heads/x"}, "The branch has a name that no branch can have."),
        ({"branch": "-c core.sshCommand=x"}, "The branch has a name that no branch can have."),
        ({"branch": "../../heads/main"}, "The branch has a name that no branch can have."),
        (
            {"remote_url": "file://localhost/nowhere/at/all"},
            "git: '/nowhere/at/all' does not appear to be a git repository",
        ),
        (
            {"remote_url": "https://127.0.0.1:99/x.git"},
            "Nothing is sent to 127.0.0.1: it is no public address, and netinv.git_allow does not name it.",
        ),
        (
            {"remote_url": "ssh://git@169.254.169.254/x.git"},
            "Nothing is sent to 169.254.169.254: it is no public address, and netinv.git_allow does not name it.",
        ),
        ({"remote_url": "https://nowhere.invalid/x.git"}, "The name of the host cannot be resolved."),
    ],
)
def test_a_sync_that_fails_says_why_and_leaves_everything(
    service: Service, remote: Remote, add: Any, synced: Any, fields: Any, reason: str
) -> None:
    word = service.unique()
    head = remote.write({"config_contexts/a.json": context(word, {})})
    repository = add(remote)
    synced(repository)
    service.api.patch(repository["url"], fields)
    outcome = synced(repository, ask=False)
    assert (outcome["state"], outcome["head"]) == ("failed", head)
    assert reason in outcome["error"]
    assert list(owned(service.api, CONTEXTS, repository)) == [word]
    assert service.api.get(repository["url"])["current_head"] == head


def test_neither_links_nor_hooks_nor_submodules_mean_anything(
    service: Service, remote: Remote, add: Any, synced: Any, tmp_path: Path
) -> None:
    word, secret = service.unique(), tmp_path / "secret.json"
    secret.write_text('{"secret": 1}')
    (remote.folder / "config_contexts").mkdir()
    (remote.folder / "config_contexts" / "link.json").symlink_to(secret)
    (remote.folder / ".gitattributes").write_text("* filter=evil\n")
    remote.git("config", "filter.evil.smudge", "false")
    remote.write(
        {
            f"config_contexts/{word}.json": context(word, {}),
            ".gitmodules": '[submodule "x"]\n\tpath = config_contexts/x\n\turl = /nowhere\n',
        }
    )
    repository = add(remote)
    assert synced(repository)["state"] == "succeeded"
    assert list(owned(service.api, CONTEXTS, repository)) == [word]
    assert list((tmp_path / "git").iterdir()) == []


def test_what_a_kind_holds_together_is_bounded(
    service: Service, remote: Remote, add: Any, synced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_files, "MAX_VALUES_OF_KIND", 30)
    word = service.unique()
    remote.write(
        {
            f"config_contexts/{word}-{letter}.json": context(f"{word} {letter}", {"a": list(range(10))})
            for letter in "abc"
        }
    )
    outcome = synced(add(remote))
    assert outcome["created"] == 2
    assert outcome["refused"] == [
        {"file": f"config_contexts/{word}-c.json", "reason": "it and the files before it hold more than 30 values"}
    ]


def test_a_repository_that_is_too_large_is_not_fetched(
    service: Service, remote: Remote, add: Any, synced: Any, tmp_path: Path
) -> None:
    remote.write({"large": os.urandom(2 << 20), "config_contexts/a.json": context(service.unique(), {})})
    repository = add(remote)
    with service.configured(git_max_size=1 << 20):
        outcome = synced(repository)
    assert (outcome["state"], outcome["error"]) == ("failed", "It is larger than 1 MiB.")
    assert list((tmp_path / "git").iterdir()) == []
    assert synced(repository)["state"] == "succeeded"


def test_a_small_repository_with_endless_files_is_given_up(
    service: Service, remote: Remote, add: Any, synced: Any
) -> None:
    """Ten trees, each ten times in the next one: a few hundred bytes that name ten thousand million files."""
    remote.write({})
    entry = f"100644 blob {remote.git('hash-object', '-w', '--stdin', given='{}')}"
    for level in range(10):
        tree = remote.git("mktree", given="".join(f"{entry}\t{name}{level}.json\n" for name in "abcdefghij"))
        entry = f"040000 tree {tree}"
    top = remote.git("mktree", given=f"{entry}\tconfig_contexts\n")
    remote.git("update-ref", "refs/heads/main", remote.git("commit-tree", "-m", "more", top))
    outcome = synced(add(remote))
    assert (outcome["state"], outcome["error"]) == ("failed", "It is larger than 80 MiB.")


# -- asking for a sync


def test_a_sync_is_asked_for_by_those_who_may_change_the_repository(
    service: Service, remote: Remote, add: Any, synced: Any
) -> None:
    head = remote.write({})
    repository = add(remote)
    path = f"{repository['url']}sync/"
    queued = service.api.get(path)
    assert (queued["state"], queued["requested_by"], queued["finished"], queued["objects"]) == (
        "queued",
        service.admin.username,
        None,
        [],
    )
    synced(repository, ask=False)
    reader = service.user(("view", "extras.gitrepository")).api
    done = reader.get(path)
    assert (done["state"], done["head"], done["requested"]) == ("succeeded", head, None)
    assert done["started"] <= done["finished"]
    reader.post(path, status=403)
    service.user(("view change", "extras.gitrepository", {"name": "another"})).api.post(path, status=404)
    service.user(("view change", "extras.gitrepository", {"name": "another"})).api.get(path, status=404)
    service.user(("view", "dcim.site")).api.get(path, status=403)
    service.anonymous.get(path, status=403)
    answer = service.api.post(path, status=200)
    assert answer == {"message": f"Repository {repository['name']} sync job added to queue."}
    assert service.api.get(path)["state"] == "queued"
    service.api.post(f"{REPOSITORIES}{service.admin.id}/sync/", status=404)


def test_what_concerns_the_sync_asks_for_one(service: Service, remote: Remote, add: Any, synced: Any) -> None:
    remote.write({})
    repository = add(remote)
    for change, state in (
        ({"name": service.unique()}, "succeeded"),
        ({"current_head": "x"}, "succeeded"),
        ({"branch": "x"}, "queued"),
        ({"token": "x"}, "queued"),
    ):
        synced(repository)
        service.api.patch(repository["url"], {"branch": "main"})
        synced(repository, ask=False)
        changed = service.api.patch(repository["url"], change)
        assert service.api.get(f"{repository['url']}sync/")["state"] == state, change
        assert changed["current_head"] != "x"  # a sync sets it, and nobody else


def test_the_worker_is_woken_and_syncs(service: Service, remote: Remote, add: Any, tmp_path: Path) -> None:
    head, url = remote.write({}), f"sqlite:///{tmp_path / 'queue.sqlite'}"
    huey = task_queue.queue(url)
    worker_tasks.add_tasks(huey, service.engine, service.registry)
    with service.configured(queue_url=url):
        consumer = task_queue.start_embedded(huey)
        try:
            path = f"{add(remote)['url']}sync/"
            until = threading.Event()
            for _ in range(200):
                if service.api.get(path)["finished"]:
                    break
                until.wait(0.05)
        finally:
            consumer.stop(graceful=True)
    assert service.api.get(path)["head"] == head


def test_a_worker_that_died_is_replaced_when_its_time_is_over(
    service: Service, remote: Remote, add: Any, synced: Any
) -> None:
    remote.write({"config_contexts/a.json": context(service.unique(), {})})
    repository = add(remote)
    change(service, claimed_until=now() + datetime.timedelta(minutes=1))
    assert synced(repository)["state"] == "running"
    change(service, claimed_until=now() - datetime.timedelta(minutes=1))
    assert synced(repository)["state"] == "succeeded"


def test_what_is_asked_for_while_a_sync_runs_is_done_after_it(
    service: Service, remote: Remote, add: Any, synced: Any
) -> None:
    remote.write({})
    repository, meanwhile = None, []

    def answer(handler: Any, request: Any) -> None:
        if not meanwhile:
            meanwhile.append(service.api.post(f"{repository['url']}sync/", status=200))
        remote.answer("oauth2", TOKEN)(handler, request)

    with Receiver(answer) as receiver, service.configured(git_allow=("127.0.0.0/8",)):
        repository = add(f"http://127.0.0.1:{receiver.port}/{remote.folder.name}/.git", token=TOKEN)
        assert sync_now(service.engine, service.registry) == 2
    assert service.api.get(f"{repository['url']}sync/")["state"] == "succeeded"


def change(service: Service, **values: Any) -> None:
    """Changes the syncs behind the service's back."""
    with service.unit_of_work() as uow:
        uow.execute(sa.update(table_of(GitSync)).values(values))
