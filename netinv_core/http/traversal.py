"""The resource tree: an application's root, the collections below it, the items below those."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from pyramid.request import Request

from netinv_core.app import App
from netinv_core.endpoint import Endpoint
from netinv_core.http.methods import ITEM_METHODS, METHODS, permitted
from netinv_core.registry import Registry


@dataclasses.dataclass(frozen=True)
class Item:
    """One object's place; ``key`` is ``None`` when the path cannot be an id."""

    endpoint: Endpoint
    key: Any

    def allow(self) -> str:
        """The value of the Allow header."""
        return permitted(ITEM_METHODS, self.endpoint.resource.writes)


@dataclasses.dataclass(frozen=True)
class Collection:
    """A resource's place."""

    endpoint: Endpoint

    def allow(self) -> str:
        """The value of the Allow header."""
        return permitted(METHODS, self.endpoint.resource.writes)

    def __getitem__(self, name: str) -> Item:
        if self.endpoint.resource.of is not None:
            raise KeyError(name)
        return Item(self.endpoint, self.endpoint.parse_key(name))


@dataclasses.dataclass(frozen=True)
class Root:
    """An application's place. It does not keep the request, which keeps it: in a cycle of references the request would
    stay, with the bodies of its answer and its session, until the garbage collector finds it.
    """

    registry: Registry
    app: App

    def __getitem__(self, name: str) -> Collection:
        return Collection(self.registry.by_path[self.app.name, name])


def root_of(app: App) -> Callable[[Request], Root]:
    """The route factory for an application."""
    return lambda request: Root(request.registry.netinv, app)
