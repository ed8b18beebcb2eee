"""Compiled statements by their structure: without the values of their parameters.

SQLAlchemy's engine keeps compiled statements too; the rest of its execution takes 0.2 ms of processor time for each,
half of it for lists of values and inlined numbers.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from netinv_core.caches import BoundedCache
from netinv_core.driver.results import Row
from netinv_core.driver.undocumented import result_metadata, structure_key

MAX_STRUCTURES, MAX_STATEMENTS = 500, 2000
# Of the texts of all statements, for other numbers of values and other inlined numbers: one for 10,000 ids has 1 MiB.
MAX_TEXT_BYTES = 32 << 20
STATEMENT_BYTES, NAME_BYTES = 40 << 10, 80  # of the statement of a text, and of the name of one of the values
_PARAMETER = re.compile(r"%(?:%|\((\w+)\)s)")
Processor = Any  # converts one value to or from what the driver takes


class ServerText:
    """The text of a statement as the server gets it: with the parameters ``$1``, ``$2`` … in place of named ones, whose
    ``names`` are in this order.
    """

    def __init__(self, text: str) -> None:
        positions: dict[str, int] = {}

        def numbered(match: re.Match[str]) -> str:
            name = match[1]
            return "%" if name is None else f"${positions.setdefault(name, len(positions) + 1)}"

        self.content = _PARAMETER.sub(numbered, text).encode()
        self.names = list(positions)


class DriverText:
    """The text of a statement for the driver, and the conversions of values by position, which are known from the first
    result.
    """

    def __init__(self, columns: Sequence[Any], text: str) -> None:
        self.text = text
        self.server_text = ServerText(text)
        self.results: Sequence[tuple[int, Processor]] | None = None
        self.metadata: Any = None
        self._columns = columns

    def learn_results(self, dialect: Dialect, description: Sequence[Any] | None) -> None:
        """Finds the conversions of values; some depend on the type that the database returns."""
        described = list(description or ())
        columns = enumerate(zip(self._columns, described, strict=True))
        processors = (
            (position, column.type.dialect_impl(dialect).result_processor(dialect, found[1]))
            for position, (column, found) in columns
        )
        results = [(position, convert) for position, convert in processors if convert is not None]
        names = [found[0] for found in described]
        self.metadata = result_metadata(names, self._columns) if names else None
        self.results = results

    def convert(self, rows: list[Row]) -> list[Row]:
        """The rows with values as SQLAlchemy has them."""
        if not self.results:
            return rows
        converted: list[Row] = []
        for row in rows:
            values = list(row)
            for position, convert in self.results:
                values[position] = convert(values[position])
            converted.append(tuple(values))
        return converted


@dataclasses.dataclass(frozen=True)
class _Parameter:
    """A parameter of a compiled statement: its ``key`` among those that are built with it, the ``name`` in the text,
    and the conversion of values. The text depends on the number of values of a ``listed`` one, and on an ``inlined``
    one.
    """

    key: str
    name: str
    convert: Processor | None
    listed: bool
    inlined: bool


class Structure:
    """A compiled statement without the values of its parameters. ``keys`` are their names in the order of the key of
    the structure; other statements of the same structure have other names.

    ``columns`` are those that each of many rows gives values for; the statement ``takes_rows`` when these are its
    parameters. ``is_complete`` is false for a statement for which SQLAlchemy computes values when it runs, such as
    defaults.
    """

    def __init__(
        self, statement: Any, dialect: Dialect, keys: Sequence[str], columns: Sequence[str] | None = None
    ) -> None:
        self.keys = keys
        many = {} if columns is None else {"column_keys": list(columns), "for_executemany": True}
        self._compiled: Any = statement.compile(dialect=dialect, **many)
        self._columns: Sequence[Any] = list(statement.exported_columns)
        self._number = next(_numbers)
        self._parameters = [
            _Parameter(
                parameter.key,
                name,
                parameter.type.dialect_impl(dialect).bind_processor(dialect),
                parameter.expanding,
                parameter in self._compiled.literal_execute_params,
            )
            for parameter, name in self._compiled.bind_names.items()
        ]
        self._own = {parameter.key: parameter for parameter in self._compiled.bind_names}
        self._varies = any(parameter.listed or parameter.inlined for parameter in self._parameters)
        self.text = None if self._varies else DriverText(self._columns, self._compiled.string)
        own = {(item.key, item.name) for item in self._parameters}
        self.takes_rows = not self._varies and own == {(name, name) for name in columns or ()}
        self.is_complete = not statement.is_dml or not (self._compiled.prefetch or self._compiled.implicit_returning)

    def execution(self, bound: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[DriverText, dict[str, Any]]:
        """The text and its parameters, for the values of ``bound`` parameters, and those that are ``given``."""
        if self.text is not None:
            return self.text, self._fixed_parameters(bound, given)
        values = {
            item.key: given[item.key] if item.key in given else bound.get(item.key, self._own[item.key]).effective_value
            for item in self._parameters
        }
        text, names = _texts.get_or_make((self._number, *self._variant(values)), lambda: self._expand(values))
        parameters: dict[str, Any] = {}
        for item in self._parameters:
            value, convert = values[item.key], item.convert
            if item.listed:
                value = value if convert is None else [convert(part) for part in value]
                parameters.update(zip(names[item.name], value, strict=True))
            elif not item.inlined:
                parameters[item.name] = value if convert is None else convert(value)
        return text, parameters

    def _fixed_parameters(self, bound: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of a text that does not depend on values."""
        parameters: dict[str, Any] = {}
        for item in self._parameters:
            key, convert = item.key, item.convert
            value = given[key] if key in given else bound.get(key, self._own[key]).effective_value
            parameters[item.name] = value if convert is None else convert(value)
        return parameters

    def row_parameters(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The parameters of each of many rows, which have values of all of them."""
        converting = [(item.name, item.key, item.convert) for item in self._parameters if item.convert is not None]
        result = []
        for row in rows:
            parameters = dict(row)
            for name, key, convert in converting:
                parameters[name] = convert(parameters[key])
            result.append(parameters)
        return result

    def _variant(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """The key of a text: the numbers of values, and the inlined ones."""
        return tuple(
            len(values[item.key]) if item.listed else values[item.key]
            for item in self._parameters
            if item.listed or item.inlined
        )

    def _expand(self, values: Mapping[str, Any]) -> tuple[DriverText, Mapping[str, Sequence[str]]]:
        """The text, and the names of its parameters for each list of values."""
        expanded = self._compiled.construct_expanded_state(values)
        return DriverText(self._columns, expanded.statement), expanded.parameter_expansion


@dataclasses.dataclass(frozen=True)
class Bound:
    """A structure, with the parameters of one statement that has it."""

    structure: Structure
    parameters: Mapping[str, Any]

    def execution(self, given: Mapping[str, Any]) -> tuple[DriverText, dict[str, Any]]:
        """The text and its parameters, for the values that are ``given``."""
        return self.structure.execution(self.parameters, given)


def _bytes(text: tuple[DriverText, Mapping[str, Sequence[str]]]) -> int:
    """About the memory of a text."""
    return STATEMENT_BYTES + 2 * len(text[0].text) + NAME_BYTES * sum(map(len, text[1].values()))


_numbers = itertools.count()  # of structures, whose texts do not keep them
_texts: BoundedCache[Any] = BoundedCache("texts", MAX_TEXT_BYTES, _bytes)
_structures: BoundedCache[Structure] = BoundedCache("structures", MAX_STRUCTURES)
# By the statement itself, which needs no key then: for those that ran before, as modules and plans keep them.
_kept: BoundedCache[Any] = BoundedCache("statements", MAX_STATEMENTS)
_RAN = "netinv_ran"  # attribute of a statement that ran: its own id, as statements made of it copy the attribute


def bind(statement: Any, dialect: Dialect, conditions: Sequence[Any] = ()) -> Bound | None:
    """A statement in its compiled form; ``None`` where it has no key.

    :param conditions: further ones, for a SELECT that is kept and whose own parameters are all given; only they are
        compared with those of other requests then
    """
    if not conditions and (known := _kept.get(statement)) is not None:
        return cast(Bound, known)
    key = structure_key(sa.and_(*conditions) if conditions else statement)
    if key is None:
        return None

    def build() -> Structure:
        names = [parameter.key for parameter in key.bindparams]
        return Structure(statement.where(*conditions) if conditions else statement, dialect, names)

    structure = _structures.get_or_make((statement, key.key) if conditions else key.key, build)
    found = Bound(structure, dict(zip(structure.keys, key.bindparams, strict=True)))
    if not conditions and structure.text is not None:  # lists of values that a statement has may be long
        _keep(statement, statement, found)
    return found


def for_rows(statement: Any, dialect: Dialect, columns: tuple[str, ...]) -> Structure | None:
    """An INSERT or UPDATE in its compiled form, for rows with values of these columns; ``None`` where SQLAlchemy adds
    to them.
    """
    structure = cast("Structure | None", _kept.get((statement, columns)))
    if structure is None:
        key = structure_key(statement)
        if key is None:
            return None
        structure = _structures.get_or_make((key.key, columns), lambda: Structure(statement, dialect, (), columns))
        _keep(statement, (statement, columns), structure)
    return structure if structure.is_complete and structure.takes_rows else None


def _keep(statement: Any, name: Any, compiled: Bound | Structure) -> None:
    """Keeps the compiled form of a statement that runs for the second time.

    A set of weak references would call Python when a statement is freed, and lose an exception that the time limit of a
    job raises there.
    """
    if getattr(statement, _RAN, None) == id(statement):
        _kept.set(name, compiled)
    else:
        setattr(statement, _RAN, id(statement))
