"""Modules besides ``netinv_core`` that plugins may import, with their public names; docs/plugins.md lists them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

EVERY = "*"  # all names that a module exports: those of ``__all__``, or what it defines without an underscore
#: Modules of other packages than the core, besides models and resources.
PUBLIC_MODULES: Mapping[str, set[str]] = {
    "netinv_extras.change_requests.pictures": {"ChangePicture"},
    "netinv_extras.config_contexts.scopes": {"ContextScope"},
    "netinv_extras.content_types": {"generic_reference", "type_label"},
    "netinv_extras.git.sync": {"ContentKind", "Sync", "SyncReport"},
    "netinv_extras.jobs": {EVERY},
    "netinv_extras.secrets": {
        "SecretParametersError",
        "SecretProviderError",
        "SecretValueNotFoundError",
        "SecretsProvider",
    },
    "netinv_extras.statuses": {"status"},
    "netinv_extras.templates.members": {"Member"},
    "netinv_ipam": {"networks", "prefix_locks"},
    "netinv_tenancy.tenants": {"tenant_filters"},
    "netinv_web.background": {EVERY},
    "netinv_web.bulk.selection": {EVERY},
    "netinv_web.cells": {EVERY},
    "netinv_web.extensions": {EVERY},
    "netinv_web.file_imports": {EVERY},
    "netinv_web.forms.controls": {"ChoiceOffer", "Control"},
    "netinv_web.lists.columns": {"ListColumn"},
    "netinv_web.lists.facet_counts": {"ListFacet"},
    "netinv_web.markup": {EVERY},
    "netinv_web.menu": {EVERY},
    "netinv_web.notices": {EVERY},
    "netinv_web.pages": {EVERY},
    "netinv_web.paths": {EVERY},
}
#: Further ones, for fields and tests.
DESCRIBED: Mapping[str, set[str]] = {
    "netinv_core.fields": {EVERY},
    "netinv_testing": {EVERY},
    "netinv_web.testing": {EVERY},
}


def described_modules() -> dict[str, dict[str, Any]]:
    """The public functions and classes of each module, by name: a name that is a module counts as one."""
    found: dict[str, dict[str, Any]] = {}
    for name, names in sorted({**PUBLIC_MODULES, **DESCRIBED}.items()):
        module = importlib.import_module(name)
        values = _exported(module) if EVERY in names else {item: _value(module, item) for item in sorted(names)}
        found |= {value.__name__: _exported(value) for value in values.values() if inspect.ismodule(value)}
        own = {item: value for item, value in values.items() if inspect.isfunction(value) or inspect.isclass(value)}
        if own:
            found[name] = own
    return dict(sorted(found.items()))


def _value(module: Any, name: str) -> Any:
    """A name of a module, or a module below it."""
    return getattr(module, name) if hasattr(module, name) else importlib.import_module(f"{module.__name__}.{name}")


def _exported(module: Any) -> dict[str, Any]:
    """The functions and classes that a module exports, in the order of their names."""
    names = getattr(module, "__all__", None)
    values = {name: getattr(module, name) for name in (vars(module) if names is None else names)}
    return {
        name: value
        for name, value in sorted(values.items())
        if (inspect.isfunction(value) or inspect.isclass(value))
        and not name.startswith("_")
        and (names is not None or value.__module__ == module.__name__)
    }
