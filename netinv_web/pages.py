"""Pages: routes with views that return the values of a template, added by the directive ``config.add_netinv_page``.

Example, in a module that a package names in ``App(web=…)``::

    def includeme(config):
        config.add_netinv_page("/plugins/example/overview/", overview, "netinv_example:templates/overview.jinja2")

A view returns a dictionary, which its template gets beside the request and ``frame``, the values of the page's frame
(:class:`netinv_web.frame.PageFrame`). Or it returns a response, such as a redirect (:func:`see_other`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from pyramid.renderers import render
from pyramid.request import Request
from pyramid.response import Response
from webob.multidict import MultiDict

from netinv_core.http import bodies, multipart
from netinv_core.http.errors import RelativeRedirect
from netinv_core.http.methods import allow_header
from netinv_core.http.security_policy import AUTHENTICATED
from netinv_core.http.traversal import root_of
from netinv_core.http.views import not_allowed

# Characters of a path with a query that stay as they are: the reserved ones (RFC 3986), and those of encoded ones.
LOCATION_CHARACTERS = "/?#[]@!$&'()*+,;=:%~"
FORM = "netinv_form"  # attribute of a request whose form was read
View = Callable[[Request], Any]
MEDIA_TYPE = "text/html"
# Without anything inline: scripts and styles come from files of this service.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def add_netinv_page(
    config: Any,
    path: str,
    view: View,
    template: str | None = None,
    *,
    permission: str = AUTHENTICATED,
    methods: Sequence[str] = ("GET",),
    read_only: bool = False,
    personal: bool = False,
    runs_aside: bool = False,
    resource: str = "",
    **route_options: Any,
) -> None:
    """Adds a page.

    :param path: pattern of a Pyramid route, such as ``/dcim/elevations/``
    :param template: asset specification of a Jinja2 template; without one the view returns responses
    :param permission: as for actions of the API: the name of a permission on the resource of ``request.context``,
        ``API_ACCESS`` for those who may read anything, ``AUTHENTICATED`` for all who are signed in
    :param methods: GET, POST or both; a POST is one transaction
    :param read_only: POST writes nothing
    :param personal: what is written belongs to the user alone, such as preferences: it is not part of a change request
    :param runs_aside: the page starts a run, which a change request takes (:mod:`netinv_core.aside`)
    :param resource: application and name of the resource of ``request.context``, such as ``dcim/sites``; a path with
        ``{id}`` is that of one object
    :param route_options: ``factory`` and ``traverse`` of the route
    """
    name = f"page {path}"
    if resource:
        app, _, collection = resource.partition("/")
        below = "/{id}" if "{id}" in path else ""
        route_options = {
            "factory": root_of(config.registry.netinv.apps[app]),
            "traverse": f"/{collection}{below}",
            **route_options,
        }
    config.add_route(name, path, **route_options)
    common = {"route_name": name, "permission": permission, "allow": allow_header(list(methods)), "versioned": False}
    common |= {"personal": personal, "runs_aside": runs_aside}
    # One view for all methods: the others are answered 405 by the view derivers, OPTIONS by the decorator.
    config.add_view(view, renderer=template, read_only=read_only, decorator=_finished_page, **common)


def _finished_page(view: Any) -> Any:
    """View decorator that adds the headers of a page, and answers 304 to a browser that has this very page. OPTIONS,
    which pages do not have, is answered 405. Views get HEAD as GET, as many
    take any other method for a submitted form.
    """

    def wrapper(context: Any, request: Request) -> Response:
        if request.method == "OPTIONS":
            return not_allowed(request)
        if request.method != "HEAD":
            return finish(view(context, request), request)
        request.method = "GET"
        try:
            return finish(view(context, request), request)
        finally:
            request.method = "HEAD"  # which has no body

    return wrapper


def finish(response: Response, request: Request) -> Response:
    """Adds the headers of a page: the policy for its contents, and validation of the browser's cache by ETag.

    ``no-store`` would make going back in the browser slow, so pages are ``private, no-cache``.
    """
    if response.content_type != MEDIA_TYPE:
        return response
    response.headers["Content-Security-Policy"] = POLICY
    response.headers.setdefault("Cache-Control", "private, no-cache")
    response.headers["Vary"] = "Cookie"
    if request.method == "GET" and response.status_int == 200 and "ETag" not in response.headers:
        response.etag = hashlib.blake2b(response.body, digest_size=16).hexdigest()
        response.conditional_response = True
    return response


def page(request: Request, template: str, values: dict[str, Any], status: int = 200) -> Response:
    """The response of a template, for a view that needs another status."""
    response = Response(render(template, values, request), status=status, content_type=MEDIA_TYPE, charset="utf-8")
    return finish(response, request)


def fragment(request: Request, template: str, values: dict[str, Any]) -> Response:
    """The response with a part of a page, which a script puts in its place."""
    return page(request, template, values)


def form_of(request: Request) -> Any:
    """The fields of the form that a request posts, as a mapping with ``get`` and ``getall``: texts, and files as
    :class:`netinv_core.storage.files.Upload`. Empty for another media type.

    :raises BadRequest: for a body that is no form, such as one without the boundary of its parts
    :raises UnsupportedMedia: for another charset than UTF-8
    :raises TooLarge: for a form of more than ``netinv.max_request_size``
    """
    attributes = request.__dict__
    if FORM not in attributes:
        attributes[FORM] = MultiDict(_pairs(request))
    return attributes[FORM]


def form_text(request: Request, name: str, default: str = "") -> str:
    """The text of a member of the form; the default without it, and for a file in its place."""
    value = form_of(request).get(name, default)
    return value if isinstance(value, str) else default


def _pairs(request: Request) -> list[tuple[str, Any]]:
    if request.content_type not in multipart.MEDIA and (request.method != "POST" or request.content_type):
        return []
    request.make_body_seekable()  # others read it too
    settings = request.registry.netinv.settings
    content = bodies.read_content(request, settings["max_request_size"], "netinv.max_request_size")
    most = settings["max_bulk_objects"] + multipart.MAX_MEMBERS
    members = multipart.parse(content, request.headers.get("Content-Type", ""), most)
    return [(name, value) for name, values in members.items() for value in values]


def query_text(request: Request, name: str, default: str = "") -> str:
    """The last value of a parameter of the query. Bytes that are not UTF-8 are replaced."""
    values = request.uow.query.get(name)
    return str(values[-1]) if values else default


def see_other(path: str) -> Response:
    """A redirect (303) to a path of this service, after a POST."""
    response = RelativeRedirect(status=303, content_type=MEDIA_TYPE)
    response.headers["Location"] = quote(path, safe=LOCATION_CHARACTERS)
    return response


def local_path(text: str) -> str:
    """The path to return to after a form, ``/`` for anything that is no path of this service.

    ``//host`` and ``/\\host`` are addresses of other hosts for browsers.
    """
    printable = text.isprintable() and not text.startswith(("//", "/\\"))
    return text if text.startswith("/") and printable and "\\" not in text.partition("?")[0] else "/"


def includeme(config: Any) -> None:
    """Adds the directive."""
    config.add_directive("add_netinv_page", add_netinv_page)
