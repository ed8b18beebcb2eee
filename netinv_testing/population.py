"""Objects that checks which only read share, so that they are made once for a service and not once for each check.

``service.population`` holds them: of every resource as many as were asked for so far, with what they refer to. Who
reads takes them instead of new ones (``population.objects(endpoint, 5)``); who changes or deletes an object makes it
with
:class:`Samples <netinv_testing.samples.Samples>`. Objects are read again each time, since other tests may add
custom fields to their representations. In place of one that a test deleted there is a new one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from netinv_testing.samples import Samples

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_testing.client import Service

Item = dict[str, Any]


@dataclasses.dataclass
class _Members:
    """The objects of one resource, by id: plain ones, and one with a value in every field."""

    samples: Samples
    ids: list[Any] = dataclasses.field(default_factory=list)
    filled_id: Any = None


class Population:
    """The objects of a service that nobody changes."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._members: dict[str, _Members] = {}

    def objects(self, endpoint: Endpoint, count: int = 1) -> list[Item]:
        """As many objects of a resource, as they are now."""
        members = self._members_of(endpoint)
        if not endpoint.resource.writable:
            return members.samples.make_many(endpoint, count)
        found = self._read(endpoint, members.ids)
        members.ids = [key for key in members.ids if key in found]
        if (missing := count - len(members.ids)) > 0:
            made = [item["id"] for item in members.samples.make_many(endpoint, missing)]
            members.ids += made
            found |= self._read(endpoint, made)
        return [found[key] for key in members.ids[:count]]

    def filled(self, endpoint: Endpoint, make: Callable[[], Item]) -> Item:
        """The object of a resource that has a value in every field, made by ``make`` the first time, and again where
        a test deleted it.
        """
        members = self._members_of(endpoint)
        found = self._read(endpoint, [members.filled_id] if members.filled_id is not None else [])
        if not found:
            members.filled_id = make()["id"]
            found = self._read(endpoint, [members.filled_id])
        return found[members.filled_id]

    def _members_of(self, endpoint: Endpoint) -> _Members:
        if endpoint.label not in self._members:
            self._members[endpoint.label] = _Members(Samples(self._service))
        return self._members[endpoint.label]

    def _read(self, endpoint: Endpoint, ids: list[Any]) -> dict[Any, Item]:
        """The objects that are there, by id."""
        if not ids:
            return {}
        shown = self._service.api.get(endpoint.path, {"id": ids, "limit": len(ids)})["results"]
        return {item["id"]: item for item in shown}
