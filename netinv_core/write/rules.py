"""Rules of an endpoint, called for the drafts that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netinv_core.write import read_locks

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


def run(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Calls each rule for the drafts without errors; a rule of some columns for those that change one of these.

    What the rules read is locked first.
    """
    read_locks.lock(uow, endpoint, [draft for draft in drafts if not draft.errors])
    for rule in endpoint.rules:
        columns = getattr(rule, "changing", ())
        concerned = [draft for draft in drafts if not draft.errors and (not columns or draft.changed(*columns))]
        if concerned:
            rule(uow, concerned)
