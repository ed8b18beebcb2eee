"""Controls of the form of review rules: constraints as rows, as in permissions, and the names of fields in a line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_core.labels import label_of
from netinv_extras.change_requests.models import RULE_LABEL
from netinv_web.account.permission_form import constraints_control
from netinv_web.forms.controls import Control

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

CONSTRAINTS_HELP = (
    "The objects that the rule is about, before a change or after it. All rows must hold. A field of a related object "
    "is written with two underscores: site__name. Several values are separated by commas. Without rows every object "
    "is meant."
)
FIELDS_HELP = "The names of fields as the API has them, separated by commas: only their changes need a review."


def _constraints(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    return dataclasses.replace(constraints_control(uow, endpoint, field), help=CONSTRAINTS_HELP)


def _field_names(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    return Control(field.name, label_of(field), "list", help=FIELDS_HELP, field=field)


CONTROLS = {(RULE_LABEL, "constraints"): _constraints, (RULE_LABEL, "field_names"): _field_names}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """The controls of review rules."""
    return CONTROLS
