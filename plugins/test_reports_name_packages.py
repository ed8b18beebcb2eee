"""Reports of imports from NetBox: without a package, they name the one that imports a model whole."""

from __future__ import annotations

import pytest

from netinv_core.importing.dump import Declaration, Excluded, NamedModel
from netinv_testing import Service
from plugins.conftest import PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_of_a_model_is_named_where_it_is_not_installed(service: Service, package: str) -> None:
    registry, name = service.registry, package.rstrip(".")
    results = list(registry.call_each("netinv_importers", registry=registry, product="netbox"))
    built_in: dict[str, Declaration] = {}
    for owner, models in results:
        if not registry.is_plugin(owner):
            built_in |= models
    imported = [label for owner, models in results if owner == registry.packages[name] for label in models]
    distribution = registry.apps[name].distribution
    assert imported
    for label in imported:
        declared = built_in[label]
        if isinstance(declared, Excluded):
            assert distribution in declared.reason, label
        elif isinstance(declared, NamedModel):
            assert declared.package == distribution, label
