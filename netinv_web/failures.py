"""Failures of what packages add to pages: the page is shown without it, with the id of the failure in the log."""

from __future__ import annotations

import logging
import sys
import uuid
from typing import TYPE_CHECKING, Any

from netinv_core.package_faults import package_at_fault

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)


def log_failure(registry: Registry, message: str, *arguments: Any, package: str | None = None) -> str:
    """Logs the exception that is being handled, with a random id; returns the id.

    :param package: that failed; by default the plugin that is at fault for the exception
    """
    failure, error = uuid.uuid4().hex[:12], sys.exception()
    if package is None and error is not None:
        package = package_at_fault(registry, error)
    if package is not None and error is not None and registry.is_plugin(package):
        registry.faults.note(registry, package, error)
    place = "" if package is None else f" in the package {package}"
    log.exception(f"{message}%s, failure %s", *arguments, place, failure)
    return failure
