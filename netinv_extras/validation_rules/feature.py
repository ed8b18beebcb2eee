"""Feature ``validation_rules``: what objects must be, written as filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Engine

from netinv_core.app import Feature
from netinv_core.findings import Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.importing.dump import Declaration
from netinv_core.presentation import MenuSection
from netinv_core.read.filters import Filter
from netinv_extras.validation_rules import judging, models, violations

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

feature = Feature(
    "validation_rules",
    "Validation rules",
    [models.validation_rules],
    includes=["netinv_extras.validation_rules.violations", "netinv_extras.validation_rules.trials"],
    web=[
        "netinv_extras.validation_rules.web.tab",
        "netinv_extras.validation_rules.web.parts",
        "netinv_extras.validation_rules.web.controls",
    ],
    menu=[MenuSection("Customization", ["validation-rules"], icon="adjustments-horizontal", position=715)],
)


@hookimpl
def netinv_written_rules(registry: Registry) -> Iterable[Any]:
    """The judgement of written objects."""
    return [judging.judge]


@hookimpl
def netinv_dynamic_filters(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Filter]:
    """The filter ``violates`` of content types that have rules."""
    return violations.filters_of(uow, endpoint)


@hookimpl
def netinv_checks(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """Rules that their content types do not know any more, which refuse nothing."""
    from netinv_extras.validation_rules import checks

    return checks.findings(engine, registry)


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Declaration]:
    """The rules of Nautobot's data validation."""
    from netinv_extras.validation_rules import nautobot

    return nautobot.models(registry) if product == "nautobot" else {}
