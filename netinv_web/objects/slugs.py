"""Addresses with a slug instead of an id, as Nautobot 1.x has them: ``/dcim/sites/lisbon/`` leads to the id's page."""

from __future__ import annotations

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permissions
from netinv_core.http.errors import RelativeRedirect
from netinv_web.paths import object_path

MAX_SLUG_LENGTH = 200


def redirect(request: Request, suffix: str = "") -> Response | None:
    """302 to the page of the object with the slug in the path; ``None`` for a path that is none the user may view."""
    endpoint, slug = request.context.endpoint, request.matchdict["id"]
    table = endpoint.table
    if request.context.key is not None or "slug" not in table.c or len(slug) > MAX_SLUG_LENGTH or "\x00" in slug:
        return None
    limits = permissions.visible(request.uow, endpoint, table)
    keys = request.uow.execute(sa.select(table.c.id).where(table.c.slug == slug, *limits).limit(2)).scalars().all()
    if len(keys) != 1:
        return None
    response: Response = RelativeRedirect(status=302)
    query = f"?{request.query_string}" if request.query_string else ""
    response.headers["Location"] = f"{object_path(endpoint, keys[0])}{suffix}{query}"
    return response
