"""Rules of an endpoint, called for the drafts that they are about."""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.models.types import Json
from netinv_core.write import read_locks
from netinv_core.wrong_results import WrongResult

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

_NUMBERS = (int, float, decimal.Decimal)


def run(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Calls each rule for the drafts without errors; a rule of some columns for those that change one of these.

    What the rules read is locked first.
    """
    read_locks.lock(uow, endpoint, [draft for draft in drafts if not draft.errors])
    for rule in endpoint.rules:
        columns = getattr(rule, "changing", ())
        concerned = [draft for draft in drafts if not draft.errors and (not columns or draft.changed(*columns))]
        if not concerned:
            continue
        plugin = endpoint.plugin_of_rule(rule)
        if plugin is None:
            rule(uow, concerned)
        else:
            _run_checked(uow, endpoint, rule, concerned, plugin)


def _run_checked(uow: UnitOfWork, endpoint: Endpoint, rule: Rule, drafts: Sequence[Draft], plugin: str) -> None:
    """Calls a rule of a plugin.

    :raises WrongResult: when it gives a column a value that the column cannot hold
    """
    before = [dict(draft.values) for draft in drafts]
    rule(uow, list(drafts))
    for draft, values in zip(drafts, before, strict=True):
        for name, value in draft.values.items():
            if name in values and values[name] is value:
                continue
            if (expected := _expected_values(endpoint.table.c, name, value)) is not None:
                given = "null" if value is None else type(value).__name__
                message = f"a rule gives {name} of {endpoint.label} {given} instead of {expected}"
                raise WrongResult(message, package=plugin)


def _expected_values(columns: Mapping[str, Any], name: str, value: Any) -> str | None:
    """Words for the values that a column takes, in place of one that it does not; ``None`` for one that it takes."""
    column = columns.get(name)
    if column is None:
        return f"a value to one of {', '.join(columns.keys())}"
    if value is None:
        return None if column.nullable else "a value"
    try:
        kind = column.type.python_type
    except NotImplementedError:
        return None
    is_held = isinstance(value, _NUMBERS if kind in _NUMBERS else kind)
    return None if is_held or isinstance(column.type, Json) or hasattr(value, "__clause_element__") else kind.__name__
