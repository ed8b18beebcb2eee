"""Routes, and the resource tree: an application's root, the collections below it, the items below those."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyramid.config import Configurator
from pyramid.interfaces import IRoutesMapper
from pyramid.request import Request
from pyramid.urldispatch import Route, RoutesMapper

from netinv_core.http.methods import ITEM_METHODS, METHODS, allowed_methods

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

DEPTH = 3  # segments: /api/dcim/sites
_LITERAL = re.compile(r"[\w.-]+", re.ASCII)
Segments = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Item:
    """One object's place; ``key`` is ``None`` when the path cannot be an id."""

    endpoint: Endpoint
    key: Any

    def allow(self) -> str:
        """The value of the Allow header."""
        return allowed_methods(ITEM_METHODS, self.endpoint.resource.writes)


@dataclasses.dataclass(frozen=True)
class Collection:
    """A resource's place."""

    endpoint: Endpoint

    def allow(self) -> str:
        """The value of the Allow header."""
        return allowed_methods(METHODS, self.endpoint.resource.writes)

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


class PrefixRoutesMapper(RoutesMapper):  # type: ignore[misc]
    """Routes mapper that looks up routes by the literal segments at the beginning of the path, with the semantics of
    :class:`pyramid.urldispatch.RoutesMapper`: the first route that was added and matches.

    Pyramid's own matches one regular expression after the other: 250 for a path of one of the last applications.
    """

    def __init__(self) -> None:
        super().__init__()
        self._by_prefix: dict[Segments, RoutesMapper] = {}

    def connect(self, *arguments: Any, **options: Any) -> Route:
        """Adds a route; the arguments are those of :meth:`pyramid.urldispatch.RoutesMapper.connect`."""
        self._by_prefix = {}
        return super().connect(*arguments, **options)

    def __call__(self, request: Request) -> dict[str, Any]:
        """The matched route and the values of its placeholders, both ``None`` without one.

        :raises URLDecodeError: for a path that is not UTF-8
        """
        try:
            segments = tuple(request.path_info.split("/", DEPTH + 1)[1 : DEPTH + 1])
        except (KeyError, UnicodeDecodeError):
            segments = ()
        by_prefix = self._by_prefix or self._group_mappers()
        while segments not in by_prefix:
            segments = segments[:-1]
        matched: dict[str, Any] = by_prefix[segments](request)
        return matched

    def _group_mappers(self) -> dict[Segments, RoutesMapper]:
        """Mappers of the routes that may match the paths with a prefix, by prefix. The empty one has those that begin
        with a placeholder.
        """
        prefixes = [(_literal_prefix(route.pattern), route) for route in self.routelist]
        by_prefix: dict[Segments, RoutesMapper] = {}
        for key in {(), *(prefix for prefix, _ in prefixes)}:
            mapper = by_prefix[key] = RoutesMapper()
            mapper.routelist = [route for prefix, route in prefixes if key[: len(prefix)] == prefix]
        self._by_prefix = by_prefix
        return by_prefix


def _literal_prefix(pattern: str) -> Segments:
    """The first segments of a pattern as they are in each path that it matches."""
    segments: list[str] = []
    for segment in pattern.removeprefix("/").split("/")[:DEPTH]:
        if not _LITERAL.fullmatch(segment):
            break
        segments.append(segment)
    return tuple(segments)


def includeme(config: Configurator) -> None:
    """Registers the mapper. Routes that were added before are not in it."""
    config.registry.registerUtility(PrefixRoutesMapper(), IRoutesMapper)
