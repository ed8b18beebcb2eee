"""The paths of stored files: bytes for those who may view an object that has them, and nobody else.

What is sent was uploaded by users. So it is sent as the kind of image that its bytes are, and browsers are told to take it for
nothing else and to run nothing in it.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import FileIter, Response

from netinv_core.auth import permissions
from netinv_core.auth.security_policy import API_ACCESS
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Denied, NotFound
from netinv_core.fields.images import MEDIA
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.storage import image_headers

ALLOW = "GET, HEAD"
SEALED = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}
Holder = tuple[Endpoint, list[str]]


def send(request: Request) -> Response:
    """A stored file.

    :raises Denied: without permission to view what has such files
    :raises NotFound: when no object that may be viewed has this file
    """
    uow = request.uow
    folder, name = request.matchdict["folder"], request.matchdict["name"]
    _check(uow, request.registry.netinv_holders.get(folder, ()), f"{folder}/{name}")
    try:
        found = uow.files.open(f"{folder}/{name}")
    except FileNotFoundError:
        raise NotFound() from None
    media_type = image_headers.media_type(found.read(image_headers.HEADER_LENGTH)) or "application/octet-stream"
    found.seek(0)
    kept = os.fstat(found.fileno())
    response = Response(app_iter=FileIter(found), content_type=media_type, charset=None, conditional_response=True)
    response.content_length = kept.st_size
    response.last_modified = datetime.datetime.fromtimestamp(kept.st_mtime, datetime.UTC)
    response.etag = name  # a changed picture is another file
    response.headers.update({**SEALED, "Cache-Control": "private, no-cache", "Vary": "Authorization"})
    return response


def _check(uow: RequestUnitOfWork, holders: Iterable[Holder], name: str) -> None:
    refused: Denied | None = None
    for endpoint, attributes in holders:
        table = endpoint.table
        try:
            allowed = permissions.scope(uow, endpoint, "view", table)
        except Denied as error:
            refused = error
            continue
        named = sa.or_(*[table.c[attribute] == name for attribute in attributes])
        if uow.execute(sa.select(table.c.id).where(named, sa.true() if allowed is None else allowed).limit(1)).first() is not None:
            return
    raise refused or NotFound()


def _holders(endpoints: Iterable[Endpoint]) -> dict[str, list[Holder]]:
    """Which columns of which resources name the files of each folder."""
    found: dict[str, dict[Endpoint, list[str]]] = {}
    for endpoint in endpoints:
        for field in endpoint.uploads.values():
            found.setdefault(field.folder, {}).setdefault(endpoint, []).append(field.attribute)
    return {folder: list(holders.items()) for folder, holders in found.items()}


def includeme(config: Any) -> None:
    """Adds the route."""
    config.registry.netinv_holders = _holders(config.registry.netinv.endpoints.values())
    config.add_route("media", f"{MEDIA}{{folder}}/{{name}}")
    config.add_view(send, route_name="media", permission=API_ACCESS, allow=ALLOW, read_only=True, versioned=False)
