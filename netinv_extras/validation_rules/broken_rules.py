"""Rules that objects break, for the pages of the objects."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.types import Endpoint, UnitOfWork
from netinv_extras.validation_rules import judging
from netinv_extras.validation_rules.conditions import select_flags
from netinv_extras.validation_rules.judging import JudgedRule
from netinv_extras.validation_rules.models import ValidationRule


def broken_rules(uow: UnitOfWork, endpoint: Endpoint, keys: Collection[Any]) -> dict[Any, list[JudgedRule]]:
    """The enabled rules that objects break, by the id of the object, of the rules that the user may view.

    Rules that their content type does not know any more are left out. Two statements, none where there are no rules.
    """
    rows = [row for row in judging.rows_of(uow).get(endpoint.label, ()) if row["enabled"]]
    if not rows or not keys:
        return {}
    seen = permissions.visible_ids(uow, uow.registry.of_model(ValidationRule), [row["id"] for row in rows])
    rules = []
    for row in rows:
        if row["id"] in seen:
            try:
                rules.append(judging.rule_of(uow, endpoint, row))
            except Invalid:
                continue
    if not rules:
        return {}
    found: dict[Any, list[JudgedRule]] = {}
    statement = select_flags(endpoint, [rule.broken for rule in rules])
    for key, *flags in uow.execute(statement, {"keys": list(keys)}).tuples():
        broken = [rule for rule, flag in zip(rules, flags, strict=True) if flag]
        if broken:
            found[key] = broken
    return found
