"""``netinv compare``: objects of another service, of which a double serves the lists, and those here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Api
from tests.support.dumps import named
from tests.support.inventory_service import InventoryService, serving
from tests.support.nautobot2_lists import everything

SITES = "/api/dcim/sites/"


@pytest.fixture
def compared(compare: Any) -> Any:
    """``compared(lists)``: what the command answers for a Nautobot 1.6 with these lists."""

    def invoke(lists: dict[str, list[dict[str, Any]]], *words: str) -> Any:
        with serving(InventoryService("nautobot", "1.6.32", lists)) as other:
            other.lists = json.loads(json.dumps(lists).replace("http://localhost/", f"{other.url}/"))
            return compare(other.url, *words)

    return invoke


def test_equal_objects_are_equal_whatever_the_addresses_and_times(compared: Any, api: Api, unique: Any) -> None:
    names = [api.post(SITES, {"name": unique(), "status": "active"})["name"] for _ in range(3)]
    shown = [api.get(SITES, {"name": name})["results"][0] | {"last_updated": None} for name in names]
    statuses = api.get("/api/extras/statuses/", {"slug": "active"})["results"]
    there = [{**status, "id": "0" * 8 + status["id"][8:]} for status in statuses]
    for status in there:
        status["url"] = status["notes_url"] = f"http://localhost/api/extras/statuses/{status['id']}/"
        status["notes_url"] += "notes/"
    done = compared({"dcim/sites": shown, "extras/statuses": there})
    assert done.exit_code == 0, done.output
    assert "the time of the import" in done.output and "differs" not in done.output


def test_differences_and_missing_objects_are_told_by_model_and_field(compared: Any, api: Api, unique: Any) -> None:
    made = api.post(SITES, {"name": unique(), "status": "active", "facility": "here"})
    shown = api.get(made["url"])
    missing = {**shown, "id": "0" * 8 + shown["id"][8:], "display": "Nowhere", "slug": "no-such-slug"}
    lists = {"dcim/sites": [{**shown, "facility": "there"}, missing], "users/tokens": [{"id": "1", "key": "hidden"}]}
    done = compared(lists)
    assert done.exit_code == 1
    assert "differs   dcim.site: facility of 1 objects" in done.output and '"there" there, "here" here' in done.output
    assert f"missing   dcim.site Nowhere ({missing['id']})" in done.output
    assert "left out  users.token" in done.output and "hidden" not in done.output
    result = json.loads(compared(lists, "--json").stdout)
    assert (result["agrees"], result["models"]["dcim.site"]["there"]) == (False, 2)
    assert [entry["member"] for entry in result["differences"]] == ["facility"]


@pytest.mark.night
def test_a_nautobot_2_is_compared_with_what_an_import_makes_of_it(
    command: Any, compare: Any, api: Api, unique: Any
) -> None:
    there = everything(unique(), devices=3)
    with serving(InventoryService("nautobot", "2.4.5", there.lists, page_size=50)) as other:
        before = compare(other.url, "--json")
        assert before.exit_code == 1 and json.loads(before.stdout)["models"]["dcim.site"]["only_there"]
        assert command("nautobot", other.url).exit_code == 0
        done = compare(other.url)
        assert done.exit_code == 0, done.output
        assert "left out  extras.graphqlquery" in done.output
        site, device = there.of("dcim/locations", "First")["id"], there.of("dcim/devices", "sw1")["id"]
        api.patch(f"/api/dcim/sites/{site}/", {"asn": 1})
        api.patch(f"/api/dcim/devices/{device}/", {"custom_fields": {"nautobot_software_version": "none"}})
        result = json.loads(compare(other.url, "--json").stdout)
    found = {(entry["model"], entry["member"]): (entry["first"], entry["second"]) for entry in result["differences"]}
    assert found == {
        ("dcim.site", "asn"): ("64512", "1"),
        ("dcim.device", "custom_fields.nautobot_software_version"): ("17.3.1 (Amsterdam)", "none"),
    }
    model = result["models"]["dcim.site"]
    assert (model["there"], model["equal"], model["only_there"]) == (2, 1, [])


def test_a_dump_of_a_netbox_is_compared_with_what_an_import_made_of_it(
    run: Any, compare: Any, api: Api, unique: Any, tmp_path: Path
) -> None:
    origin, names = unique(), [unique(), unique()]
    sites = [named("dcim.site", n, name, status="active", facility="A") for n, name in enumerate(names)]
    run(*sites, origin=origin)
    (made,) = api.get(SITES, {"name": names[0]})["results"]
    api.patch(made["url"], {"facility": "B"})
    path = tmp_path / "dump.json"
    path.write_text(json.dumps([*sites, named("dcim.site", 9, unique(), status="active")]))
    done = compare(str(path), "--origin", origin)
    assert done.exit_code == 1
    assert "differs   dcim.site: facility of 1 objects" in done.output and '"A" there, "B" here' in done.output
    assert "(9)" in done.output.partition("missing   dcim.site")[2]
