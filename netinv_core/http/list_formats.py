"""Formats of a list other than pages of JSON, which packages contribute.

Files such as CSV are selected by the Accept header or the parameter ``format``, other formats by a query parameter of
their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.http import negotiation
from netinv_core.http.request_uow import RequestUnitOfWork, negotiation_of
from netinv_core.http.serialization import query_of
from netinv_core.packages import errors_of
from netinv_core.read.listing import Parameters
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry


@dataclasses.dataclass(frozen=True)
class ListFormat:
    """A format of lists, selected by the query parameter ``parameter``; ``help`` describes its value.

    ``render(uow, endpoint, value, parameters)`` gives the response: ``value`` is the last value of the parameter,
    ``parameters`` are the filters of the query. ``applies`` selects the lists that have the format. The response has a
    media type of its own, regardless of the Accept header. A format with ``media_type`` is selected by content
    negotiation instead, and ``value`` is the media type.

    ``read(request)`` gives the value of a body in one of the media types ``reads``: what JSON would have, or
    :class:`netinv_core.write.table_rows.ParsedRows`.
    """

    parameter: str
    render: Callable[[RequestUnitOfWork, Endpoint, str, Parameters], Response]
    applies: Callable[[Endpoint], bool] = lambda endpoint: True
    help: str = ""
    media_type: str = ""
    read: Callable[[Request], Any] | None = None
    reads: Sequence[str] = ()


def requested_format(request: Request, endpoint: Endpoint) -> ListFormat | None:
    """The format that the query or the Accept header selects; ``None`` for a page."""
    media_type = negotiation_of(request).media_type
    return _format_by_parameter(request, endpoint) or files_of(endpoint.registry).get(media_type)


def _format_by_parameter(request: Request, endpoint: Endpoint) -> ListFormat | None:
    """The format of a package that the query selects."""
    text = request.query_string
    formats = formats_of(endpoint).items()
    return next((item for name, item in formats if name in text and name in query_of(request)), None)


def offers(request: Request) -> Sequence[str]:
    """The media types of a list beside JSON and HTML: those of files; for a format of a package, all of the Accept
    header.
    """
    if _format_by_parameter(request, request.context.endpoint) is None:
        return tuple(files_of(request.registry.netinv))
    return [media for _, media, _ in negotiation.media_ranges(request.headers.get("Accept", ""))]


@cached_in_registry
def formats_of_packages(registry: Registry) -> dict[str, ListFormat]:
    """The list formats of packages that have a query parameter of their own, by its name.

    :raises ValueError: when two packages claim one parameter
    :raises PackageError: when a package fails
    """
    formats: dict[str, ListFormat] = {}
    for contributed in _formats_by_package(registry):
        parameters = {item.parameter: item for item in contributed if not item.media_type}
        if claimed := formats.keys() & parameters.keys():
            raise ValueError(f"two packages claim the query parameter {min(claimed)!r} of lists")
        formats |= parameters
    return formats


@cached_in_registry
def _formats_by_package(registry: Registry) -> list[list[ListFormat]]:
    """The list formats of each package.

    :raises PackageError: when a package fails
    """
    formats: list[list[ListFormat]] = []
    for package, contributed in registry.call_each("netinv_list_formats", registry=registry):
        with errors_of(package):
            formats.append(list(contributed))
            if not all(isinstance(item, ListFormat) for item in formats[-1]):
                raise TypeError("netinv_list_formats returns something else than ListFormat")
    return formats


@cached_in_registry
def files_of(registry: Registry) -> dict[str, ListFormat]:
    """The formats that content negotiation selects, by media type."""
    return {item.media_type: item for formats in _formats_by_package(registry) for item in formats if item.media_type}


@cached_in_registry
def readers_of(registry: Registry) -> dict[str, Callable[[Request], Any]]:
    """The functions that read bodies in the formats of packages, by media type."""
    every = [item for formats in _formats_by_package(registry) for item in formats]
    return {media_type: item.read for item in every if item.read is not None for media_type in item.reads}


@cached_in_registry
def formats_of(endpoint: Endpoint) -> dict[str, ListFormat]:
    """The further formats of an endpoint's list, by query parameter. A filter of the same name takes precedence."""
    every = formats_of_packages(endpoint.registry) if endpoint.resource.of is None else {}
    return {
        name: list_format
        for name, list_format in every.items()
        if name not in endpoint.filters and list_format.applies(endpoint)
    }
