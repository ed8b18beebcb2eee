"""Finding what a batch refers to: every foreign key of all drafts, by id or by attributes, in few statements.

What is named by id, and statuses, are found in one statement; what is named by attributes, in one for each target and set of
attribute names, however many objects are named by them.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.database import among
from netinv_core.fields import Many, Reference, Status
from netinv_core.model import known
from netinv_core.read import lookups, paths

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.read.plan import Union
    from netinv_core.registry import Endpoint, Registry
    from netinv_core.write.draft import Draft

UNRECOGNIZED = "Related objects must be referenced by ID or by dictionary of attributes. Received an unrecognized value: {}"
NO_SUCH_ID = "Related object not found using the provided ID: {}"
NO_SUCH = "Related object not found using the provided attributes: {}"
SEVERAL = "Multiple objects match the provided attributes: {}"
PLAIN = {UNRECOGNIZED: "“{}” is not a valid UUID.", NO_SUCH_ID: 'Invalid pk "{}" - object does not exist.'}


@dataclasses.dataclass(eq=False)
class Wanted:
    """One reference of a draft: what was sent, and what becomes of it."""

    draft: Draft
    field: Reference | Many
    raw: Any
    id: Any = None
    error: str | None = None

    def refuse(self, message: str, value: Any) -> None:
        """Says what is wrong, as the field words it."""
        if message is UNRECOGNIZED and self.field.plain and _numbered(self.field.target):
            self.error = f"Incorrect type. Expected pk value, received {type(value).__name__}."
            return
        self.error = (PLAIN.get(message, message) if self.field.plain else message).format(value)


def resolve(context: Context, drafts: Sequence[Draft]) -> None:
    """Finds every reference of the batch, and rejects those that name none or several."""
    singles = [Wanted(draft, field, raw) for draft in drafts for field, raw in draft.references]
    lists = [(draft, field, [Wanted(draft, field, raw) for raw in values]) for draft in drafts for field, values in draft.references_many]
    every = [*singles, *[wanted for _, _, found in lists for wanted in found]]
    if not every and not lists:
        return
    by_id: dict[Endpoint, list[Wanted]] = {}
    by_attributes: dict[tuple[Endpoint, tuple[str, ...]], list[tuple[Wanted, dict[str, Any]]]] = {}
    statuses: list[Wanted] = []
    for wanted in every:
        _sort(wanted, by_id, by_attributes, statuses)
    _find_rows(context, by_id, statuses)
    for (target, names), group in by_attributes.items():
        _find_attributes(context, target, names, group)
    _refuse_outside(context, [wanted for _, _, found in lists for wanted in found])
    for wanted in singles:
        assert isinstance(wanted.field, Reference)
        if wanted.error:
            wanted.draft.reject(wanted.field.name, wanted.error)
        else:
            wanted.field.settle(wanted.draft, wanted.id)
    for draft, field, found in lists:
        errors = [wanted.error for wanted in found if wanted.error]
        if errors:
            field.refuse(draft, errors)
        else:
            field.settle(draft, [wanted.id for wanted in found])
    for draft in drafts:
        draft.references, draft.references_many = [], []


def _sort(wanted: Wanted, by_id: dict[Any, Any], by_attributes: dict[Any, Any], statuses: list[Wanted]) -> None:
    """Puts a reference to the group it will be found with, or says at once what is wrong with it."""
    target, raw = wanted.field.target, wanted.raw
    if isinstance(wanted.field, Many) and wanted.field.by is not None:
        raw = {wanted.field.by: str(raw)}
    if isinstance(wanted.field, Status):
        statuses.append(wanted)
        return
    if isinstance(raw, dict) and not (wanted.field.plain and isinstance(wanted.field, Reference)):
        attributes = _flatten(_as_sent(raw, target), ())
        if target is None:
            wanted.refuse(NO_SUCH, attributes)
        else:
            by_attributes.setdefault((target, tuple(attributes)), []).append((wanted, attributes))
        return
    key = _key(raw, target)
    if key is None:
        number = isinstance(raw, int) and not (isinstance(raw, bool) and _numbered(target))
        wanted.refuse(NO_SUCH_ID if wanted.field.plain and number else UNRECOGNIZED, raw)
    elif target is None:
        wanted.refuse(NO_SUCH_ID, raw)
    else:
        wanted.id = key
        by_id.setdefault(target, []).append(wanted)


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


def _as_sent(raw: dict[str, Any], target: Endpoint | None) -> dict[str, Any]:
    """The attributes that identify: what was read can be written back, so what is only shown is left out."""
    if target is None or "id" not in raw:
        return raw
    return {name: value for name, value in ((name, _as_sent_in(name, value, target)) for name, value in raw.items()) if value is not _SHOWN}


_SHOWN: Any = object()


def _as_sent_in(name: str, value: Any, target: Endpoint) -> Any:
    """A member of a representation as an attribute that identifies; ``_SHOWN`` for what is only shown."""
    field = target.fields.get(name)
    if field is None or name == "id":
        return value
    if name not in target.writable or field.attribute is None:
        return _SHOWN
    if isinstance(value, dict) and set(value) == {"value", "label"}:
        return {"slug": value["value"]} if isinstance(field, Status) else value["value"]
    if isinstance(value, dict) and isinstance(field, Reference):
        return _as_sent(value, field.target)
    return _SHOWN if isinstance(value, dict | list) else value


def _flatten(attributes: dict[str, Any], prefix: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, dict):
            found.update(_flatten(value, (*prefix, name)))
        else:
            found["__".join((*prefix, name))] = value
    return found


def _find_rows(context: Context, by_id: dict[Endpoint, list[Wanted]], statuses: Sequence[Wanted]) -> None:
    """Finds what is named by id, and statuses by slug among those allowed for the content type: one statement in all.

    What is known needs no statement. The rows are kept for the rules, which ask for many of them
    (:func:`netinv_core.read.pages.rows_of`).
    """
    groups: dict[Group, list[Wanted]] = {}
    for target, named in by_id.items():
        seen, made = context.seen.get(target.table, ()), context.made.get(target.table, ())
        if unknown := [wanted for wanted in named if wanted.id not in seen and wanted.id not in made]:
            groups[target, None] = unknown
    for wanted in statuses:
        if wanted.field.target is not None:
            groups.setdefault((wanted.field.target, wanted.draft.endpoint.label), []).append(wanted)
    if not groups:
        return
    names = {group: _names if group[1] else _ids for group in groups}
    parameters = {f"keys{number}": list({names[group](wanted) for wanted in found}) for number, (group, found) in enumerate(groups.items())}
    for (target, label), rows in zip(groups, _union(context.registry, tuple(groups)).rows(context, parameters), strict=True):
        there = [target.row_type._make(row) for row in rows]
        context.seen.setdefault(target.table, {}).update((row.id, row) for row in there)
        found = {(row.slug if label else row.id): row.id for row in there}
        for wanted in groups[target, label]:
            wanted.id = found.get(names[target, label](wanted))
            if wanted.id is None and label:
                wanted.error = f"Object with slug={wanted.raw} does not exist."
            elif wanted.id is None:
                wanted.refuse(NO_SUCH_ID, wanted.raw)


# What references lead to: a target by id, or by slug where it holds the statuses of the content type beside it.
Group = tuple["Endpoint", str | None]


def _ids(wanted: Wanted) -> Any:
    return wanted.id


def _names(wanted: Wanted) -> str:
    if isinstance(wanted.raw, dict) and set(wanted.raw) == {"value", "label"}:
        wanted.raw = wanted.raw["value"]
    return str(wanted.raw).lower()


def _union(registry: Registry, groups: tuple[Group, ...]) -> Union:
    """The statement for these groups."""

    def parts() -> Iterator[Any]:
        for number, (target, label) in enumerate(groups):
            condition = among(registry.dialect, target.table.c.slug if label else target.table.c.id, f"keys{number}")
            if label:
                condition &= paths.compare(target, target.table, ["content_types"], functools.partial(operator.eq, label))
            yield list(target.table.c), target.table, condition

    return registry.union(groups, parts)


def _refuse_outside(context: Context, every: Sequence[Wanted]) -> None:
    """Refuses objects that exist but may not stand in the list they were named for; one statement a field."""
    for field in {wanted.field for wanted in every if isinstance(wanted.field, Many)}:
        group = [wanted for wanted in every if wanted.field is field and wanted.error is None]
        allowed = field.allowed(context, {wanted.id for wanted in group}) if group else None
        for wanted in group:
            if allowed is not None and wanted.id not in allowed:
                by_attributes = isinstance(wanted.raw, dict)
                wanted.refuse(NO_SUCH if by_attributes else NO_SUCH_ID, _flatten(wanted.raw, ()) if by_attributes else wanted.raw)


def statuses_for(context: Context, field: Status, endpoint: Endpoint) -> list[tuple[str, str]]:
    """The slugs and names of the statuses that an endpoint's objects may have, by name."""
    target = field.target
    if target is None:
        return []
    within = paths.compare(target, target.table, ["content_types"], lambda column: column == endpoint.label)
    rows = context.execute(sa.select(target.table.c.slug, target.table.c.name).where(within).order_by(target.table.c.name))
    return [(slug, name) for slug, name in rows]


def _find_attributes(context: Context, target: Endpoint, names: tuple[str, ...], group: list[tuple[Wanted, dict[str, Any]]]) -> None:
    """Finds objects by attributes of the same names: one statement for plain paths, one an object with lookups."""
    columns = _plain_columns(target, names)
    if columns is None:
        for wanted, attributes in group:
            _find_one(context, target, wanted, attributes)
        return
    source, selected = columns
    converted: list[tuple[Wanted, dict[str, Any], tuple[Any, ...]]] = []
    for wanted, attributes in group:
        try:
            values = tuple(lookups.convert(column, attributes[name]) for name, column in zip(names, selected, strict=True))
            converted.append((wanted, attributes, values))
        except (ValueError, TypeError) as error:
            wanted.error = str(error)
    conditions = []
    for number, column in enumerate(selected):
        given = {values[number] for _, _, values in converted}
        if None not in given:
            conditions.append(column.in_(given))
    rows = context.execute(sa.select(target.table.c.id, *selected).select_from(source).where(*conditions)).all() if converted else []
    found: dict[tuple[Any, ...], list[Any]] = {}
    for key, *values in rows:
        found.setdefault(tuple(values), []).append(key)
    for wanted, attributes, wanted_values in converted:
        _take(wanted, found.get(wanted_values, []), attributes)


def _plain_columns(target: Endpoint, names: tuple[str, ...]) -> tuple[Any, list[Any]] | None:
    """The columns behind plain paths, and what to select them from; ``None`` when a name is no plain path."""
    source, selected = target.table, []
    for name in names:
        endpoint, table = target, target.table
        *steps, last = name.split("__")
        for step in steps:
            attribute = f"{step}_id"
            link = known(endpoint.table.c[attribute]).link if attribute in endpoint.table.c else None
            following = target.registry.target(link)
            if following is None:
                return None
            there = following.table.alias()
            source = source.outerjoin(there, there.c.id == table.c[attribute])
            endpoint, table = following, there
        attribute = last if last in table.c else f"{last}_id"
        if attribute not in table.c:
            return None
        selected.append(table.c[attribute])
    return (source, selected) if selected else None


def _find_one(context: Context, target: Endpoint, wanted: Wanted, attributes: dict[str, Any]) -> None:
    table, dialect = target.table, target.registry.dialect
    try:
        conditions = [paths.keyword(target, table, dialect, name, value) for name, value in attributes.items()]
    except (ValueError, TypeError) as error:
        wanted.error = str(error)
        return
    _take(wanted, list(context.execute(sa.select(table.c.id).where(*conditions).limit(2)).scalars()), attributes)


def _take(wanted: Wanted, found: list[Any], attributes: dict[str, Any]) -> None:
    if len(found) == 1:
        wanted.id = found[0]
    elif isinstance(wanted.field, Many) and wanted.field.by is not None:
        wanted.error = f"Object with {wanted.field.by}={attributes[wanted.field.by]} does not exist."
    else:
        wanted.error = (SEVERAL if found else NO_SUCH).format(attributes)
