"""Imports from a running NetBox or Nautobot, of which a double serves the lists."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Api
from tests.support.inventory_service import TOKEN, InventoryService, serving


def nested(url: str, path: str, key: Any, **shown: Any) -> dict[str, Any]:
    return {"id": key, "url": f"{url}/api/{path}/{key}/", "display": str(key), **shown}


def choice(value: str) -> dict[str, str]:
    return {"value": value, "label": value.title()}


def netbox_lists(word: str, sites: int = 5) -> dict[str, list[dict[str, Any]]]:
    """Sites in a site group, a tagged one with a device, two interfaces and a cable, as a NetBox 3.7 shows them."""

    def item(path: str, key: int = 1, **shown: Any) -> dict[str, Any]:
        return nested("http://netbox.example.com", path, key, **shown)

    def named(path: str, name: str, **shown: Any) -> dict[str, Any]:
        return item(path, name=f"{word} {name}", slug=f"{word}-{name}".lower(), **shown)

    active, device = {"status": choice("active")}, item("dcim/devices")
    type_, role, site = item("dcim/device-types"), item("dcim/device-roles"), item("dcim/sites")
    of_device = {"device_type": type_, "role": role, "site": site, "airflow": choice("front-to-rear")}
    of_type = {"manufacturer": item("dcim/manufacturers"), "model": word, "slug": word.lower(), "u_height": 1.0}
    of_site = {"group": item("dcim/site-groups", name="Shops"), "custom_fields": {}, "device_count": 1} | active
    of_cable = {"status": choice("connected"), "type": "cat6", "a_terminations": [], "b_terminations": []}
    port = {"type": choice("1000base-t"), "connected_endpoints": [], "cable": item("dcim/cables"), "device": device}
    end = {"cable": 1, "termination_type": "dcim.interface"}
    return {
        "dcim/site-groups": [item("dcim/site-groups", name="Shops", slug="shops", parent=None)],
        "dcim/sites": [
            item("dcim/sites", n, name=f"{word} {n}", slug=f"{word}-{n}".lower(), tags=tags, **of_site)
            for n, tags in enumerate([[item("extras/tags", slug="x")], *[[]] * (sites - 1)], start=1)
        ],
        "dcim/manufacturers": [named("dcim/manufacturers", "M")],
        "dcim/device-types": [type_ | of_type],
        "dcim/device-roles": [named("dcim/device-roles", "R", color="ff0000")],
        "dcim/devices": [device | {"name": word, "local_context_data": None} | of_device | active],
        "dcim/interfaces": [item("dcim/interfaces", n, name=f"{word} e{n}", **port) for n in (1, 2)],
        "dcim/cables": [item("dcim/cables", **of_cable)],
        "dcim/cable-terminations": [{"id": n, "cable_end": "AB"[n - 1], "termination_id": n, **end} for n in (1, 2)],
        "extras/tags": [named("extras/tags", "T", color="ff0000")],
        "extras/object-changes": [item("extras/object-changes", n) for n in range(3)],
        "users/users": [item("users/users", username="alice")],
    }


@pytest.fixture
def netbox(unique: Any) -> Iterator[InventoryService]:
    """A NetBox 3.7 with made-up lists."""
    with serving(InventoryService("netbox", "3.7.1", netbox_lists(unique()))) as service:
        yield service


def site_of(netbox: InventoryService, api: Api) -> Any:
    """The tagged site of the service, as it is here."""
    (only,) = api.get("/api/dcim/sites/", {"name": netbox.lists["dcim/sites"][0]["name"]})["results"]
    return only


@pytest.mark.night
def test_a_netbox_is_read_page_by_page_and_a_second_run_changes_nothing(
    netbox: InventoryService, command: Any, api: Api, unique: Any
) -> None:
    netbox.troubles = ["busy", "", "broken", "", "broken"]
    origin = unique()
    done = command("netbox", netbox.url, "--origin", origin)
    assert done.exit_code == 0, done.output
    assert f"dcim.site: group of 5 objects, in the custom field {origin.lower()}_group" in done.output
    assert "skipped   3 objects of extras.objectchange" in done.output
    assert "dcim/sites?limit=2&offset=4" in netbox.asked
    site = site_of(netbox, api)
    assert [tag["name"] for tag in site["tags"]] == [netbox.lists["extras/tags"][0]["name"]]
    (first, _) = api.get("/api/dcim/interfaces/", {"device": netbox.lists["dcim/devices"][0]["name"]})["results"]
    assert first["connected_endpoint"]["name"] == netbox.lists["dcim/interfaces"][1]["name"]
    again = command("netbox", f"{netbox.url}/api/", "--origin", origin, "--json")
    assert '"created": 0' in again.output and '"updated": 0' in again.output and again.exit_code == 0


def test_an_interrupted_import_goes_on_from_its_state_file(
    netbox: InventoryService, command: Any, api: Api, unique: Any, tmp_path: Path
) -> None:
    state, words = tmp_path / "state", ("--origin", unique())
    netbox.troubles = [""] * 10 + ["ended"]
    failed = command("netbox", netbox.url, "--state", str(state), *words)
    assert failed.exit_code == 1 and "answers 500" in failed.output and state.is_file()
    with state.open("ab") as file:
        file.write(b'{"path": "cut o')
    other = command("netbox", "http://127.0.0.1:9", "--state", str(state), *words)
    assert "holds the state of another import" in other.output
    read, netbox.troubles = set(netbox.asked), []
    netbox.asked.clear()
    done = command("netbox", netbox.url, "--state", str(state), *words)
    assert done.exit_code == 0, done.output
    pages = {asked for asked in netbox.asked if "limit=500" in asked or "offset" in asked}
    assert len(pages & read) <= 1 and not state.exists()
    assert site_of(netbox, api)


@pytest.mark.parametrize(
    ("kind", "token", "message"),
    [
        ("netbox", "wrong", "the token is wrong, or may not read it"),
        ("nautobot", TOKEN, "is not a Nautobot: /api/status/ does not name its version"),
    ],
)
def test_a_service_that_is_not_the_one_ends_in_one_line(
    netbox: InventoryService, command: Any, kind: str, token: str, message: str
) -> None:
    done = command(kind, netbox.url, token=token)
    assert done.exit_code == 1 and message in done.output and token not in done.output.replace(message, "")


@pytest.mark.parametrize(("product", "version"), [("netbox", "2.10.1"), ("nautobot", "4.0.0")])
def test_versions_out_of_range_are_refused(command: Any, product: str, version: str) -> None:
    with serving(InventoryService(product, version, {})) as other:
        done = command(product, other.url)
    assert done.exit_code == 1 and f"{version}:" in done.output


def test_a_nautobot_keeps_its_ids(command: Any, api: Api, unique: Any) -> None:
    word, base = unique(), "http://nautobot.example.com"
    keys = [str(uuid.uuid4()) for _ in range(4)]
    status = nested(base, "extras/statuses", keys[0], name=f"S{word}", slug=f"s{word}".lower(), color="00ff00")
    lists = {
        "extras/statuses": [status | {"content_types": ["dcim.site"]}],
        "extras/tags": [
            nested(
                base, "extras/tags", keys[1], name=word, slug=word.lower(), color="00ff00", content_types=["dcim.site"]
            )
        ],
        "dcim/sites": [
            nested(
                base, "dcim/sites", keys[2], name=word, slug=word.lower(), status=choice(f"s{word}".lower()), asn=64512
            )
            | {"tags": [nested(base, "extras/tags", keys[1])], "rack_count": 3, "display": word}
        ],
        "extras/config-contexts": [
            nested(
                base,
                "extras/config-contexts",
                keys[3],
                name=word,
                weight=1,
                data={"a": {"value": 1, "label": 2}},
                tags=[word.lower()],
            )
        ],
    }
    with serving(InventoryService("nautobot", "1.6.32", lists)) as other:
        done = command("nautobot", other.url)
        assert done.exit_code == 0, done.output
        again = command("nautobot", other.url, "--json")
    assert '"created": 0' in again.output
    shown = api.get(f"/api/dcim/sites/{keys[2]}/")
    assert (shown["asn"], shown["status"]["value"], shown["tags"][0]["id"]) == (64512, f"s{word}".lower(), keys[1])
    assert api.get(f"/api/extras/config-contexts/{keys[3]}/")["data"] == {"a": {"value": 1, "label": 2}}
