"""Every check of the contract: :data:`CHECKS`, once the modules of :mod:`netinv_testing.checks` are imported."""

import importlib
import pkgutil

from netinv_testing import checks
from netinv_testing.cases import CHECKS

__all__ = ["CHECKS"]

for module in pkgutil.iter_modules(checks.__path__, f"{checks.__name__}."):
    importlib.import_module(module.name)
