"""Resolution of references: every foreign key of all drafts of a batch, by id or by attributes, in few statements.

One statement finds the objects that are named by id. Statuses are cached. Objects named by attributes
(:mod:`netinv_core.write.attribute_references`) take another, whatever the number of objects, targets and attributes.

An object that the user may not view counts as missing, with two exceptions: the draft refers to it already, or a
foreign key names it by its bare id. Anyone may name a status: it is a choice that OPTIONS list.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.fields import Reference, Status, ToMany, schema
from netinv_core.sql import relations
from netinv_core.sql.union import Union, kept_union
from netinv_core.write import attribute_references, read_locks, reference_messages, strict_bodies
from netinv_core.write.attribute_references import Attributes, Path
from netinv_core.write.reference_messages import (
    NO_SUCH,
    NO_SUCH_ID,
    PLAIN_MESSAGES,
    SEVERAL,
    UNRECOGNIZED,
    no_such_status,
    no_such_value,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft, ReferenceListField, SentReferences

MAX_UUID = 2**128 - 1


@dataclasses.dataclass(eq=False)
class ReferenceRequest:
    """A reference of a draft: the value as sent (``raw``), and the id or the error that results."""

    draft: Draft
    field: Reference | ReferenceListField
    raw: Any
    id: Any = None
    error: str | None = None
    attributes: Attributes | None = None

    def reject(self, message: str, value: Any) -> None:
        """Sets the error; ``message`` is a template for the value, which a ``plain`` field words differently."""
        self.error = reference_messages.message(message, self.field.target, value, plain=self.field.plain)

    def reject_unrecognized(self, value: Any) -> None:
        """Sets the error for a value that is neither an id nor a dictionary."""
        plain = self.field.plain
        if value is None:
            self.error = PLAIN_MESSAGES[NO_SUCH_ID].format(None) if plain else schema.NOT_NULL
        elif plain and (_has_integer_ids(self.field.target) or isinstance(value, bool)):
            self.error = f"Incorrect type. Expected pk value, received {type(value).__name__}."
        else:
            self.reject(UNRECOGNIZED, value)


def resolve(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets the ids of all references of a batch; rejects drafts with references that match no object or several."""
    singles = [ReferenceRequest(draft, field, raw) for draft in drafts for field, raw in draft.references]
    lists = [
        (draft, sent, [ReferenceRequest(draft, sent.field, raw) for raw in sent.values])
        for draft in drafts
        for sent in draft.references_many
    ]
    if not singles and not lists:
        return
    items = [request for _, _, requests in lists for request in requests]
    lookups = _Lookups(uow)
    for request in [*singles, *items]:
        _classify(lookups, request)
    _find_rows(uow, lookups)
    _find_statuses(uow, lookups.statuses)
    _find_by_attributes(uow, lookups)
    _reject_not_allowed(uow, [request for _, sent, requests in lists if not sent.removed for request in requests])
    for request in singles:
        assert isinstance(request.field, Reference)
        if request.error:
            request.draft.reject(request.field.name, request.error)
        else:
            request.field.set_resolved(request.draft, request.id)
    for draft, sent, requests in lists:
        _set_list(draft, sent, requests)
    for draft in drafts:
        draft.references, draft.references_many = [], []


def _set_list(draft: Draft, sent: SentReferences, requests: Sequence[ReferenceRequest]) -> None:
    """Sets the ids of a list or of a part of a difference, or rejects the draft with the errors of items."""
    errors = [request.error for request in requests if request.error]
    ids = [request.id for request in requests]
    if sent.difference is None and errors:
        sent.field.reject(draft, errors)
    elif errors:
        draft.reject(sent.field.name, *errors)
    elif sent.difference is None:
        sent.field.set_list(draft, ids)
    elif sent.removed:
        sent.difference.remove = ids
    else:
        sent.difference.add = ids


@dataclasses.dataclass
class _Lookups:
    """References by the lookup that resolves them.

    ``limits`` caches the conditions that a user may view the rows of a target.
    """

    uow: UnitOfWork
    by_id: dict[Endpoint, list[ReferenceRequest]] = dataclasses.field(default_factory=dict)
    by_attributes: dict[tuple[Endpoint, tuple[Path, ...]], list[ReferenceRequest]] = dataclasses.field(
        default_factory=dict
    )
    statuses: list[ReferenceRequest] = dataclasses.field(default_factory=list)
    limits: dict[Endpoint, list[Any]] = dataclasses.field(default_factory=dict)

    def limits_of(self, target: Endpoint) -> list[Any]:
        """Returns the conditions on the target's own table; empty for a user who may view every object."""
        if target not in self.limits:
            self.limits[target] = permissions.visible(self.uow, target, target.table)
        return self.limits[target]


def _classify(lookups: _Lookups, request: ReferenceRequest) -> None:
    """Adds a reference to the lookup that resolves it, or sets its error."""
    field, target, raw = request.field, request.field.target, request.raw
    if isinstance(field, Status):
        lookups.statuses.append(request)
        return
    if isinstance(field, ToMany) and field.by is not None:
        raw = {field.by: str(raw)}
    takes_attributes = isinstance(field, ToMany) or not field.plain
    if isinstance(raw, dict) and takes_attributes:
        if target is not None and "id" in raw and (unknown := strict_bodies.unknown_members(target, raw)):
            request.error = strict_bodies.refused_reference(unknown)
            return
        if target is not None and not _is_named_by_id(lookups, request, target, raw):
            _classify_attributes(lookups, request, target, raw)
            return
        raw = raw.get("id")
    _classify_id(lookups, request, target, raw)


def _is_named_by_id(lookups: _Lookups, request: ReferenceRequest, target: Endpoint, raw: Mapping[str, Any]) -> bool:
    """True for a dictionary whose id is enough: the draft may refer already to this object, hidden from the user."""
    if "id" not in raw or not lookups.limits_of(target):
        return False
    return isinstance(request.field, ToMany) or _is_current(request, _key(raw["id"], target))


def _classify_id(lookups: _Lookups, request: ReferenceRequest, target: Endpoint | None, raw: Any) -> None:
    """Adds a reference by id to the lookups, unless the draft has this value already."""
    key = _key(raw, target)
    if key is None:
        is_id_number = isinstance(raw, int) and not isinstance(raw, bool)
        if request.field.plain and is_id_number and (_has_integer_ids(target) or 0 <= raw <= MAX_UUID):
            request.reject(NO_SUCH_ID, raw)
        else:
            request.reject_unrecognized(raw)
    elif target is None:
        request.reject(NO_SUCH_ID, raw)
    else:
        request.id = key
        if not (lookups.limits_of(target) and _is_current(request, key)):
            lookups.by_id.setdefault(target, []).append(request)


def _is_current(request: ReferenceRequest, key: Any) -> bool:
    """True when the draft's foreign key has this value in the database already."""
    field = request.field
    return isinstance(field, Reference) and key is not None and request.draft.before.get(field.attribute) == key


def _classify_attributes(
    lookups: _Lookups, request: ReferenceRequest, target: Endpoint, raw: Mapping[str, Any]
) -> None:
    try:
        attributes = request.attributes = attribute_references.parse(target, raw)
    except ValueError as error:
        request.error = str(error)
        return
    if attributes.identifying:
        lookups.by_attributes.setdefault((target, tuple(attributes.values)), []).append(request)
    else:
        request.reject(SEVERAL, attributes.sent)


def _key(raw: Any, target: Endpoint | None) -> Any:
    """Returns the id that a value is, or ``None``."""
    if target is not None and _has_integer_ids(target):
        return target.parse_key(str(raw)) if isinstance(raw, int | str) else None
    if isinstance(raw, uuid.UUID):
        return raw
    try:
        return uuid.UUID(raw) if isinstance(raw, str) else None
    except ValueError:
        return None


def _has_integer_ids(target: Endpoint | None) -> bool:
    return target is not None and target.key_type is int


# -- by id, and statuses by slug


def _status_value(raw: Any) -> Any:
    """The slug of a status as sent: ``"active"``, or ``{"value": "active", "label": "Active"}`` as it is read."""
    return raw["value"] if isinstance(raw, dict) and set(raw) == {"value", "label"} else raw


def _find_rows(uow: UnitOfWork, lookups: _Lookups) -> None:
    """Resolves references by id: one UNION ALL in all, none for rows in the cache.

    The rows are added to the row cache, as rules need many of them (:func:`netinv_core.read.listing.rows_of`).
    """
    groups: dict[Endpoint, list[ReferenceRequest]] = {}
    limits: dict[Endpoint, Any] = {}
    for target, requests in lookups.by_id.items():
        missing = _not_cached(uow, target, requests, limited=bool(lookups.limits_of(target)))
        if missing:
            groups[target] = missing
            if target_limits := lookups.limits_of(target):
                limits[target] = sa.or_(sa.and_(*target_limits), *_exceptions(target, missing))
    if not groups:
        return
    groups = dict(sorted(groups.items(), key=lambda group: group[0].table.name))  # one order of locks for all
    values = [list({request.id for request in requests}) for requests in groups.values()]
    parameters = {f"keys{number}": keys for number, keys in enumerate(values)}
    locked = frozenset(target for target, requests in groups.items() if any(map(_is_read, requests)))
    results = _union(uow.registry, tuple(groups), limits, locked).rows(uow, parameters)
    for (target, requests), result in zip(groups.items(), results, strict=True):
        rows = [target.row_type._make(row) for row in result]
        uow.row_cache.setdefault(target.table, {}).update((row.id, row) for row in rows)
        if target in locked:
            read_locks.note_locked(uow, target, rows)
        ids = {row.id for row in rows}
        for request in requests:
            if request.id not in ids:
                request.id = None
                request.reject(NO_SUCH_ID, request.raw)


def _is_read(request: ReferenceRequest) -> bool:
    """True where a rule reads the object that is referred to, which is therefore locked."""
    return read_locks.is_read(request.draft, request.field.name)


def _find_statuses(uow: UnitOfWork, requests: Sequence[ReferenceRequest]) -> None:
    """Resolves statuses by slug, from the cache of the configuration; their rows are added to the row cache."""
    for request in requests:
        target, label = request.field.target, request.draft.endpoint.label
        if target is None:
            continue
        rows = uow.cached_config(("statuses", label), functools.partial(statuses_of, target=target, label=label))
        row = rows.get(str(_status_value(request.raw)).lower())
        if row is not None:
            request.id = row.id
            uow.row_cache.setdefault(target.table, {})[row.id] = row
        else:
            value = _status_value(request.raw)
            slug = value.lower() if isinstance(value, str) else value
            request.error = no_such_status(target, request.draft.endpoint, slug, rows.values())


def statuses_of(uow: UnitOfWork, target: Endpoint, label: str) -> dict[str, Any]:
    """Returns the rows of the statuses that objects of a content type may have, by slug."""
    allowed = _allowed_statuses(target, label)
    rows = uow.execute(sa.select(*target.table.c).where(allowed))
    return {row.slug: row for row in map(target.row_type._make, rows)}


def _allowed_statuses(target: Endpoint, label: str) -> Any:
    """The condition for statuses that objects of a content type may have."""
    return relations.compare(target, target.table, ["content_types"], functools.partial(operator.eq, label))


def _not_cached(
    uow: UnitOfWork, target: Endpoint, requests: Sequence[ReferenceRequest], *, limited: bool
) -> list[ReferenceRequest]:
    """Returns the references whose rows must be loaded; ``limited`` ignores the row cache, as permissions apply."""
    cache = () if limited else uow.row_cache.get(target.table, ())
    new_drafts = uow.new_drafts.get(target.table, ())
    return [request for request in requests if request.id not in cache and request.id not in new_drafts]


def _exceptions(target: Endpoint, requests: Sequence[ReferenceRequest]) -> list[Any]:
    """Returns the conditions under which a row may be named that the user may not view.

    The row is in the draft's list already (a list written back as it was read), or a foreign key names it by its bare
    id, which cannot be guessed. The reference service accepts that.
    """
    owners: dict[ToMany, set[Any]] = {}
    for request in requests:
        if isinstance(request.field, ToMany) and not request.draft.new:
            owners.setdefault(request.field, set()).add(request.draft.id)
    key = target.table.c.id
    conditions = [key.in_({request.id for request in requests if isinstance(request.field, Reference)})]
    for field, owner_ids in owners.items():
        pairs = field.pairs
        conditions.append(key.in_(sa.select(pairs.c.target_id).where(pairs.c.owner_id.in_(owner_ids))))
    return conditions


def _union(
    registry: Registry, targets: tuple[Endpoint, ...], limits: Mapping[Endpoint, Any], locked: frozenset[Endpoint]
) -> Union:
    """Returns the statement for the rows of these targets; it is cached unless it has a user's ``limits``."""

    def parts() -> Iterator[Any]:
        for number, target in enumerate(targets):
            condition = in_parameter(target.table.c.id, f"keys{number}")
            if target in limits:
                condition = sa.and_(condition, limits[target])
            if target in locked:
                yield read_locks.locked_part(target, condition)
            else:
                yield list(target.table.c), target.table, condition

    name = ("rows", targets, locked)
    return Union(list(parts())) if limits else kept_union(registry, name, parts)


# -- by attributes


def _find_by_attributes(uow: UnitOfWork, lookups: _Lookups) -> None:
    """Resolves references by attributes; one UNION ALL with a part for each target and set of attribute names."""
    searches = [
        (target, [request.attributes for request in requests if request.attributes])
        for (target, _), requests in lookups.by_attributes.items()
    ]
    for requests, found in zip(
        lookups.by_attributes.values(), attribute_references.find_together(uow, searches), strict=True
    ):
        for request, ids in zip(requests, found, strict=True):
            _set_id(request, ids)


def _set_id(request: ReferenceRequest, ids: Sequence[Any]) -> None:
    """Sets the id of a reference by attributes from the ids that match, or its error unless one matches."""
    sent = request.attributes.sent if request.attributes else {}
    if len(ids) == 1:
        request.id = ids[0]
    elif isinstance(request.field, ToMany) and request.field.by is not None:
        request.error = no_such_value(request.field.target, request.field.by, sent[request.field.by])
    else:
        request.reject(SEVERAL if ids else NO_SUCH, sent)


def _reject_not_allowed(uow: UnitOfWork, requests: Sequence[ReferenceRequest]) -> None:
    """Rejects objects that exist but may not be in the list of their field; one statement for each field."""
    for field in {request.field for request in requests if isinstance(request.field, ToMany)}:
        group = [request for request in requests if request.field is field and request.error is None]
        allowed = field.allowed(uow, {request.id for request in group}) if group else None
        for request in group:
            if allowed is None or request.id in allowed:
                continue
            if request.attributes:
                request.reject(NO_SUCH, request.attributes.sent)
            else:
                request.reject(NO_SUCH_ID, request.raw)


def statuses_for(uow: UnitOfWork, field: Status, endpoint: Endpoint) -> list[tuple[str, str]]:
    """Returns the slugs and names of the statuses that an endpoint's objects may have, ordered by name."""
    target = field.target
    if target is None:
        return []
    table, allowed = target.table, _allowed_statuses(target, endpoint.label)
    rows = uow.execute(sa.select(table.c.slug, table.c.name).where(allowed).order_by(table.c.name)).all()
    return [(slug, name) for slug, name in rows]
