"""Drivers of databases and queues, which are extras of the distribution."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_core.main import main

pytestmark = pytest.mark.any_database
MISSING = [
    ("netinv.database_url", "postgresql://netinv:hidden@127.0.0.1/netinv", "psycopg", "postgresql"),
    ("netinv.database_url", "mysql://netinv:hidden@127.0.0.1/netinv", "pymysql", "mysql"),
    ("netinv.database_url", "mariadb+pymysql://netinv:hidden@127.0.0.1/netinv", "pymysql", "mysql"),
    ("netinv.queue_url", "redis://:hidden@127.0.0.1/0", "redis", "redis"),
]


@pytest.mark.parametrize(("setting", "url", "module", "extra"), MISSING)
def test_a_missing_driver_is_reported_in_one_line_with_the_extra_that_installs_it(
    setting: str, url: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    ini = tmp_path / "netinv.ini"
    ini.write_text(f"[app:main]\nuse = egg:netinv-core\n{setting} = {url}\nnetinv.secret = {'x' * 32}\n")
    answer = CliRunner().invoke(cli, ["--config", str(ini), "migrate", "--check"])
    assert answer.exit_code == 1
    assert len(answer.output.splitlines()) == 1
    assert f'pip install "netinv[{extra}]"' in answer.output
    assert setting in answer.output
    assert "hidden" not in answer.output
    with pytest.raises(SystemExit, match=rf"netinv does not start: the setting {setting} .*netinv\[{extra}\]"):
        main({}, **{setting: url, "netinv.secret": "x" * 32})
