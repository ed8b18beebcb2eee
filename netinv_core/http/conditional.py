"""Conditional requests (RFC 9110, 13): ETags of answers, ``If-None-Match`` of GET, ``If-Match`` of writes.

Tags, and what of them is compared, are those of :mod:`netinv_core.read.entity_tags`. ``?include=etag`` shows the tag of
each object as its member ``_etag``, which in a body is the condition of the item.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.auth.models import Group, user_groups
from netinv_core.errors import Invalid, PreconditionFailed, PreconditionRequired
from netinv_core.http import versions
from netinv_core.http.representations import TAG_MEMBER, downgrade_representation
from netinv_core.http.request_uow import RequestUnitOfWork, negotiation_of
from netinv_core.http.serialization import dumps
from netinv_core.models.base import table_of
from netinv_core.read import entity_tags
from netinv_core.read.entity_tags import TagList
from netinv_core.write.preconditions import REQUIRED, Precondition, check_locked, missing_precondition

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MATCH, NONE_MATCH = "If-Match", "If-None-Match"
MEMBER = TAG_MEMBER
EVERYBODY, GROUP_PREFIX = "*", "group:"
MALFORMED = 'Must be * or entity tags in double quotes, separated by commas, such as "6123abc-77ef0".'
IN_A_LIST = "A list has no condition of its own: give each item its _etag."
View = Callable[[Request], Any]


def tags_in(request: Request, header: str) -> TagList | None:
    """The entity tags in a header; ``None`` without the header.

    :raises Invalid: naming the header, if it is malformed
    """
    text = request.headers.get(header)
    try:
        return None if text is None else entity_tags.parse(text)
    except ValueError:
        raise Invalid.field(header, MALFORMED) from None


def of_object(request: Request, body: Any = None) -> list[Precondition]:
    """The precondition of a write of one object, from the headers or the member ``_etag`` of the body; none without
    them.

    :raises Invalid: for a malformed tag
    :raises PreconditionRequired: if the user has to name one
    """
    match, none_match = tags_in(request, MATCH), tags_in(request, NONE_MATCH)
    if match is None and isinstance(body, Mapping) and MEMBER in body:
        match = _of_item(body)
        if match is None:
            raise Invalid.field(MEMBER, MALFORMED)
    if match is None and is_required(request.uow):
        raise PreconditionRequired(REQUIRED)
    return [] if match is None and none_match is None else [Precondition(match, none_match)]


def of_items(request: Request, bodies: Sequence[Any], *, existing: bool = True) -> list[Precondition | None]:
    """The preconditions of the items of a list, from their members ``_etag``; empty if none has one.

    :param existing: False for items that may be about new objects, which need none
    :raises Invalid: for a malformed tag, or a tag in a header, where it would mean the list
    :raises PreconditionRequired: if the user has to name one for each item
    """
    for header in (MATCH, NONE_MATCH):
        tags = tags_in(request, header)
        if tags is not None and not (header == MATCH and tags.any):
            raise Invalid.field(header, IN_A_LIST)
    items = [_of_item(body) if isinstance(body, Mapping) and MEMBER in body else None for body in bodies]
    sent = [isinstance(body, Mapping) and MEMBER in body for body in bodies]
    if existing and not all(sent) and is_required(request.uow):
        raise missing_precondition([not is_sent for is_sent in sent])
    errors = [{MEMBER: [MALFORMED]} if named and tags is None else {} for named, tags in zip(sent, items, strict=True)]
    if any(errors):
        raise Invalid.batch(errors)
    return [None if tags is None else Precondition(tags) for tags in items] if any(sent) else []


def _of_item(body: Mapping[str, Any]) -> TagList | None:
    """The tags in the member ``_etag``; ``None`` for a malformed one."""
    try:
        return entity_tags.parse(body[MEMBER]) if isinstance(body[MEMBER], str) else None
    except ValueError:
        return None


def is_required(uow: UnitOfWork) -> bool:
    """True if ``netinv.require_if_match`` names the user or one of its groups."""
    names: Sequence[str] = uow.registry.settings["require_if_match"]
    if not names:
        return False
    user_id = uow.identity.user_id
    if EVERYBODY in names or uow.identity.username in names:
        return True
    groups = uow.cached_config(("groups", user_id), lambda uow: _groups_of(uow, user_id))
    return any(f"{GROUP_PREFIX}{name}" in names for name in groups)


def _groups_of(uow: UnitOfWork, user_id: Any) -> list[str]:
    group = table_of(Group)
    statement = sa.select(group.c.name).join(user_groups, user_groups.c.target_id == group.c.id)
    return list(uow.execute(statement.where(user_groups.c.owner_id == user_id)).scalars())


@contextlib.contextmanager
def shows_current(request: Request, *, single: bool) -> Iterator[None]:
    """Context manager that adds the current representations to a failed precondition, as far as the user may view them.

    Those of one object are the member ``current`` and the header ``ETag``; of a list, a list with a ``_etag`` in each.
    """
    try:
        yield
    except PreconditionFailed as error:
        uow, endpoint = request.uow, request.context.endpoint
        visible = permissions.visible_ids(uow, endpoint, list(error.objects))
        newest = [item for key, item in error.objects.items() if key in visible]
        items = as_read(uow, endpoint, newest)
        tags = [_tag(endpoint, *pair) for pair in zip(newest, items, strict=True)]
        if not single:
            error.extra = {"current": [{**item, MEMBER: tag} for item, tag in zip(items, tags, strict=True)]}
        elif items:
            error.extra, error.headers = {"current": items[0]}, {"ETag": tags[0]}
        raise


def with_precondition(view: View) -> View:
    """The view of an action on an object, after the check of its precondition under the object's row lock."""

    @functools.wraps(view)
    def wrapper(request: Request) -> Any:
        match, none_match = tags_in(request, MATCH), tags_in(request, NONE_MATCH)
        if request.context.key is not None and not (match is None and none_match is None):
            with shows_current(request, single=True):
                condition = Precondition(match, none_match)
                check_locked(request.uow, request.context.endpoint, request.context.key, condition)
        return view(request)

    return wrapper


def as_read(uow: RequestUnitOfWork, endpoint: Endpoint, newest: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Full representations of the newest version in the form in which GET answers them."""
    shown = downgrade_representation(uow, endpoint, newest)
    return [{n: value for n, value in item.items() if n not in endpoint.opt_in} for item in shown]


def is_included(uow: RequestUnitOfWork) -> bool:
    """True for a request with ``?include=etag``."""
    return entity_tags.INCLUDED in uow.query.get("include", ())


def _tag(endpoint: Endpoint, newest: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    return entity_tags.tag_of(entity_tags.revision_of(endpoint, newest), dumps(shown))


def tag_written(
    request: Request, newest: list[dict[str, Any]], answered: list[dict[str, Any]], *, single: bool
) -> list[dict[str, Any]]:
    """The answer to a write, with the header ``ETag`` of a single object, and the members ``_etag`` if they are asked
    for.

    The tags are those of GET. Objects with values that only this answer shows have none.
    """
    uow, endpoint = request.uow, request.context.endpoint
    if not single and not is_included(uow):
        return answered
    read = as_read(uow, endpoint, newest)
    tags = [
        None if full["id"] in uow.revealed else _tag(endpoint, full, item)
        for full, item in zip(newest, read, strict=True)
    ]
    if single and tags[0] is not None:
        request.response.headers["ETag"] = tags[0]
    return [{**item, MEMBER: tag} for item, tag in zip(answered, tags, strict=True)] if is_included(uow) else answered


def tag_read(request: Request, revision: str = "", tag: str | None = None) -> None:
    """Gives the JSON answer to a GET its tag, by default that of its bytes; 304 without a body to a client that has it.

    :raises PreconditionFailed: for an object of another revision than the header ``If-Match`` names
    """
    headers = request.headers
    match = tags_in(request, MATCH) if MATCH in headers else None
    none_match = tags_in(request, NONE_MATCH) if NONE_MATCH in headers else None
    if match is not None and revision and not match.names_revision(revision):
        raise PreconditionFailed({})

    def finish(request: Request, response: Response) -> None:
        if response.status_int != 200 or response.content_type != versions.JSON:
            return
        response.headers["ETag"] = tag or entity_tags.tag_of(revision, response.body)
        if none_match is not None and none_match.names(response.headers["ETag"]):
            response.status_int, response.body = 304, b""
            for name in ("Content-Type", "Content-Length"):
                response.headers.pop(name, None)

    if negotiation_of(request).media_type == versions.JSON:
        request.add_response_callback(finish)


def describe(operation: dict[str, Any], method: str, *, listed: bool = False, tagged: bool = True) -> None:
    """Adds the header of the condition, the ETag, and what the condition leads to, to an OpenAPI operation.

    Writes of a list (``listed``) have conditions in their items. The answers of actions are not ``tagged``.
    """
    reads, responses = method == "get", operation["responses"]
    if reads or not listed:
        operation.setdefault("parameters", []).append(dict(_NONE_MATCH_PARAMETER if reads else _MATCH_PARAMETER))
    if reads:
        responses["304"] = {"description": "The client has the current representation."}
    else:
        responses["412"] = {"$ref": f"#/components/responses/{PreconditionFailed.__name__}"}
    if tagged and "200" in responses and (reads or not listed):
        responses["200"]["headers"] = {"ETag": {"$ref": "#/components/headers/ETag"}}


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string"}}


_MATCH_PARAMETER = _header(MATCH, "The request is carried out if the object has one of these ETags, or any (`*`).")
_NONE_MATCH_PARAMETER = _header(NONE_MATCH, "The answer is 304 if the representation has one of these ETags.")
HEADERS = {"ETag": {"description": "The strong validator of the representation.", "schema": {"type": "string"}}}
MEMBER_SCHEMA = {
    "type": "string",
    "description": "The ETag of the object: shown by `include=etag`, a condition in a body.",
}
