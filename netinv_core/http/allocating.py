"""Parts of actions that create objects from what is free of another one, such as ``available-ips`` of prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Invalid, not_an_object
from netinv_core.http import pagination, query_parameters, views
from netinv_core.http.representations import downgrade_representation, upgrade_bodies
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.serialization import body_of
from netinv_core.write import save, strict_bodies

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

NO_ROOM = "There is not enough room; the header `API-Detail` says so. With `Prefer: handling=strict` the answer is 409."
LIMIT = query_parameters.query("limit", {"type": "integer", "minimum": 0}, "How many free ones to list.")
REPLACED = "The new object has {} here. Leave the member out, or send this value."
MAX_LISTED = 1000  # free objects listed when pages have no maximum of their own


def most_listed(uow: RequestUnitOfWork) -> int:
    """Number of free objects that an answer lists: the parameter ``limit`` (:data:`LIMIT`), or those of a page."""
    settings = uow.registry.settings
    page_size = pagination.window(uow.query, settings).limit or MAX_LISTED
    return min(page_size, settings["max_page_size"] or MAX_LISTED)


def requested(request: Request) -> tuple[list[Any], bool]:
    """The objects that the body asks for, and whether it is a single one instead of a list.

    :raises Invalid: when an item is not a dictionary
    """
    body = body_of(request)
    single = not isinstance(body, list)
    items = [body] if single else body
    errors = [{} if isinstance(item, dict) else not_an_object(item) for item in items]
    if any(errors):
        raise Invalid(errors[0] if single else errors)
    return items, single


def created(
    uow: RequestUnitOfWork,
    request: Request,
    endpoint: Endpoint,
    items: Sequence[dict[str, Any]],
    allotted: Sequence[dict[str, Any]],
    *,
    single: bool,
) -> Any:
    """Creates the objects asked for by ``items``, with the values that are ``allotted`` to each, and returns the answer
    that a POST of them to their own list would give.

    An item's own values for these members are ignored, as in version 1.

    :raises Invalid: naming those that are others than the allotted ones, where bodies are strict
    """
    bodies = [{**item, **values} for item, values in zip(items, allotted, strict=True)]
    upgraded = upgrade_bodies(uow, endpoint, bodies, new=True)
    representations = downgrade_representation(uow, endpoint, save.create(uow, endpoint, upgraded, single=single))
    if strict_bodies.is_strict(uow.registry):
        errors = [
            {
                name: [REPLACED.format(_text(shown.get(name)))]
                for name in sorted(item.keys() & values.keys())
                if not _is_same(item[name], shown.get(name))
            }
            for item, values, shown in zip(items, allotted, representations, strict=True)
        ]
        if any(errors):
            raise Invalid(errors[0]) if single else Invalid.batch(errors)
    request.response.status_int = 201
    return representations[0] if single else representations


def _is_same(given: Any, shown: Any) -> bool:
    """True for a value that is the one shown, an object that is referred to by its id or by members of it included."""
    if not isinstance(shown, dict):
        return bool(given == shown)
    if not isinstance(given, dict) or "id" in given:
        return str(given["id"] if isinstance(given, dict) else given) == str(shown["id"])
    return all(shown.get(name) == value for name, value in given.items())


def _text(shown: Any) -> str:
    """A value of a representation in a sentence."""
    return "nothing" if shown is None else str(shown["display"] if isinstance(shown, dict) else shown)


def exhausted(request: Request, reason: str) -> Response:
    """The answer 204 when there is not enough free space, with the reason in the header ``API-Detail``.

    :raises Conflict: (409) with the reason in the body, for requests with ``Prefer: handling=strict`` (RFC 7240)
    """
    preferences = {item.strip().lower().replace(" ", "") for item in request.headers.get("Prefer", "").split(",")}
    if "handling=strict" in preferences:
        raise Conflict(reason, {"Preference-Applied": "handling=strict"})
    response = views.no_content()
    response.headers["API-Detail"] = reason
    return response
