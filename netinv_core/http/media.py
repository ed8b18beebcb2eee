"""``/media/``: stored files, for accounts that may view an object that names the file.

Files are uploaded by users. So the Content-Type is the kind of image that the bytes are, and headers keep browsers from
guessing another type and from running scripts.
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
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Denied, NotFound
from netinv_core.fields.images import MEDIA, uploads_of
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.http.security_policy import API_ACCESS
from netinv_core.storage import image_headers

ALLOW = "GET, HEAD"
SEALED = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}
Holder = tuple[Endpoint, list[str]]


def send(request: Request) -> Response:
    """A stored file.

    :raises Denied: without permission to view any resource with such files
    :raises NotFound: if no object that may be viewed names the file
    """
    uow = request.uow
    folder, name = request.matchdict["folder"], request.matchdict["name"]
    _check(uow, request.registry.netinv_holders.get(folder, ()), f"{folder}/{name}")
    try:
        file = uow.files.open(f"{folder}/{name}")
    except FileNotFoundError:
        raise NotFound() from None
    media_type = image_headers.media_type(file.read(image_headers.HEADER_LENGTH)) or "application/octet-stream"
    file.seek(0)
    file_status = os.fstat(file.fileno())
    response = Response(app_iter=FileIter(file), content_type=media_type, charset=None, conditional_response=True)
    response.content_length = file_status.st_size
    response.last_modified = datetime.datetime.fromtimestamp(file_status.st_mtime, datetime.UTC)
    response.etag = name  # a changed picture is another file
    response.headers.update({**SEALED, "Cache-Control": "private, no-cache", "Vary": "Authorization"})
    return response


def _check(uow: RequestUnitOfWork, holders: Iterable[Holder], name: str) -> None:
    """Checks that some object that may be viewed names the file: one statement for each resource with such files."""
    denied: Denied | None = None
    for endpoint, attributes in holders:
        table = endpoint.table
        try:
            limits = permissions.limits(uow, endpoint, "view", table)
        except Denied as error:
            denied = error
            continue
        names_file = sa.or_(*[table.c[attribute] == name for attribute in attributes])
        if uow.execute(sa.select(table.c.id).where(names_file, *limits).limit(1)).first() is not None:
            return
    raise denied or NotFound()


def _holders(endpoints: Iterable[Endpoint]) -> dict[str, list[Holder]]:
    """The resources and columns that name the files of each folder."""
    folders: dict[str, dict[Endpoint, list[str]]] = {}
    for endpoint in endpoints:
        for field in uploads_of(endpoint).values():
            folders.setdefault(field.folder, {}).setdefault(endpoint, []).append(field.attribute)
    return {folder: list(holders.items()) for folder, holders in folders.items()}


def includeme(config: Any) -> None:
    """Adds the route."""
    config.registry.netinv_holders = _holders(config.registry.netinv.endpoints.values())
    config.add_route("media", f"{MEDIA}{{folder}}/{{name}}")
    options = {"allow": ALLOW, "read_only": True, "versioned": False}
    config.add_view(send, route_name="media", permission=API_ACCESS, **options)
