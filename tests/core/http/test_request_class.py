"""The class of requests, which is made once for an application."""

from __future__ import annotations

from typing import Any

from pyramid.config import Configurator
from pyramid.request import Request
from pyramid.response import Response
from webtest import TestApp

from netinv_core.http.request_class import keep_request_class


class OtherRequest(Request):
    """A request of another class than that of the application."""


def application() -> tuple[TestApp, list[Any]]:
    """An application with a method and a property of requests, and the requests that its view got."""
    requests: list[Any] = []

    def view(request: Any) -> Response:
        requests.append(request)
        inner = {"blank": Request, "other": OtherRequest}.get(request.matchdict["kind"])
        if inner is not None:
            return request.invoke_subrequest(inner.blank("/shown"))
        return Response(f"{request.shouted('hello')} {request.number} {request.number}")

    numbers = iter(range(100))
    config = Configurator()
    config.add_request_method(lambda request, text: text.upper(), "shouted")
    config.add_request_method(lambda request: next(numbers), "number", reify=True)
    config.add_route("kind", "/{kind}")
    config.add_view(view, route_name="kind")
    app = config.make_wsgi_app()
    keep_request_class(app)
    return TestApp(app), requests


def test_requests_have_one_class_with_added_methods_and_properties() -> None:
    app, requests = application()
    assert app.get("/shown").text == "HELLO 0 0"
    assert app.get("/shown").text == "HELLO 1 1"
    assert type(requests[0]) is type(requests[1])
    assert type(requests[0]).__name__ == "Request" and isinstance(requests[0], Request)


def test_subrequests_of_any_class_have_them_too() -> None:
    app, requests = application()
    assert app.get("/blank").text == "HELLO 0 0"
    assert app.get("/other").text == "HELLO 1 1"
    assert type(requests[0]) is type(requests[1]) is type(requests[2])
    assert isinstance(requests[3], OtherRequest)
