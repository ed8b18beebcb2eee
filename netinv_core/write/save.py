"""Create and update of objects, always as a batch.

Steps: parse, references, slugs, field-level uniqueness, rules, model-level uniqueness, INSERT or UPDATE, associations,
after_save functions, rules of those that refer, rules of packages about what is written, permission check, read back,
change records. See docs/concepts.md.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.configuration_version import configuration_changed
from netinv_core.caches import lru_cache
from netinv_core.changelog import guards
from netinv_core.changelog.change_set import Change, same, with_masked
from netinv_core.changelog.models import CREATE, UPDATE
from netinv_core.changelog.object_data import object_data
from netinv_core.errors import Invalid, not_an_object
from netinv_core.fields import list_differences, schema
from netinv_core.models.base import Tree
from netinv_core.read import entity_tags
from netinv_core.write import (
    deleted_targets,
    offered,
    parking,
    references,
    referring_rules,
    rules,
    slugs,
    trees,
    uniqueness,
    written_rules,
)
from netinv_core.write import preconditions as conditions
from netinv_core.write.bulk_update import bulk_update
from netinv_core.write.differing import drop_equal_lists, with_other_extras
from netinv_core.write.draft import Draft, raise_errors
from netinv_core.write.read_back import StoredObjects, read_back, read_for_change

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Body = Mapping[str, Any]
Representations = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class PendingBatch:
    """Objects of one model whose rows are written, for :func:`finish`.

    ``before`` holds their former representations by id; it is empty for new objects. With ``single``, errors are those
    of one object; unless they are ``listed``, the body of an error has those of the first invalid object. ``whole`` are
    the drafts of the list that errors are about, where the batch is a part of it.
    """

    endpoint: Endpoint
    drafts: list[Draft]
    action: str
    before: Mapping[Any, dict[str, Any]] = dataclasses.field(default_factory=dict)
    single: bool = False
    listed: bool = True
    whole: Sequence[Draft] = ()

    @property
    def keys(self) -> list[Any]:
        """The ids of the objects."""
        return [draft.id for draft in self.drafts]

    @property
    def reported(self) -> Sequence[Draft]:
        """The drafts of the list that errors are about."""
        return self.whole or self.drafts


def create(
    uow: UnitOfWork,
    endpoint: Endpoint,
    bodies: Sequence[Body],
    *,
    single: bool = False,
    ids: Sequence[Any] | None = None,
    preserved: Sequence[Mapping[str, Any]] | None = None,
    permission: str = "add",
) -> Representations:
    """Creates objects and returns their representations, in order.

    :param single: errors are those of one object, in place of a list with one entry for each
    :param ids: the ids of the new objects, for imports; by default they are generated
    :param preserved: columns of each object that are written as they are, after the rules, for objects to be restored
    :param permission: what the user needs in place of ``add``: the own permission of an action that creates objects
    :raises Denied: without permission, for an object outside of its constraints, or if the resource does not offer it
    :raises Invalid: with the errors of the objects
    """
    batch = insert(uow, endpoint, bodies, single=single, ids=ids, preserved=preserved, permission=permission)
    return finish(uow, [batch])[0]


def insert(
    uow: UnitOfWork,
    endpoint: Endpoint,
    bodies: Sequence[Body],
    *,
    single: bool = False,
    ids: Sequence[Any] | None = None,
    preserved: Sequence[Mapping[str, Any]] | None = None,
    permission: str = "add",
) -> PendingBatch:
    """Inserts the rows of new objects; :func:`finish` does everything that follows.

    Objects of several models can be inserted first and finished together, in few statements. Later objects may refer
    to earlier ones; these references are resolved in memory. Parameters and errors are those of :func:`create`.
    """
    permissions.check(uow, endpoint, permission)
    offered.check(uow, endpoint, permission)
    if issubclass(endpoint.model, Tree):
        trees.lock(uow, endpoint, bodies, new=True)
    drafts = [Draft(endpoint, body) for body in bodies]
    for draft, key in zip(drafts, ids or (), strict=ids is not None):
        draft["id"] = key
    if drafts:
        for draft in drafts:
            draft.parse(partial=False)
        validate(uow, endpoint, drafts)
        raise_errors(drafts, single=single)
        for draft, columns in zip(drafts, preserved or (), strict=preserved is not None):
            draft.values.update(columns)
    batch = PendingBatch(endpoint, drafts, permission, single=single)
    insert_rows(uow, batch)
    return batch


def update(
    uow: UnitOfWork,
    endpoint: Endpoint,
    bodies: Sequence[Body],
    *,
    partial: bool,
    single: bool = False,
    optional: frozenset[str] = frozenset(),
    listed: bool = False,
    preconditions: conditions.Preconditions = (),
    stored: StoredObjects | None = None,
    permission: str = "change",
) -> Representations:
    """Changes objects, each body with its ``id``, and returns their representations, in order.

    :param partial: required fields may be absent (PATCH, in contrast to PUT)
    :param optional: required fields that a PUT may omit, as its API version does not know them
    :param listed: errors are a list with one entry for each object, in place of those of the first invalid one
    :param preconditions: one for each body, or none at all
    :param stored: the objects, where the caller has read them already (:func:`read_for_change`)
    :param permission: what the user needs in place of ``change``: the own permission of an action that changes objects
    :raises NotFound: for a single object that does not exist
    :raises PreconditionFailed: if an object does not meet its precondition
    :raises Denied: as :func:`create`
    :raises Invalid: as :func:`create`; also for an id that is missing, unknown or listed twice
    """
    permissions.check(uow, endpoint, permission)
    offered.check(uow, endpoint, permission)
    keys = keys_of(endpoint, bodies)
    if not keys:
        return []
    if issubclass(endpoint.model, Tree):
        trees.lock(uow, endpoint, bodies, new=False)
    stored = stored or read_for_change(uow, endpoint, keys, single=single, permission=permission)
    drafts = [Draft(endpoint, body, stored.rows[key]) for body, key in zip(bodies, keys, strict=True)]
    before = stored.representations
    if preconditions:
        conditions.check(endpoint, keys, preconditions, before)
    for draft in drafts:
        draft.parse(partial=partial, optional=optional)
    validate(uow, endpoint, drafts)
    raise_errors(drafts, single=single, listed=listed)
    batch = PendingBatch(endpoint, drafts, permission, before, single, listed)
    update_rows(uow, batch)
    return finish(uow, [batch])[0]


def keys_of(endpoint: Endpoint, bodies: Sequence[Any]) -> list[Any]:
    """Returns the ids of the items of a bulk request.

    :raises Invalid: with one entry for each item, when an id is missing, malformed or listed twice
    """
    keys: list[Any] = []
    seen: set[Any] = set()
    errors: list[dict[str, Any]] = []
    for body in bodies:
        key, error = None, {}
        if not isinstance(body, Mapping):
            error = not_an_object(body)
        elif "id" not in body:
            error = {"id": [schema.REQUIRED]}
        else:
            key = endpoint.parse_key(str(body["id"]))
            if key is None:
                is_uuid = endpoint.key_type is not int
                error = {"id": ["Must be a valid UUID." if is_uuid else "A valid integer is required."]}
            elif key in seen:
                error = {"id": ["This object is listed more than once."]}
        keys.append(key)
        seen.add(key)
        errors.append(error)
    if any(errors):
        raise Invalid.batch(errors)
    return keys


def resolve(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Resolves the references and the differences of lists of parsed drafts."""
    if any(draft.references or draft.references_many for draft in drafts):
        references.resolve(uow, drafts)
    if any(draft.differences for draft in drafts):
        list_differences.apply(uow, drafts)


def validate(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Resolves, completes and validates parsed drafts; those without errors afterwards can be written."""
    resolve(uow, drafts)
    uow.changing_drafts[endpoint.table] = {draft.id: draft for draft in drafts if not draft.new}
    try:
        _run_rules(uow, endpoint, drafts)
    finally:
        del uow.changing_drafts[endpoint.table]


def _run_rules(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Completes drafts whose references are resolved, and validates them."""
    slugs.fill(uow, drafts)
    uniqueness.check_field_level(uow, endpoint, drafts)
    valid = [draft for draft in drafts if not draft.errors]  # an error of one draft does not hide those of others
    for draft in valid:
        if draft.new:
            draft.complete()
    if issubclass(endpoint.model, Tree):
        trees.check_loops(uow, endpoint, valid)
    for prepare in endpoint.preparations:
        prepare(uow, valid)
    rules.run(uow, endpoint, valid)
    uniqueness.check_model_level(uow, endpoint, valid)


def insert_rows(uow: UnitOfWork, batch: PendingBatch) -> None:
    """Inserts the rows of new objects; :func:`finish` does everything that follows."""
    table, drafts = batch.endpoint.table, uniqueness.in_lock_order(batch.endpoint, batch.drafts)
    if not drafts:
        return
    with _violations(uow, batch):
        if batch.endpoint.key_type is int:
            for draft in drafts:
                draft.id = uow.execute(sa.insert(table).values(draft.values)).inserted_primary_key[0]
                draft.values["id"] = draft.id
        else:
            uow.execute(_insert(table), [draft.values for draft in drafts])
    uow.new_drafts.setdefault(table, {}).update((draft.id, draft) for draft in batch.drafts)


@lru_cache("SQL statements", 2000)
def _insert(table: sa.Table) -> sa.Insert:
    """INSERT of rows, which is kept."""
    return sa.insert(table)


def update_rows(uow: UnitOfWork, batch: PendingBatch) -> None:
    """Writes the columns that changed: one UPDATE for each set of columns.

    What is stored already is written neither here nor by :func:`finish`, so that its time and its ETag remain.
    """
    table = batch.endpoint.table
    guards.look(uow, batch.endpoint, batch.keys)
    if any(draft.many for draft in batch.drafts):
        drop_equal_lists(batch.drafts, batch.before)
    for draft in batch.drafts:
        draft.values = {
            name: value
            for name, value in draft.values.items()
            if name not in draft.before or value != draft.before[name]
        }
    sending = [draft for draft in batch.drafts if draft.extra and not (draft.values or draft.many)]
    others = with_other_extras(uow, sending) if sending else ()
    for draft in batch.drafts:
        if (draft.values or draft.many or draft.id in others) and "last_updated" in table.c:
            draft.values["last_updated"] = entity_tags.later(uow.now, draft.before["last_updated"])
    with _violations(uow, batch):
        unique = uniqueness.unique_columns(table)
        exchanging = sum(not draft.values.keys().isdisjoint(unique) for draft in batch.drafts) > 1
        remaining = parking.park(uow, table, batch.drafts) if exchanging else batch.drafts
        bulk_update(uow, table, {draft.id: draft.values for draft in remaining if draft.values})


@contextlib.contextmanager
def _violations(uow: UnitOfWork, batch: PendingBatch) -> Iterator[None]:
    """Context manager that explains a constraint violated by a concurrent transaction.

    A request is run again after it (:func:`netinv_core.http.errors.request_error_response`): the rules then see the
    other change. The explanation remains where it is not.
    """
    try:
        yield
    except sa.exc.IntegrityError as error:
        if deleted_targets.reject_references(uow, batch.drafts, error):
            _raise_errors(batch, error)
        raise uniqueness.explain(batch.endpoint, error) from error


def _raise_errors(batch: PendingBatch, cause: Exception | None = None) -> None:
    """Raises the errors of a batch.

    :raises Invalid: if there are any
    """
    try:
        raise_errors(batch.reported, single=batch.single, listed=batch.listed)
    except Invalid as error:
        raise error from cause


def finish(uow: UnitOfWork, batches: Sequence[PendingBatch]) -> list[Representations]:
    """Does what follows the INSERT or UPDATE of rows, for several batches at once; returns their representations.

    Steps: associations, trees, after_save functions, rules of referring objects and of what was written, permission
    check, read back, change records.

    :raises Denied: for objects outside of what the permissions allow
    """
    with uow.collecting() as side_effects:
        for batch in batches:
            _follow_up(uow, batch)
    for batch in batches:
        referring_rules.check(uow, batch.endpoint, batch.drafts)
        written_rules.check(uow, batch.endpoint, batch.drafts)
        _raise_errors(batch)
    if side_effects.pending:
        referring_rules.check_followers(uow, side_effects.pending, batches[0].drafts)
        _raise_errors(batches[0])
        written_rules.check_followers(uow, side_effects.pending, [draft for batch in batches for draft in batch.drafts])
        for batch in batches:
            _raise_errors(batch)
    for batch in batches:
        permissions.verify(uow, batch.endpoint, batch.action, batch.keys, [draft.id for draft in batch.reported])
    after = read_back(uow, [(batch.endpoint, batch.drafts, batch.keys) for batch in batches])
    for batch in batches:
        _raise_errors(batch)
    changed = [batch.endpoint for batch, by_id in zip(batches, after, strict=True) if _record(uow, batch, by_id)]
    uow.change_set.merge(side_effects)
    if any(endpoint.resource.configuration for endpoint in changed):
        configuration_changed(uow)
    for batch in batches:
        uow.release_new_drafts(batch.endpoint.table, batch.keys)
    return [[by_id[key] for key in batch.keys] for batch, by_id in zip(batches, after, strict=True)]


def _follow_up(uow: UnitOfWork, batch: PendingBatch) -> None:
    """Stores association tables and tree columns, and calls the after_save functions.

    :raises Invalid: for drafts that a field rejects when it is stored
    """
    if not batch.drafts:
        return
    for field in batch.endpoint.writable.values():
        try:
            field.store(uow, batch.drafts)
        except sa.exc.IntegrityError as error:
            if not deleted_targets.reject_list(uow, field, batch.drafts, error):
                raise
            _raise_errors(batch, error)
    _raise_errors(batch)
    if issubclass(batch.endpoint.model, Tree):
        trees.place(uow, batch.endpoint, batch.drafts)
    for after_save in batch.endpoint.resource.after_save_functions:
        after_save(uow, batch.drafts)
        _raise_errors(batch)


def _record(uow: UnitOfWork, batch: PendingBatch, after: Mapping[Any, dict[str, Any]]) -> bool:
    """Adds the changes of a batch to the change set; returns True when any object changed."""
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
