"""Objects by names in cells: the text that identifies an object, and the objects that the rows of a table are about.

A cell names an object by its natural attribute (:attr:`netinv_core.endpoint.Endpoint.natural_attribute`) where that is
unambiguous among the objects that the user may view, else by its id.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.engine import in_parameter
from netinv_core.errors import FieldErrors
from netinv_core.read import relations
from netinv_core.read.union import Union
from netinv_core.write import attribute_references, reference_messages, schema
from netinv_core.write.attribute_references import Attributes
from netinv_core.write.reference_messages import NO_SUCH, SEVERAL

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

References = Iterable[tuple["Endpoint", Any]]


@dataclasses.dataclass(frozen=True)
class IdentifiedObjects:
    """The names of objects that identify them, by endpoint and id."""

    names: Mapping[Endpoint, Mapping[Any, str]]

    def text_of(self, target: Endpoint | None, key: Any) -> str:
        """The cell of a reference: a name, or the id."""
        name = self.names.get(target, {}).get(key) if target is not None else None
        return str(key) if name is None else name


def identify(uow: UnitOfWork, references: References) -> IdentifiedObjects:
    """Looks up the identifying names of objects: one statement for all of them."""
    keys_by_target: dict[Endpoint, set[Any]] = {}
    for target, key in references:
        if target.natural_attribute is not None:
            keys_by_target.setdefault(target, set()).add(key)
    if not keys_by_target:
        return IdentifiedObjects({})
    parts = [_part(uow, target, f"keys{number}") for number, target in enumerate(keys_by_target)]
    parameters = {f"keys{number}": list(keys) for number, keys in enumerate(keys_by_target.values())}
    results = Union(uow.registry.dialect, parts).rows(uow, parameters)
    names = {
        target: {key: str(name) for key, name in rows if _is_name(target, name)}
        for target, rows in zip(keys_by_target, results, strict=True)
    }
    return IdentifiedObjects(names)


def _part(uow: UnitOfWork, target: Endpoint, parameter: str) -> tuple[list[Any], Any, Any]:
    """SELECT of ids and names of visible objects whose name no other visible object has."""
    table, attribute = target.table, str(target.natural_attribute)
    conditions = [in_parameter(uow.registry.dialect, table.c.id, parameter), *permissions.visible(uow, target, table)]
    if not table.c[attribute].unique:
        other = table.alias()
        unambiguous = sa.select(other.c[attribute]).where(*permissions.visible(uow, target, other))
        unambiguous = unambiguous.group_by(other.c[attribute]).having(sa.func.count() == 1)
        conditions.append(table.c[attribute].in_(unambiguous))
    return [table.c.id, table.c[attribute]], table, sa.and_(*conditions)


def _is_name(target: Endpoint, name: Any) -> bool:
    """True for a name that a cell can hold and that is not read as an id."""
    text = "" if name is None else str(name)
    return bool(text) and text == text.strip() and target.parse_key(text) is None


def key_fields(endpoint: Endpoint, names: Collection[str]) -> tuple[str, ...] | None:
    """The fields among ``names`` that identify an object: a unique one, a unique set, or else the natural attribute."""
    natural = endpoint.natural_attribute
    fields = {column: name for name in endpoint.writable if (column := relations.column_of(endpoint, name)) is not None}
    columns = sorted(endpoint.table.c, key=lambda column: column.key != natural)
    unique = [(fields[column.key],) for column in columns if column.unique and column.key in fields]
    sets = [
        constraint.columns for constraint in endpoint.table.constraints if isinstance(constraint, sa.UniqueConstraint)
    ]
    named = [
        tuple(fields[column.key] for column in columns)
        for columns in sets
        if all(column.key in fields for column in columns)
    ]
    candidates = [*unique, *sorted(named), *([(natural,)] if natural is not None else [])]
    return next((candidate for candidate in candidates if set(candidate) <= set(names)), None)


def match(
    uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]], key: Sequence[str]
) -> tuple[list[Any], list[FieldErrors]]:
    """Finds the objects that bodies are about, by the fields ``key``: one statement for each form of the key.

    Returns the ids, and the errors of bodies that match no object or several.
    """
    ids: list[Any] = [None] * len(bodies)
    errors: list[FieldErrors] = [{} for _ in bodies]
    groups: dict[tuple[Any, ...], list[tuple[int, Attributes]]] = {}
    for position, body in enumerate(bodies):
        reasons = {name: schema.storage_error(body[name]) if name in body else schema.REQUIRED for name in key}
        if any(reasons.values()):
            errors[position] = {name: [reason] for name, reason in reasons.items() if reason}
            continue
        try:
            attributes = attribute_references.parse(endpoint, {name: body[name] for name in key})
        except ValueError as error:
            errors[position] = {key[0]: [str(error)]}
            continue
        groups.setdefault(tuple(attributes.values), []).append((position, attributes))
    for group in groups.values():
        matches = attribute_references.find(uow, endpoint, [attributes for _, attributes in group])
        for (position, attributes), keys in zip(group, matches, strict=True):
            if len(keys) == 1:
                ids[position] = keys[0]
            else:
                message = SEVERAL if keys or not attributes.identifying else NO_SUCH
                errors[position] = {key[0]: [message.format(reference_messages.short(str(attributes.sent)))]}
    return ids, errors
