"""``netinv compare``: objects of another service, of which a double serves the lists, and those here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from netinv_core.commands.comparing import compare_services
from netinv_core.commands.environment import Environment
from netinv_core.testing import Api, Service
from tests.support.inventory_service import TOKEN, InventoryService, serving

SITES = "/api/dcim/sites/"


@pytest.fixture
def compare(service: Service, tmp_path: Path) -> Any:
    """``compare(lists)``: what the command answers for a Nautobot 1.6 with these lists."""
    ini = tmp_path / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.secret = for tests only, of 32 characters\n"
    )

    def invoke(lists: dict[str, list[dict[str, Any]]], *words: str) -> Any:
        with serving(InventoryService("nautobot", "1.6.32", lists)) as other:
            text = json.dumps(lists).replace("http://localhost/", f"{other.url}/")
            other.lists = json.loads(text)
            return CliRunner().invoke(
                compare_services, [other.url, "--token", TOKEN, *words], obj=Environment(str(ini))
            )

    return invoke


def test_equal_objects_are_equal_whatever_the_addresses_and_times(compare: Any, api: Api, unique: Any) -> None:
    names = [api.post(SITES, {"name": unique(), "status": "active"})["name"] for _ in range(3)]
    shown = [api.get(SITES, {"name": name})["results"][0] | {"last_updated": None} for name in names]
    statuses = api.get("/api/extras/statuses/", {"slug": "active"})["results"]
    there = [{**status, "id": "0" * 8 + status["id"][8:]} for status in statuses]
    for status in there:
        status["url"] = status["notes_url"] = f"http://localhost/api/extras/statuses/{status['id']}/"
        status["notes_url"] += "notes/"
    done = compare({"dcim/sites": shown, "extras/statuses": there})
    assert done.exit_code == 0, done.output
    assert "the time of the import" in done.output and "differs" not in done.output


def test_differences_and_missing_objects_are_told_by_model_and_field(compare: Any, api: Api, unique: Any) -> None:
    made = api.post(SITES, {"name": unique(), "status": "active", "facility": "here"})
    shown = api.get(made["url"])
    missing = {**shown, "id": "0" * 8 + shown["id"][8:], "display": "Nowhere", "slug": "no-such-slug"}
    lists = {"dcim/sites": [{**shown, "facility": "there"}, missing], "users/tokens": [{"id": "1", "key": "hidden"}]}
    done = compare(lists)
    assert done.exit_code == 1
    assert "differs   dcim.site: facility of 1 objects" in done.output and '"there" there, "here" here' in done.output
    assert f"missing   dcim.site Nowhere ({missing['id']})" in done.output
    assert "left out  users.token" in done.output and "hidden" not in done.output
    result = json.loads(compare(lists, "--json").stdout)
    assert (result["agrees"], result["models"]["dcim.site"]["there"]) == (False, 2)
    assert [entry["member"] for entry in result["differences"]] == ["facility"]
