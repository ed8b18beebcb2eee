"""Forms of racks: those of their types, when a rack gets a type and when the type changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import Change, Draft, Invalid, UnitOfWork, listing, save
from netinv_dcim.racks import Rack
from netinv_rack_types.rack_types import FORM, LABEL, NAME, RackType, racks_of, types_of_racks


def take_form_of_type(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Gives racks the form of a type that they get, and rejects another form of a rack that has a type; two
    statements. An import brings both.
    """
    if uow.importing:
        return
    stored = _types_of(uow, [draft.id for draft in drafts if not draft.new])
    chosen = {draft: next(iter(draft.many.get(NAME, [stored.get(draft.id)])), None) for draft in drafts}
    types = listing.rows_of(uow, RackType, chosen.values(), locked=True)
    for draft, key in chosen.items():
        if key is None:
            continue
        for there, here in FORM.items():
            value = getattr(types[key], there)
            if stored.get(draft.id) == key and draft[here] not in (value, draft.before[here]):
                draft.reject(here, f"The rack type has {value!r}.")
            else:
                draft[here] = value


def _types_of(uow: UnitOfWork, racks: Sequence[Any]) -> dict[Any, Any]:
    """The stored types of racks by id."""
    pairs = types_of_racks.c
    found = uow.execute(sa.select(pairs.owner_id, pairs.target_id).where(pairs.owner_id.in_(racks))) if racks else None
    return {} if found is None else dict(found.tuples().all())


def follow_types(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Gives the racks of changed types their form: a constant number of statements for any number of racks.

    :raises Invalid: when a rack cannot have it
    """
    changed = [change for change in changes if change.endpoint.label == LABEL and _form_changed(change)]
    if not changed or uow.importing:
        return
    racks = racks_of(uow, [change.key for change in changed])
    types = listing.rows_of(uow, RackType, racks.values())
    bodies = [
        {"id": str(rack), **{here: getattr(types[key], there) for there, here in FORM.items()}}
        for rack, key in racks.items()
    ]
    if not bodies:
        return
    try:
        save.update(uow.as_system(), uow.registry.of_model(Rack), bodies, partial=True)
    except Invalid as error:
        errors = error.body if isinstance(error.body, list) else [error.body]
        names = {here: there for there, here in FORM.items()}
        raise Invalid(
            {names.get(name, name): messages for entry in errors for name, messages in entry.items()}
        ) from error


def _form_changed(change: Change) -> bool:
    before, after = change.before, change.after
    return before is not None and after is not None and any(before.get(name) != after.get(name) for name in FORM)
