"""Plugins that fail again and again while the service runs: it is put together anew without them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from netinv_core.packages import PackageError, Packages, quarantine, reason_of

log = logging.getLogger(__name__)


class FailsTooOften(Exception):
    """The reason for which a plugin is set aside: how often it failed, and the last failure."""


def watch(app: Any, packages: Packages, build: Callable[[Packages], Any], current: Any = None) -> None:
    """Has the application answer as one without a plugin, once the plugin has failed too often: until the next start.

    :param packages: those that ``build`` makes an application of
    :param current: the application that answers in place of ``app``, if another one does
    """
    registry = (current or app).registry.netinv
    broken = {failed.name for failed in registry.broken}
    loaded = [item for item in packages[0] if item[0] not in broken], list(registry.broken)

    def set_aside(package: str, failures: int, error: BaseException) -> None:
        failure = PackageError(package)
        failure.__cause__ = FailsTooOften(
            f"it failed {failures} times, and is set aside until the next start; the last failure: {reason_of(error)}"
        )
        arguments = (app, quarantine(loaded, failure), build, registry)
        threading.Thread(target=_replace, args=arguments, name="netinv-set-aside", daemon=True).start()

    registry.faults.set_aside = set_aside


def _replace(app: Any, packages: Packages, build: Callable[[Packages], Any], registry: Any) -> None:
    """Makes an application of the packages, which answers the requests of ``app`` from then on. It has the settings of
    the registry before, which may be reloaded. Requests that have begun are answered by the former one.
    """
    try:
        other = build(packages)
    except Exception:
        log.exception("the service could not be put together without a package that fails")
        return
    other.registry.netinv.settings = registry.settings
    watch(app, packages, build, other)
    app.execution_policy = lambda environ, router: other.execution_policy(environ, other)
