"""Compiled SELECTs by their structure, for statements that are built for each request, such as those of filters.

SQLAlchemy's engine keeps compiled statements too; the rest of its execution takes 0.2 ms of processor time for each,
half of it for lists of values and inlined numbers.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from netinv_core.caches import BoundedCache
from netinv_core.db.read_connection import ReadConnection
from netinv_core.db.row_select import DriverText, Processor, Row, driver_rows

MAX_SELECTS = 500
# Of the texts of all SELECTs, for other numbers of values and other inlined numbers: one for 10,000 ids has 1 MiB.
MAX_TEXT_BYTES = 32 << 20
STATEMENT_BYTES, NAME_BYTES = 40 << 10, 80  # of the statement of a text, and of the name of one of the values
_Text = tuple[DriverText, Mapping[str, Sequence[str]]]


@dataclasses.dataclass(frozen=True)
class _Parameter:
    """A parameter of a compiled SELECT: its ``key`` among those that are built with it, the ``name`` in the text, and
    the conversion of values. The text depends on the number of values of a ``listed`` one, and on an ``inlined`` one.
    """

    key: str
    name: str
    convert: Processor | None
    listed: bool
    inlined: bool


class _Structure:
    """A compiled SELECT without the values of its parameters. ``keys`` are their names in the order of the cache key;
    other SELECTs of the same structure have other names.
    """

    def __init__(self, statement: Any, dialect: Dialect, keys: Sequence[str]) -> None:
        self.keys = keys
        self._statement = statement
        self._compiled: Any = statement.compile(dialect=dialect)
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

    def execution(self, bound: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[DriverText, dict[str, Any]]:
        """The text and its parameters, for the values of ``bound`` parameters, and those that are ``given``."""
        values = {
            item.key: given[item.key] if item.key in given else bound.get(item.key, self._own[item.key]).effective_value
            for item in self._parameters
        }
        text, names = _texts.get_or_make((self._number, *self._variant(values)), lambda: self._text(values))
        parameters: dict[str, Any] = {}
        for item in self._parameters:
            value, convert = values[item.key], item.convert
            if item.listed:
                value = value if convert is None else [convert(part) for part in value]
                parameters.update(zip(names[item.name], value, strict=True))
            elif not item.inlined:
                parameters[item.name] = value if convert is None else convert(value)
        return text, parameters

    def _variant(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """The key of a text: the numbers of values, and the inlined ones."""
        if not self._varies:
            return ()
        return tuple(
            len(values[item.key]) if item.listed else values[item.key]
            for item in self._parameters
            if item.listed or item.inlined
        )

    def _text(self, values: Mapping[str, Any]) -> _Text:
        """The text, and the names of its parameters for each list of values."""
        if not self._varies:
            return DriverText(self._statement, self._compiled.string), {}
        expanded = self._compiled.construct_expanded_state(values)
        return DriverText(self._statement, expanded.statement), expanded.parameter_expansion


def _bytes(text: _Text) -> int:
    """About the memory of a text."""
    return STATEMENT_BYTES + 2 * len(text[0].text) + NAME_BYTES * sum(map(len, text[1].values()))


_numbers = itertools.count()  # of structures, whose texts do not keep them
_texts: BoundedCache[_Text] = BoundedCache("texts", MAX_TEXT_BYTES, _bytes)
_compiled: BoundedCache[_Structure] = BoundedCache("selects", MAX_SELECTS)


def rows(
    connection: ReadConnection, statement: Any, given: Mapping[str, Any], conditions: Sequence[Any] = ()
) -> Sequence[Row]:
    """The rows of a SELECT, for the values of its parameters that are ``given``.

    :param conditions: further ones, for a SELECT that is kept and whose own parameters are all given; only they are
        compared with those of other requests then
    :raises sqlalchemy.exc.DBAPIError: as :meth:`sqlalchemy.engine.Connection.execute`
    """
    key = (sa.and_(*conditions) if conditions else statement)._generate_cache_key()
    if key is None:
        return connection.whole.execute(statement.where(*conditions), given).all()
    bound = key.bindparams

    def build() -> _Structure:
        names = [parameter.key for parameter in bound]
        return _Structure(statement.where(*conditions) if conditions else statement, connection.dialect, names)

    structure = _compiled.get_or_make((statement, key.key) if conditions else key.key, build)
    text, parameters = structure.execution(dict(zip(structure.keys, bound, strict=True)), given)
    return text.converted(driver_rows(connection, text, parameters))
