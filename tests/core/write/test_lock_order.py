"""Writes take locks in one order, whatever the order of their items and the page that sends them: two of them never
wait for each other.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.driver import driver_of
from netinv_core.write.trees import is_tree
from netinv_testing import Api, Service, Unique
from netinv_testing.checks.racing import Call, race
from tests.support.lock_order import TENANTS, Nodes, deadlocks
from tests.support.registry import REGISTRY

MANY = 400  # rows of a list: their INSERTs take long enough to meet those of the other client


@pytest.mark.parametrize("query", ["", "?on_error=continue"])
def test_lists_of_the_same_names_in_opposite_orders_do_not_deadlock(
    service: Service, api: Api, unique: Unique, query: str
) -> None:
    word = unique()
    bodies = [{"name": f"{word} {number}"} for number in range(MANY)]

    def post(items: list[Any]) -> Call:
        return lambda api: api.send("POST", f"{TENANTS}{query}", items)

    with deadlocks(service) as messages:
        first, second = race(service, [post(bodies), post(bodies[::-1])])
    assert messages == []
    assert {first.status_int, second.status_int} == ({200} if query else {201, 400})
    assert api.get(TENANTS, {"name__isw": word})["count"] == MANY


def test_the_answer_has_the_order_of_the_items(api: Api, unique: Unique) -> None:
    word = unique()
    names = [f"{word} {letter}" for letter in "cabed"]
    created = api.post(TENANTS, [{"name": name} for name in names])
    assert [tenant["name"] for tenant in created] == names


# -- trees: the lock of a tree comes before those of its rows

TREES = sorted(label for label, endpoint in REGISTRY.endpoints.items() if is_tree(endpoint))


@pytest.fixture
def nodes(request: Any, service: Service) -> Nodes:
    """Two nodes of a tree, which are regions unless the test names others."""
    return Nodes(service, getattr(request, "param", "dcim.region"))


@pytest.mark.parametrize("nodes", TREES, indirect=True)
def test_two_forms_that_move_nodes_below_each_other(nodes: Nodes) -> None:
    one, other = nodes.ids
    forms = nodes.form(one, other), nodes.form(other, one)
    assert nodes.race(*(functools.partial(form.submit, status=(303, 422)) for form in forms)) == [303, 422]
    assert nodes.one_is_below_the_other()


def test_a_form_and_a_grid_that_move_nodes_below_each_other(nodes: Nodes) -> None:
    """The last step of the grid, which locks its rows before it compares them with what was shown."""
    one, other = nodes.ids
    form, browser = nodes.form(one, other), nodes.browser()
    grid = browser.get(f"{nodes.page}grid/?_columns=parent&id={other}").form()
    grid.get(f"{other}:parent").force_value(one)
    apply = grid.submit("_step", status=200).form()
    calls = (
        functools.partial(form.submit, status=(303, 422)),
        functools.partial(apply.submit, "_step", status=(303, 422)),
    )
    assert nodes.race(*calls) == [303, 422]
    assert nodes.one_is_below_the_other()


def test_a_form_and_an_undo_that_move_nodes_below_each_other(nodes: Nodes) -> None:
    one, other = nodes.ids
    api, url = nodes.service.api, f"{nodes.endpoint.path}{other}/"
    api.patch(url, {"parent": one})
    api.patch(url, {"parent": nodes.parent})
    (change, *_) = api.get("/api/extras/object-changes/", {"changed_object_id": other})["results"]
    form = nodes.form(one, other)
    revert = f"/api/extras/object-changes/{change['id']}/revert/"
    calls = functools.partial(form.submit, status=(303, 422)), lambda: api.send("POST", revert, {}, status=(200, 409))
    assert nodes.race(*calls) in ([200, 422], [303, 409])
    assert nodes.one_is_below_the_other()


@pytest.mark.parametrize("nodes", TREES, indirect=True)
def test_a_deletion_locks_the_tree_before_its_rows(nodes: Nodes) -> None:
    """A new name is written to the rows below it, and a deletion locks those below its node: in one order."""
    table, locks = nodes.endpoint.table.name, []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if " FOR UPDATE" in statement:
            locks.append("tree" if "core_lock_stripe" in statement else "rows" if f"FROM {table} " in statement else "")

    api = nodes.service.api
    api.patch(f"{nodes.endpoint.path}{nodes.ids[1]}/", {"parent": nodes.ids[0]})
    sa.event.listen(nodes.service.engine, "before_cursor_execute", note)
    try:
        api.delete(f"{nodes.endpoint.path}{nodes.ids[0]}/")
    finally:
        sa.event.remove(nodes.service.engine, "before_cursor_execute", note)
    locks_rows = not driver_of(nodes.service.engine).locks_database
    assert [lock for lock in locks if lock][:2] == (["tree", "rows"] if locks_rows else [])
