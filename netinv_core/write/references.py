"""Finding what a batch refers to: every foreign key of all drafts, by id or by attributes, in few statements.

What is named by id, and statuses, are found in one statement; what is named by attributes (:mod:`netinv_core.write.attribute_references`), in one for
each target and set of attribute names, however many objects are named by them. An object that the user may not view is not found, unless it is
what the draft refers to already, or a foreign key names it by its bare id. A status is a value to choose, which OPTIONS list; anyone may name it.
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
from netinv_core.db.engine import in_parameter
from netinv_core.fields import Reference, Status, ToMany
from netinv_core.read import relations
from netinv_core.read.union import Union
from netinv_core.write import attribute_references, schema

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

UNRECOGNIZED = "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: {}"
NO_SUCH_ID = "Related object not found using the provided ID: {}"
NO_SUCH = "Related object not found using the provided attributes: {}"
SEVERAL = "Multiple objects match the provided attributes: {}"
PLAIN = {UNRECOGNIZED: "“{}” is not a valid UUID.", NO_SUCH_ID: 'Invalid pk "{}" - object does not exist.'}


@dataclasses.dataclass(eq=False)
class ReferenceRequest:
    """One reference of a draft: what was sent, and what becomes of it."""

    draft: Draft
    field: Reference | ToMany
    raw: Any
    id: Any = None
    error: str | None = None
    given: attribute_references.Attributes | None = None

    def reject(self, message: str, value: Any) -> None:
        """Says what is wrong, as the field words it."""
        if message is UNRECOGNIZED and value is None:
            self.error = PLAIN[NO_SUCH_ID].format(None) if self.field.plain else schema.NOT_NULL
            return
        if message is UNRECOGNIZED and self.field.plain and (_numbered(self.field.target) or isinstance(value, bool)):
            self.error = f"Incorrect type. Expected pk value, received {type(value).__name__}."
            return
        self.error = (PLAIN.get(message, message) if self.field.plain else message).format(attribute_references.short(str(value)))


def resolve(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Finds every reference of the batch, and rejects those that name none or several."""
    singles = [ReferenceRequest(draft, field, raw) for draft in drafts for field, raw in draft.references]
    lists = [(draft, field, [ReferenceRequest(draft, field, raw) for raw in values]) for draft in drafts for field, values in draft.references_many]
    every = [*singles, *[wanted for _, _, found in lists for wanted in found]]
    if not every and not lists:
        return
    sorted_ = _Sorted(uow)
    for wanted in every:
        _sort(sorted_, wanted)
    _find_rows(uow, sorted_)
    for (target, _), group in sorted_.by_attributes.items():
        for wanted, ids in zip(group, attribute_references.find(uow, target, [item.given for item in group if item.given]), strict=True):
            _take(wanted, ids)
    _refuse_outside(uow, [wanted for _, _, found in lists for wanted in found])
    for wanted in singles:
        assert isinstance(wanted.field, Reference)
        if wanted.error:
            wanted.draft.reject(wanted.field.name, wanted.error)
        else:
            wanted.field.set_resolved(wanted.draft, wanted.id)
    for draft, field, found in lists:
        errors = [wanted.error for wanted in found if wanted.error]
        if errors:
            field.reject(draft, errors)
        else:
            field.set_resolved(draft, [wanted.id for wanted in found])
    for draft in drafts:
        draft.references, draft.references_many = [], []


@dataclasses.dataclass
class _Sorted:
    """References by the way in which they are found; ``limits`` are the conditions that a user may view a target's rows."""

    uow: UnitOfWork
    by_id: dict[Endpoint, list[ReferenceRequest]] = dataclasses.field(default_factory=dict)
    by_attributes: dict[tuple[Endpoint, tuple[attribute_references.Path, ...]], list[ReferenceRequest]] = dataclasses.field(default_factory=dict)
    statuses: list[ReferenceRequest] = dataclasses.field(default_factory=list)
    limits: dict[Endpoint, list[Any]] = dataclasses.field(default_factory=dict)

    def limits_of(self, target: Endpoint) -> list[Any]:
        """The conditions on the target's own table; none for a user who may view every object."""
        if target not in self.limits:
            self.limits[target] = permissions.visible(self.uow, target, target.table)
        return self.limits[target]


def _sort(sorted_: _Sorted, wanted: ReferenceRequest) -> None:
    """Puts a reference to the group it will be found with, or says at once what is wrong with it."""
    target, raw, field = wanted.field.target, wanted.raw, wanted.field
    if isinstance(field, Status):
        sorted_.statuses.append(wanted)
        return
    if isinstance(field, ToMany) and field.by is not None:
        raw = {field.by: str(raw)}
    if isinstance(raw, dict) and not (field.plain and isinstance(field, Reference)):
        if target is None:
            wanted.reject(NO_SUCH, raw)
        elif "id" not in raw or not (sorted_.limits_of(target) and (isinstance(field, ToMany) or _is_held(wanted, _key(raw["id"], target)))):
            _sort_attributes(sorted_, wanted, target, raw)
            return
        raw = raw.get("id")
    key = _key(raw, target)
    if key is None:
        number = isinstance(raw, int) and not isinstance(raw, bool) and (_numbered(target) or 0 <= raw < 2**128)  # a UUID as a number
        wanted.reject(NO_SUCH_ID if field.plain and number else UNRECOGNIZED, raw)
    elif target is None:
        wanted.reject(NO_SUCH_ID, raw)
    else:
        wanted.id = key
        if not (sorted_.limits_of(target) and _is_held(wanted, key)):
            sorted_.by_id.setdefault(target, []).append(wanted)


def _is_held(wanted: ReferenceRequest, key: Any) -> bool:
    """True when the draft's foreign key has this value already: its object shows it anyway."""
    return isinstance(wanted.field, Reference) and key is not None and wanted.draft.before.get(wanted.field.attribute) == key


def _sort_attributes(sorted_: _Sorted, wanted: ReferenceRequest, target: Endpoint, raw: dict[str, Any]) -> None:
    try:
        given = wanted.given = attribute_references.read(target, raw)
    except ValueError as error:
        wanted.error = str(error)
        return
    if given.identifying:
        sorted_.by_attributes.setdefault((target, tuple(given.values)), []).append(wanted)
    else:
        wanted.reject(SEVERAL, given.sent)


def _key(raw: Any, target: Endpoint | None) -> Any:
    if target is not None and _numbered(target):
        return target.parse_key(str(raw)) if isinstance(raw, int | str) else None
    if isinstance(raw, uuid.UUID):
        return raw
    try:
        return uuid.UUID(raw) if isinstance(raw, str) else None
    except ValueError:
        return None


def _numbered(target: Endpoint | None) -> bool:
    """Whether a model's ids are numbers."""
    return target is not None and target.key_type is int


def _find_rows(uow: UnitOfWork, sorted_: _Sorted) -> None:
    """Finds what is named by id, and statuses by slug among those allowed for the content type: one statement in all.

    What is known needs no statement, of models whose objects the user may all view. The rows are kept for the rules, which ask for many of
    them (:func:`netinv_core.read.listing.rows_of`).
    """
    groups: dict[Group, list[ReferenceRequest]] = {}
    limits: dict[Group, Any] = {}
    for target, named in sorted_.by_id.items():
        limited = sorted_.limits_of(target)
        seen, made = () if limited else uow.row_cache.get(target.table, ()), uow.new_drafts.get(target.table, ())
        if unknown := [wanted for wanted in named if wanted.id not in seen and wanted.id not in made]:
            groups[target, None] = unknown
            if limited:
                limits[target, None] = sa.or_(sa.and_(*limited), *_listed(target, unknown))
    for wanted in sorted_.statuses:
        if wanted.field.target is not None:
            groups.setdefault((wanted.field.target, wanted.draft.endpoint.label), []).append(wanted)
    if not groups:
        return
    names = {group: _names if group[1] else _ids for group in groups}
    parameters = {f"keys{number}": list({names[group](wanted) for wanted in found}) for number, (group, found) in enumerate(groups.items())}
    for (target, label), rows in zip(groups, _union(uow.registry, tuple(groups), limits).rows(uow, parameters), strict=True):
        there = [target.row_type._make(row) for row in rows]
        uow.row_cache.setdefault(target.table, {}).update((row.id, row) for row in there)
        found = {(row.slug if label else row.id): row.id for row in there}
        for wanted in groups[target, label]:
            wanted.id = found.get(names[target, label](wanted))
            if wanted.id is None and label:
                wanted.error = f"Object with slug={wanted.raw.lower() if isinstance(wanted.raw, str) else wanted.raw} does not exist."
            elif wanted.id is None:
                wanted.reject(NO_SUCH_ID, wanted.raw)


def _listed(target: Endpoint, several: Sequence[ReferenceRequest]) -> list[Any]:
    """Conditions on the target's table under which a row may be named that the user may not view.

    It is in the list already for which it is named (a list written back as it was read), or a foreign key names it by its bare id, which nobody
    guesses: the reference service takes that.
    """
    owners: dict[ToMany, set[Any]] = {}
    for wanted in several:
        if isinstance(wanted.field, ToMany) and not wanted.draft.new:
            owners.setdefault(wanted.field, set()).add(wanted.draft.id)
    pairs = [(field.pairs, keys) for field, keys in owners.items()]
    named = target.table.c.id.in_({wanted.id for wanted in several if isinstance(wanted.field, Reference)})
    return [named, *[target.table.c.id.in_(sa.select(pair.c.target_id).where(pair.c.owner_id.in_(keys))) for pair, keys in pairs]]


# What references lead to: a target by id, or by slug where it holds the statuses of the content type beside it.
Group = tuple["Endpoint", str | None]


def _ids(wanted: ReferenceRequest) -> Any:
    return wanted.id


def _names(wanted: ReferenceRequest) -> str:
    if isinstance(wanted.raw, dict) and set(wanted.raw) == {"value", "label"}:
        wanted.raw = wanted.raw["value"]
    return str(wanted.raw).lower()


def _union(registry: Registry, groups: tuple[Group, ...], limits: Mapping[Group, Any]) -> Union:
    """The statement for these groups; with ``limits``, which are a user's, made for this once."""

    def parts() -> Iterator[Any]:
        for number, (target, label) in enumerate(groups):
            condition = in_parameter(registry.dialect, target.table.c.slug if label else target.table.c.id, f"keys{number}")
            if label:
                condition &= relations.compare(target, target.table, ["content_types"], functools.partial(operator.eq, label))
            elif (target, label) in limits:
                condition = sa.and_(condition, limits[target, label])
            yield list(target.table.c), target.table, condition

    return Union(registry.dialect, list(parts())) if limits else registry.union(groups, parts)


def _refuse_outside(uow: UnitOfWork, every: Sequence[ReferenceRequest]) -> None:
    """Refuses objects that exist but may not stand in the list they were named for; one statement a field."""
    for field in {wanted.field for wanted in every if isinstance(wanted.field, ToMany)}:
        group = [wanted for wanted in every if wanted.field is field and wanted.error is None]
        allowed = field.allowed(uow, {wanted.id for wanted in group}) if group else None
        for wanted in group:
            if allowed is not None and wanted.id not in allowed:
                wanted.reject(NO_SUCH if wanted.given else NO_SUCH_ID, wanted.given.sent if wanted.given else wanted.raw)


def statuses_for(uow: UnitOfWork, field: Status, endpoint: Endpoint) -> list[tuple[str, str]]:
    """The slugs and names of the statuses that an endpoint's objects may have, by name."""
    target = field.target
    if target is None:
        return []
    within = relations.compare(target, target.table, ["content_types"], lambda column: column == endpoint.label)
    rows = uow.execute(sa.select(target.table.c.slug, target.table.c.name).where(within).order_by(target.table.c.name))
    return [(slug, name) for slug, name in rows]


def _take(wanted: ReferenceRequest, ids: Sequence[Any]) -> None:
    sent = wanted.given.sent if wanted.given else {}
    if len(ids) == 1:
        wanted.id = ids[0]
    elif isinstance(wanted.field, ToMany) and wanted.field.by is not None:
        wanted.error = f"Object with {wanted.field.by}={sent[wanted.field.by]} does not exist."
    else:
        wanted.reject(SEVERAL if ids else NO_SUCH, sent)
