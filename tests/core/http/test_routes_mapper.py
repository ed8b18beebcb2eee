"""The routes mapper: the same routes as Pyramid's, by the literal beginning of the path."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from pyramid.exceptions import URLDecodeError
from pyramid.interfaces import IRoutesMapper
from pyramid.request import Request
from pyramid.urldispatch import RoutesMapper

from netinv_core.http.traversal import PrefixRoutesMapper
from netinv_testing import Service

pytestmark = pytest.mark.any_database
PLACEHOLDER = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\*\w+")
WORDS = ("sites", "available-ips", "4b0b0a8e-9f5c-4d8e-8d3c-3a1a5f4f6f10", "a/b", "12", "ä")


def _mapper(*patterns: str) -> PrefixRoutesMapper:
    mapper = PrefixRoutesMapper()
    for pattern in patterns:
        mapper.connect(pattern, pattern)
    return mapper


def _route(mapper: RoutesMapper, path: str) -> tuple[str | None, Any]:
    info = mapper(Request.blank(quote(path)))
    return info["route"] and info["route"].name, info["match"]


@pytest.mark.night
def test_every_path_leads_to_the_route_that_pyramid_takes(service: Service) -> None:
    """Paths of every route, whole, shorter, longer, and with a doubled slash."""
    mapper = service.app.registry.getUtility(IRoutesMapper)
    assert isinstance(mapper, PrefixRoutesMapper)
    pyramids = RoutesMapper()
    pyramids.routelist = mapper.get_routes()
    taken = set()
    for route in mapper.get_routes():
        for word in WORDS:
            path = "/" + PLACEHOLDER.sub(word, route.pattern).removeprefix("/")
            for sent in (path, path.rstrip("/"), f"{path}{word}/", path.replace("/", "//", 1), path.rsplit("/", 2)[0]):
                assert _route(mapper, sent) == _route(pyramids, sent), sent
                taken.add(_route(mapper, sent)[0])
    assert taken >= {route.name for route in mapper.get_routes() if not route.predicates}


def test_the_route_that_was_added_first_is_taken() -> None:
    """Whichever of them has the longer literal beginning."""
    assert _route(_mapper("/a/{x}", "/a/b"), "/a/b") == ("/a/{x}", {"x": "b"})
    assert _route(_mapper("/a/b", "/a/{x}"), "/a/b") == ("/a/b", {})
    assert _route(_mapper("/{x}/c", "/a/b/{y}"), "/a/c") == ("/{x}/c", {"x": "a"})
    assert _route(_mapper("/a/b/c/d", "/a/b/c/{z}"), "/a/b/c/e") == ("/a/b/c/{z}", {"z": "e"})


@pytest.mark.parametrize("pattern", ["/a/*rest", "/a*rest", "/a{x}", "a/:x", "/{x:a/b}", "/ä/{x}", "/a b/{x}"])
def test_only_whole_segments_without_placeholders_are_compared(pattern: str) -> None:
    """The others are matched by Pyramid, in whatever syntax they are."""
    pyramids = RoutesMapper()
    pyramids.connect(pattern, pattern)
    for path in ("/a", "/a/", "/a/b", "/a/b/c", "/ab", "/ä/b", "/a b/c", "/"):
        assert _route(_mapper(pattern), path) == _route(pyramids, path), path


def test_a_route_may_be_added_and_replaced_at_any_time() -> None:
    """Also after the first request."""
    mapper = _mapper("/a/b")
    assert _route(mapper, "/c/d") == (None, None)
    mapper.connect("second", "/c/d")
    assert _route(mapper, "/c/d") == ("second", {})
    mapper.connect("second", "/e")
    assert _route(mapper, "/c/d") == (None, None)
    assert _route(mapper, "/e") == ("second", {})


def test_a_path_that_is_not_utf8_is_an_error() -> None:
    """Pyramid answers it."""
    with pytest.raises(URLDecodeError):
        _mapper("/a")(Request.blank("/a/%ff"))
