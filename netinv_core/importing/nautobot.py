"""Mapping of the models of a Nautobot 1.x: they are those of this service, with their ids."""

from __future__ import annotations

from collections.abc import Mapping

from netinv_core.importing.dump import Declaration, Excluded, Source
from netinv_core.importing.representations import singular
from netinv_core.registry import Registry


def label_of(registry: Registry, path: str) -> str:
    """Returns the label of the model of a list, which has the same path here."""
    labels = {endpoint.path: label for label, endpoint in registry.endpoints.items()}
    return labels.get(f"/api/{path}/") or singular(path)


def own_models(registry: Registry, declared: Mapping[str, Declaration]) -> dict[str, Declaration]:
    """Returns the mapping of every resource to itself; of what is ``declared`` only what does not convert it."""
    models: dict[str, Declaration] = {}
    for label, endpoint in registry.endpoints.items():
        known = declared.get(label)
        if isinstance(known, Excluded):
            models[label] = known
        elif endpoint.writable:
            source = known if isinstance(known, Source) and known.to == label else Source(label)
            computed = [name for name in endpoint.fields if name not in endpoint.writable]
            models[label] = Source(
                label,
                deferred=source.deferred,
                by=source.by,
                omit=source.omit,
                drop=computed,
                first=source.first,
                last=source.last,
            )
    return models
