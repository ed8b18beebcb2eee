"""Imports that are killed and run again: they end with the database of an unbroken one."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.http.serialization import dumps
from netinv_core.sql.plans import plan_of
from netinv_testing import Service
from tests.support.databases import migrated_database
from tests.support.inventory_service import TOKEN, InventoryService, serving
from tests.support.nautobot2_lists import everything

NEVER = 10**9
TIMES = ("created", "last_updated")
OF_NOTES = ("display", "slug", "user", "user_name")  # named after the time, and by the account that imports
ROOT = Path(__file__).parents[3]


@pytest.fixture
def new_service(tmp_path: Path, database_template: str) -> Iterator[Callable[[str], Service]]:
    """``new_service(name)``: a service on a database of its own."""
    names = "first", "second"
    with contextlib.ExitStack() as stack:
        for name in names:
            (tmp_path / name).mkdir()
        databases = [migrated_database(tmp_path / name, database_template) for name in names]
        engines = dict(zip(names, map(stack.enter_context, databases), strict=True))
        yield lambda name: Service(engines[name])


def run(service: Service, folder: Path, other: InventoryService, commit: int) -> int:
    """Imports in a process that is killed at a commit; returns its exit code."""
    ini, url = folder / "netinv.ini", service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.secret = for tests only, of 32 characters\n"
    )
    words = [
        "nautobot",
        other.url,
        "--token",
        TOKEN,
        "--user",
        service.admin.username,
        "--state",
        str(folder / "pages"),
    ]
    command = [sys.executable, "-m", "tests.support.import_process", str(ini), str(commit), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode


def timeless(value: Any) -> Any:
    """A representation without times, those of nested objects included."""
    if isinstance(value, dict):
        return {name: timeless(member) for name, member in value.items() if name not in TIMES}
    return [timeless(member) for member in value] if isinstance(value, list) else value


def content(service: Service) -> tuple[dict[str, Any], list[Any]]:
    """All objects by model and id, without times, and the numbers of change records by model and action."""
    objects = {}
    with service.unit_of_work() as uow:
        for label, endpoint in service.registry.endpoints.items():
            if label.startswith(("users.", "auth.", "extras.objectchange", "extras.job")) or not endpoint.writable:
                continue
            keys = [key for (key,) in uow.execute(sa.select(endpoint.table.c.id))]
            for row in json.loads(dumps([shown for _, shown in plan_of(endpoint).fetch(uow, keys)])):
                unlike = OF_NOTES if label == "extras.note" else ()
                objects[f"{label} {row['id']}"] = timeless({name: row[name] for name in row if name not in unlike})
    columns = ObjectChange.changed_object_type, ObjectChange.action
    imported = ~ObjectChange.changed_object_type.in_(["users.user", "users.token"])
    changes = sa.select(*columns, sa.func.count()).where(imported).group_by(*columns)
    return objects, sorted(map(tuple, service.rows(changes)))


@pytest.mark.slow
@pytest.mark.night
def test_an_import_killed_at_several_commits_ends_as_an_unbroken_one(
    new_service: Callable[[str], Service], unique: Any, tmp_path: Path
) -> None:
    lists = everything(unique(), devices=2).lists
    broken, unbroken = new_service("first"), new_service("second")
    with serving(InventoryService("nautobot", "2.4.5", lists, page_size=50)) as other:
        killed = [run(broken, tmp_path / "first", other, commit) for commit in (1, 9, 30)]
        assert killed == [-signal.SIGKILL] * 3
        asked = len(other.asked)
        assert run(broken, tmp_path / "first", other, NEVER) == 0
        assert not [path for path in other.asked[asked:] if "limit=500" in path]  # the pages are in the state file
        assert run(unbroken, tmp_path / "second", other, NEVER) == 0
    (objects, changes), (expected, expected_changes) = content(broken), content(unbroken)
    different = [key for key in objects.keys() & expected.keys() if objects[key] != expected[key]]
    assert not different, [(objects[key], expected[key]) for key in different][:1]
    assert objects.keys() == expected.keys() and changes == expected_changes
