"""Plans, upserts, files and imports lock in the order of other writes: two that name the same objects in opposite orders
never wait for each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from netinv_dcim.device_type_library import importer
from netinv_testing import Api, Service, Unique
from netinv_testing.checks.racing import Call, race
from netinv_web.testing import Browser
from tests.support import importing
from tests.support.lock_order import TENANTS, Nodes, deadlocks

PLANS, IMPORT = "/api/extras/plans/", "/tenancy/tenants/import/"
MANY = 80
Items = Sequence[dict[str, Any]]
Make = Callable[[Service, Items], Call]


def by_ids(service: Service, items: Items) -> Call:
    found = service.api.get(TENANTS, {"name": [item["name"] for item in items], "limit": 0})["results"]
    ids = {tenant["name"]: tenant["id"] for tenant in found}
    body = [{"id": ids[item["name"]], "description": item["description"]} for item in items]
    return lambda api: api.send("PATCH", TENANTS, body)


def upsert(service: Service, items: Items) -> Call:
    return lambda api: api.send("PATCH", f"{TENANTS}?match=name", items)


def each_for_itself(service: Service, items: Items) -> Call:
    return lambda api: api.send("PATCH", f"{TENANTS}?match=name&on_error=continue", items)


def text_of(items: Items) -> str:
    return "name,description\n" + "".join(f"{item['name']},{item['description']}\n" for item in items)


def file(service: Service, items: Items) -> Call:
    headers = {"Content-Type": "text/csv"}
    return lambda api: api.send("PATCH", f"{TENANTS}?match=name", text_of(items).encode(), headers=headers)


def plan(service: Service, items: Items) -> Call:
    stored = service.api.post(PLANS, {"objects": {"tenancy.tenant": list(items)}})
    return lambda api: api.send("POST", f"{stored['url']}apply/", {}, status=(200, 409))


def table(service: Service, items: Items) -> Call:
    browser = Browser(service, service.admin)
    slugs = "".join(f"{item['name']},{item['name'].replace(' ', '-')},{item['description']}\n" for item in items)
    form = importing.preview(browser, f"name,slug,description\n{slugs}", IMPORT, match="true").form()
    return lambda api: form.submit("_step", status=(303, 422))


WAYS: dict[str, Make] = {
    "ids": by_ids,
    "upsert": upsert,
    "errors": each_for_itself,
    "file": file,
    "plan": plan,
    "table": table,
}
PAIRS = [*zip(WAYS, WAYS, strict=True), *((way, "plan") for way in WAYS if way != "plan"), ("upsert", "table")]


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
@pytest.mark.parametrize("stored", [True, False], ids=["changed", "new"])
def test_writes_of_the_same_objects_in_opposite_orders(
    service: Service, unique: Unique, one: str, other: str, stored: bool
) -> None:
    if not stored and "ids" in (one, other):
        return  # objects that are not there have no ids
    word = unique()
    names = [f"{word} {number}" for number in range(MANY)]
    if stored:
        service.api.post(TENANTS, [{"name": name} for name in names])
    orders = {"first": names, "second": names[::-1]}
    bodies = [[{"name": name, "description": text} for name in order] for text, order in orders.items()]
    calls = [WAYS[way](service, body) for way, body in zip((one, other), bodies, strict=True)]
    with deadlocks(service) as messages:
        answers = race(service, calls)
    assert messages == []
    assert any(answer.status_int in (200, 201, 303) for answer in answers)
    found = service.api.get(TENANTS, {"name__isw": word, "limit": 0})["results"]
    assert len(found) == MANY
    assert len({tenant["description"] for tenant in found}) == 1


# -- trees


def move_by_plan(nodes: Nodes, place: int) -> Callable[[], Any]:
    objects = {nodes.endpoint.label: [{"id": nodes.ids[place], "parent": nodes.ids[1 - place]}]}
    stored = nodes.service.api.post(PLANS, {"objects": objects})
    return lambda: nodes.service.api.send("POST", f"{stored['url']}apply/", {}, status=(200, 409))


def move_by_table(nodes: Nodes, place: int) -> Callable[[], Any]:
    text = f"id,parent\n{nodes.ids[place]},{nodes.ids[1 - place]}\n"
    form = importing.preview(nodes.browser(), text, f"{nodes.page}import/").form()
    return lambda: form.submit("_step", status=(303, 422))


def move_by_form(nodes: Nodes, place: int) -> Callable[[], Any]:
    form = nodes.form(nodes.ids[place], nodes.ids[1 - place])
    return lambda: form.submit(status=(303, 422))


MOVES = (move_by_plan, move_by_table, move_by_form)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations_with_replacement(MOVES, 2)))
def test_nodes_that_move_below_each_other(service: Service, one: Any, other: Any) -> None:
    nodes = Nodes(service, "dcim.region")
    done, refused = nodes.race(one(nodes, 0), other(nodes, 1))
    assert done in (200, 303) and refused in (409, 422)
    assert nodes.one_is_below_the_other()


# -- the library of device types


def library(folder: Path, word: str, numbers: Sequence[int]) -> Path:
    """A folder of types, whose files are read in the order of the numbers."""
    folder.mkdir()
    for place, number in enumerate(numbers):
        described = {"manufacturer": word, "model": f"{word} {number}", "slug": f"{word}-{number}", "u_height": 1}
        (folder / f"{place:03}.yaml").write_text(yaml.safe_dump(described))
    return folder


def test_imports_of_the_same_device_types_in_opposite_orders(
    service: Service, unique: Unique, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "CHUNK", 5)
    word, numbers = unique(), range(30)
    folders = [library(tmp_path / name, word, order) for name, order in (("a", numbers), ("b", numbers[::-1]))]

    def call(folder: Path) -> Call:
        def run(api: Api) -> Any:
            with service.unit_of_work() as uow:
                importer.import_library(uow, folder, importer.ImportReport())

        return run

    with deadlocks(service) as messages:
        race(service, [call(folder) for folder in folders])
    assert messages == []
    assert service.api.get("/api/dcim/device-types/", {"model__isw": word})["count"] == len(numbers)
