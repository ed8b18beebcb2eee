"""Mapping of the models of a Nautobot: those of 1.x are those of this service, with their ids; later ones differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core.fields import ContentTypeList
from netinv_core.importing.dump import Declaration, Dump, Excluded, Fields, Source, content_type
from netinv_import.representations import singular

if TYPE_CHECKING:
    from netinv_core.registry import Registry


def label_of(registry: Registry, path: str) -> str:
    """Returns the label of the model of a list, which has the same path here."""
    labels = {endpoint.path: label for label, endpoint in registry.endpoints.items()}
    return labels.get(f"/api/{path}/") or singular(path)


def own_models(registry: Registry, declared: Mapping[str, Declaration]) -> dict[str, Declaration]:
    """Returns the mapping of every resource to itself, and of models that are none here as they are declared.

    Of what is ``declared`` of resources only what does not convert them.
    """
    models = {label: item for label, item in declared.items() if label not in registry.endpoints}
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


def differing_models(
    registry: Registry, own: Mapping[str, Declaration], declared: Mapping[str, Declaration]
) -> dict[str, Declaration]:
    """Returns the mapping of a later version: the ``own`` models, with the differences that are ``declared``.

    Content types without a model here are left out of lists of content types.
    """
    models = dict(own)
    for label, item in declared.items():
        current = models.get(label)
        combine = isinstance(item, Source) and isinstance(current, Source) and item.to == current.to
        models[label] = _combine(current, item) if combine else item
    return {label: _with_known_types(registry, item) for label, item in models.items()}


def _combine(own: Any, differing: Any) -> Source:
    return dataclasses.replace(
        differing,
        drop=(*own.drop, *differing.drop),
        deferred=(*own.deferred, *differing.deferred),
        by=differing.by or own.by,
        omit={**own.omit, **differing.omit},
        first=own.first or differing.first,
        last=own.last or differing.last,
    )


def _with_known_types(registry: Registry, item: Declaration) -> Declaration:
    """Returns a mapping that converts the lists of content types of its objects."""
    endpoint = registry.get(item.to) if isinstance(item, Source) else None
    if not isinstance(item, Source) or endpoint is None:
        return item
    adapt, skip = item.adapt, item.skip
    lists = [field for field in endpoint.writable.values() if isinstance(field, ContentTypeList)]
    needed = [field.name for field in lists if field.required or not field.empty]

    def converted(dump: Dump, fields: Fields) -> Fields:
        result = dict(adapt(dump, fields) if adapt is not None else fields)
        for field in lists:
            if field.name in result:
                known, unknown = _known_types(registry, field, dump, result[field.name])
                result[field.name] = known
                if unknown:
                    result[f"{field.name}_without_a_model_here"] = unknown
        return result

    def skipped(dump: Dump, fields: Fields) -> str:
        without = any(fields.get(name) == [] for name in needed)
        return skip(dump, fields) or ("no model here has it" if without else "")

    return dataclasses.replace(item, adapt=converted, skip=skipped) if lists else item


def _is_accepted(field: ContentTypeList, label: str) -> bool:
    try:
        field.check_label(label)
    except colander.Invalid:
        return False
    return True


def _known_types(
    registry: Registry, field: ContentTypeList, dump: Dump, types: Sequence[Any]
) -> tuple[list[list[str]], list[str]]:
    """Returns the content types of a list that the field may have, and those without a model here."""
    known: set[str] = set()
    unknown: list[str] = []
    for item in types:
        label = content_type(item) or str(item)
        candidates = {label, *dump.moved.get(label, ())} & registry.endpoints.keys()
        fitting = {name for name in candidates if _is_accepted(field, name)}
        known |= fitting
        unknown += [] if fitting else [label]
    return [label.split(".") for label in sorted(known)], sorted(unknown)
