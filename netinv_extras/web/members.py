"""Panels of fields that are read on request: the reader and the template, for several features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netinv_core.sql.plans import plan_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

FACT_GROUPS = "netinv_extras:web/templates/fact_groups.jinja2"


def member(uow: UnitOfWork, endpoint: Endpoint, name: str, key: Any) -> Any:
    """A field of an object that is read on request only."""
    plan = plan_of(endpoint, "full", frozenset(endpoint.fields) - {name})
    return next((representation[name] for _, representation in plan.fetch(uow, [key])), {})
