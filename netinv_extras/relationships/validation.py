"""Validation of the field ``relationships`` of a body: its shape, the objects that it names, required relationships."""

from __future__ import annotations

from collections.abc import Sequence

from netinv_core.endpoint import Endpoint
from netinv_core.resource import Rule
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_extras.relationships.field import Sides, resolve, sides_of
from netinv_extras.relationships.models import NAME


def rule(endpoint: Endpoint) -> Rule:
    """Returns the rule that validates the ``relationships`` field of an endpoint's objects.

    Relationships and sides must exist for the content type, their objects must exist, required ones must be set.
    """

    def relationships_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects unknown relationships and objects, and objects that already have another peer."""
        sides = sides_of(uow, endpoint.label)
        sending = [draft for draft in drafts if NAME in draft.extra]
        resolve(uow, endpoint, sending)
        required = [] if uow.is_system or uow.importing else [side for side in sides if side.required]
        for draft in drafts if required else ():
            _check_required(draft, required)

    return relationships_are_valid


def _check_required(draft: Draft, required: Sides) -> None:
    """Rejects a draft that creates an object without a required relationship, or empties one on update."""
    missing: dict[str, list[str]] = {}
    for side in required:
        objects = draft.extra.get(NAME, {}).get(side)
        if objects == [] or (draft.new and not objects):
            message = f'You need to specify ["relationships"]["{side.slug}"]["{side.name}"]["objects"].'
            missing.setdefault(side.slug, []).append(message)
    if missing:
        draft.errors.setdefault(NAME, missing)
