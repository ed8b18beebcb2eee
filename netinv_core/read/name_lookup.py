"""What query parameters name: objects, by id or by a name. Looked up in one statement beforehand, or within the condition itself.

A condition that is kept (a stored filter) holds for whatever has the name when it is used, so that making it asks the database nothing.
What a user may not view has no name: it is answered like what does not exist.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.read import lookups

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Found = Mapping[str, list[Any]]


@dataclasses.dataclass(frozen=True)
class NameQuery:
    """The values of a parameter that name objects of ``target``, by id (``ids``) or by one of the columns ``by``.

    Where only one value counts (not ``multiple``), the error does not repeat it. ``only(table)`` holds for the objects that may be named;
    those of a ``public`` target (statuses, which OPTIONS list) by users who may not view them, too.
    """

    parameter: str
    target: Endpoint
    values: tuple[str, ...]
    by: tuple[str, ...] = ()
    ids: bool = True
    multiple: bool = True
    only: Callable[[Any], Any] | None = None
    public: bool = False

    def keys(self) -> dict[str, Any]:
        """The values that can be ids, as ids.

        :raises Invalid: for one that cannot, where nothing else can be meant
        """
        found: dict[str, Any] = {}
        for value in self.values if self.ids else ():
            try:
                found[value] = lookups.convert(self.target.table.c.id, value)
            except ValueError as error:
                if not self.by:
                    message = f"“{value}” is not a valid value." if self.target.key_type is int else str(error)
                    raise Invalid.field(self.parameter, message) from None
        return found

    def among(self, uow: UnitOfWork, table: Any) -> list[Any]:
        """The conditions on the target's ``table`` that a row is named, and may be viewed."""
        keys = self.keys()
        found = [table.c.id.in_(list(keys.values()))] if keys else []
        fitting = {name: _fitting(table.c[name], self.values) for name in self.by}
        found += [table.c[name].in_(list(values.values())) for name, values in fitting.items() if values]
        limits = [] if self.public else permissions.visible(uow, self.target, table)
        return [lookups.any_of(found), *([self.only(table)] if self.only else []), *limits]

    def select(self, uow: UnitOfWork) -> Any:
        """A select of the ids of what is named."""
        there = self.target.table.alias()
        return sa.select(there.c.id).where(*self.among(uow, there))

    def missing(self, found: Found) -> Invalid | None:
        """What is wrong with the first value that names nothing."""
        value = next((value for value in self.values if not found[value]), None)
        return None if value is None else invalid_choice(self.parameter, value if self.multiple else "That choice")


def invalid_choice(parameter: str, value: str) -> Invalid:
    """The error for a value that is none of those there are."""
    return Invalid.field(parameter, f"Select a valid choice. {value} is not one of the available choices.")


def _fitting(column: Any, values: Sequence[str]) -> dict[str, Any]:
    """The values that the column's type can hold, as it holds them."""
    found: dict[str, Any] = {}
    for value in values:
        try:
            found[value] = lookups.convert(column, value)
        except ValueError:
            continue
    return found


def _look_up(uow: UnitOfWork, names: NameQuery) -> Found:
    """The ids of the objects that each value names; one statement."""
    table, keys = names.target.table, names.keys()
    columns = [table.c[name] for name in names.by]
    fitting = [_fitting(column, names.values) for column in columns]
    rows = uow.execute(sa.select(table.c.id, *columns).where(*names.among(uow, table))).all()
    found: dict[str, list[Any]] = {}
    for value in names.values:
        wanted = [values.get(value, values) for values in fitting]
        found[value] = [row[0] for row in rows if (value in keys and row[0] == keys[value]) or any(map(operator.eq, wanted, row[1:]))]
    return found


def ids_of(uow: UnitOfWork, names: NameQuery, *, apart: bool = False) -> list[Any]:
    """The ids of what is named, of each value (``apart``) or of all together: lists; selects in a context that looks nothing up.

    :raises Invalid: for a value that names nothing, where it is looked up
    """
    if uow.deferred_lookups is not None:
        uow.deferred_lookups.append(names)
        return [dataclasses.replace(names, values=(value,)).select(uow) for value in names.values] if apart else [names.select(uow)]
    found = _look_up(uow, names)
    if (fault := names.missing(found)) is not None:
        raise fault
    return [*found.values()] if apart else [[key for keys in found.values() for key in keys]]


def validation_errors(uow: UnitOfWork, several: Sequence[NameQuery]) -> list[Invalid | None]:
    """What is wrong with each of these, looked up now: one statement for all that are named alike."""
    alike: dict[Any, list[NameQuery]] = {}
    for names in several:
        alike.setdefault((names.target, names.by, names.ids, names.only, names.public), []).append(names)
    found: dict[Any, Found] = {}
    for kind, group in alike.items():
        values = tuple(dict.fromkeys(value for names in group for value in names.values))
        found[kind] = _look_up(uow, dataclasses.replace(group[0], values=values))
    return [names.missing(found[names.target, names.by, names.ids, names.only, names.public]) for names in several]
