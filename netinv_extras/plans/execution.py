"""Execution of a document: deletions, creations and updates in the right order, by the write path of requests.

The number of statements depends on the number of models and on the depth of references, not on that of objects. A plan
is an execution that is rolled back.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Conflict, Denied, Invalid
from netinv_core.fields import generic_pairs
from netinv_core.read import listing
from netinv_core.write import delete, identification, save, trees
from netinv_core.write.differing import find_differing
from netinv_extras.plans.document import ID, WHOLE, DocumentErrors, PlannedObject
from netinv_tabular import row_order
from netinv_tabular.row_order import OrderedRow, RowOrder

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

NO_OBJECT = "There is no object with this id."
Deletions = dict[Endpoint, list[uuid.UUID]]


@dataclasses.dataclass
class PlanOutcome:
    """Result of an execution: the ids of the objects of the document that exist now, of those deleted, by model."""

    present: dict[str, list[uuid.UUID]] = dataclasses.field(default_factory=dict)
    deleted: dict[str, list[uuid.UUID]] = dataclasses.field(default_factory=dict)


def execute(
    uow: UnitOfWork, planned: Sequence[PlannedObject], owned: Mapping[str, Collection[uuid.UUID]]
) -> PlanOutcome:
    """Writes the objects of a document, and deletes those that are absent or ``owned`` and not in it.

    Deletions come first, unless other objects protect what is deleted: these may be changed by the document.

    :raises Invalid: naming content type, index and field
    :raises Denied: without permission for one of the writes
    :raises Conflict: naming the objects that protect a deletion
    """
    execution = _PlanExecution(uow, planned)
    execution.identify()
    trees.lock_whole(uow, dict.fromkeys(item.endpoint for item in planned if item.id is not None))
    deletions = execution.deletions(owned)
    protected = _delete_unprotected(uow, deletions)
    execution.write()
    for endpoint, keys in protected.items():
        delete.delete(uow, endpoint, [{ID: str(key)} for key in keys])
    outcome = PlanOutcome(deleted={endpoint.label: keys for endpoint, keys in deletions.items()})
    for item in planned:
        if not item.absent and item.id is not None:
            outcome.present.setdefault(item.endpoint.label, []).append(item.id)
    return outcome


def _delete_unprotected(uow: UnitOfWork, deletions: Deletions) -> Deletions:
    """Deletes the objects of each model, children first; returns those of models that others protect."""
    protected: Deletions = {}
    by_label = {endpoint.label: endpoint for endpoint in deletions}
    for label in delete.children_first(uow.registry, by_label) if deletions else ():
        endpoint = by_label[label]
        try:
            with uow.savepoint():
                delete.delete(uow, endpoint, [{ID: str(key)} for key in deletions[endpoint]])
        except Conflict:
            protected[endpoint] = deletions[endpoint]
        except Invalid:  # objects that may be viewed, and not deleted
            raise Denied() from None
    return protected


class _PlanExecution:
    """State of an execution: the objects to write, their order, and the errors."""

    def __init__(self, uow: UnitOfWork, planned: Sequence[PlannedObject]) -> None:
        self._uow, self._planned, self._errors = uow, planned, DocumentErrors()
        self._written = [item for item in planned if not item.absent]
        self._order = RowOrder([])

    def identify(self) -> None:
        """Finds the objects that exist, and orders the objects to write."""
        for endpoint in dict.fromkeys(item.endpoint for item in self._planned):
            items = [item for item in self._planned if item.endpoint is endpoint]
            self._resolve_generic(endpoint, items, is_final=False)
        self._match(self._planned)
        rows = [OrderedRow(item.endpoint, item.body, item.place) for item in self._written]
        self._order = row_order.order(rows, lambda endpoint: endpoint.resource.presentation.depends_on)
        for place, errors in self._order.errors.items():
            self._reject(self._written[place], errors)
        self._errors.raise_any()

    def deletions(self, owned: Mapping[str, Collection[uuid.UUID]]) -> Deletions:
        """The objects to delete: absent ones, and owned ones that exist and are not in the document."""
        deletions: Deletions = {}
        for item in self._planned:
            if item.absent and item.id is not None:
                deletions.setdefault(item.endpoint, []).append(item.id)
        named = {(item.endpoint.label, item.id) for item in self._planned}
        for label, keys in owned.items():
            endpoint, left = self._uow.registry.get(label), [key for key in keys if (label, key) not in named]
            if endpoint is not None and left:
                deletions.setdefault(endpoint, []).extend(_existing_ids(self._uow, endpoint, left))
        return {endpoint: keys for endpoint, keys in deletions.items() if keys}

    def write(self) -> None:
        """Creates and updates the objects, step by step, each model of a step in one batch."""
        for step in self._order.steps:
            for endpoint, places in self._by_endpoint(step):
                items = [self._written[place] for place in places]
                self._resolve_generic(endpoint, items)
                self._match_late(places)
                self._errors.raise_any()
                self._create(endpoint, [place for place in places if self._written[place].id is None])
                self._update(endpoint, [item for item in items if item.id is not None and ID in item.body])

    def _by_endpoint(self, places: Sequence[int]) -> Iterator[tuple[Endpoint, list[int]]]:
        groups: dict[Endpoint, list[int]] = {}
        for place in places:
            groups.setdefault(self._written[place].endpoint, []).append(place)
        yield from groups.items()

    def _match(self, items: Sequence[PlannedObject]) -> None:
        """Finds the objects with the keys of the items; one statement for each model and form of key."""
        groups: dict[tuple[Endpoint, tuple[str, ...]], list[PlannedObject]] = {}
        endpoints = {item.endpoint for item in items}
        generic = {endpoint: {id_name for _, id_name in generic_pairs(endpoint)} for endpoint in endpoints}
        for item in items:
            if not any(isinstance(item.identity[name], Mapping) for name in item.key if name in generic[item.endpoint]):
                groups.setdefault((item.endpoint, item.key), []).append(item)
        for (endpoint, key), group in groups.items():
            matches = identification.find(self._uow, endpoint, [item.identity for item in group], key)
            for item, match in zip(group, matches, strict=True):
                if match.errors or match.ambiguous:
                    self._reject(item, match.errors or {key[0]: [match.message]})
                elif match.ids:
                    item.id = match.ids[0]
                    item.body[ID] = str(item.id)
                elif key == (ID,) and not item.absent:
                    self._reject(item, {ID: [NO_OBJECT]})

    def _match_late(self, places: Sequence[int]) -> None:
        """Finds objects again whose key refers to objects of the document: components are created with a device."""
        late = [
            place
            for place in places
            if self._written[place].id is None
            and not set(self._order.named.get(place, {}).values()).isdisjoint(self._written[place].key)
        ]
        self._match([self._written[place] for place in late])
        for place in late:
            if (key := self._written[place].id) is not None:
                self._order.assign(place, key)

    def _resolve_generic(self, endpoint: Endpoint, items: Sequence[PlannedObject], *, is_final: bool = True) -> None:
        """Replaces attributes in generic foreign keys by ids; one statement for each target and form of attributes.

        Those of objects that the document has yet to create stay unless it ``is_final``.
        """
        for type_name, id_name in generic_pairs(endpoint):
            groups: dict[tuple[Endpoint, tuple[str, ...]], list[PlannedObject]] = {}
            for item in items:
                target = self._uow.registry.get(str(item.body.get(type_name)))
                value = item.body.get(id_name)
                if target is not None and isinstance(value, Mapping):
                    groups.setdefault((target, tuple(value)), []).append(item)
            for (target, names), group in groups.items():
                attributes = [item.body[id_name] for item in group]
                for item, match in zip(group, identification.find(self._uow, target, attributes, names), strict=True):
                    if match.ids and not match.ambiguous:
                        item.body[id_name] = str(match.ids[0])
                    elif is_final:
                        self._reject(item, {id_name: match.errors or [match.message]})

    def _create(self, endpoint: Endpoint, places: Sequence[int]) -> None:
        if not places:
            return
        items = [self._written[place] for place in places]
        ids = [self._order.ids.get(place) or uuid.uuid4() for place in places]
        with self._errors_at(items):
            save.create(self._uow, endpoint, [item.body for item in items], ids=ids)
        for item, key in zip(items, ids, strict=True):
            item.id = key

    def _update(self, endpoint: Endpoint, items: Sequence[PlannedObject]) -> None:
        """Writes the objects that differ. The others are neither locked nor written."""
        if not items:
            return
        rows = listing.rows(self._uow, endpoint, [item.id for item in items], "view")
        for item in items:
            if item.id not in rows:
                self._reject(item, {WHOLE: ["The document deletes this object, or one that it depends on."]})
        self._errors.raise_any()
        changed = find_differing(self._uow, endpoint, {item.id: (rows[item.id], item.body) for item in items})
        writes = [item for item in items if item.id in changed]
        if writes:
            with self._errors_at(writes):
                save.update(self._uow, endpoint, [item.body for item in writes], partial=True, listed=True)

    def _errors_at(self, items: Sequence[PlannedObject]) -> _ErrorsAt:
        return _ErrorsAt(self._errors, items)

    def _reject(self, item: PlannedObject, errors: Mapping[str, Any]) -> None:
        self._errors.add(item.endpoint.label, item.index, errors)


@dataclasses.dataclass
class _ErrorsAt:
    """Context manager that names the objects of the document in the errors of a batch."""

    errors: DocumentErrors
    items: Sequence[PlannedObject]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if not isinstance(error, Invalid):
            return
        listed = error.object_errors or (error.body if isinstance(error.body, list) else [])
        for item, entry in zip(self.items, listed, strict=False):
            if entry:
                self.errors.add(item.endpoint.label, item.index, entry)
        if not listed:
            self.errors.add_whole(self.items[0].endpoint.label, str(error.body))
        self.errors.raise_any()


def _existing_ids(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Returns those of the ids whose objects exist and may be viewed; one statement."""
    permissions.check(uow, endpoint, "view")
    return list(listing.rows(uow, endpoint, keys, "view"))
