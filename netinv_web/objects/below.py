"""Panel with the objects of the same resource that are below an object: the members of a LAG, the parts of a part."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.labels import label_of_name
from netinv_core.models.columns import column_info
from netinv_core.sql.plans import plan_of
from netinv_core.write.slugs import natural_key
from netinv_web.extensions import Panel
from netinv_web.lists.columns import presentation_of
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_web:templates/below.jinja2"
MAX_LISTED = 100  # objects of the panel


@dataclasses.dataclass(frozen=True)
class BelowGroup:
    """The objects that refer to one by the same field: names and paths. ``more`` is the path of a list of all."""

    title: str
    objects: Sequence[tuple[str, str]]
    more: str = ""


def references_of(endpoint: Endpoint) -> list[str]:
    """The columns of a resource that its presentation arranges objects by."""
    return [f"{name}_id" for name in presentation_of(endpoint).nested_below]


def panel_of(endpoint: Endpoint) -> Panel | None:
    """The panel of a resource whose objects are below each other."""
    if not references_of(endpoint):
        return None
    return Panel("below", "Below it", content, side="main", lazy=True, template=TEMPLATE, position=60)


def content(request: Request, endpoint: Endpoint, item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The objects that refer to one, by the referring field; two statements, one where there are none."""
    uow, table, key = request.uow, endpoint.table, endpoint.parse_key(str(item["id"]))
    columns = [table.c[name] for name in references_of(endpoint)]
    refers = sa.or_(*[column == key for column in columns])
    limits = permissions.visible(uow, endpoint, table)
    statement = sa.select(table.c.id, *columns).where(refers, *limits).order_by(table.c.id).limit(MAX_LISTED + 1)
    rows = uow.execute(statement).tuples().all()
    if not rows:
        return None
    nested = plan_of(endpoint, "nested").fetch(uow, [row[0] for row in rows])
    named = {found: str(shown["display"]) for found, shown in nested}
    groups = []
    for place, column in enumerate(columns, 1):
        keys = [row[0] for row in rows if row[place] == key and row[0] in named]
        keys.sort(key=lambda found: natural_key(named[found]))
        link = column_info(column).foreign_key
        title = label_of_name(link.related_name if link is not None and link.related_name else column.key)
        more = f"{page_path(endpoint)}?{column.key}={key}" if len(rows) > MAX_LISTED else ""
        if keys:
            shown = [(named[found], object_path(endpoint, found)) for found in keys[:MAX_LISTED]]
            groups.append(BelowGroup(title, shown, more))
    return {"groups": groups}
