"""Contract of the installed plugins: tests that ``pytest --netinv`` collects."""

from __future__ import annotations

import pytest

from netinv_admin import migrate
from netinv_testing import CHECKS, Case, Check, Service
from netinv_testing.plugins import PLUGINS, contract_of_plugins


@pytest.mark.parametrize("name", PLUGINS)
def test_the_migrations_make_what_the_models_declare(name: str, service: Service) -> None:
    """``netinv revision`` has nothing to write."""
    differences = migrate.differences(service.engine, service.registry.apps[name])
    assert differences == [], f"netinv revision {name} -m … writes what the migrations lack"


@pytest.mark.parametrize(("check", "label"), contract_of_plugins(CHECKS))
def test_every_resource_of_plugins(check: Check, label: str, service: Service) -> None:
    """Each check holds for each resource that it applies to."""
    check(Case(service, label))
