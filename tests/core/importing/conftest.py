"""Fixtures of the tests of imports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from netinv_core.environment import Environment
from netinv_import import rest
from netinv_import.commands import import_
from netinv_import.comparing import compare_services
from netinv_import.netbox import ImportReport
from netinv_testing import Service
from tests.support.dumps import load
from tests.support.inventory_service import TOKEN


@pytest.fixture
def run(service: Service, tmp_path: Path, unique: Any) -> Any:
    """``run(item, …)``: imports a dump of these objects, from an inventory that no other test has."""
    origin = unique()

    def load_items(*items: dict[str, Any], username: str = "", origin: str = origin) -> ImportReport:
        path = tmp_path / "dump.json"
        path.write_text(json.dumps(items))
        return load(service, path, username, origin=origin)

    return load_items


@pytest.fixture(scope="session")
def environment(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The environment of commands for the service."""
    ini = tmp_path_factory.mktemp("environment") / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.secret = for tests only, of 32 characters\n"
    )
    return Environment(str(ini))


@pytest.fixture(scope="module")
def command(service: Service, environment: Environment) -> Iterator[Any]:
    """``command(word, …)``: what ``netinv import`` answers; between attempts it waits no time."""

    def invoke(*words: str, token: str = TOKEN) -> Any:
        arguments = [*words, "--user", service.admin.username, "--token", token]
        return CliRunner().invoke(import_, arguments, obj=environment)

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(rest, "pause", lambda seconds: None)
        yield invoke


@pytest.fixture
def compare(environment: Environment) -> Any:
    """``compare(source, …)``: what ``netinv compare`` answers."""

    def invoke(*words: str) -> Any:
        return CliRunner().invoke(compare_services, [*words, "--token", TOKEN], obj=environment)

    return invoke
