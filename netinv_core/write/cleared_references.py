"""References that a deletion set to null (``on_delete=SET_NULL``): the rules of the objects that had them.

The rules judge the state after the deletion, as they judge a PATCH that sets the reference to null, and so do those of
the objects that refer to the changed ones. What they reject, the deletion is refused for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.write import referring_rules, rules
from netinv_core.write.draft import Draft

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

#: By endpoint and id: the columns that were set to null, with their former values.
Cleared = Mapping["Endpoint", Mapping[Any, Mapping[str, Any]]]


def check(uow: UnitOfWork, cleared: Cleared) -> None:
    """Runs the rules of objects whose references were set to null.

    :raises Conflict: naming the objects that would break a rule and that the user may view, with the reasons
    """
    broken = [
        (endpoint, draft.id, " ".join(message for texts in draft.errors.values() for message in texts))
        for endpoint, former in cleared.items()
        for draft in _broken_objects(uow, endpoint, former)
    ]
    if broken:
        raise referring_rules.refusal(uow, broken)


def _broken_objects(uow: UnitOfWork, endpoint: Endpoint, former: Mapping[Any, Mapping[str, Any]]) -> list[Draft]:
    """The objects that break a rule since their references are null, with the errors."""
    table = endpoint.table
    statement = sa.select(table).where(in_parameter(table.c.id)).order_by(table.c.id)
    rows = uow.execute(statement, {"keys": list(former)}).mappings()
    drafts = [Draft(endpoint, {}, {**row, **former[row["id"]]}) for row in rows]
    for draft in drafts:
        draft.values = dict.fromkeys(former[draft.id])
    rules.run(uow, endpoint, drafts)
    referring_rules.check(uow, endpoint, drafts)
    return [draft for draft in drafts if draft.errors]
