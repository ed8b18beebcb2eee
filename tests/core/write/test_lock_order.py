"""Bulk writes take locks in one order, whatever the order of their items: two of them never wait for each other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.db.availability import is_busy
from netinv_testing import Api, Service, Unique
from netinv_testing.checks.racing import Call, race

TENANTS = "/api/tenancy/tenants/"
MANY = 400  # rows of a list: their INSERTs take long enough to meet those of the other client


@contextlib.contextmanager
def deadlocks(service: Service) -> Iterator[list[str]]:
    """Messages of the statements that the database gives up in the block."""
    messages: list[str] = []

    def note(context: Any) -> None:
        if context.sqlalchemy_exception is not None and is_busy(context.sqlalchemy_exception):
            messages.append(str(context.original_exception))

    sa.event.listen(service.engine, "handle_error", note)
    try:
        yield messages
    finally:
        sa.event.remove(service.engine, "handle_error", note)


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
