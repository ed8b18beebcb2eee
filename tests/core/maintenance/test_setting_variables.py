"""Settings from environment variables: they win over the ini file, secrets come from files, and mistakes are told with
the variable and without its value.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyramid.paster import get_appsettings
from sqlalchemy.engine import Engine

from netinv_admin.commands.cli import cli
from netinv_core import main as service_main
from netinv_core import setting_variables, settings
from netinv_core.environment import Environment
from netinv_core.packages import apps_of, discover
from netinv_testing import Service
from tests.support import REPOSITORY
from tests.support.databases import migrated_database

pytestmark = pytest.mark.any_database
SECRET = "a random text of more than 32 characters"
LOGGING = "[loggers]\nkeys = root\n[handlers]\nkeys =\n[formatters]\nkeys =\n[logger_root]\nhandlers =\n"


@pytest.fixture
def database(tmp_path: Path, database_template: str) -> Any:
    """A migrated database of the test."""
    with migrated_database(tmp_path, database_template) as engine:
        yield engine


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    """An ini file of which hardly a setting can be used."""
    file = tmp_path / "netinv.ini"
    wrong = "netinv.database_url = sqlite:////nowhere/x.sqlite\nnetinv.secret = short\nnetinv.paginate_count = many\n"
    file.write_text(f"[app:main]\nuse = egg:netinv-core\n{wrong}{LOGGING}")
    return file


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database: Engine) -> Callable[..., None]:
    """``given(NAME=value)``: sets the variables of a service that starts, and these."""

    def give(**variables: str) -> None:
        url = tmp_path / "database_url"
        url.write_text(f"{database.url.render_as_string(hide_password=False)}\n")
        own = {
            "DATABASE_URL_FILE": str(url),
            "SECRET": SECRET,
            "PAGINATE_COUNT": "7",
            "MEDIA_ROOT": str(tmp_path / "m"),
        }
        for name, value in {**own, **variables}.items():
            monkeypatch.setenv(f"NETINV_{name}", value)

    return give


def checked(ini: Path) -> tuple[int, list[dict[str, str]]]:
    """The exit code and the findings of ``netinv check``."""
    done = CliRunner().invoke(cli, ["-c", str(ini), "check", "--json"])
    return done.exit_code, json.loads(done.stdout)["checks"]


def told(findings: list[dict[str, str]], check: str) -> list[str]:
    """The messages of the findings of a check."""
    return [finding["message"] for finding in findings if finding["check"] == check]


@pytest.mark.night
def test_a_service_starts_with_what_the_environment_has_in_place_of_the_ini_file(
    ini: Path, given: Callable[..., None], database: Engine
) -> None:
    given()
    app = service_main.main({"__file__": str(ini)}, **get_appsettings(str(ini)))
    assert app.registry.netinv.settings["paginate_count"] == 7
    assert app.registry.netinv_engine.url == database.url


@pytest.mark.night
def test_commands_and_workers_read_the_same(ini: Path, given: Callable[..., None], database: Engine) -> None:
    given(QUEUE_URL=f"sqlite:///{ini.parent}/queue.sqlite", EMBEDDED_WORKER="no")
    environment = Environment(str(ini))
    assert environment.checked_engine.url == database.url
    assert environment.worker_queue().name == "netinv"
    code, findings = checked(ini)
    assert (code, told(findings, "environment")) == (0, [])


@pytest.mark.night
def test_a_process_of_its_own_reads_them(ini: Path, given: Callable[..., None]) -> None:
    given()
    command = [
        sys.executable,
        "-c",
        "from netinv_admin.commands.cli import cli; cli()",
        "-c",
        str(ini),
        "user",
        "list",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, cwd=REPOSITORY, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PAGINATE_COUNT", "hidden", "NETINV_PAGINATE_COUNT has a value that cannot be read; expected: a whole number"),
        ("STRICT_FILTERING", "hidden", "NETINV_STRICT_FILTERING has a value that cannot be read; expected: a boolean"),
        ("QUEUE_URL", "amqp://hidden", "NETINV_QUEUE_URL has a value that cannot be read; expected: the address"),
        ("DATABASE_URL", "hidden", "NETINV_DATABASE_URL and NETINV_DATABASE_URL_FILE are both set"),
        (
            "DATABASE_URL_FILE",
            "/nowhere/hidden",
            "NETINV_DATABASE_URL_FILE names a file that cannot be read: No such file",
        ),
        ("SECRET", "hidden", "NETINV_SECRET must hold a random text of at least 32 characters"),
    ],
)
@pytest.mark.night
def test_a_mistake_names_the_variable_and_not_its_value(
    name: str, value: str, expected: str, ini: Path, given: Callable[..., None]
) -> None:
    given(**{name: value})
    code, findings = checked(ini)
    assert code == 1
    assert any(
        f"the environment variable {expected}" in text or expected in text for text in told(findings, "settings")
    )
    assert "hidden" not in json.dumps([finding for finding in findings if finding["check"] == "settings"])
    with pytest.raises(SystemExit, match=expected.partition(":")[0]) as ended:
        service_main.main({"__file__": str(ini)}, **get_appsettings(str(ini)))
    assert "hidden" not in str(ended.value.code)


@pytest.mark.parametrize("url", ["nosuch://u:hidden@h/d", "postgresql://u:pa@ss:hidden@h:x/d", "hidden"])
def test_an_address_that_is_none_of_a_database_is_told_without_its_password(
    url: str, ini: Path, given: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    given(DATABASE_URL=url)
    monkeypatch.delenv("NETINV_DATABASE_URL_FILE")
    done = CliRunner().invoke(cli, ["-c", str(ini), "user", "list"])
    assert done.exit_code == 1
    assert "the environment variable NETINV_DATABASE_URL cannot be used" in done.output
    assert "hidden" not in done.output


@pytest.mark.night
def test_check_warns_of_unknown_variables_with_the_nearest_one(ini: Path, given: Callable[..., None]) -> None:
    given(
        DATABSE_POOL="hidden",
        XYZ="hidden",
        PASSWORD="hidden",
        SECRET_SITE="hidden",
        SECRETS_ENV_PREFIXES="NETINV_SECRET_",
    )
    code, findings = checked(ini)
    assert code == 0
    assert told(findings, "environment") == [
        "NETINV_DATABSE_POOL is the environment variable of no setting; did you mean NETINV_DATABASE_POOL?",
        "NETINV_XYZ is the environment variable of no setting",
    ]
    assert "hidden" not in json.dumps(findings)


def test_a_variable_for_the_secret_or_its_file_replaces_both_settings_of_the_ini_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    in_ini = {"netinv.secret": "of the ini file, longer than 32 characters", "netinv.secret_file": "/nowhere/secret"}
    assert settings.read(in_ini, {}, variables={"NETINV_SECRET": SECRET})["secret"] == SECRET
    created = settings.read(in_ini, {}, variables={"NETINV_SECRET_FILE": str(file)})["secret"]
    assert created == file.read_text()


def test_settings_are_sent_to_processes_of_their_own(service: Service) -> None:
    """The process that starts those of jobs gets all of them, as JSON."""
    json.dumps(service.registry.settings)


def test_each_setting_has_one_variable() -> None:
    names = settings.setting_definitions(apps_of(discover()[0]))
    variables = {name: setting_variables.variable_of(name) for name in names}
    assert len(set(variables.values())) == len(names)
    for name, variable in variables.items():
        assert setting_variables.merge({}, names, {variable: "x"}).texts == {f"netinv.{name}": "x"}


def test_secrets_of_users_read_no_setting_and_no_file_of_one(
    service: Service, unique: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "redis"
    file.write_text("redis://:hidden@localhost/0")
    monkeypatch.setenv("NETINV_QUEUE_URL_FILE", str(file))
    monkeypatch.setenv("NETINV_SECRET", "hidden")
    with service.configured(secrets_env_prefixes=("NETINV_",), secrets_file_folders=(str(tmp_path),)):
        for provider, parameters in [
            ("environment-variable", {"variable": "NETINV_SECRET"}),
            ("environment-variable", {"variable": "NETINV_QUEUE_URL_FILE"}),
            ("text-file", {"path": str(file)}),
        ]:
            body = {"name": unique(), "provider": provider, "parameters": parameters}
            secret = service.api.post("/api/extras/secrets/", body)
            answer = service.api.get(f"/api/extras/secrets/{secret['id']}/check/")
            assert answer["result"] is False and "does not allow this" in answer["message"]
