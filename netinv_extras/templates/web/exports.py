"""Export templates in the menus of lists and objects: those of the content type that the user may view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import table_of
from netinv_extras.content_types import has_pages
from netinv_extras.templates.export import PARAMETER
from netinv_extras.templates.export_templates import ExportTemplate
from netinv_web.extensions import Export
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

LABEL = "extras.exporttemplate"
_table = table_of(ExportTemplate)


@hookimpl
def netinv_web_exports(request: Request, endpoint: Endpoint) -> list[Export]:
    """The entries of a list's export menu."""
    return [Export(name, {PARAMETER: name}) for name in template_names(request.uow, endpoint)]


def template_names(uow: UnitOfWork, endpoint: Endpoint) -> list[str]:
    """The names of the templates, none for users who may view no templates. They come from the configuration's cache,
    unless constraints limit which of them the user may view.
    """
    templates, label = uow.registry.get(LABEL), endpoint.label
    if templates is None or not (has_pages(endpoint) and may(uow, templates, "view")):
        return []
    limits = permissions.visible(uow, templates, _table)
    if limits:
        return _names(uow, label, limits)
    names: list[str] = uow.cached_config(("web exports", label), lambda uow: _names(uow, label))
    return names


def _names(uow: UnitOfWork, label: str, limits: Sequence[Any] = ()) -> list[str]:
    statement = sa.select(_table.c.name).where(_table.c.content_type == label, *limits).order_by(_table.c.name)
    return list(dict.fromkeys(uow.execute(statement).scalars()))
