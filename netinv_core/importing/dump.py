"""Dumps of other inventories, and the declarations by which an application maps their models to its own.

A dump is the output of Django's ``dumpdata``: a list of ``{"model": "app.model", "pk": …, "fields": {…}}``, with
references as keys and content types as ``[app, model]``. :mod:`netinv_core.importing.netbox` imports it.
"""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Fields = Mapping[str, Any]
Key = tuple[str, Any]
Needs = Mapping[str, Mapping[Any, Fields]]

CONTENT_TYPE_LENGTH = 2


@dataclasses.dataclass(frozen=True)
class Source:
    """Mapping of a model of a dump to the resource with the label ``to``; only differences are declared.

    Fields of the same name are copied; references and content types are translated.

    :param adapt: ``adapt(dump, fields)`` rewrites the fields of an object before anything else
    :param fixed_values: values, in the dump's terms, for fields that the dump lacks
    :param rename: names here by names in the dump
    :param drop: fields that repeat what the dump says elsewhere
    :param omit: fields that cannot be imported, with the reason for the report
    :param deferred: references (by their names here) that are set when all objects exist, as their targets refer back
    :param by: columns that identify an object that exists here already; the last one may not be null. Default: the
        natural key of the resource, when it is unique
    :param parent: the reference to the object that this one is a part of; without it, the part is skipped
    :param needs: objects that this system requires and dumps lack: fields by label and key, or a function of the dump
    :param first: objects of this model are imported before all others
    """

    to: str
    adapt: Callable[[Dump, Fields], Fields] | None = None
    fixed_values: Fields = dataclasses.field(default_factory=dict)
    rename: Mapping[str, str] = dataclasses.field(default_factory=dict)
    drop: Sequence[str] = ()
    omit: Mapping[str, str] = dataclasses.field(default_factory=dict)
    deferred: Sequence[str] = ()
    by: Sequence[str] = ()
    parent: str = ""
    needs: Needs | Callable[[Dump], Needs] = dataclasses.field(default_factory=dict)
    first: bool = False

    def needed(self, dump: Dump) -> Needs:
        """Returns the objects that this system requires and the dump lacks."""
        return self.needs(dump) if callable(self.needs) else self.needs


@dataclasses.dataclass(frozen=True)
class Part:
    """A model whose objects become entries of the list ``field`` of other objects.

    Example: a tagged item becomes an entry in the ``tags`` of its object. ``owner`` names the fields with the owner's
    content type and key, ``value`` the field that refers to an object of the dump's model ``of``.
    """

    field: str
    owner: tuple[str, str]
    value: str
    of: str

    def owner_of(self, fields: Fields) -> Key:
        """Returns the model and key of the object that a part belongs to."""
        return content_type(fields[self.owner[0]]) or "", fields[self.owner[1]]


@dataclasses.dataclass(frozen=True)
class Derived:
    """A model that this system computes from the others; its objects are not imported, with this ``reason``."""

    reason: str


class Dump:
    """The objects of a dump: fields by model and key."""

    def __init__(self, objects: Mapping[str, Mapping[Any, Fields]]) -> None:
        self.objects = {label: dict(fields_by_key) for label, fields_by_key in objects.items()}
        self._uses: dict[tuple[str, str], collections.Counter[Any]] = {}

    @classmethod
    def read(cls, path: Path) -> Dump:
        """Reads a dump from a file.

        :raises ValueError: when it is not a dump, or has two objects of one model and key
        """
        objects: dict[str, dict[Any, Fields]] = {}
        try:
            for item in json.loads(path.read_bytes()):
                label, key, fields = item["model"].lower(), item["pk"], item["fields"]
                if key in objects.setdefault(label, {}):
                    raise ValueError(f"{path} has {label} {key} twice")
                objects[label][key] = dict(fields)
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
            expected = "a list of objects with model, pk and fields is expected"
            raise ValueError(f"{path} is not a dump: {expected} ({error})") from None
        return cls(objects)

    def __len__(self) -> int:
        return sum(map(len, self.objects.values()))

    def uses(self, label: str, name: str) -> collections.Counter[Any]:
        """Counts the objects of a model by the value of a field; cached."""
        if (label, name) not in self._uses:
            rows = self.objects.get(label, {}).values()
            self._uses[label, name] = collections.Counter(fields.get(name) for fields in rows)
        return self._uses[label, name]

    def get(self, label: str, key: Any) -> Fields:
        """Returns the fields of an object; empty when it is not in the dump."""
        return self.objects.get(label, {}).get(key, {})


def content_type(value: Any) -> str | None:
    """Returns the label of a content type as a dump has it, ``[app, model]``; ``None`` for any other value."""
    if isinstance(value, list) and len(value) == CONTENT_TYPE_LENGTH and all(isinstance(part, str) for part in value):
        return ".".join(value).lower()
    return None
