"""Order of lists by values that no SQL expression gives, such as utilisation.

The values of all objects that match are loaded, at most :data:`MAX_RANKED`, and sorted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.errors import Invalid
from netinv_core.read import ordering

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_RANKED = 20_000


def is_ranked(endpoint: Endpoint, name: str) -> bool:
    """True for a field by whose values a list is ordered here."""
    return isinstance(endpoint.fields.get(name.removeprefix("-")), fields.Utilization)


def rank(uow: UnitOfWork, endpoint: Endpoint, name: str, keys: Sequence[Any]) -> list[Any]:
    """The ids in the order of a field, those without a value last; equal ones stay in their order.

    :raises Invalid: for more than :data:`MAX_RANKED`
    """
    if len(keys) > MAX_RANKED:
        text = f"At most {MAX_RANKED:,} objects are sorted by '{name.removeprefix('-')}'. Narrow the list by filters."
        raise Invalid.field(ordering.PARAMETER, text)
    field = endpoint.fields[name.removeprefix("-")]
    assert isinstance(field, fields.Utilization)
    ranks, sign = field.ranks(uow, list(keys)), -1 if name.startswith("-") else 1
    return sorted(keys, key=lambda key: (key not in ranks, sign * ranks.get(key, 0.0)))
