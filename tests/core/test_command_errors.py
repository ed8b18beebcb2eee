"""Every command of ``netinv``, those of packages too, ends with one line and an exit code on what it cannot work with."""

from __future__ import annotations

import functools
import json
import shutil
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from netinv_admin import migrate
from netinv_admin.commands import cli as command_line
from netinv_core import crypto
from netinv_core import environment as environments
from netinv_core.auth.models import User
from netinv_core.db.engine import engine_from
from netinv_core.environment import Environment
from netinv_core.main import registry_for
from netinv_core.models.base import table_of
from netinv_core.packages import discover
from tests.support.contract import every

pytestmark = pytest.mark.any_database
SECRET, OTHER_SECRET = "a random text of more than 32 characters", "another text of more than 32 characters"
WITHOUT_INI = {"webhook-listener", "deploy", "mcp", "new"}
SERVER = "[server:main]\nuse = egg:netinv-core\nlisten = 127.0.0.1:0\n"
LOGGING = "[loggers]\nkeys = root\n[handlers]\nkeys =\n[formatters]\nkeys =\n[logger_root]\nhandlers =\n"


def leaves(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The commands below a group, with the words that name them."""
    context = click.Context(group, obj=Environment("none.ini", discover))
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*words, name))
        elif name not in WITHOUT_INI:
            yield (*words, name), command


COMMANDS = dict(leaves(command_line.cli))
del COMMANDS["jobs", "check"]  # it reads files of jobs alone, without settings


OPTIONS = {  # beyond those that the commands declare as required
    ("apply",): ["--user", "someone"],
    ("permission", "create"): ["--all-types"],
    ("plan",): ["--user", "someone"],
    ("secret", "rotate"): ["--discard-unreadable"],
    ("upgrade",): ["--no-backup"],
    ("webhooks", "retry"): ["--all"],
    ("webhooks", "replay"): ["--after", "1h"],
}


def arguments(words: tuple[str, ...], file: Path) -> list[str]:
    """The words of a command, and what it requires: an existing file for paths, a name for the rest."""
    given = [*words, *OPTIONS.get(words, [])]
    for parameter in COMMANDS[words].params:
        path = isinstance(parameter.type, click.Path)
        is_argument = isinstance(parameter, click.Argument)
        if not (parameter.required or (path and is_argument)) or (not is_argument and parameter.opts[0] in given):
            continue
        value = str(file) if path else "http://127.0.0.1:1" if parameter.name == "url" else "dcim"
        given += [value] if isinstance(parameter, click.Argument) else [parameter.opts[0], value]
    return given


@pytest.fixture(scope="module")
def registries() -> Iterator[None]:
    """One registry for each dialect and secret: commands do not build their own, which takes a second."""

    @functools.cache
    def cached(dialect: str, secret: str) -> Any:
        return registry_for(dialect, {"secret": secret})

    def same(dialect: str, settings: Mapping[str, Any], packages: Any = None) -> Any:
        registry = cached(dialect, settings["secret"])
        registry.settings = settings
        return registry

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(environments, "registry_for", same)
        yield


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database with a secret of a webhook and accounts."""
    file = tmp_path_factory.mktemp("encrypted") / "netinv.sqlite"
    engine = engine_from(f"sqlite:///{file}")
    migrate.apply(engine, registry_for("sqlite", {}))
    with engine.begin() as connection:
        tables = sa.MetaData()
        tables.reflect(connection, only=["core_stored_answer", "core_user"])
        answer = {"id": "0" * 32, "user_id": "0" * 32, "key_digest": "k", "request_digest": "r"}
        content = crypto.encrypt_bytes(SECRET, b"x")
        connection.execute(
            tables.tables["core_stored_answer"].insert().values(**answer, content=content, created=sa.func.now())
        )
    engine.dispose()
    return file


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A file that every command can read."""
    file = tmp_path / "x.yaml"
    file.write_text("{}")
    return file


@pytest.fixture
def run(tmp_path: Path, document: Path, registries: None) -> Callable[..., Result]:
    """``run(words, setting=value)``: the result of a command with these settings."""

    def run(words: tuple[str, ...], ini: str | bytes | None = None, *more: str, **settings: str) -> Result:
        file = tmp_path / "x.ini"
        given = {"database_url": f"sqlite:///{tmp_path}/none.sqlite", "secret": SECRET, **settings}
        given.setdefault("queue_url", f"sqlite:///{tmp_path}/queue.sqlite")
        given.setdefault("media_root", str(tmp_path / "media"))
        lines = "".join(f"netinv.{name} = {value}\n" for name, value in given.items())
        text = f"[app:main]\nuse = egg:netinv-core\n{lines}{SERVER}{LOGGING}" if ini is None else ini
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return CliRunner().invoke(
            command_line.cli, ["-c", str(file), *arguments(words, document), *more], input="word\nword\n"
        )

    return run


def assert_readable(result: Result) -> None:
    """Asserts an exit code of 1 and a line with the reason."""
    assert not result.output.startswith("Usage: "), "add the options of this command to OPTIONS"
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit), (result.output, result.exception)
    lines = [line for line in result.output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("Error: ", "problem "))]
    assert len(errors) >= 1 and "Traceback" not in result.output, result.output


@pytest.fixture(scope="module")
def closed_port() -> Iterator[int]:
    """A port of this machine on which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


WITHOUT_DATABASE = {("rules",), ("openapi",), ("restore",)}  # `restore` reads its file first
NEED_NO_MIGRATIONS = {("migrate",), ("upgrade",), *WITHOUT_DATABASE}
ONE, SERVE = ("user", "list"), ("serve",)
APPLICATION = "[app:main]\nuse = egg:netinv-core\n"
INI = {"no sections": "netinv.secret = x\n", "no application": "[other]\nx = 1\n", "binary": bytes(range(256))}


def each(first: int) -> pytest.MarkDecorator:
    """Repeats a test with every command."""
    return pytest.mark.parametrize("words", every(list(COMMANDS), first), ids=" ".join)


@pytest.mark.night
@pytest.mark.parametrize("kind", INI)
def test_a_broken_ini_file(run: Callable[..., Result], kind: str) -> None:
    for words in COMMANDS if kind == "binary" else [ONE, SERVE]:
        result = run(words, INI[kind])
        assert_readable(result)
        assert "x.ini cannot be read" in result.output


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("netinv.secret = hush%hush", "netinv.secret in [app:main] has a single %, which is written as %%"),
        ("netinv.secret = hush%(none)s", "netinv.secret in [app:main] refers to %(none)s, which is not set"),
        ("netinv.secret = %(netinv.secret)s", "netinv.secret in [app:main] refers to itself"),
        ("hush", "line 3 has no name = value"),
        ("netinv.secret = hush\nnetinv.secret = hush", "netinv.secret"),
    ],
)
def test_a_mistake_in_an_ini_file_is_told_without_its_value(run: Callable[..., Result], lines: str, told: str) -> None:
    for words in (ONE, SERVE):
        result = run(words, f"{APPLICATION}{lines}\n{SERVER}{LOGGING}")
        assert_readable(result)
        assert told in result.output and "hush" not in result.output


FOLDER, NO_FOLDER = "sqlite:///{tmp}", "sqlite:///{tmp}/none/x.sqlite"
TOLD = {  # what is wrong, and the remedy, by what stands in the ini file, or follows the command
    "a distribution that is not installed": (
        ONE,
        {"ini": "[app:main]\nuse = egg:netinv-cor\n"},
        "`use` names netinv-cor, which is not installed; expected: egg:netinv-core",
    ),
    "a distribution that is not installed, served": (
        SERVE,
        {"ini": "[app:main]\nuse = egg:netinv-cor\n"},
        "`use` names netinv-cor, which is not installed; expected: egg:netinv-core",
    ),
    "a server that is not installed": (
        SERVE,
        {"ini": f"{APPLICATION}[server:main]\nuse = egg:netinv-cor\n{LOGGING}"},
        "[server:main] is wrong: `use` names netinv-cor, which is not installed; expected: egg:netinv-core",
    ),
    "no server": (SERVE, {"ini": f"{APPLICATION}{LOGGING}"}, "[server:main] is wrong: No section 'main'"),
    "a port that is none": (
        SERVE,
        {"ini": f"{APPLICATION}{SERVER.replace(':0', ':x')}{LOGGING}"},
        "expected: HOST:PORT, such as 127.0.0.1:8080. Correct [server:main]",
    ),
    "loggers without handlers": (
        SERVE,
        {"ini": f"{APPLICATION}{SERVER}[loggers]\nkeys = root\n"},
        "its loggers are wrong: 'formatters' is missing",
    ),
    "loggers without handlers, of a command": (
        ONE,
        {"ini": f"{APPLICATION}{SERVER}[loggers]\nkeys = root\n"},
        "its loggers are wrong: 'formatters' is missing",
    ),
    "another encoding, served": (
        SERVE,
        {"ini": b"[app:main]\nuse = egg:netinv-core\n# \xe9t\xe9\n"},
        "line 3 is no UTF-8; save",
    ),
    "another encoding": (ONE, {"ini": b"[app:main]\nuse = egg:netinv-core\n# \xe9t\xe9\n"}, "line 3 is no UTF-8; save"),
    "a folder as database": (ONE, {"database_url": FOLDER}, "is a folder: have netinv.database_url name a file in it"),
    "a folder as database, checked": (("check",), {"database_url": FOLDER}, "is a folder: have netinv.database_url"),
    "a database in no folder": (("migrate",), {"database_url": NO_FOLDER}, "make the folder {tmp}/none, or correct"),
    "a plugin that is interrupted": (
        ONE,
        {"plugins_dir": "{tmp}/plugins"},
        "interrupted while the package stopping of stopping.py was imported (stopping.py, line 1); without a Ctrl-C",
    ),
}


def test_the_server_says_which_port_is_taken_and_how_to_take_another(tmp_path: Path) -> None:
    """Its arguments are a file and values, in any order."""
    file = tmp_path / "x.ini"
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        file.write_text(f"{APPLICATION}{SERVER.replace(':0', ':%(port)s')}{LOGGING}")
        for given in ([str(file), f"port={port}"], [f"port={port}", str(file)]):
            result = CliRunner().invoke(command_line.cli, ["serve", *given])
            assert_readable(result)
            told = f"Error: cannot serve at 127.0.0.1:{port}: "
            assert result.output.startswith(told) and "`port=N` on the command line takes another" in result.output
        result = CliRunner().invoke(command_line.cli, ["serve", str(file), "other.ini"])
        assert result.exit_code == 2 and "'other.ini' is a second ini file" in result.output


@pytest.mark.parametrize("kind", TOLD)
def test_what_is_wrong_is_told_with_the_remedy(run: Callable[..., Result], tmp_path: Path, kind: str) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/stopping.py").write_text("raise KeyboardInterrupt")
    words, settings, told = TOLD[kind]
    result = run(words, **{name: _at(value, tmp_path) for name, value in settings.items()})
    assert_readable(result)
    assert _at(told, tmp_path) in result.output


def _at(text: Any, folder: Path) -> Any:
    return text.replace("{tmp}", str(folder)) if isinstance(text, str) else text


def test_a_backup_names_the_folder_that_is_missing(
    run: Callable[..., Result], document: Path, database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "none/x.zip"
    run(("backup",), database_url=database_url)
    result = CliRunner().invoke(command_line.cli, ["-c", str(tmp_path / "x.ini"), "backup", str(file)])
    assert_readable(result)
    assert f"there is no folder {file.parent}; make it first" in result.output


@pytest.mark.parametrize("words", [("user", "list"), ("check",), ("token", "list")], ids=" ".join)
def test_an_error_of_a_command_that_prints_json_is_json(run: Callable[..., Result], words: tuple[str, ...]) -> None:
    result = run(words, "netinv.secret = x\n", "--json")
    assert result.exit_code == 1
    assert "cannot be read: line 1 stands before the first [section]" in json.loads(result.output)["error"]


@each(0)
def test_a_missing_ini_file(document: Path, words: tuple[str, ...]) -> None:
    given = ["-c", "nowhere.ini", *arguments(words, document)]
    result = CliRunner().invoke(command_line.cli, given, input="word\nword\n")
    assert_readable(result)
    assert "there is no nowhere.ini" in result.output


@each(1)
def test_an_unknown_setting(run: Callable[..., Result], words: tuple[str, ...]) -> None:
    result = run(words, database_ur="x")
    assert_readable(result)
    assert "netinv.database_ur is not known; did you mean netinv.database_url" in result.output


WRONG = {
    "strict_filtering": ("perhaps", "cannot be read: 'perhaps'"),
    "database_url": ("nonsense", "the setting netinv.database_url cannot be used"),
    "plugins_dir": ("/no/such/folder", "a folder that does not exist"),
    "secret": ("short", "at least 32 characters"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.night
def test_a_wrong_value(run: Callable[..., Result], name: str) -> None:
    for words in (ONE, ("check",), ("worker",), SERVE):
        value, reason = WRONG[name]
        result = run(words, **{name: value})
        assert_readable(result)
        assert reason in result.output


@each(2)
def test_an_unreachable_database(run: Callable[..., Result], closed_port: int, words: tuple[str, ...]) -> None:
    result = run(words, database_url=f"postgresql://u:hidden@127.0.0.1:{closed_port}/x")
    if words not in WITHOUT_DATABASE:
        assert_readable(result)
        assert "hidden" not in result.output
        assert "the database" in result.output or "database: " in result.output


@pytest.mark.parametrize("words", [ONE, ("migrate",), ("check",), ("worker",)], ids=" ".join)
@pytest.mark.night
def test_other_unusable_databases(
    run: Callable[..., Result], tmp_path: Path, closed_port: int, words: tuple[str, ...]
) -> None:
    (tmp_path / "text").write_text("This is no database. " * 100)
    for url in (
        f"mysql://u:hidden@127.0.0.1:{closed_port}/x",
        "sqlite:////nowhere/x.sqlite",
        f"sqlite:///{tmp_path}/text",
    ):
        result = run(words, database_url=url)
        assert_readable(result)
        assert "hidden" not in result.output


@each(3)
def test_a_database_without_tables(run: Callable[..., Result], tmp_path: Path, words: tuple[str, ...]) -> None:
    if words in NEED_NO_MIGRATIONS:
        return
    result = run(words)
    assert_readable(result)
    assert "migrate`" in result.output


@pytest.mark.night
@each(4)
def test_another_secret(run: Callable[..., Result], tmp_path: Path, encrypted: Path, words: tuple[str, ...]) -> None:
    if words in NEED_NO_MIGRATIONS - {("upgrade",)} | {
        ("secret", "rotate"),
        ("backup",),
    }:  # a backup is made and marked
        return
    shutil.copy(encrypted, tmp_path / "copy.sqlite")
    database_url = f"sqlite:///{tmp_path / 'copy.sqlite'}"
    result = run(words, database_url=database_url, secret=OTHER_SECRET)
    assert_readable(result)
    assert "netinv.secret is not the one" in result.output and OTHER_SECRET not in result.output


BROKEN = {"binary": bytes(range(256)), "half": b'{"a": [1', "empty": b"", "list": b"[1, 2]"}
WITH_FILE = [("import", "netbox"), ("import", "devicetypes"), ("plan",), ("apply",), ("restore",), ("secret", "rotate")]
AS_USER = [("import", "netbox"), ("import", "devicetypes"), ("token", "create")]


@pytest.fixture
def database_url(tmp_path: Path, encrypted: Path) -> str:
    """A database with an inactive account, `dcim`, and an active one, `someone`."""
    shutil.copy(encrypted, tmp_path / "copy.sqlite")
    engine = engine_from(f"sqlite:///{tmp_path / 'copy.sqlite'}")
    with engine.begin() as connection:
        for name, active in {"dcim": False, "someone": True}.items():
            values = {"id": uuid.uuid4(), "username": name, "is_superuser": True, "is_active": active, "password": "!"}
            connection.execute(sa.insert(table_of(User)).values(**values))
    engine.dispose()
    return f"sqlite:///{tmp_path / 'copy.sqlite'}"


@pytest.mark.parametrize("words", WITH_FILE, ids=" ".join)
def test_broken_files(run: Callable[..., Result], document: Path, database_url: str, words: tuple[str, ...]) -> None:
    for content in BROKEN.values():
        document.write_bytes(content)
        named = {("secret", "rotate"): ["--old", str(document)]}.get(words, [])
        result = run(words, None, *named, database_url=database_url)
        assert result.exit_code == 1 and isinstance(result.exception, SystemExit), (result.output, result.exception)
        assert "Traceback" not in result.output and result.output.count("Error: ") <= 1


@pytest.mark.parametrize("words", AS_USER, ids=" ".join)
def test_an_inactive_account(run: Callable[..., Result], database_url: str, words: tuple[str, ...]) -> None:
    result = run(words, database_url=database_url)
    assert_readable(result)
    assert "Error: User inactive" in result.output


def test_a_worker_with_a_queue_of_no_known_kind(run: Callable[..., Result]) -> None:
    result = run(("worker",), queue_url="amqp://127.0.0.1/")
    assert_readable(result)
    assert "expected: the address of the queue, redis://" in result.output


def test_the_traceback_is_shown_on_demand(run: Callable[..., Result], tmp_path: Path) -> None:
    result = run(("user", "list"), database_url="nonsense")
    assert "Traceback" not in result.output
    with_traceback = ["--traceback", "-c", str(tmp_path / "x.ini"), "user", "list"]
    assert "Traceback" in CliRunner().invoke(command_line.cli, with_traceback).output


def test_an_error_that_nobody_foresaw_has_an_exit_code_of_its_own(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, *words: Any) -> None:
        raise KeyError("x")

    monkeypatch.setattr(Environment, "unit_of_work", fail)
    result = run(("user", "list"))
    assert result.exit_code == 70
    assert result.output.startswith("Error: KeyError: 'x' (an error of netinv")
