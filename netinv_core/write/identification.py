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
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import FieldErrors
from netinv_core.fields import schema
from netinv_core.sql import relations
from netinv_core.sql.union import Union
from netinv_core.write import attribute_references, reference_messages
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
    results = Union(parts).rows(uow, parameters)
    names = {
        target: {key: str(name) for key, name in rows if _is_name(target, name)}
        for target, rows in zip(keys_by_target, results, strict=True)
    }
    return IdentifiedObjects(names)


def _part(uow: UnitOfWork, target: Endpoint, parameter: str) -> tuple[list[Any], Any, Any]:
    """SELECT of ids and names of visible objects whose name no other visible object has."""
    table, attribute = target.table, str(target.natural_attribute)
    conditions = [in_parameter(table.c.id, parameter), *permissions.visible(uow, target, table)]
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
    return next((key for key in natural_keys(endpoint) if set(key) <= set(names)), None)


def natural_keys(endpoint: Endpoint) -> list[tuple[str, ...]]:
    """The fields that identify an object: unique ones, unique sets, then the natural attribute, with those that it is
    within, and alone.
    """
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
    by_name = [natural_key(endpoint), (natural,)] if natural is not None and natural in endpoint.writable else []
    return list(dict.fromkeys([*unique, *sorted(named), *by_name]))


def natural_key(endpoint: Endpoint) -> tuple[str, ...]:
    """The natural attribute with the references that it is within: the prefix and its VRF."""
    return (str(endpoint.natural_attribute), *endpoint.resource.natural_within)


@dataclasses.dataclass(frozen=True)
class KeyMatch:
    """The objects that a body is about by its key: their ids, two at most, or the errors of members of the key."""

    ids: Sequence[Any] = ()
    errors: FieldErrors = dataclasses.field(default_factory=dict)
    attributes: Attributes = dataclasses.field(default_factory=Attributes)
    target: Endpoint | None = None

    @property
    def ambiguous(self) -> bool:
        """True where the key does not identify an object: several have it, or it has nothing but nulls."""
        return not self.errors and (len(self.ids) > 1 or not self.attributes.identifying)

    @property
    def message(self) -> str:
        """The reason why the body is about no object that exists."""
        template = SEVERAL if self.ambiguous else NO_SUCH
        return reference_messages.message(template, self.target, self.attributes.sent)


def find(
    uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]], key: Sequence[str]
) -> list[KeyMatch]:
    """Finds the objects that bodies are about, by the fields ``key``; one statement."""
    matches: list[KeyMatch] = []
    groups: dict[tuple[Any, ...], list[tuple[int, Attributes]]] = {}
    for position, body in enumerate(bodies):
        matches.append(_parse_key(endpoint, body, key))
        if not matches[-1].errors:
            attributes = matches[-1].attributes
            groups.setdefault(tuple(attributes.values), []).append((position, attributes))
    searches = [(endpoint, [attributes for _, attributes in group]) for group in groups.values()]
    for group, found in zip(groups.values(), attribute_references.find_together(uow, searches), strict=True):
        for (position, attributes), ids in zip(group, found, strict=True):
            matches[position] = KeyMatch(ids, attributes=attributes, target=endpoint)
    return matches


def _parse_key(endpoint: Endpoint, body: Mapping[str, Any], key: Sequence[str]) -> KeyMatch:
    """Parses the members of a key; the ids are not yet known."""
    reasons = {name: schema.storage_error(body[name]) if name in body else schema.REQUIRED for name in key}
    if any(reasons.values()):
        return KeyMatch(errors={name: [reason] for name, reason in reasons.items() if reason})
    values = {name: body[name].strip() if isinstance(body[name], str) else body[name] for name in key}
    try:
        return KeyMatch(attributes=attribute_references.parse(endpoint, values), target=endpoint)
    except ValueError as error:
        return KeyMatch(errors={key[0]: [str(error)]})


def match(
    uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]], key: Sequence[str]
) -> tuple[list[Any], list[FieldErrors]]:
    """Returns the ids of the objects that bodies are about, and the errors of bodies that match none or several."""
    matches = find(uow, endpoint, bodies, key)
    ids = [found.ids[0] if len(found.ids) == 1 else None for found in matches]
    errors = [
        found.errors or ({key[0]: [found.message]} if object_id is None else {})
        for found, object_id in zip(matches, ids, strict=True)
    ]
    return ids, errors
