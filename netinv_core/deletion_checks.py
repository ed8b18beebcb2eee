"""Checks of what plugins have deleted, retentions and cascades, when the service starts: a table that is not there
would fail the upkeep, or every deletion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.sql import visitors

from netinv_core.declaration_checks import DeclarationError
from netinv_core.models.base import now
from netinv_core.nearest import hint

if TYPE_CHECKING:
    from netinv_core.registry import Registry


def check(registry: Registry) -> None:
    """Checks the names in retentions and cascades of plugins; failures are gathered in the registry."""
    for package, retention in _of_plugins(registry, "netinv_retention"):
        with registry.failures.of(package):
            _check_retention(registry, retention)
    for package, cascade in _of_plugins(registry, "netinv_generic_cascades"):
        with registry.failures.of(package):
            _check_cascade(registry, cascade)


def tables(registry: Registry) -> Iterator[tuple[str, str, sa.Table]]:
    """The package, the declaration and the table of each retention and cascade of plugins, and of what their conditions
    read.
    """
    for package, retention in _of_plugins(registry, "netinv_retention"):
        for table in _tables_in([retention.table, _condition(registry, retention)]):
            yield package, f"the retention of {retention.table.name}", table
    for package, cascade in _of_plugins(registry, "netinv_generic_cascades"):
        yield package, f"the cascade to {cascade.table.name}", cascade.table


def _of_plugins(registry: Registry, hook: str) -> list[tuple[str, Any]]:
    found = registry.call_each(hook, registry=registry)
    return [(package, item) for package, items in found if registry.is_plugin(package) for item in items]


def _check_retention(registry: Registry, retention: Any) -> None:
    """Checks that rows of a table can be deleted by a condition.

    :raises DeclarationError: for what is no table, has no key of one column, or a condition that fails or is none
    """
    table = retention.table
    _check_table("a retention", table)
    if len(table.primary_key.columns) != 1:
        raise DeclarationError(f"the retention of {table.name} needs a primary key of one column")
    try:
        condition = _condition(registry, retention)
    except KeyError as error:
        message = f"old of the retention of {table.name} names {error}, which is no setting"
        raise DeclarationError(f"{message}{hint(str(error.args[0]), registry.settings)}") from error
    if condition is not None and not isinstance(condition, sa.ClauseElement):
        kind = type(condition).__name__
        raise DeclarationError(f"old of the retention of {table.name} returns {kind} instead of a condition or None")


def _condition(registry: Registry, retention: Any) -> Any:
    return retention.old(registry.settings, now())


def _check_cascade(registry: Registry, cascade: Any) -> None:
    """Checks the model and the columns of a cascade.

    :raises DeclarationError: for one that is not there
    """
    label, table = cascade.label, cascade.table
    _check_table("a cascade", table)
    if label is not None:
        models = {**registry.endpoints, **registry.unserved}
        if label not in models:
            message = f"the cascade to {table.name} names {label!r}, which is no model"
            raise DeclarationError(f"{message}{hint(str(label), models)}")
        if models[label].table is not table:
            raise DeclarationError(f"the cascade to {label} has the table {table.name} instead of that of the model")
    for name in (cascade.type_column, cascade.id_column):
        if name not in table.c:
            message = f"the cascade to {table.name} names {name!r}, which is no column"
            raise DeclarationError(f"{message}{hint(str(name), table.c.keys())}")


def _check_table(declared: str, table: Any) -> None:
    if not isinstance(table, sa.Table):
        raise DeclarationError(f"the table of {declared} is {table!r}; expected an sqlalchemy.Table (table_of(Model))")


def _tables_in(parts: Iterable[Any]) -> list[sa.Table]:
    """The tables of SQL expressions, and those of their columns."""
    found: dict[sa.Table, None] = {}
    for part in parts:
        for element in visitors.iterate(part) if isinstance(part, sa.ClauseElement) else ():
            table = element if isinstance(element, sa.Table) else getattr(element, "table", None)
            if isinstance(table, sa.Table):
                found[table] = None
    return list(found)
