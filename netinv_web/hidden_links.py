"""Filter of links in pages: a link to an object that the constraints of the user hide becomes its text.

Names of references are shown to everybody who may view the object that has them, as in the API. Their links would lead
to 404. The filter works on the finished page, so that it holds for every cell, panel and package.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from markupsafe import escape
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.caches import lru_cache
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.http.mount import url_of
from netinv_web.paths import endpoint_at

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@lru_cache("link patterns", 32)
def _links_below(mount: str) -> re.Pattern[str]:
    """The pattern of a link to an object: its path below the mount point, the id and the text."""
    pattern = rf'<a\b[^>]*? ?href="{re.escape(mount)}(/[a-z0-9_/-]+/({_UUID})/)"[^>]*>(.*?)</a>'
    return re.compile(pattern, re.DOTALL)


def unlinked(request: Request, html: str) -> str:
    """The page without links to objects that the user may not view. One statement; none for users whose permissions on
    the resources of the page have no constraints.
    """
    pattern = _links_below(escape(url_of("/")[:-1]))
    keys = {path: key for path, key, _ in pattern.findall(html)}
    if not keys or request.uow.identity.superuser:
        return html
    hidden = _hidden_paths(request.uow, keys)
    return pattern.sub(lambda link: link[3] if link[1] in hidden else link[0], html) if hidden else html


def _hidden_paths(uow: UnitOfWork, keys: dict[str, str]) -> set[str]:
    """The paths, of those given with their ids, that lead to objects outside of the constraints of the user."""
    paths: dict[Endpoint, dict[Any, str]] = {}
    for path, text in keys.items():
        endpoint = endpoint_at(uow.registry, path)
        key = None if endpoint is None else endpoint.parse_key(text)
        if endpoint is not None and key is not None:
            paths.setdefault(endpoint, {})[key] = path
    hidden: set[str] = set()
    queries: list[Any] = []
    parameters: dict[str, Any] = {}
    for number, (endpoint, of_endpoint) in enumerate(paths.items()):
        table = endpoint.table
        try:
            limits = permissions.limits(uow, endpoint, "view", table)
        except Denied:
            hidden.update(of_endpoint.values())
            continue
        if not limits:
            continue
        hidden.update(of_endpoint.values())
        asked = in_parameter(table.c.id, f"keys_{number}")
        queries.append(sa.select(sa.literal_column(str(number)), table.c.id).where(asked, *limits))
        parameters[f"keys_{number}"] = list(of_endpoint)
    if not queries:
        return hidden
    places = list(paths.values())
    visible = uow.execute(sa.union_all(*queries) if len(queries) > 1 else queries[0], parameters)
    return hidden - {places[number][key] for number, key in visible}
