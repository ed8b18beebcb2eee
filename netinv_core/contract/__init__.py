"""The contract: what every resource of every package does, as checks that a package's own tests can run.

``for check in CHECKS: if check.applies(endpoint): check(Case(service, endpoint.label))`` is all there is to it; see
``tests/support/fixtures.py`` and ``tests/test_contract.py`` for how netinv does it.
"""

from netinv_core.contract import budgets, changing, creating, deleting, filtering, fuzzing, hiding, permitting, racing, reading
from netinv_core.contract.cases import CHECKS, Case, Check
from netinv_core.contract.samples import Samples, sample
from netinv_core.contract.service import Account, Api, Service, Unique

__all__ = [
    "CHECKS",
    "Account",
    "Api",
    "Case",
    "Check",
    "Samples",
    "Service",
    "Unique",
    "budgets",
    "changing",
    "creating",
    "deleting",
    "filtering",
    "fuzzing",
    "hiding",
    "permitting",
    "racing",
    "reading",
    "sample",
]
