"""One way in: create and update, always a batch; see the flow in DESIGN (schema → references → rules → write → read back)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.identity import configuration_changed
from netinv_core.changelog.change_set import Change, same, with_masked
from netinv_core.changelog.models import CREATE, UPDATE
from netinv_core.changelog.object_data import object_data
from netinv_core.errors import Invalid, NotFound
from netinv_core.read import listing
from netinv_core.read.plan import fetch_together
from netinv_core.write import references, schema, slugs, trees, uniqueness
from netinv_core.write.bulk_update import bulk_update
from netinv_core.write.draft import Draft, raise_errors

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Body = Mapping[str, Any]
Shown = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class PendingBatch:
    """Objects of one model whose rows are written, while what follows from that is not; ``before`` holds their former representations."""

    endpoint: Endpoint
    drafts: list[Draft]
    action: str
    before: Mapping[Any, dict[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def keys(self) -> list[Any]:
        """The ids of the objects."""
        return [draft.id for draft in self.drafts]


def create(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Body], *, single: bool = False, ids: Sequence[Any] | None = None) -> Shown:
    """Creates objects and gives their representations, in order; ``ids`` gives them known ids (an import) instead of new ones.

    :raises Denied: without permission, or for an object outside of its constraints
    :raises Invalid: with the errors of one object (``single``), or one entry for each
    """
    return finish(uow, [insert(uow, endpoint, bodies, single=single, ids=ids)])[0]


def insert(uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Body], *, single: bool = False, ids: Sequence[Any] | None = None) -> PendingBatch:
    """Writes the rows of new objects, and nothing more until they are given to :func:`finish`.

    So objects of several models are made in few statements: those that are written after others may refer to them, which
    needs no looking up, and what follows is done for all at once. Parameters and errors are those of :func:`create`.
    """
    permissions.check(uow, endpoint, "add")
    trees.lock(uow, endpoint, bodies, new=True)
    drafts = [Draft(endpoint, body) for body in bodies]
    for draft, key in zip(drafts, ids or (), strict=ids is not None):
        draft["id"] = key
    if drafts:
        for draft in drafts:
            draft.parse(partial=False)
        _check(uow, endpoint, drafts, single=single)
        _insert(uow, endpoint, drafts)
        uow.new_drafts.setdefault(endpoint.table, {}).update((draft.id, draft) for draft in drafts)
    return PendingBatch(endpoint, drafts, "add")


def update(
    uow: UnitOfWork,
    endpoint: Endpoint,
    bodies: Sequence[Body],
    *,
    partial: bool,
    single: bool = False,
    optional: frozenset[str] = frozenset(),
) -> Shown:
    """Changes objects, each body with its ``id``, and gives their representations, in order.

    ``partial`` sets what was sent and asks for nothing more (PATCH); otherwise what is required must be there (PUT).
    ``optional`` names required fields that a PUT may leave as they are: its API version does not know them.

    :raises NotFound: for a single object that is not there
    :raises Denied: as :func:`create`
    :raises Invalid: as :func:`create`; also for an id that is missing, unknown or given twice
    """
    permissions.check(uow, endpoint, "change")
    keys = keys_of(endpoint, bodies)
    trees.lock(uow, endpoint, bodies, new=False)
    rows = listing.rows_for_change(uow, endpoint, keys, "change") if keys else {}
    missing_error(rows, keys, single=single)
    drafts = [Draft(endpoint, body, rows[key]) for body, key in zip(bodies, keys, strict=True)]
    if not drafts:
        return []
    before = dict(endpoint.plan().fetch(uow, keys))
    for draft in drafts:
        draft.parse(partial=partial, optional=optional)
    _check(uow, endpoint, drafts, single=True)  # the first one's errors stand for the batch
    _update(uow, endpoint, drafts)
    return finish(uow, [PendingBatch(endpoint, drafts, "change", before)])[0]


def keys_of(endpoint: Endpoint, bodies: Sequence[Any]) -> list[Any]:
    """The ids of the items of a bulk request.

    :raises Invalid: with one entry for each item, when an id is missing, malformed or given twice
    """
    found: list[Any] = []
    seen: set[Any] = set()
    errors: list[dict[str, Any]] = []
    for body in bodies:
        key, error = None, {}
        if not isinstance(body, Mapping):
            error = {"non_field_errors": [f"Invalid data. Expected a dictionary, but got {type(body).__name__}."]}
        elif "id" not in body:
            error = {"id": [schema.REQUIRED]}
        else:
            key = endpoint.parse_key(str(body["id"]))
            if key is None:
                error = {"id": ["Must be a valid UUID." if endpoint.key_type is not int else "A valid integer is required."]}
            elif key in seen:
                error = {"id": ["This object is listed more than once."]}
        found.append(key)
        seen.add(key)
        errors.append(error)
    if any(errors):
        raise Invalid.batch(errors)
    return found


def missing_error(rows: Mapping[Any, Any], keys: Sequence[Any], *, single: bool) -> None:
    """Refuses ids that are not there for this identity.

    :raises NotFound: for a single object
    :raises Invalid: with one entry for each item of a bulk request
    """
    if all(key in rows for key in keys):
        return
    if single:
        raise NotFound()
    raise Invalid.batch([{} if key in rows else {"id": [f"Object not found using the provided ID: {key}"]} for key in keys])


def _check(uow: UnitOfWork, endpoint: Endpoint, drafts: list[Draft], *, single: bool) -> None:
    """Everything between the parsed bodies and the database; leaves the drafts complete and without errors.

    :raises Invalid: when any draft is rejected
    """
    references.resolve(uow, drafts)
    slugs.fill(uow, drafts)
    uniqueness.check_field_level(uow, endpoint, drafts)
    sound = _sound(drafts)
    for draft in sound:
        if draft.new:
            draft.complete()
    if trees.is_tree(endpoint):
        trees.check_loops(uow, endpoint, sound)
    for preparation in endpoint.resource.prepare_functions:
        preparation(uow, sound)
    for rule in endpoint.rules:
        rule(uow, _sound(sound))
    uniqueness.check_model_level(uow, endpoint, sound)
    raise_errors(drafts, single=single)


def _sound(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts without errors so far: what is wrong with one of a batch does not hide what is wrong with another."""
    return [draft for draft in drafts if not draft.errors]


def _insert(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    table = endpoint.table
    try:
        if endpoint.key_type is int:
            for draft in drafts:
                draft.id = uow.write(sa.insert(table).values(draft.values)).inserted_primary_key[0]
                draft.values["id"] = draft.id
        else:
            uow.write(sa.insert(table), [draft.values for draft in drafts])
    except sa.exc.IntegrityError as error:
        raise uniqueness.explain(endpoint, error) from error


def _update(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Writes the columns that changed: one UPDATE for each set of columns."""
    table = endpoint.table
    for draft in drafts:
        draft.values = {
            name: value for name, value in draft.values.items() if name not in draft.before or value != draft.before[name]
        }
        if (draft.values or draft.many or draft.extra) and "last_updated" in table.c:
            draft.values["last_updated"] = uow.now
    try:
        bulk_update(uow, table, {draft.id: draft.values for draft in drafts if draft.values})
    except sa.exc.IntegrityError as error:
        raise uniqueness.explain(endpoint, error) from error


def finish(uow: UnitOfWork, written: Sequence[PendingBatch]) -> list[Shown]:
    """What follows the rows themselves: associations, trees, effects, permission, read back, change record; the representations, in order.

    :raises Denied: for objects outside of what is permitted
    """
    with uow.collecting() as following:
        for batch in written:
            _follow_up(uow, batch)
    for batch in written:
        permissions.verify(uow, batch.endpoint, batch.action, batch.keys)
    shown = [dict(found) for found in fetch_together(uow, [(batch.endpoint.plan(), batch.keys) for batch in written])]
    changed = [batch.endpoint for batch, after in zip(written, shown, strict=True) if _record(uow, batch, after)]
    uow.change_set.merge(following)
    if any(endpoint.resource.configuration for endpoint in changed):
        configuration_changed(uow)
    for batch in written:
        uow.release_new_drafts(batch.endpoint.table, batch.keys)
    return [[after[key] for key in batch.keys] for batch, after in zip(written, shown, strict=True)]


def _follow_up(uow: UnitOfWork, batch: PendingBatch) -> None:
    """Associations, trees, effects."""
    if not batch.drafts:
        return
    for field in batch.endpoint.writable.values():
        field.store(uow, batch.drafts)
    if trees.is_tree(batch.endpoint):
        trees.place(uow, batch.endpoint, batch.drafts)
    for effect in batch.endpoint.resource.after_save_functions:
        effect(uow, batch.drafts)


def _record(uow: UnitOfWork, batch: PendingBatch, after: Mapping[Any, dict[str, Any]]) -> bool:
    """Tells the journal what changed, and whether anything did."""
    endpoint, changed = batch.endpoint, False
    for draft in batch.drafts:
        row = {**draft.before, **draft.values}
        old, new = batch.before.get(draft.id), with_masked(endpoint, after[draft.id], row)
        old = old and with_masked(endpoint, old, draft.before)
        if old is not None and same(old, new):
            continue
        changed = True
        kind = UPDATE if old is not None else CREATE
        uow.change_set.add(Change(endpoint, draft.id, kind, old, new, object_data(uow, endpoint, row, new)))
    return changed
