"""Mapping of the rules of Nautobot's data validation, which has a model for each kind, to validation rules.

Its patterns are matched from the beginning of a value, and what is null or blank breaks rules of patterns and of
bounds, but not those of uniqueness.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.endpoint import Endpoint
from netinv_core.importing.dump import Declaration, Dump, Excluded, Fields, Source, content_type
from netinv_core.sql import lookups
from netinv_extras.validation_rules.models import LABEL

if TYPE_CHECKING:
    from netinv_core.registry import Registry

APP = "nautobot_data_validation_engine"
PATTERN, BOUNDS, REQUIRED, UNIQUE = (
    f"{APP}.{name}validationrule" for name in ("regularexpression", "minmax", "required", "unique")
)
KINDS = {PATTERN: "pattern", BOUNDS: "bounds", REQUIRED: "required", UNIQUE: "unique"}
COMPLIANCE = (f"plugins.{APP.replace('_', '-')}.datacompliance", "data-validation.datacompliance")
OF_ALL = ("name", "enabled")
REASON = "_reason"  # member for which a rule is left out; names that begin so are not imported
OF_KINDS = ("regular_expression", "context_processing", "min", "max", "max_instances")
CONSUMED = frozenset([*OF_ALL, *OF_KINDS, "slug", "content_type", "error_message", "field"])
MAX_CHARACTERS, MAX_OF_NAME = 200, 100
IS_TEMPLATE = "its pattern is a template"
IS_SHARED = "more than one object may have a value"
RESULTS = "results of checks are not imported"
NOT_INSTALLED = "its content type has no model here"
NO_FIELD = "its content type has no such field here"
IGNORES_CASE = "(?i)"
Conditions = Callable[[Endpoint, Fields], Mapping[str, Any]]


def models(registry: Registry) -> dict[str, Declaration]:
    """The declarations of the kinds of rules."""
    kinds: dict[str, Conditions] = {PATTERN: _pattern, BOUNDS: _bounds, REQUIRED: _required_condition, UNIQUE: _unique}
    return {
        **dict.fromkeys(COMPLIANCE, Excluded(RESULTS)),
        **{label: _source(registry, label, conditions) for label, conditions in kinds.items()},
    }


def _source(registry: Registry, label: str, conditions: Conditions) -> Source:
    def adapt(dump: Dump, fields: Fields) -> Fields:
        model, reason = _model(fields), _reason(registry, fields)
        message = str(fields.get("error_message") or "")
        cut = message if len(message) <= MAX_CHARACTERS else f"{message[: MAX_CHARACTERS - 1]}…"
        kept = {name: value for name, value in fields.items() if name not in CONSUMED}
        common = {name: fields[name] for name in OF_ALL if name in fields}
        own = {} if reason else {"field_name": fields["field"], **conditions(registry[model], fields)}
        return {**kept, **common, "content_type": model, "message": cut, REASON: reason, **own}

    def prepare(dump: Dump) -> None:
        _divide(dump, label, registry)
        _tell_apart(dump, label)

    return Source(LABEL, adapt=adapt, prepare=prepare, skip=_skip, last=True, by=("name",))


def _skip(dump: Dump, fields: Fields) -> str:
    return str(fields[REASON])


def _model(fields: Fields) -> str:
    """The label of the content type of a rule."""
    return content_type(fields["content_type"]) or str(fields["content_type"])


def _reason(registry: Registry, fields: Fields) -> str:
    """The reason for which a rule cannot be expressed here; empty for others."""
    endpoint = registry.get(_model(fields))
    if endpoint is None:
        return NOT_INSTALLED
    if fields["field"] not in endpoint.table.c:
        return NO_FIELD
    if fields.get("context_processing"):
        return IS_TEMPLATE
    return IS_SHARED if fields.get("max_instances", 1) != 1 else ""


def _divide(dump: Dump, label: str, registry: Registry) -> None:
    """Makes a rule of each model that objects of its content type have become and that has its field: those of the
    locations of 2.x are for regions, sites and locations. The first one keeps the id and the name.
    """
    for key, fields in list(dump.objects[label].items()):
        model = _model(fields)
        if (moved := dump.moved.get(model)) is None:
            continue
        endpoints = [registry.endpoints[item] for item in [model, *sorted(moved)] if item in registry.endpoints]
        fitting = [endpoint for endpoint in endpoints if fields["field"] in endpoint.table.c]
        for endpoint in fitting:
            if endpoint is fitting[0]:
                dump.set((label, key), content_type=endpoint.label)
            else:
                name = _with_suffix(fields["name"], endpoint.plural)
                own = {"content_type": endpoint.label, "name": name}
                dump.rows(label)[str(uuid.uuid5(uuid.UUID(key), endpoint.label))] = {**fields, **own}


def _with_suffix(name: str, text: str) -> str:
    """A name with a text behind it, in the length that names have."""
    suffix = f" ({text})"
    return f"{name[: MAX_OF_NAME - len(suffix)]}{suffix}"


def _tell_apart(dump: Dump, label: str) -> None:
    """Renames rules whose name a rule of another kind has: names are unique here among rules of all kinds."""
    before = [other for other in list(KINDS)[: list(KINDS).index(label)] if other in dump.objects]
    taken = {fields["name"] for other in before for fields in dump.objects[other].values()}
    for key, fields in list(dump.objects[label].items()):
        if fields["name"] in taken:
            dump.set((label, key), name=_with_suffix(fields["name"], KINDS[label]))


def _name(endpoint: Endpoint, field: str, suffix: str, lookup: str) -> str:
    """The name of a filter of the list, or else of a field lookup."""
    item = endpoint.filters.get(field)
    return f"{field}__{suffix if item is not None and suffix in item.lookups else lookup}"


def _pattern(endpoint: Endpoint, fields: Fields) -> dict[str, Any]:
    pattern = str(fields["regular_expression"])
    ignores_case = pattern.startswith(IGNORES_CASE)
    pattern = pattern.removeprefix(IGNORES_CASE)
    if not pattern.startswith("^") or "|" in pattern:
        pattern = f"^(?:{pattern})"
    name = _name(endpoint, fields["field"], *(("ire", "iregex") if ignores_case else ("re", "regex")))
    return {"requires": {name: pattern}}


def _bounds(endpoint: Endpoint, fields: Fields) -> dict[str, Any]:
    """Bounds are numbers with fractions there, also those of integers."""
    is_integer = lookups.python_type(endpoint.table.c[fields["field"]]) is int
    found = {}
    for member, lookup, rounded in (("min", "gte", math.ceil), ("max", "lte", math.floor)):
        if (bound := fields.get(member)) is not None:
            found[f"{fields['field']}__{lookup}"] = rounded(bound) if is_integer else bound
    return {"requires": found}


def _required_condition(endpoint: Endpoint, fields: Fields) -> dict[str, Any]:
    field = fields["field"]
    if lookups.python_type(endpoint.table.c[field]) is not str:
        return {"requires": {f"{field}__isnull": False}}
    name = _name(endpoint, field, "n", "regex")
    return {"requires": {name: "" if name.endswith("__n") else "."}}


def _unique(endpoint: Endpoint, fields: Fields) -> dict[str, Any]:
    return {"unique_together": [fields["field"]]}
