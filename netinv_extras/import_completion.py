"""Preparation of imported objects: statuses, custom fields for values without a field, values as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.fields import Status
from netinv_core.importing.dump import Fields, content_type
from netinv_core.sql.plans import plan_of
from netinv_core.write.references import statuses_for
from netinv_extras.custom_fields.models import CustomField
from netinv_extras.netbox import AS_JSON, AS_TEXT, FIELD, STATUS
from netinv_extras.statuses import Status as StatusModel

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_import.mapping import DumpMapping

MAX_SLUG_LENGTH = 50
MAX_TEXT_LENGTH = 255
DATA = "custom_field_data"


def complete(uow: UnitOfWork, mapping: DumpMapping) -> None:
    """Adds the objects and values that the objects of a dump need here."""
    _add_statuses(uow, mapping)
    _convert_values(mapping)
    if FIELD in mapping.installed:
        _keep_values(mapping, _earlier_fields(uow, mapping))


def _add_statuses(uow: UnitOfWork, mapping: DumpMapping) -> None:
    """Adds the statuses that objects have and their models do not know here."""
    wanted: dict[str, set[str]] = {}
    listed = {fields.get("slug") for fields in mapping.dump.objects.get(STATUS, {}).values()}
    for label in mapping.sources:
        endpoint = mapping.endpoint(label)
        field = endpoint.writable.get("status")
        if not isinstance(field, Status):
            continue
        known = {slug for slug, _ in statuses_for(uow, field, endpoint)}
        for slug in mapping.dump.uses(label, "status"):
            if isinstance(slug, str) and slug and slug not in known | listed:
                wanted.setdefault(slug, set()).add(endpoint.label)
    if not wanted or STATUS not in mapping.installed:
        return
    ids = [id_ for (id_,) in uow.execute(sa.select(StatusModel.id).where(StatusModel.slug.in_(list(wanted))))]
    shown = dict(plan_of(uow.registry[STATUS]).fetch(uow, ids))
    existing = {row["slug"]: row for row in shown.values()}
    for slug, labels in sorted(wanted.items()):
        row = existing.get(slug, {})
        name = row.get("name") or slug.replace("-", " ").replace("_", " ").capitalize()
        mapping.add(
            (STATUS, slug),
            {"name": name, "slug": slug, "content_types": sorted({*row.get("content_types", ()), *labels})},
        )


def _convert_values(mapping: DumpMapping) -> None:
    """Converts the values of custom fields of types that are text here; references become names."""
    dump = mapping.dump
    for field in dump.objects.get(FIELD, {}).values():
        if field.get("original_type") not in AS_TEXT | AS_JSON:
            continue
        target = content_type(field.get("related_object_type", field.get("object_type")))
        for label in field["content_types"]:
            for key, fields in dump.objects.get(label, {}).items():
                value = (fields.get(DATA) or {}).get(field["slug"])
                if value is not None:
                    shown = [
                        _describe_value(mapping, target, item)
                        for item in (value if isinstance(value, list) else [value])
                    ]
                    text = shown if isinstance(value, list) else shown[0]
                    dump.set((label, key), **{DATA: {**fields[DATA], field["slug"]: text}})


def _describe_value(mapping: DumpMapping, target: str | None, value: Any) -> str:
    return str(value) if target is None else mapping.dump.name(target, value)


def _earlier_fields(uow: UnitOfWork, mapping: DumpMapping) -> dict[str, list[str]]:
    """Returns the content types of the custom fields that earlier imports from the same origin have added, by slug."""
    ids = uow.execute(sa.select(CustomField.id).where(CustomField.slug.like(f"{_slug(mapping, '')}%")))
    shown = plan_of(uow.registry[FIELD]).fetch(uow, [id_ for (id_,) in ids])
    return {row["slug"]: row["content_types"] for _, row in shown}


def _keep_values(mapping: DumpMapping, earlier: Mapping[str, Sequence[str]]) -> None:
    """Adds a custom field for each name of a field without a field here, with its values.

    Values that earlier imports have kept, and the source has no longer, are cleared.
    """
    fields: dict[str, dict[str, Any]] = {}
    added: dict[str, dict[str, dict[Any, Any]]] = {}  # values by label, slug and key
    _clear(mapping, earlier)
    for (label, name), values in mapping.unplaced.items():
        if "custom_fields" not in mapping.endpoint(label).writable:
            continue
        kept = {key: _storable(value) for key, value in values.items()}
        slug = _slug(mapping, name)
        field = fields.setdefault(slug, {"name": name, "labels": set(), "types": set()})
        field["labels"].update([mapping.endpoint(label).label, *earlier.get(slug, ())])
        field["types"].update(map(_type_of, kept.values()))
        mapping.keep(label, name, slug, FIELD)
        added.setdefault(label, {})[slug] = kept
    for label, by_slug in added.items():
        for key, current in mapping.dump.objects[label].items():
            data = {slug: values.get(key) for slug, values in by_slug.items()}
            mapping.dump.set((label, key), **{DATA: {**(current.get(DATA) or {}), **data}})
    for slug, field in sorted(fields.items()):
        mapping.add((FIELD, f"kept/{field['name']}"), _definition(mapping, slug, field))


def _clear(mapping: DumpMapping, earlier: Mapping[str, Sequence[str]]) -> None:
    """Sets the custom fields of earlier imports to null in all objects."""
    for label in mapping.sources:
        if nulls := {slug: None for slug, labels in earlier.items() if mapping.endpoint(label).label in labels}:
            for key, current in mapping.dump.objects[label].items():
                mapping.dump.set((label, key), **{DATA: {**nulls, **(current.get(DATA) or {})}})


def _definition(mapping: DumpMapping, slug: str, field: dict[str, Any]) -> Fields:
    """Returns the custom field that keeps values."""
    types = field["types"]
    kind = types.pop() if len(types) == 1 else "markdown" if types <= {"text", "markdown"} else "json"
    return {
        "name": slug,
        "slug": slug,
        "label": f"{mapping.origin} {field['name'].replace('_', ' ')}"[:50],
        "type": kind,
        "description": f"The field {field['name']} of the imported inventory, which has no equal here",
        "content_types": [label.split(".") for label in sorted(field["labels"])],
    }


def _storable(value: Any) -> Any:
    """Returns a value as JSON has it."""
    return value if isinstance(value, bool | int | str | list | dict) else str(value)


def _type_of(value: Any) -> str:
    """Returns the type of custom field that stores a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, str):
        return "text" if len(value) <= MAX_TEXT_LENGTH and "\n" not in value else "markdown"
    return "json"


def _slug(mapping: DumpMapping, name: str) -> str:
    return re.sub(r"[^a-z0-9_]", "_", f"{mapping.origin}_{name}".lower())[:MAX_SLUG_LENGTH]
