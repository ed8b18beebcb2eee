"""The contract tests under their former name. The distribution ``netinv-testing`` has them: :mod:`netinv_testing`."""

from netinv_testing import CHECKS, Account, Api, Case, Check, Population, Samples, Service, Unique, check, sample

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
