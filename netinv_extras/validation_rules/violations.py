"""``validation-rules/{id}/violations/``: the objects that break a rule, whether it is enabled or not."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.errors import Invalid, NotFound
from netinv_core.http import views
from netinv_core.http.actions import documented
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.types import Endpoint, UnitOfWork
from netinv_extras import object_pages
from netinv_extras.validation_rules import judging
from netinv_extras.validation_rules.models import NOT_INSTALLED, ValidationRule

OBJECT = {"type": "object", "description": "An object of the rule's content type."}


def broken_by(uow: UnitOfWork, key: Any) -> tuple[Endpoint, Any]:
    """The endpoint of a rule's objects, and the condition that they break it; one statement.

    :raises NotFound: for a rule that does not exist
    :raises Invalid: for one that its content type does not know any more
    """
    table = table_of(ValidationRule)
    row = uow.execute(sa.select(table).where(table.c.id == key)).mappings().first()
    if row is None:
        raise NotFound()
    endpoint = uow.registry.get(row["content_type"])
    if endpoint is None:
        raise Invalid.field("content_type", NOT_INSTALLED.format(row["content_type"]))
    return endpoint, judging.rule_of(uow, endpoint, row).broken


@documented(OBJECT, form="page", query=object_pages.QUERY)
def violations(request: Request) -> dict[str, Any]:
    """Lists the objects that break a rule and that the user may view, with the query parameters of their list."""
    uow, key = request.uow, views.key_of(request)
    listing.detail(uow, request.context.endpoint, key, shape="nested")
    endpoint, condition = broken_by(uow, key)
    return object_pages.page(request, endpoint, [condition])


def includeme(config: Any) -> None:
    """Adds ``validation-rules/{id}/violations/``."""
    config.add_netinv_action("extras/validation-rules", "violations", get=violations, permission="view")
