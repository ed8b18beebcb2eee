"""Formats of a list other than pages of JSON: files (CSV, TSV, YAML), and formats that packages contribute.

Files are selected by the Accept header or the parameter ``format``, those of packages by a query parameter of their
own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.http import list_files, negotiation, versions
from netinv_core.http.request_uow import RequestUnitOfWork, negotiation_of
from netinv_core.http.serialization import query_of
from netinv_core.packages import errors_of
from netinv_core.read.listing import Parameters
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.types import Endpoint, Registry


@dataclasses.dataclass(frozen=True)
class ListFormat:
    """A format of lists, selected by the query parameter ``parameter``; ``help`` describes its value.

    ``render(uow, endpoint, value, parameters)`` gives the response: ``value`` is the last value of the parameter,
    ``parameters`` are the filters of the query. ``applies`` selects the lists that have the format. The response has a
    media type of its own, regardless of the Accept header. A format with ``media_type`` is selected by content
    negotiation instead, and ``value`` is the media type.
    """

    parameter: str
    render: Callable[[RequestUnitOfWork, Endpoint, str, Parameters], Response]
    applies: Callable[[Endpoint], bool] = lambda endpoint: True
    help: str = ""
    media_type: str = ""


FILES = tuple(
    ListFormat("format", render, media_type=media_type)
    for media_type, render in (
        (versions.CSV, list_files.render_table),
        (versions.TSV, list_files.render_table),
        (versions.YAML, list_files.render_yaml),
    )
)


def requested_format(request: Request, endpoint: Endpoint) -> ListFormat | None:
    """The format that the query or the Accept header selects; ``None`` for a page."""
    media_type = negotiation_of(request).media_type
    return _format_by_parameter(request, endpoint) or next(
        (item for item in FILES if item.media_type == media_type), None
    )


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
        return [item.media_type for item in FILES]
    return [media for _, media, _ in negotiation.media_ranges(request.headers.get("Accept", ""))]


@cached_in_registry
def formats_of_packages(registry: Registry) -> dict[str, ListFormat]:
    """The list formats of packages, by query parameter.

    :raises ValueError: when two packages claim one parameter
    :raises PackageError: when a package fails
    """
    formats: dict[str, ListFormat] = {}
    for package, contributed in registry.call_each("netinv_list_formats", registry=registry):
        with errors_of(package):
            parameters = {list_format.parameter: list_format for list_format in contributed}
        if claimed := formats.keys() & parameters.keys():
            raise ValueError(f"two packages claim the query parameter {min(claimed)!r} of lists")
        formats |= parameters
    return formats


@cached_in_registry
def formats_of(endpoint: Endpoint) -> dict[str, ListFormat]:
    """The further formats of an endpoint's list, by query parameter. A filter of the same name takes precedence."""
    every = formats_of_packages(endpoint.registry) if endpoint.resource.of is None else {}
    return {
        name: list_format
        for name, list_format in every.items()
        if name not in endpoint.filters and list_format.applies(endpoint)
    }
