"""``netinv secret rotate``: every stored value is encrypted with the new secret, also after an interruption."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from sqlalchemy.engine import Engine

from netinv_admin.commands.secret import secret
from netinv_core import crypto
from netinv_core.auth import stored_secrets
from netinv_core.environment import Environment
from netinv_core.models.base import table_of
from netinv_core.stored_answers import StoredAnswer
from netinv_extras.plans.models import Plan
from netinv_extras.webhooks.models import Webhook
from netinv_testing import Service
from tests.support.databases import migrated_database

pytestmark = pytest.mark.night

OLD, NEW = "the former text of more than 32 characters", "the present text of more than 32 characters"
_answers, _plans, _webhooks = table_of(StoredAnswer), table_of(Plan), table_of(Webhook)


@pytest.fixture
def database(tmp_path: Path, database_template: str) -> Any:
    """A migrated database of the test, with a service's values under the former secret."""
    with migrated_database(tmp_path, database_template) as engine:
        service = Service(engine, {"netinv.secret": OLD})
        service.api.post(
            "/api/extras/webhooks/",
            {
                "name": "w",
                "content_types": ["dcim.site"],
                "type_create": True,
                "payload_url": "https://x.example/",
                "secret": "s",
            },
        )
        service.api.post("/api/extras/plans/", {"objects": {"tenancy.tenant": [{"name": "planned"}]}})
        service.api.send("POST", "/api/tenancy/tenants/", {"name": "t"}, headers={"Idempotency-Key": "k"}, status=201)
        yield engine


@pytest.fixture
def rotate(database: Engine, service: Service, tmp_path: Path) -> Callable[..., Result]:
    """``rotate(*words)``: the result of the command with the new secret."""

    def run(*words: str) -> Result:
        environment = Environment("x.ini")
        environment.__dict__ |= {
            "_configuration": ({"secret": NEW}, ([], [])),
            "engine": database,
            "registry": service.registry,
        }
        return CliRunner().invoke(secret, ["rotate", *words], obj=environment)

    (tmp_path / "old").write_text(f"{OLD}\n")
    return run


def readability(database: Engine, value: str) -> stored_secrets.Readability:
    with database.connect() as connection:
        return stored_secrets.readability(connection, value)


def test_all_values_are_encrypted_with_the_new_secret(
    rotate: Callable[..., Result], database: Engine, tmp_path: Path
) -> None:
    assert readability(database, OLD).readable == 3
    done = rotate("--old", str(tmp_path / "old"))
    assert done.exit_code == 0, done.output
    assert "extras_webhook.secret: 1 encrypted anew, 0 unchanged, 0 unreadable" in done.output
    assert readability(database, NEW) == stored_secrets.Readability(3, 0, ())
    assert readability(database, OLD).is_other_secret
    with database.connect() as connection:
        sealed = connection.execute(sa.select(_webhooks.c.secret)).scalar_one()
        assert crypto.decrypt(NEW, sealed) == "s"
        planned = connection.execute(sa.select(_plans.c.objects)).scalar_one()
        assert "planned" in crypto.decrypt(NEW, planned)


def test_a_rotation_that_was_interrupted_is_completed_by_the_next(
    rotate: Callable[..., Result], database: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {
            "id": uuid.uuid4(),
            "user_id": uuid.uuid4(),
            "key_digest": str(number),
            "request_digest": "r",
            "created": datetime.datetime.now(datetime.UTC),
            "content": crypto.encrypt_bytes(OLD, b"x"),
        }
        for number in range(10)
    ]
    with database.begin() as connection:
        connection.execute(sa.insert(_answers), rows)
    monkeypatch.setattr(stored_secrets, "CHUNK", 3)
    encrypt, left = crypto.encrypt_bytes, iter(range(7))

    def interrupted(value: str, content: bytes) -> bytes:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return encrypt(value, content)

    with monkeypatch.context() as patches:
        patches.setattr(crypto, "encrypt_bytes", interrupted)
        assert rotate("--old", str(tmp_path / "old")).exit_code != 0
    mixed = readability(database, NEW)
    assert mixed.readable == 6 and mixed.unreadable > 0
    assert "core_stored_answer.content: 5 encrypted anew, 6 unchanged" in rotate("--old", str(tmp_path / "old")).output
    assert readability(database, NEW).unreadable == 0


def test_values_that_no_secret_decrypts_remain_until_they_are_discarded(
    rotate: Callable[..., Result], database: Engine, tmp_path: Path
) -> None:
    (tmp_path / "wrong").write_text("some other text of more than 32 characters")
    done = rotate("--old", str(tmp_path / "wrong"))
    assert done.exit_code == 1 and "neither secret decrypts 3 values" in done.output
    assert readability(database, OLD).readable == 3
    assert rotate("--discard-unreadable").exit_code == 0
    assert readability(database, NEW) == stored_secrets.Readability(0, 0, ())
    with database.connect() as connection:
        assert connection.execute(sa.select(_webhooks.c.secret)).scalar_one() == ""


def test_the_former_secret_must_be_named(rotate: Callable[..., Result], tmp_path: Path) -> None:
    assert rotate().exit_code == 2
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    refused = rotate("--old", str(tmp_path / "binary"))
    assert refused.exit_code == 1 and "does not hold a secret" in refused.output
