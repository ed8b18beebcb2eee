"""Content negotiation and the check of the method around every view of the service, and the renderer of its answers.

Every view declares ``permission``, the argument of ``config.add_view``: a permission on the resource of the request's
context (``"view"``, ``"change"`` …), one of those of :mod:`netinv_core.http.security_policy`, or Pyramid's
``NO_PERMISSION_REQUIRED``. A view without it is refused when the service is configured. The order of what runs around a
view is in :mod:`netinv_core.http.pipeline`.

The options of a view with a permission, all arguments of ``config.add_view``:

==============  =======================================================================================================
``allow``       value of the Allow header, or a function of the request that gives it (default: ``GET, HEAD, OPTIONS``)
``offers``      media types of the answer beside JSON and HTML, or a function of the request that gives them
``read_only``   the view writes nothing, whatever its method: no transaction, read-only tokens may use it, no dry run,
                no Idempotency-Key
``personal``    ``True`` for what belongs to the user alone, such as preferences: it is never part of a change request
``runs_aside``  ``True`` for a view that starts a run which a change request takes (:mod:`netinv_core.aside`)
``versioned``   ``False`` for files, which have no API versions and whose media type is their own
==============  =======================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from pyramid.exceptions import ConfigurationError
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.caches import lru_cache
from netinv_core.errors import BadRequest, NotAcceptable, NotAllowed, NotFound, RequestError
from netinv_core.http import browsable, versions
from netinv_core.http.methods import allow_header
from netinv_core.http.request_uow import Negotiation, negotiation_of
from netinv_core.http.serialization import dumps, dumps_within, query_of, single_value
from netinv_core.package_faults import plugin_of_module
from netinv_core.packages import as_exception
from netinv_core.wrong_results import WrongResult, without_json_form

READ_ONLY = allow_header(["GET"])
OPTIONS = ("allow", "offers", "read_only", "personal", "runs_aside", "versioned")  # of views
# Values of the parameter ``format``.
_FORMATS = {
    "": None,
    "json": versions.JSON,
    "csv": versions.CSV,
    "tsv": versions.TSV,
    "xlsx": versions.XLSX,
    "yaml": versions.YAML,
}
_QUALITY = re.compile(r"[01](?:\.[0-9]{0,10})?")
_LISTED = f"Supported versions are {', '.join(versions.SUPPORTED)}"
_VERSION_ASKED = re.compile(r"(?:\A|&)(api_version)=([^&]*)")
MAX_QUERY_READ = 4000  # characters
View = Callable[[Any, Request], Response]
# Makes the page for browsers: gets the request, the data and the status; returns the body and the headers of the
# response.
HtmlRenderer = Callable[[Request, Any, int], tuple[bytes, Mapping[str, str]]]


def negotiated_view(view: View, info: Any) -> View:
    """Deriver that negotiates media type and API version, and sets ``Allow``, ``Vary`` and ``API-Version``.

    :raises ConfigurationError: for a view that declares no permission
    """
    permission = info.options.get("permission")
    if info.exception_only:
        return view
    module = getattr(info.original_view, "__module__", None) or ""
    if plugin_of_module(info.registry.netinv, module) is not None:
        view = _with_checked_headers(view, module)
    if permission == NO_PERMISSION_REQUIRED:
        return view
    if permission is None:
        raise ConfigurationError(
            f"The view {info.original_view!r} declares no permission. Add the argument "
            "permission= to its configuration: "
            "the name of a permission, or pyramid.security.NO_PERMISSION_REQUIRED for a view that anyone may see."
        )
    return _with_negotiation(view, info.options)


def _with_checked_headers(view: View, module: str) -> View:
    """A view whose headers have no line break, which servers refuse after the service has answered."""

    def wrapper(context: Any, request: Request) -> Response:
        response = view(context, request)
        for name, value in response.headerlist:
            if "\n" in value or "\r" in value:
                raise WrongResult(f"the header {name!r} of the answer has a line break", module=module)
        return response

    return wrapper


def _with_negotiation(view: View, options: Mapping[str, Any]) -> View:
    allow, offers = _function(options.get("allow"), READ_ONLY), _function(options.get("offers"), ())
    read_only, versioned = options.get("read_only", False), options.get("versioned", True)

    def wrapper(context: Any, request: Request) -> Response:
        headers = {"Allow": allow(request), **({"Vary": "Accept"} if versioned else {})}
        request.add_response_callback(lambda _, response: response.headers.update(headers))
        media_type, version = versions.JSON, versions.NEWEST
        if versioned:
            headers["API-Version"] = versions.DEFAULT  # of an answer that refuses the version
            media_type, version = negotiate(request.headers.get("Accept"), query_of(request), offers(request))
            headers["API-Version"] = version
        request.netinv_negotiation = Negotiation(media_type, version, headers["Allow"], read_only)
        try:
            return view(context, request)
        except Exception:
            raise
        except BaseException as error:
            raise as_exception(error) from error

    return wrapper


def method_checked_view(view: View, info: Any) -> View:
    """Answers 405 to a method that is not in the Allow header, after the permission was checked."""
    if info.exception_only or info.options.get("permission") == NO_PERMISSION_REQUIRED:
        return view

    def wrapper(context: Any, request: Request) -> Response:
        allow = negotiation_of(request).allow
        if request.method not in allow.split(", "):
            raise NotAllowed(request.method, allow)
        return view(context, request)

    return wrapper


def _function(option: Any, default: Any) -> Callable[[Request], Any]:
    """An option as a function of the request."""
    if callable(option):
        function: Callable[[Request], Any] = option
        return function
    value = default if option is None else option
    return lambda request: value


def negotiate(accept: str | None, query: Mapping[str, list[str]], offers: Sequence[str] = ()) -> tuple[str, str]:
    """The media type to answer with and the API version, from the Accept header and the query.

    ``offers`` are media types of the path beside versions.JSON and versions.HTML.

    :raises NotAcceptable: for a media type or Accept version that is not offered
    :raises NotFound: for an ``api_version`` that is not supported, or an unknown ``format``
    :raises BadRequest: when header and query ask for different versions
    """
    media, header_version = _best_offer(accept, tuple(offers))
    chosen = single_value(query, "format") if "format" in query else ""
    if chosen == "api":
        raise NotAcceptable()
    if chosen not in _FORMATS or _FORMATS[chosen] not in (None, versions.JSON, *offers):
        raise NotFound()
    media, version = _FORMATS[chosen] or media, chosen_version(header_version, query)
    return media, versions.NEWEST if media in versions.TABLES else version


def chosen_version(header_version: str | None, query: Mapping[str, list[str]]) -> str:
    """The API version that header and query agree on; raises as :func:`negotiate` does."""
    if header_version is not None and header_version not in versions.SUPPORTED:
        raise NotAcceptable(f'Invalid version in "Accept" header. {_LISTED}')
    if "api_version" not in query:
        return header_version or versions.DEFAULT
    query_version = single_value(query, "api_version")
    if query_version not in versions.SUPPORTED:
        raise NotFound(f"Invalid version in query parameter. {_LISTED}")
    if header_version is not None and header_version != query_version:
        raise BadRequest('Version mismatch between "Accept" header and query parameter.')
    return query_version


def version_asked(environ: Mapping[str, Any]) -> str:
    """The API version of an error that is answered without a view: the one asked for, or the default one."""
    asked = dict(_VERSION_ASKED.findall(environ.get("QUERY_STRING", "")[:MAX_QUERY_READ]))
    query = {name: [value] for name, value in asked.items()}
    try:
        return chosen_version(_best_offer(environ.get("HTTP_ACCEPT"), ())[1], query)
    except RequestError:
        return versions.DEFAULT


@lru_cache("accepted media types", 200)
def _best_offer(accept: str | None, offers: tuple[str, ...]) -> tuple[str, str | None]:
    """The best media range that is offered, and its ``version`` parameter."""
    if not accept or not accept.strip():
        return versions.JSON, None
    ranges = sorted(media_ranges(accept), key=lambda item: -item[0])
    for quality, media, version in ranges:
        if not quality:  # q=0: not acceptable (RFC 9110, 12.4.2)
            break
        if media in (versions.JSON, "*/*", "application/*"):
            return versions.JSON, version
        if media in (versions.HTML, "text/*"):
            return versions.HTML, version
        if media in offers:
            return media, version
    if any(quality and media == versions.PROBLEM for quality, media, _ in ranges):
        return versions.JSON, None
    raise NotAcceptable()


def media_ranges(accept: str) -> list[tuple[float, str, str | None]]:
    """The media ranges of an Accept header in its order: quality, media type, ``version`` parameter; in one pass over
    the header.

    Malformed ranges are read as far as possible. ``webob.acceptparse`` rejects the whole header for one of them
    (``version = 1.4``, ``q=1.5``), and takes 20 ms for a header of 4,000 characters.
    """
    ranges = []
    for part in accept.split(","):
        media, *parameters = part.split(";")
        pairs = (item.partition("=") for item in parameters)
        values = {name.strip().lower(): _unquote(value.strip()) for name, equals, value in pairs if equals}
        ranges.append((_quality(values.get("q", "")), media.strip().lower(), values.get("version")))
    return ranges


def _quality(text: str) -> float:
    """The value of a ``q`` parameter; 1 if it is malformed."""
    return float(text) if _QUALITY.fullmatch(text) else 1.0


def _unquote(value: str) -> str:
    """A parameter's value without the quotes it may stand in (RFC 9110, 5.6.4)."""
    return value[1:-1].replace("\\", "") if len(value) > 1 and value[0] == value[-1] == '"' else value


# -- the renderer ``orjson``: what a view returns as JSON, or as a page that shows the JSON to browsers


def set_html_renderer(config: Any, function: HtmlRenderer) -> None:
    """Replaces the page that shows answers to browsers (directive ``set_netinv_html_renderer``)."""
    config.registry.netinv_html_renderer = function


def renderer_factory(info: Any) -> Callable[[Any, Mapping[str, Any]], bytes]:
    """The renderer factory (``config.add_renderer``)."""
    return render


def render(value: Any, system: Mapping[str, Any]) -> bytes:
    """The body of ``request.response`` in the negotiated media type, whose headers it sets."""
    request = system["request"]
    try:
        if negotiation_of(request).media_type == versions.HTML:
            function: HtmlRenderer = getattr(request.registry, "netinv_html_renderer", browsable.page)
            body, headers = function(request, value, request.response.status_int)
            request.response.headers.update(headers)
            return body
        request.response.headers["Content-Type"] = versions.JSON
        return dumps_within(request.registry.netinv, value)
    except orjson.JSONEncodeError as error:
        raise _wrong(system, value, error) from error


def _wrong(system: Mapping[str, Any], value: Any, error: TypeError) -> TypeError:
    """The error of an answer that JSON cannot hold: that of the plugin that gave the field or the view, if one did."""
    endpoint = getattr(system["request"].context, "endpoint", None)
    found = without_json_form(endpoint, value, dumps)
    return found or WrongResult(str(error), module=getattr(system["view"], "__module__", None) or "")
