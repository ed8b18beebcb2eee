"""The installed plugins, whose resources ``pytest --netinv`` tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from netinv_core.main import registry_for
from netinv_testing.databases import DIALECT

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


class AnyCheck(Protocol):
    """A check of REST or of pages."""

    @property
    def name(self) -> str:
        """The checked property."""

    @property
    def applies(self) -> Callable[[Endpoint], bool]:
        """True for the resources that have the property."""


REGISTRY = registry_for(DIALECT, {})
PLUGINS = sorted(app.name for app in REGISTRY.apps.values() if app.plugin)


def check_plugins() -> None:
    """Checks that there is something to test.

    :raises pytest.UsageError: when no plugin is installed, or one does not load
    """
    for package in REGISTRY.broken:
        raise pytest.UsageError(f"{package.name} ({package.distribution}) does not load: {package.reason}")
    if not PLUGINS:
        raise pytest.UsageError("no plugin of netinv is installed; install yours: pip install -e .")


def contract_of_plugins(checks: Sequence[AnyCheck]) -> list[Any]:
    """The parameters ``check, label`` of a test of every check with every resource of plugins that it applies to."""
    return [
        pytest.param(check, label, id=f"{label}-{check.name}")
        for label, endpoint in sorted(REGISTRY.endpoints.items())
        for check in checks
        if endpoint.app.plugin and check.applies(endpoint)
    ]
