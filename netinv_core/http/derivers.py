"""Content negotiation and the check of the method, which Pyramid does around every view of the service.

Every view declares ``permission``, the argument of ``config.add_view``: a permission on the resource of the request's
context (``"view"``, ``"change"`` …), one of those of :mod:`netinv_core.auth.security_policy`, or Pyramid's
``NO_PERMISSION_REQUIRED``. A view without it is refused when the service is configured. The order of
what runs around a view is in :data:`netinv_core.http.pipeline.PIPELINE`.

The options of a view with a permission, all arguments of ``config.add_view``:

=============  =======================================================================================================
``allow``      value of the Allow header, or a function of the request that gives it (default: ``GET, HEAD, OPTIONS``)
``offers``     media types of the answer beside JSON and HTML, or a function of the request that gives them
``read_only``  the view writes nothing, whatever its method: no transaction, read-only tokens may use it, no dry run,
               no Idempotency-Key
``versioned``  ``False`` for files, which have no API versions and whose media type is their own
=============  =======================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyramid.exceptions import ConfigurationError
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.errors import NotAllowed
from netinv_core.http import versions
from netinv_core.http.methods import allow_header
from netinv_core.http.request_uow import Negotiation, negotiation_of
from netinv_core.http.serialization import query_of

READ_ONLY = allow_header(["GET"])
OPTIONS = ("allow", "offers", "read_only", "versioned")  # of views
View = Callable[[Any, Request], Response]


def negotiated_view(view: View, info: Any) -> View:
    """Deriver that negotiates media type and API version, and sets ``Allow``, ``Vary`` and ``API-Version``.

    :raises ConfigurationError: for a view that declares no permission
    """
    permission = info.options.get("permission")
    if info.exception_only or permission == NO_PERMISSION_REQUIRED:
        return view
    if permission is None:
        raise ConfigurationError(
            f"The view {info.original_view!r} declares no permission. Add the argument "
            "permission= to its configuration: "
            "the name of a permission, or pyramid.security.NO_PERMISSION_REQUIRED for a view that anyone may see."
        )
    return _negotiated(view, info.options)


def _negotiated(view: View, options: Mapping[str, Any]) -> View:
    allow, offers = _function(options.get("allow"), READ_ONLY), _function(options.get("offers"), ())
    read_only, versioned = options.get("read_only", False), options.get("versioned", True)

    def wrapper(context: Any, request: Request) -> Response:
        headers = {"Allow": allow(request), **({"Vary": "Accept"} if versioned else {})}
        request.add_response_callback(lambda _, response: response.headers.update(headers))
        media_type, version = versions.JSON, versions.NEWEST
        if versioned:
            headers["API-Version"] = versions.DEFAULT  # of an answer that refuses the version
            media_type, version = versions.negotiate(request.headers.get("Accept"), query_of(request), offers(request))
            headers["API-Version"] = version
        request.netinv_negotiation = Negotiation(media_type, version, headers["Allow"], read_only)
        return view(context, request)

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
