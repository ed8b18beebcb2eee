"""Views of packages in the Pyramid configuration, and the attribution of configuration errors to packages.

``Configurator.include`` only queues actions; they are checked and executed by ``Configurator.commit``. An error of the
commit names the queued action by its :class:`ActionInfo`, from which the package is looked up.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from pyramid.config import Configurator
from pyramid.exceptions import ConfigurationConflictError, ConfigurationExecutionError

from netinv_core.packages import PackageError, errors_of

PackageByAction = dict[Any, str]  # ActionInfo of a queued action → name of the package that queued it


def include_packages(config: Configurator) -> PackageByAction:
    """Includes the modules of every application and returns the packages of the actions that they queue.

    :raises PackageError: when an ``includeme`` fails
    """
    registry = config.registry.netinv
    package_by_action: PackageByAction = {}
    for app in registry.apps.values():
        package = registry.packages[app.name]
        queued_before = len(config.action_state.actions)
        with errors_of(package):
            for module in app.includes:
                config.include(module)
        for action in config.action_state.actions[queued_before:]:
            package_by_action[action["info"]] = package
    return package_by_action


@contextlib.contextmanager
def commit_errors_of(package_by_action: PackageByAction, plugins: set[str]) -> Iterator[None]:
    """Attributes errors of a commit within the block to packages. Of conflicting packages the last plugin failed.

    :raises PackageError: for an action of a package that cannot be executed, or conflicts with an earlier one
    """
    try:
        yield
    except ConfigurationExecutionError as error:
        if (package := package_by_action.get(error.info)) is None:
            raise
        raise PackageError(package) from error.evalue
    except ConfigurationConflictError as error:
        conflicting = {info for infos in error._conflicts.values() for info in infos}
        in_conflict = [package for info, package in package_by_action.items() if info in conflicting]
        if not (candidates := [package for package in in_conflict if package in plugins]):
            raise
        raise PackageError(candidates[-1]) from error
