"""Hooks: each does what it says, is implemented by a package the tests install, and has an entry in the
documentation.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from sqlalchemy.engine import Engine

import netinv_core
from netinv_admin import migrate
from netinv_admin.commands.cli import cli
from netinv_core import worker_tasks
from netinv_core.importing.dump import Dump
from netinv_core.tasks import queue as task_queue
from netinv_extras.git.worker import sync_now
from netinv_import.mapping import DumpMapping
from netinv_testing import Service
from release.public_modules import described_modules
from tests.support import REPOSITORY
from tests.support.git_remotes import Remote
from tests.support.jobs import JOBS
from tests.support.plugins import PLUGIN_FIXTURES, create_tables, installation
from tests.support.registry import REGISTRY

SPECIFIED = {name: caller.spec.function for name, caller in vars(REGISTRY.hooks).items() if caller.spec is not None}
HOOKS = sorted(SPECIFIED)
TENANTS = "/api/tenancy/tenants/"


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented(name: str) -> None:
    page = REPOSITORY / "docs" / "plugins.md"
    assert page.exists() and f"`{name}" in page.read_text(), f"docs/plugins.md has no entry for {name}"


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_implemented_by_a_package_of_the_tests(name: str) -> None:
    guests = [path.read_text() for folder in (PLUGIN_FIXTURES, REPOSITORY / "plugins") for path in folder.rglob("*.py")]
    assert any(f"@hookimpl\ndef {name}(" in text for text in guests)


@pytest.mark.parametrize("name", HOOKS)
def test_what_a_hook_returns_is_made_of_public_classes(name: str) -> None:
    """A plugin imports the public API only: a class that it cannot import from there, it cannot return."""
    specification = SPECIFIED[name]
    source = ast.parse(Path(inspect.getfile(specification)).read_text())
    modules = {
        alias.name: node.module
        for node in ast.walk(source)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("netinv_")
        for alias in node.names
    }
    named = {
        word
        for word in re.findall(r"\w+", str(specification.__annotations__["return"]))
        if word in modules and inspect.isclass(pkgutil.resolve_name(f"{modules[word]}.{word}"))
    }
    described = described_modules()
    assert [
        word for word in named - {*netinv_core._MODULES} if word not in described.get(modules[word] or "", {})
    ] == []


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_says_what_it_is_for(name: str) -> None:
    found = inspect.getdoc(SPECIFIED[name])
    assert found and found.endswith(".")


@pytest.fixture(scope="module")
def service(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service in whose environment the package ``guest`` is installed while the tests run."""
    with pytest.MonkeyPatch.context() as patches, installation(tmp_path_factory.mktemp("guest"), patches) as install:
        install("guest")
        create_tables(engine, "guest")
        yield Service(engine, JOBS)


def test_a_package_judges_objects_after_their_rows_are_written(service: Service) -> None:
    api, word = service.api, service.unique()
    alone = {"comments": "alone"}
    bodies = [{"name": f"{word} {number}", **alone} for number in range(2)]
    assert api.post(TENANTS, bodies, status=400)[0] == {"comments": ["Another one is alone."]}
    made = api.post(TENANTS, bodies[0])
    other = api.post(TENANTS, {"name": f"{word} 2"})
    api.patch(other["url"], alone, status=400)
    api.delete(made["url"])
    api.patch(other["url"], alone)
    api.delete(other["url"])


@pytest.mark.night
def test_a_package_attaches_to_the_resources_of_another(service: Service) -> None:
    api, word = service.api, service.unique()
    made = api.post(TENANTS, {"name": word, "description": word})
    assert made["shout"] == word.upper()
    assert api.options(TENANTS)["actions"]["POST"]["shout"]["read_only"] is True
    assert api.get(TENANTS, {"name": word, "letters": len(word)})["count"] == 1
    assert api.get(TENANTS, {"name": word, "letters": len(word) + 1})["count"] == 0
    assert api.post(TENANTS, {"name": f"{word} nobody"}, status=400) == {"name": ["Nobody is nobody."]}
    other = api.post(TENANTS, {"name": f"{word} 2", "description": word})
    reader = service.user(("view", "tenancy.tenant", {"namesake__name": word}))
    assert {item["id"] for item in reader.api.get(TENANTS)["results"]} == {made["id"], other["id"]}


def test_a_package_guards_changes(service: Service) -> None:
    guest, api = sys.modules["netinv_guest"], service.api
    guest.looked_at.clear()
    locked, sealed = (api.post(TENANTS, {"name": f"{service.unique()} {word}"}) for word in ("locked", "sealed"))
    assert api.patch(f"{TENANTS}{locked['id']}/", {"description": "x"}, status=403)["detail"] == "The tenant is locked."
    api.delete(f"{TENANTS}{locked['id']}/", status=403)
    api.patch(f"{TENANTS}{sealed['id']}/", {"description": "x"})
    assert {str(key) for key in guest.looked_at} == {locked["id"], sealed["id"]}
    records = api.get("/api/extras/object-changes/", {"changed_object_id": sealed["id"], "include": "bypassed"})[
        "results"
    ]
    assert [record["bypassed"] for record in records] == ["the seal", None]


def test_a_package_names_statuses_that_keep_their_slug(service: Service) -> None:
    statuses = "/api/extras/statuses/"
    made = service.api.post(statuses, {"name": "At home", "slug": "at-home", "content_types": ["dcim.site"]})
    refused = service.api.patch(made["url"], {"slug": "away"}, status=400)
    assert refused == {"slug": ["The status at-home has a meaning to the service: its slug stays."]}
    service.api.delete(made["url"], status=409)
    assert service.api.patch(made["url"], {"name": f"Home {service.unique()}"})["slug"] == "at-home"


def test_a_package_names_members_of_documents_for_constraints(service: Service) -> None:
    permissions, body = "/api/users/permissions/", {"actions": ["view"], "object_types": ["tenancy.tenant"]}
    constraints = {"_custom_field_data__mood": "calm"}
    made = service.api.post(permissions, {**body, "name": service.unique(), "constraints": constraints})
    assert made["constraints"] == constraints
    refused = service.api.post(
        permissions, {**body, "name": service.unique(), "constraints": {"_custom_field_data__mood": 1}}, status=400
    )
    assert "A mood is a text." in str(refused["constraints"])


def test_a_package_gives_graphql_fields_of_its_own(service: Service) -> None:
    api = service.api
    made = api.post(TENANTS, {"name": f"Loud {service.unique()}"})
    assert "whisper" not in made
    answer = api.post(
        "/api/graphql/",
        {"query": "query ($id: ID!) { tenant(id: $id) { whisper shout } }", "variables": {"id": made["id"]}},
        status=200,
    )
    assert answer == {"data": {"tenant": {"whisper": made["name"].lower(), "shout": made["name"].upper()}}}


@pytest.mark.night
@pytest.mark.usefixtures("service")
def test_a_package_imports_files_of_git_repositories(sending_service: Service, tmp_path: Path) -> None:
    create_tables(sending_service.engine, "guest")
    service, remote = Service(sending_service.engine), Remote(tmp_path / "remote")
    remote.write({"mottos/onward.txt": "Onward!", "elsewhere/onward.txt": "Onward!"})
    repositories = "/api/extras/git-repositories/"
    choices = service.api.options(repositories)["actions"]["POST"]["provided_contents"]["choices"]
    assert {"value": "guest.motto", "display": "mottos"} in choices
    with service.configured(git_protocols=("file",), git_root=str(tmp_path / "git"), git_timeout=30.0):
        body = {"name": service.unique(), "remote_url": remote.url, "provided_contents": ["guest.motto"]}
        repository = service.api.post(repositories, body)
        sync_now(service.engine, service.registry)
        report = service.api.get(f"{repository['url']}sync/")
        service.api.delete(repository["url"])
    assert report["objects"] == [{"object_type": "guest.motto", "name": "mottos/onward.txt", "outcome": "created"}]


def test_a_package_adds_a_scope_to_config_contexts_and_a_config_context_to_a_model(service: Service) -> None:
    api, word = service.api, service.unique()
    above = api.post("/api/tenancy/tenant-groups/", {"name": word})
    group = api.post("/api/tenancy/tenant-groups/", {"name": f"{word} 2", "parent": above["id"]})
    maker = api.post("/api/dcim/manufacturers/", {"name": word})
    contexts = "/api/extras/config-contexts/"
    made = api.post(contexts, {"name": word, "data": {word: "maker"}, "makers": [maker["id"]]})
    api.post(contexts, {"name": f"{word} 2", "data": {word: "group"}, "tenant_groups": [above["id"]]})
    assert [shown["name"] for shown in made["makers"]] == [word]
    assert api.get(contexts, {"maker": word})["count"] == 1
    assert api.options(contexts)["actions"]["POST"]["makers"]["required"] is False
    assert api.post(TENANTS, {"name": word, "group": group["id"]})["config_context"][word] == "group"
    assert word not in api.post(TENANTS, {"name": f"{word} 2"})["config_context"]
    kind = api.post("/api/dcim/device-types/", {"model": word, "manufacturer": maker["id"]})
    role, site = (
        api.post("/api/dcim/device-roles/", {"name": word}),
        api.post("/api/dcim/sites/", {"name": word, "status": "active"}),
    )
    device = api.post(
        "/api/dcim/devices/",
        {"device_type": kind["id"], "device_role": role["id"], "site": site["id"], "status": "active"},
    )
    assert device["config_context"][word] == "maker"
    api.delete(f"/api/dcim/devices/{device['id']}/")
    api.delete(contexts, [{"id": item["id"]} for item in api.get(contexts, {"name": [word, f"{word} 2"]})["results"]])


def test_a_package_gives_parameters_that_depend_on_the_configuration(service: Service) -> None:
    api = service.api
    word = f"Status{uuid.uuid4().hex}"
    query = {f"called_as_{word.lower()}": "1"}
    assert api.get(TENANTS, query, status=400) == {name: ["Unknown filter field"] for name in query}
    api.post("/api/extras/statuses/", {"name": word, "content_types": ["dcim.site"]})
    made = api.post(TENANTS, {"name": word})
    assert [shown["id"] for shown in api.get(TENANTS, query)["results"]] == [made["id"]]
    assert api.get("/api/dcim/sites/", query, status=400) == {name: ["Unknown filter field"] for name in query}


def test_lists_are_ordered_by_parameters_of_packages(service: Service) -> None:
    word = service.unique()
    names = [f"{word}--", f"{word}zz-", f"{word}"]
    ids = [shown["id"] for shown in service.api.post(TENANTS, [{"name": name} for name in names])]
    listed = service.api.get(TENANTS, {"id": ids, "ordering": "-letters"})["results"]
    assert [shown["name"] for shown in listed] == [names[1], names[0], names[2]]


def test_a_package_recognises_texts_of_searches(service: Service) -> None:
    name = service.unique() * 3
    made = service.api.post(TENANTS, {"name": name})
    (group,) = service.api.get("/api/search/", {"q": f"letters {len(name)}"})["groups"]
    assert (group["title"], group["resource"]) == ("By length", "tenancy.tenant")
    assert group["url"].endswith(f"{TENANTS}?letters={len(name)}")
    assert made["id"] in [item["id"] for item in group["results"]]


def test_a_package_gives_lists_another_form(service: Service) -> None:
    api, word = service.api, service.unique()
    for number in range(3):
        api.post(TENANTS, {"name": f"{word} {number}", "description": word})
    for accepted in ("text/plain", "text/csv", "application/json"):
        answer = api.send(
            "GET", TENANTS, query={"description": word, "tally": "tenants"}, headers={"Accept": accepted}, status=200
        )
        assert (answer.text, answer.content_type) == ("3 tenants", "text/plain")
    assert api.get(TENANTS, {"tally": "x", "nothing": "1"}, status=400) == {"nothing": ["Unknown filter field"]}
    assert api.get("/api/dcim/sites/", {"tally": "sites"}, status=400) == {"tally": ["Unknown filter field"]}
    service.user(("view", "dcim.site")).api.get(TENANTS, {"tally": "tenants"}, status=403)
    documents = api.get("/api/swagger.json", {"api_version": "1.6"})["paths"]
    described = [
        path
        for path, methods in documents.items()
        for item in methods.get("get", {}).get("parameters", ())
        if item["name"] == "tally"
    ]
    assert described == ["/tenancy/tenants/"]


def test_a_package_keeps_the_values_of_secrets(service: Service) -> None:
    api = service.api

    def checked(parameters: dict[str, str]) -> tuple[bool, str]:
        made = api.post(
            "/api/extras/secrets/", {"name": uuid.uuid4().hex, "provider": "vault", "parameters": parameters}
        )
        answer = api.get(f"{made['url']}check/")
        return answer["result"], answer["message"].rpartition(": ")[2]

    assert checked({"shelf": "s", "word": "open"}) == (True, "Passed")
    assert checked({"shelf": "s"}) == (False, 'The parameter "word" is missing!')
    assert checked({"shelf": "s", "word": "hush"}) == (False, "it failed (KeyError)")


def test_dependents_go_with_what_they_are_about(service: Service) -> None:
    api = service.api
    made = api.post(TENANTS, {"name": api.get("/api/users/users/")["results"][0]["username"] + " tenant"})
    note = api.post(f"{TENANTS}{made['id']}/notes/", {"note": "n"})
    api.delete(f"{TENANTS}{made['id']}/")
    api.get(f"/api/extras/notes/{note['id']}/", status=404)


def test_a_package_seeds_after_every_migration_and_speaks_on_the_status_page(service: Service) -> None:
    seeded = sys.modules["netinv_guest"].seeded
    before = len(seeded)
    migrate.seed(service.engine, service.registry)
    assert len(seeded) == before + 1
    status = service.api.get("/api/status/")
    assert status["guest"] == "at home"
    assert status["plugins"]["guest"] == "7.8"
    assert service.registry.hooks.netinv_importers(registry=service.registry, product="netbox") is not None
    with service.unit_of_work() as uow:
        mapping = DumpMapping(service.registry, Dump({}), {}, user_id=None, origin="other")
        service.registry.hooks.netinv_complete_import(uow=uow, mapping=mapping)
    assert sys.modules["netinv_guest"].completed == [mapping]
    (listed,) = [item for item in service.api.get("/api/plugins/installed-plugins/") if item["name"] == "Guest"]
    assert (listed["version"], listed["author"], listed["status"]) == ("7.8", "Someone", "active")
    assert service.api.get("/api/plugins/")["guest"] == "http://localhost/api/plugins/guest/"


def test_a_package_joins_columns_of_tables(service: Service) -> None:
    word, sent = service.unique(), {"Content-Type": "text/csv"}
    made = service.api.send("POST", TENANTS, f"first,last\n{word},Smith\n".encode(), headers=sent, status=201).json
    assert made[0]["name"] == f"{word} Smith"


def test_a_package_is_told_of_changes_in_their_transaction(service: Service) -> None:
    api, word, told = service.api, service.unique(), sys.modules["netinv_guest"].recorded
    told.clear()
    made = api.post(TENANTS, {"name": word})
    api.patch(made["url"], {"name": word})
    api.patch(made["url"], {"name": f"{word} 2"})
    api.delete(made["url"])
    assert [(action, str(key), *names) for action, key, *names in told] == [
        ("create", made["id"], None, word),
        ("update", made["id"], word, f"{word} 2"),
        ("delete", made["id"], f"{word} 2", None),
    ]
    assert api.post(TENANTS, {"name": f"{word} forbidden"}, status=400) == {"name": ["It is forbidden."]}
    assert api.get(TENANTS, {"name__ic": word})["count"] == 0


def test_a_package_is_told_of_undos(service: Service) -> None:
    api, word, told = service.api, service.unique(), sys.modules["netinv_guest"].reverted
    made = api.post(TENANTS, {"name": word})
    api.patch(made["url"], {"name": f"{word} b"})
    log = "/api/extras/object-changes/"
    changed = api.get(log, {"changed_object_id": made["id"], "action": "update"})["results"][0]
    api.post(f"{log}{changed['id']}/revert/", {}, status=200)
    assert told[-1] == (uuid.UUID(made["id"]), word, f"{word} b")
    api.patch(made["url"], {"name": f"{word} c"})
    count = len(told)
    api.post(f"{log}{changed['id']}/revert/", {}, status=409)
    assert len(told) == count


def test_a_package_writes_rows_along_with_the_records_of_changes(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside those of other packages, for as many changes as there are, and gone when the changes are."""
    api, word, guest = service.api, service.unique(), sys.modules["netinv_guest"]
    body = {
        "name": word,
        "content_types": ["tenancy.tenant"],
        "type_create": True,
        "payload_url": "http://203.0.113.1/",
    }
    hook = api.post("/api/extras/webhooks/", body)
    monkeypatch.setattr(guest, "tallied", [])
    try:
        made = api.post(TENANTS, [{"name": f"{word} {number}"} for number in range(1001)])
        assert guest.tallied == [1001]
        assert api.get("/api/extras/webhook-deliveries/", {"webhook": word})["count"] == 1001
        changes = api.get("/api/extras/object-changes/", {"changed_object_id": made[-1]["id"]})["results"]
        with service.engine.connect() as connection:
            stored = dict(connection.execute(sa.select(guest.tally.c.name, guest.tally.c.change_id)).tuples().all())
        assert (len(stored), str(stored[f"{word} 1000"])) == (1001, changes[0]["id"])
        api.post(TENANTS, {"name": f"{word} forbidden"}, status=400)
        api.post("/api/tenancy/tenant-groups/", {"name": word})
        with service.engine.connect() as connection:
            assert connection.execute(sa.select(sa.func.count()).select_from(guest.tally)).scalar() == 1001
    finally:
        with service.engine.begin() as connection:
            connection.execute(sa.delete(guest.tally))
        api.delete(hook["url"])


def test_a_package_tells_a_dry_run_what_changes_would_lead_to(service: Service) -> None:
    api = service.api
    body = {"name": uuid.uuid4().hex}
    preview = api.post(TENANTS, body, query={"dry_run": "true"}, status=200)
    assert preview["letters"] == [{"object_type": "tenancy.tenant", "object_id": preview["result"]["id"]}]
    assert preview["count"]["letters"] == 1
    assert api.get(TENANTS, {"name": body["name"]})["count"] == 0


def test_a_package_gives_the_worker_something_to_do(service: Service, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'queue.sqlite'}"
    huey = task_queue.queue(url)
    worker_tasks.add_tasks(huey, service.engine, service.registry)
    consumer, counted = task_queue.start_embedded(huey), sys.modules["netinv_guest"].counted
    try:
        with service.configured(queue_url=url):
            task_queue.enqueue(service.registry, "count_tenants")
            deadline = time.monotonic() + 60
            while not counted and time.monotonic() < deadline:
                time.sleep(0.02)
    finally:
        consumer.stop(graceful=True)
    assert counted == [service.api.get(TENANTS)["count"]]


def test_a_package_adds_figures_for_those_who_watch(service: Service) -> None:
    lines = service.api.send("GET", "/metrics", status=200).text.splitlines()
    start = lines.index("# HELP guest_present Guests\\nat home.")
    room = 'guest_present{room="the \\"blue\\" \\\\ one"} 2.0'
    assert lines[start + 1 : start + 4] == ["# TYPE guest_present gauge", room, 'guest_present{room="attic"} 0.0']


@pytest.mark.usefixtures("service")
@pytest.mark.night
def test_a_package_adds_commands_to_the_command_line_and_takes_none_away() -> None:
    for words in (["greet"], ["import", "greet"]):
        assert CliRunner().invoke(cli, words).output == "hello\n"
        listed = CliRunner().invoke(cli, [*words[:-1], "--help"]).output
        assert "Say that the guest is here." in listed
    assert "--check" in CliRunner().invoke(cli, ["migrate", "--help"]).output
    assert CliRunner().invoke(cli, ["import", "nothing"]).exit_code == 2


@pytest.mark.night
def test_a_package_that_does_not_load_is_reported_and_the_rest_is_served(installed: Callable[[str], Service]) -> None:
    service = installed("broken")
    reason = "ImportError: no module named tomorrow (netinv_broken.py, line 3)"
    assert service.api.get("/api/status/")["broken-packages"]["broken"] == reason
    (listed,) = [item for item in service.api.get("/api/plugins/installed-plugins/") if item["name"] == "broken"]
    assert (listed["status"], listed["reason"]) == ("broken", reason)
    for path in ("/api/plugins/broken/things/", "/api/broken/things/1/"):
        assert service.api.get(path, status=503) == {
            "detail": "This package could not be started; /api/status/ tells why."
        }
    service.api.get(TENANTS)


@pytest.mark.night
def test_a_package_whose_hooks_are_not_as_specified_is_left_out(installed: Callable[[str], Service]) -> None:
    """Whatever the order in which packages are found, nobody else suffers for it."""
    api = installed("ahead").api
    assert "planet" in api.get("/api/status/")["broken-packages"]["ahead"]
    api.get("/api/plugins/ahead/", status=503)
    api.get("/api/extras/config-contexts/")
