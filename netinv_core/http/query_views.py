"""``POST <list>query/``: a page of a list whose parameters are in the body, where a URL would be too long."""

from __future__ import annotations

from typing import Any

from pyramid.request import Request

from netinv_core.errors import Invalid, not_an_object
from netinv_core.http import views
from netinv_core.http.actions import OWN_RESOURCE, documented
from netinv_core.http.serialization import body_of

OF_THE_URL = frozenset({"api_version", "format"})
IN_THE_BODY = "The parameters of a query are members of its body."
IN_THE_URL = "This is a parameter of the URL."
NO_VALUE = "A value is a text, a number, true, false or null, or a list of them."
EMPTY = "This list may not be empty: without values a filter selects everything."
_WORDS = {None: "null", True: "true", False: "false"}
_VALUE = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}], "nullable": True}
_BODY = {
    "type": "object",
    "description": "The query parameters of the list, each with a value or a list of values.",
    "additionalProperties": {"anyOf": [_VALUE, {"type": "array", "items": _VALUE}]},
}


@documented(OWN_RESOURCE, form="query", request_body=_BODY, status=200)
def query_list(request: Request) -> dict[str, Any]:
    """Lists objects by parameters in the body."""
    uow, endpoint = request.uow, request.context.endpoint
    if misplaced := uow.query.keys() - OF_THE_URL:
        raise Invalid({name: [IN_THE_BODY] for name in sorted(misplaced)})
    body = body_of(request)
    if not isinstance(body, dict):
        raise Invalid(not_an_object(body))
    own = views.own_parameters(endpoint)
    errors: dict[str, list[str]] = {}
    for name, value in body.items():
        try:
            texts = _texts(value) if name not in own else _own_texts(name, value)
        except ValueError as error:
            errors[name] = [str(error)]
        else:
            uow.query |= {name: texts} if texts else {}
    if errors:
        raise Invalid(errors)
    return views.list_page(request, endpoint, views.parameters_of(uow, endpoint))


def _texts(value: Any) -> list[str]:
    """The values of a filter as they are in a URL.

    :raises ValueError: for an object, a list of lists, or an empty list
    """
    if value == []:
        raise ValueError(EMPTY)
    return [_text(item) for item in (value if isinstance(value, list) else [value])]


def _own_texts(name: str, value: Any) -> list[str]:
    """The values of a parameter that is no filter; null leaves it out.

    :raises ValueError: for another value, or a parameter of the URL
    """
    if name in OF_THE_URL:
        raise ValueError(IN_THE_URL)
    values = [item for item in (value if isinstance(value, list) else [value]) if item is not None]
    return [_text(int(item) if isinstance(item, bool) else item) for item in values]


def _text(value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError(NO_VALUE)
    return _WORDS[value] if value is None or isinstance(value, bool) else str(value)


def includeme(config: Any) -> None:
    """Adds ``query/`` to the lists of every application."""
    for app in config.registry.netinv.apps:
        config.add_netinv_action(
            f"{app}/[^/]+", "query", on_list=True, permission="view", read_only=True, post=query_list
        )
