"""The contract: what every resource of every package does, as checks that a package's own tests can run.

``pytest --netinv`` runs them over the resources of the installed plugins (:mod:`netinv_testing.plugin`, which has the
fixtures, too). ``for check in CHECKS: if check.applies(endpoint): check(Case(service, endpoint.label))`` is all there
is to it; see ``tests/test_contract.py`` for how netinv does it.

A check makes the objects that it changes. Checks that only read (``@check(reads=True)``), and other tests that do
(``Case(service, label).for_reading()``), share the objects of ``service.population``, which takes a third of the time.

Names are imported from their modules when they are used (PEP 562): every run of pytest loads the plugin.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_testing.cases import Case, Check, check
    from netinv_testing.client import Account, Api, Service, Unique
    from netinv_testing.every_check import CHECKS
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
    "check",
    "sample",
]

_NAMES = {
    "cases": "Case Check check",
    "client": "Account Api Service Unique",
    "every_check": "CHECKS",
    "population": "Population",
    "samples": "Samples sample",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker refuses names that are not in the API

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
        return value
