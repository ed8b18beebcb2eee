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
from netinv_extras.content_types import has_pages
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


@hookimpl
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The objects that break a rule, and its trial on one."""
    from netinv_extras.validation_rules.web import tab

    return [tab.TAB, tab.TRIAL] if endpoint.label == models.LABEL else []


@hookimpl
def netinv_web_panels(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The rules that an object breaks."""
    from netinv_extras.validation_rules.web import parts

    return [parts.PANEL] if has_pages(endpoint) else []


@hookimpl
def netinv_web_columns(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The number of rules that each object breaks."""
    from netinv_extras.validation_rules.web import parts

    return [parts.COLUMN] if has_pages(endpoint) else []


@hookimpl
def netinv_web_facets(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """The rules that objects of a list break."""
    from netinv_extras.validation_rules.web import parts

    return [parts.FACET] if has_pages(endpoint) else []


@hookimpl
def netinv_web_widgets(registry: Registry) -> Iterable[Any]:
    """The rules that objects break."""
    from netinv_extras.validation_rules.web import parts

    return [parts.WIDGET]


@hookimpl
def netinv_web_actions(registry: Registry, endpoint: Endpoint) -> Iterable[Any]:
    """Editing the filters of a rule in the list of its content type, and saving those of a list as a rule."""
    from netinv_extras.validation_rules.web import controls

    return [action for stored in controls.STORED_FILTERS for action in stored.actions_of(endpoint)]


@hookimpl
def netinv_web_cells(registry: Registry) -> Mapping[Any, Any]:
    """The filters of a rule in words."""
    from netinv_extras.web import filter_cell

    return {(models.LABEL, name): filter_cell.cell for name in models.CONDITIONS}


@hookimpl
def netinv_web_controls(registry: Registry) -> Mapping[Any, Any]:
    """The controls of the filters and fields of a rule."""
    from netinv_extras.validation_rules.web import controls

    return controls.CONTROLS
