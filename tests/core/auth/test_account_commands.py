"""The commands for accounts, tokens, groups and permissions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_core.auth import password_policy
from netinv_testing import Service, Unique
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database  # arguments and output of commands

Run = Callable[..., str]
TENANTS = "/api/tenancy/tenants/"


@pytest.fixture
def run(service: Service, tmp_path: Path) -> Run:
    """``run("user", "list", status=1)``: the output of a command on the service's database."""
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini = tmp_path / "netinv.ini"
    ini.write_text(
        "[app:main]\nuse = egg:netinv-core\n"
        f"netinv.database_url = {url}\nnetinv.secret = {service.settings['secret']}\n"
    )

    def invoke(*words: str, status: int = 0) -> str:
        done = CliRunner().invoke(cli, ["-c", str(ini), *words])
        assert done.exit_code == status, done.output
        return done.output

    return invoke


# -- tokens


@pytest.mark.night
def test_a_token_is_created_with_limits_and_listed(service: Service, run: Run) -> None:
    account = service.user(superuser=True)
    limits = ["--network", "127.0.0.1", "--network", "::1", "--action", "view", "--type", "tenancy.tenant"]
    key = run("token", "create", account.username, *limits, "--days", "30", "--description", "reports").strip()
    service.api.get("/api/dcim/sites/", token=key, status=403)
    listed = run("token", "list", account.username)
    assert "from 127.0.0.1/32, ::1/128  actions view  types tenancy.tenant  reports" in listed
    of_all = [line for line in run("token", "list").splitlines() if line.startswith(f"{account.username} ")]
    assert len(of_all) == len(listed.splitlines())
    (shown,) = [row for row in json.loads(run("token", "list", account.username, "--json")) if row["description"]]
    assert (shown["user"], shown["actions"]) == (account.username, ["view"])
    assert key not in run("token", "list", "--json")


@pytest.mark.night
@pytest.mark.parametrize(
    "words",
    [
        ("user", "list"),
        ("token", "list"),
        ("group", "list"),
        ("permission", "list"),
        ("jobs", "list"),
        ("webhooks", "status"),
    ],
)
def test_every_list_is_json_too_and_whole_in_a_pipe(
    words: tuple[str, ...], service: Service, run: Run, unique: Any
) -> None:
    name = f"{unique()}-{'x' * 90}"
    service.user(superuser=True).api.post(
        "/api/extras/webhooks/",
        {"name": name, "content_types": ["dcim.site"], "type_create": True, "payload_url": f"http://192.0.2.1/{name}"},
    )
    rows = json.loads(run(*words, "--json"))
    assert isinstance(rows, list)
    assert all(isinstance(row, dict) for row in rows)
    assert ("webhooks" not in words) or name in run(*words)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--network", "192.0.2.1/24"),
        ("--type", "dcim.nothing"),
        ("--action", "view it"),
        ("--days", "99999999999"),
        ("--days", "-1"),
        ("--days", "0"),
    ],
)
def test_an_invalid_limit_of_a_token_is_named(service: Service, run: Run, option: str, value: str) -> None:
    output = run("token", "create", service.admin.username, option, value, status=2)
    assert option in output and value in output


# -- passwords


@pytest.mark.night
def test_commands_refuse_weak_passwords_and_generate_strong_ones(service: Service, run: Run, unique: Unique) -> None:
    name = unique()
    assert "at least 12 characters" in run("user", "create", name, "--password", "12345", status=1)
    password = run("user", "create", name).split()[-1]
    assert not password_policy.faults(service.settings, password, [name])
    assert "too easy to guess" in run("user", "password", name, "--password", "password1234", status=1)
    run("user", "password", name, "--password", "violet-anchor-37")
    Browser(service).post("/login/", {"username": name, "password": "violet-anchor-37"})
    assert len(password_policy.generate_password({**service.settings, "password_min_length": 128})) == 128


# -- groups and permissions


@pytest.mark.night
def test_a_read_only_user_takes_one_line(service: Service, run: Run, unique: Unique) -> None:
    for name in (unique(), unique()):
        output = run("user", "create", name, "--read-only", "--with-token")
        key = output.split()[-1]
        service.api.get(TENANTS, token=key)
        service.api.get("/api/extras/object-changes/", token=key)
        service.api.post(TENANTS, {"name": unique()}, token=key, status=403)
    assert run("permission", "list").count("View everything") == 1


@pytest.mark.night
def test_groups_are_created_changed_and_deleted(service: Service, run: Run, unique: Unique) -> None:
    group, one, two = unique(), service.user(), service.user()
    run("group", "create", group, one.username)
    run("permission", "create", unique(), "--action", "view", "--type", "tenancy.tenant", "--group", group)
    one.api.get(TENANTS)
    two.api.get(TENANTS, status=403)
    run("group", "add", group, two.username)
    run("group", "remove", group, one.username)
    assert f"{group:30} {two.username}\n" in run("group", "list")
    two.api.get(TENANTS)
    one.api.get(TENANTS, status=403)
    run("group", "delete", group)
    two.api.get(TENANTS, status=403)
    assert "already exists" in (run("group", "create", group) and run("group", "create", group, status=1))


@pytest.mark.night
def test_a_permission_is_limited_and_deleted(service: Service, run: Run, unique: Unique) -> None:
    account, name, kept = service.user(), unique(), unique()
    for tenant in (kept, unique()):
        service.api.post(TENANTS, {"name": tenant, "slug": tenant})
    words = ["--action", "view", "--all-types", "--user", account.username]
    refused = run("permission", "create", name, *words, "--constraints", '{"nosuch": 1}', status=1)
    assert refused.startswith("Error: constraints: ") and "'nosuch'" in refused
    words[2:3] = ["--type", "tenancy.tenant"]
    run("permission", "create", name, *words, "--constraints", f'{{"name": "{kept}"}}')
    assert [shown["name"] for shown in account.api.get(TENANTS)["results"]] == [kept]
    assert f'view  tenancy.tenant  {account.username}  {{"name": "{kept}"}}' in run("permission", "list")
    run("permission", "delete", name)
    account.api.get(TENANTS, status=403)


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["group", "add", "no such group", "nobody"], 1, "no groups are called 'no such group'"),
        (["group", "delete", "no such group"], 1, "no groups are called"),
        (["permission", "delete", "none"], 1, "no permissions are called"),
        (["permission", "create", "x", "--action", "view"], 2, "--all-types"),
        (["permission", "create", "x", "--all-types"], 2, "--action"),
        (["permission", "create", "x", "--action", "view", "--type", "no.such"], 1, "object_types: "),
        (["permission", "create", "x", "--action", "view", "--all-types", "--constraints", "{"], 2, "not JSON"),
        (
            ["permission", "create", "x", "--action", "view", "--all-types", "--user", "no one"],
            1,
            "no users are called",
        ),
        (["user", "create", "some-one", "--group", "no such group"], 1, "groups: "),
    ],
)
def test_what_a_command_cannot_do_is_said_in_one_line(run: Run, words: list[str], status: int, told: str) -> None:
    output = run(*words, status=status)
    assert told in output and "Traceback" not in output


# -- all object types


@pytest.mark.night
def test_a_permission_for_all_object_types_applies_to_each(service: Service, unique: Unique) -> None:
    account = service.user(("view", "*"))
    for endpoint in service.registry.endpoints.values():
        if endpoint.resource.restriction is None:
            account.api.get(endpoint.path, {"limit": 1}, status=200)
    account.api.post(TENANTS, {"name": unique()}, status=403)
    shown = service.api.get("/api/users/permissions/", {"user": account.username})["results"]
    assert [permission["object_types"] for permission in shown] == [["*"]]


def test_constraints_for_all_object_types_name_fields_that_all_have(service: Service, unique: Unique) -> None:
    body = {"name": unique(), "actions": ["view"], "object_types": ["*"], "constraints": {"asn": 1}}
    errors = service.api.post("/api/users/permissions/", body, status=400)["constraints"]
    assert len(errors) == 11 and "further models" in errors[-1] and "'asn'" in errors[0]
    service.api.post("/api/users/permissions/", body | {"constraints": {"id__isnull": False}})
