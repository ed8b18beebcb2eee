"""The members that a request must ask for with ``include``: computed fields and relationships.

They hold one entry for each that users have defined for the content type.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import colander

from netinv_core import fields as kinds
from netinv_core.read.plan import Place, Plan, Reader
from netinv_core.registry import Endpoint
from netinv_core.resource import Spec
from netinv_core.write.draft import Draft


@dataclasses.dataclass(eq=False, kw_only=True)
class Defined(kinds.Field):
    """An object with an entry for each definition on the endpoint's content type; there are none."""

    endpoint: Endpoint
    opt_in: bool = True

    def reader(self, plan: Plan, place: Place) -> Reader:
        return lambda row, page: {}

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        named = next(iter(value), None) if isinstance(value, dict) else value
        if named is not None:
            app, model = self.endpoint.app.name, self.endpoint.model.__name__
            raise colander.Invalid(None, f'"{named}" is not a relationship on {app}.{model}')


computed_fields = Spec(
    "computed_fields",
    lambda registry, endpoint: Defined(name="computed_fields", endpoint=endpoint, read_only=True, openapi={"type": "object"}),
)
relationships = Spec(
    "relationships",
    lambda registry, endpoint: Defined(name="relationships", endpoint=endpoint, openapi={"type": "object"}),
)
