"""The contract: what every resource of every package does, as checks that a package's own tests can run.

``for check in CHECKS: if check.applies(endpoint): check(Case(service, endpoint.label))`` is all there is to it; see
``tests/support/fixtures.py`` and ``tests/test_contract.py`` for how netinv does it.

A check makes the objects that it changes. Checks that only read (``@check(reads=True)``), and other tests that do
(``Case(service, label).for_reading()``), share the objects of ``service.population``, which takes a third of the time.
"""

from netinv_testing.cases import CHECKS, Case, Check, check
from netinv_testing.checks import (
    bulk_results,
    changing,
    conditions,
    creating,
    deleting,
    dry_runs,
    exchanging,
    filtering,
    fuzzing,
    hiding,
    notations,
    ordering,
    paging,
    permitting,
    query_counts,
    racing,
    reading,
    reverting,
    sparse_fields,
)
from netinv_testing.client import Account, Api, Service, Unique
from netinv_testing.population import Population
from netinv_testing.samples import Samples, sample

__all__ = [
    "CHECKS",
    "Account",
    "Api",
    "Case",
    "Check",
    "Population",
    "Samples",
    "Service",
    "Unique",
    "bulk_results",
    "changing",
    "check",
    "conditions",
    "creating",
    "deleting",
    "dry_runs",
    "exchanging",
    "filtering",
    "fuzzing",
    "hiding",
    "notations",
    "ordering",
    "paging",
    "permitting",
    "query_counts",
    "racing",
    "reading",
    "reverting",
    "sample",
    "sparse_fields",
]
