"""Controls of the form of validation rules: filters as text, names of fields in a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_core.labels import label_of
from netinv_extras.validation_rules.models import CONDITIONS, LABEL
from netinv_extras.web import filter_cell, filter_control
from netinv_extras.web.filter_actions import StoredFilter
from netinv_web.extensions import Action
from netinv_web.forms.controls import Control

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

APPLIES_HELP = "As on lists: site:lisbon status:!planned name~core, or JSON. Blank for every object."
REQUIRES_HELP = (
    'As on lists, or JSON: {"name__re": "^[a-z]{3}-"}, {"asset_tag__isnull": false}, {"cf_owner__n": ""}. Fields '
    'of related objects too: {"site__region__slug": "emea"}.'
)
UNIQUE_HELP = "Names of fields as the API has them, separated by commas: serial, or site, name."

STORED_FILTERS = [
    StoredFilter(
        LABEL,
        "applies_to",
        "_rule_applies",
        "Edit what it applies to in the list",
        "Update what the validation rule applies to",
        "Save as validation rule",
        "adjustments-horizontal",
    ),
    StoredFilter(
        LABEL,
        "requires",
        "_rule_requires",
        "Edit what it requires in the list",
        "Update what the validation rule requires",
        applies=lambda rule: not rule["unique_together"],
    ),
]


def _applies_to(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    return filter_control.control(field, "Applies to", APPLIES_HELP)


def _requires(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    return filter_control.control(field, "Requires", REQUIRES_HELP)


def _unique_together(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    return Control(field.name, label_of(field), "list", help=UNIQUE_HELP, field=field)


CONTROLS = {
    (LABEL, "applies_to"): _applies_to,
    (LABEL, "requires"): _requires,
    (LABEL, "unique_together"): _unique_together,
}


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> Sequence[Action]:
    """Editing the filters of a rule in the list of its content type, and saving those of a list as a rule."""
    return [action for stored in STORED_FILTERS for action in stored.actions_of(endpoint)]


@hookimpl
def netinv_web_cells() -> Mapping[Any, Any]:
    """The filters of a rule in words."""
    return {(LABEL, name): filter_cell.cell for name in CONDITIONS}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """The controls of the filters and fields of a rule."""
    return CONTROLS
