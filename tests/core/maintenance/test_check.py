"""``netinv check``: findings with remedies, exit codes; a service and a worker that refuse a database that does not
fit.
"""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from pyramid.paster import get_appsettings
from sqlalchemy.engine import Engine

from netinv_admin.commands.cli import cli
from netinv_core import crypto
from netinv_core import main as service_main
from netinv_core.auth import stored_secrets
from netinv_core.models.base import table_of
from netinv_core.stored_answers import StoredAnswer
from tests.support.databases import migrated_database

SECRET = "a random text of more than 32 characters"


@pytest.fixture
def database(tmp_path: Path, database_template: str) -> Any:
    """A migrated database of the test."""
    with migrated_database(tmp_path, database_template) as engine:
        yield engine


@pytest.fixture
def ini(tmp_path: Path, database: Engine) -> Callable[..., Path]:
    """``ini(name=value)``: an ini file with these settings."""

    def write(**settings: str) -> Path:
        url = database.url.render_as_string(hide_password=False)
        given = {
            "database_url": url,
            "secret": SECRET,
            "queue_url": f"sqlite:///{tmp_path}/queue.sqlite",
            "media_root": str(tmp_path / "media"),
            "git_root": str(tmp_path / "git"),
            "allowed_hosts": "netinv.example.net",
            **settings,
        }
        file = tmp_path / "netinv.ini"
        lines = "".join(f"netinv.{name} = {value}\n" for name, value in given.items())
        parts = "".join(f"[{name}]\nkeys =\n" for name in ("handlers", "formatters"))
        file.write_text(
            f"[app:main]\nuse = egg:netinv-core\n{lines}[loggers]\nkeys = root\n[logger_root]\nhandlers =\n{parts}"
        )
        return file

    return write


@pytest.fixture
def check(ini: Callable[..., Path]) -> Callable[..., tuple[int, dict[str, Any]]]:
    """``check(name=value)``: exit code and document of the check with these settings."""

    def run(*options: str, **settings: str) -> tuple[int, dict[str, Any]]:
        done = CliRunner().invoke(cli, ["-c", str(ini(**settings)), "check", "--json", *options])
        return done.exit_code, json.loads(done.stdout)

    return run


def of(document: dict[str, Any], level: str) -> dict[str, str]:
    """The findings of a level: message and remedy by check."""
    return {
        item["check"]: f"{item['message']}; {item['remedy']}" for item in document["checks"] if item["level"] == level
    }


def store_answer(database: Engine, secret: str, key: str) -> None:
    """Stores an encrypted value."""
    values = {"user_id": uuid.uuid4(), "key_digest": key, "request_digest": "r"}
    with database.begin() as connection:
        connection.execute(
            sa.insert(table_of(StoredAnswer)).values(
                id=uuid.uuid4(),
                created=datetime.datetime.now(datetime.UTC),
                content=crypto.encrypt_bytes(secret, b"x"),
                **values,
            )
        )


def test_a_check_of_a_plugin_that_fails_names_the_plugin_and_what_to_do(check: Any, tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/coast.py").write_text(
        "from netinv_core import hookimpl\n\n@hookimpl\ndef netinv_checks(registry):\n    yield 1 / 0\n"
    )
    code, document = check(plugins_dir=str(tmp_path / "plugins"))
    told = "the check of the package coast failed: ZeroDivisionError: division by zero; update or uninstall coast, or "
    assert code == 1 and of(document, "problem")["checks"].startswith(told)


@pytest.mark.night
def test_an_installation_in_order_has_no_problems_but_a_warning_for_what_is_not_there_yet(check: Any) -> None:
    code, document = check()
    assert (code, document["ok"], document["problems"]) == (0, True, 0)
    warnings = of(document, "warning")
    assert set(warnings) == {"workers", "accounts"}
    assert "start `netinv worker`" in warnings["workers"]
    assert "user create NAME --superuser" in warnings["accounts"]
    assert {"database", "migrations", "secret", "clock", "queue", "media folder", "webhook guard"} <= set(
        of(document, "ok")
    )
    assert check("--strict")[0] == 1


@pytest.mark.night
def test_every_mistake_in_the_settings_is_a_finding(check: Any) -> None:
    code, document = check(paginate_cont="5", strict_filtering="perhaps", webhook_threads="many")
    messages = [item["message"] for item in document["checks"] if item["check"] == "settings"]
    assert code == 1
    assert messages == [
        "the setting netinv.paginate_cont is not known; did you mean netinv.paginate_count?",
        "the setting netinv.strict_filtering has a value that cannot be read: 'perhaps'; expected: a boolean: true, yes, on or"
        " 1; false, no, off or 0",
        "the setting netinv.webhook_threads has a value that cannot be read: 'many'",
    ]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("database_pool", "-3", "'-3'; expected: a whole number, at least 1"),
        ("max_page_size", "-1", "'-1'; expected: a whole number, 0 or more"),
        ("max_request_size", "3 pounds", "'3 pounds'; expected: bytes, or a number of KiB, MiB or GiB"),
        ("queue_url", "redis://:hidden@localhost:99999/0", "expected: the address of the queue, redis://"),
        ("queue_url", "amqp://:hidden@localhost", "expected: the address of the queue, redis://"),
        ("secret_file", "/no/such/file", "netinv.secret and netinv.secret_file are both set"),
    ],
)
@pytest.mark.night
def test_the_finding_of_a_wrong_value_says_what_is_expected(name: str, value: str, expected: str, check: Any) -> None:
    code, document = check(**{name: value})
    assert code == 1
    assert expected in of(document, "problem")["settings"]
    assert "hidden" not in json.dumps(document)


@pytest.mark.night
def test_the_check_creates_no_database(check: Any, tmp_path: Path) -> None:
    absent = tmp_path / "absent.sqlite"
    code, document = check(database_url=f"sqlite:///{absent}")
    assert code == 1
    assert set(of(document, "problem")) == {"database"}
    assert not absent.exists()


@pytest.mark.night
def test_what_cannot_be_used_is_a_problem_with_a_remedy(check: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, document = check(
        queue_url="redis://:hidden@127.0.0.1:1/0",
        media_root=str(tmp_path / "file" / "media"),
        base_url="netinv.example.net",
        jobs_root="/no/such/folder",
        webhook_allow="0.0.0.0/0",
    )
    problems = of(document, "problem")
    assert code == 1
    assert set(problems) == {"settings", "queue", "media folder", "folders"}
    assert all(text.rpartition("; ")[2] for text in problems.values())
    assert "hidden" not in json.dumps(document)
    assert "0.0.0.0/0" in of(document, "warning")["webhook guard"]


@pytest.mark.night
def test_a_secret_that_does_not_fit_is_a_problem_and_keeps_the_service_from_starting(
    check: Any, ini: Any, database: Engine
) -> None:
    store_answer(database, "another text of more than 32 characters", "a")
    assert "secret rotate --old FILE" in of(check()[1], "problem")["secret"]
    with pytest.raises(SystemExit, match=r"netinv does not start: netinv\.secret is not the one") as ended:
        start(ini())
    assert "core_stored_answer.content" in str(ended.value.code)
    store_answer(database, SECRET, "b")
    assert "does not decrypt some values" in of(check()[1], "problem")["secret"]
    start(ini())


def start(file: Path) -> Any:
    """Starts a service from an ini file."""
    return service_main.main({"__file__": str(file)}, **get_appsettings(str(file)))


@pytest.mark.night
def test_a_service_does_not_start_on_a_database_that_lacks_migrations(check: Any, ini: Any, database: Engine) -> None:
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE dcim_alembic_version SET version_num = 'dcim_0001'"))
    with pytest.raises(SystemExit, match=r"lacks migrations: dcim_\d+; run `netinv -c \S+netinv.ini migrate` first"):
        start(ini())
    worker = CliRunner().invoke(cli, ["-c", str(ini()), "worker"])
    assert worker.exit_code == 1 and "lacks migrations" in worker.output
    assert "migrate`" in of(check()[1], "problem")["migrations"]


@pytest.mark.night
def test_a_service_does_not_start_on_a_newer_database(check: Any, ini: Any, database: Engine) -> None:
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE dcim_alembic_version SET version_num = 'dcim_9999'"))
    with pytest.raises(SystemExit, match=r"is newer than the installed packages.*dcim_9999"):
        start(ini())
    assert "newer" in of(check()[1], "problem")["migrations"]


def set_revision(database: Engine, app: str, revision: str) -> None:
    """Has the database tell another applied revision of an application."""
    with database.begin() as connection:
        connection.execute(sa.text(f"UPDATE {app}_alembic_version SET version_num = '{revision}'"))


@pytest.mark.parametrize("options", [["--check"], ["--plan"], []])
def test_a_newer_database_is_not_migrated(ini: Any, database: Engine, options: list[str]) -> None:
    """Each way of the command says what to do."""
    set_revision(database, "dcim", "dcim_9999")
    done = CliRunner().invoke(cli, ["-c", str(ini()), "migrate", *options])
    assert done.exit_code == 1
    assert "is newer than the installed packages, which do not have its migrations dcim_9999" in done.output
    assert "up to date" not in done.output


def test_newer_tables_of_a_plugin_are_told_as_such_and_can_be_removed(check: Any, ini: Any, database: Engine) -> None:
    """Its former release is installed again: the service leaves it out, and `migrate` does not touch its tables."""
    set_revision(database, "example", "example_9999")
    newer = (
        "the tables of example are newer than the installed package, which does not have their migrations example_9999"
    )
    assert "which do not have its migrations example_9999" in of(check()[1], "problem")["migrations"]
    assert "lacks" not in str(of(check()[1], "problem"))
    for options in ["--check"], []:
        done = CliRunner().invoke(cli, ["-c", str(ini()), "migrate", *options])
        assert done.exit_code == 1 and newer in done.output and "up to date" not in done.output
    assert CliRunner().invoke(cli, ["-c", str(ini()), "migrate", "--plan"]).exit_code == 0
    removed = CliRunner().invoke(cli, ["-c", str(ini()), "migrate", "--remove", "example"])
    assert removed.exit_code == 0, removed.output
    assert not [name for name in sa.inspect(database).get_table_names() if name.startswith("example_")]
    assert CliRunner().invoke(cli, ["-c", str(ini()), "migrate"]).exit_code == 0
    assert "example_9999" not in str(check()[1])


def test_every_encrypted_column_is_declared() -> None:
    """All that is encrypted is found by the check of the secret and by its rotation."""
    assert sorted(map(str, stored_secrets.encrypted_columns())) == [
        "core_stored_answer.content",
        "extras_git_repository.token",
        "extras_job_result.arguments",
        "extras_plan.objects",
        "extras_webhook.second_secret",
        "extras_webhook.secret",
        "web_session.provider_data",
    ]
