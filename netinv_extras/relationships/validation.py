"""Validation of the field ``relationships`` of a body: its shape, the objects that it names, required relationships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import colander

from netinv_core.endpoint import Endpoint
from netinv_core.resource import Rule
from netinv_core.uow import UnitOfWork
from netinv_core.write import list_differences, references
from netinv_core.write.draft import Draft
from netinv_extras.relationships.field import (
    READ_ONLY_MEMBERS,
    Side,
    SideObjects,
    Sides,
    sides_of,
    too_many,
    unknown_relationship,
)
from netinv_extras.relationships.models import NAME


def rule(endpoint: Endpoint) -> Rule:
    """Returns the rule that validates the ``relationships`` field of an endpoint's objects.

    Relationships and sides must exist for the content type, their objects must exist, required ones must be set.
    """

    def relationships_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects unknown relationships and objects, and objects that already have another peer."""
        sides = sides_of(uow, endpoint.label)
        sending = [draft for draft in drafts if NAME in draft.extra]
        if sending:
            fields_by_side = {
                side: SideObjects(name=NAME, table=None, to=side.other_type, registry=uow.registry, side=side)
                for side in sides
            }
            for draft in sending:
                sent, draft.extra[NAME] = draft.extra[NAME], {}
                _parse(endpoint, fields_by_side, draft, sent)
            references.resolve(uow, sending)
            list_differences.apply(uow, sending)
        required = [] if uow.is_system or uow.importing else [side for side in sides if side.required]
        for draft in drafts if required else ():
            _check_required(draft, required)

    return relationships_are_valid


def _parse(
    endpoint: Endpoint, fields_by_side: Mapping[Side, SideObjects], draft: Draft, sent: Mapping[str, Any]
) -> None:
    """Validates the shape of the sent value and queues its objects for the batch resolution of references."""
    for slug, value in sent.items():
        sides = {side.name: side for side in fields_by_side if side.slug == slug}
        if not sides:
            draft.reject(NAME, unknown_relationship(slug, endpoint))
        elif not isinstance(value, dict):
            names = " or ".join(map(repr, sorted(sides)))
            draft.reject(NAME, f'["{slug}"] must be an object with {names}, not a {type(value).__name__}')
        else:
            for name in value.keys() - READ_ONLY_MEMBERS:
                if name not in sides:
                    title = next(iter(sides.values())).title
                    draft.reject(NAME, f'"{name}" is not a valid side for "{title}" on {endpoint.model_name}')
                else:
                    _parse_side(draft, fields_by_side[sides[name]], value[name])


def _parse_side(draft: Draft, field: SideObjects, value: Any) -> None:
    """Adds the objects sent for a side, or the change of its list, to the references; rejects malformed ones."""
    side = field.side
    if not isinstance(value, dict) or "objects" not in value:
        draft.reject(NAME, f'"objects" must be specified under ["{side.slug}"]["{side.name}"] when present')
        return
    objects, position = value["objects"], f'["{side.slug}"]["{side.name}"]["objects"]'
    try:
        difference = list_differences.parse(draft, objects)
    except colander.Invalid as error:
        draft.reject(NAME, f"{position}: {error.msg}")
        return
    if difference is not None:
        draft.add_difference(field, difference)
    elif not isinstance(objects, list):
        draft.reject(NAME, f"{position} must be a list, not a {type(objects).__name__}")
    elif len(objects) > 1 and not side.many:
        draft.reject(NAME, too_many(side))
    else:
        draft.add_references(field, objects)


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
