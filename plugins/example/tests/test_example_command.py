"""The command of the example plugin, on the database of a service."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_testing import Api, Service, Unique

WINDOWS = "/api/plugins/example/maintenance-windows/"
HOUR = datetime.timedelta(hours=1)


def test_the_command_lists_the_windows_that_are_active(
    service: Service, api: Api, make: Any, unique: Unique, tmp_path: Path
) -> None:
    site, now = make("/api/dcim/sites/", status="active"), datetime.datetime.now(datetime.UTC)
    active, coming = unique(), unique()
    for name, start in ((active, now - HOUR), (coming, now + HOUR)):
        times = {"start": start.isoformat(), "end": (start + 2 * HOUR).isoformat()}
        api.post(WINDOWS, {"name": name, "site": site["id"], **times})
    ini, url = tmp_path / "netinv.ini", service.engine.url.render_as_string(hide_password=False)
    settings = f"netinv.database_url = {url}\nnetinv.secret = {service.registry.settings['secret']}\n"
    ini.write_text(f"[app:main]\nuse = egg:netinv-core\n{settings}")
    listed = CliRunner().invoke(cli, ["-c", str(ini), "maintenance"])
    assert listed.exit_code == 0, listed.output
    until = (now + HOUR).strftime("%Y-%m-%d %H:%M")
    assert f"{site['name']}: {active}, until {until}" in listed.output.splitlines()
    assert coming not in listed.output
