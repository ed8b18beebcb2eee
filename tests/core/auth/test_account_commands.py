"""The commands for accounts, tokens, groups and permissions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from netinv_core.commands.cli import cli
from netinv_core.testing import Service

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


def test_a_token_is_created_with_limits_and_listed(service: Service, run: Run) -> None:
    account = service.user(superuser=True)
    limits = ["--network", "127.0.0.1", "--network", "::1", "--action", "view", "--type", "tenancy.tenant"]
    key = run("token", "create", account.username, *limits, "--days", "30", "--description", "reports").strip()
    service.api.get("/api/dcim/sites/", token=key, status=403)
    listed = run("token", "list", account.username)
    assert "from 127.0.0.1/32, ::1/128  actions view  types tenancy.tenant  reports" in listed


@pytest.mark.parametrize(
    ("option", "value"),
    [("--network", "192.0.2.1/24"), ("--type", "dcim.nothing"), ("--action", "view it"), ("--days", "99999999999")],
)
def test_an_invalid_limit_of_a_token_is_named(service: Service, run: Run, option: str, value: str) -> None:
    output = run("token", "create", service.admin.username, option, value, status=2)
    assert option in output and value in output
