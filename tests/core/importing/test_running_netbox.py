"""A running NetBox with the published demonstration data: what its pages say is what its dump says."""

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
from netinv_testing import Service
from tests.support.databases import migrated_database
from tests.support.dumps import DUMP
from tests.support.inventory_service import TOKEN, InventoryService, serving
from tests.support.netbox_pages import LABELS, lists_of

PUBLISHED = DUMP.with_name("netbox-demo-v3.4-published.json")


@pytest.fixture
def items() -> list[dict[str, Any]]:
    """The published objects."""
    if not PUBLISHED.is_file():
        pytest.skip(f"there is no NetBox dump at {PUBLISHED}; NETINV_DUMP may name one beside it")
    found: list[dict[str, Any]] = json.loads(PUBLISHED.read_bytes())
    return found


@pytest.fixture
def imported(tmp_path: Path, database_template: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``imported(source)``: the report of an import into a service of its own."""
    monkeypatch.setattr(rest, "pause", lambda seconds: None)
    with migrated_database(tmp_path, database_template) as engine:
        service, ini = Service(engine), tmp_path / "netinv.ini"
        url = engine.url.render_as_string(hide_password=False).replace("%", "%%")
        ini.write_text(
            f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.secret = for tests only, of 32 characters\n"
        )

        def run(source: str) -> dict[str, Any]:
            words = ["netbox", source, "--user", service.admin.username, "--token", TOKEN, "--json"]
            done = CliRunner().invoke(import_, words, obj=Environment(str(ini)))
            assert done.exit_code == 0, done.output[-2000:]
            report: dict[str, Any] = json.loads(done.stdout)
            return report

        yield run


@pytest.mark.slow
@pytest.mark.night
def test_pages_of_34_and_42_say_what_the_dump_says(items: list[dict[str, Any]], imported: Any) -> None:
    first = imported(str(PUBLISHED))
    for version, later in (("3.4.3", False), ("4.2.0", True)):
        with serving(InventoryService("netbox", version, lists_of(items, later=later), page_size=200)) as netbox:
            netbox.troubles = ["busy", "ended-once", "", "broken"]
            report = imported(netbox.url)
        assert "dcim/interfaces?limit=200&offset=1400" in netbox.asked
        assert (report["total"]["created"], report["total"]["refused"]) == (0, 0), report["objects"][:3]
        changed = {label: counts for label, counts in report["models"].items() if "updated" in counts}
        assert not changed, changed
        for label in LABELS:
            before, now = first["models"].get(label, {}), report["models"].get(label, {})
            assert sum(now.values()) == sum(before.values()), label
        assert report["models"]["virtualization.vminterface"] == {"unchanged": 720}
