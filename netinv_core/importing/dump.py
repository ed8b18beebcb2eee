"""Dumps of another inventory, and the words in which an application says what each of their models becomes here.

A dump is what Django's ``dumpdata`` writes: a list of ``{"model": "app.model", "pk": …, "fields": {…}}``, references as
keys, content types as ``[app, model]``. :mod:`netinv_core.importing.netbox` reads it.
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
    """How the objects of one model of a dump become objects of the resource with the label ``to``.

    Fields of the same name are taken over, references and content types translated. Only what differs is said:
    ``adapt(dump, fields)`` rewrites the fields before anything else; ``given`` are values (in the dump's terms) where
    the dump has none; ``rename`` maps a name there to a name here; ``drop`` names what only repeats what the dump says
    elsewhere; ``omit`` maps a field that cannot be taken over to the reason, which is reported; ``later`` names (as they
    are here) references that are set when all objects exist, because what they lead to refers back. ``by`` names the
    columns by which an object that is already here is recognised (the last may not be null; when not given: the
    resource's natural key, where it is unique). ``within`` names the reference to what an object is a part of: when that is not
    here, neither is the part, and that is no fault of its own. ``needs`` are objects that this system asks for and the dump does not
    have: labels to keys to fields, or what gives them for the dump. What comes ``first`` decides how objects of any model may be.
    """

    to: str
    adapt: Callable[[Dump, Fields], Fields] | None = None
    given: Fields = dataclasses.field(default_factory=dict)
    rename: Mapping[str, str] = dataclasses.field(default_factory=dict)
    drop: Sequence[str] = ()
    omit: Mapping[str, str] = dataclasses.field(default_factory=dict)
    deferred: Sequence[str] = ()
    by: Sequence[str] = ()
    parent: str = ""
    needs: Needs | Callable[[Dump], Needs] = dataclasses.field(default_factory=dict)
    first: bool = False

    def needed(self, dump: Dump) -> Needs:
        """The objects that this system asks for and a dump does not have."""
        return self.needs(dump) if callable(self.needs) else self.needs


@dataclasses.dataclass(frozen=True)
class Part:
    """A model whose objects are entries of the list ``field`` of other objects.

    ``owner`` names the fields with the owner's content type and key, ``value`` the one that refers to an object of the
    dump's model ``of``: a tagged item is an entry in its object's ``tags``.
    """

    field: str
    owner: tuple[str, str]
    value: str
    of: str

    def owner_of(self, fields: Fields) -> Key:
        """The model and key of the object that a part belongs to."""
        return content_type(fields[self.owner[0]]) or "", fields[self.owner[1]]


@dataclasses.dataclass(frozen=True)
class Derived:
    """A model whose objects only repeat what the others say: this system works it out itself, for the ``reason`` that is reported."""

    reason: str


class Dump:
    """The objects of a dump: fields by model and key."""

    def __init__(self, objects: Mapping[str, Mapping[Any, Fields]]) -> None:
        self.objects = {label: dict(found) for label, found in objects.items()}
        self._uses: dict[tuple[str, str], collections.Counter[Any]] = {}

    @classmethod
    def read(cls, path: Path) -> Dump:
        """The dump in a file.

        :raises ValueError: when it is not a dump, or has two objects of one model and key
        """
        found: dict[str, dict[Any, Fields]] = {}
        try:
            for item in json.loads(path.read_bytes()):
                label, key, fields = item["model"].lower(), item["pk"], item["fields"]
                if key in found.setdefault(label, {}):
                    raise ValueError(f"{path} has {label} {key} twice")
                found[label][key] = dict(fields)
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not a dump: a list of objects with model, pk and fields is expected ({error})") from None
        return cls(found)

    def __len__(self) -> int:
        return sum(map(len, self.objects.values()))

    def uses(self, label: str, name: str) -> collections.Counter[Any]:
        """How many objects of a model have each value of a field."""
        if (label, name) not in self._uses:
            self._uses[label, name] = collections.Counter(fields.get(name) for fields in self.objects.get(label, {}).values())
        return self._uses[label, name]

    def get(self, label: str, key: Any) -> Fields:
        """The fields of an object; none when it is not in the dump."""
        return self.objects.get(label, {}).get(key, {})


def content_type(value: Any) -> str | None:
    """The label that a content type of a dump stands for; ``None`` for any other value."""
    if isinstance(value, list) and len(value) == CONTENT_TYPE_LENGTH and all(isinstance(word, str) for word in value):
        return ".".join(value).lower()
    return None
