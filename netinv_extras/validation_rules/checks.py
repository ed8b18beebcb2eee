"""Check of ``netinv check``: enabled rules that refuse nothing, as their filters are not valid any more."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from netinv_core.auth.account import ANONYMOUS
from netinv_core.errors import Invalid, error_text
from netinv_core.findings import OK, WARNING, Finding
from netinv_core.uow import UnitOfWork
from netinv_extras.validation_rules import judging

if TYPE_CHECKING:
    from netinv_core.registry import Registry

CHECK, REMEDY = "validation rules", "correct the filters of the rule, or delete it"


def findings(engine: Engine, registry: Registry) -> Iterable[Finding]:
    """A finding for each rule that cannot be judged, or one for all rules."""
    faults, count = [], 0
    with Session(engine) as session:
        uow = UnitOfWork(registry, session, ANONYMOUS).as_system()
        for label, rows in judging.rows_of(uow).items():
            endpoint = registry.get(label)
            for row in filter(operator.itemgetter("enabled"), rows if endpoint is not None else ()):
                count += 1
                try:
                    judging.rule_of(uow, registry[label], row)
                except Invalid as error:
                    message = f"the rule “{row['name']}” refuses nothing: {error_text(error.body)}"
                    faults.append(Finding(CHECK, WARNING, message, REMEDY))
    return faults or [Finding(CHECK, OK, f"{count} enabled rules can be judged")]
