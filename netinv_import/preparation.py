"""Preparation of a dump before it is mapped: folded models, adapted fields, and the values that have no field here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.auth.models import User
from netinv_core.fields import Choice, Reference, Status, ToMany
from netinv_core.importing.dump import (
    Declaration,
    Dump,
    Fields,
    Folded,
    Key,
    NamedModel,
    RuleError,
    Source,
    content_type,
)
from netinv_core.importing.rows import FieldRows

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_import.mapping import DumpMapping

Values = dict[tuple[str, str], dict[Any, Any]]
OTHER = "other"
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError)
USERS = ("auth.user", "users.user")
EMPTY: tuple[Any, ...] = (None, "", False, [], {})
NAME_ONLY = "only the name of these objects is kept"
_OF_NAMED = frozenset({"parent", "slug", "created", "last_updated", "lft", "rght", "tree_id", "level"})


def fold(dump: Dump, declarations: Mapping[str, Declaration]) -> dict[str, Mapping[Any, Key | str]]:
    """Runs the preparations and folds of the models that the dump has; returns what the folds return, by model.

    :raises ValueError: when the objects of a model do not have the fields that they need
    """
    results: dict[str, Mapping[Any, Key | str]] = {}
    sources = {label: item for label, item in declarations.items() if isinstance(item, Source) and item.prepare}
    prepared = dict(sorted(sources.items(), key=lambda entry: (not entry[1].first, entry[1].last)))
    folded = {label: item for label, item in sorted(declarations.items()) if isinstance(item, Folded)}
    steps: dict[str, Declaration] = {**prepared, **folded}
    for label, item in steps.items():
        if label not in dump.objects:
            continue
        try:
            if isinstance(item, Folded):
                results[label] = item.fold(dump)
            elif isinstance(item, Source) and item.prepare is not None:
                item.prepare(dump)
        except RuleError:
            raise
        except UNREADABLE as error:
            raise ValueError(f"the objects of {label} are not those of a dump: {_error_text(error)}") from error
    dump.check_rules()
    return results


def adapt_objects(
    dump: Dump, sources: Mapping[str, Source], endpoints: Mapping[str, Endpoint]
) -> tuple[dict[str, FieldRows], dict[Key, str]]:
    """Returns the objects of all models with their fixed values, rewritten by ``Source.adapt``.

    The second result has the reasons of the objects that cannot be read.
    """
    objects: dict[str, FieldRows] = {}
    broken: dict[Key, str] = {}
    for label, source in sources.items():
        adapt = source.adapt or _keep_fields
        rows = objects[label] = dump.new_rows()
        for key, fields in dump.objects[label].items():
            try:
                converted = adapt(dump, {**source.fixed_values, **fields})
            except UNREADABLE as error:
                broken[label, key] = f"its fields cannot be read: {_error_text(error)}"
                continue
            if wrong := _wrong_field(source, endpoints[source.to], converted):
                broken[label, key] = f"{wrong}: a key is expected"
            else:
                rows[key] = converted
    return objects, broken


def _wrong_field(source: Source, endpoint: Endpoint, fields: Fields) -> str:
    """Returns the name of a field that refers to an object and has no key as value; else an empty text."""
    for name, value in fields.items():
        if not isinstance(value, list | dict) or not source.imports(name, fields):
            continue
        field = endpoint.writable.get(source.name_of(name))
        if isinstance(field, Reference) and not is_account(field):
            return name
        if isinstance(field, ToMany) and (isinstance(value, dict) or any(isinstance(v, list | dict) for v in value)):
            return name
        if name.endswith("_id") and f"{name.removesuffix('_id')}_type" in fields:
            return name
    return ""


def is_account(field: Field | None) -> bool:
    """True for a reference to an account."""
    return isinstance(field, Reference) and field.target is not None and field.target.model is User


def _error_text(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)


def _keep_fields(dump: Dump, fields: Fields) -> Fields:
    return fields


def unplaced_values(mapping: DumpMapping) -> tuple[Values, dict[Key, Key]]:
    """Returns the values without a field here, by model and field, then by key; and what they name.

    References are texts. An unknown choice becomes "other", or nothing, in the dump. The second result has, for an
    object of a model that is kept as a name (:class:`NamedModel`), one object that names it.
    """
    values: Values = {}
    named_by: dict[Key, Key] = {}
    targets = {source.to for source in mapping.installed.values()}
    for label, source in mapping.sources.items():
        endpoint = mapping.endpoint(label)
        for key, fields in mapping.dump.objects[label].items():
            for name, value in fields.items():
                if value in EMPTY or name in source.omit or not source.imports(name, fields):
                    continue
                field = endpoint.writable.get(source.name_of(name))
                if isinstance(field, Choice):
                    unknown = _is_unknown(field, value)
                    if unknown and _replace_choice(mapping, (label, key), name, field):
                        values.setdefault((label, name), {})[key] = value
                elif is_account(field):
                    if (account := username(mapping.dump, value)) not in mapping.users:
                        values.setdefault((label, name), {})[key] = account
                elif field is None or _has_no_target(field, targets):
                    text = _text(mapping, (label, key), name, value, named_by)
                    values.setdefault((label, name), {})[key] = text
    _count_details(mapping)
    return values, named_by


def count_replaced(mapping: DumpMapping) -> None:
    """Counts the replaced choices and accounts that are kept nowhere."""
    for (label, name), values in mapping.unplaced.items():
        placed = mapping.sources[label].name_of(name) in mapping.endpoint(label).writable
        if placed and (label, name) not in mapping.kept:
            mapping.left_out[label, name, "no such choice here"] += len(values)


def username(dump: Dump, value: Any) -> str:
    """Returns the name of an account of the dump: of a natural key ``[name]``, or of the key of an object."""
    if isinstance(value, list) and value:
        return str(value[0])
    return str(next((dump.get(label, value)["username"] for label in USERS if dump.get(label, value)), value))


def move_parts(mapping: DumpMapping) -> None:
    """Gives objects whose list has no field here (tags of a region) the list in the dump, to be kept as names."""
    for label, part in mapping.parts.items():
        for fields in mapping.dump.objects.get(label, {}).values():
            owner = part.owner_of(fields)
            if owner[0] not in mapping.sources or part.field in mapping.endpoint(owner[0]).writable:
                continue
            if current := mapping.dump.get(*owner):
                values = [*(current.get(part.field) or []), fields[part.value]]
                mapping.dump.set(owner, **{part.field: values})
                mapping.dump.references[owner[0], part.field] = part.of


def _is_unknown(field: Choice, value: Any) -> bool:
    return isinstance(value, str | int) and value not in field.choices.labels


def _replace_choice(mapping: DumpMapping, key: Key, name: str, field: Choice) -> bool:
    """Replaces an unknown choice where the field has "other" or may be empty; returns whether it does."""
    if OTHER not in field.choices.labels and field.required:
        return False
    mapping.dump.set(key, **{name: OTHER if OTHER in field.choices.labels else ""})
    return True


def _has_no_target(field: Field, targets: set[str]) -> bool:
    """True for references to a model that is not imported; accounts and statuses are found here."""
    if isinstance(field, Status) or not isinstance(field, Reference | ToMany):
        return False
    target: Endpoint | None = field.target
    return target is None or (target.label not in targets)


def _text(mapping: DumpMapping, key: Key, name: str, value: Any, named_by: dict[Key, Key]) -> Any:
    """Returns a value as it is kept: references as the names of their targets, everything else as it is."""
    dump, source = mapping.dump, mapping.sources[key[0]]
    if name.endswith("_type") and (model := content_type(value)):
        return model
    target = source.refers.get(name) or dump.references.get((key[0], name))
    if name.endswith("_id"):
        target = target or content_type(dump.get(*key).get(f"{name.removesuffix('_id')}_type"))
    if target is None or target not in dump.objects:
        return value
    named = mapping.named.get(target, NamedModel())
    keys = value if isinstance(value, list) else [value]
    for item in keys:
        current, seen = item, set()
        while current is not None and current not in seen:
            seen.add(current)
            named_by.setdefault((target, current), key)
            current = dump.get(target, current).get("parent")
    texts = [dump.name(target, item, named.fields) for item in keys]
    return texts if isinstance(value, list) else texts[0]


def _count_details(mapping: DumpMapping) -> None:
    """Counts the values of named objects that their names do not tell."""
    for label, named in mapping.named.items():
        reason = NAME_ONLY + named.remedy
        for fields in mapping.dump.objects.get(label, {}).values():
            for name, value in fields.items():
                told = name in _OF_NAMED or name in named.fields or name.startswith("_") or name.endswith("_count")
                if value not in EMPTY and not told and name not in ("name", "model", "label", "version"):
                    mapping.left_out[label, name, reason] += 1
