"""Values of filters that are none: refused by each filter of each resource, with the name of the parameter."""

from __future__ import annotations

import pytest

from netinv_core.endpoint import Endpoint
from netinv_core.fields import Choice, Value
from netinv_core.read.filters import Filter
from netinv_core.testing import Service

TEXT = "zz\n"


def _typed_filters(endpoint: Endpoint) -> list[Filter]:
    """The filters whose values are numbers, booleans, dates, choices or ids."""
    found = []
    for item in endpoint.filters.values():
        field = endpoint.fields.get(item.name)
        is_typed = isinstance(field, Choice) or (isinstance(field, Value) and field.python_type not in (str, object))
        if item.kind in ("number", "boolean", "integer") or item.choices is not None or is_typed or item.relation:
            found.append(item)
    return found


@pytest.mark.any_database
def test_every_typed_filter_refuses_what_is_no_value(service: Service) -> None:
    """Alone, negated, and by order."""
    wrong: list[object] = []
    for endpoint in service.registry.endpoints.values():
        for item in _typed_filters(endpoint):
            suffix = next((lookup for lookup in ("lte", "n") if lookup in item.lookups), "")
            names = {item.name, f"{item.name}__{suffix}" if suffix else item.name}
            answer = service.api.send("GET", endpoint.path, query=dict.fromkeys(names, TEXT), status=(200, 400))
            if answer.status_int != 400 or not names.issuperset(answer.json):
                wrong.append((endpoint.label, names, answer.status_int))
    assert wrong == []
