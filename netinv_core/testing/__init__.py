"""The contract: what every resource of every package does, as checks that a package's own tests can run.

``for check in CHECKS: if check.applies(endpoint): check(Case(service, endpoint.label))`` is all there is to it; see
``tests/support/fixtures.py`` and ``tests/test_contract.py`` for how netinv does it.
"""

from netinv_core.testing.cases import CHECKS, Case, Check
from netinv_core.testing.checks import changing, creating, deleting, filtering, fuzzing, hiding, permitting, query_counts, racing, reading
from netinv_core.testing.client import Account, Api, Service, Unique
from netinv_core.testing.samples import Samples, sample

__all__ = [
    "CHECKS",
    "Account",
    "Api",
    "Case",
    "Check",
    "Samples",
    "Service",
    "Unique",
    "changing",
    "creating",
    "deleting",
    "filtering",
    "fuzzing",
    "hiding",
    "permitting",
    "query_counts",
    "racing",
    "reading",
    "sample",
]
