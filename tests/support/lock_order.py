"""Writes that meet: the deadlocks of a block, and nodes of a tree that two clients move."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from netinv_core.db.availability import is_busy
from netinv_testing import Service
from netinv_testing.checks.racing import race
from netinv_testing.samples import Samples
from netinv_web.testing import Browser

TENANTS = "/api/tenancy/tenants/"


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


class Nodes:
    """Two nodes of a tree that may be below each other."""

    def __init__(self, service: Service, label: str) -> None:
        self.service, self.endpoint = service, service.registry[label]
        samples, members = Samples(service), {"parent": None}
        if label == "dcim.location":  # those of a root have a site, which those below others must not have
            kinds, root = service.registry["dcim.locationtype"], samples.make(self.endpoint)
            kind = samples.make(kinds, parent=root["location_type"]["id"], nestable=True)
            members = {"parent": root["id"], "location_type": kind["id"], "site": None}
        self.parent = members["parent"]
        items = samples.make_many(self.endpoint, 2, **members)
        self.ids = [item["id"] for item in items]
        self.page = self.endpoint.path.removeprefix("/api")

    def browser(self) -> Browser:
        """A browser of its own."""
        return Browser(self.service, self.service.admin)

    def form(self, key: str, parent: str) -> Any:
        """The filled form that moves a node below another one."""
        form = self.browser().get(f"{self.page}{key}/edit/").form()
        form.get("parent").force_value(parent)
        return form

    def race(self, *calls: Callable[[], Any]) -> list[int]:
        """The statuses of the answers to calls that meet where each has locked rows of the tree, without deadlocks."""
        named = [lambda api, call=call: call() for call in calls]
        with deadlocks(self.service) as messages:
            answers = race(self.service, named, locking=self.endpoint.table.name)
        assert messages == []
        return sorted(answer.status_int for answer in answers)

    def one_is_below_the_other(self) -> bool:
        """True when one node has the other one as its parent, and that one the parent it had."""
        shown = [self.service.api.get(f"{self.endpoint.path}{key}/")["parent"] for key in self.ids]
        found = [parent["id"] if isinstance(parent, dict) else parent for parent in shown]
        return found in ([self.parent, self.ids[0]], [self.ids[1], self.parent])
