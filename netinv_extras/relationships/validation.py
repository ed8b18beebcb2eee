"""Validation of the field ``relationships`` of a body: its shape, the objects that it names, required relationships."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netinv_extras.relationships import required
from netinv_extras.relationships.field import association_ids, resolve
from netinv_extras.relationships.models import NAME

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


def rule(endpoint: Endpoint) -> Rule:
    """Returns the rule that validates the ``relationships`` field of an endpoint's objects.

    Relationships and sides must exist for the content type, their objects must exist, required ones must be set.
    """

    def relationships_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects unknown relationships and objects, and objects that already have another peer."""
        sending = [draft for draft in drafts if NAME in draft.extra]
        resolve(uow, endpoint, sending)
        required.check_before_write(uow, endpoint.label, drafts, association_ids)

    return relationships_are_valid
