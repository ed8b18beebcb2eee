"""Upsert of a list: creates the objects that are missing, changes those that differ, leaves those that are equal.

Steps: match by key, parse, references, then a second look for the keys of new objects under a lock. Objects that are
equal are done there; the others take the steps of :mod:`netinv_core.write.save`, new and existing ones together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.db.locks import lock_for
from netinv_core.errors import Denied, Invalid, short
from netinv_core.models.columns import column_info
from netinv_core.read import listing
from netinv_core.sql import relations
from netinv_core.sql.plans import plan_of
from netinv_core.write import (
    attribute_references,
    identification,
    offered,
    preconditions,
    read_back,
    save,
    trees,
)
from netinv_core.write.attribute_references import Attributes
from netinv_core.write.differing import differing_drafts
from netinv_core.write.draft import Draft, raise_errors
from netinv_core.write.item_results import CREATED, UNCHANGED, UPDATED, ItemResult

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.preconditions import Preconditions

MATCH = "match"
MAX_NAMES = 8
NO_NAMES = "Name the fields that identify an object, separated by commas."
TOO_MANY = f"At most {MAX_NAMES} fields identify an object."
UNKNOWN = "{} cannot identify an object. Choices are: {}."
LISTED_TWICE = "Another item of the list has the same values."
Body = Mapping[str, Any]


def key_names(endpoint: Endpoint, text: str) -> tuple[str, ...]:
    """The fields that ``text`` names, which are to identify objects.

    :raises Invalid: for none, too many, and fields that have no value to compare or cannot be written
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names or len(names) > MAX_NAMES:
        raise Invalid.field(MATCH, TOO_MANY if names else NO_NAMES)
    choices = [name for name in endpoint.writable if identifies(endpoint, name)]
    unknown = [name for name in names if name not in choices]
    if unknown:
        listed = ", ".join(sorted(choices))
        raise Invalid.field(MATCH, *[UNKNOWN.format(short(name), listed) for name in unknown])
    return names


def identifies(endpoint: Endpoint, name: str) -> bool:
    """True for a field with a column that values are compared by."""
    column = relations.column_of(endpoint, name)
    return column is not None and column_info(endpoint.table.c[column]).kind != "json"


@dataclasses.dataclass(frozen=True)
class UpsertItems:
    """Items of an upsert, and the fields ``names`` that identify their objects.

    ``new_bodies`` are the bodies as they are for new objects. ``preconditions`` are one for each item, or none at all;
    existing objects may need one (``required``).
    """

    names: Sequence[str]
    bodies: Sequence[Body]
    new_bodies: Sequence[Body]
    preconditions: Preconditions = ()
    required: bool = False


@dataclasses.dataclass
class _Upsert:
    """State of one upsert: the drafts of all items in order, and the representations of existing objects by id."""

    uow: UnitOfWork
    endpoint: Endpoint
    names: Sequence[str]
    drafts: list[Draft] = dataclasses.field(default_factory=list)
    before: dict[Any, dict[str, Any]] = dataclasses.field(default_factory=dict)


def upsert(uow: UnitOfWork, endpoint: Endpoint, items: UpsertItems) -> list[ItemResult]:
    """Creates or changes objects; returns what became of each, in order.

    :raises Denied: without permission to add or to change the objects concerned
    :raises Invalid: with one entry for each item
    :raises PreconditionFailed: if an object does not meet its precondition
    :raises PreconditionRequired: if an existing object needs one
    """
    keys = _match(uow, endpoint, items.bodies, items.names)
    state = _load(uow, endpoint, items, keys)
    current = _keys_under_lock(state, keys)
    if current != keys:  # another client has created or renamed objects since
        state = _load(uow, endpoint, items, current)
    _reject_repeated(state)
    changed = differing_drafts(uow, [draft for draft in state.drafts if not draft.new], state.before)
    pending = [draft for draft in state.drafts if draft.new or draft.id in changed]
    return _write(state, pending)


def _match(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """The id of the object that each body is about; ``None`` where there is none that the user may view."""
    shapes = [Draft(endpoint, body) for body in bodies]
    for draft in shapes:
        if not isinstance(draft.body, Mapping):
            draft.parse(partial=True)
    raise_errors(shapes, single=False)
    matches = identification.find(uow, endpoint, bodies, names)
    errors = [found.errors or ({MATCH: [found.message]} if found.ambiguous else {}) for found in matches]
    if any(errors):
        raise Invalid.batch(errors)
    return [found.ids[0] if found.ids else None for found in matches]


def _load(uow: UnitOfWork, endpoint: Endpoint, items: UpsertItems, keys: Sequence[Any]) -> _Upsert:
    """Locks and reads the existing objects; parses all bodies and resolves their references."""
    state = _Upsert(uow, endpoint, items.names)
    existing = [key for key in keys if key is not None]
    _check_permissions(uow, endpoint, keys)
    if trees.is_tree(endpoint):
        trees.lock(uow, endpoint, items.bodies, new=not existing)
    rows = listing.rows_for_change(uow, endpoint, existing, "change") if existing else {}
    read_back.missing_error({None: None, **rows}, keys, single=False)
    for body, new_body, key in zip(items.bodies, items.new_bodies, keys, strict=True):
        is_new = key is None
        draft = Draft(endpoint, new_body) if is_new else Draft(endpoint, {**body, "id": str(key)}, rows[key])
        draft.parse(partial=not is_new)
        state.drafts.append(draft)
    state.before = dict(plan_of(endpoint).fetch(uow, list(rows))) if rows else {}
    conditions = items.preconditions or [None] * len(keys)
    unconditional = [key is not None and condition is None for key, condition in zip(keys, conditions, strict=True)]
    if items.required and any(unconditional):
        raise preconditions.missing_precondition(unconditional)
    preconditions.check(endpoint, keys, conditions, state.before)
    save.resolve(uow, state.drafts)
    return state


def _check_permissions(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> None:
    """Checks that objects that are missing may be added, and those that exist changed.

    :raises Denied: naming the items
    """
    for action, concerned in (("add", [key is None for key in keys]), ("change", [key is not None for key in keys])):
        if not any(concerned):
            continue
        try:
            permissions.check(uow, endpoint, action)
            offered.check(uow, endpoint, action)
        except Denied as error:
            error.object_errors = [error.body if is_concerned else {} for is_concerned in concerned]
            raise


def _values(state: _Upsert, draft: Draft) -> Attributes:
    """The values by which a draft is identified, as they would be stored."""
    columns = [str(relations.column_of(state.endpoint, name)) for name in state.names]
    return Attributes({}, {(column,): draft[column] for column in columns})


def _keys_under_lock(state: _Upsert, keys: Sequence[Any]) -> list[Any]:
    """Locks the keys of objects that are new, or were renamed before they were locked, and looks for them again.

    Keys need not be unique constraints: of two clients with one key, the second waits and finds the object of the
    first. One statement for the locks, which SQLite does not need, and one for the objects; none if all exist.
    """
    columns = [str(relations.column_of(state.endpoint, name)) for name in state.names]
    sought = [
        (place, _values(state, draft))
        for place, draft in enumerate(state.drafts)
        if not draft.errors and draft.changed(*columns)
    ]
    if not sought:
        return list(keys)
    uow, endpoint = state.uow, state.endpoint
    values = [tuple(str(value) for value in attributes.values.values()) for _, attributes in sought]
    lock_for(uow, f"upsert {endpoint.label} {','.join(state.names)}", values)
    matches = attribute_references.find(uow, endpoint, [attributes for _, attributes in sought])
    found = {place: ids[0] if ids else None for (place, _), ids in zip(sought, matches, strict=True)}
    return [found.get(place, key) for place, key in enumerate(keys)]


def _reject_repeated(state: _Upsert) -> None:
    """Rejects items about the same object as an earlier one of the list."""
    seen: set[Any] = set()
    for draft in state.drafts:
        key = tuple(_values(state, draft).values.values()) if draft.new else draft.id
        if key in seen and not draft.errors:
            draft.reject(MATCH, LISTED_TWICE)
        if not draft.errors:
            seen.add(key)


def _write(state: _Upsert, pending: Sequence[Draft]) -> list[ItemResult]:
    """Writes the drafts that differ, and returns the results of all."""
    uow, endpoint, drafts = state.uow, state.endpoint, state.drafts
    after: dict[Any, Mapping[str, Any]] = dict(state.before)
    statuses = dict.fromkeys(after, UNCHANGED)
    if pending:
        save.validate(uow, endpoint, [draft for draft in pending if MATCH not in draft.errors])
        raise_errors(drafts, single=False)
        changed, new = ([draft for draft in pending if draft.new is is_new] for is_new in (False, True))
        added = save.PendingBatch(endpoint, new, "add", whole=drafts)
        updated = save.PendingBatch(endpoint, changed, "change", state.before, whole=drafts)
        save.update_rows(uow, updated)
        save.insert_rows(uow, added)
        batches = [batch for batch in (added, updated) if batch.drafts]
        for batch, written in zip(batches, save.finish(uow, batches), strict=True):
            after.update(zip(batch.keys, written, strict=True))
        recorded = uow.change_set.keys_of(endpoint)
        statuses |= {draft.id: UPDATED for draft in changed if draft.id in recorded}
        statuses |= {draft.id: CREATED for draft in new}
    return [ItemResult(statuses[draft.id], after[draft.id]) for draft in drafts]
