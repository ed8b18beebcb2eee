"""The ``custom_fields`` member of organizational resources: the values of the fields that users have defined."""

from __future__ import annotations

import dataclasses
from typing import Any

import colander

from netinv_core import fields as kinds
from netinv_core.read.plan import Place, Plan, Reader
from netinv_core.resource import Spec
from netinv_core.write.draft import Draft


@dataclasses.dataclass(eq=False, kw_only=True)
class CustomFields(kinds.Field):
    """An object of values by the field's name; names that no one has defined are ignored, as the API has it."""

    def reader(self, plan: Plan, place: Place) -> Reader:
        index = plan.column(place, "custom_field_data")
        return lambda row, page: row[index] or {}

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        if not isinstance(value, dict):
            raise colander.Invalid(None, "An object of custom field values is required.")


field = Spec("custom_fields", lambda registry, endpoint: CustomFields(name="custom_fields", openapi={"type": "object"}))
