"""Folds of imports that applications share: objects that join two others become a list of one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from netinv_core.importing.dump import Dump, Fields, Folded, Key, content_type

NOT_IN_SOURCE = "what it belongs to is not in the source"
Owner = Callable[[Fields], Key | None]


def owner_by(reference: str, label: str = "") -> Owner:
    """Returns a function that finds the owner of an object: by a reference to a model, or by a generic one."""

    def owner(fields: Fields) -> Key | None:
        if label:
            return label, fields.get(reference)
        model = content_type(fields.get(f"{reference}_type"))
        return None if model is None else (model, fields.get(f"{reference}_id"))

    return owner


def fold_attachment(label: str, owners: tuple[Owner, ...], value: str, target: str, field: str) -> Folded:
    """Returns the fold of a model that joins an object with one of the model ``target``.

    The owner, found by the first of ``owners`` that applies, gets the key of the target in the list ``field``.
    """

    def fold(dump: Dump) -> Mapping[Any, Key | str]:
        results: dict[Any, Key | str] = {}
        for key, fields in dump.objects[label].items():
            owner = next((found for find in owners if (found := find(fields)) is not None), None)
            if owner is None or not dump.get(*owner):
                results[key] = NOT_IN_SOURCE
                continue
            dump.set(owner, **{field: [*dump.get(*owner).get(field, []), fields[value]]})
            dump.references[owner[0], field] = target
            results[key] = owner
        return results

    return Folded(fold)
