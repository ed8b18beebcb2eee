"""Objects that are created along with new ones, such as the components of devices: how many there will be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_core.write import save
from netinv_core.write.draft import Draft

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


def count_created_along(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Mapping[str, object]]) -> Counter[str]:
    """The numbers of objects that would be created along with new ones, by label. Nothing is written."""
    created: Counter[str] = Counter()
    counters = endpoint.resource.counters_of_created
    if not counters or not bodies:
        return created
    drafts = [Draft(endpoint, body) for body in bodies]
    for draft in drafts:
        draft.parse(partial=True)
    save.resolve(uow, drafts)
    for counter in counters:
        created.update(counter(uow, drafts))
    return created
