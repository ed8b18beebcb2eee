"""``validation-rules/{id}/violations/``: the objects that break a rule, whether it is enabled or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Invalid, NotFound, error_text
from netinv_core.http import views
from netinv_core.http.actions import documented
from netinv_core.read import listing
from netinv_core.read.filters import Filter
from netinv_core.read.name_lookup import invalid_choice
from netinv_core.sql.lookups import any_of
from netinv_extras import object_pages
from netinv_extras.validation_rules import judging
from netinv_extras.validation_rules.conditions import VIOLATES
from netinv_extras.validation_rules.models import NOT_INSTALLED, ValidationRule

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

HELP = "Objects that break one of these validation rules, by name or id."
OBJECT = {"type": "object", "description": "An object of the rule's content type."}


def row_of(uow: UnitOfWork, key: Any) -> tuple[Endpoint, Mapping[str, Any]]:
    """The endpoint of a rule's objects, and the rule as stored. No statement, the rules being cached.

    :raises NotFound: for a rule that does not exist
    :raises Invalid: for one whose content type is not installed
    """
    for label, rows in judging.rows_of(uow).items():
        for row in rows:
            if row["id"] == key:
                endpoint = uow.registry.get(label)
                if endpoint is None:
                    raise Invalid.field("content_type", NOT_INSTALLED.format(label))
                return endpoint, row
    raise NotFound()


def broken_by(uow: UnitOfWork, key: Any) -> tuple[Endpoint, Any]:
    """The endpoint of a rule's objects, and the condition that they break it. No statement, the rules being cached.

    :raises NotFound: for a rule that does not exist
    :raises Invalid: for one that its content type does not know any more
    """
    endpoint, row = row_of(uow, key)
    return endpoint, judging.rule_of(uow, endpoint, row).broken_of_all


def filters_of(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Filter]:
    """The filter ``violates`` of an endpoint that has rules: objects that break one of these, by their names or ids."""
    rows = judging.rows_of(uow).get(endpoint.label)
    return {VIOLATES: Filter(VIOLATES, _violates, listed=("",), help=HELP)} if rows else {}


def _violates(uow: UnitOfWork, endpoint: Endpoint, table: Any, suffix: str, values: list[str]) -> Any:
    """The condition that objects break one of the rules that values name, of those that the user may view.

    :raises ValueError: for another value, and for a rule that is not valid any more
    """
    rows = judging.rows_of(uow).get(endpoint.label, ())
    seen = permissions.visible_ids(uow, uow.registry.of_model(ValidationRule), [row["id"] for row in rows])
    named = {name: row["id"] for row in rows if row["id"] in seen for name in (row["name"], str(row["id"]))}
    if unknown := [value for value in values if value not in named]:
        raise invalid_choice(VIOLATES, unknown[0])
    try:
        broken = any_of([broken_by(uow, named[value])[1] for value in values])
    except Invalid as error:
        raise ValueError(error_text(error.body)) from None
    found = sa.select(endpoint.table.c.id).where(broken).correlate(None)
    return broken if table is endpoint.table else table.c.id.in_(found)


@documented(OBJECT, form="page", query=object_pages.QUERY, filtered=True)
def violations(request: Request) -> dict[str, Any]:
    """Lists the objects that break a rule and that the user may view, with the query parameters of their list."""
    uow, key = request.uow, views.key_of(request)
    listing.detail(uow, request.context.endpoint, key, shape="nested")
    endpoint, condition = broken_by(uow, key)
    return object_pages.page(request, endpoint, [condition])


def includeme(config: Any) -> None:
    """Adds ``validation-rules/{id}/violations/``."""
    config.add_netinv_action("extras/validation-rules", "violations", get=violations, permission="view")
