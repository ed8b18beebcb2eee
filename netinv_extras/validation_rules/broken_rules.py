"""Rules that objects break, and how many objects break each, for pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid
from netinv_extras.validation_rules import judging
from netinv_extras.validation_rules.conditions import select_flags
from netinv_extras.validation_rules.judging import JudgedRule
from netinv_extras.validation_rules.models import ValidationRule

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

Rules = Sequence[tuple[Endpoint, JudgedRule]]


def has_rules(uow: UnitOfWork, labels: Collection[str]) -> bool:
    """True when content types have enabled rules. No statement, the rules being cached."""
    rows = judging.rows_of(uow)
    return any(row["enabled"] for label in labels for row in rows.get(label, ()))


def enabled_rules(uow: UnitOfWork, labels: Collection[str]) -> Rules:
    """The enabled rules of installed content types that the user may view, by label and name.

    Rules that their content type does not know any more are left out. One statement, none where there are no rules.
    """
    of_labels = judging.rows_of(uow)
    pairs = [
        (uow.registry[label], row)
        for label in sorted(labels)
        for row in of_labels.get(label, ())
        if row["enabled"] and label in uow.registry.endpoints
    ]
    if not pairs:
        return []
    seen = permissions.visible_ids(uow, uow.registry.of_model(ValidationRule), [row["id"] for _, row in pairs])
    rules = []
    for endpoint, row in pairs:
        if row["id"] in seen:
            try:
                rules.append((endpoint, judging.rule_of(uow, endpoint, row)))
            except Invalid:
                continue
    return rules


def numbers_broken(uow: UnitOfWork, rules: Rules, limits: Mapping[str, Sequence[Any]]) -> list[int]:
    """For each rule, the number of the objects that break it. One statement, none without rules.

    :param limits: conditions of the objects that are counted, by the label of their content type
    """
    selects: list[Any] = [
        sa.select(sa.literal_column(str(number)), sa.func.count())
        .select_from(endpoint.table)
        .where(rule.broken_of_all, *limits[endpoint.label])
        for number, (endpoint, rule) in enumerate(rules)
    ]
    found = dict(uow.execute(sa.union_all(*selects)).tuples().all()) if selects else {}
    return [found[number] for number in range(len(rules))]


def broken_rules(uow: UnitOfWork, endpoint: Endpoint, keys: Collection[Any]) -> dict[Any, list[JudgedRule]]:
    """The enabled rules that objects break, by the id of the object, of the rules that the user may view.

    Rules that their content type does not know any more are left out. Two statements, none where there are no rules.
    """
    rules = [rule for _, rule in enabled_rules(uow, [endpoint.label])] if keys else []
    if not rules:
        return {}
    found: dict[Any, list[JudgedRule]] = {}
    statement = select_flags(endpoint, [rule.broken for rule in rules])
    for key, *flags in uow.execute(statement, {"keys": list(keys)}).tuples():
        broken = [rule for rule, flag in zip(rules, flags, strict=True) if flag]
        if broken:
            found[key] = broken
    return found
