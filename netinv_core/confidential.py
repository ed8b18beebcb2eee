"""Check of resources: no confidential column or field is displayed, nested, sorted or searched by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netinv_core.models.columns import column_info

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


def refuse_confidential(endpoint: Endpoint) -> None:
    """Rejects a resource that displays, nests, sorts or searches by a confidential column or field.

    :raises ValueError: naming the path
    """
    resource = endpoint.resource
    orders = (*resource.order, *(path for columns in resource.orderings.values() for path in columns))
    names = (resource.name_attribute, endpoint.natural_sort)
    for path in filter(None, (*resource.display[1:], *resource.brief, *orders, *resource.search, *names)):
        if _is_confidential(endpoint, path.lstrip("-").rstrip("?").partition(":")[0].split(".")):
            raise ValueError(
                f"{endpoint.label}: {path!r} is confidential: it cannot be displayed, nested, sorted or searched by"
            )


def _is_confidential(endpoint: Endpoint, steps: Sequence[str]) -> bool:
    if len(steps) == 1:
        return steps[0] in endpoint.confidential
    column = endpoint.table.c.get(f"{steps[0]}_id")
    target = endpoint.registry.target(column_info(column).foreign_key) if column is not None else None
    return steps[0] in endpoint.confidential or (target is not None and _is_confidential(target, steps[1:]))
