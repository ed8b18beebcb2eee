"""Objects that are deleted along with others, such as the components of devices: how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.models.columns import CASCADE

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


def count_deleted_along(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> Counter[str]:
    """The numbers of objects that cascading foreign keys delete with others, by label; what these delete in turn is not
    counted. One statement, none without such keys.
    """
    incoming = [item for item in endpoint.incoming_foreign_keys if item.on_delete == CASCADE]
    if not incoming or not keys:
        return Counter()
    parts = []
    for number, item in enumerate(incoming):
        table = item.child.table.alias()
        refers = in_parameter(table.c[item.attribute])
        count: Any = sa.select(sa.literal_column(str(number)), sa.func.count())
        parts.append(count.select_from(table).where(refers))
    found = uow.execute(sa.union_all(*parts) if len(parts) > 1 else parts[0], {"keys": list(keys)}).tuples()
    deleted: Counter[str] = Counter()
    for number, count in found:
        deleted[incoming[int(number)].child.label] += count
    return deleted
