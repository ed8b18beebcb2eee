"""Environment variables of the server and of the log: address, threads, levels, the form of lines."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner

from netinv_admin.commands.cli import cli
from netinv_core.http.server import SETTINGS, merge_settings, of_variables, server_of
from netinv_core.telemetry import log_settings
from netinv_core.telemetry.formatters import JsonFormatter, TextFormatter
from tests.support import REPOSITORY
from tests.support.databases import migrated_database
from tests.support.servers import free_port, listens, running

pytestmark = pytest.mark.any_database
INI = """
[app:main]
use = egg:netinv-core
netinv.database_url = {database}
netinv.secret = for tests only, 32 characters or more
netinv.media_root = {folder}/media
[server:main]
use = egg:netinv-core
listen = 127.0.0.1:1
[loggers]
keys = root
[handlers]
keys = console
[formatters]
keys =
[handler_console]
class = StreamHandler
args = (sys.stderr,)
[logger_root]
level = WARNING
handlers = console
"""


@pytest.mark.parametrize(
    ("settings", "given", "listen"),
    [
        ({"listen": "127.0.0.1:8080"}, {"port": "9"}, "127.0.0.1:9"),
        ({"listen": "127.0.0.1:8080"}, {"host": "0.0.0.0"}, "0.0.0.0:8080"),
        ({"listen": "[::1]:8080"}, {"port": "9"}, "[::1]:9"),
        ({"listen": "127.0.0.1:8080"}, {"host": "::"}, "[::]:8080"),
        ({"host": "10.0.0.1", "port": "80"}, {"port": "9"}, "10.0.0.1:9"),
        ({"host": "10.0.0.1", "port": "80"}, {"listen": "127.0.0.1:7 [::1]:7"}, "127.0.0.1:7 [::1]:7"),
        ({"listen": "127.0.0.1:8080"}, {"listen": "0.0.0.0:7", "port": "9"}, "0.0.0.0:9"),
        ({}, {"port": "9"}, "127.0.0.1:9"),
        ({"listen": "127.0.0.1:8080"}, {"threads": "2"}, "127.0.0.1:8080"),
    ],
)
def test_a_host_or_a_port_replaces_that_of_the_address(
    settings: dict[str, str], given: dict[str, str], listen: str
) -> None:
    found = merge_settings({**settings, "ident": ""}, given)
    assert (found["listen"], found["ident"]) == (listen, "")
    assert not {"host", "port"} & found.keys()


def test_each_setting_of_the_server_has_a_variable() -> None:
    variables = {f"NETINV_SERVER_{name.upper()}": "x" for name in SETTINGS}
    assert of_variables(variables) == dict.fromkeys(SETTINGS, "x")


def test_a_variable_of_no_setting_ends_the_start_and_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NETINV_SERVER_THREAD", "9")
    expected = "NETINV_SERVER_THREAD is the environment variable of no setting of the server; did you mean threads?"
    with pytest.raises(SystemExit, match=expected.replace("?", r"\?")):
        server_of({}, listen="127.0.0.1:0")
    ini = tmp_path / "netinv.ini"
    ini.write_text(INI.format(folder=tmp_path, database=f"sqlite:///{tmp_path}/none.sqlite"))
    done = CliRunner().invoke(cli, ["-c", str(ini), "check", "--json"])
    found = [item for item in json.loads(done.stdout)["checks"] if item["check"] == "environment"]
    assert [(item["level"], item["message"]) for item in found] == [("problem", expected)]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"listen": "127.0.0.1:abc"}, "listen = 127.0.0.1:abc: .*; expected: HOST:PORT, such as 127.0.0.1:8080"),
        ({"listen": "127.0.0.1:99999"}, "listen = 127.0.0.1:99999: expected HOST:PORT, .* ports up to 65535"),
        ({"listen": ""}, "listen = : expected HOST:PORT"),
        ({"unix_socket": "/no/folder/socket"}, "unix_socket = /no/folder/socket: there is no folder /no/folder"),
        ({"threads": "many"}, "threads = many: "),
        ({"thread": "4"}, "thread is no setting of the server; did you mean threads"),
        ({"trusted_proxy_headers": "forwarded"}, "trusted_proxy_headers = forwarded: .* without setting trusted_proxy"),
        ({"trusted_proxy": "10.0.0.1", "trusted_proxy_headers": "x-real-ip"}, "trusted_proxy_headers = x-real-ip: .*"),
    ],
)
def test_a_wrong_setting_of_the_server_is_one_line_that_names_it(settings: dict[str, str], told: str) -> None:
    with pytest.raises(SystemExit, match=f"^cannot serve at [^\n]*{told}[^\n]*$"):
        server_of({}, **{"listen": "127.0.0.1:0", **settings})


PROXY = {"trusted_proxy": "127.0.0.1", "trusted_proxy_headers": "x-forwarded-for x-forwarded-proto"}


@pytest.mark.parametrize(
    "settings",
    [PROXY, {**PROXY, "trusted_proxy_count": "2"}, {"trusted_proxy": "*", "trusted_proxy_headers": "forwarded"}],
)
def test_settings_that_mean_something_together_are_taken(settings: dict[str, str]) -> None:
    assert callable(server_of({}, listen="127.0.0.1:0", **settings))


def test_the_server_settings_of_each_ini_file_that_is_shipped_are_taken() -> None:
    """Those that a comment proposes, too."""
    taken = 0
    for ini in [REPOSITORY / "production.ini", *REPOSITORY.glob("deploy/**/*.ini")]:
        _, _, section = ini.read_text().partition("[server:main]\n")
        lines = re.findall(r"^#?(\w+) = (.+)$", section.partition("\n[")[0], re.MULTILINE)
        settings = {
            name: value for name, value in lines if name in SETTINGS - {"listen", "unix_socket", "unix_socket_perms"}
        }
        if section:
            assert callable(server_of({}, listen="127.0.0.1:0", **settings)), ini
            taken += len(settings)
    assert taken > 5


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """A logger with a handler, as the section of an ini file makes it; put back afterwards with those of packages."""
    names = [*log_settings.by_logger({"": 0}), "netinv.access"]
    former = {name: logging.getLogger(name).level for name in names}
    made = logging.getLogger("tests.of_log_settings")
    made.addHandler(logging.StreamHandler())
    kept = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
    yield made
    made.handlers.clear()
    for name, level in former.items():
        logging.getLogger(name).setLevel(level)
    for handler, formatter in kept:
        handler.setFormatter(formatter)


def test_levels_and_the_form_of_lines_are_settings(logger: logging.Logger) -> None:
    log_settings.configure({"netinv.log_level": "DEBUG netinv.access=warning", "netinv.log_format": "json"})
    assert logging.getLogger("netinv_extras").level == logging.getLogger("netinv_core").level == logging.DEBUG
    assert logging.getLogger("netinv.access").level == logging.WARNING
    assert isinstance(logger.handlers[0].formatter, JsonFormatter)
    log_settings.configure({"netinv.log_level": "LOUD", "netinv.log_format": "text"})
    assert isinstance(logger.handlers[0].formatter, JsonFormatter)
    log_settings.configure({"netinv.log_format": "text"})
    assert isinstance(logger.handlers[0].formatter, TextFormatter)
    assert logging.getLogger("netinv_core").level == logging.DEBUG


@pytest.mark.parametrize("text", ["LOUD", "=INFO", "netinv.access=LOUD", "netinv.access="])
def test_levels_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        log_settings.levels(text)


@pytest.mark.slow
@pytest.mark.night
@pytest.mark.parametrize(
    "program",
    [["-m", "pyramid.scripts.pserve"], ["-c", "from netinv_admin.commands.cli import cli; cli()", "serve"]],
    ids=["pserve", "netinv serve"],
)
def test_a_service_listens_and_logs_as_the_environment_says(
    tmp_path: Path, database_template: str, program: list[str]
) -> None:
    port, ini, log = free_port(), tmp_path / "netinv.ini", tmp_path / "log"
    given: dict[str, Any] = {
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path]),
        "NETINV_SERVER_PORT": str(port),
        "NETINV_SERVER_THREADS": "2",
        "NETINV_LOG_FORMAT": "json",
        "NETINV_LOG_LEVEL": "INFO netinv.access=INFO",
    }
    with migrated_database(tmp_path, database_template) as engine:
        ini.write_text(INI.format(folder=tmp_path, database=engine.url))
        command = [sys.executable, *program, ini]
        with running(command, log, listens(port), given):
            assert requests.get(f"http://127.0.0.1:{port}/api/", timeout=60).status_code == 403
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    loggers = {line["logger"] for line in lines}
    assert {"netinv.access", "netinv_core.http.server"} <= loggers
    assert not [line for line in lines if line.get("task") == "command"]
